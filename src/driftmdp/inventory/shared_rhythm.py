"""The factors of demand that are learned over all items: seasons, weekdays and special days.

Sums are collected as sales are learned. Factors are made from them at the beginning of every four weeks and stay as
they are until the next: what one item believes within four weeks does not depend on the others.
"""

import json
from collections.abc import Iterable, Sequence

import numpy as np

from driftmdp.inventory.calendar_csv import CLOSED, SpecialDay
from driftmdp.inventory.periods import FIRST_MONDAY
from driftmdp.inventory.pooled_factors import UNIT, WEEKDAY_MEMORY, season_factors, week_of_year, weekday_factors
from driftmdp.kernels.arrays import Floats, Longs

EFFECT_SIGNAL = 0.25  # variance of the logarithm of a special day's effect, before one was seen
EFFECT_NOISE = (0.05, 2.0)  # of one day: of itself, and per unit expected


class SharedRhythm:
    """Seasons, weekdays and special days of groups of items.

    Attributes
    ----------
    groups
        The number of each group, in the order in which they came.
    seasons, weekdays
        Factors by (group, week of the year) and (group, weekday).
    effects
        Factors of special days by name. A name that was not met yet has none.
    """

    def __init__(self) -> None:
        self.groups: dict[str, int] = {}
        self.seasons, self.weekdays = np.ones((0, 52)), np.ones((0, 7))
        self.effects: dict[str, float] = {}
        self._first_week = 0
        self._by_week = np.zeros((0, 1, 2), np.int64)  # week, group and all, units and expected
        self._by_weekday = np.zeros((2, 1, 7, 2), np.int64)  # odd and even weeks, group and all, weekday
        self._by_name: dict[str, dict[int, list[int]]] = {}  # name, day: units and expected

    def number(self, group: str) -> int:
        """Return a group's number. A new group has no rhythm of its own yet."""
        if group not in self.groups:
            self.groups[group] = len(self.groups)
            self.seasons = np.vstack([self.seasons, np.ones(52)])
            self.weekdays = np.vstack([self.weekdays, np.ones(7)])
            # The sums over all items stay last.
            self._by_week = np.insert(self._by_week, -1, 0, axis=1)
            self._by_weekday = np.insert(self._by_weekday, -1, 0, axis=1)
        return self.groups[group]

    def season_of(self, groups: Longs, days: Longs) -> Floats:
        """Return the season's factors, of groups in rows and days in columns."""
        return np.asarray(self.seasons[groups[:, None], week_of_year(days)[None, :]])

    def weekday_of(self, groups: Longs, days: Longs) -> Floats:
        """Return the weekdays' factors, of groups in rows and days in columns."""
        return np.asarray(self.weekdays[groups[:, None], ((days - 1) % 7)[None, :]])

    def count_week(self, day: int, groups: Longs, units: Floats, expected: Floats) -> None:
        """Add demand to that of its week. ``expected`` has weekday and special days, but not the season."""
        week, n = (day - FIRST_MONDAY) // 7, len(self.groups)
        if not len(self._by_week):
            self._first_week = week
        missing = week - self._first_week + 1 - len(self._by_week)
        if missing > 0:
            self._by_week = np.concatenate([self._by_week, np.zeros((missing, n + 1, 2), np.int64)])
        _add(self._by_week[week - self._first_week], groups, units, expected)

    def count_weekday(self, day: int, groups: Longs, units: Floats, expected: Floats) -> None:
        """Add a day's demand to that of its weekday. ``expected`` has the season."""
        week = (day - FIRST_MONDAY) // 7
        _add(self._by_weekday[week % 2, :, (day - 1) % 7], groups, units, expected)

    def count_special(self, day: int, name: str, units: float, expected: float) -> None:
        """Add the demand of a special day. ``expected`` has season and weekday."""
        sums = self._by_name.setdefault(name, {}).setdefault(day, [0, 0])
        sums[0] += round(UNIT * units)
        sums[1] += round(UNIT * expected)

    def renew(self) -> None:
        """Make the factors from all that was counted."""
        if len(self._by_week):
            units, expected = (self._by_week[:, :, j].T / UNIT for j in (0, 1))
            weeks = week_of_year(FIRST_MONDAY + 7 * (self._first_week + np.arange(len(self._by_week))))
            self.seasons = season_factors(units, expected, weeks)
        units, expected = (self._by_weekday[..., j].swapaxes(0, 1) / UNIT for j in (0, 1))
        self.weekdays = weekday_factors(units, expected)
        self._by_weekday = self._by_weekday * WEEKDAY_MEMORY[0] // WEEKDAY_MEMORY[1]
        self.effects = {name: _effect(list(days.values())) for name, days in sorted(self._by_name.items())}

    def special_factors(self, lines: Sequence[SpecialDay]) -> list[float | None]:
        """Return what special days multiply demand by, None where that is not known yet."""
        return [self.effects.get(line.name) if line.factor is None else line.factor for line in lines]

    def as_json(self) -> str:
        """Return everything, for a snapshot."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        names = {name: sorted(days.items()) for name, days in sorted(self._by_name.items())}
        rest = {"groups": self.groups, "effects": self.effects, "first": self._first_week, "names": names}
        return json.dumps(rest | arrays)

    @classmethod
    def from_json(cls, text: str) -> "SharedRhythm":
        """Take over what ``as_json`` gave."""
        found, made = json.loads(text), cls()
        made.groups, made.effects, made._first_week = found["groups"], found["effects"], found["first"]
        made._by_name = {name: {day: sums for day, sums in days} for name, days in found["names"].items()}
        n = len(made.groups)
        for name, shape in _ARRAYS.items():
            kind = np.float64 if name in ("seasons", "weekdays") else np.int64
            size = [n if side == -1 else n + 1 if side == -2 else side for side in shape]
            size = [-1 if side == -3 else side for side in size]
            setattr(made, name, np.array(found[name], kind).reshape(size))
        return made


_ARRAYS = {"seasons": (-1, 52), "weekdays": (-1, 7), "_by_week": (-3, -2, 2), "_by_weekday": (2, -2, 7, 2)}


def special_lines(lines: Iterable[SpecialDay]) -> list[SpecialDay]:
    """Return the lines that change demand: all but closed days."""
    return [line for line in lines if line.name != CLOSED]


def _add(sums: Longs, groups: Longs, units: Floats, expected: Floats) -> None:
    for place, values in enumerate((units, expected)):
        whole = np.rint(UNIT * values).astype(np.int64)
        np.add.at(sums[:, place], groups, whole)
        sums[-1, place] += whole.sum()


def _effect(days: Sequence[Sequence[int]]) -> float:
    """Return the factor of a name, from units and expected units of its days."""
    sums = np.array(days, np.float64) / UNIT
    ratios = np.log((sums[:, 0] + 0.5) / (sums[:, 1] + 0.5))
    precision = 1.0 / (EFFECT_NOISE[0] + EFFECT_NOISE[1] / (sums[:, 1] + 0.5))
    mean, total = float((precision * ratios).sum() / precision.sum()), float(precision.sum())
    return float(np.exp(mean * EFFECT_SIGNAL * total / (EFFECT_SIGNAL * total + 1.0)))
