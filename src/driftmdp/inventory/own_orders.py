"""``own.csv``: what a shop really ordered, or the stock that it really held."""

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import brief, counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import cells
from driftmdp.inventory.csv_io import MAX_FAULTS_SHOWN, LineErrors, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.sales_history import READ_AS
from driftmdp.kernels.arrays import Longs
from driftmdp.validation import one_of

Join = Callable[[int, int], int]
Quantities = tuple[int | None, ...]
QUANTITIES = "ordered", "stock"
CHOICES: Mapping[str, Join | None] = {"refuse": None, "sum": operator.add, "last": lambda _, here: here}


@dataclass(frozen=True, eq=False)
class OwnSeries:
    """What was really ordered of one item, or its stock, or both.

    Attributes
    ----------
    sku
        The item.
    dates
        Days, increasing, as datetime64[D]. Of a week, its Monday.
    ordered
        Units ordered on each of them. None means that orders are not known. Days without a line have none.
    stock
        Units on the shelf in the morning. -1 where nobody counted. None means never.
    """

    sku: str
    dates: NDArray[np.datetime64]
    ordered: Longs | None = None
    stock: Longs | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.ordered is None and self.stock is None:
            raise InvalidInputError(f"{self.sku} must have ordered or stock; it has neither.")
        if not self.dates.size or (np.diff(self.dates.astype("datetime64[D]")).astype(np.int64) <= 0).any():
            raise InvalidInputError(f"dates of {self.sku} must be one or more days, each after the one before.")
        for name, least in (("ordered", 0), ("stock", UNKNOWN)):
            values = getattr(self, name)
            if values is not None and (values.shape != self.dates.shape or (values < least).any()):
                rule = f"{name} of {self.sku} must have a number of at least {least} for each of its dates"
                raise InvalidInputError(f"{rule}; got {values!r}.")


@dataclass(frozen=True)
class OwnOrders:
    """What a shop really did.

    Attributes
    ----------
    series
        One for each item.
    remarks
        How duplicate lines were read, a sentence.
    source
        The file, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory import OwnOrders, OwnSeries
    >>> days = np.array(["2026-01-05", "2026-01-12"], dtype="datetime64[D]")
    >>> own = OwnOrders((OwnSeries("A", days, ordered=np.array([12, 24])),))
    >>> own.first_day, own.last_day
    (datetime.date(2026, 1, 5), datetime.date(2026, 1, 12))
    """

    series: tuple[OwnSeries, ...]
    remarks: tuple[str, ...] = field(default=(), repr=False)
    source: str = field(default="own", repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        skus = [each.sku for each in self.series]
        if not skus or len(set(skus)) < len(skus):
            raise InvalidInputError(f"{self.source} must have one series for each of one or more items.")

    @property
    def first_day(self) -> date:
        """The first day with a line."""
        return _as_date(min(each.dates[0] for each in self.series))

    @property
    def last_day(self) -> date:
        """The last day with a line."""
        return _as_date(max(each.dates[-1] for each in self.series))


def _as_date(day: np.datetime64) -> date:
    return date.fromisoformat(str(day.astype("datetime64[D]")))


def read_own(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, duplicates: str = "refuse"
) -> OwnOrders:
    r"""Read what was really ordered, or the stock really held, from a CSV or Excel file.

    Parameters
    ----------
    path
        With columns date and sku, and at least one of ordered (units, that day) and stock (units on the shelf in
        the morning: what was on sale). An empty cell of ordered is no order, one of stock is no count.
    columns
        What these are called in the file, such as ``{"ordered": "qty"}``.
    duplicates
        Two lines for one item and day: ``refuse`` the file, ``sum`` them, or take the ``last``.

    Raises
    ------
    InvalidInputError
        With what is wrong on which lines.

    Examples
    --------
    >>> from driftmdp.inventory import read_own
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.csv")
    ...     _ = file.write_text("date,sku,ordered\n2026-01-05,A,12\n2026-01-12,A,24\n")
    ...     read_own(file).series[0].ordered.tolist()
    [12, 24]
    """
    one_of(duplicates, "duplicates", CHOICES)
    table = read_table(Path(path), ("date", "sku"), QUANTITIES, columns, given=Conventions(has_option=False))
    there = [name for name in QUANTITIES if name in table.columns]
    if not there:
        others = listed(table.others, MAX_FAULTS_SHOWN, ", ") or "no others"
        rule = f"{path} must have a column 'ordered' or 'stock'"
        raise InvalidInputError(f"{rule}; beside date and sku it has {others}. Name it so in the header.")
    errors, doubled = LineErrors(str(path)), LineErrors(str(path))
    skus, days = errors.read(table, "sku", cells.as_name), errors.read(table, "date", cells.as_ordinal)
    quantities = [errors.read_optional(table, name, cells.whole_number) or [] for name in there]
    errors.raise_if_any("Correct these lines, then try again. Nothing was done.")
    lines = zip(table.lines, skus, days, *quantities, strict=True)
    is_added_up = table.is_added_up and duplicates == "refuse"
    found = _by_item(lines, CHOICES["sum" if is_added_up else duplicates], doubled)
    if is_added_up:
        doubled.found.clear()
    if duplicates == "refuse":
        doubled.raise_if_any("Use --duplicates sum or --duplicates last. Nothing was done.")
    if not found:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    series = tuple(_series(sku, by_day, there) for sku, by_day in found.items())
    texts = doubled.texts
    several = f"{counted(len(texts), 'duplicate line')} of {path}, {READ_AS.get(duplicates)}: {listed(texts)}."
    return OwnOrders(series, (*table.remarks, *((several,) if texts else ())), str(path))


def _by_item(
    lines: Iterable[tuple[int, str, int, *Quantities]],
    joined: Join | None,
    doubled: LineErrors,
) -> dict[str, dict[int, Quantities]]:
    """Return the quantities of each item and day. Lines that stand there twice are noted."""
    found: dict[str, dict[int, Quantities]] = {}
    for line, sku, day, *here in lines:
        by_day = found.setdefault(sku, {})
        if day in by_day:
            doubled.add(line, f"{sku} on {date.fromordinal(day)} stands on a line before already")
            here = [_joined(*pair, joined) for pair in zip(by_day[day], here, strict=True)]
        by_day[day] = tuple(here)
    return found


def _joined(before: int | None, here: int | None, joined: Join | None) -> int | None:
    """Return one quantity of two. What only one of the lines says holds."""
    if before is None or here is None or joined is None:
        return before if here is None else here
    return joined(before, here)


def _series(sku: str, by_day: Mapping[int, Quantities], there: list[str]) -> OwnSeries:
    days = np.array(sorted(by_day), np.int64)
    dates = np.datetime64("1970-01-01") + (days - date(1970, 1, 1).toordinal())
    columns = zip(*(by_day[day] for day in days.tolist()), strict=True)
    missing = {"ordered": 0, "stock": UNKNOWN}
    values = {name: _filled(column, missing[name]) for name, column in zip(there, columns, strict=True)}
    if len(values) == 2 and all(by_day[day][there.index("ordered")] is None for day in by_day):
        del values["ordered"]  # an empty column says nothing of orders
    return OwnSeries(sku, dates, **values)


def _filled(values: Iterable[int | None], missing: int) -> Longs:
    return np.array([missing if value is None else value for value in values], np.int64)
