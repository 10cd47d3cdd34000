"""The records of a shop as events, one per item and batch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from driftmdp.inventory.calendar_csv import CLOSED, SpecialDay
from driftmdp.inventory.event_log import EventBatch
from driftmdp.inventory.joined_days import Row, joined_decisions, joined_sales
from driftmdp.inventory.log_entries import (
    ADVICE,
    CALENDAR,
    DECIDED,
    DELIVERIES,
    DEMAND,
    ITEMS,
    MERGED,
    RECEIVED,
    RENAMED,
    SALES,
    SOLD,
    TERMS,
    UNKNOWN,
    WITHDRAWN,
    Columns,
    costs_of,
    sold_columns,
    unpack,
)
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, METHODS, NOTHING
from driftmdp.inventory.results import Event
from driftmdp.inventory.sales_history import Series
from driftmdp.inventory.shelf_log import LEFT
from driftmdp.inventory.terms import DISCONTINUED, Settings, merged
from driftmdp.inventory.terms_timeline import BEGINNING, SHOP, SUPPLIER

DayAndItem = tuple[date, str]
INTO = "into "  # begins the details of a merge
NUMBERS = ("stock", "coming", "expected", "advice", "ordered", "sales")
SHOP_VALUE = "as the shop"  # of a setting that an item does not have any more
TAKEN_BACK = {SALES: "sales", ADVICE: "advice", DELIVERIES: "deliveries"}
SEEN = {EXACT: "exact", AT_LEAST: "at least", NOTHING: "nothing", DEMAND: "demand"}


def read_events(
    batches: Iterable[EventBatch],
    skus: Sequence[str],
    numbers: Mapping[str, int],
    parts: Sequence[int] | None,
    group: str,
    lead_time: int,
) -> Iterator[Event]:
    """Yield what is recorded of an item, which is in a group, or of all, in the order of writing.

    ``skus`` are the names by number, and ``numbers`` has all names that there ever were. ``parts`` are the numbers
    of the item, which comes first, and of those merged into it. Settings have the name that the item had then.
    """
    item = None if parts is None else parts[0]
    own: dict[str, dict[str, Any]] = {}
    for batch in batches:
        header, columns = unpack(batch.kind, batch.content)
        if batch.kind == ITEMS:
            events = _settings_events(batch, header["items"], own)
            yield from (event for event in events if item is None or numbers.get(event.sku) == item)
        elif batch.kind == CALENDAR:
            lines = [SpecialDay(*row) for row in header["days"]]
            gone = [SpecialDay(*row) for row in header.get("gone", ())]
            yield from (
                _calendar_event(batch, line, end)
                for end, some in ((", taken back", gone), ("", lines))
                for line in some
                if item is None or line.is_about(skus[item], group)
            )
        elif batch.kind == TERMS:
            mine = (name for name in header["names"] if item is None or name == SHOP or numbers.get(name) == item)
            yield from (_terms_event(batch, name, header) for name in mine)
        elif batch.kind == RENAMED:
            own[header["new"]] = own.pop(header["old"], {})
            if item is None or numbers[header["new"]] == item:
                yield _name_event(batch, header["new"], f"was {header['old']}")
        elif batch.kind == MERGED:
            if parts is None or columns["item"][0] in parts:
                yield _name_event(batch, skus[columns["item"][0]], INTO + skus[columns["into"][0]])
        else:
            own.update((new[0], {"pack": new[1]}) for new in header["new"] if not isinstance(new, str))
            if batch.kind == SOLD:
                columns = sold_columns(columns, lead_time)
            items = columns["item"]
            rows = np.arange(items.size) if parts is None else np.flatnonzero(np.isin(items, parts))
            yield from _events(batch, {name: column[rows] for name, column in columns.items()}, skus)


def _settings_events(
    batch: EventBatch, rows: Iterable[tuple[str, Settings]], own: dict[str, dict[str, Any]]
) -> Iterator[Event]:
    """Yield what changed in items' own settings, which are kept in ``own``."""
    for sku, given in rows:
        before, after = own.get(sku, {}), merged(own.get(sku, {}), given)
        own[sku] = after
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        details = ", ".join(f"{name} {after.get(name, SHOP_VALUE)}" for name in changed)
        yield Event(batch.number, batch.written_at, batch.kind, None, sku, details=details)


def _terms_event(batch: EventBatch, name: str, header: Mapping[str, Any]) -> Event:
    details = ", ".join(_setting_text(*pair) for pair in header["values"].items())
    day = None if header["from"] == BEGINNING else date.fromordinal(header["from"])
    if name.startswith(SUPPLIER):
        name, details = "", f"supplier {name.removeprefix(SUPPLIER)}: {details}"
    return Event(batch.number, batch.written_at, batch.kind, day, name, details=details)


def _name_event(batch: EventBatch, sku: str, details: str) -> Event:
    return Event(batch.number, batch.written_at, batch.kind, None, sku, details=details)


def _setting_text(name: str, value: Any) -> str:
    if name == DISCONTINUED:
        return "discontinued" if value else "ordered again"
    return f"{name} {SHOP_VALUE if value is None else value}"


def _calendar_event(batch: EventBatch, line: SpecialDay, end: str = "") -> Event:
    about = f" of group {line.group}" if line.group else ""
    factor = "" if line.name == CLOSED else f", factor {'learned' if line.factor is None else f'{line.factor:g}'}"
    day = date.fromordinal(line.day)
    return Event(
        batch.number, batch.written_at, batch.kind, day, line.sku, details=f"{line.name}{about}{factor}{end}"
    )


