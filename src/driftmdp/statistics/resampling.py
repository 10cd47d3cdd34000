"""Drawing seeds again: which ones, what their means are, and which order statistics are the ends of an interval."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.statistics.samples import Floats
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number, readonly

BLOCK = 2**21  # numbers held at a time


class Resamples:
    """Which seeds each resample draws, and which order statistics are the ends."""

    def __init__(self, n: int, level: float, resamples: int, seed: int, stream: int = 0) -> None:
        self.n = n
        self.level = as_number(level, "level")
        if not 0 < self.level < 1:
            raise InvalidInputError(f"level must be above 0 and below 1; got {self.level:g}.")
        self.resamples = as_integer(resamples, "resamples", minimum=1)
        require_memory(24 * n * self.resamples, f"resamples = {self.resamples:,}")
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


def generator(seed: int, stream: int = 0) -> np.random.Generator:
    """Return the random numbers of a seed; streams are independent."""
    return np.random.default_rng((as_integer(seed, "seed", minimum=0), stream))


@lru_cache(maxsize=8)
def _picks(n: int, resamples: int, seed: int, stream: int) -> NDArray[np.intp]:
    return readonly(generator(seed, stream).integers(n, size=(resamples, n), dtype=np.intp))


@lru_cache(maxsize=8)
def _counts(n: int, resamples: int, seed: int, stream: int) -> Floats:
    cells = _picks(n, resamples, seed, stream) + n * np.arange(resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n * resamples)
    return readonly(counts.reshape(resamples, n).astype(np.float64))


def mean_of(sample: Floats) -> Any:
    """Return the mean over seeds, kept within the data so that rounding gives equal values no width."""
    return np.clip(sample.mean(axis=0), sample.min(axis=0), sample.max(axis=0))


def resampled_means(table: Floats, plan: Resamples) -> Floats:
    """Return the mean of every column in every resample, shape (k, resamples)."""
    centre = mean_of(table)
    drawn: Floats = centre[:, None] + (table - centre).T @ plan.counts().T / plan.n
    return drawn
