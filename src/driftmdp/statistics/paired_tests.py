"""Tests of paired differences, and their correction for many tests."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from driftmdp.errors import InvalidInputError
from driftmdp.statistics.bootstrap import NUMBERS_AT_ONCE, Floats, as_sample
from driftmdp.validation import as_integer, as_table

MAX_EXACT_SEEDS = 13  # 2^13 = 8192 sign patterns


def sign_flip_test(differences: ArrayLike, resamples: int = 9999, seed: int = 0) -> float:
    """Return the two-sided p-value of paired differences that are symmetric about 0, by flipping signs.

    Parameters
    ----------
    differences
        One difference per seed, shape (n,). Up to n = 13 all 2^n patterns are tried, so p is exact.
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
        bits = np.arange(2**sample.size)[:, None] >> np.arange(sample.size) & 1
        signs: Floats = 1.0 - 2.0 * bits.astype(np.float64)
        return _hits(signs, sample, threshold) / len(signs)
    hits, rows = 0, max(1, NUMBERS_AT_ONCE // sample.size)
    for block, start in enumerate(range(0, draws, rows)):
        hits += _hits(_signs(min(rows, draws - start), sample.size, seed, block), sample, threshold)
    return (1 + hits) / (1 + draws)


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
