"""Values while a kernel is compiled, and the places of numbers in memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftmdp.compiler.kernel_types import (
    BITS,
    BOOL,
    FLOAT,
    INT,
    Nothing,
    Tuple,
    Type,
)


@dataclass(frozen=True)
class Value:
    """A value: its type, its leaves, and the Python number that it is, if that is known while compiling.

    If ``is_slots``, the leaves are the addresses where the real ones are kept.
    """

    type: Type
    leaves: tuple[str, ...] = ()
    constant: Any = None
    is_slots: bool = False


@dataclass(frozen=True)
class Place:
    """Where a number lies in memory."""

    dtype: np.dtype[Any]
    address: str
    suffix: str  # how it is aligned, and what else it cannot be


def literal(value: Any) -> Value:
    """Return the value of a Python object that is known while compiling."""
    if isinstance(value, bool | np.bool_):
        return Value(BOOL, (str(bool(value)).lower(),), bool(value))
    if isinstance(value, np.uint64):
        return Value(BITS, (str(int(value)),), int(value))
    if isinstance(value, int | np.integer):
        if not -(2**63) <= value < 2**63:
            raise TypeError(f"{value} has more than 64 bits")
        return Value(INT, (str(int(value)),), int(value))
    if isinstance(value, float | np.floating):
        return Value(FLOAT, (f"0x{struct.pack('>d', float(value)).hex().upper()}",), float(value))
    if isinstance(value, tuple):
        items = [literal(item) for item in value]
        return Value(
            Tuple(tuple(item.type for item in items), type(value)), sum((item.leaves for item in items), ())
        )
    return Value(Nothing(value), (), value if isinstance(value, str) else None)
