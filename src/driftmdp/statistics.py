"""What a handful of seeds can say: intervals, tests and rankings.

A seed is the unit of replication: row i of every sample belongs to seed i, and whole seeds are drawn again. All of
it is deterministic: which seeds are drawn depends on the number of seeds, ``resamples`` and ``seed`` only, so two
samples of as many seeds are resampled alike.

========================  ==================================================================================
interval                  expanded percentile bootstrap, Hesterberg (2015): the tail alpha / 2 is replaced by
                          Phi(-sqrt(n / (n - 1)) t), t the 1 - alpha / 2 quantile of Student's law with
                          n - 1 degrees of freedom. Ends are order statistics, rounded outwards.
paired test               sign flips of the differences; every pattern if n <= 13, otherwise random ones and
                          (1 + hits) / (1 + draws), which is never 0, Phipson and Smyth (2010)
many tests                Holm (1979)
========================  ==================================================================================

What to expect of a 95% interval for a mean, by simulation (the tests repeat it): with normal data it covers 95% at
n = 50, 94.6% at n = 10, 92% at n = 5, and 75% and 49% at n = 3 and 2, where it cannot be wider than the data; with
skewed data less (exponential: 94% at n = 50, 91% at n = 10).

Where a resample has no value (a ratio whose denominator changes its sign, the logarithm of a negative mean) it
counts as minus infinity for the low end and as plus infinity for the high end.

References
----------
T. Hesterberg, What teachers should know about the bootstrap, The American Statistician 69(4), 2015.
B. Phipson and G. Smyth, Permutation p-values should never be zero, 2010.
S. Holm, A simple sequentially rejective multiple test procedure, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.validation import LARGEST, as_integer, as_number, as_table, as_vector, readonly

__all__ = [
    "Interval",
    "Ranking",
    "difference_interval",
    "holm",
    "log_log_slope",
    "mean_interval",
    "median_interval",
    "rank_shares",
    "ratio_interval",
    "sign_flip_test",
]

Floats = NDArray[np.float64]

_BLOCK = 2**21  # numbers held at a time
_EXACT_UP_TO = 13  # 2^13 = 8192 sign patterns


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


@dataclass(frozen=True, eq=False)
class Ranking:
    """How sure the order of some agents is; arrays with one number per agent.

    Attributes
    ----------
    mean_rank
        The rank of the agent's mean (1 is best, ties share the average), averaged over the resamples.
    low, high
        The percentile interval of that rank; NaN where one seed is all there is.
    best_share
        The share of resamples in which the agent is best, ties split; NaN where one seed is all there is.
    level
        The level of the interval.
    """

    mean_rank: Floats
    low: Floats
    high: Floats
    best_share: Floats
    level: float


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
    sample = _as_sample(values, "values")
    table = sample.reshape(len(sample), -1)
    plan = _Plan(len(table), level, resamples, seed)
    width = max(1, _BLOCK // plan.resamples)
    ends = [plan.ends(_resampled_means(table[:, k : k + width], plan)) for k in range(0, table.shape[1], width)]
    low, high = np.concatenate(ends, axis=1) if ends else np.empty((2, 0))
    if sample.ndim == 1:
        return Interval(float(_mean(sample)), float(low[0]), float(high[0]), plan.level)
    return Interval(_mean(table), low, high, plan.level)


def median_interval(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Return the median over seeds with its bootstrap interval.

    Examples
    --------
    >>> found = median_interval([4.0, 5.0, 7.0, 8.0, 6.0, 600.0])
    >>> found.estimate, found.low, found.high
    (6.5, 4.0, 600.0)
    """
    sample = _as_list(values, "values")
    plan = _Plan(sample.size, level, resamples, seed)
    rows = max(1, _BLOCK // sample.size)
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
    first, second = _as_pair(a, b, "a", "b")
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
    over, under = _as_pair(_as_list(numerator, "numerator"), denominator, "numerator", "denominator")
    whole = float(_mean(under))
    if whole == 0:
        raise InvalidInputError("denominator must have a mean other than 0; got 0.")
    plan = _Plan(over.size, level, resamples, seed)
    above, below = _resampled_means(np.stack([over, under], axis=1), plan)
    defined = np.sign(below) == np.sign(whole)
    with np.errstate(over="ignore"):
        ratios = above / np.where(defined, below, 1.0)
    low, high = plan.ends(ratios, defined)
    return Interval(float(_mean(over)) / whole, float(low), float(high), plan.level)


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
    lengths = _as_horizons(horizons)
    tables = [_as_list(sample, f"samples[{i}]") for i, sample in enumerate(samples)]
    if len(tables) != lengths.size:
        raise InvalidInputError(
            f"samples must have one entry for each of {lengths.size} horizons; got {len(tables)}."
        )
    means = np.array([float(_mean(table)) for table in tables])
    if (means <= 0).any():
        i = int(np.argmin(means))
        raise InvalidInputError(f"samples must have positive means; got {means[i]:g} at T = {lengths[i]:g}.")
    plan = _Plan(min(table.size for table in tables), level, resamples, seed)
    drawn = np.array(
        [
            _resampled_means(table[:, None], _Plan(table.size, level, resamples, seed, stream))[0]
            for stream, table in enumerate(tables)
        ]
    )
    defined = drawn.min(axis=0) > 0
    low, high = plan.ends(_slopes(lengths, np.where(defined, drawn, 1.0)), defined)
    return Interval(float(_slopes(lengths, means)), float(low), float(high), plan.level)


def sign_flip_test(differences: ArrayLike, resamples: int = 9999, seed: int = 0) -> float:
    """Return the two-sided p-value of paired differences that are symmetric about 0, by flipping signs.

    Parameters
    ----------
    differences
        One difference per seed, shape (n,). Up to n = 13 all 2^n patterns are tried, so p is exact.
    resamples
        How many random patterns are drawn for a larger n.
    seed
        Which patterns.

    Examples
    --------
    >>> sign_flip_test([1.0, 2.0, 3.0, 4.0])
    0.125
    >>> sign_flip_test([0.0, 0.0])
    1.0
    """
    sample = _as_list(differences, "differences")
    draws, seed = as_integer(resamples, "resamples", minimum=1), as_integer(seed, "seed", minimum=0)
    threshold = abs(float(sample.sum())) - 1e-12 * float(np.abs(sample).sum())
    if sample.size <= _EXACT_UP_TO:
        bits = np.arange(2**sample.size)[:, None] >> np.arange(sample.size) & 1
        signs: Floats = 1.0 - 2.0 * bits.astype(np.float64)
        return _hits(signs, sample, threshold) / len(signs)
    hits, rows = 0, max(1, _BLOCK // sample.size)
    for block, start in enumerate(range(0, draws, rows)):
        hits += _hits(_signs(min(rows, draws - start), sample.size, seed, block), sample, threshold)
    return (1 + hits) / (1 + draws)


def holm(p_values: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values in the order of the input; NaN stays NaN and is not counted.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")])
    array([0.03, 0.06, 0.06,  nan])
    """
    raw = as_table(p_values, "p_values")
    if raw.ndim != 1 or (raw.size and raw.dtype.kind not in "fiu"):
        raise InvalidInputError(f"p_values must be a list of numbers; got {p_values!r}.")
    adjusted = raw.astype(np.float64)
    wrong = np.flatnonzero((adjusted < 0) | (adjusted > 1))
    if wrong.size:
        raise InvalidInputError(f"p_values[{wrong[0]}] must be within [0, 1]; got {adjusted[wrong[0]]:g}.")
    tests = np.flatnonzero(~np.isnan(adjusted))
    order = tests[np.argsort(adjusted[tests], kind="stable")]
    steps = adjusted[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def rank_shares(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Ranking:
    """Return how sure the ranks of the agents' means are, by resampling whole seeds; higher is better.

    Parameters
    ----------
    values
        One row per seed and one column per agent, shape (n, k).
    level, resamples, seed
        As in :func:`mean_interval`; here the percentile interval is the plain one.

    Examples
    --------
    >>> found = rank_shares([[1.0, 3.0, 3.0], [2.0, 4.0, 4.0]])
    >>> found.mean_rank, found.best_share
    (array([3. , 1.5, 1.5]), array([0. , 0.5, 0.5]))
    """
    table = _as_sample(values, "values")
    if table.ndim != 2 or table.shape[1] == 0:
        raise InvalidInputError(f"values must have shape (n seeds, k agents); got {table.shape}.")
    plan = _Plan(len(table), level, resamples, seed)
    means = _resampled_means(table, plan)
    ranks, best = _ranks(means, tolerance=1e-12 * float(np.abs(table).max()))
    share = (best / best.sum(axis=0)).mean(axis=1)
    if plan.n == 1:
        share = np.full_like(share, np.nan)
    low, high = plan.ends(ranks, tail=(1 - plan.level) / 2)
    return Ranking(ranks.mean(axis=1), low, high, share, plan.level)


class _Plan:
    """Which seeds each resample draws, and which order statistics are the ends."""

    def __init__(self, n: int, level: float, resamples: int, seed: int, stream: int = 0) -> None:
        self.n = n
        self.level = as_number(level, "level")
        if not 0 < self.level < 1:
            raise InvalidInputError(f"level must be above 0 and below 1; got {self.level:g}.")
        self.resamples = as_integer(resamples, "resamples", minimum=1)
        self.seed = as_integer(seed, "seed", minimum=0)
        self.stream = stream

    def picks(self) -> NDArray[np.intp]:
        """Return the seeds that each resample draws, shape (resamples, n)."""
        return _picks(self.n, self.resamples, self.seed, self.stream)

    def counts(self) -> Floats:
        """Return how often each resample draws each seed, shape (resamples, n)."""
        return _counts(self.n, self.resamples, self.seed, self.stream)

    def ends(self, drawn: Floats, defined: NDArray[np.bool_] | None = None, tail: float | None = None) -> Floats:
        """Return the low and the high end over the last axis of ``drawn``."""
        if self.n == 1:
            return np.full((2, *drawn.shape[:-1]), np.nan)
        tail = _expanded_tail(self.n, self.level) if tail is None else tail
        first = math.floor(tail * (self.resamples - 1) + 1e-9)
        last = self.resamples - 1 - first
        if defined is not None and not defined.all():
            lows, highs = np.where(defined, drawn, -np.inf), np.where(defined, drawn, np.inf)
            return np.array([np.partition(lows, first)[first], np.partition(highs, last)[last]])
        ordered = np.partition(drawn, (first, last), axis=-1)
        return np.stack([ordered[..., first], ordered[..., last]])


@lru_cache(maxsize=256)
def _expanded_tail(n: int, level: float) -> float:
    from scipy.special import ndtr, stdtrit  # slow to import, and only needed here

    quantile = float(stdtrit(n - 1, 0.5 + level / 2))
    return float(ndtr(-math.sqrt(n / (n - 1)) * quantile))


def _generator(seed: int, stream: int = 0) -> np.random.Generator:
    return np.random.default_rng((as_integer(seed, "seed", minimum=0), stream))


@lru_cache(maxsize=8)
def _picks(n: int, resamples: int, seed: int, stream: int) -> NDArray[np.intp]:
    return readonly(_generator(seed, stream).integers(n, size=(resamples, n), dtype=np.intp))


@lru_cache(maxsize=8)
def _counts(n: int, resamples: int, seed: int, stream: int) -> Floats:
    cells = _picks(n, resamples, seed, stream) + n * np.arange(resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n * resamples)
    return readonly(counts.reshape(resamples, n).astype(np.float64))


def _mean(sample: Floats) -> Any:
    # Kept within the data, so that rounding gives equal values no width.
    return np.clip(sample.mean(axis=0), sample.min(axis=0), sample.max(axis=0))


def _resampled_means(table: Floats, plan: _Plan) -> Floats:
    """Return the mean of every column in every resample, shape (k, resamples)."""
    centre = _mean(table)
    drawn: Floats = centre[:, None] + (table - centre).T @ plan.counts().T / plan.n
    return drawn


def _slopes(horizons: Floats, means: Floats) -> Any:
    x = np.log(horizons) - np.log(horizons).mean()
    return np.tensordot(x, np.log(means), axes=1) / (x @ x)


@lru_cache(maxsize=4)  # drawing them takes ten times as long as using them
def _signs(rows: int, n: int, seed: int, block: int) -> Floats:
    return 1.0 - 2.0 * _generator(seed, block).integers(0, 2, size=(rows, n), dtype=np.int8).astype(np.float64)


def _hits(signs: Floats, sample: Floats, threshold: float) -> int:
    return int(np.count_nonzero(np.abs(signs @ sample) >= threshold))


def _ranks(means: Floats, tolerance: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the rank of each row within its column, and whether none is better; shape (k, resamples)."""
    ranks, best = np.empty_like(means), np.empty(means.shape, dtype=np.bool_)
    for k, row in enumerate(means):
        ahead = means - row
        better = np.count_nonzero(ahead > tolerance, axis=0)
        equal = np.count_nonzero(np.abs(ahead) <= tolerance, axis=0)
        ranks[k], best[k] = better + (equal + 1) / 2, better == 0
    return ranks, best


def _as_sample(values: ArrayLike, name: str) -> Floats:
    table = as_table(values, name)
    if table.ndim not in (1, 2) or table.shape[0] == 0:
        raise InvalidInputError(f"{name} must have shape (n,) or (n, k) with n at least 1; got {table.shape}.")
    if table.dtype.kind not in "fiub":
        raise InvalidInputError(f"{name} must be numbers; got {table.dtype}.")
    sample = table.astype(np.float64)
    wrong = np.argwhere(~(np.abs(sample) <= LARGEST))
    if len(wrong):
        where = ", ".join(map(str, wrong[0]))
        value = sample[tuple(wrong[0])]
        raise InvalidInputError(f"{name}[{where}] must be finite and at most {LARGEST:g} in size; got {value:g}.")
    return sample


def _as_list(values: ArrayLike, name: str) -> Floats:
    """Return ``values`` as one finite number per seed, shape (n,)."""
    sample = _as_sample(values, name)
    if sample.ndim != 1:
        raise InvalidInputError(f"{name} must have shape (n,); got {sample.shape}.")
    return sample


def _as_pair(a: ArrayLike, b: ArrayLike, first: str, second: str) -> tuple[Floats, Floats]:
    left, right = _as_sample(a, first), _as_sample(b, second)
    if left.shape != right.shape:
        raise InvalidInputError(
            f"{first} and {second} must be paired by seed; got shapes {left.shape} and {right.shape}."
        )
    return left, right


def _as_horizons(horizons: ArrayLike) -> Floats:
    lengths = as_vector(horizons, "horizons")
    if (lengths <= 0).any():
        i = int(np.argmin(lengths))
        raise InvalidInputError(f"horizons[{i}] must be positive; got {lengths[i]:g}.")
    if np.unique(lengths).size < 2:
        raise InvalidInputError(f"horizons must hold at least two distinct ones; got {lengths.tolist()}.")
    return lengths
