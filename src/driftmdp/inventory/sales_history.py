"""Sales by day and item, read from a file: gaps, duplicates and negative numbers are reported by line. And lots.

Quantities are counted in lots where an item sells in large numbers: a shelf for 20 lots of 12 units holds 240.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import brief, counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import MAX_FAULTS_SHOWN, SALES_COLUMNS, LineErrors, Row, read_rows
from driftmdp.validation import as_integer, one_of

WARM_UP = 60  # days before scoring starts; lots and first fits come from them
READ_AS = {"zero": "taken as no sales", "skip": "left out", "sum": "added up", "last": "of which the last counts"}
FULL_SHARE = 0.6  # of the capacity may be filled by the 95th percentile of these days


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
        return ((self.dates.astype("datetime64[D]").astype(np.int64) + 3) % 7).astype(np.int32)


@dataclass(frozen=True)
class Sales:
    """A file of sales.

    Attributes
    ----------
    series
        One for each item, in the order of the file.
    remarks
        Gaps, negative numbers and duplicates, and how they were read: a sentence each.
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
        With columns date, sku and units. Others are ignored.
    columns
        What these are called in the file, such as ``{"units": "qty"}``.
    negatives
        Returns, mostly: ``refuse`` the file, take them for ``zero``, or ``skip`` the line.
    duplicates
        Two lines for one item and day: ``refuse`` the file, ``sum`` them, or take the ``last``.
    gaps
        Days between an item's first and last that other items have: ``zero`` sales, ``skip`` the day, or
        ``refuse`` the file. Days that no item has are closed days, not gaps.

    Raises
    ------
    InvalidInputError
        With what is wrong on which lines.

    Examples
    --------
    >>> from driftmdp.inventory import read_sales
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sales.csv")
    ...     _ = file.write_text("date,sku,units\n2026-01-01,A,3\n2026-01-02,B,1\n2026-01-03,A,2\n")
    ...     sales = read_sales(file)
    >>> sales.series[0].units.tolist(), sales.remarks
    ([3, 0, 2], ('1 gap, taken as no sales: A on 2026-01-02 (before line 4).',))
    """
    one_of(gaps, "gaps", ("refuse", "zero", "skip"))
    file = SalesFile(path, negatives, duplicates)
    for row in read_rows(Path(path), SALES_COLUMNS, names=columns):
        file.add(row)
    file.check()
    items: dict[str, dict[date, SalesLine]] = {}
    for (sku, day), line in file.lines.items():
        items.setdefault(sku, {})[day] = line
    calendar = np.array(sorted({day for _, day in file.lines}), dtype="datetime64[D]")
    missing: list[str] = []
    series = []
    for sku, lines in items.items():
        days = np.array(sorted(lines), dtype="datetime64[D]")
        open_days = calendar[(calendar >= days[0]) & (calendar <= days[-1])]
        for day in np.setdiff1d(open_days, days, assume_unique=True) if days.size < open_days.size else ():
            after = lines[days[np.searchsorted(days, day)].item()].number
            missing.append(f"{sku} on {day} (before line {after})")
        days = open_days if gaps == "zero" else days
        units = [lines[day].units if day in lines else 0 for day in days.tolist()]
        series.append(Series(sku, days, np.array(units, np.int64)))
    if missing and gaps == "refuse":
        faults = _faults(missing, "gap")
        raise InvalidInputError(
            f"{path} must have every day of every item; {faults} Use --gaps zero or --gaps skip."
        )
    kinds = (
        (file.negatives.texts, "negative number", negatives),
        (file.duplicates.texts, "duplicate line", duplicates),
        (missing, "gap", gaps),
    )
    remarks = (_faults(texts, name, f", {READ_AS[choice]}") for texts, name, choice in kinds if texts)
    return Sales(tuple(series), tuple(remarks))


class SalesLine(NamedTuple):
    """Units sold, the number of the last line that has them, and that line's other columns."""

    units: int
    number: int
    others: Mapping[str, int | None]


