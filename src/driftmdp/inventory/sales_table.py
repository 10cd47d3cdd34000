"""Sales as columns of numbers, from Python or from a file, where returns and duplicates are reported by line."""

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import cells
from driftmdp.inventory.cells import LARGEST_NUMBER
from driftmdp.inventory.csv_io import SALES_COLUMNS, CsvTable, LineErrors, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.inventory.lines import Sold
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.kernels.arrays import Longs
from driftmdp.validation import one_of

OPTIONAL: dict[
    str, Callable[[str], int]
] = {  # columns of a file of sales that may be missing, and how their cells are read
    "in_stock": cells.flag,
    "ordered": cells.whole_number,
    "stock": cells.whole_number,
    "pack": functools.partial(cells.whole_number, minimum=1),
    "demand": cells.flag,
}


@dataclass(frozen=True, eq=False)
class SalesTable(Sequence[Sold]):
    """Sales of items on days, as columns. It is also a sequence of ``Sold``. UNKNOWN stands for what is not known.

    Attributes
    ----------
    skus
        The names of the items, in the order in which they came.
    sku
        The place of each line's item in ``skus``.
    day, units, in_stock, ordered, stock, pack, demand
        As in ``Sold``, days as numbers.
    line
        The number of each line in its file, or 0.
    path
        The file, or an empty text.
    remarks
        How the file is written, and which columns were guessed: a sentence each.
    """

    skus: list[str]
    sku: Longs
    day: Longs
    units: Longs
    in_stock: Longs
    ordered: Longs
    stock: Longs
    pack: Longs
    demand: Longs
    line: Longs
    path: str = ""
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.sku.size)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        in_stock = int(self.in_stock[place])
        optional = {name: int(getattr(self, name)[place]) for name in ("ordered", "stock", "pack")}
        return Sold(
            self.skus[self.sku[place]],
            date.fromordinal(int(self.day[place])),
            int(self.units[place]),
            **{name: None if number == UNKNOWN else number for name, number in optional.items()},
            in_stock=None if in_stock == UNKNOWN else bool(in_stock),
            demand=bool(self.demand[place] == 1),
        )

    def __repr__(self) -> str:
        return f"<SalesTable of {len(self)} lines, {len(self.skus)} items>"

    def source(self, place: int) -> str:
        """Return where a line was read, to begin a message with, such as ``sales.csv, line 7``."""
        return f"{self.path}, line {self.line[place]}: " if self.path else ""

    def by_day(self) -> Iterator[tuple[int, Longs]]:
        """Yield each day and the places of its lines, in the order of the days."""
        order = np.argsort(self.day, kind="stable")
        starts = np.flatnonzero(np.diff(self.day[order], prepend=0))
        for places in np.split(order, starts[1:]) if order.size else []:
            yield int(self.day[places[0]]), places

    @classmethod
    def of(cls, lines: Iterable[Sold]) -> "SalesTable":
        """Return lines as a table. Two for an item and day that differ are refused."""
        found: dict[tuple[str, date], Sold] = {}
        for line in lines:
            if found.setdefault((line.sku, line.day), line) != line:
                raise InvalidInputError(f"{line.sku} on {line.day} must be recorded once; got two that differ.")
        skus, places = _numbered([line.sku for line in found.values()])
        numbers: dict[str, Any] = {
            name: _longs([getattr(line, name) for line in found.values()]) for name in ("units", *OPTIONAL)
        }
        days = np.array([line.day.toordinal() for line in found.values()], np.int64)
        numbers["line"] = np.zeros(days.size, np.int64)
        return cls(skus, places, days, **numbers)


