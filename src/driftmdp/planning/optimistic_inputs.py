"""Checks of the arguments of extended value iteration, and their conversion to CSR arrays."""

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Bools, Csr, Floats, Ints
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.mdp.sparse import sound_csr
from driftmdp.validation import LARGEST, as_number, as_numbers, as_table, as_vector, one_of

METHODS = ("fast", "paper")
Inputs: TypeAlias = tuple[Floats, float, Floats, str]  # optimistic rewards, precision, initial u and method
SUM_TOLERANCE = 1e-9  # how far the sum of a distribution may be from 1


def checked_inputs(
    space: Space, reward_upper: ArrayLike, precision: float, start: ArrayLike | None, method: str
) -> Inputs:
    """Return the optimistic rewards, the precision, the initial u and the method."""
    as_space(space)
    one_of(method, "method", METHODS)
    rewards = _moderate(as_vector(reward_upper, "reward_upper", space.n_pairs), "reward_upper")
    epsilon = as_number(precision, "precision", minimum=0.0)
    u = np.zeros(space.n_states) if start is None else as_vector(start, "start", space.n_states)
    return rewards, epsilon, _moderate(u, "start"), method


def _moderate(values: Floats, name: str) -> Floats:
    """Refuse numbers whose sums could overflow."""
    if np.abs(values).max() > LARGEST:
        where = int(np.argmax(np.abs(values)))
        raise InvalidInputError(f"{name}[{where}] must be at most {LARGEST:g} in size; got {values[where]:g}.")
    return values


def as_rows(space: Space, table: Any, name: str, keep_zeros: bool = True) -> Csr:
    """Return CSR arrays of a table of shape (n_pairs, S).

    A dense table with many positive entries keeps its zeros if ``keep_zeros``, and is not copied: never write to
    its entries. Its indices are left out where the kernels do not read them.
    """
    shape = space.n_pairs, space.n_states
    if not sp.issparse(table):
        table = as_numbers(table, name, f"a table of numbers of shape {shape}", copy=False)
    if table.shape != shape:
        raise InvalidInputError(f"{name} must have shape {shape}, pairs by states; got {table.shape}.")
    if not sp.issparse(table) and keep_zeros and table.size < 2**31 and _is_full(table):
        size = table.size if shape[1] <= kernels.extended_value_iteration.SHORT_ROW else 0
        indices = np.arange(size, dtype=np.int32) % np.int32(shape[1])
        indptr = np.arange(shape[0] + 1, dtype=np.int32) * np.int32(shape[1])
        data = np.require(table, requirements=("C", "A", "W")).ravel()  # kernels are compiled for such arrays only
    else:
        matrix = sound_csr(table, name)
        if not keep_zeros:
            matrix.eliminate_zeros()
        indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    return indptr.astype(np.int32, copy=False), indices.astype(np.int32, copy=False), data


def _is_full(table: Floats) -> bool:
    """Return whether more than a quarter of a table is nonzero, estimated from some of its rows."""
    some = table[:: max(1, len(table) // 64)]
    return 4 * int(np.count_nonzero(some != 0.0)) > some.size


def check_entries(space: Space, indptr: Ints, indices: Ints, data: Floats, name: str) -> None:
    """Refuse numbers that are negative or not finite."""
    sound = (data >= 0.0) & np.isfinite(data)
    if not sound.all():
        z = int(np.argmin(sound))
        pair = int(np.searchsorted(indptr, z, side="right")) - 1
        state = indices[z] if indices.size else z % space.n_states
        raise InvalidInputError(
            f"{name}[{space.where(pair)}, next state {state}] must be a number that is not negative; got {data[z]}."
        )


def row_sums(indptr: Ints, data: Floats) -> Floats:
    """Return the sum of every row."""
    sums = np.zeros(indptr.size - 1)
    filled = indptr[:-1] < indptr[1:]
    if filled.any():
        sums[filled] = np.add.reduceat(data, indptr[:-1][filled])
    return sums


def check_rows(space: Space, right: Bools, name: str, rule: str, sums: Floats) -> None:
    """Refuse the first row that breaks a rule about its sum."""
    if not right.all():
        pair = int(np.argmin(right))
        raise InvalidInputError(f"{name}[{space.where(pair)}] must {rule}; got a sum of {float(sums[pair])!r}.")


def checked_elsewhere(space: Space, upper_elsewhere: ArrayLike) -> Floats:
    """Return the upper bound of next states that are not stored, one per pair."""
    given = as_table(upper_elsewhere, "upper_elsewhere")
    every = np.full(space.n_pairs, given) if given.ndim == 0 else given
    elsewhere = as_vector(every, "upper_elsewhere", space.n_pairs)
    if not ((elsewhere >= 0) & (elsewhere <= 1)).all():
        raise InvalidInputError("upper_elsewhere must be probabilities: numbers from 0 to 1.")
    return elsewhere


def aligned(space: Space, lower: Any, indptr: Ints, indices: Ints, highs: Floats) -> Floats:
    """Return the lower bounds at the positions of the upper ones."""
    low_indptr, low_indices, low_data = as_rows(space, lower, "lower", keep_zeros=False)
    check_entries(space, low_indptr, low_indices, low_data, "lower")
    width, every = np.int64(space.n_states), np.arange(space.n_pairs)
    pairs, low_pairs = np.repeat(every, np.diff(indptr)), np.repeat(every, np.diff(low_indptr))
    keys, low_keys = pairs * width + indices, low_pairs * width + low_indices
    lows = np.zeros(keys.size)
    positive = low_data > 0
    places = np.searchsorted(keys, low_keys[positive])
    found = places < keys.size
    found[found] = keys[places[found]] == low_keys[positive][found]
    lows[places[found]] = low_data[positive][found]
    wrong = np.zeros(space.n_pairs, bool)
    wrong[low_pairs[positive][~found]] = True
    wrong[pairs[(lows > highs) | (highs > 1 + SUM_TOLERANCE)]] = True
    if wrong.any():
        where = space.where(int(np.argmax(wrong)))
        raise InvalidInputError(f"lower[{where}] must be at most upper, and upper at most 1.")
    return lows
