"""Operations, comparisons and functions of numbers, with the meaning that they have in Python and numpy."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from driftmdp.compiler.instructions import Instructions
from driftmdp.compiler.kernel_types import (
    BITS,
    BOOL,
    FLOAT,
    INT,
    Array,
    Scalar,
    Tuple,
    Type,
    describe,
    join,
    leaves,
    returned_type,
)
from driftmdp.compiler.values import Value, literal

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


class Arithmetic(Instructions):
    """Instructions that compute."""

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
