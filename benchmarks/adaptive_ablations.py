"""What each part of Adaptive is worth: ``python -m benchmarks.adaptive_ablations [--reported]``.

Each variant changes one of its habits. Problems are those of the drift suite's tuning family at T = 5,000, which
the constants were chosen on, or with ``--reported`` those of the other. A number is the geometric mean over
problems of (regret + slack) / (regret of Adaptive as it is + slack), the slack being 0.5% of T times the range of
rewards; its interval is over problems.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.agents import Adaptive
from driftmdp.experiments import packaged_suite
from driftmdp.statistics import mean_interval

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no fading memories: everything, for ever": {"fading": 0, "line": 0},
    "reward experts weighed together, whatever the age": {"contexts": 0},
    "no line through the last two rewards": {"line": 0},
    "no measured drift": {"drift": 0.0},
    "one deviation of drift, whatever the age": {"patience": 0},
    "no doubt from noise": {"noise": 0.0},
    "no deviation of next states": {"spread": 0.0},
    "no leak to good states": {"leak": 0.0},
    "doubt does not grow with the logarithm of visits": {"curiosity": 0.0},
    "the unknown is paradise": {"boldness": 1e6},
    "weights without a share": {"share": 0.0},
    "a share of 3%": {"share": 0.03},
    "a plan every 10 steps": {"every": 10},
    "a plan every 100 steps": {"every": 100},
}
SEEDS = range(100, 110)
HORIZON = 5000


def regrets(problem: dm.Problem, habits: dict[str, Any]) -> Iterable[float]:
    """Return the regret of a variant, by seed."""
    gains = dm.planning.optimal_gains(problem.drifting, allow_transient=True)
    agent = Adaptive.for_problem(problem)
    agent._habits = agent._habits._replace(**habits)
    agent.reset()

    def play(seed: int) -> float:
        return float(dm.simulate(agent, problem, seed).dynamic_regret(problem, gains)[-1])

    with ThreadPoolExecutor() as workers:
        return list(workers.map(play, SEEDS))


def main(family: str) -> None:
    """Print a table of all variants."""
    tasks = [task for task in packaged_suite().tasks() if task.family == family and task.horizon == HORIZON]
    worlds = [dm.problems.make(task.problem.name, **task.problem.parameters) for task in tasks]
    slack = np.array([0.005 * HORIZON * np.ptp(world.reward_range) for world in worlds])
    base: NDArray[np.float64] | None = None
    print("| variant | regret against Adaptive as it is | worst problem |\n|---|---|---|")
    for name, habits in VARIANTS.items():
        found = np.array([np.mean(list(regrets(world, habits))) for world in worlds])
        base = found if base is None else base
        ratios = np.log((np.maximum(found, 0.0) + slack) / (np.maximum(base, 0.0) + slack))
        interval, worst = mean_interval(ratios), int(np.argmax(ratios))
        low, middle, high = (np.exp(each) for each in (interval.low, interval.estimate, interval.high))
        shown = f"{middle:.2f} [{low:.2f}, {high:.2f}] | {np.exp(ratios[worst]):.2f}, {tasks[worst].label}"
        print(f"| {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main("reported" if "--reported" in sys.argv else "tuning")
