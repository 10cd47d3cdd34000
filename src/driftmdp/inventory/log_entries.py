"""The entries of a shop's event log: how a batch is packed, and the last entries of a day.

=============  =========================================================================================
``decided``    the advice of a morning: a row per item
``sold``       the sales of a day: a row per item
``items``      settings of items, as JSON
``calendar``   special days, as JSON
``terms``      settings of items or of the shop from a day on, as JSON
``received``   what was told of deliveries of a day: a row per item and order
``withdrawn``  what is taken back of a day: a row per item
``renamed``    an item's old and new name
``merged``     two items that are one: the number that goes, and the number that stays
=============  =========================================================================================

A batch is a JSON header and columns of whole numbers, compressed. The header names new items and, since version 2,
the columns. An item's number is its place among all items of the log. Rows of an item that was merged into another
are read as the other's, from that batch on: see ``joined_days.py``.
"""

import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.entry_codes import ADVICE, DELIVERIES, DEMAND, SALES, UNKNOWN
from driftmdp.inventory.event_log import EventBatch, EventLog
from driftmdp.inventory.joined_days import Row, joined_decisions, joined_sales
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING
from driftmdp.kernels.arrays import Longs

__all__ = [
    "ADVICE",
    "DELIVERIES",
    "DEMAND",
    "SALES",
    "UNKNOWN",
    "DayEntries",
    "Entries",
    "pack",
    "read_day",
    "read_days",
    "unpack",
]

Columns = Mapping[str, NDArray[Any]]
DECIDED, SOLD, ITEMS, CALENDAR = "decided", "sold", "items", "calendar"  # the kinds of batches
WITHDRAWN, TERMS, RENAMED, MERGED, RECEIVED = "withdrawn", "terms", "renamed", "merged", "received"
ALWAYS = ""  # the day of batches that are not about a day
EVERY_DAY = MERGED  # the day of batches that change how all earlier days are read, so that readers find them
WITHOUT_NAMES = {  # the columns of batches that do not name them
    DECIDED: ("item", "stock", "coming", "expected", "advice"),
    SOLD: ("item", "stock", "ordered", "sales"),
}


def pack(header: Mapping[str, Any], columns: Columns | None = None) -> bytes:
    """Return a batch's content.

    Examples
    --------
    >>> from driftmdp.inventory.log_entries import SOLD, pack, unpack
    >>> content = pack({"new": ["A"]}, {"item": [0], "stock": [9], "ordered": [0], "sales": [4]})
    >>> header, columns = unpack(SOLD, content)
    >>> columns["sales"].tolist(), header["new"]
    ([4], ['A'])
    """
    arrays = {name: np.asarray(column, "<i4") for name, column in (columns or {}).items()}
    rows = {len(array) for array in arrays.values()} or {0}
    described = {"rows": rows.pop(), "columns": list(arrays), **header}
    text = json.dumps(described).encode()
    body = b"".join(array.tobytes() for array in arrays.values())
    return zlib.compress(len(text).to_bytes(4, "little") + text + body, 1)


def unpack(kind: str, content: bytes) -> tuple[dict[str, Any], Columns]:
    """Return a batch's header and columns."""
    plain = zlib.decompress(content)
    end = 4 + int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4:end])
    names, rows = header.get("columns", WITHOUT_NAMES.get(kind, ())), header["rows"]
    table = np.frombuffer(plain, "<i4", len(names) * rows, end).reshape(len(names), rows)
    return header, dict(zip(names, table, strict=True))


def sold_columns(columns: Columns, lead_time: int) -> Columns:
    """Return sales with ``seen`` and ``lead_time``, which earlier versions did not write."""
    if "seen" in columns:
        return columns
    stock, ordered, sales = (columns[name].astype(np.int64) for name in ("stock", "ordered", "sales"))
    there = stock + (np.maximum(0, ordered) if lead_time == 0 else 0)
    return {**columns, "seen": seen_by_count(stock, there, sales), "lead_time": np.full_like(stock, lead_time)}


def on_sale(sold: Columns) -> Longs:
    """Return what there was to sell, UNKNOWN without a count."""
    stock, ordered = sold["stock"].astype(np.int64), sold["ordered"].astype(np.int64)
    there = stock + np.where(sold["lead_time"] == 0, np.maximum(0, ordered), 0)
    return np.where(stock == UNKNOWN, UNKNOWN, there)


def seen_by_count(stock: Longs, there: Longs, sales: Longs) -> Longs:
    """Return what sales say of demand, by what was on sale. Without a count they were not sold out."""
    sold_out = np.where(sales > 0, AT_LEAST, NOTHING)  # an empty shelf says nothing
    return np.where((stock == UNKNOWN) | (sales < there), EXACT, sold_out)


def costs_of(bits: Longs) -> list[float | None]:
    """Return costs from the bits that a column holds, None where there is none."""
    costs = np.asarray(bits, "<i4").view("<f4").astype(np.float64)
    return [None if np.isnan(cost) else cost for cost in costs.tolist()]


