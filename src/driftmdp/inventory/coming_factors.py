"""What multiplies the demand of periods, and when items are sold and ordered: (items, periods) tables."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.calendar_csv import CLOSED, SpecialDay
from driftmdp.inventory.item_table import ItemTable
from driftmdp.inventory.shared_rhythm import SharedRhythm
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs

Bools = NDArray[np.bool_]


class ComingFactors:
    """The factors of demand by item and period.

    Parameters
    ----------
    table, rhythm
        The items, and what they share.

    Attributes
    ----------
    calendar
        The special days.
    """

    def __init__(self, table: ItemTable, rhythm: SharedRhythm) -> None:
        self._table, self._rhythm = table, rhythm
        self.calendar = SpecialDays()

    def is_open(self, items: Longs, periods: Longs) -> Bools:
        """Return in which periods items are sold."""
        lines = [line for line in self.calendar.lines if line.name == CLOSED]
        if any(line.sku for line in lines):
            skus, terms = self._table.skus, self._table.terms
            rows = [self.calendar.is_open(skus[item], terms[item], periods) for item in items.tolist()]
            return np.array(rows, np.bool_).reshape(items.size, periods.size)
        return self._by_terms(items, periods, lambda terms: self.calendar.is_open("", terms, periods))

    def may_order(self, items: Longs, periods: Longs) -> Bools:
        """Return in which periods items may be ordered."""
        return self._by_terms(items, periods, lambda terms: terms.order_days.may_order(periods, terms.period))

    def _by_terms(self, items: Longs, periods: Longs, row_of: Callable[[ItemTerms], Bools]) -> Bools:
        """Return a row for each item. Items with the same terms share one, so that few are computed."""
        rows: dict[int, Bools] = {}
        found = np.ones((items.size, periods.size), np.bool_)
        for place, item in enumerate(items.tolist()):
            terms = self._table.terms[item]
            if id(terms) not in rows:
                rows[id(terms)] = row_of(terms)
            found[place] = rows[id(terms)]
        return found

    def rhythm(self, items: Longs, periods: Longs) -> tuple[Floats, Floats]:
        """Return the factors of the season, and of the weekday, which is 1 for weeks."""
        chosen = self._table.columns[items]
        weekday = self._rhythm.weekday_of(items, chosen["group"], periods)
        weekday[chosen["kind"] == 1] = 1.0
        return self._rhythm.season_of(chosen["group"], periods), weekday

    def special(self, items: Longs, periods: Longs) -> tuple[Floats, Bools]:
        """Return the factors of special days, and where an effect is not known yet. There the factor is 1."""
        factors = np.ones((items.size, periods.size))
        unknown = np.zeros(factors.shape, np.bool_)
        for line in self.lines_between(int(periods[0]), int(periods[-1]) + 7):
            factor = self._rhythm.effects.get(line.name) if line.factor is None else line.factor
            for place, day in enumerate(periods.tolist()):
                mine = self.is_about(line, items, day)
                factors[mine, place] *= 1.0 if factor is None else factor
                unknown[mine, place] |= factor is None
        return factors, unknown

    def all_factors(self, items: Longs, periods: Longs) -> Floats:
        """Return the product of all factors, 0 where an item is not sold."""
        season, weekday = self.rhythm(items, periods)
        factors = season * weekday * self.special(items, periods)[0]
        return np.where(self.is_open(items, periods), factors, 0.0)

    def usual_factors(self, items: Longs, periods: Longs) -> Floats:
        """Return the factors of such periods without special days and single closed days. A usual week is 1."""
        season, weekday = self.rhythm(items, periods)
        usual = np.where((self._table.columns["kind"][items] == 1)[:, None], 1.0, season * weekday)
        is_open = self._by_terms(items, periods, lambda terms: SpecialDays().is_open("", terms, periods))
        return np.where(is_open, usual, 0.0)

    def lines_between(self, first: int, end: int) -> list[SpecialDay]:
        """Return the special days from a day on and before another, without closed ones."""
        return [line for line in self.calendar.lines if first <= line.day < end and line.name != CLOSED]

    def is_about(self, line: SpecialDay, items: Longs, day: int) -> Bools:
        """Return which items a special day concerns in the period that begins on a day."""
        chosen = self._table.columns[items]
        inside = (day <= line.day) & (line.day < day + np.where(chosen["kind"] == 1, 7, 1))
        if line.sku:
            inside &= np.array([self._table.skus[item] == line.sku for item in items.tolist()], np.bool_)
        if line.group:
            inside &= chosen["group"] == self._table.groups.get(line.group, -1)
        return np.asarray(inside)
