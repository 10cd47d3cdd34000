"""Random small programs of the kernel language do, compiled, what they do in Python, bit by bit.

Whole numbers stay small, divisors are not 0, and indices lie inside: there Python raises, and kernels do not.
"""

import importlib.util
import itertools
import math
import textwrap

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftmdp.compiler import cache
from tests.compiler.comparing import check

HEAD = "import math\n\nimport numpy as np\n\nfrom driftmdp.compiler import kernel\n"
SIZE = 4  # of every array
INTS, FLOATS, FLAGS = ("i", "j", "n"), ("x", "y", "z"), ("f", "g")
MOST_STATEMENTS = 4


class Writer:
    """Writes the source of a program, choice by choice."""

    def __init__(self, draw):
        self._draw = draw
        self._loops = itertools.count()
        self.helpers = 0

    def pick(self, *options):
        return self._draw(st.sampled_from(options))

    # expressions: each takes the depth that is left ---------------------------------------------------------

    def whole(self, depth):
        if depth == 0:
            return self.pick(*INTS, "0", "1", "-3", "7", "k[-1]", "len(k)", "a.shape[0]", "LIMIT")
        e = lambda: self.whole(depth - 1)  # noqa: E731
        return self.pick(
            lambda: f"({e()} {self.pick('+', '-', '*', '&', '|', '^')} {e()})",
            lambda: f"({e()} {self.pick('//', '%')} {self.pick('3', '-5', '1')})",
            lambda: f"({e()} {self.pick('//', '%')} {self.pick('', '-')}({e()} % 7 + 1))",
            lambda: f"({e()} >> {self.pick('1', '3', f'({e()} % 8)')})",
            lambda: f"{self.pick('min', 'max')}({e()}, {e()})",
            lambda: f"abs({e()})",
            lambda: f"-{e()}",
            lambda: f"int(k[{e()} % {SIZE}])",
            lambda: f"int({self.flag(depth - 1)})",
            lambda: f"({e()} if {self.flag(depth - 1)} else {e()})",
            lambda: f"clip({self.real(depth - 1)})",
            lambda: f"pair[{self.pick('0', '-2')}]",
        )()

    def real(self, depth):
        if depth == 0:
            return self.pick(
                *FLOATS, "0.5", "-2.0", "SCALE", "0.0", "float(a[-1])", "float(v[0])", "pair[1]", "u * 0.5"
            )
        e = lambda: self.real(depth - 1)  # noqa: E731
        return self.pick(
            lambda: f"({e()} {self.pick('+', '-', '*')} {e()})",
            lambda: f"({e()} {self.pick('+', '-', '*')} {self.whole(depth - 1)})",
            lambda: f"({e()} / (1.0 + abs({e()})))",
            lambda: f"({self.whole(depth - 1)} / {self.pick('3', '-7', '2.5')})",
            lambda: f"{self.pick('min', 'max')}({e()}, {e()}, {self.pick('0.0', '1.5')})",
            lambda: f"math.sqrt(abs({e()}))",
            lambda: f"-{e()}",
            lambda: f"min(abs({e()}), 9.0) ** {self.pick('0.5', '1.5', '2.0')}",
            lambda: f"float(a[{self.whole(depth - 1)} % {SIZE}])",
            lambda: f"float(m[{self.whole(depth - 1)} % 2, {self.whole(depth - 1)} % {SIZE}])",
            lambda: f"({e()} if {self.flag(depth - 1)} else {e()})",
            lambda: (
                f"helper{self.pick(*range(self.helpers))}({e()}, {self.whole(depth - 1)}, a)"
                if self.helpers
                else f"float({self.whole(depth - 1)})"
            ),
        )()

    def flag(self, depth):
        if depth == 0:
            return self.pick(*FLAGS, "True", "x > y", "i < j")
        e = lambda: self.flag(depth - 1)  # noqa: E731
        return self.pick(
            lambda: f"({e()} {self.pick('and', 'or')} {e()})",
            lambda: f"({e()} and {e()} or {e()})",
            lambda: f"(not {e()})",
            lambda: f"({self.whole(depth - 1)} {self.comparison()} {self.whole(depth - 1)})",
            lambda: f"({self.real(depth - 1)} {self.comparison()} {self.real(depth - 1)})",
            lambda: f"({self.whole(0)} {self.comparison()} {self.real(depth - 1)} {self.comparison()} {e()})",
            lambda: f"bool({self.pick(self.whole, self.real)(depth - 1)})",
        )()

    def comparison(self):
        return self.pick("<", "<=", ">", ">=", "==", "!=")

    # statements ---------------------------------------------------------------------------------------------

    def statements(self, depth, in_loop=False, may_return=True):
        count = self._draw(st.integers(1, MOST_STATEMENTS))
        return "\n".join(self.statement(depth, in_loop, may_return) for _ in range(count))

    def statement(self, depth, in_loop, may_return):
        simple = [self.set_whole, self.set_real, self.set_flag, self.set_element, self.set_tuple, self.change]
        blocks = [self.branch, self.counted_loop, self.while_loop] if depth else []
        leave = [lambda: self.branch_out(in_loop, may_return)] if in_loop or may_return else []
        chosen = self.pick(*simple, *blocks, *blocks, *leave)
        return chosen(depth, may_return, in_loop) if chosen in blocks else chosen()

    def set_whole(self):
        return f"{self.pick(*INTS)} = {self.whole(2)} % 997"

    def set_real(self):
        return f"{self.pick(*FLOATS)} = {self.real(2)}" if self.pick(True, False) else f"u = {self.pick('i', 'x')}"

    def set_flag(self):
        return f"{self.pick(*FLAGS)} = {self.flag(2)}"

    def set_element(self):
        return self.pick(
            lambda: f"a[{self.whole(1)} % {SIZE}] {self.pick('', '+', '-', '*')}= {self.real(2)}",
            lambda: f"k[{self.whole(1)} % {SIZE}] = {self.whole(2)} % 997",
            lambda: f"m[{self.whole(1)} % 2, {self.whole(1)} % {SIZE}] {self.pick('', '+')}= {self.real(1)}",
            lambda: f"v = {self.pick('a', 'a[j % 2 :]', 'a[:3]', 'a[-2:]', 'm[i % 2]', 'np.zeros(3)')}",
            lambda: f"v[{self.pick('0', '-1')}] {self.pick('', '+')}= {self.real(2)}",
            lambda: f"m[{self.whole(1)} % 2][1:][{self.pick('0', '-1')}] = {self.real(1)}",
        )()

    def set_tuple(self):
        return self.pick(
            lambda: f"pair = (({self.whole(1)}) % 997, {self.real(1)})",
            lambda: "i, j, n = n, i, j",
            lambda: f"x, y = {self.real(1)}, x",
            lambda: "j, x = pair",
            lambda: "a[0], a[1] = a[1], a[0]",
        )()

    def change(self):
        return self.pick(
            lambda: f"{self.pick(*FLOATS)} {self.pick('+', '-', '*')}= {self.real(1)}",
            lambda: f"{self.pick(*INTS)} {self.pick('%', '//')}= {self.pick('5', '-3')}",
            lambda: f"{self.pick(*INTS)} &= 255",
        )()

    def branch(self, depth, may_return, in_loop):
        text = f"if {self.flag(2)}:\n{block(self.statements(depth - 1, in_loop, may_return))}"
        if self.pick(True, False):
            text += f"\nelif {self.flag(1)}:\n{block(self.statements(depth - 1, in_loop, may_return))}"
        if self.pick(True, False):
            text += f"\nelse:\n{block(self.statements(depth - 1, in_loop, may_return))}"
        return text

    def counted_loop(self, depth, may_return, in_loop):
        bounds = self.pick("5", "-1, 4", "n % 4", "4, -2, -1", "j % 3, i % 9, 2", "9, i % 5, -3", "a.size")
        variable = self.pick("i", f"c{next(self._loops)}")
        return f"for {variable} in range({bounds}):\n{block(self.statements(depth - 1, True, may_return))}"

    def while_loop(self, depth, may_return, in_loop):
        counter = f"w{next(self._loops)}"
        body = block(f"{counter} += 1\n{self.statements(depth - 1, True, may_return)}")
        return f"{counter} = 0\nwhile {counter} < 4 and {self.flag(1)}:\n{body}"

    def branch_out(self, in_loop, may_return):
        ways = (["break", "continue"] if in_loop else []) + (["return RESULT"] if may_return else [])
        return f"if {self.flag(1)}:\n    {self.pick(*ways)}"

    # functions ----------------------------------------------------------------------------------------------

    def helper(self):
        body = self.statements(1).replace("RESULT", self.real(1))
        start = "i, j, n = n, n % 3, 2\ny, z, u, f, g = 0.25, x, 0, n > 3, False\npair = (n % 9, x)\n"
        start += f"k, m = np.zeros({SIZE}, np.int32), np.zeros((2, {SIZE}))\nv = a\n"
        text = f"@kernel\ndef helper{self.helpers}(x, n, a):\n{block(start + body)}\n    return {self.real(1)}\n"
        self.helpers += 1  # only now: a kernel does not call itself
        return text

    def program(self):
        helpers = "\n\n".join(self.helper() for _ in range(self._draw(st.integers(0, 2))))
        result = "(i, j, n), (x, y, z), f, g, pair, a[1:3], v, u * 1.0"
        body = self.statements(3).replace("RESULT", result)
        start = "@kernel\ndef main(i, j, n, x, y, z, f, g, a, k, m):\n    u = 0\n    pair = (1, 0.5)\n    v = a\n"
        clip = "@kernel\ndef clip(x):\n    return int(x) if -1e6 < x < 1e6 else -1\n\n\n"
        whole = f"{clip}{helpers}\n\n{start}{block(body)}\n    return {result}\n"
        return f"{HEAD}\nLIMIT, SCALE = 11, 0.375\n\n\n{whole}"


def block(text):
    return textwrap.indent(text, "    ")


@st.composite
def programs(draw):
    return Writer(draw).program()


FILES = itertools.count()


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Load a program from a file of its own. Its machine code is not kept."""
    folder = tmp_path_factory.mktemp("programs")

    def load_program(source):
        path = folder / f"program{next(FILES)}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "read", lambda name: None)
        patch.setattr(cache, "write", lambda name, value: None)
        yield load_program


def inputs(n, special):
    rng = np.random.default_rng(n)
    a, m = rng.normal(size=SIZE), rng.normal(size=(2, SIZE))
    a[n % SIZE] = special
    k = rng.integers(-50, 50, SIZE, dtype=np.int32)
    return n, n - 4, 3, *rng.normal(size=2).tolist(), special, n % 2 == 0, n > 3, a, k, m


@settings(suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs(load, source):
    main = load(source).main
    for n, special in enumerate((0.0, -1.5, math.inf, math.nan, -0.0, 1e308)):
        check(main, *inputs(n, special))
