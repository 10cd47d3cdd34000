"""Deliveries as lines, from Python or from a file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import cells
from driftmdp.inventory.column_names import plain_name
from driftmdp.inventory.csv_io import CsvTable, LineErrors, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.inventory.lines import as_day, check_line
from driftmdp.validation import one_of

RESTS = ("waits", "cancelled")


@dataclass(frozen=True)
class Delivery:
    """What came of an item on a day, before its count in the morning.

    Attributes
    ----------
    sku, day, units
        The item, the day, and the units that came. 0 means that nothing came.
    ordered_on
        The day of the order that they belong to. By default the oldest open order, then the next.
    rest
        What becomes of the units of that order that are missing: ``waits`` or ``cancelled``.
    expected
        When the rest is expected, if that is known.
    source
        Where the line was read, for messages.
    """

    sku: str
    day: date
    units: int
    ordered_on: date | None = None
    rest: str = "waits"
    expected: date | None = None
    source: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        check_line(self, "units", units=0)
        one_of(self.rest, "rest", RESTS)
        for name in ("day", "ordered_on", "expected"):
            value = getattr(self, name)
            if value is not None or name == "day":
                as_day(value)
        if self.ordered_on is not None and self.ordered_on >= self.day:
            rule = f"{self.source}ordered_on of {self.sku} must be before {self.day}, the day of the delivery"
            raise InvalidInputError(f"{rule}; got {self.ordered_on}. Nothing was done.")
        if self.expected is not None and self.expected <= self.day:
            rule = f"{self.source}expected of {self.sku} must be after {self.day}, the day of the delivery"
            raise InvalidInputError(f"{rule}; got {self.expected}. Nothing was done.")
        if self.expected is not None and self.rest == "cancelled":
            rule = f"{self.source}expected of {self.sku} must be empty where the rest is cancelled"
            raise InvalidInputError(f"{rule}; got {self.expected}. Nothing was done.")


@dataclass(frozen=True)
class DeliveriesFile:
    """The deliveries of a file.

    Attributes
    ----------
    lines
        One per item, day and order.
    remarks
        How the file is written, and which columns were guessed: a sentence each.
    """

    lines: tuple[Delivery, ...]
    remarks: tuple[str, ...] = ()


def read_delivered(
    path: str | os.PathLike[str],
    day: date | None = None,
    columns: Mapping[str, str] | None = None,
    date_format: str | None = None,
    decimal: str | None = None,
    may_be_empty: bool = False,
) -> DeliveriesFile:
    r"""Return the deliveries of a file with columns date, sku and units.

    The date may be missing if ``day`` is given.
    ``ordered_on``, ``rest`` and ``expected`` may be there too, with empty cells. ``date_format`` and ``decimal``
    are as for ``read_sales``. With ``may_be_empty`` a file may have no lines below its header. With ``day`` the
    orders for Odoo and ERPNext that ``erp_orders_csv`` writes may be read, as far as they came whole.

    Examples
    --------
    >>> from driftmdp.inventory import read_delivered
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "delivered.csv")
    ...     _ = file.write_text("date,sku,units,rest\n2026-11-16,A,3,cancelled\n")
    ...     read_delivered(file).lines
    (Delivery(sku='A', day=datetime.date(2026, 11, 16), units=3, ordered_on=None, rest='cancelled', expected=None),)
    """
    wanted: tuple[str, ...] = ("date", "sku", "units")
    optional: tuple[str, ...] = ("ordered_on", "rest", "expected")
    if day is not None:
        # A file of orders has the day of the order in the column date: it may be named as ordered_on.
        is_order_day = plain_name((columns or {}).get("ordered_on", "")) == "date"
        wanted, optional = wanted[1:], optional if is_order_day else ("date", *optional)
    hint = " Lines of one day may do without a date: give it with --date." if day is None else ""
    table = read_table(Path(path), wanted, optional, columns, hint, given=Conventions(date_format, decimal))
    errors = LineErrors(str(path))
    found = _read_lines(errors, table, day)
    errors.raise_if_any("Correct these lines, then try again; nothing was done.")
    if not found and not may_be_empty:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    return DeliveriesFile(tuple(Delivery(*line) for line in found), table.remarks)


def _read_lines(errors: LineErrors, table: CsvTable, day: date | None) -> list[tuple[Any, ...]]:
    """Return the arguments of deliveries, and note what is wrong."""
    nothing: list[None] = [None] * len(table.lines)
    read = errors.read if day is None else errors.read_optional
    columns = (
        read(table, "date", cells.as_ordinal),
        errors.read(table, "sku", cells.as_name),
        errors.read(table, "units", cells.whole_number),
        errors.read_optional(table, "ordered_on", cells.as_ordinal),
        errors.read_optional(table, "rest", _rest),
        errors.read_optional(table, "expected", cells.as_ordinal),
    )
    found, seen = list[tuple[Any, ...]](), dict[tuple[Any, ...], int]()
    given = None if day is None else day.toordinal()
    for line, *row in zip(table.lines, *(column or nothing for column in columns), strict=True):
        when, sku, units, ordered_on, rest, expected = row
        if when is not None and given not in (None, when):
            errors.add(line, f"date must be {day}, the given day; got {date.fromordinal(when)}")
        when = given if when is None else when
        if when is None or sku is None or units is None:
            continue
        if (when, sku, ordered_on) in seen:
            before = seen[when, sku, ordered_on]
            errors.add(line, f"{sku} stands on line {before} already; add up what came of an order on a day")
        seen[when, sku, ordered_on] = line
        source = f"{table.path}, line {line}: "
        days = _date(when), _date(ordered_on), _date(expected)
        found.append((sku, days[0], units, days[1], rest or RESTS[0], days[2], source))
    return found


def _date(number: int | None) -> date | None:
    return None if number is None else date.fromordinal(number)


def _rest(text: str) -> str:
    if text.lower() not in RESTS:
        raise ValueError(f"be {' or '.join(RESTS)}; got {text[:40]!r}")
    return text.lower()
