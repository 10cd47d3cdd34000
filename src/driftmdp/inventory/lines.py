"""The lines of a shop's daily files as Python objects: counts of a morning, sales of a day."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import LARGEST_NUMBER, LONGEST_NAME, YEARS, is_name


@dataclass(frozen=True)
class Count:
    """What stands on the shelf in the morning, after arrivals.

    Attributes
    ----------
    sku, stock
        The item and its units.
    coming
        Units that arrive 1, 2, .. periods later, up to the lead time minus 1. A single number is the first of them.
        By default, and where one is None, the shop's own open orders.
    pack
        Units in a pack, when the item is new. By default the shop's.
    left
        Of goods that spoil, the units that can be sold in 1, 2, .. more periods, this one included. The rest of the
        stock is new. By default what the shop's records say.
    source
        Where the line was read, for messages.
    """

    sku: str
    stock: int
    coming: tuple[int | None, ...] = ()
    pack: int | None = None
    left: tuple[int | None, ...] = ()
    source: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("coming", "left"):
            object.__setattr__(self, name, _by_period(self.sku, name, getattr(self, name)))
        check_line(self, "stock", stock=0, pack=1)
        old = sum(units or 0 for units in self.left)
        if old > self.stock:
            rule = f"{self.source}left_1 to left_{len(self.left)} of {self.sku} must not be more than its stock"
            raise InvalidInputError(f"{rule} of {self.stock}; got {old} together. Nothing was done.")


@dataclass(frozen=True)
class Sold:
    """What was sold in a period.

    Attributes
    ----------
    sku, day, units
        The item, the day (of a week its Monday), and the units sold.
    ordered
        What was really ordered that day, if not what was advised.
    stock
        What stood on the shelf in the morning, if no advice was asked for that day.
    pack
        Units in a pack, when the item is new. By default the shop's.
    in_stock
        Whether it was on sale, for a period without a count. True means that it was not sold out, and False that
        the period says nothing of demand.
    demand
        Whether the units were asked for, and not only sold. They may be more than there was.
    """

    sku: str
    day: date
    units: int
    ordered: int | None = None
    stock: int | None = None
    pack: int | None = None
    in_stock: bool | None = None
    demand: bool = False

    def __post_init__(self) -> None:
        check_line(self, "units", units=0, ordered=0, stock=0, pack=1)
        as_day(self.day)
        if self.in_stock not in (None, True, False):
            raise InvalidInputError(f"in_stock of {self.sku} must be True or False; got {self.in_stock!r}.")
        if self.in_stock is not None and not self.in_stock and self.units and not self.demand:
            raise InvalidInputError(f"units of {self.sku} must be 0 where it was not in stock; got {self.units}.")


def as_day(day: Any) -> date:
    """Validate that ``day`` is a date without a time."""
    if not isinstance(day, date) or isinstance(day, datetime) or day.year not in YEARS:
        rule = f"day must be a datetime.date from {YEARS[0]} to {YEARS[-1]}, without a time"
        raise InvalidInputError(f"{rule}; got {day!r}.")
    return day


def check_line(line: Any, required: str, **minima: int) -> None:
    """Refuse a name or a number that a file could not have either. ``minima`` are those of the numbers."""
    if not is_name(line.sku):
        rule = f"sku must be a name of 1 to {LONGEST_NAME} characters without spaces around"
        raise InvalidInputError(f"{rule}; got {line.sku!r}.")
    for name, least in minima.items():
        value = getattr(line, name)
        if value is not None or name == required:
            object.__setattr__(line, name, _whole(line.sku, name, value, least, name == required))


def _by_period(sku: str, name: str, given: Any) -> tuple[int | None, ...]:
    """Return units by period, up to the last that is known."""
    units = given if isinstance(given, Sequence) else () if given is None else (given,)
    known = tuple(_whole(sku, f"{name}_{place}", each) for place, each in enumerate(units, 1))
    while known and known[-1] is None:
        known = known[:-1]
    return known


def _whole(sku: str, name: str, value: Any, least: int = 0, is_required: bool = False) -> int | None:
    """Return a whole number that a column of the log holds."""
    if value is None and not is_required:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInputError(f"{name} of {sku} must be a whole number; got {value!r}.")
    if not least <= value <= LARGEST_NUMBER:
        raise InvalidInputError(f"{name} of {sku} must be {least} to {LARGEST_NUMBER}; got {value}.")
    return int(value)
