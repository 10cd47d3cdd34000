"""The least that an item can cost along a path whose demand is all known: a bound for every way of ordering.

[WW58] with lost sales, a capacity, packs and order days, by dynamic programming over the stock. What only makes the
problem easier is left out, so that the cost stays a bound: goods on their way take no room, the stock before the
first scored period may be any, and orders that were placed before it are free.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.order_states import smallest_order
from driftmdp.kernels.ordering_arrays import OrderTerms
from driftmdp.kernels.yardstick_rules import DemandPath

NO_ARRIVAL, PAID, FREE = 0, 1, 2  # what may arrive in a period


@kernel
def least_cost(path: DemandPath, scored: int, terms: OrderTerms) -> float:
    """Return the least cost of the periods from ``scored`` on."""
    arrivals = _arrivals(path, scored)
    most = _most_stock(path.demand, scored, terms)
    after, now = np.zeros(most + 1), np.zeros(most + 1)
    for t in range(path.demand.size - 1, scored - 1, -1):
        _fill_costs(terms, path.demand[t], after, now)
        if arrivals[t] != NO_ARRIVAL:
            _allow_order(terms, arrivals[t] == PAID, now, after)
        else:
            for stock in range(now.size):
                after[stock] = now[stock]
    least = np.inf
    for stock in range(after.size):
        least = min(least, after[stock])
    return least


@kernel
def _arrivals(path: DemandPath, scored: int) -> Longs:
    """Return what may arrive in each period."""
    found = np.zeros(path.demand.size, np.int64)
    for t in range(path.demand.size):
        if path.may_order[t] != 0 and path.arrival[t] < path.demand.size and found[path.arrival[t]] != FREE:
            found[path.arrival[t]] = FREE if t < scored else PAID
    return found


@kernel
def _most_stock(demand: Longs, scored: int, terms: OrderTerms) -> int:
    """Return a stock beyond which there is none: units that would wait so long that not to serve is cheaper."""
    n = demand.size
    span = n if terms.holding <= 0.0 else min(n, int(terms.lost / terms.holding) + 1)
    total, most = 0, 0
    for t in range(scored, n):
        total += demand[t]
        if t - span >= scored:
            total -= demand[t - span]
        most = max(most, total)
    return int(min(terms.capacity, most + smallest_order(terms) + terms.pack))


@kernel
def _fill_costs(terms: OrderTerms, demand: int, after: Floats, costs: Floats) -> None:
    """Fill in the costs from a period on, by what is on sale in it."""
    for stock in range(costs.size):
        if stock < demand:
            costs[stock] = terms.lost * (demand - stock) + after[0]
        else:
            costs[stock] = terms.holding * (stock - demand) + after[stock - demand]


@kernel
def _allow_order(terms: OrderTerms, is_paid: bool, costs: Floats, found: Floats) -> None:
    """Fill in the least costs from a morning on, by its stock before the order that arrives in it."""
    fixed, unit = (terms.fixed, terms.unit) if is_paid else (0.0, 0.0)
    least, last = smallest_order(terms), costs.size - 1
    best = np.empty(costs.size)  # of this many units on sale, or some packs more
    for stock in range(last, -1, -1):
        best[stock] = costs[stock] + unit * stock
        if stock + terms.pack <= last:
            best[stock] = min(best[stock], best[stock + terms.pack])
    for stock in range(costs.size):
        found[stock] = costs[stock]
        if stock + least <= last:
            found[stock] = min(found[stock], fixed - unit * stock + best[stock + least])
