"""Ordering rules that a backtest compares with, in units and packs, each along one item's past.

Every path begins with an empty shelf and nothing on its way. Levels s and S of an (s, S) rule are in packs here.
Closed periods are not part of a path, so ``arrival`` says in which of its periods an order is on the shelf, and
``expiry`` in which it can be sold for the last time. Goods that spoil are sold oldest first: if the units whose
last period is t or earlier are ``due`` so far, and so many were ``gone`` before, sold or spoiled, then (due -
gone)^+ spoil in the evening of t. The rules add them to their position until then.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.ordering_arrays import NO_LIMIT, Flags, OrderTerms

PERIODS_BEFORE_FITTING = 14  # on sale: until then a rolling rule keeps plenty, as fewer would say too little
MOST_LEVELS = 40  # tried for S, one by one or in steps, before the best is refined to single packs
FREE_HOLDING_PERIODS = 30.0  # that an order lasts where holding costs nothing


class DemandPath(NamedTuple):
    """One item's open periods.

    ==========  =====  ===========================================================================
    demand      (T,)   units asked for
    arrival     (T,)   the period from which on an order is on the shelf. T or more: never
    expiry      (T,)   the last period in which it can be sold. T or more: not spoiled on the path
    may_order   (T,)   0: no order
    ==========  =====  ===========================================================================
    """

    demand: Longs
    arrival: Longs
    expiry: Longs
    may_order: Flags


class ServiceTarget(NamedTuple):
    """The share to serve: of units, or of periods. A share of 0 is no target."""

    share: float
    by_periods: bool


class UnitTrace(NamedTuple):
    """What a rule does, in units by period, shape (T,) each.

    Its orders, what there was to sell, the level ordered up to, and what spoiled in the evening or, while the shop
    was closed, after it.
    """

    orders: Longs
    on_sale: Longs
    levels: Longs
    spoiled: Longs


class ShelfBuffers(NamedTuple):
    """Units by the periods in which they arrive and can be sold for the last time, (T,) each. 0 between uses."""

    arriving: Longs
    expiring: Longs


class FitDraws(NamedTuple):
    """What (s, S) rules are fitted on: uniform numbers, the path that they draw, and buffers of numbers."""

    dice: Floats
    path: DemandPath
    buffers: ShelfBuffers


class ShelfState(NamedTuple):
    """Units on the shelf and on their way, and units due less units gone, of goods that spoil: at most 0."""

    stock: int
    coming: int
    owed: int


def new_unit_trace(n: int) -> UnitTrace:
    """Return an empty trace of n periods."""
    return UnitTrace(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64))


def new_buffers(n: int) -> ShelfBuffers:
    """Return buffers for n periods."""
    return ShelfBuffers(np.zeros(n, np.int64), np.zeros(n, np.int64))


@kernel
def order_up_to(terms: OrderTerms, position: int, up: int) -> int:
    """Return the most whole packs that do not exceed a level, or the least order where that is more and fits."""
    order = (min(up, terms.capacity) - position) // terms.pack * terms.pack
    if order <= 0:
        return 0
    if order < terms.minimum:
        order = (terms.minimum + terms.pack - 1) // terms.pack * terms.pack
    return order if position + order <= terms.capacity else 0


@kernel
def cost_of_levels(
    path: DemandPath,
    scored: int,
    last: int,
    terms: OrderTerms,
    target: ServiceTarget,
    levels: tuple[int, int],
    buffers: ShelfBuffers,
) -> float:
    """Return what an (s, S) rule costs in the periods ``scored .. last - 1``. A missed target counts far more."""
    s, up = levels[0] * terms.pack, levels[1] * terms.pack
    shelf, cost = ShelfState(0, 0, 0), 0.0
    wanted, lost, sold_out = 0, 0, 0
    for t in range(last):
        shelf = _take_in(shelf, t, buffers)
        if path.may_order[t] != 0 and shelf.stock + shelf.coming <= s:
            order = order_up_to(terms, shelf.stock + shelf.coming, up)
            if order > 0:
                if t >= scored:
                    cost += terms.fixed + terms.unit * order
                shelf = _place(path, terms, t, last, order, shelf, buffers)
        missing = max(path.demand[t] - shelf.stock, 0)
        shelf, spoiled = _sell(terms, shelf, path.demand[t], t, buffers)
        if t >= scored:
            wanted += path.demand[t]
            lost += missing
            sold_out += 1 if missing > 0 else 0
            cost += terms.lost * missing + terms.holding * shelf.stock + terms.waste * spoiled
    if target.share > 0.0:
        missed = sold_out / (last - scored) if target.by_periods else lost / max(1, wanted)
        cost += 1e12 * max(0.0, missed - (1.0 - target.share))
    return cost


@kernel
def _take_in(shelf: ShelfState, t: int, buffers: ShelfBuffers) -> ShelfState:
    """Return the shelf after a period's arrivals."""
    units = buffers.arriving[t]
    buffers.arriving[t] = 0
    return ShelfState(shelf.stock + units, shelf.coming - units, shelf.owed)


