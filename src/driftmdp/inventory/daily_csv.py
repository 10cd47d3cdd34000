"""A shop's daily input and output: counts and sales as Python objects, and all tables as CSV."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import LONGEST_NAME, SALES_COLUMNS, YEARS, LineErrors, csv_text, is_name, read_rows
from driftmdp.inventory.item_states import LARGEST_NUMBER, SOLD
from driftmdp.inventory.results import Advice, Event
from driftmdp.inventory.sales_history import SalesFile


@dataclass(frozen=True)
class Count:
    """What stands on the shelf in the morning, after arrivals.

    Attributes
    ----------
    sku, stock
        The item and its units.
    coming
        Units that arrive tomorrow, with a lead time of 2. By default what was ordered the day before.
    lot
        Units in a lot, when the item is new. By default the shop's.
    """

    sku: str
    stock: int
    coming: int | None = None
    lot: int | None = None

    def __post_init__(self) -> None:
        _check_line(self, "stock", stock=0, coming=0, lot=1)


@dataclass(frozen=True)
class Sold:
    """What was sold on a day.

    Attributes
    ----------
    sku, day, units
        The item, the day, and the units sold.
    ordered
        What was really ordered that day, if not what was advised.
    stock
        What stood on the shelf in the morning, if no advice was asked for that day.
    lot
        Units in a lot, when the item is new. By default the shop's.
    """

    sku: str
    day: date
    units: int
    ordered: int | None = None
    stock: int | None = None
    lot: int | None = None

    def __post_init__(self) -> None:
        _check_line(self, "units", units=0, ordered=0, stock=0, lot=1)
        as_day(self.day)


def as_day(day: Any) -> date:
    """Validate that ``day`` is a date without a time."""
    if not isinstance(day, date) or isinstance(day, datetime) or day.year not in YEARS:
        rule = f"day must be a datetime.date from {YEARS[0]} to {YEARS[-1]}, without a time"
        raise InvalidInputError(f"{rule}; got {day!r}.")
    return day


def _check_line(line: Count | Sold, required: str, **minima: int) -> None:
    """Refuse a name or a number that a file could not have either. ``minima`` are those of the numbers."""
    if not is_name(line.sku):
        rule = f"sku must be a name of 1 to {LONGEST_NAME} characters without spaces around"
        raise InvalidInputError(f"{rule}; got {line.sku!r}.")
    for name, least in minima.items():
        value = getattr(line, name)
        if value is None and name != required:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InvalidInputError(f"{name} of {line.sku} must be a whole number; got {value!r}.")
        object.__setattr__(line, name, int(value))
        if not least <= value <= LARGEST_NUMBER:
            raise InvalidInputError(f"{name} of {line.sku} must be {least} to {LARGEST_NUMBER}; got {value}.")


def read_counts(
    path: str | os.PathLike[str], day: date | None = None, columns: Mapping[str, str] | None = None
) -> tuple[date | None, list[Count]]:
    r"""Return the day, if the file names one, and the counts of a file with columns sku and stock.

    A column ``date`` must say the same day on every line. ``coming`` and ``lot`` may be there too.

    Examples
    --------
    >>> from driftmdp.inventory import read_counts
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "stock.csv")
    ...     _ = file.write_text("sku;stock\nA;3\n")
    ...     read_counts(file)
    (None, [Count(sku='A', stock=3, coming=None, lot=None)])
    """
    errors, counts, lines = LineErrors(str(path)), [], dict[str, int]()
    for row in read_rows(Path(path), ("sku", "stock"), ("date", "coming", "lot"), columns):
        sku, stock = errors.sku_of(row), errors.count_of(row, "stock", maximum=LARGEST_NUMBER)
        others = errors.optional_counts(row, LARGEST_NUMBER, coming=0, lot=1)
        if row.cells.get("date"):
            there = errors.date_of(row)
            if day is not None and there is not None and there != day:
                errors.add(row.line, f"date must be {day} on every line; got {there}")
            day = day or there
        if sku is not None and stock is not None:
            if sku in lines:
                errors.add(row.line, f"{sku} stands on line {lines[sku]} already")
            lines[sku] = row.line
            counts.append(Count(sku, stock, **others))
    errors.raise_if_any("Correct these lines, then try again; nothing was done.")
    if not counts:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    return day, counts


def read_sold(
    path: str | os.PathLike[str],
    day: date | None = None,
    columns: Mapping[str, str] | None = None,
    negatives: str = "refuse",
    duplicates: str = "refuse",
) -> list[Sold]:
    r"""Return the sales of a file with columns date, sku and units. The date may be missing if ``day`` is given.

    ``ordered``, ``stock`` and ``lot`` may be there too, with empty cells. ``negatives`` and ``duplicates`` are as
    for ``read_sales``.

    Examples
    --------
    >>> from driftmdp.inventory import read_sold
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sales.csv")
    ...     _ = file.write_text("date,sku,units\n2026-11-16,A,3\n")
    ...     read_sold(file)
    [Sold(sku='A', day=datetime.date(2026, 11, 16), units=3, ordered=None, stock=None, lot=None)]
    """
    file = SalesFile(path, negatives, duplicates)
    least = {"ordered": 0, "stock": 0, "lot": 1}
    wanted, optional = (SALES_COLUMNS, (*least,)) if day is None else (("sku", "units"), ("date", *least))
    hint = " Lines of one day may do without a date: give it with --date." if day is None else ""
    for row in read_rows(Path(path), wanted, optional, columns, hint):
        file.add(row, day, LARGEST_NUMBER, **least)
    file.check(together=True)
    return [Sold(sku, when, line.units, **line.others) for (sku, when), line in file.lines.items()]


def orders_csv(advice: Iterable[Advice]) -> str:
    """Return advice as CSV.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Advice, orders_csv
    >>> print(orders_csv([Advice("=A", date(2026, 11, 16), stock=2, coming=0, order=12, lot=6)]), end="")
    date,sku,order,stock,coming,lots
    2026-11-16,'=A,12,2,0,2
    """
    rows = ((a.day.isoformat(), a.sku, a.order, a.stock, a.coming, a.order // a.lot) for a in advice)
    return csv_text(("date", "sku", "order", "stock", "coming", "lots"), rows)


def events_csv(events: Iterable[Event]) -> str:
    """Return recorded events as CSV.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Event, events_csv
    >>> event = Event(1, "2026-11-16T07:00:00+00:00", "sold", date(2026, 11, 16), "A", 9, None, None, None, 0, 4)
    >>> print(events_csv([event]), end="")
    number,written_at,kind,date,sku,stock,coming,expected,advice,ordered,sales
    1,2026-11-16T07:00:00+00:00,sold,2026-11-16,A,9,,,,0,4
    """
    names = [field.name for field in fields(Event)]
    return csv_text(["date" if name == "day" else name for name in names], map(attrgetter(*names), events))


def history_csv(events: Iterable[Event], lots: Mapping[str, int]) -> str:
    """Return recorded sales as CSV that ``record`` reads: the last entry of each item and day, by day.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Event, history_csv
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
