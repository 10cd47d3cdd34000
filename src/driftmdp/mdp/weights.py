"""The weight of each anchor at each step (a dense table, a CSR matrix, or one anchor per step), and the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Ints
from driftmdp.mdp.sparse import check_distributions, readonly_csr, sound_csr
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_table, readonly

MAX_HORIZON = 2**31 - 2  # kernels count with int32
WORLD_BYTES_PER_STEP = 8  # while a world is made
BYTES_PER_WEIGHT = 32  # of a step that mixes anchors


class Weights:
    """Weights on K anchors for T steps, kept as integers if each step names one anchor, else as CSR."""

    __slots__ = ("_index", "_matrix", "_shape")

    def __init__(self, index: Ints | None, matrix: sp.csr_array | None, shape: tuple[int, int]) -> None:
        self._index, self._matrix, self._shape = index, matrix, shape

    @classmethod
    def parse(cls, weights: Any, n_anchors: int, name: str, distribution: bool) -> Weights:
        """Validate weights from a user. With ``distribution``, rows must be non-negative and sum to 1."""
        if sp.issparse(weights):
            return cls._of_matrix(weights, n_anchors, name, distribution)
        table = as_table(weights, name)
        if table.ndim == 1 and table.dtype.kind in "iu":
            return cls.of_index(table, n_anchors, name)
        if table.ndim != 2 or table.dtype.kind not in "iuf":
            rule = f"{name} must be a (T, K) table of numbers, or the anchor of each step as T whole numbers"
            raise InvalidInputError(f"{rule}; got {table.dtype} of shape {table.shape}.")
        return cls._of_matrix(table, n_anchors, name, distribution)

    @classmethod
    def of_index(cls, index: NDArray[Any], n_anchors: int, name: str = "weights") -> Weights:
        """Return weights that put everything on anchor ``index[t - 1]`` at step t."""
        if index.size == 0:
            raise InvalidInputError(f"{name} must cover at least one step; got none.")
        wrong = np.flatnonzero((index < 0) | (index >= n_anchors))
        if wrong.size:
            rule = f"{name}[t={wrong[0] + 1}] must name one of the anchors 0 .. {n_anchors - 1}"
            raise InvalidInputError(f"{rule}; got {index[wrong[0]]}.")
        return cls(index.astype(np.int32), None, (index.size, n_anchors))

    @classmethod
    def _of_matrix(cls, table: Any, n_anchors: int, name: str, distribution: bool) -> Weights:
        if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] != n_anchors:
            rule = f"{name} must have shape (T, K) with K = {n_anchors} anchors and T >= 1"
            raise InvalidInputError(f"{rule}; got {table.shape}.")
        matrix = sound_csr(table, name)
        if distribution:
            hint = " Only reward_weights may be other than a distribution."
            check_distributions(matrix, lambda step: f"{name}[t={step + 1}]", "anchor", hint)
        elif not np.isfinite(matrix.data).all():
            entry = np.flatnonzero(~np.isfinite(matrix.data))[0]
            step = np.searchsorted(matrix.indptr, entry, side="right")
            raise InvalidInputError(f"{name}[t={step}] must be finite; got {matrix.data[entry]}.")
        matrix.eliminate_zeros()
        return cls(None, matrix, (int(matrix.shape[0]), n_anchors))

    @property
    def shape(self) -> tuple[int, int]:
        """T and K."""
        return self._shape

    @property
    def horizon(self) -> int:
        """The number of steps, T."""
        return self._shape[0]

    @property
    def index(self) -> Ints | None:
        """The anchor of each step, shape (T,), read-only. None if steps mix anchors."""
        return None if self._index is None else readonly(self._index)

    @property
    def matrix(self) -> sp.csr_array:
        """The weights as a CSR matrix of shape (T, K), read-only."""
        return readonly_csr(self.arrays)

    @property
    def arrays(self) -> sp.csr_array:
        """The matrix itself, whose arrays kernels take. Never write to them."""
        if self._matrix is None:
            rows = np.arange(self.horizon + 1, dtype=np.int32)
            parts: Any = (np.ones(self.horizon), self._index, rows)
            self._matrix = sp.csr_array(parts, shape=self._shape)
        return self._matrix

    @property
    def has_one_anchor_per_step(self) -> bool:
        """Whether every step has exactly one anchor."""
        return self._index is not None or bool((np.diff(self.arrays.indptr) == 1).all())

    def row(self, step: int) -> tuple[Ints, NDArray[np.float64]]:
        """Return the anchors of a 0-based step and their weights, read-only."""
        if self._index is not None:
            return readonly(self._index[step : step + 1]), np.ones(1)
        matrix = self.arrays
        entries = slice(matrix.indptr[step], matrix.indptr[step + 1])
        return readonly(matrix.indices[entries]), readonly(matrix.data[entries])

    def between(self, first: int, last: int) -> Weights:
        """Return the weights of the 0-based steps ``first .. last - 1``."""
        if self._index is not None:
            return Weights.of_index(self._index[first:last], self._shape[1])
        return Weights(None, self.arrays[first:last], (last - first, self._shape[1]))

    def labels(self) -> NDArray[np.integer[Any]]:
        """Return a number for each step's row, shape (T,). Equal rows have equal numbers, and others seldom do."""
        if self._index is not None:
            return self._index
        directions = np.random.default_rng(0).standard_normal((self._shape[1], 2))
        projections = np.ascontiguousarray(self.arrays @ directions)
        return np.unique(projections.view(np.complex128).ravel(), return_inverse=True)[1]

    def differ(self, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return, for each step t, whether its row differs from that of ``steps[t]``."""
        if self._index is not None:
            return np.asarray(self._index != self._index[steps])
        return np.asarray(abs(self.arrays - self.arrays[steps]).max(axis=1).toarray().ravel() > 0)

    def __repr__(self) -> str:
        return f"<Weights: {counted(self.horizon, 'step')}, {counted(self._shape[1], 'anchor')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        matrix = None if self._index is not None else self._matrix
        return Weights, (self._index, matrix, self._shape)


def as_horizon(value: Any, n_weights: int = 0, name: str = "horizon") -> int:
    """Validate a number of steps T.

    Parameters
    ----------
    value, name
        The number, and what errors call it.
    n_weights
        How many weights a step has if it mixes anchors, 0 if it names one.

    Examples
    --------
    >>> from driftmdp.mdp.weights import as_horizon
    >>> as_horizon(10**15)
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: horizon = 1,000,000,000,000,000 must fit into memory; it needs about ...
    """
    steps = as_integer(value, name, minimum=1)
    require_memory(steps * (WORLD_BYTES_PER_STEP + BYTES_PER_WEIGHT * n_weights), f"{name} = {steps:,}")
    return as_integer(steps, name, maximum=MAX_HORIZON)
