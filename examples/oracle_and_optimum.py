"""How far the oracle of dynamic regret is from the true optimum, on the paper's two-state problem.

The oracle sums rho*_t, the optimal gain of each step's own MDP. The true optimum knows the whole future and is
found by backward induction. Proposition 1 of the paper bounds how far the oracle may be below it.
"""

import driftmdp as dm


def main() -> None:
    """Print both, and the bound."""
    print(f"{'V_r':>6} {'V_p':>6} {'oracle':>9} {'optimum':>9} {'gap':>8} {'bound':>9}")
    horizon = 5000
    for v_r in (horizon**0.2, horizon**0.5):
        for v_p in (horizon**0.2, horizon**0.5):
            problem = dm.problems.two_state(horizon, v_r, v_p)
            world, budgets = problem.drifting, problem.drifting.variation()
            oracle = dm.planning.optimal_gains(world).sum()
            optimum = dm.planning.best_total_reward(world, problem.start)
            bound = dm.formulas.bounds.benchmark_gap(
                dm.planning.max_diameter(world), horizon, budgets.reward, budgets.transition
            )
            print(f"{v_r:6.2f} {v_p:6.2f} {oracle:9.1f} {optimum:9.1f} {optimum - oracle:8.1f} {bound:9.1f}")


if __name__ == "__main__":
    main()
