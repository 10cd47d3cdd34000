"""What drift costs in the paper's two examples: ``python -m benchmarks.markets`` prints docs/problems.md's numbers.

It compares the oracle, the optimal policies of the average world and of each anchor, and random play.
"""

from __future__ import annotations

import numpy as np

import driftmdp as dm
from driftmdp.agents import Agent, FixedPolicy, Oracle, Random

SEEDS = range(20)


def players(problem: dm.Problem) -> dict[str, Agent]:
    """Return the agents by name."""
    drifting = problem.drifting
    shares = np.asarray(drifting.weights.arrays.mean(axis=0)).reshape(1, -1)
    average = dm.DriftingMdp(drifting.anchors, shares).at(1)
    worlds = {"average world": average} | {f"anchor {k}": anchor for k, anchor in enumerate(drifting.anchors)}
    fixed = {name: FixedPolicy(problem.space, dm.planning.optimal_gain(mdp).policy) for name, mdp in worlds.items()}
    return {"oracle": Oracle.for_problem(problem)} | fixed | {"random": Random(problem.space)}


def main() -> None:
    """Print mean rewards per step, with standard errors over seeds."""
    for problem in (dm.problems.remarketing(), dm.problems.bidding()):
        gain = dm.planning.optimal_gains(problem.drifting).mean()
        print(f"{problem.name}: mean of rho*_t {gain:.4g}")
        for name, agent in players(problem).items():
            means = [dm.simulate(agent, problem, seed).mean_rewards.mean() for seed in SEEDS]
            error = np.std(means, ddof=1) / np.sqrt(len(means))
            print(f"  {name:14} {np.mean(means):.4g} +- {error:.2g}")


if __name__ == "__main__":
    main()
