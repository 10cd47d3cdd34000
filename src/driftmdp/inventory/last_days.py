"""Each item's last day: what was counted, what was sold, and what was then left."""

from datetime import date

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.log_entries import UNKNOWN, Columns, DayEntries, on_sale, read_days
from driftmdp.kernels.arrays import Longs

LAST_DAY = np.dtype([(name, "<i4") for name in ("day", "stock", "sales", "evening")])
LastDays = NDArray[np.void]


def no_days(n: int) -> LastDays:
    """Return the last days of items without records."""
    last = np.zeros(n, LAST_DAY)
    for name in ("day", "sales", "evening"):
        last[name] = UNKNOWN
    return last


def evening(sold: Columns) -> Longs:
    """Return what is left in the evening, UNKNOWN without a count."""
    there = on_sale(sold)
    left = np.clip(there - sold["sales"], 0, np.iinfo(np.int32).max)
    return np.where(there == UNKNOWN, UNKNOWN, left)


def read_last_days(log: EventLog, items: Longs, lead_time: int, up_to: int) -> LastDays:
    """Return the last days of items by the calendar, from the batches up to a number.

    ``lead_time`` is that of rows that do not say it.
    """
    found = no_days(items.size)
    days = read_days(log, 0, date.max.toordinal(), lead_time, up_to, backwards=True)
    for day, entries in days:
        rows = np.flatnonzero(found["day"] == UNKNOWN)
        if not rows.size:
            break
        rows = rows[entries.decided.has(items[rows]) | entries.sold.has(items[rows])]
        found[rows] = _on(day, items[rows], entries)
    return found


def _on(day: int, items: Longs, entries: DayEntries) -> LastDays:
    """Return the last days of items whose last day this is."""
    last, sold, is_sold = no_days(items.size), entries.sold, entries.sold.has(items)
    last["day"] = day
    last["stock"] = np.where(is_sold, sold.column("stock", items), entries.decided.column("stock", items))
    if is_sold.any():
        names = ("stock", "ordered", "sales", "lead_time")
        rows = {name: sold.column(name, items) for name in names}
        last["sales"], last["evening"] = rows["sales"], np.where(is_sold, evening(rows), UNKNOWN)
    return last
