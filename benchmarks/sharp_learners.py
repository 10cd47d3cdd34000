"""Sharp learners beside UCRL2 on small ergodic Garnets: ``python -m benchmarks.sharp_learners [--seeds N]``.

Every agent has its default constants. The Garnets do not drift, every pair leads to every state, and rewards are
Bernoulli. An entry is the mean regret at T = 20,000 with a 95% interval: over seeds on each Garnet, and over
Garnets and seeds in the last row.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.statistics import mean_interval

AGENTS = ("UCRL2", "UCRL3", "KLUCRL", "PSRL", "IMEDRL")
HORIZON = 20_000
SIZES, GARNETS = (5, 6), range(5)


def garnets() -> Iterator[tuple[str, dm.Problem]]:
    """Give the problems with their labels."""
    for n in SIZES:
        for seed in GARNETS:
            settings = {"n_states": n, "branching": n, "seed": seed, "horizon": HORIZON}
            yield (
                f"S = {n}, Garnet {seed}",
                dm.problems.make("garnet", drift="stationary", noise="bernoulli", **settings),
            )


def regrets(name: str, problem: dm.Problem, n_seeds: int) -> NDArray[np.float64]:
    """Return the regret of an agent with each seed."""
    gains = dm.planning.optimal_gains(problem.drifting)

    def play(seed: int) -> float:
        agent = dm.agents.builtin()[name].for_problem(problem)
        return float(dm.simulate(agent, problem, seed).dynamic_regret(problem, gains)[-1])

    with ThreadPoolExecutor() as workers:
        return np.array(list(workers.map(play, range(n_seeds))))


def main() -> None:
    """Print a table of all agents on all Garnets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="runs of each agent on each Garnet")
    n_seeds = parser.parse_args().seeds
    names = [name for name in AGENTS if name in dm.agents.builtin()]
    print(f"| problem | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    found: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    for label, problem in garnets():
        for name in names:
            found[name].append(regrets(name, problem, n_seeds))
        print(f"| {label} | {' | '.join(_shown(found[name][-1]) for name in names)} |", flush=True)
    print(f"| all | {' | '.join(_shown(np.concatenate(found[name])) for name in names)} |")


def _shown(sample: NDArray[np.float64]) -> str:
    interval = mean_interval(sample)
    return f"{interval.estimate:.0f} [{interval.low:.0f}, {interval.high:.0f}]"


if __name__ == "__main__":
    main()
