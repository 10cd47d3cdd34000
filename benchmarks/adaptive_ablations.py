"""What each part of Adaptive is worth: ``python -m benchmarks.adaptive_ablations``.

Each variant changes one part. Problems are those of the drift suite's tuning family at T = 5,000, and of
these the small ones that drift at T = 50,000. A number is the geometric mean over problems of (regret + slack) /
(regret of Adaptive as it is + slack), where the slack is 0.5% of T times the range of rewards. Its interval is over
problems.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.agents import Adaptive
from driftmdp.statistics import mean_interval
from driftmdp.suite import packaged_suite

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no fading memories, everything is kept": {"fading": 0, "line": 0},
    "one set of reward weights for all ages": {"contexts": 0},
    "no line through the last two rewards": {"line": 0},
    "no measured drift": {"drift": 0.0},
    "one deviation of drift for all ages": {"patience": 0},
    "no uncertainty from noise": {"noise": 0.0},
    "no deviation of next states": {"spread": 0.0},
    "no leak to good states": {"leak": 0.0},
    "uncertainty does not grow with the logarithm of visits": {"curiosity": 0.0},
    "full optimism for the unknown": {"boldness": 1e6},
    "weights without a share": {"share": 0.0},
    "a share of 3%": {"share": 0.03},
    "a plan every 10 steps": {"every": 10},
    "a plan every 100 steps": {"every": 100},
}
SHORT, LONG = 5_000, 50_000
SEEDS = {SHORT: range(100, 110), LONG: range(100, 104)}
SMALL = ("two-state", "river-swim", "garnet", "bandit")
MOST_STATES = 8


def mean_regret(problem: dm.Problem, params: dict[str, Any]) -> float:
    """Return the mean regret of a variant."""
    gains = dm.planning.optimal_gains(problem.drifting, allow_transient=True)
    agent = Adaptive.for_problem(problem)
    agent._params = agent._params._replace(**params)
    agent.reset()

    def play(seed: int) -> float:
        return float(dm.simulate(agent, problem, seed).dynamic_regret(problem, gains)[-1])

    with ThreadPoolExecutor() as workers:
        return float(np.mean(list(workers.map(play, SEEDS[problem.horizon]))))


def worlds() -> list[tuple[str, dm.Problem]]:
    """Return the problems, short ones first."""
    tasks = [t for t in packaged_suite().tasks() if t.family == "tuning" and t.horizon == SHORT]
    short = [(t.label, dm.problems.make(t.problem.name, **t.problem.parameters)) for t in tasks]
    small = [
        task
        for task, (_, world) in zip(tasks, short, strict=True)
        if sum(world.budget()) > 0 and task.group in SMALL and world.space.n_states <= MOST_STATES
    ]
    return short + [
        (f"{t.label}, T = {LONG:,}", dm.problems.make(t.problem.name, **t.problem.parameters | {"horizon": LONG}))
        for t in small
    ]


def main() -> None:
    """Print a table of all variants."""
    labels, problems = zip(*worlds(), strict=True)
    slack = np.array([0.005 * problem.horizon * np.ptp(problem.reward_range) for problem in problems])
    horizons = np.array([problem.horizon for problem in problems])
    base: NDArray[np.float64] | None = None
    print(f"| variant | T = {SHORT:,} | T = {LONG:,} | worst problem |\n|---|---|---|---|")
    for name, params in VARIANTS.items():
        found = np.maximum([mean_regret(problem, params) for problem in problems], 0.0) + slack
        base = found if base is None else base
        ratios = np.log(found / base)
        worst = int(np.argmax(ratios))
        shown = [_shown(ratios[horizons == horizon]) for horizon in (SHORT, LONG)]
        print(f"| {name} | {' | '.join(shown)} | {np.exp(ratios[worst]):.2f}, {labels[worst]} |", flush=True)


def _shown(ratios: NDArray[np.float64]) -> str:
    interval = mean_interval(ratios)
    return f"{np.exp(interval.estimate):.2f} [{np.exp(interval.low):.2f}, {np.exp(interval.high):.2f}]"


if __name__ == "__main__":
    main()
