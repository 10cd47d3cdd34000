"""The special days of a shop: which of them concern an item, and on which days an item is sold."""

import functools
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.inventory.calendar_csv import CLOSED, SpecialDay
from driftmdp.inventory.periods import days
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
        self.lines = tuple(sorted(found.values(), key=lambda line: line.key[:4]))
        self._closed = functools.cache(self._closed_days)

    def with_lines(self, lines: Iterable[SpecialDay]) -> "SpecialDays":
        """Return these special days and others. A line that is there already gets its new factor."""
        return SpecialDays([*self.lines, *lines])

    def of_item(self, sku: str, group: str) -> tuple[SpecialDay, ...]:
        """Return the lines that concern an item, by day."""
        return tuple(line for line in self.lines if line.sku in ("", sku) and line.group in ("", group))

    def is_open(self, sku: str, terms: ItemTerms, periods: ArrayLike) -> NDArray[np.bool_]:
        """Return in which periods an item is sold. A week is closed if all of its days are."""
        first = np.asarray(periods, np.int64)
        closed = self._closed(sku, terms.group)
        if not closed and not terms.closed_days:
            return np.ones(first.shape, np.bool_)
        each = first[..., None] + np.arange(days(terms.period))
        is_closed = np.isin(each, closed) | np.isin((each - 1) % 7, sorted(terms.closed_days))
        return np.asarray(~is_closed.all(axis=-1))

    def _closed_days(self, sku: str, group: str) -> tuple[int, ...]:
        return tuple(line.day for line in self.of_item(sku, group) if line.name == CLOSED)
