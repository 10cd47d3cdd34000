"""The paper's Section 7 as printed, and what the structure of inventory adds.

SWUCRL2-CW with Theorem 4's window and no widening sees stock, order and sales only, through the pseudo-reward. With
231 pairs and theory's radii every plan is vacuous for all 5,000 days, so it explores evenly to the end.
InventoryOptimist sees the same data, but uses that one demand determines all pairs.
"""

import numpy as np

import driftmdp as dm
from driftmdp.statistics import mean_interval

SEEDS = 10


def main() -> None:
    """Print cost and regret of both, of random orders, and of the oracle."""
    problem = dm.problems.inventory()
    gains = dm.planning.optimal_gains(problem.drifting)
    agents = {
        "SWUCRL2-CW, Theorem 4": dm.agents.SWUCRL2CW.for_problem(problem, rule="theorem-4"),
        "the same, radii x 0.03": dm.agents.SWUCRL2CW.for_problem(problem, rule="theorem-4", scale=0.03),
        "random orders": dm.agents.Random.for_problem(problem),
        "InventoryOptimist": dm.agents.InventoryOptimist.for_problem(problem),
        "Oracle": dm.agents.Oracle.for_problem(problem),
    }
    window = agents["SWUCRL2-CW, Theorem 4"].parameters["window"]
    print(f"{problem.space.n_pairs} pairs, {problem.horizon} days, {SEEDS} seeds, W* = {window}, eta = 0\n")
    print(f"{'':24} {'cost per day [95%]':>22} {'dynamic regret [95%]':>26}  vacuous plans")
    for name, agent in agents.items():
        runs = [dm.simulate(agent, problem, seed) for seed in range(SEEDS)]
        cost = mean_interval([float((problem.cost_shift - run.mean_rewards).mean()) for run in runs])
        regret = mean_interval([float(run.dynamic_regret(problem, gains)[-1]) for run in runs])
        vacuous = np.mean([run.vacuous_share for run in runs])
        print(
            f"{name:24} {cost.estimate:6.2f} [{cost.low:5.2f}, {cost.high:5.2f}] "
            f"{regret.estimate:10.0f} [{regret.low:6.0f}, {regret.high:6.0f}]  "
            f"{'' if np.isnan(vacuous) else f'{vacuous:.0%}'}"
        )


if __name__ == "__main__":
    main()