def read_sold(
    path: str | os.PathLike[str],
    day: date | None = None,
    columns: Mapping[str, str] | None = None,
    negatives: str = "refuse",
    duplicates: str = "refuse",
    demand: bool = False,
    date_format: str | None = None,
    decimal: str | None = None,
) -> SalesTable:
    r"""Return the sales of a file with columns date, sku and units. The date may be missing if ``day`` is given.

    ``in_stock``, ``ordered``, ``stock``, ``pack`` and ``demand`` may be there too, with empty cells.
    ``negatives``, ``duplicates``, ``date_format`` and ``decimal`` are as for ``read_sales``. With ``demand``
    all units were asked for.

    Examples
    --------
    >>> from driftmdp.inventory import read_sold
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sales.csv")
    ...     _ = file.write_text("date,sku,units\n2026-11-16,A,3\n")
    ...     list(read_sold(file))
    [Sold(sku='A', day=datetime.date(2026, 11, 16), units=3, ordered=None, stock=None, pack=None, in_stock=None,
          demand=False)]
    """
    wanted, optional = (SALES_COLUMNS, (*OPTIONAL,)) if day is None else (("sku", "units"), ("date", *OPTIONAL))
    hint = " Lines of one day may do without a date: give it with --date." if day is None else ""
    table = read_table(
        Path(path), wanted, optional, columns, hint, {"lot": "pack"}, Conventions(date_format, decimal)
    )
    file = SalesFile(table, negatives, duplicates, day, demand)
    file.check(together=True)
    return file.sales


