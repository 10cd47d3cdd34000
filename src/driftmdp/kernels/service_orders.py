"""How much to order for a service target instead of a cost of lost sales: a share of demand, or of periods, served.

An order of this morning must last from its arrival until that of the next possible order. These windows follow
each other without a gap, so a share beta is served in the long run if windows lose 1 - beta of their demand on
average. (Of *periods*: have a stock-out in 1 - beta of their open periods.) So each window is entitled to lose 1
- beta of its expected demand, and the order is the smallest whose expected loss is not more.

Alone that serves too much wherever units do not come as fine as that: an item that sells twice a year loses
nothing in most windows, because one unit is there, and none at all is far too little in the others. What a window
is entitled to lose and does not, is kept: the *balance* of an item, what it might have lost until now and did
not. A part of it is added to what the next window may lose. So slow items are reordered a little later, packs run
a little emptier, and in the long run the share is beta, because a balance that stays bounded is nothing per
period. What a period lost is not seen. The caller counts what it was expected to lose with what was on sale, see
expected_loss.py. Demand beyond the capacity of the shelf does not count: no order can serve it.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.late_orders import LateOrders, all_on_time, arrival_of, arrives_on_path
from driftmdp.kernels.order_states import smallest_order
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms
from driftmdp.kernels.path_forecast import batch_of

UNITS, PERIODS = 0, 1  # what a service target is a share of
SPENT = 0.6  # of the balance, in one window
LEAST_ALLOWED = 0.4  # of what a window is entitled to lose, however much was lost before
ROUNDS_KEPT = 3.0  # rounds of orders whose entitlement a balance holds at most
WINDOWS_KEPT = 4.0  # windows without any service that it holds at most


class ServiceView(NamedTuple):
    """What a plan for a service target looks at.

    ==============  ======  ===========================================================================
    paths           (n, H)  demand that a full shelf can serve
    periods                 the calendar
    coming, late            what is on its way, and when it comes
    lead            int     L
    begins          (n,)    when today's order arrives on each path
    measure         int     what the target is a share of
    ==============  ======  ===========================================================================
    """

    paths: Ints
    periods: ComingPeriods
    coming: Longs
    late: LateOrders
    lead: int
    begins: Longs
    measure: int


@kernel
def plan_for_service(
    terms: OrderTerms,
    stock: int,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    service: tuple[float, int, float],
) -> tuple[int, float]:
    """Return an order for today, and the share that is expected to be served until the next order arrives.

    ``service`` is the target share, what it is a share of, and the item's balance this morning. Arguments otherwise
    as of `plan_on_paths`. Paths must have L + the periods from one order day to the next.
    """
    return plan_late_for_service(terms, stock, coming, paths, periods, service, all_on_time())


@kernel
def plan_late_for_service(
    terms: OrderTerms,
    stock: int,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    service: tuple[float, int, float],
    late: LateOrders,
) -> tuple[int, float]:
    """Return the same where lead times vary: a window goes from one arrival to the next on each path."""
    target, measure, balance = service
    horizon, lead = paths.shape[1], terms.lead_time
    if lead >= horizon or periods.may_order[0] == 0 or periods.is_open[0] == 0:
        return 0, 1.0
    paths = _within(terms.capacity, paths)
    view = ServiceView(paths, periods, coming, late, lead, _arrivals(late, paths, 0, lead), measure)
    ends, stocks = _arrivals(late, paths, next_order(periods), lead), np.empty(paths.shape[0], np.int64)
    demand, lost = _stocks_on_arrival(view, stock, stocks)
    window, _ = _window_totals(view, stocks, 0, ends)
    rate = _rate(paths, periods)
    balance += (1.0 - target) * demand - lost
    balance = clip_balance(terms, target, measure, balance, rate, window)
    entitled = (1.0 - target) * window
    allowed = max(entitled + SPENT * balance, LEAST_ALLOWED * entitled)
    position = stock
    for j in range(coming.size):
        position += coming[j]
    order = _smallest_enough(terms, view, stocks, ends, allowed, position)
    if order > 0 and terms.fixed > 0.0:
        batch = ceil(batch_of(terms, rate) / terms.pack - 0.5) * terms.pack
        if periods.cycle == 0:  # no more than serves all periods that count: the rest is worth nothing
            whole = np.empty(ends.size, np.int64)
            for i in range(whole.size):
                whole[i] = horizon
            to_the_end, _ = _window_totals(view, stocks, 0, whole)
            enough = (1.0 - target) * to_the_end
            batch = min(batch, _smallest_enough(terms, view, stocks, whole, enough, position))
        order = min(max(order, batch), (terms.capacity - position) // terms.pack * terms.pack)
    _, lost = _window_totals(view, stocks, order, ends)
    return order, 1.0 - lost / window if window > 0.0 else 1.0


@kernel
def _arrivals(late: LateOrders, paths: Ints, h: int, lead: int) -> Longs:
    """Return when the order of a morning arrives on each path, the end of the path at the latest."""
    found = np.empty(paths.shape[0], np.int64)
    for i in range(paths.shape[0]):
        found[i] = min(arrival_of(late, i, h, lead), paths.shape[1])
    return found


@kernel
def _within(capacity: int, paths: Ints) -> Ints:
    """Return the demand that a full shelf can serve: no order serves more of a period."""
    found = np.empty(paths.shape, np.int32)
    for i in range(paths.shape[0]):
        for h in range(paths.shape[1]):
            found[i, h] = min(paths[i, h], capacity)
    return found


@kernel
def next_order(periods: ComingPeriods) -> int:
    """Return the morning of the next order after today's."""
    for h in range(1, periods.may_order.size):
        if periods.may_order[h] != 0 and periods.is_open[h] != 0:
            return h
    return periods.may_order.size


