"""Orders and what was told of their deliveries, of the items of which something is told.

Items of which nothing is told are not here: their orders arrive on time. Rows are events of kernels/deliveries.py.
The last written row of an item, day, kind and order counts.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.log_entries import (
    ADVICE,
    DECIDED,
    DELIVERIES,
    SALES,
    SOLD,
    UNKNOWN,
    Columns,
    DayEntries,
    Entries,
    read_days,
)
from driftmdp.kernels import deliveries as kinds
from driftmdp.kernels.arrays import Longs

ROW_NAMES = ("item", "day", "what", "key", "units", "more", "expected")
ROW = np.dtype([(name, "<i4") for name in ROW_NAMES])
Rows = NDArray[np.void]
KEPT_FROM = 4  # as ``what``: from which day on an item's orders are here
WAITED = 60  # periods beyond the lead time in which an order is still waited for
LAST_DAY = 2**31 - 1
ORDERS = kinds.ADVISED, kinds.ORDERED


class DeliveryLedger:
    """The rows of all items of which deliveries were told.

    Parameters
    ----------
    lead_time
        Of advice and orders that do not say it, as those of earlier versions.
    """

    def __init__(self, lead_time: int) -> None:
        self._lead_time = lead_time
        self._rows: Rows = np.zeros(0, ROW)
        self._new: list[Rows] = []
        self._told: Longs | None = np.zeros(0, np.int64)

    @property
    def rows(self) -> Rows:
        """The last rows, by item, day and kind."""
        if self._new:
            joined = np.concatenate([self._rows, *self._new])
            order = np.lexsort(tuple(joined[name] for name in ("key", "what", "day", "item")))
            joined = joined[order]
            same = np.ones(max(joined.size - 1, 0), np.bool_)
            for name in ("item", "day", "what", "key"):
                same &= joined[name][1:] == joined[name][:-1]
            self._rows, self._new = joined[~np.append(same, False)] if joined.size else joined, []
        return self._rows

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever told."""
        return not self._rows.size and not self._new

    def told(self) -> Longs:
        """Return the items of which something is told."""
        if self._told is None:
            self._told = np.unique(self.rows["item"][self.rows["what"] == kinds.RECEIVED]).astype(np.int64)
        return self._told

    def of(self, items: Longs) -> Rows:
        """Return the rows of some items."""
        return self.rows[np.isin(self.rows["item"], items)]

    def events_of(self, items: Longs) -> Rows:
        """Return what happened to some items."""
        rows: Rows = self.of(items)
        return np.asarray(rows[rows["what"] != KEPT_FROM])

    # ---- from the log

    def apply(self, kind: str, day: int, columns: Columns) -> None:
        """Add a batch's advice or orders, of items of which something is told."""
        if self.is_empty or kind not in (DECIDED, SOLD):
            return
        mine = np.isin(columns["item"], self.told())
        if mine.any():
            chosen = {name: column[mine] for name, column in columns.items()}
            items = chosen.pop("item").astype(np.int64)
            entries, nothing = Entries(items, chosen), Entries(np.zeros(0, np.int64), {})
            whole = DayEntries(entries, nothing) if kind == DECIDED else DayEntries(nothing, entries)
            self._new += _rows_of_day(day, items, whole, self._lead_time)

    def receive(self, log: EventLog, day: int, columns: Columns, back: Longs, up_to: int) -> None:
        """Add what was told of a day, and the orders of items that are new here, from the batches up to a number.

        ``back`` says for each row how many days before it, or before the order that it names, orders may matter.
        """
        items = columns["item"].astype(np.int64)
        named = np.where(columns["ordered_on"] == UNKNOWN, day, columns["ordered_on"])
        since = named - back
        known = self.rows[self.rows["what"] == KEPT_FROM]
        places = np.searchsorted(known["item"], items)
        has_all = np.zeros(items.size, np.bool_)
        inside = places < known.size
        there = places[inside]
        has_all[inside] = (known["item"][there] == items[inside]) & (known["units"][there] <= since[inside])
        if not has_all.all():
            self._load(log, np.unique(items[~has_all]), int(since[~has_all].min()), up_to)
        more = {"key": columns["ordered_on"], "more": columns["rest"]}
        self._new.append(_rows(items, day, kinds.RECEIVED, columns["units"], expected=columns["expected"], **more))
        self._told = None

    def _load(self, log: EventLog, items: Longs, first: int, up_to: int) -> None:
        """Read orders of items from a day on."""
        self._remove(np.isin(self.rows["item"], items) & (self.rows["what"] != kinds.RECEIVED))
        for day, entries in read_days(log, first, LAST_DAY, UNKNOWN, up_to):
            mine = items[entries.decided.has(items) | entries.sold.has(items)]
            self._new += _rows_of_day(day, mine, entries, self._lead_time)
        self._new.append(_rows(items, 0, KEPT_FROM, np.full(items.size, first)))

    def withdraw(self, day: int, columns: Columns) -> None:
        """Take back rows of a day."""
        if self.is_empty:
            return
        on_day = self.rows["day"] == day
        withdrawn = (
            (SALES, (kinds.ORDERED,)),
            (ADVICE, (kinds.ADVISED, kinds.GIVEN)),
            (DELIVERIES, (kinds.RECEIVED,)),
        )
        gone = np.zeros(self.rows.size, np.bool_)
        for what, of_kinds in withdrawn:
            items = columns["item"][columns["what"] & what != 0]
            gone |= on_day & np.isin(self.rows["item"], items) & np.isin(self.rows["what"], of_kinds)
        self._remove(gone)
        self._remove(~np.isin(self.rows["item"], self.told()))

    def merge(self, log: EventLog, gone: int, stays: int, step: int, up_to: int) -> None:
        """Let an item's deliveries be another one's, as the batches up to a number have its orders.

        If nothing was told of one of them, its orders that were due came whole and on time. ``step`` is the days
        of a period.
        """
        both = np.array([gone, stays], np.int64)
        rows = self.of(both)
        if not rows.size:
            return
        first = int(rows["units"][rows["what"] == KEPT_FROM].min())
        received = [rows[rows["what"] == kinds.RECEIVED]]
        for item in both[~np.isin(both, received[0]["item"])].tolist():
            received += self._came_on_time(log, item, step, first, up_to - 1)
        self._remove(np.isin(self.rows["item"], both))
        self._new.append(_added_up(np.concatenate(received), stays))
        self._told = None
        self._load(log, both[1:], first, up_to)

    def _came_on_time(self, log: EventLog, item: int, step: int, first: int, up_to: int) -> Iterator[Rows]:
        """Yield what came of an item of which nothing was told, up to the last day of the log."""
        found, one = list[Rows](), np.array([item], np.int64)
        last = first
        for last, entries in read_days(log, first, LAST_DAY, UNKNOWN, up_to):
            found += _rows_of_day(last, one, entries, self._lead_time)
        orders = {int(row["day"]): row for row in np.concatenate([self._rows[:0], *found]) if row["what"] in ORDERS}
        for day, row in orders.items():  # a real order comes behind the advice of its day
            due = day + int(row["more"]) * step
            if row["units"] > 0 and day < due <= last:
                yield _rows(one, due, kinds.RECEIVED, row["units"], key=day, more=kinds.WAITS)

    def _remove(self, gone: NDArray[np.bool_]) -> None:
        self._rows, self._told = self.rows[~gone], None

    # ---- snapshot

    def as_bytes(self) -> bytes:
        """Return the rows."""
        return self.rows.tobytes()

    def restore(self, content: bytes | memoryview) -> None:
        """Take over what ``as_bytes`` returned."""
        self._rows, self._new, self._told = np.frombuffer(content, ROW), [], None