class SalesFile:
    """The sales of a file, and what is unusual about them. Its choices are those of ``read_sales``.

    Attributes
    ----------
    sales
        One line per item and day.
    errors, negatives, duplicates
        What was found, by line.
    """

    def __init__(
        self, table: CsvTable, negatives: str, duplicates: str, day: date | None = None, demand: bool = False
    ) -> None:
        self._on_negative = one_of(negatives, "negatives", ("refuse", "zero", "skip"))
        self._on_duplicate = one_of(duplicates, "duplicates", ("refuse", "sum", "last"))
        is_added_up = table.is_added_up and duplicates == "refuse"
        self._on_duplicate = "sum" if is_added_up else self._on_duplicate
        self.errors, self.negatives, self.duplicates = (LineErrors(str(table.path)) for _ in range(3))
        skus, found = self._read(table, day)
        if demand:
            found["demand"] = np.ones_like(found["demand"])
        usable = (found["sku"] != UNKNOWN) & (found["day"] != UNKNOWN) & (found["is_units"] == 1)
        found = {name: column[usable] for name, column in found.items() if name != "is_units"}
        found = self._without_negatives(skus, found)
        self._check_in_stock(found)
        found = self._without_duplicates(skus, found)
        used, found["sku"] = np.unique(found["sku"], return_inverse=True)
        skus = [skus[place] for place in used.tolist()]  # without those of lines that are not used
        added_up = self._taken_duplicates() if is_added_up else ()
        self.sales = SalesTable(skus, **found, path=str(table.path), remarks=(*table.remarks, *added_up))

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
        if not len(self.sales):
            rule = f"{self.errors.where} must have lines below its header"
            raise InvalidInputError(f"{rule}; it has none that can be used.")

    def _read(self, table: CsvTable, day: date | None) -> tuple[list[str], dict[str, Longs]]:
        """Return names and columns. UNKNOWN stands for cells that are wrong or empty."""
        errors = self.errors
        skus, places = _numbered(errors.read(table, "sku", cells.as_name))
        days = self._read_days(table, day)
        units = errors.read(table, "units", functools.partial(cells.whole_number, minimum=None))
        found = {
            "sku": places,
            "day": days,
            "units": np.array([number or 0 for number in units], np.int64),
            "is_units": np.array([number is not None for number in units], np.int64),
            "line": np.array(table.lines, np.int64),
        }
        for name, parse in OPTIONAL.items():
            column = errors.read_optional(table, name, parse)
            found[name] = np.full(len(units), UNKNOWN) if column is None else _longs(column)
        return skus, found

    def _read_days(self, table: CsvTable, day: date | None) -> Longs:
        if day is None:
            return _longs(self.errors.read(table, "date", cells.as_ordinal))
        there = self.errors.read_optional(table, "date", cells.as_ordinal) or [None] * len(table.lines)
        for line, found in zip(table.lines, there, strict=True):
            if found is not None and found != day.toordinal():
                self.errors.add(line, f"date must be {day}, the given day; got {date.fromordinal(found)}")
        return np.full(len(there), day.toordinal(), np.int64)

    def _without_negatives(self, skus: list[str], found: dict[str, Longs]) -> dict[str, Longs]:
        is_negative = found["units"] < 0
        for place in np.flatnonzero(is_negative).tolist():
            what = f"units must not be negative; got {found['units'][place]}"
            self.negatives.add(int(found["line"][place]), f"{_named(skus, found, place)}: {what}")
        if self._on_negative == "skip":
            return {name: column[~is_negative] for name, column in found.items()}
        return found | {"units": np.maximum(found["units"], 0)}

    def _check_in_stock(self, found: dict[str, Longs]) -> None:
        """Note units that cannot have been sold. They may have been asked for."""
        is_sold = (found["units"] > 0) & (found["demand"] != 1)
        for place in np.flatnonzero((found["in_stock"] == 0) & is_sold).tolist():
            what = f"units must be 0 where in_stock is 0; got {found['units'][place]}"
            self.errors.add(int(found["line"][place]), what)

    def _without_duplicates(self, skus: list[str], found: dict[str, Longs]) -> dict[str, Longs]:
        """Return one line per item and day, where the first of them stands: the last, perhaps with the sum."""
        order = np.lexsort((found["day"], found["sku"]))  # stable: duplicates stay in the order of the file
        is_first = np.diff(found["sku"][order], prepend=-1) != 0
        is_first |= np.diff(found["day"][order], prepend=-1) != 0
        if is_first.all():
            return found
        for place in np.flatnonzero(~is_first).tolist():
            line, before = (int(found["line"][order[at]]) for at in (place, place - 1))
            self.duplicates.add(line, f"{_named(skus, found, order[place])} stands on line {before} already")
        starts = np.flatnonzero(is_first)
        kept = {name: column[order[np.append(starts[1:], order.size) - 1]] for name, column in found.items()}
        if self._on_duplicate == "sum":
            kept["units"] = np.add.reduceat(found["units"][order], starts)
            for name in OPTIONAL:  # what only one of the lines says, and on sale if one of them was
                kept[name] = np.maximum.reduceat(found[name][order], starts)
            for place in np.flatnonzero(kept["units"] > LARGEST_NUMBER).tolist():
                what = f"units must be at most {LARGEST_NUMBER} together; got {kept['units'][place]}"
                self.errors.add(int(kept["line"][place]), what)
        as_in_file = np.argsort(order[starts])
        return {name: column[as_in_file] for name, column in kept.items()}

    def _taken_duplicates(self) -> tuple[str, ...]:
        """Say that lines of orders were added up. They are no duplicates."""
        lines = len(self.duplicates.found)
        self.duplicates.found.clear()
        return (f"{counted(lines, 'more line')} of the same item and day added up.",) if lines else ()


def _named(skus: list[str], found: dict[str, Longs], place: int) -> str:
    return f"{skus[found['sku'][place]]} on {date.fromordinal(int(found['day'][place]))}"


def _numbered(names: Sequence[str | None]) -> tuple[list[str], Longs]:
    """Return the different names, and the place of each of the given ones among them, UNKNOWN for None."""
    numbers: dict[str | None, int] = {None: UNKNOWN}
    for name in names:
        if name not in numbers:
            numbers[name] = len(numbers) - 1
    del numbers[None]
    found = [str(name) for name in numbers]
    numbers[None] = UNKNOWN
    return found, np.array([numbers[name] for name in names], np.int64)


def _longs(values: Sequence[Any]) -> Longs:
    return np.array([UNKNOWN if value is None else int(value) for value in values], np.int64)
