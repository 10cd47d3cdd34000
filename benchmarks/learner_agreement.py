"""Agreement with ``statisticalrl-learners`` on its own worlds: ``python -m benchmarks.learner_agreement``.

Mean regret over seeds of its UCRL3, KL-UCRL and IMED-RL and of ours, with the same delta and horizon and each with
its own random numbers. Where its code departs from the paper, its learner with that slip mended stands beside it.
Prints a markdown table. ``--json PATH`` keeps every run and does not run again what is there.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import driftmdp as dm
from benchmarks.peer_learners import MENDS, peer_learners, peer_regret
from benchmarks.peer_worlds import WORLDS, peer_world
from driftmdp.statistics import Interval, mean_interval

__all__ = ["Task", "as_table", "main", "regrets_of"]

OURS = {"UCRL3": "UCRL3", "KL-UCRL": "KLUCRL", "IMED-RL": "IMEDRL"}
VARIANTS = ("ours", "peer", "mended")
HEADINGS = ("learner", "world", "ours", "peer, as published", "agrees", "peer, mended", "agrees")


class Task(NamedTuple):
    """All seeds of one learner in one world: ours, the peer's, or the peer's mended."""

    learner: str
    world: str
    variant: str
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
    kept: dict[str, list[float]] = json.loads(options.json.read_text()) if _exists(options.json) else {}
    tasks = list(_tasks(options))
    missing = [task for task in tasks if task.key not in kept]
    with ProcessPoolExecutor(options.processes, initializer=os.nice, initargs=(10,)) as pool:
        for task, regrets in zip(missing, pool.map(regrets_of, missing), strict=True):
            kept[task.key] = regrets
            if options.json:
                options.json.write_text(json.dumps(kept, indent=1))
    print("\n".join(as_table(tasks, kept)))
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learner_agreement", description=__doc__)
    parser.add_argument("--learners", nargs="*", default=list(OURS), choices=list(OURS))
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--horizon", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="keep the runs here")
    return parser.parse_args(arguments)


def _exists(path: Path | None) -> bool:
    return path is not None and path.exists()


def _tasks(options: argparse.Namespace) -> Iterator[Task]:
    for learner in options.learners:
        for world in options.worlds:
            for variant in options.variants:
                if variant != "mended" or learner in MENDS:
                    yield Task(learner, world, variant, options.horizon, options.seeds, options.delta)


def regrets_of(task: Task) -> list[float]:
    """Return the regret of every seed."""
    world = peer_world(task.world, task.horizon)
    if task.variant == "ours":
        agent = _our_agent(task, world.problem)
        runs = (dm.simulate(agent, world.problem, seed) for seed in range(task.seeds))
        return [task.horizon * world.gain - float(run.mean_rewards.sum()) for run in runs]
    make = peer_learners(task.delta)[task.learner][task.variant]
    return [peer_regret(make, world, seed) for seed in range(task.seeds)]


def _our_agent(task: Task, problem: dm.Problem) -> dm.agents.BuiltinAgent:
    kind: Any = getattr(dm.agents, OURS[task.learner])
    given = {} if task.learner == "IMED-RL" else {"delta": task.delta}  # IMED-RL has no delta
    agent: dm.agents.BuiltinAgent = kind.for_problem(problem, **given)
    return agent


def as_table(tasks: Sequence[Task], kept: dict[str, list[float]]) -> list[str]:
    """Return the lines of a markdown table, one row per learner and world."""
    rows: dict[tuple[str, str], dict[str, Interval]] = {}
    for task in tasks:
        rows.setdefault((task.learner, task.world), {})[task.variant] = mean_interval(kept[task.key])
    lines = [" | ".join(HEADINGS), " | ".join("---" for _ in HEADINGS)]
    lines += [" | ".join([*names, *_cells(found)]) for names, found in rows.items()]
    return [f"| {line} |" for line in lines]


def _cells(found: dict[str, Interval]) -> list[str]:
    ours = found.get("ours")
    cells = [_text(ours)]
    for variant in VARIANTS[1:]:
        cells += [_text(found.get(variant)), _verdict(ours, found.get(variant))]
    return cells


def _text(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.estimate:.0f} [{interval.low:.0f}, {interval.high:.0f}]"


def _verdict(ours: Interval | None, other: Interval | None) -> str:
    """Return how two means with intervals agree, in order of strength."""
    if ours is None or other is None:
        return "-"
    within = [_holds(ours, other.estimate), _holds(other, ours.estimate)]
    if all(within):
        return "within both"
    if any(within):
        return "within one"
    overlap = max(ours.low, other.low) <= min(ours.high, other.high)
    return "intervals overlap" if overlap else "no"


def _holds(interval: Interval, value: float) -> bool:
    return bool(np.clip(value, interval.low, interval.high) == value)


if __name__ == "__main__":
    raise SystemExit(main())