class Entries(NamedTuple):
    """The last entries of one kind on one day.

    Attributes
    ----------
    items
        Item numbers, increasing.
    columns
        Their rows.
    """

    items: Longs
    columns: Columns

    def column(self, name: str, items: Longs) -> Longs:
        """Return a column for some items, UNKNOWN where there is no entry or no such column."""
        found = np.full(items.size, UNKNOWN, np.int64)
        if name in self.columns and self.items.size:
            places = np.minimum(np.searchsorted(self.items, items), self.items.size - 1)
            there = self.items[places] == items
            found[there] = self.columns[name][places[there]]
        return found

    def has(self, items: Longs) -> NDArray[np.bool_]:
        """Return which of some items have an entry."""
        return np.isin(items, self.items)


class DayEntries(NamedTuple):
    """The last advice and the last sales of a day."""

    decided: Entries
    sold: Entries


def order_of(entries: DayEntries, items: Longs) -> tuple[Longs, Longs]:
    """Return the orders of a day and their lead times, UNKNOWN where there are none: the real, else the advice."""
    advised, ordered = entries.decided.column("advice", items), entries.sold.column("ordered", items)
    leads = entries.decided.column("lead_time", items), entries.sold.column("lead_time", items)
    is_advised = ordered == UNKNOWN
    return np.where(is_advised, advised, ordered), np.where(is_advised, *leads)


def last_entries(batches: Sequence[Columns]) -> Entries:
    """Return the last entry of each item, of a day's batches in the order of writing."""
    names = dict.fromkeys(itertools.chain.from_iterable(batches))
    joined = {name: np.concatenate([_filled(columns, name) for columns in batches]) for name in names}
    items = joined.pop("item", np.zeros(0, np.int64)).astype(np.int64)
    order = np.argsort(items, kind="stable")
    ordered = items[order]
    last = order[np.append(np.diff(ordered) != 0, True)] if items.size else order
    return Entries(items[last], {name: column[last] for name, column in joined.items()})


def _filled(columns: Columns, name: str) -> NDArray[Any]:
    return columns[name] if name in columns else np.full(len(columns["item"]), UNKNOWN, np.int32)


def read_day(log: EventLog, day: int, lead_time: int) -> DayEntries:
    """Return what is recorded for a day. ``lead_time`` is that of rows that do not say it."""
    text = date.fromordinal(day).isoformat()
    numbers = [number for number, its_day in enumerate(log.days, 1) if its_day in (text, EVERY_DAY)]
    return _day_entries(log.batches_of(numbers), lead_time)


def read_days(
    log: EventLog, first: int, last: int, lead_time: int, up_to: int | None = None, backwards: bool = False
) -> Iterator[tuple[int, DayEntries]]:
    """Yield the days from ``first`` to ``last`` on which something is recorded, in the order of the calendar.

    With ``up_to``, later batches are left out.
    """
    numbers: dict[str, list[int]] = {}
    for number, text in enumerate(log.days[:up_to], 1):
        numbers.setdefault(text, []).append(number)
    merges = list(log.batches_of(numbers.pop(EVERY_DAY, ())))
    for text in sorted(numbers.keys() - {ALWAYS}, reverse=backwards):
        day = date.fromisoformat(text).toordinal()
        if first <= day <= last:
            batches = log.batches_of(numbers[text])
            yield day, _day_entries(sorted([*batches, *merges]) if merges else batches, lead_time)


def _day_entries(batches: Iterable[EventBatch], lead_time: int) -> DayEntries:
    decided, sold = list[Columns](), list[Columns]()
    for batch in batches:
        columns = unpack(batch.kind, batch.content)[1]
        if batch.kind == DECIDED:
            decided.append(columns)
        elif batch.kind == SOLD:
            sold.append(sold_columns(columns, lead_time))
        elif batch.kind == WITHDRAWN:
            items, what = columns["item"], columns["what"]
            decided, sold = _without(decided, items[what & ADVICE != 0]), _without(sold, items[what & SALES != 0])
        elif batch.kind == MERGED:
            decided, sold = _joined(decided, sold, int(columns["item"][0]), int(columns["into"][0]))
    return DayEntries(last_entries(decided), last_entries(sold))


def _without(batches: Sequence[Columns], items: Sequence[int] | NDArray[Any]) -> list[Columns]:
    """Return a day's batches of one kind without the rows of some items."""
    kept = [(columns, ~np.isin(columns["item"], items)) for columns in batches]
    return [{name: column[rows] for name, column in columns.items()} for columns, rows in kept]


def _joined(
    decided: list[Columns], sold: list[Columns], gone: int, stays: int
) -> tuple[list[Columns], list[Columns]]:
    """Return a day's batches after an item was merged into another."""
    old = _last_row(decided, gone), _last_row(sold, gone)
    if old == (None, None):
        return decided, sold
    now = _last_row(decided, stays), _last_row(sold, stays)
    rows = joined_decisions(old[0], now[0]), joined_sales(old[1], now[1], old[0], now[0])
    found = []
    for batches, row in zip((decided, sold), rows, strict=True):
        joined = (
            [] if row is None else [{name: np.array([value]) for name, value in (row | {"item": stays}).items()}]
        )
        found.append([*_without(batches, [gone, stays]), *joined])
    return found[0], found[1]


def _last_row(batches: Sequence[Columns], item: int) -> Row | None:
    for columns in reversed(batches):
        places = np.flatnonzero(columns["item"] == item)
        if places.size:
            return {name: int(column[places[-1]]) for name, column in columns.items()}
    return None
