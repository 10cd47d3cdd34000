"""What items share of their rhythm: a factor per week of the year and per weekday, for all items and by group.

A factor is the ratio of the demand that came to the demand that the items' slow levels expected. It is believed as
far as it repeats. With z the logarithm of such a ratio, for a cell (a week, a weekday) in different samples (years,
odd and even weeks):

    signal = E z_a z_b over samples a, b of one cell,    noise = tau + kappa / (units expected in the sample),

both fitted to all cells and groups together. The factor's logarithm is the mean over the samples, each weighed by
1 / noise, times signal / (signal + noise of the mean). First for all items, then for what each group has beyond it,
and for weekdays what each item has beyond its group.
Sums are whole numbers, so that they do not depend on the order in which sales are recorded.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Floats, Longs

WEEKS = 52
UNIT = 1024  # whole numbers that a unit counts in the sums
FIRST_UNITS = 0.5  # added to both sides of a ratio: a few units say little
FEWEST_PAIRS = 5  # of samples of one cell, from which on repeating is judged
HALF_YEAR = 26
GROWTH = 0.8, 1.25  # of all items' levels in a week, at the least and at the most


class Profile(NamedTuple):
    """Logarithms of ratios and the units that were expected, by (group, sample, cell). NaN: nothing was seen."""

    ratios: Floats
    expected: Floats


def week_of_year(days: Longs) -> Longs:
    """Return the week of the year, 0 to 51, that each day's week has: the last two are one.

    Examples
    --------
    >>> from datetime import date
    >>> import numpy as np
    >>> from driftmdp.inventory.pooled_factors import week_of_year
    >>> week_of_year(np.array([date(2026, 1, 1).toordinal(), date(2026, 12, 31).toordinal()])).tolist()
    [0, 51]
    """
    thursday = (days - 1) // 7 * 7 + 4  # whose year is that of its week, by ISO 8601
    year = (np.datetime64("0001-01-01", "D") + (thursday - 1)).astype("datetime64[Y]")
    new_year = year.astype("datetime64[D]") - np.datetime64("0001-01-01", "D")
    return np.minimum((thursday - 1 - new_year.astype(np.int64)) // 7, WEEKS - 1)


def level_path(levels: Floats, moves: Floats, periods: Longs) -> Floats:
    """Return how the items' levels went along, week by week, from 1 at the beginning.

    A level that is learned follows the season while the season is not known, and what it expects of a week is then
    too near to what comes: a season would be believed too small. Divided by its path, it stays where it began.

    Parameters
    ----------
    levels, moves
        Sums of the items' levels before each period, and of what it moved them, by (week, kind of period).
    periods
        That were counted, by the same: a day counts the levels again.
    """
    level, moved = (levels / np.maximum(periods, 1)).sum(axis=1), moves.sum(axis=1)
    growth = 1.0 + np.divide(moved, level, out=np.zeros_like(moved), where=level > 0)
    return np.concatenate([[1.0], np.cumprod(np.clip(growth, *GROWTH)[:-1])])


def season_factors(units: Floats, expected: Floats, weeks: Longs) -> Floats:
    """Return the factors of the seasons, shape (groups, 52). The last group is all items.

    Parameters
    ----------
    units, expected
        By (group, week), weeks in a row.
    weeks
        The week of the year of each.
    """
    everything = _repeatable(_season_profile(units[-1:], expected[-1:], weeks, np.zeros((1, WEEKS))))
    offsets = np.repeat(everything, len(units) - 1, axis=0)
    own = _repeatable(_season_profile(units[:-1], expected[:-1], weeks, offsets))
    return np.asarray(np.exp(np.concatenate([offsets + own, everything])))


def _season_profile(units: Floats, expected: Floats, weeks: Longs, offsets: Floats) -> Profile:
    """Return the profile by (group, year back from now, week), trends taken out by the mean of the year around."""
    n = weeks.size
    seasonal = expected * np.exp(offsets[:, weeks])
    first = np.clip(np.arange(n) - HALF_YEAR, 0, max(0, n - WEEKS))
    last = np.minimum(first + WEEKS, n)
    sums = [np.concatenate([np.zeros((len(x), 1)), np.cumsum(x, axis=1)], axis=1) for x in (units, seasonal)]
    around = [total[:, last] - total[:, first] for total in sums]
    trend = np.divide(around[0], around[1], out=np.ones_like(units), where=around[1] > 0)
    there = seasonal * trend + FIRST_UNITS
    ratios = np.where(expected > 0, np.log((units + FIRST_UNITS) / there), np.nan)
    years = (n - 1 - np.arange(n)) // WEEKS
    shape = (len(units), int(years.max(initial=0)) + 1, WEEKS)
    profile = Profile(np.full(shape, np.nan), np.ones(shape))
    profile.ratios[:, years, weeks], profile.expected[:, years, weeks] = ratios, there
    return profile


class WeekdayFactors(NamedTuple):
    """Factors by (group, weekday), the last group all items, and what each item has beyond its group's."""

    of_groups: Floats
    of_items: Floats


