"""The factors of demand that are learned over all items: seasons, weekdays and special days.

Sums are collected as sales are learned. Factors are made from them at the beginning of every block of time and stay
as they are until the next: what one item believes within a block does not depend on the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.periods import FIRST_MONDAY
from driftmdp.inventory.pooled_factors import (
    UNIT,
    level_path,
    season_factors,
    week_of_year,
    weekday_factors,
)
from driftmdp.kernels.arrays import Floats, Longs

WEEKDAY_MEMORY = (63, 64)  # of the weekdays' sums, what is kept every week
EFFECT_SIGNAL = 0.25  # variance of the logarithm of a special day's effect, before one was seen
EFFECT_NOISE = (0.05, 2.0)  # of one day: of itself, and per unit expected


class SharedRhythm:
    """Seasons, weekdays and special days of groups of items.

    Attributes
    ----------
    seasons, weekdays
        Factors by (group, week of the year) and (group, weekday), the last row for all items.
    own_weekdays
        Factors by (item, weekday) beyond those of the item's group.
    effects
        Factors of special days by name. A name that was not met yet has none.
    """

    def __init__(self) -> None:
        self.seasons, self.weekdays, self.own_weekdays = np.ones((1, 52)), np.ones((1, 7)), np.ones((0, 7))
        self.effects: dict[str, float] = {}
        self._first_week = 0
        self._by_week = np.zeros((0, 1, 2), np.int64)  # week, group and all, units and expected
        self._levels_by_week = np.zeros((0, 2, 3), np.int64)  # week, kind, levels, their moves and bits of its days
        self._by_weekday = np.zeros((0, 2, 7, 2), np.int64)  # item, odd and even weeks, weekday, units and expected
        self._by_name: dict[str, dict[int, list[int]]] = {}  # name, day: units and expected

    def add_groups(self, n: int) -> None:
        """Make room for n groups in all. A new one has the rhythm of all items."""
        more = n + 1 - len(self.seasons)
        if more > 0:  # the sums and factors of all items stay last
            places = [-1] * more
            self.seasons = np.concatenate([self.seasons, np.repeat(self.seasons[-1:], more, axis=0)])
            self.weekdays = np.concatenate([self.weekdays, np.repeat(self.weekdays[-1:], more, axis=0)])
            self._by_week = np.insert(self._by_week, places, 0, axis=1)

    def add_items(self, n: int) -> None:
        """Make room for n items in all. A new one has the weekdays of its group."""
        more = max(0, n - len(self.own_weekdays))
        self.own_weekdays = np.concatenate([self.own_weekdays, np.ones((more, 7))])
        self._by_weekday = np.concatenate([self._by_weekday, np.zeros((more, 2, 7, 2), np.int64)])

    def season_of(self, groups: Longs, days: Longs) -> Floats:
        """Return the season's factors, of groups in rows and days in columns."""
        return np.asarray(self.seasons[groups[:, None], week_of_year(days)[None, :]])

    def weekday_of(self, items: Longs, groups: Longs, days: Longs) -> Floats:
        """Return the weekdays' factors, of items and their groups in rows and days in columns."""
        weekdays = ((days - 1) % 7)[None, :]
        return np.asarray(self.weekdays[groups[:, None], weekdays] * self.own_weekdays[items[:, None], weekdays])

    def count_week(self, day: int, groups: Longs, units: Floats, expected: Floats) -> None:
        """Add demand to that of its week. ``expected`` has weekday and special days, but not the season."""
        week = self._week(day)
        _add(self._by_week[week], groups, units, expected)

    def count_levels(self, day: int, kinds: Longs, levels: Floats, moves: Floats) -> None:
        """Add the items' slow levels before a period to those of its week, and what the period moved them."""
        week = self._week(day)
        sums = self._levels_by_week[week]
        for kind in np.unique(kinds):
            mine = kinds == kind
            sums[kind, 0] += _whole(levels[mine]).sum()
            sums[kind, 1] += _whole(moves[mine]).sum()
            sums[kind, 2] |= 1 << (day - 1) % 7

    def _week(self, day: int) -> int:
        """Return the place of a day's week, after the last if it is new."""
        week = (day - FIRST_MONDAY) // 7
        if not len(self._by_week):
            self._first_week = week
        missing = week - self._first_week + 1 - len(self._by_week)
        if missing > 0:
            self._by_week = np.pad(self._by_week, ((0, missing), (0, 0), (0, 0)))
            self._levels_by_week = np.pad(self._levels_by_week, ((0, missing), (0, 0), (0, 0)))
        return week - self._first_week

    def count_weekday(self, day: int, items: Longs, units: Floats, expected: Floats) -> None:
        """Add a day's demand to that of its weekday. ``expected`` has the season."""
        cell = (day - FIRST_MONDAY) // 7 % 2, (day - 1) % 7
        self._by_weekday[items, *cell, 0] += _whole(units)
        self._by_weekday[items, *cell, 1] += _whole(expected)

    def count_special(self, day: int, name: str, units: Longs, expected: Floats) -> None:
        """Add the demand of a special day. ``expected`` has season and weekday."""
        sums = self._by_name.setdefault(name, {}).setdefault(day, [0, 0])
        sums[0] += int(_whole(units).sum())
        sums[1] += int(_whole(expected).sum())

    def renew(self, groups: Longs) -> None:
        """Make the factors from all that was counted. ``groups`` are those of the items."""
        if len(self._by_week):
            units, expected = (self._by_week[:, :, j].T / UNIT for j in (0, 1))
            weeks = week_of_year(FIRST_MONDAY + 7 * (self._first_week + np.arange(len(self._by_week))))
            levels, moves, days = (self._levels_by_week[:, :, j] for j in (0, 1, 2))
            path = level_path(levels / UNIT, moves / UNIT, np.bitwise_count(days))
            self.seasons = season_factors(units, expected / path, weeks)
        if self._by_weekday.any():
            units, expected = (self._by_weekday[: groups.size, ..., j] / UNIT for j in (0, 1))
            self.weekdays, own = weekday_factors(units, expected, groups, len(self.weekdays) - 1)
            self.own_weekdays[: groups.size] = own
            self._by_weekday = self._by_weekday * WEEKDAY_MEMORY[0] // WEEKDAY_MEMORY[1]
        self.effects = {name: _effect(list(days.values())) for name, days in sorted(self._by_name.items())}

    def as_arrays(self) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """Return everything, for a snapshot."""
        names = {name: sorted(days.items()) for name, days in sorted(self._by_name.items())}
        header = {"effects": self.effects, "first_week": self._first_week, "names": names}
        of_groups = [self.seasons, self.weekdays, self._by_week, self._levels_by_week]
        return header, [*of_groups, self.own_weekdays, self._by_weekday]

    def restore(self, header: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
        """Take over what ``as_arrays`` gave."""
        self.effects, self._first_week = header["effects"], header["first_week"]
        self._by_name = {name: dict(days) for name, days in header["names"].items()}
        self.seasons, self.weekdays, self._by_week, self._levels_by_week, *of_items = arrays
        self.own_weekdays, self._by_weekday = of_items


def _add(sums: Longs, groups: Longs, units: Floats, expected: Floats) -> None:
    for place, values in enumerate((units, expected)):
        whole = _whole(values)
        np.add.at(sums[:, place], groups, whole)
        sums[-1, place] += whole.sum()


def _whole(values: Floats | Longs) -> Longs:
    return np.rint(UNIT * np.asarray(values, np.float64)).astype(np.int64)


def _effect(days: Sequence[Sequence[int]]) -> float:
    """Return the factor of a name, from units and expected units of its days."""
    sums = np.array(days, np.float64) / UNIT
    ratios = np.log((sums[:, 0] + 0.5) / (sums[:, 1] + 0.5))
    precision = 1.0 / (EFFECT_NOISE[0] + EFFECT_NOISE[1] / (sums[:, 1] + 0.5))
    mean, total = float((precision * ratios).sum() / precision.sum()), float(precision.sum())
    return float(np.exp(mean * EFFECT_SIGNAL * total / (EFFECT_SIGNAL * total + 1.0)))
