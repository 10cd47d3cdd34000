"""Orders of many items: from beliefs to laws or paths of demand, and from these to a plan, item by item."""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.demand_arrays import DISPERSIONS, DemandBeliefs, Shared
from driftmdp.kernels.demand_experts import fill_levels, weights_of
from driftmdp.kernels.demand_laws import fill_law, fill_paths
from driftmdp.kernels.exact_orders import plan_exactly
from driftmdp.kernels.exact_perishables import is_small_with_ages, plan_ages_exactly
from driftmdp.kernels.lasting_goods import most_in_time, position_of, without_life
from driftmdp.kernels.late_orders import (
    LateOrders,
    all_on_time,
    expected_coming,
    is_certain,
    new_late_orders,
)
from driftmdp.kernels.late_service import expected_late_cost, plan_late_for_service
from driftmdp.kernels.negative_binomial import upper_tail
from driftmdp.kernels.order_menus import fill_menu_exactly, fill_menu_on_paths
from driftmdp.kernels.order_states import is_small
from driftmdp.kernels.ordering_arrays import (
    EXACT,
    FIRST_PATHS,
    MOST_DOUBT,
    NO_LIMIT,
    SERVICE,
    ComingPeriods,
    OrderTask,
    OrderTerms,
)
from driftmdp.kernels.path_orders import plan_late_on_paths
from driftmdp.kernels.service_orders import cost_of_ordering, next_order, plan_ages_for_service
from driftmdp.kernels.shelf_ages import start_expiry

MOST_LEVELS = 1200  # of a law, beyond which orders are planned on paths
USUAL_STREAK = 2  # periods in a row that sell out: beyond it demand may be far higher
STREAK_HOPE = 0.3  # times its level: what each further such period adds to hope
MOST_STREAK_HOPE = 2.0
YOUNG_PERIODS = 50
FIRST_HOPE, MOST_FIRST_HOPE = 2.0, 16.0  # times its prior level: what a new item is tried for
MOST_HOPE = 4.0  # times its level: what is added to hope in the end, after a long time without an item
RARE = 1e-3  # chance of the largest demand that a law tells apart, below which it makes no difference
HOPE_PERIODS = np.array([100.0, 40.0])  # of such a time, by kind of period


@kernel
def decide_all(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    uniforms: Floats,
    orders: Longs,
    costs: Floats,
    methods: Longs,
) -> None:
    """Fill the orders of all items, the expected costs per period of their plans, and how these were found."""
    for n in range(task.items.size):
        terms = _terms_of(task, n)
        coming = coming_of(task, n)
        orders[n], costs[n], methods[n] = _plan(beliefs, shared, task, n, terms, coming, uniforms)


@kernel
def is_on_time(task: OrderTask, n: int) -> bool:
    """Return whether an item's orders arrive on their days for certain."""
    return is_certain(task.hazards[n], task.coming[n], task.overdue[n], task.sizes[n, 3])


@kernel
def coming_of(task: OrderTask, n: int) -> Longs:
    """Return what is on its way by the periods in which it is expected, less one."""
    if is_on_time(task, n):
        return task.coming[n][: max(task.sizes[n, 3] - 1, 0)]
    return expected_coming(task.hazards[n], task.coming[n], task.overdue[n])


@kernel
def late_orders_of(task: OrderTask, n: int, horizon: int, n_paths: int, uniforms: Floats) -> LateOrders:
    """Return an item's orders of which arrivals are not certain, with delays drawn, or that all are on time."""
    if is_on_time(task, n):
        return all_on_time()
    about = task.sizes[n, 3], task.hazards[n], task.coming[n], task.overdue[n]
    return new_late_orders(about[0], about[1], about[2], about[3], uniforms, task.shifts[n], horizon, n_paths)


@kernel
def _terms_of(task: OrderTask, n: int) -> OrderTerms:
    costs, sizes, waste = task.costs[n], task.sizes[n], task.waste[n]
    return OrderTerms(
        costs[0], costs[1], costs[2], costs[3], sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], waste
    )


