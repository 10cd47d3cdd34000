"""Uniform numbers for sample paths: common to all items, shifted by item and date, so that decisions repeat."""

import functools

import numpy as np
from numpy.typing import NDArray

from driftmdp.kernels.arrays import Floats

N_PATHS, PATHS_TOGETHER = 4096, 128  # sample paths, and how many in a row are spread evenly


@functools.lru_cache(maxsize=8)
def uniforms(columns: int) -> Floats:
    """Return uniform numbers by (path, column), each column of 128 paths in a row spread evenly.

    A column is the same however many there are: an item is decided alike alone and among others.

    Examples
    --------
    >>> from driftmdp.inventory.sample_draws import uniforms
    >>> drawn = uniforms(3)
    >>> drawn.shape, sorted((128 * drawn[:128, 0]).astype(int).tolist()) == list(range(128))
    ((4096, 3), True)
    """
    return np.stack([_column(number) for number in range(columns)], axis=1)


@functools.cache
def _column(number: int) -> Floats:
    rng, together = np.random.default_rng((20, number)), np.arange(PATHS_TOGETHER)
    ranks = np.concatenate([rng.permutation(together) for _ in range(N_PATHS // PATHS_TOGETHER)])
    return np.asarray((ranks + rng.random(N_PATHS)) / PATHS_TOGETHER)


def shifted_uniforms(moved: Floats, n_paths: int = N_PATHS) -> Floats:
    """Return the uniform numbers of one item's first paths, by (path, column), each column shifted.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.sample_draws import shifted_uniforms, uniforms
    >>> bool((shifted_uniforms(np.zeros(3)) == uniforms(3)).all())
    True
    """
    return np.asarray((uniforms(moved.size)[:n_paths] + moved) % 1.0)


def shifts(seeds: NDArray[np.uint64], day: int, columns: int) -> Floats:
    """Return a shift of each column in [0, 1), by (item, column): seeds from item and date, by splitmix64.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.sample_draws import shifts
    >>> shifts(np.array([1, 2], np.uint64), 739936, 2).round(2).tolist()
    [[0.43, 0.68], [0.13, 0.78]]
    """
    with np.errstate(over="ignore"):
        state = ((seeds << np.uint64(20)) ^ np.uint64(day))[:, None] * np.uint64(0x9E3779B97F4A7C15)
        state = state + np.arange(1, columns + 1, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return np.asarray((state >> np.uint64(11)).astype(np.float64) / float(1 << 53))
