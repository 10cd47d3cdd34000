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
expected_loss.py. Demand beyond the capacity of the shelf does not count: no order can serve it. Nor do periods
after the last one in which this order's goods can be sold, if those spoil before the next order arrives.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.order_states import smallest_order
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms
from driftmdp.kernels.path_forecast import batch_of
from driftmdp.kernels.shelf_ages import start_expiry

UNITS, PERIODS = 0, 1  # what a service target is a share of
SPENT = 0.6  # of the balance, in one window
LEAST_ALLOWED = 0.4  # of what a window is entitled to lose, however much was lost before
ROUNDS_KEPT = 3.0  # rounds of orders whose entitlement a balance holds at most
WINDOWS_KEPT = 4.0  # windows without any service that it holds at most


class ArrivalShelves(NamedTuple):
    """The shelf of each of K paths when today's order arrives, before it is added.

    ===========  =====  ===============================================================================
    stocks       (K,)   units
    owed         (K,)   units that are due less those that are gone, see shelf_ages.py. At most 0
    expiring     (H',)  units by their last period, without today's order. Empty if goods never spoil
    shelf_life   int    or 0
    ===========  =====  ===============================================================================
    """

    stocks: Longs
    owed: Longs
    expiring: Longs
    shelf_life: int


@kernel
def plan_for_service(
    terms: OrderTerms,
    stock: int,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    service: tuple[float, int, float],
) -> tuple[int, float]:
    """Return the plan of `plan_ages_for_service` for goods that never spoil."""
    return plan_ages_for_service(terms, stock, np.zeros(0, np.int64), coming, paths, periods, service)


