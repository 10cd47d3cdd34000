"""The door from Python into a compiled module: one function that reads Python's objects and calls the kernel.

It looks into the objects itself, in the layout that Python's and numpy's C interfaces promise, because to ask each
of fifty arrays for its address in Python takes longer than a short run. It answers 0 where an object is not of the
type that the kernel was compiled for. Then Python looks again, slowly.

Whoever calls a kernel must see to two things that the door does not: an array that the kernel writes to may be
written, and arrays of different types do not share memory.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from driftmdp.compiler.emitter import Emitter
from driftmdp.compiler.kernel_types import (
    BITS,
    BOOL,
    FLOAT,
    Array,
    Nothing,
    Scalar,
    Tuple,
    Type,
    has_memory,
    leaves,
)
from driftmdp.compiler.translate import Translated
from driftmdp.compiler.values import Value

TYPE, LENGTH, NUMBER = 8, 16, 16  # where an object has its type, a tuple its length, a float its number
DATA, AXES, SHAPE, DTYPE, FLAGS = 16, 24, 32, 56, 64  # where an array has these
ITEMS = tuple.__basicsize__  # where a tuple has its items
CONTIGUOUS_AND_ALIGNED = 0x101

DECLARATIONS = """
declare i64 @PyLong_AsLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
"""

GIVE_BACK = """
define void @give_back(ptr %chain) {
  %arena = alloca ptr
  store ptr %chain, ptr %arena
  call void @release(ptr %arena, ptr null)
  ret void
}
"""


def require_known_layout() -> None:
    """Raise if this Python keeps its objects in another way: one without the GIL does."""
    array, items, number = np.array([[1.5, 2.5, 3.5]]), ("a", "b", "c"), 1.5

    def at(place: int, size: int = 8) -> int:
        return int.from_bytes(ctypes.string_at(place, size), sys.byteorder)

    places = [id(array) + offset for offset in (TYPE, DATA, DTYPE)]
    found = [*map(at, places), at(id(array) + AXES, 4), at(at(id(array) + SHAPE) + 8)]
    found += [at(id(array) + FLAGS, 4) & CONTIGUOUS_AND_ALIGNED, at(id(items) + LENGTH), at(id(items) + ITEMS + 16)]
    expected = [id(np.ndarray), array.ctypes.data, id(array.dtype), 2, 3, CONTIGUOUS_AND_ALIGNED, 3, id(items[2])]
    if found != expected or at(id(number) + NUMBER) != np.float64(number).view(np.int64):
        raise RuntimeError(
            "driftmdp needs CPython with the GIL, of 64 bits. Set NUMBA_DISABLE_JIT=1 to go on slowly."
        )


def write_door(kernel: Translated, types: tuple[Type, ...]) -> str:
    """Return the text of the function ``door(arguments, results, expected)``.

    ``arguments`` is Python's tuple, ``expected`` the addresses of :func:`expectations`. The leaves of the result, 8
    bytes each, are written to ``results``, and after them the chain of the memory that they lie in.
    """
    out = Emitter()
    reader = _Reader(out)
    arguments = reader.read(Tuple(types), "%arguments")
    arena = out.slot("ptr")
    out.store("ptr", "null", arena)
    out.emit(f"%arena = getelementptr i8, ptr {arena}, i64 0")  # what it is called in every function
    thread = out.name("call ptr @PyEval_SaveThread()")
    result = out.call(kernel.name, kernel.result, out.items(arguments))
    out.emit(f"call void @PyEval_RestoreThread(ptr {thread})")
    for i, (kind, leaf) in enumerate(zip(leaves(result.type), result.leaves, strict=True)):
        value = out.name(f"zext i1 {leaf} to i64") if kind == "i1" else leaf
        at = out.name(f"getelementptr i8, ptr %results, i64 {8 * i}")
        out.store("i64" if kind == "i1" else kind, value, at)
    if has_memory(result.type):
        at = out.name(f"getelementptr i8, ptr %results, i64 {8 * len(result.leaves)}")
        out.store("ptr", out.load("ptr", arena), at)
    out.emit("ret i64 1")
    out.start("other")
    out.emit("ret i64 0")
    head = "define i64 @door(ptr %arguments, ptr %results, ptr %expected) {\n"
    return DECLARATIONS + head + out.text + "}\n" + GIVE_BACK


def expectations(value: object, kind: Type) -> list[object]:
    """Return the objects whose addresses the door compares with, in its order."""
    found: list[object] = [type(value)]
    if isinstance(kind, Tuple) and isinstance(value, tuple):
        for item, part in zip(value, kind.items, strict=True):
            found += expectations(item, part)
    elif isinstance(kind, Array) and isinstance(value, np.ndarray):
        found.append(value.dtype)
    elif kind == BOOL:
        found.append(True)
    return found


class _Reader:
    """Reads Python's objects."""

    def __init__(self, out: Emitter) -> None:
        self._out, self._expected = out, 0

    def read(self, kind: Type, address: str) -> Value:
        """Return the value of the object at an address, or leave where it is of another type."""
        out = self._out
        self._continue_if(self._is_expected(out.load("ptr", self._at(address, TYPE))))
        match kind:
            case Tuple():
                length = out.load("i64", self._at(address, LENGTH))
                self._continue_if(out.name(f"icmp eq i64 {length}, {len(kind.items)}"))
                items = []
                for i, part in enumerate(kind.items):
                    items.append(self.read(part, out.load("ptr", self._at(address, ITEMS + 8 * i))))
                return out.tuple(items, kind.kind)
            case Array():
                return self._array(kind, address)
            case Nothing():
                return Value(kind)
            case Scalar():
                return Value(kind, (self._number(kind, address),))
        raise TypeError("a record cannot be passed from Python")

    def _number(self, kind: Scalar, address: str) -> str:
        out = self._out
        if kind == FLOAT:
            return out.load("double", self._at(address, NUMBER))
        if kind == BOOL:
            true = out.load("ptr", self._at("%expected", 8 * self._expected))
            self._expected += 1
            return out.name(f"icmp eq ptr {address}, {true}")
        reader = "PyLong_AsUnsignedLongLongMask" if kind == BITS else "PyLong_AsLongLong"
        number = out.name(f"call i64 @{reader}(ptr {address})")
        error = out.name("call ptr @PyErr_Occurred()")  # more than 64 bits: Python raises it
        self._continue_if(out.name(f"icmp eq ptr {error}, null"))
        return number

    def _array(self, kind: Array, address: str) -> Value:
        out = self._out
        same = self._is_expected(out.load("ptr", self._at(address, DTYPE)))
        axes = out.load("i32", self._at(address, AXES))
        flags = out.load("i32", self._at(address, FLAGS))
        good = out.name(f"and i32 {flags}, {CONTIGUOUS_AND_ALIGNED}")
        for test in (f"icmp eq i32 {axes}, {kind.ndim}", f"icmp eq i32 {good}, {CONTIGUOUS_AND_ALIGNED}"):
            same = out.name(f"and i1 {same}, {out.name(test)}")
        self._continue_if(same)
        shape = out.load("ptr", self._at(address, SHAPE)) if kind.ndim else ""
        sizes = [out.load("i64", self._at(shape, 8 * axis)) for axis in range(kind.ndim)]
        return Value(kind, (out.load("ptr", self._at(address, DATA)), *sizes))

    def _is_expected(self, found: str) -> str:
        wanted = self._out.load("ptr", self._at("%expected", 8 * self._expected))
        self._expected += 1
        return self._out.name(f"icmp eq ptr {found}, {wanted}")

    def _continue_if(self, test: str) -> None:
        following = self._out.label("same")
        self._out.branch(Value(BOOL, (test,)), following, "other")
        self._out.start(following)

    def _at(self, address: str, offset: int) -> str:
        return self._out.name(f"getelementptr i8, ptr {address}, i64 {offset}")
