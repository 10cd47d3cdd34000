"""Agreement with ``statisticalrl-learners`` on its own worlds: ``python -m benchmarks.learner_agreement``.

Mean regret over seeds of its UCRL3, KL-UCRL and IMED-RL and of ours, with the same delta and horizon and each with
its own random numbers. Where its code departs from the paper, its learner with that slip mended stands beside it.
Prints a markdown table. ``--json PATH`` keeps every run and does not run again what is there.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from benchmarks.peer_learners import MENDS, PEERS, peer_learner, peer_regret
from benchmarks.peer_worlds import WORLDS, peer_world
from driftmdp.statistics import Interval, mean_interval

__all__ = ["COMPARISONS", "Task", "as_table", "main", "regrets_of"]

OURS: dict[str, Callable[[dm.Problem, float], dm.agents.BuiltinAgent]] = {
    "UCRL3": lambda problem, delta: dm.agents.UCRL3.for_problem(problem, delta=delta),
    "UCRL3, certainty=0": lambda problem, delta: dm.agents.UCRL3.for_problem(problem, delta=delta, certainty=0.0),
    "KLUCRL, uncapped": lambda problem, delta: dm.agents.KLUCRL(
        problem.space, problem.horizon, delta=delta, reward_range=None
    ),
    "IMEDRL": lambda problem, delta: dm.agents.IMEDRL.for_problem(problem),  # it has no delta
    "IMEDRL, authors' index": lambda problem, delta: dm.agents.IMEDRL.for_problem(problem, index="authors"),
}
"""Ours, set as the peer is: it has no cap on rewards in KL-UCRL."""

COMPARISONS = (
    ("UCRL3", "UCRL3"),
    ("UCRL3", "UCRL3, sums mended"),
    ("UCRL3, certainty=0", "UCRL3, mended"),
    ("KLUCRL, uncapped", "KL-UCRL"),
    ("KLUCRL, uncapped", "KL-UCRL, mended"),
    ("IMEDRL, authors' index", "IMED-RL"),
    ("IMEDRL", "IMED-RL, mended"),
)
HEADINGS = ("world", "ours", "regret", "statisticalrl-learners", "regret", "agreement", "difference")


class Task(NamedTuple):
    """All seeds of one of our learners, or of the peer's, in one world."""

    learner: str
    of_peer: bool
    world: str
    horizon: int
    seeds: int
    delta: float

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        return " | ".join(map(str, self))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, keep it and print the table."""
    options = _parse(arguments)
    is_kept = options.json is not None and options.json.exists()
    kept: dict[str, list[float]] = json.loads(options.json.read_text()) if is_kept else {}
    missing = [task for task in _tasks(options) if task.key not in kept]
    with ProcessPoolExecutor(options.processes, initializer=os.nice, initargs=(10,)) as pool:
        for task, regrets in zip(missing, pool.map(regrets_of, missing), strict=True):
            kept[task.key] = regrets
            if options.json:
                options.json.write_text(json.dumps(kept, indent=1))
    print("\n".join([*as_table(options, kept), "", *(f"- {name}: {what}" for name, what in MENDS.items())]))
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learner_agreement", description=__doc__)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--horizon", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="PATH", help="keep the runs in this file")
    return parser.parse_args(arguments)


def _task(learner: str, of_peer: bool, world: str, options: argparse.Namespace) -> Task:
    return Task(learner, of_peer, world, options.horizon, options.seeds, options.delta)


def _tasks(options: argparse.Namespace) -> Iterator[Task]:
    for world in options.worlds:
        yield from (_task(name, False, world, options) for name in OURS)
        yield from (_task(name, True, world, options) for name in PEERS)


def regrets_of(task: Task) -> list[float]:
    """Return the regret of every seed: T times the best gain minus the mean rewards of the pairs played."""
    world = peer_world(task.world, task.horizon)
    if task.of_peer:
        return [peer_regret(peer_learner(task.learner, task.delta), world, seed) for seed in range(task.seeds)]
    agent = OURS[task.learner](world.problem, task.delta)
    runs = (dm.simulate(agent, world.problem, seed) for seed in range(task.seeds))
    return [task.horizon * world.gain - float(run.mean_rewards.sum()) for run in runs]


def as_table(options: argparse.Namespace, kept: dict[str, list[float]]) -> list[str]:
    """Return the lines of a markdown table, one row per comparison and world."""
    lines = [HEADINGS, ["---"] * len(HEADINGS)]
    for ours, peer in COMPARISONS:
        for world in options.worlds:
            pair = (_task(ours, False, world, options), _task(peer, True, world, options))
            lines.append(_row(world, ours, peer, *(np.array(kept[task.key]) for task in pair)))
    return [f"| {' | '.join(line)} |" for line in lines]


def _row(world: str, ours: str, peer: str, mine: NDArray[Any], other: NDArray[Any]) -> list[str]:
    means = mean_interval(mine), mean_interval(other)
    errors = math.sqrt((mine.var(ddof=1) + other.var(ddof=1)) / mine.size)
    difference = f"{(mine.mean() - other.mean()) / errors:+.1f} standard errors" if errors else "-"
    return [world, ours, _text(means[0]), peer, _text(means[1]), _verdict(*means), difference]


def _text(interval: Interval) -> str:
    return f"{interval.estimate:.0f} [{interval.low:.0f}, {interval.high:.0f}]"


def _verdict(ours: Interval, other: Interval) -> str:
    """Return how two means with intervals agree, in order of strength."""
    within = ours.low <= other.estimate <= ours.high, other.low <= ours.estimate <= other.high
    if any(within):
        return "within both intervals" if all(within) else "within one interval"
    return "intervals overlap" if max(ours.low, other.low) <= min(ours.high, other.high) else "no"


if __name__ == "__main__":
    raise SystemExit(main())