def weekday_factors(units: Floats, expected: Floats, groups: Longs, n_groups: int) -> WeekdayFactors:
    """Return the factors of the weekdays, from sums by (item, odd or even week, weekday)."""
    everything = _repeatable(
        _weekday_profile(units.sum(axis=0)[None], expected.sum(axis=0)[None], np.zeros((1, 7)))
    )
    offsets = np.repeat(everything, n_groups, axis=0)
    by_group = np.zeros((2, n_groups, 2, 7))
    np.add.at(by_group[0], groups, units)
    np.add.at(by_group[1], groups, expected)
    offsets = np.asarray(offsets + _repeatable(_weekday_profile(by_group[0], by_group[1], offsets)))
    own = _repeatable(_weekday_profile(units, expected, offsets[groups]))
    return WeekdayFactors(np.exp(np.concatenate([offsets, everything])), np.exp(own))


def _weekday_profile(units: Floats, expected: Floats, offsets: Floats) -> Profile:
    seasonal = expected * np.exp(offsets[:, None])
    totals = seasonal.sum(axis=2, keepdims=True)
    level = np.divide(units.sum(axis=2, keepdims=True), totals, out=np.ones_like(totals), where=totals > 0)
    there = seasonal * level + FIRST_UNITS
    return Profile(np.where(expected > 0, np.log((units + FIRST_UNITS) / there), np.nan), there)


def _repeatable(profile: Profile) -> Floats:
    """Return the mean logarithms by (group, cell), each believed as far as it repeats. Zeros if that is unknown."""
    ratios, expected = profile
    seen = ~np.isnan(ratios)
    squares, inverses = [], []
    for a in range(ratios.shape[1]):
        for b in range(a + 1, ratios.shape[1]):
            both = seen[:, a] & seen[:, b]
            one, other = ratios[:, a][both], ratios[:, b][both]
            squares.append(0.5 * (one - other) ** 2)
            inverses.append(0.5 / expected[:, a][both] + 0.5 / expected[:, b][both])
    if sum(map(len, squares)) < FEWEST_PAIRS:
        return np.zeros((ratios.shape[0], ratios.shape[2]))
    tau, kappa = _noise(np.concatenate(squares), np.concatenate(inverses))
    noise = tau + kappa / expected + 1e-9
    precision = np.where(seen, 1.0 / noise, 0.0)
    total = precision.sum(axis=1)
    known = np.where(seen, ratios, 0.0)
    mean = np.divide((known * precision).sum(axis=1), total, out=np.zeros_like(total), where=total > 0)
    # Of what was seen only: a group without sales must not change the last digit of a sum.
    weight = precision[seen]
    signal = max(0.0, float((weight * (known**2 - noise)[seen]).sum() / weight.sum()))
    return np.asarray(mean * signal * total / (signal * total + 1.0))


def _noise(squares: Floats, inverses: Floats) -> tuple[float, float]:
    """Fit squares = tau + kappa inverses by least squares, neither below 0."""
    weight = 1.0 / (inverses + np.median(inverses)) ** 2
    mean_x, mean_y = (float((weight * values).sum() / weight.sum()) for values in (inverses, squares))
    spread = float((weight * (inverses - mean_x) ** 2).sum())
    kappa = float((weight * (inverses - mean_x) * (squares - mean_y)).sum()) / spread if spread > 0 else 0.0
    kappa = max(0.0, kappa)
    tau = mean_y - kappa * mean_x
    return (tau, kappa) if tau >= 0 else (0.0, mean_y / mean_x)
