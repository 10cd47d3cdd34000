"""From the leaves that a kernel returns to Python's objects."""

import ctypes
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from driftmdp.compiler.kernel_types import (
    BITS,
    BOOL,
    FLOAT,
    INT,
    Array,
    Nothing,
    Scalar,
    Tuple,
    Type,
    has_memory,
    leaves,
)

Buffer = Any  # of ctypes: 8 bytes for each leaf, and for the chain of the memory that they lie in


def buffer_for(kind: Type) -> Callable[[], Buffer]:
    """Return what makes a buffer for results of a type."""
    return ctypes.c_int64 * (len(leaves(kind)) + 1)


def decoder_for(kind: Type, give_back: Callable[[int], None]) -> Callable[[Buffer], Any]:
    """Return what makes Python's objects from a buffer. Arrays are copied, and their memory is given back."""
    kinds = leaves(kind)
    if kind == Nothing():
        return lambda buffer: None
    if kind == INT:
        return lambda buffer: buffer[0]
    if kind == BOOL:
        return lambda buffer: buffer[0] != 0
    unpack = struct.Struct("=" + "".join("d" if leaf == "double" else "q" for leaf in kinds)).unpack_from
    if kind == FLOAT:
        return lambda buffer: unpack(buffer)[0]
    if isinstance(kind, Tuple) and kind.kind is tuple and all(item in (INT, FLOAT) for item in kind.items):
        return unpack

    def decode(buffer: Buffer) -> Any:
        found = _built(kind, iter(unpack(buffer)))
        if has_memory(kind):
            give_back(buffer[len(kinds)])
        return found

    return decode


def _built(kind: Type, found: Iterator[Any]) -> Any:
    match kind:
        case Tuple():
            items = [_built(item, found) for item in kind.items]
            return kind.kind(*items) if kind.names else tuple(items)
        case Array():
            address, shape = next(found), [next(found) for _ in range(kind.ndim)]
            array = np.empty(shape, kind.dtype)
            if array.nbytes:
                ctypes.memmove(array.ctypes.data, address, array.nbytes)
            return array
        case Scalar():
            number = next(found)
            return number != 0 if kind == BOOL else np.uint64(number % 2**64) if kind == BITS else number
        case Nothing():
            return None
    raise TypeError("a record cannot be returned to Python")
