"""What drift costs in the worlds of applications: ``python -m benchmarks.markets [NAME]...`` prints it.

It compares the oracle, the optimal policies of the average world and of each anchor, and random play.
"""

from __future__ import annotations

import sys

import numpy as np

import driftmdp as dm
from driftmdp.agents import Agent, FixedPolicy, Oracle, Random
from driftmdp.report.problem_picture import average_world, regime_names

SEEDS = range(20)
EXAMPLES = ("remarketing", "bidding")  # of the paper
APPLICATIONS = ("queue", "maintenance", "wireless", "healthcare", "epidemic", "choice", "transport")


def players(problem: dm.Problem) -> dict[str, Agent]:
    """Return the agents by name."""
    anchors = problem.drifting.anchors
    names = regime_names(problem) or range(len(anchors))
    worlds = {"average world": average_world(problem.drifting)}
    worlds |= {f"anchor {name}": anchor for name, anchor in zip(names, anchors, strict=True)}
    fixed = {name: FixedPolicy(problem.space, dm.planning.optimal_gain(mdp).policy) for name, mdp in worlds.items()}
    return {"oracle": Oracle.for_problem(problem)} | fixed | {"random": Random(problem.space)}


def measure(problem: dm.Problem) -> dict[str, tuple[float, float, float]]:
    """Return by agent the mean reward, its standard error over seeds, and the share of (oracle - random) lost."""
    scores = {
        name: [dm.simulate(agent, problem, seed).mean_rewards.mean() for seed in SEEDS]
        for name, agent in players(problem).items()
    }
    means = {name: float(np.mean(score)) for name, score in scores.items()}
    room = means["oracle"] - means["random"]
    return {
        name: (
            means[name],
            float(np.std(score, ddof=1) / np.sqrt(len(score))),
            (means["oracle"] - means[name]) / room,
        )
        for name, score in scores.items()
    }


def main(names: list[str]) -> None:
    """Print mean rewards per step, with standard errors over seeds."""
    for problem in map(dm.problems.make, names or [*EXAMPLES, *APPLICATIONS]):
        gain = dm.planning.optimal_gains(problem.drifting).mean()
        low, high = problem.reward_range
        print(f"{problem.name}: mean of rho*_t {gain:.4g}, rewards in [{low:.4g}, {high:.4g}]")
        for name, (mean, error, lost) in measure(problem).items():
            print(f"  {name:22} {mean:8.4g} +- {error:<8.2g} {lost:6.1%} lost")


if __name__ == "__main__":
    main(sys.argv[1:])
