"""Periods of a day or a week, order days and closed days. Days are numbers: ``date.toordinal``.

A week is named by its Monday. The k-th period after a day is ``days(period)`` days later for each of the k.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import day_of

DAY: Final = "day"
WEEK: Final = "week"
PERIODS = (DAY, WEEK)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FIRST_MONDAY = date(1970, 1, 5).toordinal()  # periods are counted from it
MOST_PERIODS = 366  # between two order days
_EVERY = re.compile(r"every (\d{1,4})(?: from (\S+))?", re.ASCII)
_SHORT = {name[:3]: number for number, name in enumerate(WEEKDAYS)}
_NUMBERS = {name: number for number, name in enumerate(WEEKDAYS)} | _SHORT


def days(period: str) -> int:
    """Return the days of a period: 1 or 7."""
    return 7 if period == WEEK else 1


def weekday(day: int) -> int:
    """Return the weekday of a day, 0 for a Monday."""
    return (day - 1) % 7


def period_of(day: int, period: str) -> int:
    """Return the first day of the period that contains a day: the day itself, or the Monday of its week."""
    return day - weekday(day) if period == WEEK else day


def mornings_after(asked: ArrayLike, steps: ArrayLike) -> NDArray[np.int64]:
    """Return the first mornings of a period from some days on: the days themselves, or the next Mondays.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory.periods import mornings_after
    >>> monday = date(2026, 11, 16).toordinal()
    >>> (mornings_after([monday, monday + 1, monday + 1], [7, 7, 1]) - monday).tolist()
    [0, 7, 1]
    """
    found = np.asarray(asked, np.int64)
    return np.asarray(np.where(np.asarray(steps) == days(WEEK), found + -(found - 1) % 7, found))


def check_period(day: int, period: str) -> None:
    """Refuse a week that does not start on a Monday.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory.periods import check_period
    >>> check_period(date(2026, 11, 17).toordinal(), "week")
    Traceback (most recent call last):
        ...
    driftmdp.errors.InvalidInputError: A week is named by its Monday; got 2026-11-17, a Tuesday. Use 2026-11-16.
    """
    monday = period_of(day, period)
    if monday != day:
        got = f"got {date.fromordinal(day)}, a {WEEKDAYS[weekday(day)].capitalize()}"
        raise InvalidInputError(f"A week is named by its Monday; {got}. Use {date.fromordinal(monday)}.")


@dataclass(frozen=True)
class OrderDays:
    """The periods in which an order may be placed.

    Attributes
    ----------
    weekdays
        0 for Monday to 6 for Sunday. Empty if every n-th period is one.
    every, start
        Every n-th period, counted from that of the day ``start``.

    Examples
    --------
    >>> from datetime import date
    >>> import numpy as np
    >>> from driftmdp.inventory.periods import OrderDays
    >>> days = OrderDays.parse("Mon, Thursday")
    >>> days.may_order(date(2026, 11, 16).toordinal() + np.arange(7), "day").tolist()
    [True, False, False, True, False, False, False]
    >>> str(days), str(OrderDays.parse("every 2 from 2026-01-05")), str(OrderDays())
    ('mon,thu', 'every 2 from 2026-01-05', 'every 1')
    """

    weekdays: frozenset[int] = frozenset()
    every: int = 1
    start: int = FIRST_MONDAY

    @classmethod
    def parse(cls, text: str) -> "OrderDays":
        """Return the order days of a text: ``mon,thu``, ``every 2`` or ``every 2 from 2026-01-05``."""
        written = " ".join(text.lower().split())
        if not written.startswith("every"):
            return cls(parse_weekdays(text))
        found = _EVERY.fullmatch(written)
        start = day_of(found[2]) if found and found[2] else date.fromordinal(FIRST_MONDAY)
        if not found or start is None or not 1 <= int(found[1]) <= MOST_PERIODS:
            rule = f"be weekdays such as mon,thu, or every n from 1 to {MOST_PERIODS}, as every 2 from 2026-01-05"
            raise ValueError(f"{rule}; got {text[:40]!r}")
        return cls(every=int(found[1]), start=start.toordinal())

    def __str__(self) -> str:
        if self.weekdays:
            return weekday_names(self.weekdays)
        start = "" if self.start == FIRST_MONDAY else f" from {date.fromordinal(self.start)}"
        return f"every {self.every}{start}"

    def may_order(self, days_asked: ArrayLike, period: str) -> NDArray[np.bool_]:
        """Return on which of some days an order may be placed."""
        asked = np.asarray(days_asked, np.int64)
        if self.weekdays:
            return np.isin((asked - 1) % 7, sorted(self.weekdays))
        return np.asarray((asked - period_of(self.start, period)) // days(period) % self.every == 0)


EVERY_PERIOD = OrderDays()


def parse_weekdays(text: str) -> frozenset[int]:
    """Return the weekdays of a text such as ``mon,thu``, 0 for Monday.

    Examples
    --------
    >>> from driftmdp.inventory.periods import parse_weekdays
    >>> sorted(parse_weekdays("Sun, sat"))
    [5, 6]
    """
    found = set()
    for name in re.split(r"[,;\s]+", text.strip()):
        if name.lower() not in _NUMBERS:
            raise ValueError(f"be weekdays such as mon,thu; got {name[:40]!r}{_nearest_weekday(name.lower())}")
        found.add(_NUMBERS[name.lower()])
    return frozenset(found)


def _nearest_weekday(name: str) -> str:
    """Return the weekday that a misspelt name may mean, in brackets: one with the same first letter, if any."""
    known = [day for day in (WEEKDAYS if len(name) > 4 else _SHORT) if day.startswith(name[:1])]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f" (perhaps {close[0]})" if name and close else ""


def weekday_names(weekdays: Iterable[int]) -> str:
    """Return weekdays as they are written: ``mon,thu``."""
    return ",".join(WEEKDAYS[number][:3] for number in sorted(weekdays))
