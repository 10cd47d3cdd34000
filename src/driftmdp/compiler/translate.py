"""From a Python function to LLVM's language: one function for each combination of argument types.

The language is the part of Python that loops over arrays need (docs/kernel-language.md). Variables become places on
the stack, which LLVM turns into registers. A variable's type is that of all its values together: where a later
value widens it (an int that becomes a float), the function is translated once more from the beginning.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from driftmdp.compiler.emitter import Emitter, Place, Value, literal
from driftmdp.compiler.kernel_types import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Nothing,
    Scalar,
    Tuple,
    Type,
    describe,
    has_memory,
    join,
    leaves,
    returned_type,
    type_of,
)

LONG_BODY = 200  # instructions: longer functions stay apart, as LLVM is slow on what they would be together


class KernelError(Exception):
    """A function is not in the kernel language."""


class _WidenedError(Exception):
    """A variable or the result has a wider type than was thought."""


@dataclass(frozen=True)
class Translated:
    """A function in LLVM's language."""

    name: str
    result: Type
    text: str


@dataclass(frozen=True)
class _Loop:
    """Where ``continue`` and ``break`` lead."""

    following: str
    end: str


class Module:
    """The functions that are compiled together: one that is called from Python, and all that it calls."""

    def __init__(self) -> None:
        self._constants: list[str] = []
        self._translated: dict[tuple[FunctionType, tuple[Type, ...]], Translated | None] = {}

    def function(self, function: FunctionType, types: tuple[Type, ...]) -> Translated:
        """Return the translation of a function for arguments of these types."""
        key = function, types
        if key not in self._translated:
            self._translated[key] = None  # being translated
            self._translated[key] = _Function(self, function, types, len(self._translated)).translate()
        found = self._translated[key]
        if found is None:
            raise TypeError(f"{function.__qualname__} must not call itself, directly or through others")
        return found

    def constant(self, array: np.ndarray[Any, Any]) -> Value:
        """Return an array whose numbers are known while compiling."""
        kind = type_of(array)
        bytes_of = "".join(f"\\{byte:02X}" for byte in array.tobytes())
        name = f"@constant{len(self._constants)}"
        self._constants.append(f'{name} = internal global [{array.nbytes} x i8] c"{bytes_of}", align 16')
        return Value(kind, (name, *(str(size) for size in array.shape)))

    @property
    def text(self) -> str:
        """All functions so far."""
        functions = (found.text for found in self._translated.values() if found is not None)
        return "\n".join([*self._constants, *functions])