def _rows_of_day(day: int, items: Longs, entries: DayEntries, lead_time: int) -> Iterator[Rows]:
    """Yield the rows of a day's advice, orders, and counts of coming arrivals, where there are such."""
    for what, name, entry in ((kinds.ADVISED, "advice", entries.decided), (kinds.ORDERED, "ordered", entries.sold)):
        units = entry.column(name, items)
        known = units != UNKNOWN
        if known.any():
            mine = items[known]
            lead = entry.column("lead_time", mine)
            lead = np.where(lead == UNKNOWN, lead_time, lead)
            yield _rows(mine, day, what, units[known], more=lead)
    for name in entries.decided.columns:
        if name.startswith("given_"):
            units = entries.decided.column(name, items)
            known = units != UNKNOWN
            after = np.full(int(known.sum()), int(name.removeprefix("given_")))
            yield _rows(items[known], day, kinds.GIVEN, units[known], key=after)


def _rows(items: Longs, day: int, what: int, units: Longs, **more: Longs | int) -> Rows:
    rows = np.zeros(items.size, ROW)
    rows["key"] = rows["more"] = rows["expected"] = UNKNOWN
    rows["item"], rows["day"], rows["what"], rows["units"] = items, day, what, units
    for name, column in more.items():
        rows[name] = column
    return rows


def _added_up(received: Rows, item: int) -> Rows:
    """Return what was told of two items as that of one. What came of both on a day, of one order, adds up."""
    found = received[:0].copy()
    for row in received:
        row = row.copy()
        row["item"] = item
        same = (found["day"] == row["day"]) & (found["key"] == row["key"])
        if same.any():
            found["units"][same] += row["units"]
            found["more"][same] = np.maximum(found["more"][same], row["more"])  # the other one may have no rest
            found["expected"][same] = np.maximum(found["expected"][same], row["expected"])
        else:
            found = np.append(found, row)
    return found
