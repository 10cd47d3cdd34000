"""Tests of paired differences, and their correction for many tests."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from driftmdp.errors import InvalidInputError
from driftmdp.statistics.bootstrap import NUMBERS_AT_ONCE, Floats, as_sample
from driftmdp.validation import as_integer, as_table

MAX_EXACT_SEEDS = 24  # 2^24 sign patterns, counted from the sums of two halves with 2^12 each
RESAMPLES = 9999


def sign_flip_test(differences: ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Return the two-sided p-value of paired differences that are symmetric about 0, by flipping signs.

    Parameters
    ----------
    differences
        One difference per seed, shape (n,). Up to n = 24 all 2^n patterns are counted, so p is exact.
    resamples
        How many random patterns are drawn for a larger n.
    seed
        Selects the patterns.

    Examples
    --------
    >>> from driftmdp.statistics import sign_flip_test
    >>> sign_flip_test([1.0, 2.0, 3.0, 4.0])
    0.125
    >>> sign_flip_test([0.0, 0.0])
    1.0
    """
    sample = as_sample(differences, "differences", one_axis=True)
    draws, seed = as_integer(resamples, "resamples", minimum=1), as_integer(seed, "seed", minimum=0)
    threshold = abs(float(sample.sum())) - 1e-12 * float(np.abs(sample).sum())
    if sample.size <= MAX_EXACT_SEEDS:
        return _count_patterns(sample, threshold) * 0.5**sample.size
    hits, rows = 0, max(1, NUMBERS_AT_ONCE // sample.size)
    for block, start in enumerate(range(0, draws, rows)):
        hits += _hits(_signs(min(rows, draws - start), sample.size, seed, block), sample, threshold)
    return (1 + hits) / (1 + draws)


def smallest_p_value(n: int) -> float:
    """Return the least p-value that ``sign_flip_test`` can find with n seeds.

    Examples
    --------
    >>> from driftmdp.statistics import smallest_p_value
    >>> smallest_p_value(10), smallest_p_value(100)
    (0.001953125, 0.0001)
    """
    n = as_integer(n, "n", minimum=1)
    return 2.0 ** (1 - n) if n <= MAX_EXACT_SEEDS else 1 / (1 + RESAMPLES)


def _count_patterns(sample: Floats, threshold: float) -> int:
    """Return how many of the 2^n sign patterns give a sum of at least ``threshold`` in size.

    A pattern is a pattern of each half of the sample. For each sum of the first half, a search among the sorted
    sums of the second half counts its partners.
    """
    if threshold <= 0:
        return int(2**sample.size)
    first, second = (_signed_sums(half) for half in np.array_split(sample, 2))
    second.sort()
    above = second.size - np.searchsorted(second, threshold - first, side="left")
    below = np.searchsorted(second, -threshold - first, side="right")
    return int(above.sum() + below.sum())


def _signed_sums(values: Floats) -> Floats:
    """Return the sums of the values under all patterns of signs."""
    sums: Floats = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


@lru_cache(maxsize=4)  # drawing them takes ten times as long as using them
def _signs(rows: int, n: int, seed: int, block: int) -> Floats:
    bits = np.random.default_rng((seed, block)).integers(0, 2, size=(rows, n), dtype=np.int8)
    return 1.0 - 2.0 * bits.astype(np.float64)


def _hits(signs: Floats, sample: Floats, threshold: float) -> int:
    return int(np.count_nonzero(np.abs(signs @ sample) >= threshold))


def holm(p_values: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values in the order of the input. NaN stays NaN and is not counted.

    Examples
    --------
    >>> from driftmdp.statistics import holm
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
