"""What a shop answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from driftmdp.agents.order_explanation import Outlook
from driftmdp.display import brief
from driftmdp.inventory.batch_codec import SOLD
from driftmdp.inventory.csv_io import csv_text
from driftmdp.inventory.daily_csv import Advice


@dataclass(frozen=True)
class Decision:
    """What to order on a day.

    Attributes
    ----------
    day, advice
        The day, and an order for each item asked about.
    repeated
        How many of them had been asked about before; their answer is the same.
    remarks
        Counts that differ from what the book expects, and days that are missing: a sentence each.
    """

    day: date
    advice: list[Advice] = field(repr=False)
    repeated: int = 0
    remarks: tuple[str, ...] = ()

    __repr__ = brief


@dataclass(frozen=True)
class Receipt:
    """What became of sales that were told.

    Attributes
    ----------
    recorded, repeated, corrected
        How many were new, how many were known already, how many replaced what was known.
    remarks
        What was odd, a sentence each.
    """

    recorded: int
    repeated: int
    corrected: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """One line of the book; None where it says nothing.

    Attributes
    ----------
    number, written_at, kind, day, sku
        The batch, when it was written, ``decided`` or ``sold``, the day that it is about, and the item.
    stock, coming
        Counted in the morning; and on its way.
    expected
        What should have been there by the book; a count that differs is taken for the truth.
    advice, ordered, sales
        In units.
    """

    number: int
    written_at: str
    kind: str
    day: date
    sku: str
    stock: int | None
    coming: int | None
    expected: int | None
    advice: int | None
    ordered: int | None
    sales: int | None


@dataclass(frozen=True)
class Reason:
    """Why an item's order is what it is.

    Attributes
    ----------
    sku, lot
        The item, and the units in a lot.
    day, stock, coming
        The morning that it is about, in units: the last one that was counted; or the one after it, with the stock
        that the book expects, if that day's sales are recorded; None if it cannot say, and the outlook is for an
        empty shelf.
    outlook
        What is believed of the demand, and the order that follows from it, in lots.
    advice
        The last advice that was given, if any.
    """

    sku: str
    lot: int
    day: date
    stock: int | None
    coming: int
    outlook: Outlook
    advice: Event | None

    __repr__ = brief


def book_csv(events: Iterable[Event]) -> str:
    """Return lines of a book as CSV.

    Examples
    --------
    >>> event = Event(1, "2026-11-16T07:00:00+00:00", "sold", date(2026, 11, 16), "A", 9, None, None, None, 0, 4)
    >>> print(book_csv([event]), end="")
    number,written_at,kind,date,sku,stock,coming,expected,advice,ordered,sales
    1,2026-11-16T07:00:00+00:00,sold,2026-11-16,A,9,,,,0,4
    """
    numbers = ("stock", "coming", "expected", "advice", "ordered", "sales")
    rows = (
        (e.number, e.written_at, e.kind, e.day.isoformat(), e.sku, *(getattr(e, name) for name in numbers))
        for e in events
    )
    return csv_text(("number", "written_at", "kind", "date", "sku", *numbers), rows)


def history_csv(events: Iterable[Event], lots: Mapping[str, int]) -> str:
    """Return the sales of a book as CSV that ``record`` reads: each day's last word, by item.

    Examples
    --------
    >>> event = Event(1, "2026-11-16T07:00:00+00:00", "sold", date(2026, 11, 16), "A", 9, None, None, None, 0, 4)
    >>> print(history_csv([event], {"A": 6}), end="")
    date,sku,units,ordered,stock,lot
    2026-11-16,A,4,0,9,6
    """
    last = {(event.day, event.sku): event for event in events if event.kind == SOLD}
    rows = (
        (day.isoformat(), sku, event.sales, event.ordered, event.stock, lots[sku])
        for (day, sku), event in sorted(last.items(), key=lambda item: item[0])
    )
    return csv_text(("date", "sku", "units", "ordered", "stock", "lot"), rows)
