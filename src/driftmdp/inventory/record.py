"""Recording sales: the new rows, and remarks on unusual sales."""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.calendar_csv import CLOSED
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import DEMAND, UNKNOWN, Columns, DayEntries, seen_by_count
from driftmdp.inventory.order_engine import EXACT, NOTHING
from driftmdp.inventory.periods import WEEKDAYS, period_of, weekday
from driftmdp.inventory.sales_table import SalesTable
from driftmdp.kernels.arrays import Longs

BEYOND_SHARE = 0.1  # of an item's periods may sell more than the shelf takes, before the shelf is called too small
BEYOND_MIN_PERIODS = 10  # fewer periods count as this many
COMPARED = ("stock", "ordered", "sales", "seen")


class NewSales(NamedTuple):
    """What a day's lines come to.

    Attributes
    ----------
    columns
        The new rows.
    counts
        How many lines are recorded, repeated and corrected.
    unknown
        Lines of which it is not known whether they were sold out.
    oversold
        Lines that sold more than was there.
    """

    columns: Columns
    counts: Counter[str]
    unknown: list[str]
    oversold: list[str]


class HowSold(NamedTuple):
    """How the lines of a command are taken: ``correct``, ``plenty`` and ``demand`` of ``Shop.record``."""

    correct: bool
    plenty: bool
    demand: bool


def new_sales(
    states: ItemStates, day: int, table: SalesTable, places: Longs, before: DayEntries, how: HowSold
) -> NewSales:
    """Return the new rows of a day from some lines of a table."""
    items = np.array([states.numbers[table.skus[sku]] for sku in table.sku[places].tolist()], np.int64)
    _check_weeks(states, day, table, places, items)
    row = {"item": items} | _completed(states, table, places, items, before, how)
    recorded = before.sold.has(items)
    same = recorded & np.all([before.sold.column(name, items) == row[name] for name in COMPARED], axis=0)
    differ = np.flatnonzero(recorded & ~same)
    if differ.size and not how.correct:
        raise _contradiction(states, day, row, before, int(differ[0]), table.source(int(places[differ[0]])))
    counts = Counter(recorded=int((~recorded).sum()), repeated=int(same.sum()), corrected=int(differ.size))
    new = np.flatnonzero(~same)
    unknown = [_named(states, items[at], day) for at in np.flatnonzero(row["seen"] == UNKNOWN).tolist()]
    there = row.pop("there")
    over = new[(row["stock"][new] != UNKNOWN) & (row["sales"][new] > there[new]) & (row["seen"][new] != DEMAND)]
    oversold = [f"{_named(states, items[at], day)} sold {row['sales'][at]} of {there[at]}" for at in over.tolist()]
    return NewSales({name: column[new] for name, column in row.items()}, counts, unknown, oversold)


def _completed(
    states: ItemStates, table: SalesTable, places: Longs, items: Longs, before: DayEntries, how: HowSold
) -> dict[str, Longs]:
    """Return whole rows, and what was there to sell. Numbers that a line does not have are those recorded."""
    sold, decided = before.sold, before.decided
    stock = _first_known(table.stock[places], sold.column("stock", items), decided.column("stock", items))
    ordered = _first_known(table.ordered[places], sold.column("ordered", items), decided.column("advice", items))
    ordered = np.where(stock == UNKNOWN, ordered, np.maximum(0, ordered))
    lead = _first_known(*(kind.column("lead_time", items) for kind in before[::-1]), states.lead_times(items))
    units, in_stock = table.units[places], table.in_stock[places]
    there = stock + np.where(lead == 0, np.maximum(0, ordered), 0)
    seen_before = sold.column("seen", items)
    is_kept = (seen_before == EXACT) | ((seen_before == NOTHING) & (units == 0))
    without_count = np.where(is_kept, seen_before, EXACT if how.plenty else UNKNOWN)
    seen = np.where(stock != UNKNOWN, seen_by_count(stock, there, units), without_count)
    seen = np.where((stock == UNKNOWN) & (in_stock == 1), EXACT, seen)
    seen = np.where(in_stock == 0, NOTHING, seen)
    seen = np.where(how.demand | (table.demand[places] == 1), DEMAND, seen)
    return {"stock": stock, "ordered": ordered, "sales": units, "seen": seen, "lead_time": lead, "there": there}


def _first_known(*columns: Longs) -> Longs:
    found = columns[-1]
    for column in reversed(columns[:-1]):
        found = np.where(column == UNKNOWN, found, column)
    return found


