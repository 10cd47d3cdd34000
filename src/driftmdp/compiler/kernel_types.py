"""The types of the kernel language, and what each is in LLVM.

Every value is a sequence of *leaves*, one LLVM value each: a number is one leaf, an array its address and its
shape, a record its address, a tuple the leaves of its items, None nothing at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np


@dataclass(frozen=True)
class Scalar:
    """A number."""

    name: str
    llvm: str


INT = Scalar("int", "i64")
FLOAT = Scalar("float", "double")
BOOL = Scalar("bool", "i1")
BITS = Scalar("np.uint64", "i64")


@dataclass(frozen=True)
class Nothing:
    """None, or an object that is known while compiling and has no leaves: a function, a module, a type."""

    value: Any = None


@dataclass(frozen=True)
class Array:
    """A C-contiguous array."""

    dtype: "np.dtype[Any]"
    ndim: int


@dataclass(frozen=True)
class Element:
    """One element of an array of records."""

    dtype: "np.dtype[Any]"


@dataclass(frozen=True)
class Tuple:
    """A tuple, or a named one."""

    items: "tuple[Type, ...]"
    kind: type[Any] = tuple

    @property
    def names(self) -> tuple[str, ...]:
        """The fields' names."""
        return getattr(self.kind, "_fields", ())


Type: TypeAlias = Scalar | Nothing | Array | Element | Tuple

# How numbers lie in memory: the LLVM type there, and the type of the value that is made of it.
STORAGE: Mapping[str, tuple[str, Scalar]] = {
    "f8": ("double", FLOAT),
    "i8": ("i64", INT),
    "i4": ("i32", INT),
    "u8": ("i64", BITS),
    "u1": ("i8", INT),
    "i1": ("i8", INT),
    "b1": ("i8", BOOL),
}


def storage(dtype: "np.dtype[Any]") -> tuple[str, Scalar]:
    """Return the LLVM type of a number in memory, and the type of its value."""
    return STORAGE[dtype.str[1:]]


def leaves(kind: Type) -> list[str]:
    """Return the LLVM types of the leaves."""
    match kind:
        case Scalar():
            return [kind.llvm]
        case Array():
            return ["ptr"] + ["i64"] * kind.ndim
        case Element():
            return ["ptr"]
        case Tuple():
            return [leaf for item in kind.items for leaf in leaves(item)]
    return []


def returned_type(kind: Type) -> str:
    """Return the LLVM type of a function's result."""
    kinds = leaves(kind)
    return "void" if not kinds else kinds[0] if len(kinds) == 1 else "{ " + ", ".join(kinds) + " }"


def has_memory(kind: Type) -> bool:
    """Return whether a value of the type leads to memory."""
    return "ptr" in leaves(kind)


def type_of(value: Any, declared: Any = None) -> Type:
    """Return the type of a Python object. What is declared a float is one, also if it is given as an int."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        if not (flags.c_contiguous and flags.aligned and value.ndim and is_known(value.dtype)):
            rule = "an array must be C-contiguous and aligned, with axes, of a known type"
            raise TypeError(f"{rule}; got {value.dtype}, shape {value.shape}, strides {value.strides}")
        return Array(value.dtype, value.ndim)
    if isinstance(value, tuple):
        declarations = getattr(type(value), "__annotations__", {})
        names = getattr(value, "_fields", (None,) * len(value))
        items = (type_of(item, declarations.get(name)) for item, name in zip(value, names, strict=True))
        return Tuple(tuple(items), type(value))
    if value is None:
        return Nothing()
    if isinstance(value, np.uint64):
        return BITS
    if isinstance(value, (bool, np.bool_)):
        return INT if declared in (int, "int") else BOOL
    if isinstance(value, (float, np.floating)):
        return FLOAT
    if isinstance(value, (int, np.integer)):
        return FLOAT if declared in (float, "float") else INT
    raise TypeError(f"a kernel takes numbers, arrays, tuples of them and None; got {type(value).__name__}")


def is_known(dtype: "np.dtype[Any]") -> bool:
    """Return whether the language has arrays of the type."""
    if dtype.fields is not None:
        return all(is_known(field[0]) for field in dtype.fields.values())
    return dtype.isnative and dtype.str[1:] in STORAGE


def join(one: Type, other: Type) -> Type:
    """Return the type that holds values of both."""
    if one == other:
        return one
    if isinstance(one, Scalar) and isinstance(other, Scalar) and BITS not in (one, other):
        return FLOAT if FLOAT in (one, other) else INT
    if isinstance(one, Tuple) and isinstance(other, Tuple) and len(one.items) == len(other.items):
        items = tuple(join(a, b) for a, b in zip(one.items, other.items, strict=True))
        return Tuple(items, one.kind if one.kind is other.kind else tuple)
    raise TypeError(f"a variable must keep its type; got {describe(one)} and {describe(other)}")


def describe(kind: Type) -> str:
    """Return a type in words."""
    match kind:
        case Scalar():
            return kind.name
        case Array():
            return f"array of {kind.ndim} axes of {kind.dtype}"
        case Element():
            return f"record {kind.dtype}"
        case Tuple():
            names = kind.names or [""] * len(kind.items)
            items = [f"{name} {describe(item)}".strip() for name, item in zip(names, kind.items, strict=True)]
            name = f"{kind.kind.__module__}.{kind.kind.__qualname__}" if kind.names else "tuple"
            return f"{name}({', '.join(items)})"
    return repr(kind.value)
