r"""What a shop's own orders cost, on the same demand and the same periods as the rules of a backtest.

The demand is the sales of the file, for everybody. So the shop itself never lost a sale here: what it lost when its
shelf was empty is in no file. Its own cost is therefore *at least* what is computed, and periods that ended with an
empty shelf are counted.

Let d_t be the sales of period t, a_t the units that arrive in it, and x_t what is on sale.

=================  =========================================================================================
orders only        x_t = x_{t-1} - d_{t-1} + a_t. The shelf starts with the least that explains all sales,
                   max(0, max_t sum_{u <= t} (d_u - a_u)).
stock and orders   x_t is the stock, plus the order of the day where orders arrive at once. Where nobody
                   counted, the shelf goes on from the last count as with orders only.
stock only         x_t is the stock. A rise above x_{t-1} - d_{t-1} is an order, charged when it is there.
=================  =========================================================================================

Of goods that spoil, what a count lacks below x_{t-1} - d_{t-1} + a_t is taken as spoiled in the evening before.
Without counts nobody knows what spoiled, and the own cost is without it.

Where more was sold than there was, x_t is d_t: a correction, which costs nothing. An order is charged on its day,
or on the next open one. It arrives after the lead time.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.item_paths import FIRST_DAY, ItemPath
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.own_orders import OwnOrders, OwnSeries
from driftmdp.inventory.periods import check_period
from driftmdp.inventory.periods import days as days_of
from driftmdp.inventory.sales_history import Sales, Series
from driftmdp.kernels.arrays import Longs
from driftmdp.kernels.yardstick_rules import UnitTrace

LARGE_START = 0.2  # of the units sold, from which on orders are probably missing in the file


class OwnReplay(NamedTuple):
    """What a shop did with an item, and what is not certain about it.

    ==========  ========================================================================
    trace       orders and what was on sale, by period
    start       units there before the first period, as far as sales show
    is_counted  whether stock is known
    sold_out    scored periods that ended with an empty shelf
    corrected   scored periods that sold more than there was
    ==========  ========================================================================
    """

    trace: UnitTrace
    start: int
    is_counted: bool
    sold_out: int
    corrected: int


def matched(sales: Sales, own: OwnOrders) -> Sales:
    """Return the sales of the items that both files have, up to the last day of ``own``.

    Rules and shop are compared on the same items and days, so what only one file has is left out with a remark.
    """
    known, sold = {each.sku for each in own.series}, {each.sku for each in sales.series}
    both = [series for series in sales.series if series.sku in known]
    if not both:
        rule = f"{own.source} must have items of the sales, and it has none of them"
        raise InvalidInputError(f"{rule}; got {listed(sorted(known), 3, ', ')}. Names must be the same in both.")
    remarks = [*sales.remarks, *own.remarks]
    for what, others in (
        (f"Left out, without a line in {own.source}", [each.sku for each in sales.series if each.sku not in known]),
        (f"Not used, as {own.source} has them but the sales do not", [sku for sku in known if sku not in sold]),
    ):
        remarks += [f"{what}: {listed(sorted(others), separator=', ')}."] if others else []
    last = np.datetime64(own.last_day)
    if all(series.dates[0] > last for series in both):
        rule = f"{own.source} must have days of the sales, which begin on {min(each.dates[0] for each in both)}"
        raise InvalidInputError(f"{rule}; its last day is {own.last_day}. Check the years.")
    if any(series.dates[-1] > last for series in both):
        remarks.append(f"Sales after {own.last_day}, the last day of {own.source}, are left out.")
    cut = (_until(series, last) for series in both)
    return Sales(tuple(series for series in cut if series.dates.size), tuple(remarks))


def _until(series: Series, last: np.datetime64) -> Series:
    keep = slice(0, int(np.searchsorted(series.dates, last, side="right")))
    in_stock, sold_out = (None if flags is None else flags[keep] for flags in (series.in_stock, series.sold_out))
    return Series(series.sku, series.dates[keep], series.units[keep], in_stock, sold_out)


def replay_all(own: OwnOrders, paths: Sequence[ItemPath]) -> list[OwnReplay]:
    """Return what the shop did with each item."""
    series = {each.sku: each for each in own.series}
    for path in paths:
        _check_days(own, series[path.sku], path)
    return [replay(path, series[path.sku]) for path in paths]


def _check_days(own: OwnOrders, series: OwnSeries, path: ItemPath) -> None:
    """Refuse weeks that do not begin on a Monday."""
    for day in _ordinals(series).tolist():
        try:
            check_period(day, path.terms.period)
        except InvalidInputError as error:
            raise InvalidInputError(f"{own.source}, {series.sku}: {error}") from None


def _ordinals(series: OwnSeries) -> Longs:
    return np.asarray(series.dates.astype("datetime64[D]").astype(np.int64) + FIRST_DAY)


def replay(path: ItemPath, own: OwnSeries) -> OwnReplay:
    """Return what the shop did with one item, in its open periods."""
    orders, arriving = _orders(path, own)
    counts = _counts(path, own)
    if own.ordered is not None and path.terms.lead_time == 0:  # the morning's order is on sale too
        counts = np.where(counts == UNKNOWN, UNKNOWN, counts + arriving)
    start = _start(path.demand, arriving, counts)
    on_sale, rises, falls, is_corrected = _shelf(path.demand, arriving, counts, start)
    if own.ordered is None:
        orders = rises
    scored = slice(path.scored, None)
    empty = int((on_sale == path.demand)[scored].sum())
    trace = UnitTrace(orders, on_sale, on_sale, falls if path.terms.shelf_life else np.zeros_like(falls))
    is_counted = bool((counts != UNKNOWN).any())
    return OwnReplay(trace, start, is_counted, empty, int(is_corrected[scored].sum()))


def _orders(path: ItemPath, own: OwnSeries) -> tuple[Longs, Longs]:
    """Return what was ordered in each period, and what arrives in it.

    What was ordered before the first period is not charged. What had arrived before it is part of the start.
    """
    size, days = path.days.size, _ordinals(own)
    arrival_days = days + path.terms.lead_time * days_of(path.terms.period)
    found = []
    for when in (days, arrival_days):
        units, places = np.zeros(size + 1, np.int64), np.searchsorted(path.days, when)
        if own.ordered is not None:
            np.add.at(units, places, np.where(when < path.days[0], 0, own.ordered))
        found.append(units[:size])
    return found[0], found[1]


def _counts(path: ItemPath, own: OwnSeries) -> Longs:
    """Return the stock of each morning, UNKNOWN where nobody counted."""
    counts = np.full(path.days.size, UNKNOWN, np.int64)
    if own.stock is not None:
        _, places, lines = np.intersect1d(path.days, _ordinals(own), return_indices=True)
        counts[places] = own.stock[lines]
    return counts


def _start(demand: Longs, arriving: Longs, counts: Longs) -> int:
    """Return the least stock before the first period that explains the sales up to the first count."""
    known = np.flatnonzero(counts != UNKNOWN)
    until = int(known[0]) if known.size else demand.size
    missing = np.cumsum(demand - arriving)[:until]
    return max(0, int(missing.max(initial=0)))


def _shelf(demand: Longs, arriving: Longs, counts: Longs, start: int) -> tuple[Longs, Longs, Longs, Longs]:
    """Return the shelf of each period.

    What is on sale, rises above what was left, what was gone by the next count, and where more was sold than there
    was.
    """
    on_sale, rises, falls, corrected = (np.zeros(demand.size, np.int64) for _ in range(4))
    left, was_counted = start, False
    for t, (units, arrives, count) in enumerate(
        zip(demand.tolist(), arriving.tolist(), counts.tolist(), strict=True)
    ):
        there = left + arrives if count == UNKNOWN else count
        if count != UNKNOWN:
            rises[t] = max(0, count - left) if was_counted else 0  # before the first count nothing is known
            if was_counted and count < left + arrives:
                falls[t - 1] = min(left, left + arrives - count)
            was_counted = True
        corrected[t] = units > there
        on_sale[t] = max(there, units)
        left = int(on_sale[t]) - units
    return on_sale, rises, falls, corrected


def own_remarks(own: OwnOrders, replays: Sequence[OwnReplay], paths: Sequence[ItemPath]) -> list[str]:
    """Return what the own cost rests on, and what it cannot know: a sentence each."""
    period = paths[0].terms.period
    return [
        *_sold_out_remark(sum(each.sold_out for each in replays), period),
        *_start_remark(own, replays, paths),
        *_inferred_remark(own, paths),
        *_corrected_remark(sum(each.corrected for each in replays), period),
        *_capacity_remark(replays, paths),
        *_waste_remark(replays, paths),
    ]


def _sold_out_remark(count: int, period: str) -> Iterable[str]:
    if count:
        yield (
            f"Your own shelf ended {counted(count, period)} of items empty. What was lost then is in no file: your "
            "own cost is without it."
        )


def _start_remark(own: OwnOrders, replays: Sequence[OwnReplay], paths: Sequence[ItemPath]) -> Iterable[str]:
    alone = [place for place, each in enumerate(replays) if not each.is_counted]
    start = sum(replays[place].start for place in alone)
    if not alone:
        return
    yield (
        f"Your shelf is replayed from your orders. It starts with {counted(start, 'unit')} of "
        f"{counted(len(alone), 'item')} in all, the least that explains the sales."
    )
    sold = sum(int(paths[place].demand.sum()) for place in alone)
    if start > LARGE_START * sold:
        yield (
            f"That is {100 * start / sold:.0f}% of what was sold. If {own.source} lacks orders, your own cost is "
            "overstated: give the stock too, or all orders."
        )


def _inferred_remark(own: OwnOrders, paths: Sequence[ItemPath]) -> Iterable[str]:
    known = {each.sku for each in own.series if each.ordered is not None}
    inferred = [path.sku for path in paths if path.sku not in known]
    if inferred:
        yield (
            f"Orders of {counted(len(inferred), 'item')} are not in {own.source}: every rise of the stock is taken "
            "for one, on the day when it is there."
        )


def _corrected_remark(count: int, period: str) -> Iterable[str]:
    if count:
        yield (
            f"More was sold than you had on {counted(count, period)} of items. What was missing is taken to have "
            "been there, at no cost."
        )


def _capacity_remark(replays: Sequence[OwnReplay], paths: Sequence[ItemPath]) -> Iterable[str]:
    over = sum(
        int((each.trace.on_sale[path.scored :] > path.terms.capacity).sum())
        for each, path in zip(replays, paths, strict=True)
        if path.terms.capacity is not None
    )
    if over:
        yield (
            f"You had more than the capacity on {counted(over, paths[0].terms.period)} of items. The rules never "
            "may: a larger --capacity may be fairer to them."
        )


def _waste_remark(replays: Sequence[OwnReplay], paths: Sequence[ItemPath]) -> Iterable[str]:
    spoiling = [each for each, path in zip(replays, paths, strict=True) if path.terms.shelf_life is not None]
    counted_ones = [each for each in spoiling if each.is_counted]
    if counted_ones:
        units = sum(int(each.trace.spoiled[path.scored :].sum()) for each, path in zip(replays, paths, strict=True))
        yield f"What your counts lack beyond the sales, {counted(units, 'unit')}, is taken as spoiled."
    if len(counted_ones) < len(spoiling):
        yield (
            f"What spoiled of {counted(len(spoiling) - len(counted_ones), 'item')} is not known without counts: "
            "your own cost is without it."
        )


def first_ordinal(own: OwnOrders) -> int:
    """Return the number of the first day with a line, from which on the shop is scored."""
    return date.toordinal(own.first_day)
