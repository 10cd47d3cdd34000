"""Sparse matrices from users, checked and converted to CSR.

scipy's compiled loops trust indices: an index outside of the matrix ends the process. Its constructors check some
of them, its conversions none, and anyone can write to the arrays of a finished matrix. So the raw arrays of each
form are checked here, before scipy computes with them.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.system import require_memory
from driftmdp.validation import as_numbers, readonly, shown

Shape = tuple[int, int]

INDEX_LIMIT = 2**31  # kernels count with int32
BYTES_PER_ROW = 24  # or column, while one form is converted to another
SUM_TOLERANCE = 1e-9
NUMBERS_AT_ONCE = 1 << 22


def sound_csr(given: Any, name: str) -> sp.csr_array:
    """Copy a sparse or dense table of two axes into CSR with sorted, unique int32 indices."""
    try:
        return _sorted(_copied(given, name) if sp.issparse(given) else sp.csr_array(as_numbers(given, name)))
    except InvalidInputError:
        raise
    except Exception as error:  # its attributes may hold anything
        raise _unsound(name, f"it cannot be read ({type(error).__name__})") from None


def csr_from_arrays(data: Any, indices: Any, indptr: Any, shape: Shape, name: str) -> sp.csr_array:
    """Return the CSR matrix of three arrays, after checking them."""
    return _sorted(sp.csr_array(_compressed(as_numbers(data, name), indices, indptr, shape, name), shape=shape))


def readonly_csr(matrix: sp.csr_array) -> sp.csr_array:
    """Return the same matrix with arrays that cannot be written to."""
    parts = readonly(matrix.data), readonly(matrix.indices), readonly(matrix.indptr)
    return sp.csr_array(parts, shape=matrix.shape)


def check_distributions(matrix: sp.csr_array, row_name: Callable[[int], str], column: str, hint: str = "") -> None:
    """Refuse rows that are not distributions, and divide those that miss 1 by more than rounding by their sum.

    Parameters
    ----------
    matrix
        Changed in place: an error of 1e-9 per step would add up over time.
    row_name, column
        What errors call a row, and a column.
    hint
        What to do about rows that do not sum to 1.
    """
    wrong = np.flatnonzero(~((matrix.data >= 0.0) & np.isfinite(matrix.data)))
    if wrong.size:
        row = row_name(int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1)
        place = f"{column} {matrix.indices[wrong[0]]}"
        raise InvalidInputError(f"{row} must be finite and not negative; got {matrix.data[wrong[0]]} at {place}.")
    sums = np.asarray(matrix.sum(axis=1), dtype=np.float64)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > SUM_TOLERANCE)
    if wrong.size:
        raise InvalidInputError(f"{row_name(int(wrong[0]))} must sum to 1; got {sums[wrong[0]]:.12g}.{hint}")
    off = np.abs(sums - 1.0) > 1e-13
    matrix.data /= np.repeat(np.where(off, sums, 1.0), np.diff(matrix.indptr))


def blocks_of_product(matrix: sp.csr_array, table: Floats) -> Iterator[Floats]:
    """Yield ``matrix @ table`` a few rows at a time, so that memory does not grow with the rows."""
    rows = max(1, NUMBERS_AT_ONCE // table.shape[1])
    for first in range(0, matrix.shape[0], rows):
        yield matrix[first : first + rows] @ table


def _sorted(matrix: Any) -> sp.csr_array:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    csr.indptr, csr.indices = csr.indptr.astype(np.int32, copy=False), csr.indices.astype(np.int32, copy=False)
    return csr


def _copied(given: Any, name: str) -> Any:
    """Return a new sparse matrix from the checked raw arrays of any of scipy's forms."""
    if given.ndim != 2 or max(given.shape) >= INDEX_LIMIT:
        raise InvalidInputError(f"{name} must have two axes, each shorter than 2^31; got shape {given.shape}.")
    shape = rows, columns = int(given.shape[0]), int(given.shape[1])
    require_memory(BYTES_PER_ROW * max(shape), f"{name} of shape {shape}")
    if given.format in ("csr", "csc", "bsr"):
        data = as_numbers(given.data, name)
        height, width = data.shape[1:] if given.format == "bsr" else (1, 1)
        if rows % height or columns % width:
            raise _unsound(name, f"its blocks of {height} x {width} do not fit the shape {shape}")
        blocks = rows // height, columns // width
        major, minor = blocks[::-1] if given.format == "csc" else blocks
        parts = _compressed(data, given.indices, given.indptr, (major, minor), name)
        make: Any = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[given.format]
        return make(parts, shape=shape)
    data, row, column = _triplets(given, name)
    row = _checked_indices(row, rows, data, "rows", name)
    column = _checked_indices(column, columns, data, "columns", name)
    return sp.coo_array((data, (row, column)), shape=shape)


