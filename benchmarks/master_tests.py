"""How often MASTER's tests fire: ``python -m benchmarks.master_tests [--seeds N] [--scale C ...] [--suite]``.

arXiv 2410.13772 finds for bandits that the tests do not fire at practical horizons, so that MASTER only restarts at
random. This looks at the same for average reward: worlds, horizons and factors of the thresholds. A number is a
mean over seeds with its 95% interval. ``closest`` is the largest ratio of a test's statistic to its threshold in a
run: a test fires at 1. ``--suite`` counts over all reported problems of the drift suite instead.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.agents import MASTER
from driftmdp.statistics import mean_interval
from driftmdp.suite import packaged_suite
from driftmdp.validation import quietly

HORIZONS = (5_000, 20_000, 100_000)
TEST_SCALES = (1.0, 0.1, 0.01, 0.001)
SCALES = (1.0, 0.03)  # of the radii: theory, and one with which the instances learn
WORLDS: dict[str, Callable[[int], dm.Problem]] = {
    "two-state": lambda horizon: dm.problems.two_state(horizon=horizon),
    "Garnet, abrupt": lambda horizon: dm.problems.garnet(
        n_states=10, n_actions=3, horizon=horizon, drift="abrupt", noise="bernoulli"
    ),
    "bandit, abrupt": lambda horizon: dm.problems.bandit(horizon=horizon, drift="abrupt"),
    "queue, abrupt": lambda horizon: dm.problems.queue(horizon=horizon, drift="abrupt"),
}
CAUSES = ("test_1", "test_2", "widening")
SUITE_SCALES = (1.0, 0.003)  # those of the suite
SUITE_HEAD = "| scale | runs | test 1 | test 2 | widening | closest 1 | closest 2 |"
HEAD = "| world | T | scale | test scale | test 1 | test 2 | widening | closest 1 | closest 2 | regret |"


def first_horizon(factor: float) -> float:
    """Return the horizon from which a test can fire at all, in any world: where its least threshold is 1.

    It is ``factor`` (log2 T + 1) ln(T/delta) / sqrt(T), with 54 for Test 2, 162 for Test 1, delta = 1/T and D = 1.
    """
    low, high = 2.0**10, 2.0**60
    while high / low > 1.0 + 1e-9:
        middle = math.sqrt(low * high)
        threshold = factor * (math.log2(middle) + 1.0) * 2.0 * math.log(middle) / math.sqrt(middle)
        low, high = (low, middle) if threshold <= 1.0 else (middle, high)
    return high


def row(problem: dm.Problem, gains: NDArray[Any], scale: float, test_scale: float, seeds: range) -> list[str]:
    """Return the cells of one setting."""
    agent = MASTER.for_problem(problem, scale=scale, test_scale=test_scale)
    runs = [dm.simulate(agent, problem, seed) for seed in seeds]
    summaries = [run.summary for run in runs]
    regrets = [float(run.dynamic_regret(problem, gains)[-1]) for run in runs]
    fired = [[getattr(found, name) for found in summaries] for name in CAUSES]
    closest = [max(getattr(found, name) for found in summaries) for name in ("closest_1", "closest_2")]
    return [*map(with_interval, fired), *(f"{ratio:.2g}" for ratio in closest), with_interval(regrets, ",.0f")]


def suite_row(scale: float, seeds: range) -> str:
    """Return how often each test fired over the reported problems of the suite, with thresholds of theory."""
    fired, closest, runs = dict.fromkeys(CAUSES, 0), [0.0, 0.0], 0
    for task in packaged_suite().tasks():
        if task.family != "reported":
            continue
        problem = dm.problems.make(task.problem.name, **task.problem.parameters)
        agent = MASTER.for_problem(problem, scale=scale)
        for found in (dm.simulate(agent, problem, seed).summary for seed in seeds):
            fired = {name: count + getattr(found, name) for name, count in fired.items()}
            closest = [max(closest[0], found.closest_1), max(closest[1], found.closest_2)]
            runs += 1
    cells = [f"{scale:g}", f"{runs:,}", *map(str, fired.values()), *(f"{ratio:.2g}" for ratio in closest)]
    return f"| {' | '.join(cells)} |"


def with_interval(values: list[float], form: str = ".3g") -> str:
    """Return a mean with its 95% interval as text."""
    if len(set(values)) == 1:
        return format(values[0], form)
    found = mean_interval(values)
    return f"{found.estimate:{form}} [{found.low:{form}}, {found.high:{form}}]"


def main() -> None:
    """Print a table of all settings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="runs per setting")
    parser.add_argument("--scale", type=float, nargs="+", default=SCALES, help="factors of the radii")
    parser.add_argument("--suite", action="store_true", help="count over the reported problems of the drift suite")
    given = parser.parse_args()
    if given.suite:
        print(f"{SUITE_HEAD}\n|{'---|' * SUITE_HEAD.count('|')}"[:-4])
        for scale in SUITE_SCALES:
            with quietly():
                print(suite_row(scale, range(given.seeds)), flush=True)
        return
    for test, factor in (("Test 1", 162.0), ("Test 2", 54.0)):
        print(f"{test} cannot fire in any world below T = {first_horizon(factor):.3g} (D = 1, delta = 1/T).")
    print(f"\n{HEAD}\n|{'---|' * HEAD.count('|')}"[:-4])
    for name, make in WORLDS.items():
        for horizon in HORIZONS:
            problem = make(horizon)
            gains = dm.planning.optimal_gains(problem.drifting, allow_transient=True)
            for scale in given.scale:
                for test_scale in TEST_SCALES:
                    with quietly():
                        cells = row(problem, gains, scale, test_scale, range(given.seeds))
                    setting = [name, f"{horizon:,}", f"{scale:g}", f"{test_scale:g}"]
                    print(f"| {' | '.join([*setting, *cells])} |", flush=True)


if __name__ == "__main__":
    main()
