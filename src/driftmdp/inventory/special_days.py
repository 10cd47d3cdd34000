"""The special days of a shop: which of them concern an item, and on which days an item is sold."""

import functools
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.inventory.calendar_csv import CLOSED, SpecialDay
from driftmdp.inventory.periods import MOST_PERIODS, days
from driftmdp.inventory.terms import ItemTerms


class SpecialDays:
    """The lines of a calendar, by item.

    Parameters
    ----------
    lines
        In any order. Of two with the same day, name and item, the last counts.

    Examples
    --------
    >>> from datetime import date
    >>> import numpy as np
    >>> from driftmdp.inventory import Costs
    >>> from driftmdp.inventory.special_days import SpecialDay, SpecialDays
    >>> from driftmdp.inventory.terms import ItemTerms
    >>> monday = date(2026, 12, 21).toordinal()
    >>> calendar = SpecialDays([SpecialDay(monday + 4, "closed")])
    >>> calendar.is_open("A", ItemTerms(Costs(), None, closed_days=frozenset([6])), monday + np.arange(7)).tolist()
    [True, True, True, True, False, True, False]
    """

    def __init__(self, lines: Iterable[SpecialDay] = ()) -> None:
        found = {line.key: line for line in lines}
        self.lines = tuple(sorted(found.values(), key=_by_day))
        self._by_item: dict[tuple[str, str], list[SpecialDay]] = {}
        for line in self.lines:
            self._by_item.setdefault((line.sku, line.group), []).append(line)
        self._closed = functools.cache(self._closed_days)

    def with_lines(self, lines: Iterable[SpecialDay]) -> "SpecialDays":
        """Return these special days and others. A line that is there already gets its new factor."""
        return SpecialDays([*self.lines, *lines])

    def without(self, lines: Iterable[SpecialDay]) -> "SpecialDays":
        """Return these special days without some."""
        gone = {line.key for line in lines}
        return SpecialDays(line for line in self.lines if line.key not in gone)

    def renamed(self, old: str, new: str) -> "SpecialDays":
        """Return the lines of an item under another name."""
        mine = [line._replace(sku=new) for line in self.lines if line.sku == old]
        return SpecialDays([*(line for line in self.lines if line.sku != old), *mine])

    def of_item(self, sku: str, group: str) -> tuple[SpecialDay, ...]:
        """Return the lines that concern an item, by day."""
        names = {("", ""), (sku, ""), ("", group)}  # a line has a sku or a group
        return tuple(sorted((line for name in names for line in self._by_item.get(name, ())), key=_by_day))

    def is_open(self, sku: str, terms: ItemTerms, periods: ArrayLike) -> NDArray[np.bool_]:
        """Return in which periods an item is sold. A week is closed if all of its days are."""
        first, closed = np.asarray(periods, np.int64), self._closed_of(sku, terms)
        if not closed and not terms.closed_days:
            return np.ones(first.shape, np.bool_)
        each = first[..., None] + np.arange(days(terms.period))
        is_closed = np.isin(each, closed) | np.isin((each - 1) % 7, sorted(terms.closed_days))
        return np.asarray(~is_closed.all(axis=-1))

    def closing(self, sku: str, terms: ItemTerms) -> tuple[object, ...]:
        """Return what the closed periods of an item depend on: items of which it is equal share them."""
        own = (name if name in self._by_item else ("", "") for name in ((sku, ""), ("", terms.group)))
        return (*own, terms.closed_days, terms.period)

    def next_open(self, sku: str, terms: ItemTerms, period: int) -> int:
        """Return a period, or the first one after it in which an item is sold, if there is one in reach."""
        closed, step = self._closed_of(sku, terms), days(terms.period)
        if not closed and not terms.closed_days:
            return period
        for first in range(period, period + step * MOST_PERIODS, step):
            each = range(first, first + step)
            if not all(day in closed or (day - 1) % 7 in terms.closed_days for day in each):
                return first
        return period

    def next_order(self, sku: str, terms: ItemTerms, day: int) -> int:
        """Return how many periods after a day an item may be ordered again."""
        coming = day + days(terms.period) * np.arange(1, 2 * MOST_PERIODS)
        possible = terms.order_days.may_order(coming, terms.period) & self.is_open(sku, terms, coming)
        return int(possible.argmax()) + 1

    def _closed_of(self, sku: str, terms: ItemTerms) -> tuple[int, ...]:
        """Return the special days on which an item is not sold."""
        names = (sku, ""), ("", terms.group)
        return self._closed(*(name if name in self._by_item else ("", "") for name in names))

    def _closed_days(self, item: tuple[str, str], group: tuple[str, str]) -> tuple[int, ...]:
        """Return the closed days of an item. Items without lines of their own share them."""
        return tuple(line.day for line in self.of_item(item[0], group[1]) if line.name == CLOSED)


def _by_day(line: SpecialDay) -> tuple[int, str, str, str]:
    return line.day, line.name, line.sku, line.group
