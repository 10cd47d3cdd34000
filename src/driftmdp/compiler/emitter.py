"""Arrays and records: where their numbers lie, reading and writing them, new ones, and the check of every index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftmdp.compiler.arithmetic import Arithmetic
from driftmdp.compiler.kernel_types import (
    BOOL,
    INT,
    Array,
    Element,
    describe,
    is_known,
    storage,
)
from driftmdp.compiler.machine import checks_bounds
from driftmdp.compiler.runtime import memory_suffix
from driftmdp.compiler.values import Place, Value


class Emitter(Arithmetic):
    """The body of a function that is being written: all that its statements need of LLVM's language."""

    def __init__(self, title: str = "door") -> None:
        super().__init__()
        self.line = 0  # of the source, for what checks say
        self._title, self._checks = title, checks_bounds()
        self._sentences: dict[int, str] = {}

    @property
    def constants(self) -> str:
        """What stands before the function: what its checks say."""
        return "".join(f"{sentence}\n" for sentence in self._sentences.values())

    def size(self, array: Value) -> Value:
        """Return how many elements an array has."""
        total = array.leaves[1]
        for axis in array.leaves[2:]:
            total = self.name(f"mul nsw i64 {total}, {axis}")
        return Value(INT, (total,))

    def place(self, value: Value, index: Sequence[Value]) -> Place | Value:
        """Return where an element or a field lies. Of a record or a part of an array, return that."""
        match value.type:
            case Element(dtype):
                return self._field(dtype, value.leaves[0], index[0].constant)
            case Array():
                return self._element(value.type, value, index)
        raise TypeError(f"{describe(value.type)} has no elements")

    def _field(self, dtype: np.dtype[Any], address: str, name: Any) -> Place:
        if dtype.fields is None or name not in dtype.fields:
            raise TypeError(f"a record has the fields {', '.join(dtype.names or ())}, not {name}")
        kind, offset = dtype.fields[name][:2]
        at = self.name(f"getelementptr inbounds i8, ptr {address}, i64 {offset}") if offset else address
        if kind.fields is not None:
            raise TypeError(f"{name} is a record in a record, which is not in the kernel language")
        is_aligned = offset % kind.itemsize == 0 and dtype.alignment % kind.itemsize == 0
        return Place(kind, at, memory_suffix(kind, "record", is_aligned))

    def _element(self, kind: Array, array: Value, index: Sequence[Value]) -> Place | Value:
        shape = array.leaves[1:]
        if len(index) > kind.ndim:
            raise TypeError(f"{len(index)} indices of an array of {kind.ndim} axes")
        place = ""
        for axis in range(kind.ndim):
            here = "0"
            if axis < len(index):
                here = self._from_start(index[axis], shape[axis])
                self._check(here, shape[axis])
            if place:
                place = self.name(f"mul nsw i64 {place}, {shape[axis]}")
                place = place if here == "0" else self.name(f"add nsw i64 {place}, {here}")
            else:
                place = here
        address = self._offset(kind.dtype, array.leaves[0], place)
        if len(index) < kind.ndim:
            return Value(Array(kind.dtype, kind.ndim - len(index)), (address, *shape[len(index) :]))
        if kind.dtype.fields is not None:
            return Value(Element(kind.dtype), (address,))
        return Place(kind.dtype, address, memory_suffix(kind.dtype, "array", True))

    def _from_start(self, index: Value, size: str) -> str:
        """Return an index as it is counted from the start. A negative number in the source is from the end."""
        here = self.whole(index).leaves[0]
        is_from_end = index.constant is not None and index.constant < 0
        return self.name(f"add nsw i64 {size}, {here}") if is_from_end else here

    def _check(self, index: str, size: str) -> None:
        """Stop the process where an index is outside, if kernels are compiled with checks."""
        if not self._checks:
            return
        name = f'@"outside.{self._title}.{self.line}"'
        kernel = self._title.rpartition(".")[0]  # without the number that tells its types apart
        sentence = f"{kernel}, line {self.line}: an index is outside its array"
        self._sentences[self.line] = f'{name} = internal constant [{len(sentence) + 1} x i8] c"{sentence}\\00"'
        inside, outside = self.label("inside"), self.label("outside")
        self.branch(Value(BOOL, (self.name(f"icmp ult i64 {index}, {size}"),)), inside, outside)
        self.start(outside)
        self.emit(f"call void @Py_FatalError(ptr {name})")
        self.emit("unreachable")
        self.start(inside)

    def _offset(self, dtype: np.dtype[Any], address: str, place: str) -> str:
        if dtype.fields is not None:
            return self.name(f"getelementptr inbounds [{dtype.itemsize} x i8], ptr {address}, i64 {place}")
        return self.name(f"getelementptr inbounds {storage(dtype)[0]}, ptr {address}, i64 {place}")

    def rows(self, array: Value, first: Value, last: Value) -> Value:
        """Return the part of an array between two places of its first axis, which must lie in it, in order."""
        if not isinstance(array.type, Array):
            raise TypeError(f"{describe(array.type)} has no slices")
        start, stop = (self._from_start(bound, array.leaves[1]) for bound in (first, last))
        count = self.name(f"sub i64 {stop}, {start}")
        beyond = self.name(f"add nsw i64 {array.leaves[1]}, 1")
        for bound in (start, stop, count):
            self._check(bound, beyond)
        place = start
        for axis in array.leaves[2:]:
            place = self.name(f"mul nsw i64 {place}, {axis}")
        address = self._offset(array.type.dtype, array.leaves[0], place)
        return Value(array.type, (address, count, *array.leaves[2:]))

    def get(self, place: Place) -> Value:
        """Return the number at a place."""
        memory, kind = storage(place.dtype)
        found = self.load(memory, place.address, place.suffix)
        if kind == BOOL:
            found = self.name(f"icmp ne i8 {found}, 0")
        elif memory != kind.llvm:
            found = self.name(f"{'zext' if place.dtype.kind == 'u' else 'sext'} {memory} {found} to i64")
        return Value(kind, (found,))

    def put(self, place: Place | Value, value: Value) -> None:
        """Write a number to a place."""
        if not isinstance(place, Place):
            raise TypeError("only numbers are written, one by one")
        memory, kind = storage(place.dtype)
        leaf = self.convert(value, kind).leaves[0]
        if kind == BOOL:
            leaf = self.name(f"zext i1 {leaf} to i8")
        elif memory != kind.llvm:
            leaf = self.name(f"trunc i64 {leaf} to {memory}")
        self.store(memory, leaf, place.address, place.suffix)

    def new_array(self, dtype: np.dtype[Any], shape: Sequence[Value], zeros: bool) -> Value:
        """Return a new array, which lives until the function that asked for it returns."""
        if not shape or not is_known(dtype):
            raise TypeError(f"an array of {len(shape)} axes of {dtype} is not in the kernel language")
        array = Value(Array(dtype, len(shape)), ("null", *(size.leaves[0] for size in shape)))
        size = self.name(f"mul nsw i64 {self.size(array).leaves[0]}, {dtype.itemsize}")
        address = self.name(f"call ptr @allocate(ptr %arena, i64 {size}, i1 {str(zeros).lower()})")
        return Value(array.type, (address, *array.leaves[1:]))

    def copy(self, array: Value) -> Value:
        """Return a new array with the same numbers."""
        if not isinstance(array.type, Array):
            raise TypeError(f"{describe(array.type)} has no copy")
        shape = [Value(INT, (leaf,)) for leaf in array.leaves[1:]]
        fresh = self.new_array(array.type.dtype, shape, False)
        size = self.name(f"mul nsw i64 {self.size(array).leaves[0]}, {array.type.dtype.itemsize}")
        self.emit(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {fresh.leaves[0]}, ptr {array.leaves[0]}, i64 {size}, i1 false)"
        )
        return fresh
