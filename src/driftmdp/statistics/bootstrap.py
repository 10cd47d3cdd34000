"""The bootstrap: samples of seeds, which seeds each resample draws, and which order statistics end an interval."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.system import require_memory
from driftmdp.validation import LARGEST, as_integer, as_number, as_numbers, readonly

Floats = NDArray[np.float64]

NUMBERS_AT_ONCE = 2**21


def as_sample(values: ArrayLike, name: str, one_axis: bool = False) -> Floats:
    """Validate finite numbers of n seeds, shape (n,) or, unless ``one_axis``, (n, k)."""
    sample = as_numbers(values, name, "numbers")
    if sample.ndim not in (1, 2) or sample.shape[0] == 0:
        raise InvalidInputError(f"{name} must have shape (n,) or (n, k) with n at least 1; got {sample.shape}.")
    if one_axis and sample.ndim != 1:
        raise InvalidInputError(f"{name} must have shape (n,); got {sample.shape}.")
    wrong = np.argwhere(~(np.abs(sample) <= LARGEST))
    if len(wrong):
        where = ", ".join(map(str, wrong[0]))
        value = sample[tuple(wrong[0])]
        raise InvalidInputError(f"{name}[{where}] must be finite and at most {LARGEST:g} in size; got {value:g}.")
    return sample


def as_paired_samples(a: ArrayLike, b: ArrayLike, names: tuple[str, str], one_axis: bool = False) -> list[Floats]:
    """Validate two samples of the same seeds."""
    first, second = as_sample(a, names[0], one_axis), as_sample(b, names[1], one_axis)
    if first.shape != second.shape:
        rule = f"{names[0]} and {names[1]} must be paired by seed"
        raise InvalidInputError(f"{rule}; got shapes {first.shape} and {second.shape}.")
    return [first, second]


class Resamples:
    """Which seeds each resample draws, and which order statistics are the ends of an interval."""

    def __init__(self, n: int, level: float, resamples: int, seed: int, stream: int = 0) -> None:
        self.n = n
        self.level = as_number(level, "level")
        if not 0 < self.level < 1:
            raise InvalidInputError(f"level must be above 0 and below 1; got {self.level:g}.")
        self.resamples = as_integer(resamples, "resamples", minimum=1)
        require_memory(24 * n * self.resamples, f"resamples = {self.resamples:,}")
        self._key = n, self.resamples, as_integer(seed, "seed", minimum=0), stream

    def picks(self) -> NDArray[np.intp]:
        """Return the seeds that each resample draws, shape (resamples, n)."""
        return _picks(*self._key)

    def means(self, table: Floats) -> Floats:
        """Return the mean of every column in every resample, shape (k, resamples)."""
        centre = mean_of(table)
        drawn: Floats = centre[:, None] + (table - centre).T @ _counts(*self._key).T / self.n
        return drawn

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


@lru_cache(maxsize=8)
def _picks(n: int, resamples: int, seed: int, stream: int) -> NDArray[np.intp]:
    return readonly(np.random.default_rng((seed, stream)).integers(n, size=(resamples, n), dtype=np.intp))


@lru_cache(maxsize=8)
def _counts(n: int, resamples: int, seed: int, stream: int) -> Floats:
    """Return how often each resample draws each seed, shape (resamples, n)."""
    cells = _picks(n, resamples, seed, stream) + n * np.arange(resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n * resamples)
    return readonly(counts.reshape(resamples, n).astype(np.float64))


def mean_of(sample: Floats) -> Any:
    """Return the mean over seeds, clipped to the data: rounding must not give equal values a width."""
    return np.clip(sample.mean(axis=0), sample.min(axis=0), sample.max(axis=0))