def _triplets(given: Any, name: str) -> tuple[Floats, NDArray[Any], NDArray[Any]]:
    """Return the entries of a matrix that is not compressed, and their rows and columns, not yet checked."""
    if given.format == "coo":
        row, column = given.coords
        return as_numbers(given.data, name), row, column
    if given.format == "dok":
        keys = np.array(list(given.keys())).reshape(-1, 2)
        return as_numbers(list(given.values()), name), keys[:, 0], keys[:, 1]
    if given.format == "lil":
        counts = [len(row) for row in given.rows]
        if counts != [len(row) for row in given.data] or len(counts) != given.shape[0]:
            raise _unsound(name, "its lists of columns and of numbers differ in length")
        columns = np.array(list(chain.from_iterable(given.rows)))
        numbers = as_numbers(list(chain.from_iterable(given.data)), name)
        return numbers, np.repeat(np.arange(len(counts)), counts), columns
    return _diagonals(given, name)


def _diagonals(given: Any, name: str) -> tuple[Floats, NDArray[Any], NDArray[Any]]:
    data, offsets = as_numbers(given.data, name), np.asarray(given.offsets)
    if data.ndim != 2 or offsets.dtype.kind not in "iu" or np.unique(offsets).shape != data.shape[:1]:
        raise _unsound(name, "its diagonals and their offsets do not match")
    inside = (offsets > -given.shape[0]) & (offsets < given.shape[1])
    column = np.broadcast_to(np.arange(data.shape[1]), data[inside].shape)
    row = column - offsets[inside].astype(np.int64)[:, None]
    kept = (row >= 0) & (row < given.shape[0]) & (column < given.shape[1])
    return data[inside][kept], row[kept], column[kept]


def _compressed(data: Floats, indices: Any, indptr: Any, shape: Shape, name: str) -> tuple[Floats, Longs, Longs]:
    """Return the checked arrays of a CSR matrix (of CSC, with the axes swapped), cut to the part in use."""
    pointers = np.asarray(indptr)
    if pointers.shape != (shape[0] + 1,) or pointers.dtype.kind not in "iu":
        raise _unsound(name, f"its indptr must be {shape[0] + 1} whole numbers; got {shown(pointers)}")
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any() or pointers[-1] > len(data):
        raise _unsound(name, f"its indptr must rise from 0 to at most {len(data)}, the numbers that are stored")
    used = int(pointers[-1])
    columns = _checked_indices(np.asarray(indices)[:used], shape[1], data[:used], "indices", name)
    return data[:used], columns, pointers.astype(np.int64)


def _checked_indices(indices: Any, size: int, data: Floats, what: str, name: str) -> Longs:
    """Validate that there is one index within the matrix for each number."""
    found, stored = np.asarray(indices), len(data)
    if found.shape != (stored,) or stored >= INDEX_LIMIT:
        raise _unsound(name, f"its {what} must be one for each of {stored} numbers, and fewer than 2^31")
    if stored and found.dtype.kind not in "iu":
        raise _unsound(name, f"its {what} must be whole numbers; got {found.dtype}")
    if stored and not (found.min() >= 0 and found.max() < size):
        wrong = found[(found < 0) | (found >= size)][0]
        raise _unsound(name, f"its {what} must lie in 0 .. {size - 1}; got {wrong}")
    return found.astype(np.int64)


def _unsound(name: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"{name} must be a sound sparse matrix; {why}.")
