"""The syntax tree of a kernel, from the file that it was loaded from."""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType, FunctionType
from typing import Any


class KernelError(Exception):
    """A function is not in the kernel language."""


def always_written(tree: ast.FunctionDef) -> list[str]:
    """Return the variables that get a value outside of branches and loops: all that follows can use it."""
    plain = [statement for statement in tree.body if isinstance(statement, ast.Assign | ast.AnnAssign)]
    names = [node for statement in plain for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [argument.arg for argument in tree.args.args] + [
        node.id for node in names if isinstance(node.ctx, ast.Store)
    ]


def definition_of(function: FunctionType) -> ast.FunctionDef:
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
