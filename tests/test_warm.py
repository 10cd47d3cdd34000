import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import driftmdp
from driftmdp import kernels
from driftmdp.compiler import Kernel
from driftmdp.warm import _run_quietly, tasks, warm

SOURCES = Path(driftmdp.__file__).parent


def entry_kernels():
    """Every kernel that Python calls anywhere in this package, by module and name."""
    modules = {info.name: importlib.import_module(f"driftmdp.kernels.{info.name}") for info in _kernel_modules()}
    found = {}
    for path in SOURCES.rglob("*.py"):
        if not {"kernels", "compiler"} & set(path.relative_to(SOURCES).parts):
            found |= _used_in(ast.parse(path.read_text(encoding="utf-8")), modules)
    for name, module in modules.items():  # plain functions beside the kernels call some, too
        for function in vars(module).values():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                for used in function.__code__.co_names:
                    if isinstance(getattr(module, used, None), Kernel):
                        found[f"{name}.{used}"] = getattr(module, used)
    return found


def _kernel_modules():
    return pkgutil.iter_modules(kernels.__path__)


def _used_in(tree, modules):
    """``kernels.M.f``, ``m.f`` after ``m = kernels.M``, and ``from driftmdp.kernels.M import f``."""
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            whole = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for name, item in zip(target.elts, value.elts, strict=True) if whole else [(target, value)]:
                if isinstance(name, ast.Name) and _module_of(item, {}):
                    aliases[name.id] = _module_of(item, {})
    uses = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _module_of(node.value, aliases):
            uses.add((_module_of(node.value, aliases), node.attr))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("driftmdp.kernels."):
            uses |= {(node.module.rpartition(".")[2], name.name) for name in node.names}
    named = {f"{module}.{name}": getattr(modules[module], name) for module, name in uses if module in modules}
    return {name: kernel for name, kernel in named.items() if isinstance(kernel, Kernel)}


def _module_of(node, aliases):
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "kernels":
        return node.attr
    return aliases.get(node.id) if isinstance(node, ast.Name) else None


@pytest.fixture(scope="module")
def warmed():
    return warm()


def test_every_kernel_that_python_calls_is_compiled(warmed):
    found = entry_kernels()
    assert len(found) > 50
    for task in tasks():
        _run_quietly(task)
    assert sorted(name for name, kernel in found.items() if not kernel._compiled) == []


def test_it_says_what_it_did(warmed):
    assert warmed.folder.is_dir()
    assert warmed.kernels >= len(entry_kernels())
    assert warmed.compiled <= warmed.kernels
    assert warmed.seconds > 0


def test_another_process_finds_everything_there(warmed):
    done = subprocess.run([sys.executable, "-m", "driftmdp", "warm"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{warmed.folder}\n"
    assert f"All {warmed.kernels} kernels were there already, in " in done.stderr


def test_where_nothing_can_be_kept_it_says_so(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    command = [sys.executable, "-m", "driftmdp", "warm"]
    for name, value, code, sentence in (
        ("NUMBA_CACHE_DIR", str(blocked), 1, "error: Kernels must be kept in a folder that you can write to"),
        ("NUMBA_DISABLE_JIT", "1", 2, "error: NUMBA_DISABLE_JIT must not be 1 to compile kernels"),
    ):
        done = subprocess.run(command, env={**os.environ, name: value}, capture_output=True, text=True)
        assert done.returncode == code
        assert done.stderr.startswith(sentence)
        assert done.stderr.count("\n") == 1