@kernel
def _rate(paths: Ints, periods: ComingPeriods) -> float:
    """Return the mean demand of a period."""
    total = 0.0
    for i in range(paths.shape[0]):
        for h in range(paths.shape[1]):
            if periods.is_open[h] != 0:
                total += paths[i, h]
    return total / (paths.shape[0] * paths.shape[1])


@kernel
def _stocks_on_arrival(view: ServiceView, stock: int, stocks: Longs) -> tuple[float, float]:
    """Fill each path's stock when today's order arrives. Return mean demand and loss before that, as measured."""
    demand, lost, paths = 0.0, 0.0, view.paths
    for i in range(paths.shape[0]):
        left = stock
        for h in range(view.begins[i]):
            left += arrives_on_path(view.late, view.coming, i, h, view.lead)
            if view.periods.is_open[h] != 0:
                missing = max(paths[i, h] - left, 0)
                left = max(left - paths[i, h], 0)
                demand += 1.0 if view.measure == PERIODS else paths[i, h]
                lost += min(missing, 1) if view.measure == PERIODS else missing
        stocks[i] = left
    return demand / paths.shape[0], lost / paths.shape[0]


@kernel
def _window_totals(view: ServiceView, stocks: Longs, order: int, ends: Longs) -> tuple[float, float]:
    """Return mean demand and loss of the periods until ``ends``, as measured, with an order on top."""
    demand, lost, paths, is_late = 0.0, 0.0, view.paths, view.late.delays.shape[0] > 0
    for i in range(paths.shape[0]):
        left = stocks[i] + order
        for h in range(view.begins[i], ends[i]):
            if is_late:  # what was ordered before may come behind today's order
                left += arrives_on_path(view.late, view.coming, i, h, view.lead)
            if view.periods.is_open[h] != 0:
                missing = max(paths[i, h] - left, 0)
                left = max(left - paths[i, h], 0)
                demand += 1.0 if view.measure == PERIODS else paths[i, h]
                lost += min(missing, 1) if view.measure == PERIODS else missing
    return demand / paths.shape[0], lost / paths.shape[0]


@kernel
def _smallest_enough(
    terms: OrderTerms, view: ServiceView, stocks: Longs, ends: Longs, allowed: float, position: int
) -> int:
    """Return the smallest order that loses no more than allowed, or the largest that fits. By bisection."""
    _, lost = _window_totals(view, stocks, 0, ends)
    if lost <= allowed:
        return 0
    least, largest = smallest_order(terms) // terms.pack, 0
    for i in range(view.paths.shape[0]):  # enough for every path
        total = 0
        for h in range(view.begins[i], ends[i]):
            total += view.paths[i, h]
        largest = max(largest, total)
    most = min((terms.capacity - position) // terms.pack, max(largest // terms.pack + 1, least))
    if most < least:
        return 0
    low, high = least - 1, most  # orders of ``low`` packs lose too much, or are too small
    while high - low > 1:
        middle = (low + high) // 2
        _, lost = _window_totals(view, stocks, middle * terms.pack, ends)
        if lost <= allowed:
            high = middle
        else:
            low = middle
    return high * terms.pack


@kernel
def clip_balance(
    terms: OrderTerms, target: float, measure: int, balance: float, rate: float, window: float
) -> float:
    """Return a balance within what a few rounds of orders can make of it: old surpluses are not spent at once."""
    batch = batch_of(terms, rate)
    if measure == PERIODS:
        batch = batch / rate if rate > 0.0 else 0.0
    limit = ROUNDS_KEPT * (1.0 - target) * batch + WINDOWS_KEPT * window
    return min(max(balance, -limit), limit)


@kernel
def add_to_balance(balance: float, target: float, measure: int, demand: float, lost: float) -> float:
    """Return the balance after an open period with this demand, of which so much was, or probably was, lost."""
    if measure == PERIODS:
        return balance + (1.0 - target) - min(lost, 1.0)
    return balance + (1.0 - target) * demand - lost


@kernel
def loss_when_sold_out(law: Floats, on_sale: int, measure: int) -> float:
    """Return what is probably lost in a period that sold out: E[X - y | X >= y], or Pr(X > y | X >= y)."""
    chance, lost = 0.0, 0.0
    for x in range(on_sale, law.size):
        chance += law[x]
        lost += law[x] * (min(x - on_sale, 1) if measure == PERIODS else x - on_sale)
    return lost / chance if chance > 0.0 else 0.0
