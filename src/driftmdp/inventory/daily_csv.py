"""What a shop is told each day, as lines of CSV files or as Python objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import (
    LONGEST_NAME,
    SOLD,
    YEARS,
    Complaints,
    Row,
    count_of,
    csv_text,
    date_of,
    is_name,
    read_rows,
    sku_of,
)
from driftmdp.validation import one_of

LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Count:
    """What stands on the shelf in the morning, after arrivals.

    Attributes
    ----------
    sku, stock
        The item and its units.
    coming
        Units that arrive tomorrow, with a lead time of 2; by default what was ordered the day before.
    lot
        Units in a lot, when the item is new; by default the shop's.
    """

    sku: str
    stock: int
    coming: int | None = None
    lot: int | None = None

    def __post_init__(self) -> None:
        _check_line(self, stock=0, coming=0, lot=1)
        if self.stock is None:
            raise InvalidInputError(f"stock of {self.sku} must be a whole number; got None.")


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
        Units in a lot, when the item is new; by default the shop's.
    """

    sku: str
    day: date
    units: int
    ordered: int | None = None
    stock: int | None = None
    lot: int | None = None

    def __post_init__(self) -> None:
        _check_line(self, units=0, ordered=0, stock=0, lot=1)
        if self.units is None:
            raise InvalidInputError(f"units of {self.sku} must be a whole number; got None.")
        as_day(self.day)


@dataclass(frozen=True)
class Advice:
    """An order for an item: units, in whole lots.

    Attributes
    ----------
    sku, day, stock, coming
        The item, the day, and what the order was made for.
    order
        Units to order; 0 for none.
    lot
        Units in a lot.
    """

    sku: str
    day: date
    stock: int
    coming: int
    order: int
    lot: int


def as_day(day: Any) -> date:
    """Return a day, or say that it is none."""
    if not isinstance(day, date) or isinstance(day, datetime) or day.year not in YEARS:
        raise InvalidInputError(
            f"day must be a datetime.date from {YEARS[0]} to {YEARS[-1]}, without a time; got {day!r}."
        )
    return day


