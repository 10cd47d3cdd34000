"""The item states computed from a shop's event log: each item's estimated demand, and its last day.

The log has two kinds of batches: the advice of a morning (``decided``) and the sales of a day (``sold``). A batch
is packed as a JSON header and columns of whole numbers, compressed. The header lists new items as (name, units in a
lot). An item's number is its place among all items of the log.

An item's estimate follows from its daily sales alone: the last entry of each day, in the order of the days. It does
not depend on when, or in which order, they were written. Sales later than all others of the item are
learned at once. Sales that come late, or correct others, make the item learn all its days from scratch.
"""

import contextlib
import itertools
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.inventory_optimist import restored_demands
from driftmdp.inventory.event_log import EventLog
from driftmdp.kernels.inventory_arrays import Demands, ShelfModel, new_demand_workspace, new_demands

Longs = NDArray[np.int64]
Columns = Mapping[str, NDArray[Any]]
NewItems = Sequence[tuple[str, int]]  # names and units in a lot

LARGEST_NUMBER = 2**31 - 1  # that a column holds
UNKNOWN = -1  # stands for a number or a day that is not known
DECIDED, SOLD = "decided", "sold"  # the kinds of batches


class DecidedRow(NamedTuple):
    """An item's row of a ``decided`` batch, in units."""

    stock: int
    coming: int
    expected: int
    advice: int


class SoldRow(NamedTuple):
    """An item's row of a ``sold`` batch, in units."""

    stock: int
    ordered: int
    sales: int


COLUMNS = {DECIDED: ("item", *DecidedRow._fields), SOLD: ("item", *SoldRow._fields)}
LAST_DAY = np.dtype([(name, "<i4") for name in ("day", "stock", "coming", "ordered", "sales", "learned")])
GROWTH = 1.5  # of the arrays, when they are full


def pack(kind: str, columns: Columns, new: NewItems = ()) -> bytes:
    """Return a batch's content.

    Examples
    --------
    >>> from driftmdp.inventory.item_states import SOLD, pack, unpack
    >>> content = pack(SOLD, {"item": [0], "stock": [9], "ordered": [0], "sales": [4]}, [("A", 1)])
    >>> columns, new = unpack(SOLD, content)
    >>> columns["sales"].tolist(), new
    ([4], [('A', 1)])
    """
    arrays = [np.asarray(columns[name], "<i4") for name in COLUMNS[kind]]
    header = json.dumps({"rows": int(arrays[0].size), "new": [list(item) for item in new]}).encode()
    body = b"".join(array.tobytes() for array in arrays)
    return zlib.compress(len(header).to_bytes(4, "little") + header + body, 1)


def unpack(kind: str, content: bytes) -> tuple[Columns, list[tuple[str, int]]]:
    """Return the columns of a batch's content, and its new items."""
    plain = zlib.decompress(content)
    end = 4 + int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4:end])
    names, rows = COLUMNS[kind], header["rows"]
    table = np.frombuffer(plain, "<i4", len(names) * rows, end).reshape(len(names), rows)
    return dict(zip(names, table, strict=True)), [(sku, lot) for sku, lot in header["new"]]


class DayRecords(NamedTuple):
    """The last advice and the last sales of a day, by item number."""

    decided: dict[int, DecidedRow]
    sold: dict[int, SoldRow]


def read_day(log: EventLog, day: date) -> DayRecords:
    """Return what is recorded for a day."""
    records = DayRecords({}, {})
    for batch in log.batches(day=day.isoformat()):
        columns, _ = unpack(batch.kind, batch.content)
        items, *values = (column.tolist() for column in columns.values())
        if batch.kind == DECIDED:
            records.decided.update(zip(items, map(DecidedRow, *values), strict=True))
        else:
            records.sold.update(zip(items, map(SoldRow, *values), strict=True))
    return records


