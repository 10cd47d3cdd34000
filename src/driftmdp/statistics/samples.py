"""What may be given as a sample: one number a seed, or one row a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.validation import LARGEST, as_table, as_vector

Floats = NDArray[np.float64]


def as_sample(values: ArrayLike, name: str) -> Floats:
    """Return ``values`` as finite numbers, shape (n,) or (n, k) for n seeds."""
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


def as_list(values: ArrayLike, name: str) -> Floats:
    """Return ``values`` as one finite number per seed, shape (n,)."""
    sample = as_sample(values, name)
    if sample.ndim != 1:
        raise InvalidInputError(f"{name} must have shape (n,); got {sample.shape}.")
    return sample


def as_pair(a: ArrayLike, b: ArrayLike, first: str, second: str) -> tuple[Floats, Floats]:
    """Return two samples of the same seeds."""
    left, right = as_sample(a, first), as_sample(b, second)
    if left.shape != right.shape:
        raise InvalidInputError(
            f"{first} and {second} must be paired by seed; got shapes {left.shape} and {right.shape}."
        )
    return left, right


def as_horizons(horizons: ArrayLike) -> Floats:
    """Return positive horizons, at least two of them distinct."""
    lengths = as_vector(horizons, "horizons")
    if (lengths <= 0).any():
        i = int(np.argmin(lengths))
        raise InvalidInputError(f"horizons[{i}] must be positive; got {lengths[i]:g}.")
    if np.unique(lengths).size < 2:
        raise InvalidInputError(f"horizons must hold at least two distinct ones; got {lengths.tolist()}.")
    return lengths
