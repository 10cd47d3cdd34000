"""How much to order for a service target where lead times vary: windows from one arrival to the next, path by path.

As in service_orders.py, an order must last from its arrival until that of the next possible order. Here both are
those of each path, so that a window is longer where the next order comes late, and shorter where this one does.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Ints, Longs
from driftmdp.kernels.late_orders import LateOrders
from driftmdp.kernels.order_states import smallest_order
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms
from driftmdp.kernels.path_forecast import batch_of
from driftmdp.kernels.service_orders import (
    LEAST_ALLOWED,
    PERIODS,
    SPENT,
    clip_balance,
    cost_of_ordering,
    mean_demand,
    next_order,
    within_capacity,
)
from driftmdp.kernels.shelf_ages import restart_expiry, start_expiry


class LateShelf(NamedTuple):
    """A shelf whose orders may be late.

    ===========  =====  ========================================================================
    stock, ages         of this morning. Without ages goods do not spoil
    paths               demand, by (path, period)
    begins       (n,)   when today's order arrives on each path
    arriving     (H,)   what was ordered before and arrives, on the path that is looked at
    expiring     (H',)  units by their last period, on that path
    ===========  =====  ========================================================================
    """

    terms: OrderTerms
    stock: int
    ages: Longs
    paths: Ints
    periods: ComingPeriods
    late: LateOrders
    begins: Longs
    arriving: Longs
    expiring: Longs


@kernel
def new_late_shelf(
    terms: OrderTerms, stock: int, ages: Longs, paths: Ints, periods: ComingPeriods, late: LateOrders
) -> LateShelf:
    """Return a shelf whose orders may be late."""
    horizon = paths.shape[1]
    arriving, expiring = np.zeros(horizon, np.int64), np.zeros(horizon + terms.shelf_life, np.int64)
    if terms.shelf_life > 0:
        start_expiry(terms, ages, late.coming[:0], expiring)
    return LateShelf(
        terms, stock, ages, paths, periods, late, arrivals_of(late, paths.shape[0], 0, horizon), arriving, expiring
    )


@kernel
def arrivals_of(late: LateOrders, n_paths: int, h: int, horizon: int) -> Longs:
    """Return when the order of a morning arrives on each path, the end of the path at the latest."""
    found = np.empty(n_paths, np.int64)
    for i in range(n_paths):
        found[i] = min(h + late.lead + late.delays[i, h], horizon) if h < horizon else horizon
    return found


@kernel
def plan_late_for_service(
    terms: OrderTerms,
    stock: int,
    ages: Longs,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    service: tuple[float, int, float],
    late: LateOrders,
) -> tuple[int, float]:
    """Return an order for today, and the share that is expected to be served until the next order arrives.

    Arguments as of `plan_ages_for_service`. ``late`` has what is on its way, and all delays.
    """
    target, measure, balance = service
    horizon = paths.shape[1]
    if terms.lead_time >= horizon or periods.may_order[0] == 0 or periods.is_open[0] == 0:
        return 0, 1.0
    shelf = new_late_shelf(terms, stock, ages, within_capacity(terms.capacity, paths), periods, late)
    ends = _ends(shelf, arrivals_of(late, paths.shape[0], next_order(periods), horizon))
    demand, lost, window, _ = _totals(shelf, 0, ends, measure)
    rate = mean_demand(shelf.paths, periods)
    balance = clip_balance(terms, target, measure, balance + (1.0 - target) * demand - lost, rate, window)
    entitled = (1.0 - target) * window
    position = stock
    for j in range(coming.size):
        position += coming[j]
    allowed = max(entitled + SPENT * balance, LEAST_ALLOWED * entitled)
    order = _smallest_enough(shelf, ends, measure, allowed, position)
    if order > 0 and terms.fixed > 0.0:
        batch = ceil(batch_of(terms, rate) / terms.pack - 0.5) * terms.pack
        if periods.cycle == 0:  # no more than serves all periods that count: the rest is worth nothing
            whole = _ends(shelf, arrivals_of(late, paths.shape[0], horizon, horizon))
            _, _, to_the_end, _ = _totals(shelf, 0, whole, measure)
            batch = min(batch, _smallest_enough(shelf, whole, measure, (1.0 - target) * to_the_end, position))
        order = min(max(order, batch), (terms.capacity - position) // terms.pack * terms.pack)
    _, _, _, lost = _totals(shelf, order, ends, measure)
    return order, 1.0 - lost / window if window > 0.0 else 1.0


@kernel
def _ends(shelf: LateShelf, ends: Longs) -> Longs:
    """Return the ends of windows in which today's order does not spoil."""
    life = shelf.terms.shelf_life
    for i in range(ends.size):
        if life > 0:
            ends[i] = min(ends[i], shelf.begins[i] + life)
    return ends


@kernel
def start_shelf(shelf: LateShelf, i: int, order: int) -> None:
    """Fill what arrives on a path, with today's order, and the last periods of goods that spoil."""
    late, life, horizon = shelf.late, shelf.terms.shelf_life, shelf.arriving.size
    for h in range(horizon):
        shelf.arriving[h] = 0
    if life > 0:
        restart_expiry(shelf.terms, shelf.ages, late.coming[:0], shelf.expiring)
    for k in range(late.first.shape[1] + 1):
        units, arrival = order, shelf.begins[i]
        if k < late.first.shape[1]:
            units = late.coming[k] if k < late.coming.size else late.overdue[k - late.coming.size]
            arrival = late.first[i, k]
        if arrival < horizon:
            shelf.arriving[arrival] += units
            if life > 0:
                shelf.expiring[arrival + life - 1] += units


@kernel
def sell(shelf: LateShelf, i: int, h: int, left: int, owed: int) -> tuple[int, int, int, int]:
    """Return what is sold in a period of a path, what spoils, what is left, and what is owed, see shelf_ages.py."""
    sold = min(left, shelf.paths[i, h]) if shelf.periods.is_open[h] != 0 else 0
    if shelf.terms.shelf_life == 0:
        return sold, 0, left - sold, 0
    owed += shelf.expiring[h] - sold
    spoiled = max(owed, 0)
    return sold, spoiled, left - sold - spoiled, min(owed, 0)


@kernel
def _totals(shelf: LateShelf, order: int, ends: Longs, measure: int) -> tuple[float, float, float, float]:
    """Return mean demand and loss before today's order arrives, and from then until ``ends``, as measured."""
    before, lost_before, within, lost_within = 0.0, 0.0, 0.0, 0.0
    n = shelf.paths.shape[0]
    for i in range(n):
        start_shelf(shelf, i, order)
        left, owed = shelf.stock, 0
        for h in range(max(ends[i], shelf.begins[i])):
            left += shelf.arriving[h]
            sold, _, left, owed = sell(shelf, i, h, left, owed)
            if shelf.periods.is_open[h] != 0:
                wanted, missing = float(shelf.paths[i, h]), float(shelf.paths[i, h] - sold)
                if measure == PERIODS:
                    wanted, missing = 1.0, min(missing, 1.0)
                if h < shelf.begins[i]:
                    before, lost_before = before + wanted, lost_before + missing
                elif h < ends[i]:
                    within, lost_within = within + wanted, lost_within + missing
    return before / n, lost_before / n, within / n, lost_within / n


@kernel
def _smallest_enough(shelf: LateShelf, ends: Longs, measure: int, allowed: float, position: int) -> int:
    """Return the smallest order that loses no more than allowed, or the largest that fits. By bisection."""
    _, _, _, lost = _totals(shelf, 0, ends, measure)
    if lost <= allowed:
        return 0
    terms, largest = shelf.terms, 0
    for i in range(ends.size):  # enough for every path
        total = 0
        for h in range(shelf.begins[i], ends[i]):
            total += shelf.paths[i, h]
        largest = max(largest, total)
    least = smallest_order(terms) // terms.pack
    most = min((terms.capacity - position) // terms.pack, max(largest // terms.pack + 1, least))
    if most < least:
        return 0
    low, high = least - 1, most  # orders of ``low`` packs lose too much, or are too small
    while high - low > 1:
        middle = (low + high) // 2
        _, _, _, lost = _totals(shelf, middle * terms.pack, ends, measure)
        if lost <= allowed:
            high = middle
        else:
            low = middle
    return high * terms.pack


@kernel
def expected_late_cost(
    terms: OrderTerms,
    stock: int,
    ages: Longs,
    order: int,
    paths: Ints,
    periods: ComingPeriods,
    late: LateOrders,
) -> float:
    """Return what holding, waste, and ordering what is sold, cost per open period until the next order is promised.

    See `expected_cost`.
    """
    shelf = new_late_shelf(terms, stock, ages, paths, periods, late)
    total, n_open, sold, wasted = 0.0, 0, 0.0, 0.0
    last = min(terms.lead_time + next_order(periods), paths.shape[1])
    for i in range(paths.shape[0]):
        start_shelf(shelf, i, order)
        left, owed = stock, 0
        for h in range(last):
            left += shelf.arriving[h]
            served, spoiled, left, owed = sell(shelf, i, h, left, owed)
            sold, wasted, total = sold + served, wasted + spoiled, total + terms.waste * spoiled
            if periods.is_open[h] != 0:
                total += terms.holding * left
                n_open += 1
    is_last = periods.cycle == 0 and last == paths.shape[1]
    return (total + cost_of_ordering(terms, order, is_last, paths.shape[0], sold, wasted)) / max(n_open, 1)