class ItemStates:
    """All items of a shop, by number.

    Parameters
    ----------
    shelf
        Costs, capacity and lead time.

    Attributes
    ----------
    numbers, skus, lots
        The number of each name, then names and units in a lot by number.
    demands, last
        What is learned of the demand, and each item's last day. These arrays may be longer than there are items.
        Days count from 0001-01-01. ``stock`` was counted in the morning, ``coming`` arrives the morning after (with
        a lead time of 2), ``ordered`` is the advice until the real order is recorded, ``sales`` are UNKNOWN until
        they are recorded, and ``learned`` is the last day that was learned from.
    last_batch
        The number of the last batch that was applied.
    """

    def __init__(self, shelf: ShelfModel) -> None:
        self.shelf = shelf
        self.numbers: dict[str, int] = {}
        self.skus: list[str] = []
        self.lots: list[int] = []
        self.demands, self.last = new_demands(0, shelf.capacity), _new_last(0)
        self.workspace = new_demand_workspace(shelf.capacity, shelf.lead_time)
        self.last_batch = 0
        self._outdated = set[int]()  # items whose past changed, to be learned from scratch

    def add_items(self, new: Iterable[tuple[str, int]]) -> None:
        """Append new items: names and units in a lot."""
        for sku, lot in new:
            self.numbers[sku] = len(self.skus)
            self.skus.append(sku)
            self.lots.append(lot)
        have, need = self.last.size, len(self.skus)
        if need > have:
            more = max(need, int(GROWTH * have)) - have
            pairs = zip(self.demands, new_demands(more, self.shelf.capacity), strict=True)
            self.demands = Demands(*(np.concatenate(pair) for pair in pairs))
            self.last = np.concatenate([self.last, _new_last(more)])

    def catch_up(self, log: EventLog, use_snapshot: bool = True) -> None:
        """Apply the batches that were not applied yet, only while the log is read or written."""
        snapshot = log.load_snapshot() if use_snapshot and self.last_batch == 0 else None
        if snapshot is not None:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # only a cache: the batches have it all
                self._restore(*snapshot)
        for batch in log.batches(after=self.last_batch):
            columns, new = unpack(batch.kind, batch.content)
            self.add_items(new)
            self._apply(batch.kind, date.fromisoformat(batch.day), columns)
        self.relearn(log)

    def append(self, log: EventLog, kind: str, day: date, rows: Mapping[int, NamedTuple], new: NewItems) -> None:
        """Add a batch to the log and apply it. The ``new`` items were added already."""
        table = np.array([(item, *row) for item, row in rows.items()], np.int32).T
        columns = dict(zip(COLUMNS[kind], table, strict=True))
        log.append(kind, day.isoformat(), pack(kind, columns, new))
        self._apply(kind, day, columns)

    def _apply(self, kind: str, day: date, columns: Columns) -> None:
        """Apply the next batch, whose new items were added already."""
        if kind == DECIDED:
            last, items = self.last, columns["item"]
            last["day"][items], last["stock"][items] = day.toordinal(), columns["stock"]
            last["coming"][items], last["ordered"][items] = columns["coming"], columns["advice"]
            last["sales"][items] = UNKNOWN
        else:
            self._apply_sales(day.toordinal(), columns)
        self.last_batch += 1

    def _apply_sales(self, day: int, columns: Columns) -> None:
        last, items = self.last, columns["item"]
        in_order = last["learned"][items] < day
        newest = last["day"][items] <= day
        now = items[newest]
        if self.shelf.lead_time == 2:  # on a day without advice, what was ordered the day before is coming
            unseen = now[last["day"][now] < day]
            yesterday = last["day"][unseen] == day - 1
            last["coming"][unseen] = np.where(yesterday, np.maximum(0, last["ordered"][unseen]), 0)
            # The next morning's advice came before these sales: what is coming was only advised then.
            late = (last["day"][items] == day + 1) & (columns["ordered"] != UNKNOWN)
            last["coming"][items[late]] = columns["ordered"][late]
        last["day"][now] = day
        for name in SoldRow._fields:
            last[name][now] = columns[name][newest]
        self.learn(items[in_order], day, {name: columns[name][in_order] for name in SoldRow._fields})
        self._outdated |= set(items[~in_order].tolist())

    def learn(self, items: NDArray[Any], day: int, sold: Columns) -> None:
        """Learn one day's sales of some items."""
        on_sale, sales = self._sales_in_lots(items, sold)
        weekdays = np.full(items.size, (day - 1) % 7, np.int64)  # day 1 was a Monday
        where = items.astype(np.int64), weekdays
        kernels.inventory_rules.learn_all(self.demands, *where, on_sale, sales, self.workspace)
        self.last["learned"][items] = day

    def relearn(self, log: EventLog) -> None:
        """Learn items whose past changed from scratch: the last entry of each day, in the order of the days."""
        if not self._outdated:
            return
        chosen = np.zeros(len(self.skus), np.bool_)
        chosen[list(self._outdated)] = True
        found = []  # tables with rows day, item, stock, ordered, sales
        for batch in log.batches():
            if batch.kind == SOLD:
                columns, _ = unpack(SOLD, batch.content)
                mine = np.flatnonzero(chosen[columns["item"]])
                days = np.full(mine.size, date.fromisoformat(batch.day).toordinal())
                found.append(np.array([days, *(columns[name][mine] for name in COLUMNS[SOLD])], np.int32))
        table = np.concatenate(found, axis=1)
        table = table[:, np.lexsort((table[1], table[0]))]  # by day and item; a stable sort, so that later ones win
        is_last_entry = np.append((np.diff(table[0]) != 0) | (np.diff(table[1]) != 0), True)
        table = table[:, is_last_entry]
        for array, empty in zip(self.demands, new_demands(1, self.shelf.capacity), strict=True):
            array[chosen.nonzero()[0]] = empty[0]
        starts = np.append(np.flatnonzero(np.diff(table[0], prepend=0)), table.shape[1])
        for first, last in itertools.pairwise(starts.tolist()):
            sold = dict(zip(SoldRow._fields, table[2:, first:last], strict=True))
            self.learn(table[1, first:last], int(table[0, first]), sold)
        self._outdated = set()

    def lots_of(self, items: NDArray[Any]) -> Longs:
        """Return the units in a lot of items."""
        return np.array([self.lots[item] for item in items.tolist()], np.int64)

    def _sales_in_lots(self, items: NDArray[Any], sold: Columns) -> tuple[Longs, Longs]:
        """Return what was on sale and sold in lots, at most the capacity.

        Rounding keeps a sold-out shelf sold out, and leaves at least one lot on a shelf that was not.
        """
        lot = self.lots_of(items)
        stock, ordered, sales = (sold[name].astype(np.int64) for name in SoldRow._fields)
        there = stock + (np.maximum(0, ordered) if self.shelf.lead_time == 0 else 0)
        emptied = (sales >= there) & (stock != UNKNOWN)
        sold_lots = _rounded(sales, lot)
        on_sale = np.where(emptied, sold_lots, np.maximum(_rounded(there, lot), sold_lots + 1))
        on_sale = np.where(stock == UNKNOWN, self.shelf.capacity, on_sale)
        return np.minimum(on_sale, self.shelf.capacity), np.minimum(sold_lots, self.shelf.capacity)

    def expected(self, item: int, day: int) -> int:
        """Return the stock that should be there in a morning after the item's last day, or UNKNOWN."""
        last = self.last[item]
        if not UNKNOWN < last["day"] < day or last["sales"] == UNKNOWN or last["stock"] == UNKNOWN:
            return UNKNOWN
        left, ordered = int(last["stock"]) - int(last["sales"]), max(0, int(last["ordered"]))
        if self.shelf.lead_time == 0:
            return min(LARGEST_NUMBER, max(0, left + ordered))
        arrived = ordered
        if self.shelf.lead_time == 2:
            arrived = int(last["coming"]) + (ordered if day > last["day"] + 1 else 0)
        return min(LARGEST_NUMBER, max(0, left) + arrived)

    def stock_in_lots(self, items: Longs, stock: Longs, coming: Longs) -> tuple[Longs, Longs]:
        """Return stock and what is coming in lots, together at most the capacity."""
        lot = self.lots_of(items)
        s = np.minimum(_rounded(stock, lot), self.shelf.capacity)
        return s, np.minimum(_rounded(coming, lot), self.shelf.capacity - s)

    def as_bytes(self) -> bytes:
        """Return a snapshot."""
        header = json.dumps({"skus": self.skus, "lots": self.lots}).encode()
        arrays = (array[: len(self.skus)].tobytes() for array in (*self.demands, self.last))
        return b"".join([len(header).to_bytes(8, "little"), header, *arrays])

    def _restore(self, last_batch: int, content: bytes) -> None:
        """Take over a snapshot. One that does not fit raises ValueError, KeyError or TypeError."""
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end])
        n = len(header["skus"])
        arrays: dict[str, Any] = {}
        empty = new_demands(n, self.shelf.capacity)
        for name, like in zip((*Demands._fields, "last"), (*empty, _new_last(n)), strict=True):
            arrays[name] = np.frombuffer(content, like.dtype, like.size, end).reshape(like.shape)
            end += like.nbytes
        if end != len(content):
            raise ValueError("the snapshot has the wrong length")
        numbers, lots = {sku: number for number, sku in enumerate(header["skus"])}, header["lots"]
        self.demands = restored_demands(arrays, n, self.shelf.capacity)
        self.last, self.last_batch = arrays["last"].copy(), last_batch
        self.skus, self.lots, self.numbers = header["skus"], lots, numbers


def _new_last(n: int) -> NDArray[np.void]:
    last = np.zeros(n, LAST_DAY)
    for name in ("day", "sales", "learned"):
        last[name] = UNKNOWN
    return last


def _rounded(units: Longs, lot: Longs) -> Longs:
    return np.asarray((2 * units + lot) // (2 * lot))
