"""LLVM's language, written instruction by instruction: values, arithmetic, memory."""

from __future__ import annotations

import ast
import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftmdp.compiler.kernel_types import (
    BITS,
    BOOL,
    FLOAT,
    INT,
    STORAGE,
    Array,
    Element,
    Nothing,
    Scalar,
    Tuple,
    Type,
    describe,
    is_known,
    join,
    leaves,
    returned_type,
    storage,
)
from driftmdp.compiler.machine import checks_bounds


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


INT_OPERATIONS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
BIT_OPERATIONS = {**INT_OPERATIONS, ast.RShift: "lshr"}
BITS_APART = "np.uint64 goes only with np.uint64: convert one of them by float() or int()"
FLOAT_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
COMPARISONS = {
    ast.Eq: ("oeq", "eq", "eq"), ast.NotEq: ("une", "ne", "ne"), ast.Lt: ("olt", "slt", "ult"),
    ast.LtE: ("ole", "sle", "ule"), ast.Gt: ("ogt", "sgt", "ugt"), ast.GtE: ("oge", "sge", "uge"),
}  # fmt: skip
# The same functions of the C library as Python's own, so that compiled and interpreted code agree to the last bit.
# LLVM must not know what pow does: it would make pow(x, 0.5) a root, which rounds otherwise.
MATH: Mapping[Callable[..., Any], str] = {
    math.sqrt: "llvm.sqrt.f64", np.sqrt: "llvm.sqrt.f64", math.log: "llvm.log.f64", np.log: "llvm.log.f64",
    math.exp: "llvm.exp.f64", np.exp: "llvm.exp.f64", math.pow: "pow", math.log1p: "log1p",
    np.log1p: "log1p", math.expm1: "expm1", np.expm1: "expm1", math.fabs: "llvm.fabs.f64",
}  # fmt: skip
DECLARATIONS = """
declare double @llvm.sqrt.f64(double)
declare double @llvm.log.f64(double)
declare double @llvm.exp.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.floor.f64(double)
declare double @pow(double, double) nounwind nobuiltin
declare double @log1p(double) nounwind
declare double @expm1(double) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
"""
# Memory that a kernel allocates is a chain, whose head is at the address %arena. A function gives back what was
# allocated since it began. Each piece begins with the address of the one before.
ARENA = r"""
@out_of_memory = internal constant [48 x i8] c"driftmdp: a kernel found no memory for an array\00"
declare void @Py_FatalError(ptr) noreturn
define internal ptr @allocate(ptr %arena, i64 %size, i1 %zeros) nounwind {
  %whole = add i64 %size, 16
  br i1 %zeros, label %clear, label %plain
clear:
  %cleared = call ptr @calloc(i64 %whole, i64 1)
  br label %link
plain:
  %fresh = call ptr @malloc(i64 %whole)
  br label %link
link:
  %piece = phi ptr [ %cleared, %clear ], [ %fresh, %plain ]
  %missing = icmp eq ptr %piece, null
  %negative = icmp slt i64 %size, 0
  %failed = or i1 %missing, %negative
  br i1 %failed, label %full, label %found
full:
  call void @Py_FatalError(ptr @out_of_memory)
  unreachable
found:
  %before = load ptr, ptr %arena
  store ptr %before, ptr %piece
  store ptr %piece, ptr %arena
  %address = getelementptr i8, ptr %piece, i64 16
  ret ptr %address
}
define internal void @release(ptr %arena, ptr %mark) nounwind {
  br label %check
check:
  %piece = load ptr, ptr %arena
  %done = icmp eq ptr %piece, %mark
  br i1 %done, label %end, label %next
next:
  %before = load ptr, ptr %piece
  store ptr %before, ptr %arena
  call void @free(ptr %piece)
  br label %check
end:
  ret void
}
"""
# Numbers of different types, or in records and not, never share memory: LLVM may keep one over a store to another.
_TAGS = {(kind, where): i for i, (kind, where) in enumerate((k, w) for k in STORAGE for w in ("array", "record"))}
ALIAS_TAGS = '!0 = !{!"kernel memory"}\n' + "".join(
    f'!{2 * i + 1} = !{{!"{kind} in {where}", !0}}\n!{2 * i + 2} = !{{!{2 * i + 1}, !{2 * i + 1}, i64 0}}\n'
    for (kind, where), i in _TAGS.items()
)


def _suffix(dtype: np.dtype[Any], where: str, is_aligned: bool) -> str:
    tag = 2 * _TAGS[dtype.str[1:], where] + 2
    return f", align {dtype.itemsize if is_aligned else 1}, !tbaa !{tag}"