class SalesFile:
    """The lines of a file of sales, by item and day. ``negatives`` and ``duplicates`` are as for ``read_sales``."""

    def __init__(self, path: str | os.PathLike[str], negatives: str, duplicates: str) -> None:
        self._on_negative = one_of(negatives, "negatives", ("refuse", "zero", "skip"))
        self._on_duplicate = one_of(duplicates, "duplicates", ("refuse", "sum", "last"))
        self.lines: dict[tuple[str, date], SalesLine] = {}
        self.errors, self.negatives, self.duplicates = (LineErrors(str(path)) for _ in range(3))

    def add(self, row: Row, day: date | None = None, largest: int | None = None, **others: int) -> None:
        """Add a row. ``day`` is that of rows without a date, and ``others`` has the minima of optional columns."""
        sku = self.errors.sku_of(row)
        found = self.errors.date_of(row) if row.cells.get("date") or day is None else day
        if day is not None and found is not None and found != day:
            self.errors.add(row.line, f"date must be {day}, the given day; got {found}")
        units = self.errors.count_of(row, "units", None, largest)
        more = self.errors.optional_counts(row, largest, **others)
        if sku is None or found is None or units is None:
            return
        if units < 0:
            self.negatives.add(row.line, f"{sku} on {found}: units must not be negative; got {units}")
            if self._on_negative == "skip":
                return
            units = 0
        before = self.lines.get((sku, found))
        if before is not None:
            self.duplicates.add(row.line, f"{sku} on {found} stands on line {before.number} already")
            units += before.units if self._on_duplicate == "sum" else 0
            if largest is not None and units > largest:
                self.errors.add(row.line, f"units must be at most {largest} together; got {units}")
        self.lines[sku, found] = SalesLine(units, row.line, more)

    def check(self, together: bool = False) -> None:
        """Raise an error with the lines that cannot be used, if any; ``together`` names negative ones too."""
        how = "then try again"
        if together and self._on_negative == "refuse" and self.errors.found and self.negatives.found:
            self.errors.found = sorted(self.errors.found + self.negatives.found)
            how = "or use --negatives zero or skip for returns"
        self.errors.raise_if_any(f"Correct these lines, {how}; nothing was done.")
        if self._on_negative == "refuse":
            self.negatives.raise_if_any("Use --negatives zero or skip if these are returns; nothing was done.")
        if self._on_duplicate == "refuse":
            self.duplicates.raise_if_any("Use --duplicates sum or --duplicates last; nothing was done.")
        if not self.lines:
            rule = f"{self.errors.where} must have lines below its header"
            raise InvalidInputError(f"{rule}; it has none that can be used.")


def _faults(texts: list[str], name: str, read_as: str = "") -> str:
    return f"{counted(len(texts), name)}{read_as}: {listed(texts, MAX_FAULTS_SHOWN)}."


def lot_size(units: ArrayLike, capacity: int) -> int:
    """Return the smallest lot for which the 95th percentile of the first 60 days fills at most 60% of the shelf.

    Examples
    --------
    >>> from driftmdp.inventory import lot_size
    >>> lot_size([100] * 60, capacity=20)
    9
    """
    first = np.asarray(units)[:WARM_UP]
    capacity = as_integer(capacity, "capacity", minimum=1)
    if first.size == 0:
        raise InvalidInputError("units must have at least one day, to choose a lot size from.")
    return max(1, int(np.ceil(np.percentile(first, 95) / (FULL_SHARE * capacity) - 1e-9)))


def in_lots(units: ArrayLike, lot: int) -> NDArray[np.int32]:
    """Return quantities in whole lots, rounded to the nearest. Half a lot counts as one.

    Examples
    --------
    >>> from driftmdp.inventory import in_lots
    >>> in_lots([5, 6, 12, 30], 12).tolist()
    [0, 1, 1, 3]
    """
    lots = (2 * np.asarray(units, np.int64) + lot) // (2 * lot)
    return np.minimum(lots, np.iinfo(np.int32).max).astype(np.int32)
