"""What is not in the kernel language is refused by a sentence that names file, line and function."""

import importlib.util
import itertools
import re
import textwrap

import numpy as np
import pytest

from driftmdp.compiler import KernelError, cache, kernel

NUMBERS = itertools.count()
HEAD = """
import math
import numpy as np
from typing import NamedTuple
from driftmdp.compiler import kernel

TABLE = np.arange(3)

class Point(NamedTuple):
    x: float
    y: float = 0.0

@kernel
def helper(a, n):
    return a

def plain(a):
    return a

@kernel
def refused(a, n, x):
"""
BODY = len(HEAD.splitlines()) + 1  # the line where the body begins


@pytest.fixture
def load(tmp_path):
    def load_source(source):
        path = tmp_path / f"refused{next(NUMBERS)}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module, path

    return load_source


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("return [n]", "[n] is not in the kernel language"),
        ("return a + 1", "Add of array of 1 axes of float64 and int"),
        ("return unknown", "unknown is not known"),
        ("m = m + 1", "m has no value yet: give it one above"),
        ("return n ** 2", "a power of whole numbers is not in the kernel language: write float(n) ** 2"),
        ("return x // 2", "FloorDiv of floats is not in the kernel language"),
        ("return x % 2.0", "Mod of floats is not in the kernel language"),
        ("return ~n", "~n is not in the kernel language"),
        ("return a @ a", "MatMult of array"),
        ("return n @ n", "MatMult is not in the kernel language"),
        ("return n or 5", "and, or give one of their operands: n must be a bool"),
        ("return a[x]", "must be a whole number, not float"),
        ("return a[0, 1]", "2 indices of an array of 1 axes"),
        ("return a[:n:2]", "a slice must be of an array, without a step"),
        ("return a[x:]", "must be a whole number, not float"),
        ("return n[0]", "int has no elements"),
        ("return (n, x)[n]", "the index of a tuple must be a number"),
        ("return (n, x)[2]", "index out of range"),
        ("a[:] = 0.0", "not in the kernel language"),
        ("a[0].y = 0.0", "cannot assign to a[0].y"),
        ("TABLE[0] = 1", "TABLE is a constant: a kernel writes to its arguments and its own arrays"),
        ("n, x = n, x, 2", "2 variables cannot take 3 values"),
        ("n, x = n", "int is no tuple"),
        ("n = a", "a variable must keep its type; got int and array of 1 axes of float64"),
        ("return a.sum()", "has no attribute sum in a kernel"),
        ("return a.dtype", "has no attribute dtype in a kernel"),
        ("return np.nothing(n)", "has no attribute 'nothing'"),
        ("return np.cumsum(a)", "cumsum is not in the kernel language"),
        ("return plain(n)", "plain is not in the kernel language"),
        ("return helper(a)", "missing a required argument: 'n'"),
        ("return helper(a, 1, 2)", "too many positional arguments"),
        ("return helper(a, n=1, a=2)", "multiple values for argument 'a'"),
        ("return helper(a, m=1)", "missing a required argument: 'n'"),
        ("return Point()", "missing a required argument: 'x'"),
        ("return Point(1.0, z=2.0)", "unexpected keyword argument 'z'"),
        ("return min(n)", "min and max are of two or more numbers"),
        ("return max((n, x))", "min and max are of two or more numbers"),
        ("return max(n, x, key=abs)", "max takes no named arguments in a kernel"),
        ("return math.log(x, 2)", "log of 2 numbers is not in the kernel language"),
        ("return int()", "int of 0 values is not in the kernel language"),
        ("return int(x, 2)", "int of 2 values is not in the kernel language"),
        ("return len(n)", "int has no length"),
        ("return abs(a)", "array of 1 axes of float64 cannot be int"),
        ("return refused(a, n, x)", "refused must not call itself, directly or through others"),
        ("return np.zeros(x)", "must be a whole number, not float"),
        ("return np.zeros(n, np.float32)", "an array of 1 axes of float32 is not in the kernel language"),
        ("return np.zeros(n, order='F')", "a new array takes its shape and the name of its type"),
        ("return np.zeros(())", "an array of 0 axes of float64 is not in the kernel language"),
        ("return 2**63", "a power of whole numbers"),
        ("return 0xFFFFFFFFFFFFFFFF", "18446744073709551615 has more than 64 bits"),
        ("return 'text' + 'text'", "Add of 'text' and 'text'"),
        ("return a is x", "only None is compared by is"),
        ("return n in (1, 2)", "In is not in the kernel language"),
        ("return a == a", "array of 1 axes of float64 and array of 1 axes of float64 cannot be compared"),
        ("return 1 if a else 2", "array of 1 axes of float64 is neither true nor false"),
        ("for i in a: pass", "for goes over range(...), without else"),
        ("for i in range(x): pass", "must be a whole number, not float"),
        ("for i in range(0, 9, n): pass", "the step of a range must be a number other than 0"),
        ("for i in range(0, 9, 0): pass", "the step of a range must be a number other than 0"),
        ("for i in range(0, 1, 2, 3): pass", "for goes over range(...), without else"),
        ("while True: pass", "this never ends"),
        ("assert n", "Assert is not in the kernel language"),
        ("raise ValueError", "Raise is not in the kernel language"),
        ("import os", "Import is not in the kernel language"),
        ("del n", "Delete is not in the kernel language"),
        ("f = lambda: n", "lambda: n is not in the kernel language"),
        ("n = (m := 3)", "is not in the kernel language"),
        ("return f'{n}'", "is not in the kernel language"),
        ("return helper(*a)", "is not in the kernel language"),
        ("return helper(1, 2, **a)", "unexpected keyword argument '**'"),
    ],
)
def test_a_line_that_is_refused(load, line, sentence):
    module, path = load(f"{HEAD}    n += 1\n    {line}\n")
    with pytest.raises(KernelError, match=re.escape(sentence)) as caught:
        module.refused(np.arange(3.0), 1, 0.5)
    assert str(caught.value).startswith(f"{path}:{BODY + 1}, in refused: ")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("body", "line", "sentence"),
    [
        ("if n > 0:\n    return x", 0, "after this no value is returned, and elsewhere one is"),
        ("for i in range(n):\n    return x", 0, "after this no value is returned, and elsewhere one is"),
        ("if n > 0:\n    return x\nreturn", 2, "a variable must keep its type; got float and None"),
        ("for i in range(n):\n    break\nelse:\n    n = 0", 0, "without else"),
        ("while n > 0:\n    n -= 1\nelse:\n    n = 9", 0, "while has no else in a kernel"),
        ("for i in range(n):\n    if i > 0:\n        n += last\n    last = i", 2, "last has no value yet"),
        ("if n > 0:\n    p = None\nelse:\n    p = x", 3, "a variable must keep its type; got None and float"),
        ("def inner():\n    pass", 0, "FunctionDef is not in the kernel language"),
        ("try:\n    n = 1\nfinally:\n    n = 2", 0, "Try is not in the kernel language"),
        ("with x:\n    n = 1", 0, "With is not in the kernel language"),
        ("x = np.zeros(\n    n)[0] + a", 0, "Add of float and array of 1 axes of float64"),
    ],
)
def test_a_block_that_is_refused(load, body, line, sentence):
    module, path = load(HEAD + textwrap.indent(body, "    ") + "\n")
    with pytest.raises(KernelError, match=re.escape(sentence)) as caught:
        module.refused(np.arange(3.0), 1, 0.5)
    assert str(caught.value).startswith(f"{path}:{BODY + line}, in refused: ")