def _check_weeks(states: ItemStates, day: int, table: SalesTable, places: Longs, items: Longs) -> None:
    """Refuse a week that does not start on a Monday."""
    if weekday(day) == 0:
        return
    for place, item in zip(places.tolist(), items.tolist(), strict=True):
        monday = period_of(day, states.terms[item].period)
        if monday != day:
            got = f"got {date.fromordinal(day)}, a {WEEKDAYS[weekday(day)].capitalize()}"
            rule = f"{table.source(place)}{states.skus[item]} is sold by the week, which is named by its Monday"
            raise InvalidInputError(f"{rule}; {got}. Nothing was done; use {date.fromordinal(monday)}.")


def _contradiction(
    states: ItemStates, day: int, row: dict[str, Longs], before: DayEntries, at: int, source: str
) -> InvalidInputError:
    """Return the refusal of sales that differ from what is recorded."""
    item = row["item"][at : at + 1]
    old, new = [
        [int(before.sold.column(name, item)[0]) for name in COMPARED],
        [int(row[name][at]) for name in COMPARED],
    ]
    what = f"{source}{_named(states, int(item[0]), day)} is recorded with {_as_text(old)}; got {_as_text(new)}"
    return InvalidInputError(f"{what}. Nothing was done; use --correct if the record was wrong.")


def _as_text(row: Sequence[int]) -> str:
    stock, ordered, sales, seen = row
    there = "an unknown stock" if stock == UNKNOWN else f"a stock of {stock}"
    order = "an unknown order" if ordered == UNKNOWN else f"an order of {ordered}"
    what = "asked for" if seen == DEMAND else "sold (not on sale)" if seen == NOTHING and stock != 0 else "sold"
    return f"{sales} {what} from {there} and {order}"


def _named(states: ItemStates, item: int, day: int) -> str:
    return f"{states.skus[item]} on {date.fromordinal(day)}"


def refuse_unknown(unknown: Sequence[str]) -> None:
    """Refuse sales of which it is not known whether they were sold out."""
    if unknown:
        what = f"Whether these were sold out is not known, as no advice was asked for: {listed(unknown)}"
        advice = "add a column stock with the morning's count, or in_stock, or use --plenty if none was sold out."
        raise InvalidInputError(f"{what}. Nothing was done; {advice}")


def beyond_capacity(states: ItemStates, table: SalesTable) -> list[str]:
    """Return a remark on items that often sell more in a period than the shelf takes, by the terms of each day."""
    if not table.day.size:
        return []
    part, first_days = _parts(states, table)
    pairs, places = np.unique(part * len(table.skus) + table.sku, return_inverse=True)
    limits = np.full(pairs.size, np.iinfo(np.int64).max)
    for place, pair in enumerate(pairs.tolist()):
        when, sku = divmod(pair, len(table.skus))
        capacity = states.terms_on(states.numbers[table.skus[sku]], first_days[when]).capacity
        limits[place] = limits[place] if capacity is None else capacity
    periods = np.bincount(table.sku, minlength=len(table.skus))
    is_beyond = table.units > limits[places]
    beyond = np.bincount(table.sku, is_beyond, minlength=len(table.skus)).astype(np.int64)
    often = np.flatnonzero(beyond > BEYOND_SHARE * np.maximum(BEYOND_MIN_PERIODS, periods)).tolist()
    texts = [f"{table.skus[sku]} in {beyond[sku]} of {periods[sku]} periods" for sku in often]
    remark = "More was sold in a period than the shelf takes; is the capacity right"
    return [f"{remark}: {listed(texts)}?"] if texts else []


def sold_when_closed(states: ItemStates, table: SalesTable) -> list[str]:
    """Return a remark on sales of days on which the shop is closed, by the terms of each day."""
    if not table.day.size:
        return []
    part, first_days = _parts(states, table)
    weekdays = np.zeros((len(first_days), 7), np.bool_)
    for when, day in enumerate(first_days):
        weekdays[when, sorted(states.timeline.shop_on(day).closed_days)] = True
    closed = [line.day for line in states.calendar.lines if line.name == CLOSED]
    may_be = np.isin(table.day, closed) | weekdays[part, (table.day - 1) % 7]
    texts = []
    for place in np.flatnonzero(may_be & (table.units > 0)).tolist():
        item, day = states.numbers[table.skus[table.sku[place]]], int(table.day[place])
        if not states.calendar.is_open(states.skus[item], states.terms_on(item, day), day):
            texts.append(_named(states, item, day))
    return [f"Sold on days on which the shop is closed, and learned from: {listed(texts)}."] if texts else []


def _parts(states: ItemStates, table: SalesTable) -> tuple[Longs, list[int]]:
    """Return for each line the part of time in which no terms change, and the first days of the parts."""
    first_days = states.timeline.days_from(int(table.day.min()))
    return np.searchsorted(first_days, table.day, side="right") - 1, first_days
