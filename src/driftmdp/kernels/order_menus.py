"""What several orders of today would cost each, for items whose orders travel together.

A *menu* has nothing, the best order, and larger ones, for an order that must reach a minimum. Costs are those of
today's order and of all that follows under the best plan (or the tuned rule), without today's fixed cost. Only
their differences mean something.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.exact_orders import cost_of_order, fill_period_costs, look_ahead
from driftmdp.kernels.late_orders import LateOrders
from driftmdp.kernels.order_states import smallest_order
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms
from driftmdp.kernels.path_orders import fewer, improve, order_up, own_order, tune
from driftmdp.kernels.path_rules import OrderRule, RuleTrial, mean_cost, new_trial, start_path

MENU = 10  # orders on a menu
NO_ORDER = -1  # on a menu that has fewer
STEPS = 3  # from the best order to twice as much


@kernel
def fill_candidates(terms: OrderTerms, position: int, best: int, orders: Longs) -> None:
    """Fill a menu: nothing, the best order, and larger ones as far as they fit."""
    step = max(best // (STEPS * terms.pack), 1) * terms.pack
    orders[0] = 0
    for place in range(1, orders.size):
        order = best + (place - 1) * step
        orders[place] = order if best > 0 and position + order <= terms.capacity else NO_ORDER


@kernel
def fill_menu_exactly(
    terms: OrderTerms,
    stock: int,
    coming: Longs,
    laws: Floats,
    periods: ComingPeriods,
    orders: Longs,
    costs: Floats,
) -> None:
    """Fill a menu and its costs by dynamic programming. Arguments as of `plan_exactly`."""
    grid, row, after, _, _ = look_ahead(terms, stock, coming, laws, periods)
    period_costs = np.empty(grid.width)
    fill_period_costs(terms, laws[0], period_costs)
    best, least = 0, np.inf
    order = smallest_order(terms)
    while stock + grid.load[row] + order <= grid.limit:
        cost = cost_of_order(terms, grid, laws[0], period_costs, after, stock, row, order)
        if cost < least:
            best, least = order, cost
        order += terms.pack
    fill_candidates(terms, stock + grid.load[row], best, orders)
    for place in range(orders.size):
        if orders[place] != NO_ORDER and stock + grid.load[row] + orders[place] <= grid.limit:
            costs[place] = cost_of_order(terms, grid, laws[0], period_costs, after, stock, row, orders[place])
        else:
            orders[place] = NO_ORDER


@kernel
def fill_menu_on_paths(
    terms: OrderTerms,
    stock: int,
    ages: Longs,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    late: LateOrders,
    orders: Longs,
    costs: Floats,
) -> None:
    """Fill a menu and its costs by the tuned rule on sample paths. Arguments as of `plan_late_on_paths`."""
    trial = new_trial(terms, stock, ages, coming, paths, periods, late)
    rule, _ = tune(trial)
    sample = np.zeros(fewer(paths.shape[0], terms.lead_time))
    best, _, _ = improve(trial, rule, own_order(trial, rule), sample)
    position = start_path(stock, coming, trial.arrivals)
    most = (terms.capacity - position) // terms.pack * terms.pack
    if best == 0 and most >= trial.least:
        best = _best_positive(trial, rule, position, most, sample)
    fill_candidates(terms, position, best, orders)
    for place in range(orders.size):
        if orders[place] != NO_ORDER:
            costs[place] = mean_cost(trial, rule, orders[place], sample)
            costs[place] -= terms.fixed if orders[place] > 0 else 0.0


@kernel
def _best_positive(trial: RuleTrial, rule: OrderRule, position: int, most: int, sample: Floats) -> int:
    """Return the best order near the rule's level that is not 0."""
    pack, best, least = trial.terms.pack, 0, np.inf
    middle = order_up(trial, rule, position, trial.least, most)
    for j in range(1, 7):
        order = min(max(middle * j // (4 * pack) * pack, trial.least), most)
        cost = mean_cost(trial, rule, order, sample)
        if cost < least:
            best, least = order, cost
    return best
