"""A moving average of sales without season, times the season: the benchmark of the VN2 contest.

The season of a period is the mean sales per item in it over the mean of all periods. It goes by the week of the
year where a period is a week, and else by the weekday.
"""

from datetime import date

import numpy as np

from driftmdp.kernels.arrays import Floats, Longs

PERIODS_AVERAGED = 13
WEEKS = 53


class SeasonalAverage:
    """The averages of many items, and the season that they share.

    Parameters
    ----------
    n_items
        How many.
    is_weekly
        Whether a period is a week.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.seasonal_average import SeasonalAverage
    >>> average = SeasonalAverage(1, is_weekly=False)
    >>> item = np.array([0])
    >>> for day in range(1, 15):
    ...     average.learn(day, item, np.array([14 if day % 7 == 1 else 7]))
    >>> average.forecast(15, item, np.array([2])).round(6)
    array([21.])
    """

    def __init__(self, n_items: int, is_weekly: bool) -> None:
        self._is_weekly = is_weekly
        n_seasons = WEEKS if is_weekly else 7
        self._totals, self._counts = np.zeros(n_seasons), np.zeros(n_seasons)
        self._units = np.zeros((n_items, PERIODS_AVERAGED), np.int64)
        self._seasons = np.full((n_items, PERIODS_AVERAGED), -1)
        self._learned = np.zeros(n_items, np.int64)

    def learn(self, day: int, items: Longs, units: Longs) -> None:
        """Learn the sales of a period, of the items that were on sale."""
        if not items.size:
            return
        season = self._season(day)
        self._totals[season] += units.mean()
        self._counts[season] += 1
        at = self._learned[items] % PERIODS_AVERAGED
        self._units[items, at], self._seasons[items, at] = units, season
        self._learned[items] += 1

    def forecast(self, day: int, items: Longs, periods: Longs) -> Floats:
        """Return what is asked for in so many periods, from a day on."""
        factors, step = self._factors(), 7 if self._is_weekly else 1
        ahead = [factors[self._season(day + step * place)] for place in range(int(periods.max(initial=0)))]
        sums = np.concatenate([[0.0], np.cumsum(ahead)])
        seasons = self._seasons[items]
        by_season = np.where(factors > 0, factors, 1.0)[seasons]
        without_season = np.where(seasons >= 0, self._units[items] / by_season, 0.0)
        base = without_season.sum(axis=1) / np.maximum(1, (seasons >= 0).sum(axis=1))
        return np.asarray(base * sums[periods])

    def _season(self, day: int) -> int:
        return date.fromordinal(day).isocalendar()[1] - 1 if self._is_weekly else (day - 1) % 7

    def _factors(self) -> Floats:
        """Return the season. Week 53 is as week 52, and weekdays that a week never had are closed."""
        totals, counts = self._totals.copy(), self._counts.copy()
        if self._is_weekly:
            totals[-1], counts[-1] = totals[-2], counts[-2]
        known = counts > 0
        means = np.divide(totals, counts, out=np.zeros(totals.size), where=known)
        overall = self._totals.sum() / max(1.0, self._counts.sum())
        if overall == 0.0:
            return np.ones(totals.size)
        unknown = 1.0 if self._is_weekly or self._counts.sum() < 7 else 0.0
        return np.where(known, means / overall, unknown)
