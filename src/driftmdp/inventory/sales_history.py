"""Sales by period and item, read from a file: gaps, duplicates and negative numbers are reported by line."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import brief, counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import MAX_FAULTS_SHOWN, SALES_COLUMNS, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.periods import DAY, PERIODS, WEEK, check_period
from driftmdp.inventory.sales_table import SalesFile, SalesTable
from driftmdp.kernels.arrays import Longs
from driftmdp.validation import as_integer, one_of

WARM_UP = 60  # days before scoring starts; packs and first fits come from them
WARM_UP_WEEKS = 26  # the same where a period is a week
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
    in_stock
        Whether it was on sale then. None means always. A day on which it was not says nothing of demand.
    sold_out
        Whether all that there was got sold, so that demand was at least the units. None means never.
    """

    sku: str
    dates: NDArray[np.datetime64]
    units: NDArray[np.int64]
    in_stock: NDArray[np.bool_] | None = None
    sold_out: NDArray[np.bool_] | None = None

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
        How the file is written, and gaps, negative numbers and duplicates, and how they were read: a sentence each.
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
    period: str = DAY,
    lead_time: int = 0,
    date_format: str | None = None,
    decimal: str | None = None,
) -> Sales:
    r"""Read sales by day and item from a CSV or Excel file.

    Parameters
    ----------
    path
        With columns date, sku and units, and perhaps in_stock (0: it was not on sale), stock (what stood on the
        shelf in the morning), ordered (that morning) and demand (1: the units
        were asked for). Others are ignored.
    columns
        What these are called in the file, such as ``{"units": "qty"}``.
    negatives
        Returns, mostly: ``refuse`` the file, take them for ``zero``, or ``skip`` the line.
    duplicates
        Two lines for one item and day: ``refuse`` the file, ``sum`` them, or take the ``last``.
    gaps
        Days between an item's first and last that other items have: ``zero`` sales, ``skip`` the day, or
        ``refuse`` the file. Days that no item has are closed days, not gaps.
    period
        ``"day"`` or ``"week"``, whose dates must be Mondays.
    lead_time
        Periods from an order to its arrival. Without one, what was ordered is on sale with the stock.
    date_format, decimal
        How days and numbers are written, such as ``"dd/mm/yyyy"`` and ``"comma"``, if the file does not say.

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
    one_of(period, "period", PERIODS)
    optional = "in_stock", "stock", "ordered", "demand"
    table = read_table(Path(path), SALES_COLUMNS, optional, columns, given=Conventions(date_format, decimal))
    file = SalesFile(table, negatives, duplicates)
    file.check()
    _check_weeks(file.sales, period)
    missing: list[str] = []
    series = tuple(_series(file.sales, gaps, missing, lead_time == 0))
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
    return Sales(series, (*table.remarks, *remarks))


def _series(sales: SalesTable, gaps: str, missing: list[str], at_once: bool) -> Iterator[Series]:
    """Yield each item's series. Days that only other items have are noted as missing.

    ``at_once`` says that orders are on sale on their own day.
    """
    calendar = np.unique(sales.day)
    by_item = np.split(np.argsort(sales.sku, kind="stable"), np.cumsum(np.bincount(sales.sku))[:-1])
    for sku, places in zip(sales.skus, by_item, strict=True):
        places = places[np.argsort(sales.day[places], kind="stable")]
        days = sales.day[places]
        open_days = calendar[(calendar >= days[0]) & (calendar <= days[-1])]
        if days.size < open_days.size:
            for day in np.setdiff1d(open_days, days, assume_unique=True).tolist():
                after = sales.line[places[np.searchsorted(days, day)]]
                missing.append(f"{sku} on {date.fromordinal(day)} (before line {after})")
        kept = open_days if gaps == "zero" else days
        at = np.searchsorted(kept, days)
        units, in_stock = np.zeros(kept.size, np.int64), np.ones(kept.size, np.bool_)
        sold_out = np.zeros(kept.size, np.bool_)
        units[at], in_stock[at] = sales.units[places], (sales.in_stock[places] != 0) | (sales.demand[places] == 1)
        sold_out[at] = _is_sold_out(sales, places, at_once)
        in_stock[at] &= ~(sold_out[at] & (units[at] == 0))  # nothing to sell says nothing
        dates = np.datetime64("1970-01-01") + (kept - date(1970, 1, 1).toordinal())
        seen = None if in_stock.all() else in_stock, sold_out if sold_out.any() else None
        yield Series(sku, dates, units, *seen)


def _is_sold_out(sales: SalesTable, places: Longs, at_once: bool) -> NDArray[np.bool_]:
    """Return which lines sold all that there was."""
    stock, units = sales.stock[places], sales.units[places]
    there = stock + (np.maximum(sales.ordered[places], 0) if at_once else 0)
    return np.asarray((stock != UNKNOWN) & (sales.demand[places] != 1) & (units >= there))


def _check_weeks(sales: SalesTable, period: str) -> None:
    """Refuse a week that does not begin on a Monday, with its line."""
    wrong = np.flatnonzero((sales.day - 1) % 7) if period == WEEK else ()
    for place in wrong[:1]:
        try:
            check_period(int(sales.day[place]), WEEK)
        except InvalidInputError as error:
            raise InvalidInputError(f"{sales.source(int(place))}{error} Nothing was done.") from None


def warm_up(period: str) -> int:
    """Return the periods before scoring starts: 60 days, or 26 weeks."""
    return WARM_UP_WEEKS if period == WEEK else WARM_UP


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