@kernel
def _place(
    path: DemandPath, terms: OrderTerms, t: int, last: int, order: int, shelf: ShelfState, buffers: ShelfBuffers
) -> ShelfState:
    """Return the shelf after an order."""
    arrival = path.arrival[t]
    if terms.shelf_life > 0 and path.expiry[t] < last:
        buffers.expiring[path.expiry[t]] += order
    if arrival == t:
        return ShelfState(shelf.stock + order, shelf.coming, shelf.owed)
    if arrival < last:
        buffers.arriving[arrival] += order
    return ShelfState(shelf.stock, shelf.coming + order, shelf.owed)


@kernel
def _sell(
    terms: OrderTerms, shelf: ShelfState, demand: int, t: int, buffers: ShelfBuffers
) -> tuple[ShelfState, int]:
    """Return the shelf in the evening, and how many units spoiled."""
    sold = min(demand, shelf.stock)
    if terms.shelf_life == 0:
        return ShelfState(shelf.stock - sold, shelf.coming, 0), 0
    owed = shelf.owed + buffers.expiring[t] - sold
    buffers.expiring[t] = 0
    spoiled = max(owed, 0)
    return ShelfState(shelf.stock - sold - spoiled, shelf.coming, owed - spoiled), spoiled


@kernel
def most_packs(demand: Longs, first: int, last: int, terms: OrderTerms, wait: int) -> int:
    """Return a level in packs beyond which none is worth a try, by the demand of some periods.

    It is the lead time's and an order's demand twice, and the largest of a period.
    """
    total, most = 0, 0
    for t in range(first, last):
        total += demand[t]
        most = max(most, demand[t])
    mean = total / max(1, last - first)
    batch = FREE_HOLDING_PERIODS * mean
    if terms.holding > 0.0:
        batch = min(batch, sqrt(2.0 * terms.fixed * mean / terms.holding))
    level = most + 2.0 * ((terms.lead_time + wait) * mean + batch) + max(terms.pack, terms.minimum)
    return int(max(1, min(ceil(level / terms.pack), terms.capacity // terms.pack)))


@kernel
def find_cheapest_levels(
    path: DemandPath,
    scored: int,
    last: int,
    terms: OrderTerms,
    target: ServiceTarget,
    most: int,
    buffers: ShelfBuffers,
) -> tuple[int, int]:
    """Return the (s, S) that would have cost least: all 0 <= s < S <= most, or a grid of them that is refined."""
    stride = (most + MOST_LEVELS - 1) // MOST_LEVELS
    best_s, best_up, best = 0, 1, np.inf
    for i in range(1, most // stride + 1):
        for j in range(i):
            cost = cost_of_levels(path, scored, last, terms, target, (j * stride, i * stride), buffers)
            if cost < best:
                best_s, best_up, best = j * stride, i * stride, cost
    if stride == 1:
        return best_s, best_up
    return improve_levels(path, scored, last, terms, target, (best_s, best_up), stride, buffers)


@kernel
def improve_levels(
    path: DemandPath,
    scored: int,
    last: int,
    terms: OrderTerms,
    target: ServiceTarget,
    levels: tuple[int, int],
    step: int,
    buffers: ShelfBuffers,
) -> tuple[int, int]:
    """Return levels near given ones that cost less: neighbours at a distance that is halved where none does."""
    s, up = levels
    highest = terms.capacity // terms.pack
    best = cost_of_levels(path, scored, last, terms, target, (s, up), buffers)
    while step >= 1:
        moved = False
        for direction in range(9):
            new_s, new_up = s + (direction // 3 - 1) * step, up + (direction % 3 - 1) * step
            if direction == 4 or new_s < 0 or new_up <= new_s or new_up > highest:
                continue
            cost = cost_of_levels(path, scored, last, terms, target, (new_s, new_up), buffers)
            if cost < best:
                s, up, best, moved = new_s, new_up, cost, True
        if not moved:
            step //= 2
    return s, up


@kernel
def fit_levels(
    days: Longs,
    first: int,
    last: int,
    terms: OrderTerms,
    target: ServiceTarget,
    draws: FitDraws,
    wait: int,
    levels: tuple[int, int],
) -> tuple[int, int]:
    """Return the (s, S) of least average cost if demand is drawn at random from the periods ``first .. last - 1``.

    It is sought near given levels, or everywhere if S is 0. The dice are the same every time, so that fits differ
    only by their periods.
    """
    path = draws.path
    n = path.demand.size
    for i in range(n):
        path.demand[i] = days[first + int(draws.dice[i] * (last - first))]
    if levels[1] == 0:
        most = most_packs(days, first, last, terms, wait)
        return find_cheapest_levels(path, 0, n, terms, target, most, draws.buffers)
    return improve_levels(path, 0, n, terms, target, levels, max(1, levels[1] // 4), draws.buffers)


@kernel
def follow_levels(
    path: DemandPath, terms: OrderTerms, levels: tuple[int, int], buffers: ShelfBuffers, trace: UnitTrace
) -> None:
    """Write down what one (s, S) rule does."""
    shelf = ShelfState(0, 0, 0)
    s, up = levels[0] * terms.pack, levels[1] * terms.pack
    for t in range(path.demand.size):
        shelf = _advance(path, terms, t, shelf, s, up, buffers, trace)


@kernel
def _advance(
    path: DemandPath,
    terms: OrderTerms,
    t: int,
    shelf: ShelfState,
    s: int,
    up: int,
    buffers: ShelfBuffers,
    trace: UnitTrace,
) -> ShelfState:
    """Write down a period of an (s, S) rule. Return the evening's shelf."""
    shelf = _take_in(shelf, t, buffers)
    position = shelf.stock + shelf.coming
    order = order_up_to(terms, position, up) if path.may_order[t] != 0 and position <= s else 0
    if order > 0:
        shelf = _place(path, terms, t, path.demand.size, order, shelf, buffers)
    trace.orders[t], trace.on_sale[t], trace.levels[t] = order, shelf.stock, up
    shelf, trace.spoiled[t] = _sell(terms, shelf, path.demand[t], t, buffers)
    return shelf


@kernel
def first_level(terms: OrderTerms, demand: Longs, wait: int) -> int:
    """Return the level before anything is fitted: plenty for the largest demand of the first periods."""
    most = 0
    for t in range(min(demand.size, PERIODS_BEFORE_FITTING)):
        most = max(most, demand[t])
    return min(terms.capacity, max(terms.pack, terms.minimum, (terms.lead_time + wait + 1) * most))


@kernel
def first_fit(may_order: Flags, lead_time: int) -> int:
    """Return the period from which on levels are fitted: some periods after the first order arrived."""
    first = 0
    while first < may_order.size and may_order[first] == 0:
        first += 1
    return first + lead_time + PERIODS_BEFORE_FITTING


@kernel
def roll_levels(
    path: DemandPath,
    terms: OrderTerms,
    target: ServiceTarget,
    window: int,
    wait: int,
    is_censored: bool,
    draws: FitDraws,
    seen: Longs,
    buffers: ShelfBuffers,
    trace: UnitTrace,
) -> None:
    """Fit (s, S) each period to the last ``window`` ones: of sales taken for demand, or of demand itself.

    ``seen`` is a buffer of one number per period. ``wait`` is the most periods from one order day to the next.
    """
    shelf, levels = ShelfState(0, 0, 0), (0, 0)
    first, begin = first_level(terms, path.demand, wait), first_fit(path.may_order, terms.lead_time)
    for t in range(path.demand.size):
        if t >= begin and path.may_order[t] != 0:
            levels = fit_levels(seen, max(0, t - window), t, terms, target, draws, wait, levels)
        s, up = levels[0] * terms.pack, levels[1] * terms.pack
        if levels[1] == 0:
            s, up = first - 1, first
        shelf = _advance(path, terms, t, shelf, s, up, buffers, trace)
        seen[t] = min(path.demand[t], trace.on_sale[t]) if is_censored else path.demand[t]


@kernel
def roll_base_stock(
    path: DemandPath,
    terms: OrderTerms,
    window: int,
    wait: int,
    ratio: float,
    seen: Longs,
    sums: Longs,
    buffers: ShelfBuffers,
    trace: UnitTrace,
) -> None:
    """Order up to the ``ratio`` quantile of the sales of lead time + ``wait`` periods in a row, by the last ones.

    ``sums`` is a buffer of ``window`` + 1 numbers.
    """
    shelf = ShelfState(0, 0, 0)
    first, begin = first_level(terms, path.demand, wait), first_fit(path.may_order, terms.lead_time)
    for t in range(path.demand.size):
        up = first
        if t >= begin:
            up = base_stock_level(seen, t, window, wait, terms, ratio, first, sums)
        shelf = _advance(path, terms, t, shelf, up - 1, up, buffers, trace)
        seen[t] = min(path.demand[t], trace.on_sale[t])


@kernel
def base_stock_level(
    seen: Longs, t: int, window: int, wait: int, terms: OrderTerms, ratio: float, first: int, sums: Longs
) -> int:
    """Return the level of a morning, or ``first`` where too little was seen."""
    span = terms.lead_time + wait
    n = min(t - span + 1, window - min(span, window // 2) + 1)
    if n <= 0:
        return first
    return min(terms.capacity, _quantile_of_sums(seen, t, span, n, ratio, sums))


@kernel
def _quantile_of_sums(seen: Longs, t: int, span: int, n: int, ratio: float, sums: Longs) -> int:
    """Return the ``ratio`` quantile of the last n sums of ``span`` numbers before t."""
    for i in range(n):
        sums[i] = 0
        for d in range(span):
            sums[i] += seen[t - span - i + d]
    best = NO_LIMIT
    for i in range(n):
        below = 0
        for j in range(n):
            if sums[j] <= sums[i]:
                below += 1
        if below / n >= ratio:
            best = min(best, sums[i])
    return best