def test_the_sentence_is_of_the_function_that_is_wrong(load):
    module, path = load(f"{HEAD}    return inner(a)\n\n@kernel\ndef inner(a):\n    return a + 1\n")
    with pytest.raises(KernelError, match=re.escape(f"{path}:{BODY + 4}, in inner: Add of array")):
        module.refused(np.arange(3.0), 1, 0.5)


@pytest.mark.parametrize("parameters", ["*a", "a, *, n=1", "a, /"])
def test_parameters_are_plain(load, parameters):
    module, _ = load(f"{HEAD}    return 1\n\n@kernel\ndef inner({parameters}):\n    return 1\n")
    with pytest.raises(KernelError, match=r"in inner: the parameters of a kernel must be plain ones"):
        module.inner(1.0)


def test_a_kernel_needs_its_source():
    with pytest.raises(KernelError, match=r"in <lambda>: a kernel must be a def in a file"):
        kernel(lambda x: x)(1)
    names = {"kernel": kernel, "__name__": "nowhere"}
    exec("@kernel\ndef made(x):\n    return x\n", names)
    with pytest.raises(KernelError, match=r"in made: a kernel must be a def in a file"):
        names["made"](1)


def test_an_edited_source_is_read_again(load, monkeypatch):
    monkeypatch.setattr(cache, "read", lambda name: None)
    module, path = load(f"{HEAD}    return n + 1\n")
    assert module.refused(np.arange(3.0), 1, 0.5) == 2
    path.write_text(f"{HEAD}    return n + 2  # edited\n".replace("TABLE =", "\n\nTABLE ="))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    spec.loader.exec_module(module)
    assert module.refused(np.arange(3.0), 1, 0.5) == 3
