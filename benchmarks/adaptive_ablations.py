"""What each part of Adaptive is worth: ``python -m benchmarks.adaptive_ablations``.

Each variant changes one part. Problems are those of the drift suite's tuning family: all at T = 5,000, some that
stand still at T = 20,000, and the small ones that drift at T = 50,000. A number is the geometric mean over problems
of (regret + slack) / (regret of Adaptive as it is + slack). The slack is 0.5% of T times the range of rewards. Its
interval is over problems.
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
    "no fading memories, everything is kept": {"fading": False},
    "memories alike at the start": {"lean": 0.1},
    "weights without a share": {"share": 0.0},
    "a share of 3%": {"share": 0.03},
    "one set of weights for all ages": {"by_age": False},
    "no measured drift": {"drift": 0.0},
    "one deviation of drift for all ages": {"patience": False},
    "all pairs move alike": {"by_pair": False},
    "drift is looked for whatever the weights say": {"trust": False},
    "values of next states do not move": {"value_drift": 0.0},
    "all states move alike": {"by_state": False},
    "no first guess of rewards": {"shrink": 0.0},
    "no uncertainty from noise": {"noise": 0.0},
    "no deviation of next states": {"spread": 0.0},
    "uncertainty does not grow with neglect": {"curiosity": 0.0, "caution": 1.0},
    "no bound on the first guess of next states": {"most_prior": 1e9},
    "states never met are not hoped for": {"unmet": False},
    "hope is compared with the gain of one sweep": {"steady": 1.0},
    "full optimism for the unknown": {"boldness": 1e6},
    "a plan every 10 steps": {"every": 10},
    "a plan every 100 steps": {"every": 100},
}
SHORT, STILL, LONG = 5_000, 20_000, 50_000
SEEDS = {SHORT: range(100, 110), STILL: range(100, 110), LONG: range(100, 104)}
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
    tasks = [t for t in packaged_suite().tasks() if t.family == "tuning"]
    made = [(t, dm.problems.make(t.problem.name, **t.problem.parameters)) for t in tasks]
    short = [(t.label, world) for t, world in made if t.horizon == SHORT]
    still = [(f"{t.label}, T = {STILL:,}", world) for t, world in made if t.horizon == STILL]
    longer = [
        (f"{t.label}, T = {LONG:,}", dm.problems.make(t.problem.name, **t.problem.parameters | {"horizon": LONG}))
        for t, world in made
        if t.horizon == SHORT
        and t.group in SMALL
        and world.space.n_states <= MOST_STATES
        and sum(world.budget()) > 0
    ]
    return short + still + longer


def main() -> None:
    """Print a table of all variants."""
    labels, problems = zip(*worlds(), strict=True)
    slack = np.array([0.005 * problem.horizon * np.ptp(problem.reward_range) for problem in problems])
    horizons = np.array([problem.horizon for problem in problems])
    base: NDArray[np.float64] | None = None
    columns = f"T = {SHORT:,} | still, T = {STILL:,} | drifting, T = {LONG:,}"
    print(f"| variant | {columns} | worst problem |\n|---|---|---|---|---|")
    for name, params in VARIANTS.items():
        found = np.maximum([mean_regret(problem, params) for problem in problems], 0.0) + slack
        base = found if base is None else base
        ratios = np.log(found / base)
        worst = int(np.argmax(ratios))
        shown = [_shown(ratios[horizons == horizon]) for horizon in SEEDS]
        print(f"| {name} | {' | '.join(shown)} | {np.exp(ratios[worst]):.2f}, {labels[worst]} |", flush=True)


def _shown(ratios: NDArray[np.float64]) -> str:
    interval = mean_interval(ratios)
    return f"{np.exp(interval.estimate):.2f} [{np.exp(interval.low):.2f}, {np.exp(interval.high):.2f}]"


if __name__ == "__main__":
    main()
