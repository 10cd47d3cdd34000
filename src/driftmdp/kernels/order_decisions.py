"""Orders of many items: from beliefs to laws or paths of demand, and from these to a plan, item by item."""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.demand_arrays import Beliefs, Shared
from driftmdp.kernels.demand_laws import fill_law, fill_paths
from driftmdp.kernels.exact_orders import exact_work, plan_exactly
from driftmdp.kernels.ordering_arrays import EXACT, NO_LIMIT, ComingPeriods, Flags, OrderTerms
from driftmdp.kernels.path_orders import plan_on_paths

MOST_LEVELS = 1200  # of a law, beyond which orders are planned on paths
MOST_WORK = 2e5  # products in one step of an exact plan


class OrderTask(NamedTuple):
    """What to decide for n items. H is the most periods ahead of any of them.

    =============  ==========  ============================================================================
    items, kinds   (n,)        their numbers and kinds of period
    priors, means  (n,)        levels of the items' surroundings, and their own
    costs          (n, 4)      fixed, unit, lost and holding
    sizes          (n, 4)      capacity, pack, minimum and lead time
    stock          (n,)        on the shelf this morning
    coming         (n, ...)    ``coming[n, j]`` arrives j + 1 periods from now
    horizons       (n, 2)      periods ahead of an exact plan, and of paths
    cycles         (n,)        periods that repeat behind them. 0: nothing counts there
    factors        (n, H)      of demand: season, weekday and special days
    is_open        (n, H)      0: closed
    may_order      (n, H)      0: no order day
    shifts         (n, H + 1)  of the uniform numbers
    =============  ==========  ============================================================================
    """

    items: Longs
    kinds: Longs
    priors: Floats
    means: Floats
    costs: Floats
    sizes: Longs
    stock: Longs
    coming: Longs
    horizons: Longs
    cycles: Longs
    factors: Floats
    is_open: Flags
    may_order: Flags
    shifts: Floats


@kernel
def decide_all(
    beliefs: Beliefs, shared: Shared, task: OrderTask, uniforms: Floats, orders: Longs, costs: Floats, methods: Longs
) -> None:
    """Fill the orders of all items, the expected costs per period of their plans, and how these were found."""
    for n in range(task.items.size):
        terms = _terms_of(task, n)
        coming = task.coming[n][: max(terms.lead_time - 1, 0)]
        orders[n], costs[n], methods[n] = _plan(beliefs, shared, task, n, terms, coming, uniforms)


@kernel
def _terms_of(task: OrderTask, n: int) -> OrderTerms:
    costs, sizes = task.costs[n], task.sizes[n]
    return OrderTerms(costs[0], costs[1], costs[2], costs[3], sizes[0], sizes[1], sizes[2], sizes[3])


@kernel
def _plan(
    beliefs: Beliefs, shared: Shared, task: OrderTask, n: int, terms: OrderTerms, coming: Longs, uniforms: Floats
) -> tuple[int, float, int]:
    i, kind, prior = task.items[n], task.kinds[n], task.priors[n]
    horizon = task.horizons[n, 0]
    width = _law_width(task, n, terms, horizon)
    if width <= MOST_LEVELS:
        laws = np.zeros((horizon, width))
        for h in range(horizon):
            fill_law(beliefs, shared, i, kind, prior, task.factors[n, h], laws[h])
        periods = ComingPeriods(task.is_open[n][:horizon], task.may_order[n][:horizon], task.cycles[n])
        if exact_work(terms, task.stock[n], coming, laws, periods) <= MOST_WORK:
            order, cost, _ = plan_exactly(terms, task.stock[n], coming, laws, periods)
            return order, cost, EXACT
    horizon = task.horizons[n, 1]
    paths = np.zeros((uniforms.shape[0], horizon), np.int32)
    fill_paths(beliefs, shared, i, kind, prior, task.factors[n][:horizon], uniforms, task.shifts[n], paths)
    periods = ComingPeriods(task.is_open[n][:horizon], task.may_order[n][:horizon], min(task.cycles[n], 1))
    order, cost, method = plan_on_paths(terms, task.stock[n], coming, paths, periods)
    return order, cost, method


@kernel
def _law_width(task: OrderTask, n: int, terms: OrderTerms, horizon: int) -> int:
    """Return how many demands a law tells apart: up to the capacity, or to many times the largest mean."""
    largest = 0.0
    for h in range(horizon):
        largest = max(largest, task.means[n] * task.factors[n, h])
    width = 12.0 * largest + 20.0
    if terms.capacity < NO_LIMIT:
        width = min(width, float(max(terms.capacity, task.stock[n])))
    return int(min(width, 1e6)) + 1
