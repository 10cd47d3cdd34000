"""Arrays and a JSON header as bytes, for snapshots."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError


def arrays_to_bytes(header: Any, arrays: Sequence[NDArray[Any]]) -> bytes:
    """Return a header and arrays of numbers as bytes, the same for the same values.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.array_bytes import arrays_to_bytes, bytes_to_arrays
    >>> bytes_to_arrays(arrays_to_bytes({"a": 1}, [np.arange(3)]))
    ({'a': 1}, [array([0, 1, 2])])
    """
    described = [[array.dtype.str, list(array.shape)] for array in arrays]
    head = json.dumps([header, described]).encode()
    parts = [np.ascontiguousarray(array).tobytes() for array in arrays]
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def bytes_to_arrays(content: bytes | memoryview) -> tuple[Any, list[NDArray[Any]]]:
    """Return what ``arrays_to_bytes`` was given. Others raise ValueError."""
    end = 8 + int.from_bytes(content[:8], "little")
    header, described = json.loads(bytes(content[8:end]))
    arrays = []
    for kind, shape in described:
        dtype, size = np.dtype(kind), int(np.prod(shape, dtype=np.int64))
        if dtype.hasobject:
            raise InvalidInputError("a snapshot must hold numbers only.")
        arrays.append(np.frombuffer(content, dtype, size, end).reshape(shape).copy())
        end += size * dtype.itemsize
    if end != len(content):
        raise ValueError("the snapshot has the wrong length")
    return header, arrays


def joined_bytes(parts: Sequence[bytes | memoryview]) -> bytes:
    """Return parts as one, each with its length before it."""
    return b"".join(piece for part in parts for piece in (len(part).to_bytes(8, "little"), part))


def parts_of_bytes(content: memoryview) -> list[memoryview]:
    """Return the parts of what ``joined_bytes`` made."""
    parts, place = [], 0
    while place < len(content):
        end = place + 8 + int.from_bytes(content[place : place + 8], "little")
        parts.append(content[place + 8 : end])
        place = end
    if place != len(content):
        raise ValueError("the snapshot has the wrong length")
    return parts
