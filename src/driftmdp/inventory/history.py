"""The records of a shop as events, one per item and batch."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

import numpy as np

from driftmdp.inventory.event_log import EventBatch
from driftmdp.inventory.log_entries import DECIDED, DEMAND, SOLD, UNKNOWN, Columns, costs_of, sold_columns, unpack
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, METHODS, NOTHING
from driftmdp.inventory.results import Event
from driftmdp.inventory.sales_history import Series

NUMBERS = ("stock", "coming", "expected", "advice", "ordered", "sales")
SEEN = {EXACT: "exact", AT_LEAST: "at least", NOTHING: "nothing", DEMAND: "demand"}


def read_events(
    batches: Iterable[EventBatch], skus: Sequence[str], item: int | None, lead_time: int
) -> Iterator[Event]:
    """Yield the advice and sales of an item, or of all, in the order of writing."""
    for batch in batches:
        if batch.kind in (DECIDED, SOLD):
            columns = unpack(batch.kind, batch.content)[1]
            if batch.kind == SOLD:
                columns = sold_columns(columns, lead_time)
            items = columns["item"]
            rows = np.arange(items.size) if item is None else np.flatnonzero(items == item)
            yield from _events(batch, {name: column[rows] for name, column in columns.items()}, skus)


def _events(batch: EventBatch, columns: Columns, skus: Sequence[str]) -> Iterator[Event]:
    n = columns["item"].size
    fields: dict[str, list[Any]] = {name: _known(columns, name) for name in NUMBERS if name in columns}
    if "seen" in columns:
        fields["seen"] = [SEEN[seen] for seen in columns["seen"].tolist()]
    if "method" in columns:
        fields["until"] = [day and date.fromordinal(day) for day in _known(columns, "until")]
        fields["cost"] = costs_of(columns["cost"])
        fields["method"] = [METHODS[method] for method in columns["method"].tolist()]
    about = batch.number, batch.written_at, batch.kind, date.fromisoformat(batch.day)
    names = [skus[number] for number in columns["item"].tolist()]
    for row in range(n):
        yield Event(*about, names[row], **{name: values[row] for name, values in fields.items()})


def as_series(sku: str, events: Iterable[Event]) -> Series:
    """Return the last recorded sales of each day of an item."""
    last = {event.day: event for event in events if event.kind == SOLD}
    sold = [last[day] for day in sorted(last)]
    dates = np.array([event.day for event in sold], "datetime64[D]")
    units = np.array([event.sales for event in sold], np.int64)
    in_stock = np.array([event.seen != SEEN[NOTHING] for event in sold], np.bool_)
    return Series(sku, dates, units, None if in_stock.all() else in_stock)


def _known(columns: Columns, name: str) -> list[int | None]:
    return [None if number == UNKNOWN else number for number in columns[name].tolist()]