@kernel
def plan_ages_for_service(
    terms: OrderTerms,
    stock: int,
    ages: Longs,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    service: tuple[float, int, float],
) -> tuple[int, float]:
    """Return an order for today, and the share that is expected to be served until the next order arrives.

    ``service`` is the target share, what it is a share of, and the item's balance this morning. Arguments otherwise
    as of `plan_ages_on_paths`. Paths must have L + the periods from one order day to the next.
    """
    target, measure, balance = service
    horizon, first = paths.shape[1], terms.lead_time
    if first >= horizon or periods.may_order[0] == 0 or periods.is_open[0] == 0:
        return 0, 1.0
    last = _last_served(terms, first, min(next_order(periods) + first, horizon))
    paths = within_capacity(terms.capacity, paths)
    shelves = _new_shelves(terms, ages, coming, paths)
    demand, lost = _fill_shelves(terms, stock, coming, paths, periods, measure, shelves)
    window, _ = _window_totals(paths, periods, shelves, 0, first, last, measure)
    rate = mean_demand(paths, periods)
    balance += (1.0 - target) * demand - lost
    balance = clip_balance(terms, target, measure, balance, rate, window)
    entitled = (1.0 - target) * window
    allowed = max(entitled + SPENT * balance, LEAST_ALLOWED * entitled)
    position = stock
    for j in range(coming.size):
        position += coming[j]
    order = _smallest_enough(terms, paths, periods, shelves, (first, last), measure, allowed, position)
    if order > 0 and terms.fixed > 0.0:
        batch = ceil(batch_of(terms, rate) / terms.pack - 0.5) * terms.pack
        if periods.cycle == 0:  # no more than serves all periods that count: the rest is worth nothing
            whole = first, _last_served(terms, first, horizon)
            to_the_end, _ = _window_totals(paths, periods, shelves, 0, whole[0], whole[1], measure)
            enough = (1.0 - target) * to_the_end
            batch = min(batch, _smallest_enough(terms, paths, periods, shelves, whole, measure, enough, position))
        order = min(max(order, batch), (terms.capacity - position) // terms.pack * terms.pack)
    _, lost = _window_totals(paths, periods, shelves, order, first, last, measure)
    return order, 1.0 - lost / window if window > 0.0 else 1.0


@kernel
def _last_served(terms: OrderTerms, first: int, last: int) -> int:
    """Return the end of the periods up to ``last`` that an order of today can serve before it spoils."""
    return min(last, first + terms.shelf_life) if terms.shelf_life > 0 else last


@kernel
def within_capacity(capacity: int, paths: Ints) -> Ints:
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
def mean_demand(paths: Ints, periods: ComingPeriods) -> float:
    """Return the mean demand of a period."""
    total = 0.0
    for i in range(paths.shape[0]):
        for h in range(paths.shape[1]):
            if periods.is_open[h] != 0:
                total += paths[i, h]
    return total / (paths.shape[0] * paths.shape[1])


@kernel
def _new_shelves(terms: OrderTerms, ages: Longs, coming: Longs, paths: Ints) -> ArrivalShelves:
    """Return the shelves when an order arrives, not filled yet."""
    size = paths.shape[1] + terms.shelf_life + coming.size if terms.shelf_life > 0 else 0
    expiring = np.zeros(size, np.int64)
    if terms.shelf_life > 0:
        start_expiry(terms, ages, coming, expiring)
    n = paths.shape[0]
    return ArrivalShelves(np.zeros(n, np.int64), np.zeros(n, np.int64), expiring, terms.shelf_life)


@kernel
def _fill_shelves(
    terms: OrderTerms,
    stock: int,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    measure: int,
    shelves: ArrivalShelves,
) -> tuple[float, float]:
    """Fill each path's shelf when today's order arrives. Return mean demand and loss before that, as measured."""
    demand, lost = 0.0, 0.0
    for i in range(paths.shape[0]):
        left, owed = stock, 0
        for h in range(terms.lead_time):
            if h > 0:
                left += coming[h - 1]
            sold = 0
            if periods.is_open[h] != 0:
                missing, sold = max(paths[i, h] - left, 0), min(paths[i, h], left)
                left -= sold
                demand += 1.0 if measure == PERIODS else paths[i, h]
                lost += min(missing, 1) if measure == PERIODS else missing
            if shelves.shelf_life > 0:
                owed += shelves.expiring[h] - sold
                left, owed = left - max(owed, 0), min(owed, 0)
        shelves.stocks[i], shelves.owed[i] = left, owed
    return demand / paths.shape[0], lost / paths.shape[0]


@kernel
def _window_totals(
    paths: Ints, periods: ComingPeriods, shelves: ArrivalShelves, order: int, first: int, last: int, measure: int
) -> tuple[float, float]:
    """Return mean demand and loss of the periods first .. last - 1, as measured, with an order on top."""
    demand, lost = 0.0, 0.0
    for i in range(paths.shape[0]):
        left, owed = shelves.stocks[i] + order, shelves.owed[i]
        for h in range(first, last):
            sold = 0
            if periods.is_open[h] != 0:
                missing, sold = max(paths[i, h] - left, 0), min(paths[i, h], left)
                left -= sold
                demand += 1.0 if measure == PERIODS else paths[i, h]
                lost += min(missing, 1) if measure == PERIODS else missing
            if shelves.shelf_life > 0:  # the order itself lasts until ``last``
                owed += shelves.expiring[h] - sold
                left, owed = left - max(owed, 0), min(owed, 0)
    return demand / paths.shape[0], lost / paths.shape[0]


@kernel
def _smallest_enough(
    terms: OrderTerms,
    paths: Ints,
    periods: ComingPeriods,
    shelves: ArrivalShelves,
    window: tuple[int, int],
    measure: int,
    allowed: float,
    position: int,
) -> int:
    """Return the smallest order that loses no more than allowed, or the largest that fits. By bisection."""
    first, last = window
    _, lost = _window_totals(paths, periods, shelves, 0, first, last, measure)
    if lost <= allowed:
        return 0
    least, largest = smallest_order(terms) // terms.pack, 0
    for i in range(paths.shape[0]):  # enough for every path
        total = 0
        for h in range(first, last):
            total += paths[i, h]
        largest = max(largest, total)
    most = min((terms.capacity - position) // terms.pack, max(largest // terms.pack + 1, least))
    if most < least:
        return 0
    low, high = least - 1, most  # orders of ``low`` packs lose too much, or are too small
    while high - low > 1:
        middle = (low + high) // 2
        _, lost = _window_totals(paths, periods, shelves, middle * terms.pack, first, last, measure)
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


@kernel
def cost_of_ordering(
    terms: OrderTerms, order: int, is_last: bool, n_paths: int, sold: float, wasted: float
) -> float:
    """Return what is charged for ordering on all paths: the whole order if nothing counts behind it.

    Else a sold unit costs what it does in orders like today's, and one that spoiled its price.
    """
    if is_last:
        ordering = (terms.fixed if order > 0 else 0.0) + terms.unit * order
        return ordering * n_paths
    per_unit = terms.unit + (terms.fixed / order if order > 0 else 0.0)
    return per_unit * sold + terms.unit * wasted
