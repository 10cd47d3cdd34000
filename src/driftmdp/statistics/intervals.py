"""Estimates with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftmdp import validation
from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.statistics.resampling import BLOCK, Resamples, mean_of, resampled_means
from driftmdp.statistics.samples import Floats, as_horizons, as_list, as_pair, as_sample


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate and its interval; floats, or arrays with one number per point.

    Attributes
    ----------
    estimate
        The statistic of the whole sample.
    low, high
        The ends of the interval; NaN where one seed is all there is.
    level
        The share of such intervals that should cover the truth.
    """

    estimate: Any
    low: Any
    high: Any
    level: float

    __repr__ = brief


def mean_interval(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Return the mean over seeds with its bootstrap interval.

    Parameters
    ----------
    values
        One number per seed, shape (n,); or one row per seed and one column per point, shape (n, k).
    level
        The level of the interval, in (0, 1).
    resamples
        How many times n seeds are drawn with replacement; every one costs 8 n bytes in a cache.
    seed
        Which draws.

    Returns
    -------
    Interval
        Of floats, or of arrays of shape (k,).

    Examples
    --------
    >>> found = mean_interval([4.0, 5.0, 7.0, 8.0, 6.0, 6.0])
    >>> found.estimate, round(found.low, 2), round(found.high, 2)
    (6.0, 4.5, 7.33)
    >>> mean_interval([[1.0, 2.0, 3.0], [1.0, 4.0, 3.0]]).high
    array([1., 4., 3.])
    """
    sample = as_sample(values, "values")
    table = sample.reshape(len(sample), -1)
    plan = Resamples(len(table), level, resamples, seed)
    width = max(1, BLOCK // plan.resamples)
    ends = [plan.ends(resampled_means(table[:, k : k + width], plan)) for k in range(0, table.shape[1], width)]
    low, high = np.concatenate(ends, axis=1) if ends else np.empty((2, 0))
    if sample.ndim == 1:
        return Interval(float(mean_of(sample)), float(low[0]), float(high[0]), plan.level)
    return Interval(mean_of(table), low, high, plan.level)


def median_interval(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Return the median over seeds with its bootstrap interval.

    Examples
    --------
    >>> found = median_interval([4.0, 5.0, 7.0, 8.0, 6.0, 600.0])
    >>> found.estimate, found.low, found.high
    (6.5, 4.0, 600.0)
    """
    sample = as_list(values, "values")
    plan = Resamples(sample.size, level, resamples, seed)
    rows = max(1, BLOCK // sample.size)
    picks = plan.picks()
    medians = [np.median(sample[picks[i : i + rows]], axis=1) for i in range(0, len(picks), rows)]
    low, high = plan.ends(np.concatenate(medians))
    return Interval(float(np.median(sample)), float(low), float(high), plan.level)


def difference_interval(
    a: ArrayLike, b: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the mean of the paired differences a - b with its bootstrap interval.

    Examples
    --------
    >>> found = difference_interval([4.0, 5.0, 9.0], [3.0, 4.0, 8.0])
    >>> found.estimate, found.low, found.high
    (1.0, 1.0, 1.0)
    """
    first, second = as_pair(a, b, "a", "b")
    return mean_interval(first - second, level, resamples, seed)


def ratio_interval(
    numerator: ArrayLike, denominator: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the ratio of two means, resampled together by seed, with its bootstrap interval.

    An end is infinite where the sign of the denominator is not sure.

    Raises
    ------
    InvalidInputError
        If the mean of the denominator is 0.

    Examples
    --------
    >>> found = ratio_interval([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    >>> found.estimate, found.low, found.high
    (2.0, 2.0, 2.0)
    """
    over, under = as_pair(as_list(numerator, "numerator"), denominator, "numerator", "denominator")
    whole = float(mean_of(under))
    if whole == 0:
        raise InvalidInputError("denominator must have a mean other than 0; got 0.")
    plan = Resamples(over.size, level, resamples, seed)
    above, below = resampled_means(np.stack([over, under], axis=1), plan)
    defined = np.sign(below) == np.sign(whole)
    with np.errstate(over="ignore"):
        ratios = above / np.where(defined, below, 1.0)
    low, high = plan.ends(ratios, defined)
    return Interval(float(mean_of(over)) / whole, float(low), float(high), plan.level)


def log_log_slope(
    horizons: ArrayLike, samples: Sequence[ArrayLike], level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the least-squares slope of log(mean) on log(T), with its bootstrap interval.

    Every horizon is resampled independently; the tails are those of the horizon with the fewest seeds.

    Parameters
    ----------
    horizons
        The horizons T, positive, at least two of them distinct.
    samples
        For every horizon one number per seed, with a positive mean.
    level, resamples, seed
        As in :func:`mean_interval`.

    Raises
    ------
    InvalidInputError
        If some mean is not positive: it has no logarithm.

    Examples
    --------
    >>> found = log_log_slope([100, 400], [[9.0, 11.0], [18.0, 22.0]])
    >>> round(found.estimate, 6), found.low < 0.5 < found.high
    (0.5, True)
    """
    lengths = as_horizons(horizons)
    rows = validation.as_list(samples, "samples", "a list with a sample for each horizon")
    tables = [as_list(sample, f"samples[{i}]") for i, sample in enumerate(rows)]
    if len(tables) != lengths.size:
        raise InvalidInputError(
            f"samples must have one entry for each of {lengths.size} horizons; got {len(tables)}."
        )
    means = np.array([float(mean_of(table)) for table in tables])
    if (means <= 0).any():
        i = int(np.argmin(means))
        raise InvalidInputError(f"samples must have positive means; got {means[i]:g} at T = {lengths[i]:g}.")
    plan = Resamples(min(table.size for table in tables), level, resamples, seed)
    drawn = np.array(
        [
            resampled_means(table[:, None], Resamples(table.size, level, resamples, seed, stream))[0]
            for stream, table in enumerate(tables)
        ]
    )
    defined = drawn.min(axis=0) > 0
    slopes = _slopes(lengths, np.column_stack([means, np.where(defined, drawn, 1.0)]))
    low, high = plan.ends(slopes[1:], defined)
    return Interval(float(slopes[0]), float(low), float(high), plan.level)


def _slopes(horizons: Floats, means: Floats) -> Floats:
    """Return the slope of every column, shape (columns,), from means of shape (horizons, columns)."""
    x = np.log(horizons) - np.log(horizons).mean()
    slopes: Floats = np.zeros(means.shape[1])
    for weight, row in zip(x, np.log(means), strict=True):  # a matrix product rounds equal columns unequally here
        slopes += weight * row
    slopes /= np.sum(x * x)
    return slopes