def _events(batch: EventBatch, columns: Columns, skus: Sequence[str]) -> Iterator[Event]:
    n = columns["item"].size
    fields: dict[str, list[Any]] = {name: _known(columns, name) for name in NUMBERS if name in columns}
    if "seen" in columns:
        fields["seen"] = [SEEN[seen] for seen in columns["seen"].tolist()]
    if "method" in columns:
        fields["until"] = [day and date.fromordinal(day) for day in _known(columns, "until")]
        fields["cost"] = costs_of(columns["cost"])
        fields["method"] = [METHODS[method] for method in columns["method"].tolist()]
    if batch.kind == DECIDED:
        fields["details"] = _ages(columns)
    if batch.kind == WITHDRAWN:
        fields["details"] = [_taken_back(what) for what in columns["what"].tolist()]
    if batch.kind == RECEIVED:
        fields |= _delivery_fields(columns)
    about = batch.number, batch.written_at, batch.kind, date.fromisoformat(batch.day)
    names = [skus[number] for number in columns["item"].tolist()]
    for row in range(n):
        yield Event(*about, names[row], **{name: values[row] for name, values in fields.items()})


def _taken_back(what: int) -> str:
    return " and ".join(name for bit, name in TAKEN_BACK.items() if what & bit)


def _delivery_fields(columns: Columns) -> dict[str, list[Any]]:
    """Return what was told of deliveries. ``expected`` of an event is a stock, so a day stands in its details."""
    days = {
        name: [None if day is None else date.fromordinal(day) for day in _known(columns, name)]
        for name in ("ordered_on", "expected")
    }
    rests = zip(columns["rest"].tolist(), days["expected"], strict=True)
    rest = [
        "the rest is cancelled" if rest else f"the rest is expected {day}" if day else "" for rest, day in rests
    ]
    of = [f"of the order of {day}" if day else "" for day in days["ordered_on"]]
    details = [", ".join(filter(None, pair)) or None for pair in zip(of, rest, strict=True)]
    return {
        "received": columns["units"].tolist(),
        "ordered_on": days["ordered_on"],
        "expected": [None] * len(details),
        "details": details,
    }


def _ages(columns: Columns) -> list[str | None]:
    """Return what advice knew of the ages of goods that spoil, as a text per row."""
    names = [name for name in columns if name.startswith(LEFT)]
    rows = zip(*(columns[name].tolist() for name in names), strict=True) if names else [()] * columns["item"].size
    texts = (
        ", ".join(f"{name} {units}" for name, units in zip(names, row, strict=True) if units > 0) for row in rows
    )
    return [text or None for text in texts]


def last_sales(events: Iterable[Event]) -> list[Event]:
    """Return the last sales of each day and item, by day, without those that were withdrawn."""
    sold, decided = dict[DayAndItem, Event](), dict[DayAndItem, Event]()
    for event in events:
        key = event.day or date.min, event.sku
        if event.kind == SOLD:
            sold[key] = event
        elif event.kind == DECIDED:
            decided[key] = event
        elif event.kind == MERGED:
            _merge_events(sold, decided, event)
        if _takes_back(event, SALES):
            sold.pop(key, None)
        if _takes_back(event, ADVICE):
            decided.pop(key, None)
    return [sold[key] for key in sorted(sold)]


def _merge_events(sold: dict[DayAndItem, Event], decided: dict[DayAndItem, Event], merge: Event) -> None:
    """Let an item's days be another one's."""
    gone, stays = merge.sku, (merge.details or "").removeprefix(INTO)
    for day in {day for day, sku in (*sold, *decided) if sku == gone}:
        keys = (day, gone), (day, stays)
        rows = [[_row(events.get(key)) for key in keys] for events in (sold, decided)]
        events = sold.get(keys[1]) or sold.get(keys[0]), decided.get(keys[1]) or decided.get(keys[0])
        joined = joined_sales(*rows[0], *rows[1]), joined_decisions(*rows[1])
        for found, event, row in zip((sold, decided), events, joined, strict=True):
            found.pop(keys[0], None)
            if event is not None and row is not None:
                known = {name: row[name] for name in NUMBERS if name in row}
                fields: dict[str, Any] = {name: None if u == UNKNOWN else u for name, u in known.items()}
                seen = SEEN[row["seen"]] if "seen" in row else None
                found[keys[1]] = replace(event, **fields, sku=stays, seen=seen)


def _row(event: Event | None) -> Row | None:
    """Return an event's numbers as in the log."""
    if event is None:
        return None
    numbers = {name: getattr(event, name) for name in NUMBERS}
    row = {name: UNKNOWN if number is None else number for name, number in numbers.items()}
    return row if event.seen is None else row | {"seen": next(code for code in SEEN if SEEN[code] == event.seen)}


def last_advice(events: Iterable[Event], sku: str) -> Event | None:
    """Return the advice that an item got last, if it was not withdrawn."""
    found: dict[date | None, Event] = {}  # by day, the last written at the end
    for event in events:
        if event.sku == sku and (event.kind == DECIDED or _takes_back(event, ADVICE)):
            found.pop(event.day, None)
            if event.kind == DECIDED:
                found[event.day] = event
    return next(reversed(found.values()), None)


def _takes_back(event: Event, what: int) -> bool:
    return event.kind == WITHDRAWN and TAKEN_BACK[what] in (event.details or "")


def as_series(sku: str, events: Iterable[Event]) -> Series:
    """Return the last recorded sales of each day of an item."""
    sold = last_sales(events)
    dates = np.array([event.day for event in sold], "datetime64[D]")
    units = np.array([event.sales for event in sold], np.int64)
    in_stock = np.array([event.seen != SEEN[NOTHING] for event in sold], np.bool_)
    return Series(sku, dates, units, None if in_stock.all() else in_stock)


def _known(columns: Columns, name: str) -> list[int | None]:
    return [None if number == UNKNOWN else number for number in columns[name].tolist()]