@kernel
def _try_again(beliefs: DemandBeliefs, task: OrderTask, n: int, coming: Longs) -> float:
    """Return how much higher than believed demand may be: 1 unless the shelf is empty and shows nothing.

    An item that is not worth an order is not on the shelf, and shows no demand. Whatever its demand becomes, it
    would never be ordered again. So the longer nothing was seen, the more is hoped for. A new item is tried at
    once, for the least hope with which an order pays.
    """
    i, kind = task.items[n], task.kinds[n]
    if position_of(task, n, coming) > 0 or (beliefs.unseen[i] <= 0 and beliefs.periods[i] > 0):
        return 1.0
    if beliefs.periods[i] == 0 and beliefs.unseen[i] <= 0:
        return FIRST_HOPE
    return 1.0 + MOST_HOPE * (1.0 - math.exp(-beliefs.unseen[i] / HOPE_PERIODS[kind]))


@kernel
def _plan(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    terms: OrderTerms,
    coming: Longs,
    uniforms: Floats,
) -> tuple[int, float, int]:
    """Return an item's order, the expected cost per period, and how it was found."""
    # A young item that sells out again and again may sell many times that: look further up.
    streak = -beliefs.unseen[task.items[n]] - USUAL_STREAK
    hope = 1.0
    if streak > 0 and beliefs.periods[task.items[n]] < YOUNG_PERIODS:
        hope += min(STREAK_HOPE * streak, MOST_STREAK_HOPE)
    order, cost, method = _plan_for(beliefs, shared, task, n, terms, coming, uniforms, hope)
    if order == 0 and task.may_order[n, 0] != 0 and task.is_open[n, 0] != 0:
        hope = _try_again(beliefs, task, n, coming)
        is_new = beliefs.periods[task.items[n]] == 0
        while 1.0 < hope <= MOST_FIRST_HOPE and order == 0:
            # The whole order: one unit would show that demand is at least one, for the same fixed cost.
            order, _, _ = _plan_for(beliefs, shared, task, n, terms, coming, uniforms, hope)
            hope = 2.0 * hope if is_new else 0.0
    return order, cost, method


@kernel
def _plan_for(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    terms: OrderTerms,
    coming: Longs,
    uniforms: Floats,
    hope: float,
) -> tuple[int, float, int]:
    """Return the plan for a demand that is ``hope`` times what is believed."""
    most = most_in_time(beliefs, shared, task, n, terms, coming, hope)
    if most > 0.0:
        never = without_life(terms)
        order, cost, method = _plan_with(beliefs, shared, task, n, never, coming, uniforms, hope)
        if order == 0 or position_of(task, n, coming) + order <= most:
            return order, cost, method
    return _plan_with(beliefs, shared, task, n, terms, coming, uniforms, hope)


@kernel
def _plan_with(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    terms: OrderTerms,
    coming: Longs,
    uniforms: Floats,
    hope: float,
) -> tuple[int, float, int]:
    """Return the same with these terms."""
    stock, ages, for_service = task.stock[n], task.ages[n][: terms.shelf_life], task.service[n, 0] > 0.0
    is_exact, laws, periods = _laws_for(beliefs, shared, task, n, terms, coming, hope)
    if is_exact:
        if terms.shelf_life > 0:
            order, cost, _ = plan_ages_exactly(terms, ages, coming, laws, periods)
        else:
            order, cost, _ = plan_exactly(terms, stock, coming, laws, periods)
        beyond = _demand_beyond(beliefs, shared, task, n, hope, laws, periods)
        return order, cost + terms.lost * beyond, EXACT
    n_paths = min(FIRST_PATHS, uniforms.shape[0])
    while True:
        paths, periods = _paths_for(beliefs, shared, task, n, n_paths, uniforms, hope)
        late = late_orders_of(task, n, paths.shape[1], n_paths, uniforms)
        if for_service:
            return _serve(beliefs, task, n, terms, coming, paths, periods, late)
        order, cost, method, doubt = plan_late_on_paths(terms, stock, ages, coming, paths, periods, late)
        if doubt <= MOST_DOUBT or n_paths == uniforms.shape[0]:
            return order, cost, method
        n_paths = uniforms.shape[0]


