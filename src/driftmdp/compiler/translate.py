"""From a Python function to LLVM's language: one function for each combination of argument types.

The language is the part of Python that loops over arrays need (docs/kernel-language.md). Variables become places on
the stack, which LLVM turns into registers. A variable's type is that of all its values together: where a later
value widens it (an int that becomes a float), the function is translated once more from the beginning.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from driftmdp.compiler.expressions import Expressions
from driftmdp.compiler.kernel_types import (
    BOOL,
    INT,
    Nothing,
    Scalar,
    Type,
    has_memory,
    join,
    leaves,
    returned_type,
    type_of,
)
from driftmdp.compiler.syntax import KernelError, always_written, definition_of
from driftmdp.compiler.values import Place, Value, literal

LONG_BODY = 200  # instructions: longer functions stay apart, as LLVM is slow on what they would be together


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


class _Function(Expressions):
    """The translation of one function."""

    def __init__(self, module: Module, function: FunctionType, types: tuple[Type, ...], number: int) -> None:
        self._types, self._tree = types, definition_of(function)
        self._variable_types: dict[str, Type] = {}
        self._result: Type | None = None
        stored = [
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        stored += [argument.arg for argument in self._tree.args.args]
        super().__init__(module, function, number, stored)
        self._written_once = {name for name in always_written(self._tree) if stored.count(name) == 1}

    # the function ------------------------------------------------------------------------------------

    def translate(self) -> Translated:
        while True:
            try:
                return self._translate()
            except _WidenedError:
                continue

    def _translate(self) -> Translated:
        self._begin()
        self._loops: list[_Loop] = []
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
        name = f'@"{self._name}"'
        head = f"define internal {returned} {name}({', '.join(parameters)}) nounwind{stays} {{\n"
        return Translated(name, result, out.constants + head + body + "}\n")

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
