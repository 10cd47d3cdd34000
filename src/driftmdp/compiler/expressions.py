"""From Python's expressions to LLVM's language: names, elements, operations, conditions and calls."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from driftmdp.compiler.emitter import Emitter
from driftmdp.compiler.kernel_types import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Nothing,
    Tuple,
    describe,
    has_memory,
    join,
    leaves,
)
from driftmdp.compiler.values import Place, Value, literal

if TYPE_CHECKING:
    from driftmdp.compiler.translate import Module


class Expressions:
    """The translation of a function's expressions. :mod:`driftmdp.compiler.translate` has that of its statements.

    Every method returns a value, whose instructions it has written to ``_out``.
    """

    def __init__(self, module: Module, function: FunctionType, number: int, names: Iterable[str]) -> None:
        self._module, self._function, self._locals = module, function, set(names)
        self._name = f"{function.__name__}.{number}"
        self._begin()

    def _begin(self) -> None:
        """Begin with an empty body."""
        self._out = Emitter(f"{self._function.__module__}.{self._name}")
        self._variables: dict[str, Value] = {}  # addresses of the leaves, or the leaves of what is written once
        self._allocates = False

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return literal(node.value)
            case ast.Name():
                return self._named(node.id)
            case ast.Attribute():
                return self._attribute(self._value(node.value), node.attr)
            case ast.Tuple():
                return self._out.tuple([self._value(item) for item in node.elts])
            case ast.Subscript():
                return self._subscript(node)
            case ast.BinOp():
                return self._binary(type(node.op), self._value(node.left), self._value(node.right))
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._condition(node)
            case ast.BoolOp():
                return self._short_circuit(node, self._boolean)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Call():
                return self._call(node)
        raise TypeError(f"{ast.unparse(node)} is not in the kernel language")

    def _named(self, name: str) -> Value:
        if name in self._variables:
            value = self._variables[name]
            return self._out.read(value) if value.is_slots else value
        if name in self._locals:
            raise TypeError(f"{name} has no value yet: give it one above")
        if name in self._function.__globals__:
            return self._known(self._function.__globals__[name])
        if hasattr(builtins, name):
            return literal(getattr(builtins, name))
        raise TypeError(f"{name} is not known")

    def _known(self, value: Any) -> Value:
        return self._module.constant(value) if isinstance(value, np.ndarray) else literal(value)

    def _attribute(self, value: Value, name: str) -> Value:
        match value.type:
            case Nothing(ModuleType() as module):
                return self._known(getattr(module, name))
            case Tuple() if name in value.type.names:
                return self._out.items(value)[value.type.names.index(name)]
            case Array() if name == "shape":
                return self._out.tuple([Value(INT, (leaf,)) for leaf in value.leaves[1:]])
            case Array() if name == "size":
                return self._out.size(value)
        raise TypeError(f"{describe(value.type)} has no attribute {name} in a kernel")

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self._value(node.value)
        if isinstance(value.type, Tuple):
            index = self._value(node.slice).constant
            if not isinstance(index, int):
                raise TypeError("the index of a tuple must be a number")
            return self._out.items(value)[index]
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice)
        place = self._out.place(value, self._index(node.slice))
        return self._out.get(place) if isinstance(place, Place) else place

    def _place(self, node: ast.expr) -> Place | Value:
        if not isinstance(node, ast.Subscript):
            raise TypeError(f"cannot assign to {ast.unparse(node)}")
        if isinstance(node.value, ast.Name) and node.value.id not in self._locals:
            raise TypeError(f"{node.value.id} is a constant: a kernel writes to its arguments and its own arrays")
        return self._out.place(self._value(node.value), self._index(node.slice))

    def _index(self, node: ast.expr) -> list[Value]:
        return [self._value(item) for item in node.elts] if isinstance(node, ast.Tuple) else [self._value(node)]

    def _slice(self, value: Value, bounds: ast.Slice) -> Value:
        if not isinstance(value.type, Array) or bounds.step is not None:
            raise TypeError("a slice must be of an array, without a step")
        first = literal(0) if bounds.lower is None else self._value(bounds.lower)
        last = Value(INT, (value.leaves[1],)) if bounds.upper is None else self._value(bounds.upper)
        return self._out.rows(value, first, last)

    def _binary(self, operation: type[ast.operator], one: Value, other: Value) -> Value:
        if operation is not ast.Pow:
            return self._out.binary(operation, one, other)
        if FLOAT not in (one.type, other.type):
            raise TypeError("a power of whole numbers is not in the kernel language: write float(n) ** 2")
        if other.type == INT:
            return self._call_kernel(integer_power, [one, other], {})
        return self._out.call_builtin(math.pow, [one, other])

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self._condition(node)
        match node:
            case ast.UnaryOp(ast.USub(), ast.Constant(int() as number)):  # the least number has no positive one
                return literal(-number)
        value = self._value(node.operand)
        if isinstance(node.op, ast.USub):
            return self._out.negative(value)
        raise TypeError(f"{ast.unparse(node)} is not in the kernel language")

    def _condition(self, node: ast.expr) -> Value:
        """Return the truth of an expression. Its ``constant`` is None unless it is known while compiling."""
        out = self._out
        match node:
            case ast.UnaryOp(op=ast.Not()):
                test = self._condition(node.operand)
                if test.constant is not None:
                    return literal(not test.constant)
                return Value(BOOL, (out.name(f"xor i1 {test.leaves[0]}, true"),))
            case ast.BoolOp():
                return self._short_circuit(node, self._condition)
            case ast.Compare(ops=[ast.Is() | ast.IsNot() as how]):
                left, right = self._value(node.left), self._value(node.comparators[0])
                if right.type != Nothing():
                    raise TypeError("only None is compared by is")
                return literal((left.type == Nothing()) == isinstance(how, ast.Is))
            case ast.Compare(ops=[how]):
                return out.compare(type(how), self._value(node.left), self._value(node.comparators[0]))
            case ast.Compare():
                return self._decide(self._links(node), len(node.ops), False)
        return out.truth(self._value(node))

    def _links(self, node: ast.Compare) -> Iterator[Value]:
        """Yield the comparisons of a chain, a < b < c. Each value is computed once."""
        left = self._value(node.left)
        for how, comparator in zip(node.ops, node.comparators, strict=True):
            right = self._value(comparator)
            yield self._out.compare(type(how), left, right)
            left = right

    def _short_circuit(self, node: ast.BoolOp, test: Callable[[ast.expr], Value]) -> Value:
        tests = (test(operand) for operand in node.values)
        return self._decide(tests, len(node.values), isinstance(node.op, ast.Or))

    def _boolean(self, node: ast.expr) -> Value:
        value = self._value(node)
        if value.type != BOOL:
            raise TypeError(f"and, or give one of their operands: {ast.unparse(node)} must be a bool")
        return value

    def _decide(self, tests: Iterator[Value], count: int, stops: bool) -> Value:
        """Return ``stops`` if one of the tests is that. The code of each runs only if none before it was."""
        out, found, end = self._out, self._out.slot("i1"), self._out.label("decided")
        outcome: bool | None = not stops  # None: not known while compiling
        for i, test in enumerate(tests, 1):
            if test.constant is None:
                outcome = None
                out.store("i1", test.leaves[0], found)
                if i < count:
                    following = out.label("operand")
                    out.branch(test, *((end, following) if stops else (following, end)))
                    out.start(following)
            elif test.constant is stops:
                outcome = stops
                break
        out.jump(end)
        out.start(end)
        return Value(BOOL, (out.load("i1", found),)) if outcome is None else literal(outcome)

    def _conditional(self, node: ast.IfExp) -> Value:
        test = self._condition(node.test)
        if test.constant is not None:
            return self._value(node.body if test.constant else node.orelse)
        out = self._out
        yes, no, end = out.label("then"), out.label("else"), out.label("endif")
        out.branch(test, yes, no)
        out.start(yes)
        one, after_one = self._value(node.body), out.cut()
        out.start(no)
        other, after_other = self._value(node.orelse), out.cut()
        kind = join(one.type, other.type)
        slots = tuple(out.slot(leaf) for leaf in leaves(kind))
        for value, lines in ((one, after_one), (other, after_other)):
            out.resume(lines)
            for leaf_type, leaf, slot in zip(leaves(kind), out.convert(value, kind).leaves, slots, strict=True):
                out.store(leaf_type, leaf, slot)
            out.jump(end)
        out.start(end)
        return out.read(Value(kind, slots, is_slots=True))

    # calls -------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            self._allocates = True
            return self._out.copy(self._value(node.func.value))
        callee = self._value(node.func)
        if not isinstance(callee.type, Nothing):
            raise TypeError(f"{ast.unparse(node.func)} cannot be called in a kernel")
        function, arguments = callee.type.value, [self._value(argument) for argument in node.args]
        named = {word.arg or "**": self._value(word.value) for word in node.keywords}
        if hasattr(function, "_fields"):  # a named tuple
            return self._out.tuple([value for value, _ in _bound(function, arguments, named)], function)
        python = getattr(function, "py_func", None)
        if python is not None:
            return self._call_kernel(python, arguments, named)
        if function in (np.empty, np.zeros):
            return self._allocate(function is np.zeros, arguments, named)
        if named:
            raise TypeError(f"{ast.unparse(node.func)} takes no named arguments in a kernel")
        return self._out.call_builtin(function, arguments)

    def _call_kernel(self, function: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        values = [self._out.declared(value, declared) for value, declared in _bound(function, arguments, named)]
        found = self._module.function(function, tuple(value.type for value in values))
        if has_memory(found.result):
            self._allocates = True
        return self._out.call(found.name, found.result, values)

    def _allocate(self, zeros: bool, arguments: list[Value], named: dict[str, Value]) -> Value:
        self._allocates = True
        wanted = named.get("dtype", arguments[1] if len(arguments) > 1 else literal(np.float64))
        if len(arguments) not in (1, 2) or not named.keys() <= {"dtype"} or not isinstance(wanted.type, Nothing):
            raise TypeError("a new array takes its shape and the name of its type")
        shape = arguments[0]
        sizes = self._out.items(shape) if isinstance(shape.type, Tuple) else [shape]
        return self._out.new_array(np.dtype(wanted.type.value), [self._out.whole(size) for size in sizes], zeros)


def integer_power(base: float, exponent: int) -> float:
    """Return a power by squaring: every number as numba has it."""
    if abs(exponent) > 65536:
        return math.pow(base, float(exponent))
    power, left = 1.0, abs(exponent)
    while left != 0:
        if left & 1 == 1:
            power *= base
        left >>= 1
        base *= base
    return 1.0 / power if exponent < 0 else power


def _bound(function: Any, arguments: list[Value], named: dict[str, Value]) -> list[tuple[Value, Any]]:
    """Return a value for each parameter, and what it is declared to be."""
    signature = inspect.signature(function)
    bound = signature.bind(*arguments, **named).arguments
    return [
        (bound[name] if name in bound else literal(parameter.default), parameter.annotation)
        for name, parameter in signature.parameters.items()
    ]