@kernel
def _laws_for(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    terms: OrderTerms,
    coming: Longs,
    hope: float,
) -> tuple[bool, Floats, ComingPeriods]:
    """Return whether a plan can be exact, and if so the laws of demand and the periods that it is made for."""
    horizon = task.horizons[n, 0]
    width = _law_width(task, n, terms, horizon)
    periods = ComingPeriods(np.zeros(horizon, np.uint8), np.zeros(horizon, np.uint8), task.cycles[n])
    if horizon == 0 or width > MOST_LEVELS or task.service[n, 0] > 0.0 or not is_on_time(task, n):
        return False, np.zeros((0, 0)), periods
    laws = np.zeros((horizon, width))
    for h in range(horizon):
        # What repeats for ever is a usual week: a holiday in the coming days is none.
        is_usual = h >= horizon - task.cycles[n]
        factor = task.usual[n, h] if is_usual else task.factors[n, h]
        if factor > 0.0:
            periods.is_open[h] = 1
            periods.may_order[h] = task.may_order[n, h]
        fill_law(beliefs, shared, task.items[n], task.kinds[n], task.priors[n], hope * factor, laws[h])
    if terms.shelf_life > 0:
        is_quick = is_small_with_ages(terms, task.ages[n][: terms.shelf_life], coming, laws, periods)
        return is_quick, laws, periods
    return is_small(terms, task.stock[n], coming, laws, periods), laws, periods


@kernel
def _paths_for(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    n_paths: int,
    uniforms: Floats,
    hope: float,
) -> tuple[Ints, ComingPeriods]:
    """Return sample paths of demand, and their periods."""
    horizon, i, kind = task.horizons[n, 1], task.items[n], task.kinds[n]
    factors, paths = np.zeros(horizon), np.zeros((n_paths, horizon), np.int32)
    for h in range(horizon):
        factors[h] = hope * task.factors[n, h]
    for_service = task.service[n, 0] > 0.0
    fill_paths(beliefs, shared, i, kind, task.priors[n], factors, uniforms, task.shifts[n], for_service, paths)
    return paths, ComingPeriods(task.is_open[n][:horizon], task.may_order[n][:horizon], min(task.cycles[n], 1))


@kernel
def fill_menus(
    beliefs: DemandBeliefs, shared: Shared, task: OrderTask, uniforms: Floats, orders: Longs, costs: Floats
) -> None:
    """Fill what several orders of today would cost, by (item, order), see order_menus.py. For no service target.

    The menus of goods that spoil are made on paths: their exact plans have no place for a menu.
    """
    for n in range(task.items.size):
        terms, coming = _terms_of(task, n), coming_of(task, n)
        most = most_in_time(beliefs, shared, task, n, terms, coming, 1.0)
        if most > 0.0:
            _fill_menu(beliefs, shared, task, n, without_life(terms), coming, uniforms, orders[n], costs[n])
            largest = 0
            for place in range(orders.shape[1]):
                largest = max(largest, orders[n, place])
            if position_of(task, n, coming) + largest <= most:
                continue
        _fill_menu(beliefs, shared, task, n, terms, coming, uniforms, orders[n], costs[n])


@kernel
def _fill_menu(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    terms: OrderTerms,
    coming: Longs,
    uniforms: Floats,
    orders: Longs,
    costs: Floats,
) -> None:
    """Fill one item's menu."""
    stock, ages = task.stock[n], task.ages[n][: terms.shelf_life]
    is_exact, laws, periods = False, np.zeros((0, 0)), ComingPeriods(task.is_open[n], task.may_order[n], 0)
    if terms.shelf_life == 0:
        is_exact, laws, periods = _laws_for(beliefs, shared, task, n, terms, coming, 1.0)
    if is_exact:
        fill_menu_exactly(terms, stock, coming, laws, periods, orders, costs)
    else:
        n_paths = min(FIRST_PATHS, uniforms.shape[0])
        paths, periods = _paths_for(beliefs, shared, task, n, n_paths, uniforms, 1.0)
        late = late_orders_of(task, n, paths.shape[1], n_paths, uniforms)
        fill_menu_on_paths(terms, stock, ages, coming, paths, periods, late, orders, costs)