class _Function:
    """The translation of one function."""

    def __init__(self, module: Module, function: FunctionType, types: tuple[Type, ...], number: int) -> None:
        self._module, self._function, self._types = module, function, types
        self._name = f'@"{function.__name__}.{number}"'
        self._tree = _definition(function)
        self._variable_types: dict[str, Type] = {}
        self._result: Type | None = None
        stored = [
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        stored += [argument.arg for argument in self._tree.args.args]
        self._locals = set(stored)
        self._written_once = {name for name in _always_written(self._tree) if stored.count(name) == 1}

    # the function ------------------------------------------------------------------------------------

    def translate(self) -> Translated:
        while True:
            try:
                return self._translate()
            except _WidenedError:
                continue

    def _translate(self) -> Translated:
        self._out = Emitter(f"{self._function.__module__}.{self._name[2:-1]}")
        self._variables: dict[str, Value] = {}  # addresses of the leaves, or the leaves of what is written once
        self._loops: list[_Loop] = []
        self._allocates = False
        parameters = ["ptr %arena"]
        self._result_slots = [] if self._result is None else [self._out.slot(leaf) for leaf in leaves(self._result)]
        for argument, kind in zip(self._tree.args.args, self._types, strict=True):
            names = []
            for leaf in leaves(kind):
                names.append(f"%a{len(parameters)}")
                parameters.append(f"{leaf} {names[-1]}")
            self._assign_name(argument.arg, Value(kind, tuple(names)))
        self._statements(self._tree.body)
        return self._finished(parameters)

    def _finished(self, parameters: list[str]) -> Translated:
        out, result = self._out, self._result or Nothing()
        if out.is_open:
            if result != Nothing():
                raise self._error(self._tree.body[-1], "after this no value is returned, and elsewhere one is")
            out.jump("return")
        out.start("return")
        if not out.is_open:
            raise self._error(self._tree.body[-1], "this never ends")
        releases = self._allocates and not has_memory(result)
        if releases:
            out.entry("%mark = load ptr, ptr %arena")
            out.emit("call void @release(ptr %arena, ptr %mark)")
        kinds = leaves(result)
        values = [out.load(kind, slot) for kind, slot in zip(kinds, self._result_slots, strict=True)]
        returned = returned_type(result)
        if len(kinds) > 1:
            whole = "undef"
            for i, (kind, value) in enumerate(zip(kinds, values, strict=True)):
                whole = out.name(f"insertvalue {returned} {whole}, {kind} {value}, {i}")
            values = [whole]
        out.emit(f"ret {returned} {values[0]}" if kinds else "ret void")
        body = out.text
        stays = " noinline" if body.count("\n") > LONG_BODY else ""
        head = f"define internal {returned} {self._name}({', '.join(parameters)}) nounwind{stays} {{\n"
        return Translated(self._name, result, out.constants + head + body + "}\n")

    # statements --------------------------------------------------------------------------------------

    def _statements(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self._out.is_open:  # after a return: never reached
                return
            method: Callable[[Any], None] | None = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is None:
                raise self._error(statement, f"{type(statement).__name__} is not in the kernel language")
            self._out.line = statement.lineno
            try:
                method(statement)
            except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
                raise self._error(statement, str(error)) from error

    def _error(self, node: ast.AST, problem: str) -> KernelError:
        code = self._function.__code__
        line = getattr(node, "lineno", code.co_firstlineno)
        return KernelError(f"{code.co_filename}:{line}, in {code.co_name}: {problem}.")

    def _do_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._value(node.value)

    def _do_pass(self, node: ast.Pass) -> None:
        pass

    def _do_return(self, node: ast.Return) -> None:
        value = Value(Nothing()) if node.value is None else self._value(node.value)
        wider = value.type if self._result is None else join(self._result, value.type)
        if wider != self._result:
            self._result = wider
            raise _WidenedError
        for kind, leaf, slot in zip(
            leaves(wider), self._out.convert(value, wider).leaves, self._result_slots, strict=True
        ):
            self._out.store(kind, leaf, slot)
        self._out.jump("return")

    def _do_assign(self, node: ast.Assign) -> None:
        value = self._value(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                self._assign_name(target.id, value)
            case ast.Tuple():
                parts = self._out.items(value)
                if len(parts) != len(target.elts):
                    raise TypeError(f"{len(target.elts)} variables cannot take {len(parts)} values")
                for part, item in zip(target.elts, parts, strict=True):
                    self._assign(part, item)
            case ast.Subscript():
                self._out.put(self._place(target), value)
            case _:
                raise TypeError(f"cannot assign to {ast.unparse(target)}")

    def _assign_name(self, name: str, value: Value) -> None:
        if name == "_":
            return
        if not isinstance(value.type, Scalar) and name in self._written_once:
            self._variables[name] = value
            return
        known = self._variable_types.get(name)
        wider = value.type if known is None else join(known, value.type)
        if known is not None and wider != known:
            self._variable_types[name] = wider
            raise _WidenedError
        self._variable_types[name] = wider
        if name not in self._variables:
            self._variables[name] = Value(
                wider, tuple(self._out.slot(leaf) for leaf in leaves(wider)), is_slots=True
            )
        slots = self._variables[name]
        for kind, leaf, slot in zip(
            leaves(wider), self._out.convert(value, wider).leaves, slots.leaves, strict=True
        ):
            self._out.store(kind, leaf, slot)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self._value(ast.Name(node.target.id, ast.Load()))
            self._assign_name(node.target.id, self._binary(type(node.op), before, self._value(node.value)))
        else:
            place = self._place(node.target)
            if not isinstance(place, Place):
                raise TypeError("only numbers are changed, one by one")
            before = self._out.get(place)
            self._out.put(place, self._binary(type(node.op), before, self._value(node.value)))

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, self._value(node.value))

    def _do_if(self, node: ast.If) -> None:
        test = self._condition(node.test)
        if test.constant is not None:  # known while compiling: the other branch is left out
            self._statements(node.body if test.constant else node.orelse)
            return
        out = self._out
        yes, no, end = out.label("then"), out.label("else"), out.label("endif")
        out.branch(test, yes, no if node.orelse else end)
        for label, statements in ((yes, node.body), (no, node.orelse)):
            if statements:
                out.start(label)
                self._statements(statements)
                if out.is_open:
                    out.jump(end)
        out.start(end)

    def _do_for(self, node: ast.For) -> None:
        out, call = self._out, node.iter
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and len(call.args) in (1, 2, 3)
            and not node.orelse
        ):
            raise TypeError("for goes over range(...), without else")
        bounds = [out.whole(self._value(bound)) for bound in call.args]
        start, stop = (literal(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].constant if len(bounds) == 3 else 1
        if not isinstance(step, int) or step == 0:
            raise TypeError("the step of a range must be a number other than 0")
        counter = out.slot("i64")
        out.store("i64", start.leaves[0], counter)
        head, body, following, end = (out.label(name) for name in ("for", "body", "next", "endfor"))
        out.jump(head)
        out.start(head)
        now = out.load("i64", counter)
        out.branch(
            Value(BOOL, (out.name(f"icmp {'slt' if step > 0 else 'sgt'} i64 {now}, {stop.leaves[0]}"),)), body, end
        )
        out.start(body)
        self._assign(node.target, Value(INT, (now,)))
        self._loop(node.body, following, end)
        out.start(following)
        if out.is_open:
            out.store("i64", out.name(f"add nsw i64 {out.load('i64', counter)}, {step}"), counter)
            out.jump(head)
        out.start(end)

    def _do_while(self, node: ast.While) -> None:
        if node.orelse:
            raise TypeError("while has no else in a kernel")
        out = self._out
        head, body, end = (out.label(name) for name in ("while", "body", "endwhile"))
        out.jump(head)
        out.start(head)
        out.branch(self._condition(node.test), body, end)
        out.start(body)
        self._loop(node.body, head, end)
        out.start(end)

    def _loop(self, body: list[ast.stmt], following: str, end: str) -> None:
        self._loops.append(_Loop(following, end))
        self._statements(body)
        self._loops.pop()
        if self._out.is_open:
            self._out.jump(following)

    def _do_break(self, node: ast.Break) -> None:
        self._out.jump(self._loops[-1].end)

    def _do_continue(self, node: ast.Continue) -> None:
        self._out.jump(self._loops[-1].following)

    # expressions -------------------------------------------------------------------------------------

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


def _always_written(tree: ast.FunctionDef) -> list[str]:
    """Return the variables that get a value outside of branches and loops: all that follows can use it."""
    plain = [statement for statement in tree.body if isinstance(statement, ast.Assign | ast.AnnAssign)]
    names = [node for statement in plain for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [argument.arg for argument in tree.args.args] + [
        node.id for node in names if isinstance(node.ctx, ast.Store)
    ]


def _definition(function: FunctionType) -> ast.FunctionDef:
    """Return the syntax tree of a function."""
    code = function.__code__
    linecache.checkcache(code.co_filename)  # it may have been edited, and loaded again
    source = "".join(linecache.getlines(code.co_filename))
    found = _definitions(source).get(code.co_firstlineno)
    where = f"{code.co_filename}:{code.co_firstlineno}, in {code.co_name}"
    if found is None or _loaded(code) not in _codes(source):
        raise KernelError(f"{where}: a kernel must be a def in a file, as it was when it was loaded.")
    if found.args.posonlyargs or found.args.kwonlyargs or found.args.vararg or found.args.kwarg:
        raise KernelError(f"{where}: the parameters of a kernel must be plain ones, without * and /.")
    return found


@functools.cache
def _definitions(source: str) -> dict[int, ast.FunctionDef]:
    """Return the functions of a source text, by the line where each begins, decorators included."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(mark.lineno for mark in node.decorator_list)]): node for node in functions}


def _loaded(code: CodeType) -> tuple[Any, ...]:
    """Return what tells a function from an edited one."""
    constants = repr([constant for constant in code.co_consts if not isinstance(constant, CodeType)])
    return code.co_name, code.co_firstlineno, code.co_code, constants, code.co_names, code.co_varnames


@functools.cache
def _codes(source: str) -> set[tuple[Any, ...]]:
    """Return the functions of a source text as they would be loaded now."""
    found, todo = set(), [compile(source, "kernels", "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        found.add(_loaded(code))
        todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found
