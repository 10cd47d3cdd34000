"""Estimates with bootstrap intervals: means, medians, ratios, slopes and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.statistics.bootstrap import NUMBERS_AT_ONCE, Floats, Resamples, as_paired_samples, as_sample, mean_of
from driftmdp.validation import as_list, as_vector


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate and its interval: floats, or arrays with one number per point.

    Attributes
    ----------
    estimate
        The statistic of the whole sample.
    low, high
        The ends of the interval, NaN for a single seed.
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
        One number per seed, shape (n,), or one row per seed and one column per point, shape (n, k).
    level
        The level of the interval, in (0, 1).
    resamples
        How many times n seeds are drawn with replacement. Each resample costs 8 n bytes in a cache.
    seed
        Selects the draws.

    Returns
    -------
    Interval
        Of floats, or of arrays of shape (k,).

    Examples
    --------
    >>> from driftmdp.statistics import mean_interval
    >>> found = mean_interval([4.0, 5.0, 7.0, 8.0, 6.0, 6.0])
    >>> found.estimate, round(found.low, 2), round(found.high, 2)
    (6.0, 4.5, 7.33)
    >>> mean_interval([[1.0, 2.0, 3.0], [1.0, 4.0, 3.0]]).high
    array([1., 4., 3.])
    """
    sample = as_sample(values, "values")
    table = sample.reshape(len(sample), -1)
    plan = Resamples(len(table), level, resamples, seed)
    width = max(1, NUMBERS_AT_ONCE // plan.resamples)
    ends = [plan.ends(plan.means(table[:, k : k + width])) for k in range(0, table.shape[1], width)]
    low, high = np.concatenate(ends, axis=1) if ends else np.empty((2, 0))
    if sample.ndim == 1:
        return Interval(float(mean_of(sample)), float(low[0]), float(high[0]), plan.level)
    return Interval(mean_of(table), low, high, plan.level)


def median_interval(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Return the median over seeds with its bootstrap interval.

    Examples
    --------
    >>> from driftmdp.statistics import median_interval
    >>> found = median_interval([4.0, 5.0, 7.0, 8.0, 6.0, 600.0])
    >>> found.estimate, found.low, found.high
    (6.5, 4.0, 600.0)
    """
    sample = as_sample(values, "values", one_axis=True)
    plan = Resamples(sample.size, level, resamples, seed)
    rows = max(1, NUMBERS_AT_ONCE // sample.size)
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
    >>> from driftmdp.statistics import difference_interval
    >>> found = difference_interval([4.0, 5.0, 9.0], [3.0, 4.0, 8.0])
    >>> found.estimate, found.low, found.high
    (1.0, 1.0, 1.0)
    """
    first, second = as_paired_samples(a, b, ("a", "b"))
    return mean_interval(first - second, level, resamples, seed)


def ratio_interval(
    numerator: ArrayLike, denominator: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the ratio of two means, resampled together by seed, with its bootstrap interval.

    An end is infinite where the sign of the denominator is uncertain.

    Raises
    ------
    InvalidInputError
        If the mean of the denominator is 0.

    Examples
    --------
    >>> from driftmdp.statistics import ratio_interval
    >>> found = ratio_interval([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    >>> found.estimate, found.low, found.high
    (2.0, 2.0, 2.0)
    """
    over, under = as_paired_samples(numerator, denominator, ("numerator", "denominator"), one_axis=True)
    whole = float(mean_of(under))
    if whole == 0:
        raise InvalidInputError("denominator must have a mean other than 0; got 0.")
    plan = Resamples(over.size, level, resamples, seed)
    above, below = plan.means(np.stack([over, under], axis=1))
    defined = np.sign(below) == np.sign(whole)
    with np.errstate(over="ignore"):
        ratios = above / np.where(defined, below, 1.0)
    low, high = plan.ends(ratios, defined)
    return Interval(float(mean_of(over)) / whole, float(low), float(high), plan.level)


def log_log_slope(
    horizons: ArrayLike, samples: Sequence[ArrayLike], level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the least-squares slope of log(mean) on log(T), with its bootstrap interval.

    Every horizon is resampled independently. The tails are those of the horizon with the fewest seeds.

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
        If some mean is not positive and so has no logarithm.

    Examples
    --------
    >>> from driftmdp.statistics import log_log_slope
    >>> found = log_log_slope([100, 400], [[9.0, 11.0], [18.0, 22.0]])
    >>> round(found.estimate, 6), found.low < 0.5 < found.high
    (0.5, True)
    """
    lengths = _as_horizons(horizons)
    rows = as_list(samples, "samples", "a list with a sample for each horizon")
    tables = [as_sample(sample, f"samples[{i}]", one_axis=True) for i, sample in enumerate(rows)]
    if len(tables) != lengths.size:
        rule = f"samples must have one entry for each of {lengths.size} horizons"
        raise InvalidInputError(f"{rule}; got {len(tables)}.")
    means = np.array([float(mean_of(table)) for table in tables])
    if (means <= 0).any():
        i = int(np.argmin(means))
        raise InvalidInputError(f"samples must have positive means; got {means[i]:g} at T = {lengths[i]:g}.")
    plan = Resamples(min(table.size for table in tables), level, resamples, seed)
    plans = [Resamples(table.size, level, resamples, seed, stream) for stream, table in enumerate(tables)]
    drawn = np.array([own.means(table[:, None])[0] for own, table in zip(plans, tables, strict=True)])
    defined = drawn.min(axis=0) > 0
    slopes = _slopes(lengths, np.column_stack([means, np.where(defined, drawn, 1.0)]))
    low, high = plan.ends(slopes[1:], defined)
    return Interval(float(slopes[0]), float(low), float(high), plan.level)


def _as_horizons(horizons: ArrayLike) -> Floats:
    lengths = as_vector(horizons, "horizons")
    if (lengths <= 0).any():
        i = int(np.argmin(lengths))
        raise InvalidInputError(f"horizons[{i}] must be positive; got {lengths[i]:g}.")
    if np.unique(lengths).size < 2:
        raise InvalidInputError(f"horizons must hold at least two distinct ones; got {lengths.tolist()}.")
    return lengths


def _slopes(horizons: Floats, means: Floats) -> Floats:
    """Return the slope of every column, shape (columns,), from means of shape (horizons, columns)."""
    x = np.log(horizons) - np.log(horizons).mean()
    slopes: Floats = np.zeros(means.shape[1])
    for weight, row in zip(x, np.log(means), strict=True):  # a matrix product would round equal columns unequally
        slopes += weight * row
    slopes /= np.sum(x * x)
    return slopes


@dataclass(frozen=True, eq=False)
class Ranking:
    """Bootstrap ranks of some agents: arrays with one number per agent.

    Attributes
    ----------
    mean_rank
        The rank of the agent's mean (1 is best, ties share the average), averaged over the resamples.
    low, high
        The percentile interval of that rank, NaN for a single seed.
    best_share
        The share of resamples in which the agent is best, ties split. NaN for a single seed.
    level
        The level of the interval.
    """

    mean_rank: Floats
    low: Floats
    high: Floats
    best_share: Floats
    level: float

    __repr__ = brief


def rank_shares(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Ranking:
    """Return the ranks of the agents' means over resampled seeds. Higher means are better.

    Parameters
    ----------
    values
        One row per seed and one column per agent, shape (n, k).
    level, resamples, seed
        As in :func:`mean_interval`, except that the percentile interval is not expanded.

    Examples
    --------
    >>> from driftmdp.statistics import rank_shares
    >>> found = rank_shares([[1.0, 3.0, 3.0], [2.0, 4.0, 4.0]])
    >>> found.mean_rank, found.best_share
    (array([3. , 1.5, 1.5]), array([0. , 0.5, 0.5]))
    """
    table = as_sample(values, "values")
    if table.ndim != 2 or table.shape[1] == 0:
        raise InvalidInputError(f"values must have shape (n seeds, k agents); got {table.shape}.")
    plan = Resamples(len(table), level, resamples, seed)
    means = plan.means(table)
    ranks, best = _ranks(means, tolerance=1e-12 * float(np.abs(table).max()))
    share = (best / best.sum(axis=0)).mean(axis=1)
    if plan.n == 1:
        share = np.full_like(share, np.nan)
    low, high = plan.ends(ranks, tail=(1 - plan.level) / 2)
    return Ranking(ranks.mean(axis=1), low, high, share, plan.level)


def _ranks(means: Floats, tolerance: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the rank of each row within its column, and whether no row is better, shape (k, resamples)."""
    ranks, best = np.empty_like(means), np.empty(means.shape, dtype=np.bool_)
    for k, row in enumerate(means):
        ahead = means - row
        better = np.count_nonzero(ahead > tolerance, axis=0)
        equal = np.count_nonzero(np.abs(ahead) <= tolerance, axis=0)
        ranks[k], best[k] = better + (equal + 1) / 2, better == 0
    return ranks, best