def _check_line(line: Count | Sold, **numbers: int) -> None:
    """Refuse what no line of a file could say."""
    if not is_name(line.sku):
        raise InvalidInputError(
            f"sku must be a name of 1 to {LONGEST_NAME} characters without spaces around; got {line.sku!r}."
        )
    for name, least in numbers.items():
        value = getattr(line, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            if not isinstance(value, np.integer):
                raise InvalidInputError(f"{name} of {line.sku} must be a whole number; got {value!r}.")
            object.__setattr__(line, name, int(value))
            value = int(value)
        if value is not None and not least <= value <= LARGEST:
            raise InvalidInputError(f"{name} of {line.sku} must be {least} to {LARGEST}; got {value}.")


def read_counts(
    path: str | os.PathLike[str], day: date | None = None, columns: Mapping[str, str] | None = None
) -> tuple[date | None, list[Count]]:
    r"""Return the day, if the file names one, and the counts of a file with columns sku and stock.

    A column ``date`` must say the same day on every line; ``coming`` and ``lot`` may be there too.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "stock.csv")
    ...     _ = file.write_text("sku;stock\nA;3\n")
    ...     read_counts(file)
    (None, [Count(sku='A', stock=3, coming=None, lot=None)])
    """
    bad, counts, lines = Complaints(str(path)), [], dict[str, int]()
    for row in read_rows(Path(path), ("sku", "stock"), ("date", "coming", "lot"), columns):
        sku, stock = sku_of(row, bad), _units(row, "stock", bad)
        coming, lot = _maybe(row, "coming", bad), _maybe(row, "lot", bad)
        if row.cells.get("date"):
            there = date_of(row, bad)
            if day is not None and there is not None and there != day:
                bad.add(row.line, f"date must be {day} on every line; got {there}")
            day = day or there
        if sku is not None and stock is not None:
            if sku in lines:
                bad.add(row.line, f"{sku} stands on line {lines[sku]} already")
            lines[sku] = row.line
            counts.append(Count(sku, stock, coming, lot))
    bad.refuse("Mend these lines, then try again; nothing was done.")
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
    r"""Return the sales of a file with columns date, sku and units; date may be missing if ``day`` is given.

    ``ordered``, ``stock`` and ``lot`` may be there too; an empty cell is no number. ``negatives`` and
    ``duplicates`` are as for ``read_sales``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sales.csv")
    ...     _ = file.write_text("date,sku,units\n2026-11-16,A,3\n")
    ...     read_sold(file)
    [Sold(sku='A', day=datetime.date(2026, 11, 16), units=3, ordered=None, stock=None, lot=None)]
    """
    one_of(negatives, "negatives", ("refuse", "zero", "skip"))
    one_of(duplicates, "duplicates", ("refuse", "sum", "last"))
    wanted, more = (SOLD, ()) if day is None else (("sku", "units"), ("date",))
    hint = " Lines of one day may do without a date: give it with --date." if day is None else ""
    rows = read_rows(Path(path), wanted, (*more, "ordered", "stock", "lot"), columns, hint)
    bad, twice = Complaints(str(path)), Complaints(str(path))
    sold: dict[tuple[str, date], tuple[int, Sold]] = {}
    for row in rows:
        line = _sold(row, day, bad, negatives)
        if line is None:
            continue
        place = line.sku, line.day
        if place in sold:
            twice.add(row.line, f"{line.sku} on {line.day} stands on line {sold[place][0]} already")
            if duplicates == "sum":
                total = line.units + sold[place][1].units
                if total > LARGEST:
                    bad.add(row.line, f"units must be at most {LARGEST} together; got {total}")
                line = replace(line, units=min(total, LARGEST))
        sold[place] = row.line, line
    returns = any("negative" in what for _, what in bad.found)
    otherwise = ", or use --negatives zero or skip for returns" if returns else ""
    bad.refuse(f"Mend these lines{otherwise}; nothing was done.")
    if duplicates == "refuse":
        twice.refuse("Use --duplicates sum or --duplicates last; nothing was done.")
    if not sold:
        raise InvalidInputError(f"{path} must have lines below its header; it has none that can be used.")
    return [line for _, line in sold.values()]


def _sold(row: Row, day: date | None, bad: Complaints, negatives: str) -> Sold | None:
    """Return what a line says, or None if it says nothing that can be used."""
    sku = sku_of(row, bad)
    units = _units(row, "units", bad, may_be_negative=negatives != "refuse")
    there = date_of(row, bad) if row.cells.get("date") or day is None else day
    if day is not None and there is not None and there != day:
        bad.add(row.line, f"date must be {day}, as you said; got {there}")
    more = {name: _maybe(row, name, bad) for name in ("ordered", "stock", "lot")}
    if sku is None or units is None or there is None or (units < 0 and negatives == "skip"):
        return None
    return Sold(sku, there, max(0, units), **more)


def orders_csv(advice: list[Advice]) -> str:
    """Return advice as CSV.

    Examples
    --------
    >>> print(orders_csv([Advice("=A", date(2026, 11, 16), stock=2, coming=0, order=12, lot=6)]), end="")
    date,sku,order,stock,coming,lots
    2026-11-16,'=A,12,2,0,2
    """
    header = ("date", "sku", "order", "stock", "coming", "lots")
    rows = ((a.day.isoformat(), a.sku, a.order, a.stock, a.coming, a.order // a.lot) for a in advice)
    return csv_text(header, rows)


def _units(row: Row, column: str, bad: Complaints, may_be_negative: bool = False) -> int | None:
    number = count_of(row, column, bad, may_be_negative)
    if number is not None and number > LARGEST:
        bad.add(row.line, f"{column} must be at most {LARGEST}; got {number}")
        return None
    return number


def _maybe(row: Row, column: str, bad: Complaints) -> int | None:
    if not row.cells.get(column):
        return None
    number = _units(row, column, bad)
    if column == "lot" and number == 0:
        bad.add(row.line, "lot must be at least 1; got 0")
        return None
    return number