class Emitter:
    """The body of a function that is being written."""

    def __init__(self, title: str = "door") -> None:
        self.line = 0  # of the source, for what checks say
        self._title, self._checks = title, checks_bounds()
        self._sentences: dict[int, str] = {}
        self._slots: list[str] = []
        self._blocks: list[list[str]] = [[]]
        self._block: list[str] | None = self._blocks[0]
        self._targets: set[str] = set()
        self._count = 0

    @property
    def constants(self) -> str:
        """What stands before the function: what its checks say."""
        return "".join(f"{sentence}\n" for sentence in self._sentences.values())

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

    # arithmetic --------------------------------------------------------------------------------------

    def negative(self, value: Value) -> Value:
        """Return minus a number."""
        if value.constant is not None and value.type != BITS:
            return literal(-value.constant)
        if value.type == FLOAT:
            return Value(FLOAT, (self.name(f"fneg double {value.leaves[0]}"),))
        return self.binary(ast.Sub, literal(0), value)

    def binary(self, operation: type[ast.operator], one: Value, other: Value) -> Value:
        """Return the result of an arithmetic operation."""
        if not isinstance(one.type, Scalar) or not isinstance(other.type, Scalar):
            raise TypeError(f"{operation.__name__} of {describe(one.type)} and {describe(other.type)}")
        if one.type == BOOL == other.type and operation in (ast.BitAnd, ast.BitOr, ast.BitXor):
            return self._apply(f"{INT_OPERATIONS[operation]} i1", BOOL, one, other)
        if BITS in (one.type, other.type):
            if one.type != other.type:
                raise TypeError(BITS_APART)
            if operation not in BIT_OPERATIONS:
                raise TypeError(f"{operation.__name__} of np.uint64 is not in the kernel language")
            return self._apply(f"{BIT_OPERATIONS[operation]} i64", BITS, one, other)
        if operation is ast.Div or FLOAT in (one.type, other.type):
            if operation not in FLOAT_OPERATIONS:
                raise TypeError(f"{operation.__name__} of floats is not in the kernel language")
            return self._apply(f"{FLOAT_OPERATIONS[operation]} double", FLOAT, one, other)
        if operation in (ast.FloorDiv, ast.Mod):
            return self._divide(operation, one, other)
        if operation not in INT_OPERATIONS:
            raise TypeError(f"{operation.__name__} is not in the kernel language")
        return self._apply(f"{INT_OPERATIONS[operation]} i64", INT, one, other)

    def _apply(self, instruction: str, kind: Scalar, one: Value, other: Value) -> Value:
        a, b = self.convert(one, kind).leaves[0], self.convert(other, kind).leaves[0]
        return Value(kind, (self.name(f"{instruction} {a}, {b}"),))

    def _divide(self, operation: type[ast.operator], one: Value, other: Value) -> Value:
        """Return quotient or remainder as Python has them: rounded down, with the sign of the divisor.

        By 0 both are 0, as in numpy. The processor must not divide by 0, nor the least number by -1: it would stop
        the process. There the quotient is the product, and the rest is 0.
        """
        a, b = self.convert(one, INT).leaves[0], self.convert(other, INT).leaves[0]
        special, divisor = "false", b
        if other.constant in (None, 0, -1):
            special = self.name(f"icmp ult i64 {self.name(f'add i64 {b}, 1')}, 2")
            divisor = self.name(f"select i1 {special}, i64 1, i64 {b}")
        rest = self.name(f"srem i64 {a}, {divisor}")
        signs = self.name(f"xor i64 {rest}, {divisor}")
        differ = self.name(f"icmp slt i64 {signs}, 0")
        inexact = self.name(f"icmp ne i64 {rest}, 0")
        adjust = self.name(f"and i1 {differ}, {inexact}")
        if operation is ast.FloorDiv:
            quotient, product = self.name(f"sdiv i64 {a}, {divisor}"), self.name(f"mul i64 {a}, {b}")
            less = self.name(f"sub i64 {quotient}, 1")
            found = self.name(f"select i1 {adjust}, i64 {less}, i64 {quotient}")
            return Value(INT, (self.name(f"select i1 {special}, i64 {product}, i64 {found}"),))
        more = self.name(f"add i64 {rest}, {divisor}")
        return Value(INT, (self.name(f"select i1 {adjust}, i64 {more}, i64 {rest}"),))

    def compare(self, how: type[ast.cmpop], one: Value, other: Value) -> Value:
        """Return whether a comparison holds."""
        if how not in COMPARISONS:
            raise TypeError(f"{how.__name__} is not in the kernel language")
        if one.type != other.type and BITS in (one.type, other.type):
            raise TypeError(BITS_APART)
        kind = join(one.type, other.type)
        a, b = self.convert(one, kind).leaves, self.convert(other, kind).leaves
        floating, signed, unsigned = COMPARISONS[how]
        if kind == FLOAT:
            return Value(BOOL, (self.name(f"fcmp {floating} double {a[0]}, {b[0]}"),))
        if isinstance(kind, Scalar):
            name = signed if kind == INT else unsigned
            return Value(BOOL, (self.name(f"icmp {name} {kind.llvm} {a[0]}, {b[0]}"),))
        raise TypeError(f"{describe(one.type)} and {describe(other.type)} cannot be compared")

    # functions ---------------------------------------------------------------------------------------

    def call(self, name: str, result: Type, arguments: Sequence[Value]) -> Value:
        """Call a function of the module."""
        given = ["ptr %arena"]
        for argument in arguments:
            given += [f"{kind} {leaf}" for kind, leaf in zip(leaves(argument.type), argument.leaves, strict=True)]
        kinds, returned = leaves(result), returned_type(result)
        if not kinds:
            self.emit(f"call void {name}({', '.join(given)})")
            return Value(result)
        whole = self.name(f"call {returned} {name}({', '.join(given)})")
        if len(kinds) == 1:
            return Value(result, (whole,))
        return Value(result, tuple(self.name(f"extractvalue {returned} {whole}, {i}") for i in range(len(kinds))))

    def call_builtin(self, function: Any, arguments: Sequence[Value]) -> Value:
        """Call one of the functions that the language has of itself."""
        name = getattr(function, "__name__", function)
        if function in MATH:
            if len(arguments) != (2 if function is math.pow else 1):
                raise TypeError(f"{name} of {len(arguments)} numbers is not in the kernel language")
            floats = ", ".join(f"double {self.convert(value, FLOAT).leaves[0]}" for value in arguments)
            return Value(FLOAT, (self.name(f"call double @{MATH[function]}({floats})"),))
        if function in (min, max):
            return self._extreme(ast.Lt if function is min else ast.Gt, arguments)
        if len(arguments) != 1:
            raise TypeError(f"{name} of {len(arguments)} values is not in the kernel language")
        value = arguments[0]
        if function is len:
            if not isinstance(value.type, Tuple | Array):
                raise TypeError(f"{describe(value.type)} has no length")
            return (
                literal(len(value.type.items)) if isinstance(value.type, Tuple) else Value(INT, (value.leaves[1],))
            )
        if function in (float, int, bool, np.float64, np.int64):
            wanted = {float: FLOAT, np.float64: FLOAT, bool: BOOL}.get(function, INT)
            return self.convert(value, wanted)
        if function is abs:
            return self._absolute(value)
        if function in (math.ceil, math.floor):
            whole = self.name(
                f"call double @llvm.{function.__name__}.f64(double {self.convert(value, FLOAT).leaves[0]})"
            )
            return self.convert(Value(FLOAT, (whole,)), INT)
        if function in (np.isfinite, math.isfinite):
            size = self.call_builtin(math.fabs, [value])
            return self.compare(ast.Lt, size, literal(math.inf))
        if function in (np.isnan, math.isnan):
            return self.compare(ast.NotEq, self.convert(value, FLOAT), self.convert(value, FLOAT))
        raise TypeError(f"{name} is not in the kernel language")

    def _extreme(self, precedes: type[ast.cmpop], arguments: Sequence[Value]) -> Value:
        """Return the least or largest of numbers, the first of equal ones, as Python's min and max."""
        kind = functools.reduce(join, (argument.type for argument in arguments))
        if len(arguments) < 2 or not isinstance(kind, Scalar):
            raise TypeError("min and max are of two or more numbers")
        best, *others = [self.convert(argument, kind) for argument in arguments]
        for other in others:
            better = self.compare(precedes, other, best).leaves[0]
            chosen = self.name(f"select i1 {better}, {kind.llvm} {other.leaves[0]}, {kind.llvm} {best.leaves[0]}")
            best = Value(kind, (chosen,))
        return best

    def _absolute(self, value: Value) -> Value:
        if value.type == FLOAT:
            return self.call_builtin(math.fabs, [value])
        whole = self.convert(value, INT)
        return self._extreme(ast.Gt, [whole, self.negative(whole)])

    # memory ------------------------------------------------------------------------------------------

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
        return Place(kind, at, _suffix(kind, "record", is_aligned))

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
        return Place(kind.dtype, address, _suffix(kind.dtype, "array", True))

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
