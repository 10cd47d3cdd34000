"""Orders on their way: what arrives when, worked out from the last entries of the log.

An order of a morning arrives L periods later. It counts as advised until the real order is recorded. What a count
says of coming arrivals replaces the orders behind them. Later days of the calendar overrule earlier ones, so that
it does not matter in which order they were written.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.inventory.deliveries import FollowedOrders, arrived_since, open_units
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.log_entries import UNKNOWN, DayEntries, order_of, read_days
from driftmdp.kernels.arrays import Longs

LOOK_BACK = 60  # periods since an item's last evening; after a longer time the stock is not known


class PipelineItems(NamedTuple):
    """Some items.

    Attributes
    ----------
    numbers, lead_times, steps
        Their numbers, lead times, and days of a period.
    evenings
        The day of the last known evening, or UNKNOWN.
    longest
        The longest lead time that any item ever had.
    """

    numbers: Longs
    lead_times: Longs
    steps: Longs
    evenings: Longs
    longest: int


class Pipeline(NamedTuple):
    """What arrived and what arrives, by item.

    Attributes
    ----------
    since
        The day of the last known evening, or UNKNOWN.
    arrived
        Units that arrived since the last known evening, up to this morning.
    coming
        Units that arrive 1, 2, .. periods after this morning, by (item, periods less one).
    overdue
        Units that were due this morning, 1, 2, .. periods ago, and did not come, by (item, periods).
    """

    since: Longs
    arrived: Longs
    coming: Longs
    overdue: Longs


def read_pipeline(log: EventLog, day: int, items: PipelineItems, lead_time: int) -> Pipeline:
    """Return the arrivals around the morning of a day. ``lead_time`` is that of rows that do not say it."""
    back = np.where(items.evenings == UNKNOWN, 0, (day - items.evenings) // items.steps)
    table = read_arrivals(log, day, items, back, lead_time)
    before = int(back.max(initial=0))
    since = before - back  # the place of the last evening's day, whose arrivals were counted
    is_between = np.arange(before + 1) > since[:, None]
    arrived = np.where(is_between, table[:, : before + 1], 0).sum(axis=1)
    coming = table[:, before + 1 :]  # beyond the lead time where that was longer when it was ordered
    needed = np.append(np.flatnonzero(coming.any(axis=0)) + 1, max(int(items.lead_times.max(initial=0)) - 1, 0))
    return Pipeline(items.evenings, arrived, coming[:, : needed.max()], np.zeros((items.numbers.size, 0), np.int64))


def with_deliveries(pipeline: Pipeline, orders: FollowedOrders, rows: Longs) -> Pipeline:
    """Return a pipeline whose ``rows``, in the order of ``orders``, have what was told of deliveries."""
    coming, overdue = open_units(orders)
    tables = []
    for before, now in ((pipeline.coming, coming), (pipeline.overdue, overdue)):
        table = widened(before, max(before.shape[1], now.shape[1]))
        table[rows] = widened(now, table.shape[1])
        tables.append(table)
    arrived = pipeline.arrived.copy()
    arrived[rows] = arrived_since(orders, pipeline.since[rows])
    return Pipeline(pipeline.since, arrived, tables[0], tables[1])


def widened(table: Longs, width: int, filler: int = 0) -> Longs:
    """Return a table with so many columns."""
    return np.pad(table, ((0, 0), (0, max(0, width - table.shape[1]))), constant_values=filler)


def read_arrivals(log: EventLog, day: int, items: PipelineItems, back: Longs, lead_time: int) -> Longs:
    """Return what arrives by item and period, from some periods ago on.

    The place of this period is the largest of ``back``.
    """
    before = int(back.max(initial=0))
    table = np.zeros((items.numbers.size, before + max(1, items.longest)), np.int64)
    if items.longest > 0 and items.numbers.size:
        first = int((day - items.steps * (back + items.longest)).min())
        arrivals = _Arrivals(table, items, day, before)
        for when, entries in read_days(log, first, day, lead_time):
            arrivals.add(when, entries)
    return table


class _Arrivals:
    """A table of arrivals by item and period, filled day by day in the order of the calendar."""

    def __init__(self, table: Longs, items: PipelineItems, day: int, before: int) -> None:
        self._table, self._items, self._day, self._before = table, items, day, before

    def add(self, day: int, entries: DayEntries) -> None:
        """Put a day's orders, and what its counts said of coming arrivals, in their places."""
        numbers = self._items.numbers
        units, lead = order_of(entries, numbers)
        lead = np.where(lead == UNKNOWN, self._items.lead_times, lead)
        if day == self._day:  # what is on its way since this morning is decided again
            units = np.where(lead > 0, UNKNOWN, units)
        rows, places = self._where(day, lead, units)
        self._table[rows, places] += units[rows]
        for name in entries.decided.columns:
            if name.startswith("given_"):
                units, after = entries.decided.column(name, numbers), int(name.removeprefix("given_"))
                rows, places = self._where(day, np.full(numbers.size, after), units)
                self._table[rows, places] = units[rows]

    def _where(self, day: int, after: Longs, units: Longs) -> tuple[Longs, Longs]:
        """Return rows and places of units, if they are known, that arrive some periods after a day."""
        places = (day - self._day) // self._items.steps + after + self._before
        rows = np.flatnonzero((units != UNKNOWN) & (places >= 0) & (places < self._table.shape[1]))
        return rows, places[rows]
