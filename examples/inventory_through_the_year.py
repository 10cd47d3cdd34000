"""The best orders of a shop that knows its seasonal demand, and their cost per day.

The best policy of each day is an (s, S) rule: order when the stock is low, up to a level. Both numbers move with
the season.
"""

import numpy as np

import driftmdp as dm
from driftmdp.problems.inventory import Poisson, Seasonal


def main() -> None:
    """Print the best rule and the best cost at four days of a year."""
    problem = dm.problems.inventory(
        capacity=20, horizon=365, demand=Poisson(Seasonal(mean=6, amplitude=4, period=365)), zeta=0.002
    )
    path = dm.planning.gain_path(problem.drifting)
    print(f"{'day':>4} {'mean demand':>12} {'order below':>12} {'up to':>6} {'cost per day':>12}")
    for day in (1, 91, 182, 274):
        orders = path.policy(day)
        stock = np.arange(problem.capacity + 1)
        low = stock[orders > 0]
        cost = problem.cost_shift[day - 1] - path.gains[day - 1]
        print(
            f"{day:4d} {problem.expected_demand[day - 1]:12.2f} {low.max() + 1:12d} "
            f"{(stock + orders)[orders > 0].max():6d} {cost:12.2f}"
        )


if __name__ == "__main__":
    main()
