"""Sales by day and item: read from a file, with gaps, duplicates and negative numbers told by line; and lots.

Quantities are counted in lots where an item sells in large numbers: a shelf for 20 lots of 12 units holds 240.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import SHOWN, Complaints, Row, count_of, date_of, read_rows, sku_of
from driftmdp.inventory.text import listed
from driftmdp.validation import as_integer, one_of

WARM_UP = 60  # days before scoring starts; lots and first fits come from them
FULL = 0.6  # of the capacity is what the 95th percentile of these days may fill


@dataclass(frozen=True, eq=False)
class Series:
    """What was sold, or asked for, of one item.

    Attributes
    ----------
    sku
        Its name.
    dates
        Days, increasing, as datetime64[D].
    units
        On each of them.
    """

    sku: str
    dates: NDArray[np.datetime64]
    units: NDArray[np.int64]

    __repr__ = brief

    @property
    def weekdays(self) -> NDArray[np.int32]:
        """0 for Monday to 6 for Sunday, shape (T,)."""
        return weekdays_of(self.dates)


def weekdays_of(dates: NDArray[np.datetime64]) -> NDArray[np.int32]:
    """Return 0 for Monday to 6 for Sunday."""
    return ((dates.astype("datetime64[D]").astype(np.int64) + 3) % 7).astype(np.int32)


@dataclass(frozen=True)
class Sales:
    """A file of sales.

    Attributes
    ----------
    series
        One for each item, in the order of the file.
    remarks
        What was found and how it was taken, a sentence each.
    """

    series: tuple[Series, ...]
    remarks: tuple[str, ...] = field(default=(), repr=False)

    __repr__ = brief


def read_sales(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    negatives: str = "refuse",
    duplicates: str = "refuse",
    gaps: str = "zero",
) -> Sales:
    r"""Read sales by day and item from a CSV file.

    Parameters
    ----------
    path
        With columns date, sku and units; others are ignored.
    columns
        What these are called in the file, such as ``{"units": "qty"}``.
    negatives
        Returns, mostly: ``refuse`` the file, take them for ``zero``, or ``skip`` the line.
    duplicates
        Two lines for one item and day: ``refuse`` the file, ``sum`` them, or take the ``last``.
    gaps
        Days between an item's first and last that other items have: ``zero`` sales, ``skip`` the day, or
        ``refuse`` the file. Days that no item has are closed days and no gaps.

    Raises
    ------
    InvalidInputError
        Which says what is wrong on which lines.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sales.csv")
    ...     _ = file.write_text("date,sku,units\n2026-01-01,A,3\n2026-01-02,B,1\n2026-01-03,A,2\n")
    ...     sales = read_sales(file)
    >>> sales.series[0].units.tolist(), sales.remarks
    ([3, 0, 2], ('1 gap, taken as no sales: A on 2026-01-02 (before line 4).',))
    """
    one_of(negatives, "negatives", ("refuse", "zero", "skip"))
    one_of(duplicates, "duplicates", ("refuse", "sum", "last"))
    one_of(gaps, "gaps", ("refuse", "zero", "skip"))
    reader = _Reader(Path(path), negatives, duplicates)
    for row in read_rows(Path(path), ("date", "sku", "units"), names=columns):
        reader.take(row)
    reader.refuse()
    days = sorted({day for item in reader.items.values() for day in item})
    if not days:
        raise InvalidInputError(f"{path} must have lines below its header; it has none that can be used.")
    calendar = np.array(days, dtype="datetime64[D]")
    missing: list[str] = []
    series = tuple(_series(sku, item, calendar, gaps, missing) for sku, item in reader.items.items())
    taken = {"zero": "taken as no sales", "skip": "left out", "refuse": ""}[gaps]
    if missing and gaps == "refuse":
        raise InvalidInputError(
            f"{path} must have every day of every item; {_listed(missing, 'gap')}. Use --gaps zero or --gaps skip."
        )
    remarks = [*reader.remarks(), *([_told(missing, "gap", taken)] if missing else [])]
    return Sales(series, tuple(remarks))


class _Reader:
    """Lines, sorted by item and day: ``items[sku][day]`` is (units, line)."""

    def __init__(self, path: Path, negatives: str, duplicates: str) -> None:
        self.path, self.on_negative, self.on_duplicate = path, negatives, duplicates
        self.items: dict[str, dict[date, tuple[int, int]]] = {}
        self.bad = Complaints(str(path))
        self.negatives, self.duplicates = Complaints(str(path)), Complaints(str(path))

    def take(self, row: Row) -> None:
        sku, day = sku_of(row, self.bad), date_of(row, self.bad)
        units = count_of(row, "units", self.bad, may_be_negative=True)
        if sku is None or day is None or units is None:
            return
        if units < 0:
            self.negatives.add(row.line, f"{sku} on {day}: units must not be negative; got {units}")
            if self.on_negative == "skip":
                return
            units = 0
        item = self.items.setdefault(sku, {})
        if day in item:
            self.duplicates.add(row.line, f"{sku} on {day} stands on line {item[day][1]} already")
            units += item[day][0] if self.on_duplicate == "sum" else 0
        item[day] = units, row.line

    def refuse(self) -> None:
        self.bad.refuse("Mend these lines, then try again; nothing was done.")
        if self.on_negative == "refuse":
            self.negatives.refuse("Use --negatives zero or --negatives skip if these are returns.")
        if self.on_duplicate == "refuse":
            self.duplicates.refuse("Use --duplicates sum or --duplicates last.")

    def remarks(self) -> list[str]:
        zero = {"zero": "taken as no sales", "skip": "left out"}.get(self.on_negative, "")
        more = {"sum": "added up", "last": "of which the last counts"}.get(self.on_duplicate, "")
        told = [(self.negatives, "negative number", zero), (self.duplicates, "duplicate line", more)]
        return [
            _told([f"line {line}: {what}" for line, what in complaints.found], name, taken)
            for complaints, name, taken in told
            if complaints.found
        ]


def _series(
    sku: str, item: dict[date, tuple[int, int]], calendar: NDArray[np.datetime64], gaps: str, missing: list[str]
) -> Series:
    have = np.array(sorted(item), dtype="datetime64[D]")
    open_days = calendar[(calendar >= have[0]) & (calendar <= have[-1])]
    if have.size < open_days.size:
        absent = np.setdiff1d(open_days, have, assume_unique=True)
        for day in absent:
            after = item[have[np.searchsorted(have, day)].item()][1]
            missing.append(f"{sku} on {day} (before line {after})")
    days = open_days if gaps == "zero" else have
    units = np.array([item.get(day, (0, 0))[0] for day in days.tolist()], np.int64)
    return Series(sku, days, units)


def _told(found: list[str], name: str, taken: str) -> str:
    return f"{_listed(found, name, taken)}."


def _listed(found: list[str], name: str, taken: str = "") -> str:
    count = f"1 {name}" if len(found) == 1 else f"{len(found)} {name}s"
    return f"{count}{', ' if taken else ''}{taken}: {listed(found, SHOWN)}"


def lot_size(units: ArrayLike, capacity: int) -> int:
    """Return the smallest lot for which the 95th percentile of the first 60 days fills at most 60% of the shelf.

    Examples
    --------
    >>> lot_size([100] * 60, capacity=20)
    9
    """
    first = np.asarray(units)[:WARM_UP]
    capacity = as_integer(capacity, "capacity", minimum=1)
    if first.size == 0:
        raise InvalidInputError("units must have at least one day, to choose a lot size from.")
    return max(1, int(np.ceil(np.percentile(first, 95) / (FULL * capacity) - 1e-9)))


def in_lots(units: ArrayLike, lot: int) -> NDArray[np.int32]:
    """Return quantities in whole lots, rounded to the nearest; half a lot counts as one.

    Examples
    --------
    >>> in_lots([5, 6, 12, 30], 12).tolist()
    [0, 1, 1, 3]
    """
    lots = (2 * np.asarray(units, np.int64) + lot) // (2 * lot)
    return np.minimum(lots, np.iinfo(np.int32).max).astype(np.int32)