@kernel
def _serve(
    beliefs: DemandBeliefs,
    task: OrderTask,
    n: int,
    terms: OrderTerms,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    late: LateOrders,
) -> tuple[int, float, int]:
    """Return the plan for a service target."""
    target, measure = task.service[n, 0], int(task.service[n, 1])
    sums, stock, ages = beliefs.service[task.items[n]], task.stock[n], task.ages[n][: terms.shelf_life]
    balance = (1.0 - target) * sums[2 * measure] - sums[2 * measure + 1]
    asked = target, measure, balance
    if late.delays.shape[0] > 0:
        order, _ = plan_late_for_service(terms, stock, ages, coming, paths, periods, asked, late)
        return order, expected_late_cost(terms, stock, ages, order, paths, periods, late), SERVICE
    order, _ = plan_ages_for_service(terms, stock, ages, coming, paths, periods, asked)
    return order, expected_cost(terms, stock, ages, coming, order, paths, periods), SERVICE


@kernel
def _demand_beyond(
    beliefs: DemandBeliefs,
    shared: Shared,
    task: OrderTask,
    n: int,
    hope: float,
    laws: Floats,
    periods: ComingPeriods,
) -> float:
    """Return the mean demand per open period beyond the largest that the laws tell apart. No order serves it."""
    i, kind, largest = task.items[n], task.kinds[n], laws.shape[1] - 1
    levels, weights = np.zeros(beliefs.units.shape[1]), weights_of(beliefs, shared, i, kind)
    fill_levels(beliefs, i, kind, task.priors[n], levels)
    total, n_open = 0.0, 0
    for h in range(laws.shape[0] - periods.cycle if periods.cycle > 0 else 0, laws.shape[0]):
        n_open += 1 if periods.is_open[h] != 0 else 0
        if periods.is_open[h] != 0 and laws[h, largest] > RARE:
            factor = task.usual[n, h] if periods.cycle > 0 else task.factors[n, h]
            for k in range(levels.size):
                for d in range(DISPERSIONS.size):
                    tail, mean = upper_tail(hope * factor * levels[k], 1.0 / DISPERSIONS[d], largest)
                    total += weights[k, d] * tail * (mean - largest)
    return total / max(n_open, 1)


@kernel
def expected_cost(
    terms: OrderTerms, stock: int, ages: Longs, coming: Longs, order: int, paths: Ints, periods: ComingPeriods
) -> float:
    """Return what holding, waste, and ordering what is sold, cost per open period until the next order arrives.

    A sold unit costs what it does in orders like today's: its price, and a share of the fixed cost. A unit that
    spoils costs its price too. If nothing
    counts behind these periods, the whole order is charged.
    """
    total, n_open, sold, wasted = 0.0, 0, 0.0, 0.0
    last = min(terms.lead_time + next_order(periods), paths.shape[1])
    expiring = np.zeros(paths.shape[1] + terms.shelf_life + coming.size + 1, np.int64)
    if terms.shelf_life > 0:
        start_expiry(terms, ages, coming, expiring)
        expiring[terms.lead_time + terms.shelf_life - 1] += order
    for p in range(paths.shape[0]):
        left, owed = stock + (order if terms.lead_time == 0 else 0), 0
        for h in range(last):
            if 0 < h < terms.lead_time:
                left += coming[h - 1]
            elif h > 0 and h == terms.lead_time:
                left += order
            served = min(left, paths[p, h]) if periods.is_open[h] != 0 else 0
            sold, left = sold + served, left - served
            if terms.shelf_life > 0:
                owed += expiring[h] - served
                spoiled, owed = max(owed, 0), min(owed, 0)
                left, wasted, total = left - spoiled, wasted + spoiled, total + terms.waste * spoiled
            if periods.is_open[h] != 0:
                total += terms.holding * left
                n_open += 1
    is_last = periods.cycle == 0 and last == paths.shape[1]
    return (total + cost_of_ordering(terms, order, is_last, paths.shape[0], sold, wasted)) / max(n_open, 1)


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
