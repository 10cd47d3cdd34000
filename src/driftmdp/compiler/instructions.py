"""LLVM's instructions, jumps and labels, and values that change their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driftmdp.compiler.kernel_types import (
    BITS,
    BOOL,
    FLOAT,
    INT,
    Scalar,
    Tuple,
    Type,
    describe,
    leaves,
)
from driftmdp.compiler.values import Value, literal


class Instructions:
    """The body of a function that is being written."""

    def __init__(self) -> None:
        self._slots: list[str] = []
        self._blocks: list[list[str]] = [[]]
        self._block: list[str] | None = self._blocks[0]
        self._targets: set[str] = set()
        self._count = 0

    @property
    def text(self) -> str:
        """The body."""
        return "\n".join(["start:", *self._slots, *(line for block in self._blocks for line in block), ""])

    # instructions ------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether what is emitted next can be reached."""
        return self._block is not None

    def emit(self, line: str) -> None:
        """Write an instruction."""
        if self._block is None:
            raise TypeError("code after a jump")
        self._block.append(f"  {line}")

    def name(self, instruction: str) -> str:
        """Write an instruction that has a value, and return the value's name."""
        self._count += 1
        self.emit(f"%v{self._count} = {instruction}")
        return f"%v{self._count}"

    def entry(self, line: str) -> None:
        """Write an instruction before all others."""
        self._slots.append(f"  {line}")

    def slot(self, kind: str) -> str:
        """Return the address of a new place on the stack."""
        self._count += 1
        self.entry(f"%s{self._count} = alloca {kind}")
        return f"%s{self._count}"

    def load(self, kind: str, address: str, suffix: str = "") -> str:
        """Return what is at an address."""
        return self.name(f"load {kind}, ptr {address}{suffix}")

    def store(self, kind: str, value: str, address: str, suffix: str = "") -> None:
        """Write a value to an address."""
        self.emit(f"store {kind} {value}, ptr {address}{suffix}")

    def label(self, name: str) -> str:
        """Return a new label."""
        self._count += 1
        return f"{name}{self._count}"

    def start(self, label: str) -> None:
        """Go on at a label. Where no jump leads to it, nothing can be emitted there."""
        self._block = None
        if label in self._targets:
            self._block = [f"{label}:"]
            self._blocks.append(self._block)

    def jump(self, label: str) -> None:
        """Go to a label."""
        self.emit(f"br label %{label}")
        self._targets.add(label)
        self._block = None

    def branch(self, test: Value, yes: str, no: str) -> None:
        """Go to one of two labels."""
        if test.constant is not None:
            self.jump(yes if test.constant else no)
            return
        self.emit(f"br i1 {test.leaves[0]}, label %{yes}, label %{no}")
        self._targets |= {yes, no}
        self._block = None

    def cut(self) -> list[str] | None:
        """Leave the code here open, to ``resume`` it later."""
        block, self._block = self._block, None
        return block

    def resume(self, block: list[str] | None) -> None:
        """Go on where the code was cut."""
        self._block = block

    # values ------------------------------------------------------------------------------------------

    def read(self, value: Value) -> Value:
        """Return the value that is kept in slots."""
        kinds = leaves(value.type)
        return Value(
            value.type, tuple(self.load(kind, slot) for kind, slot in zip(kinds, value.leaves, strict=True))
        )

    def tuple(self, items: Sequence[Value], kind: type[Any] = tuple) -> Value:
        """Return a tuple of values."""
        return Value(Tuple(tuple(item.type for item in items), kind), sum((item.leaves for item in items), ()))

    def items(self, value: Value) -> list[Value]:
        """Return the items of a tuple."""
        if not isinstance(value.type, Tuple):
            raise TypeError(f"{describe(value.type)} is no tuple")
        found, first = [], 0
        for item in value.type.items:
            last = first + len(leaves(item))
            found.append(Value(item, value.leaves[first:last]))
            first = last
        return found

    def convert(self, value: Value, kind: Type) -> Value:
        """Return a value as one of another type. A float becomes an int by dropping its fraction."""
        if value.type == kind:
            return value
        if isinstance(kind, Tuple) and isinstance(value.type, Tuple):
            pairs = zip(self.items(value), kind.items, strict=True)
            return self.tuple([self.convert(item, wanted) for item, wanted in pairs], kind.kind)
        if not isinstance(kind, Scalar) or not isinstance(value.type, Scalar):
            raise TypeError(f"{describe(value.type)} cannot be {describe(kind)}")
        if value.constant is not None and kind == FLOAT:
            return literal(float(value.constant))
        return Value(kind, (self._converted(value.leaves[0], value.type, kind),))

    def _converted(self, leaf: str, now: Scalar, kind: Scalar) -> str:
        if kind == BOOL:
            return self.truth(Value(now, (leaf,))).leaves[0]
        if now == BOOL:
            return self.name(f"{'uitofp' if kind == FLOAT else 'zext'} i1 {leaf} to {kind.llvm}")
        if kind == FLOAT:
            return self.name(f"{'uitofp' if now == BITS else 'sitofp'} i64 {leaf} to double")
        if now == FLOAT:
            return self.name(f"{'fptoui' if kind == BITS else 'fptosi'} double {leaf} to i64")
        return leaf

    def whole(self, value: Value) -> Value:
        """Return a number that counts something: an index, a bound, a size."""
        if value.type == FLOAT or not isinstance(value.type, Scalar):
            raise TypeError(f"an index, a bound or a size must be a whole number, not {describe(value.type)}")
        return self.convert(value, INT)

    def declared(self, value: Value, annotation: Any) -> Value:
        """Return a number as the type that a parameter is declared to have."""
        wanted = {float: FLOAT, "float": FLOAT, int: INT, "int": INT, bool: BOOL, "bool": BOOL}.get(annotation)
        if wanted is None or not isinstance(value.type, Scalar) or value.type in (FLOAT, BITS):
            return value
        return self.convert(value, wanted)

    def truth(self, value: Value) -> Value:
        """Return whether a number is not 0."""
        if value.constant is not None:
            return literal(bool(value.constant))
        if value.type == BOOL:
            return value
        if value.type == FLOAT:
            return Value(BOOL, (self.name(f"fcmp une double {value.leaves[0]}, 0.0"),))
        if value.type in (INT, BITS):
            return Value(BOOL, (self.name(f"icmp ne i64 {value.leaves[0]}, 0"),))
        raise TypeError(f"{describe(value.type)} is neither true nor false")
