"""Every construct of the kernel language does what it does in Python, bit by bit."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.compiler import kernel
from tests.compiler.comparing import check

INTS = (0, 1, -1, 2, -7, 13, 2**40, -(2**62))
FLOATS = (0.0, -0.0, 1.5, -2.75, 1e300, 5e-324, math.inf, -math.inf, math.nan)
TABLE = np.array([[3, 1, 4], [1, 5, 9]])
SHIFT, STEP, LAST, PAIR = 0.5, -2, -1, (2, 0.25)
BIG = np.uint64(2**63 + 5)

CASES: list[Any] = []


def case(*inputs):
    """Make a kernel of a function, to be compared with it on each of the inputs."""

    def add(function):
        made = kernel(function)
        CASES.append(pytest.param(made, inputs, id=function.__name__))
        return made

    return add


def grid(*choices):
    return itertools.product(*choices)


# numbers -----------------------------------------------------------------------------------------------------


@case(*grid(INTS, (1, 2, -2, 3, -5, 2**40, -1)))
def divide(a, b):
    return a // b, a % b, a / b, divmod_signs(a, b)


@kernel
def divmod_signs(a, b):
    return a // 3, a // -3, a % 3, a % -3, 7 // b, -7 % b


@case(*grid(INTS, INTS))
def compare_ints(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b, a < b < 10, a != b == b


@case(*grid(FLOATS, FLOATS))
def compare_floats(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b, not a < b, a < b <= a, bool(a), not a


@case(*grid(FLOATS, FLOATS))
def float_arithmetic(a, b):
    return a + b, a - b, a * b, -a, abs(a), a * b + a, a - -b


@case(*grid(FLOATS, FLOATS, FLOATS))
def extremes(a, b, c):
    return min(a, b), max(a, b), min(a, b, c), max(a, b, c), max(0.0, a), min(a, 0)


@case(*grid(INTS, FLOATS))
def mixed_extremes(n, x):
    return float(min(n, x)), float(max(n, x)), min(n, 3), max(True, n), abs(n)


@case(*grid((True, False), (True, False), (-3, 0, 1, 2)))
def booleans(a, b, n):
    numbers = a + b, a - b, -a, a * n, a & n, a / 2, a // 2, int(a), float(b)
    return numbers, a & b, a | b, a ^ b, a == n, a < b, not a


@case(*grid((0, 1, -1, 12345, -98765, 2**62), (0, 1, 5, 31), (7, -8)))
def bit_operations(a, shift, b):
    return a >> shift, (a & 0xFFFF) << shift, a & b, a | b, a ^ b


@case(*grid((np.uint64(0), np.uint64(3), BIG, np.uint64(2**64 - 1)), (np.uint64(0), np.uint64(7), np.uint64(63))))
def unsigned(a, b):
    return a >> b, a << b, a ^ BIG, a & b, a | b, a + BIG, a * BIG, a - b, a < b, a == b, float(a), a > BIG


@case((-2.7,), (2.7,), (-0.5,), (1e15,), (3.0,), (-3.0,), (0.0,))
def whole(x):
    return int(x), math.ceil(x), math.floor(x), int(-x), float(int(x))


@case(*((x,) for x in (0.5, 1.0, 2.0, 1e-300, 7.25, 1e300)))
def functions(x):
    return math.sqrt(x), math.log(x), math.exp(-x), math.log1p(x), math.expm1(-x), math.pow(x, 0.3), abs(-x)


@case(*((x,) for x in FLOATS))
def classes_of_floats(x):
    return np.isfinite(x), math.isnan(x), np.isnan(x), math.isfinite(x), x == np.inf, x == -math.inf


@case(*grid((0.5, -1.5, 3.0, 1e-3), (0.5, 2.5)))
def powers(x, y):
    return x**2, x**1, x**0, abs(x) ** y, 2**y, abs(x) ** 0.5, math.pow(x, -1.0), math.pow(x, 2.0)


@case((0.3, 1.7))
def real_powers(x, y):
    return x**y, 2.0**y, x**0.5, x**-1.0, x**2.0, math.pow(10.0, y)


@case(*grid(INTS, FLOATS))
def constants(n, x):
    least, largest = -9223372036854775808, 0x7FFFFFFFFFFFFFFF
    return x + SHIFT, n + PAIR[0], x * PAIR[1], n - LAST, least, largest, math.pi, len(PAIR)


def test_a_whole_power_is_by_squaring_as_numba_has_it():
    @kernel
    def power(x, n):
        return x**n

    for n in (-3, -1, 0, 1, 2, 3, 10, 70000):
        assert power(1.0001, n) == pytest.approx(1.0001**n, rel=1e-14)
    assert power(3.0, 3) == 27.0


def test_division_by_zero_is_numpys_and_never_stops_the_process():
    @kernel
    def divide_all(a, b, x):
        return a // b, a % b, a // 0, a % 0, a / b, x / 0.0, a // -1, a % -1

    least = -(2**63)
    *whole_parts, quotient, infinite, negated, rest = divide_all(5, 0, 1.0)
    assert (whole_parts, quotient, infinite, negated, rest) == ([0, 0, 0, 0], math.inf, math.inf, -5, 0)
    assert divide_all(least, -1, 1.0)[:2] == (least, 0)  # as in numpy, it has no negative


# variables ---------------------------------------------------------------------------------------------------


@case(*grid((0, 3), (-4, 5), (0, 2)))
def swaps(a, b, n):
    for _ in range(n):
        a, b = b, a + b
    c = d = a
    (c, d), e = (d, b), c
    return a, b, c, d, e


@case((0,), (1,), (5,))
def widen(n):
    total = 0
    for i in range(n):
        total = total + i / 2
    mean = total
    if n > 0:
        mean /= n
    return total, mean


@case((1, 2.5), (0, -1.0))
def reassign_parameters(n, x):
    n = n + 1
    x = x * n
    n += 2
    return n, x


@case((3, True), (3, False), (-1, True))
def assigned_in_branches(n, flag):
    found = -1
    if flag:
        found = n
        extra = 2.5
    else:
        extra = 1
    if n < 0:
        found -= 1
    elif flag and n > 2:
        found *= 2
    else:
        found = 0
    return found, extra


@case((np.arange(4.0), 2), (np.arange(3.0), 0))
def change_in_place(a, n):
    i = 0
    a[i] += a[1] * 2
    a[1] -= step_on(a)
    a[2] *= a[0]
    a[-1] /= 4
    i += 1
    a[i] = a[i] + n
    a[0], a[1] = a[1], a[0]


@kernel
def step_on(a):
    a[1] += 100.0  # seen by the next who looks, not by a[1] -= step_on(a), which looked before
    return 1.0


@case((np.arange(5),), (np.zeros(5, np.int64),))
def change_whole_numbers(a):
    a[0] += 2
    a[1] |= 8
    a[2] <<= 3
    a[3] //= 2
    a[4] = 7.9
    a[LAST] -= 1


@case((np.zeros(3, bool), 2), (np.ones(3, bool), 0))
def change_booleans(a, n):
    a[0] |= n > 1
    a[1] &= n > 1
    a[2] = n
    return a[0] + a[1], not a[2]


@case((np.array([250, 3], np.uint8), np.array([-128, 127], np.int8), np.array([2**31 - 1, -5], np.int32)))
def small_numbers(a, b, c):
    a[0] = int(a[0]) + 5
    b[1] = int(b[0]) + 1
    c[1] = int(c[0]) - int(a[0])
    return int(a[0]) + int(a[1]), int(b[0]) * 2, int(c[0]) + 1  # in numpy they overflow, in a kernel they do not


# control -----------------------------------------------------------------------------------------------------


@case(*grid((-2, 0, 1, 7), (0, 3, 9)))
def ranges(a, b):
    total, last = 0, -1
    for i in range(a, b):
        total += i
        last = i
    for i in range(b, a, -1):
        total = (total * 3 + i) % 1009
    for i in range(a, b, 3):
        total = (total * 5 + i) % 1009
        i = 100
    for j in range(b, a, STEP):
        total = (total * 7 + j) % 1009
    n = b
    for j in range(n):  # the bound is looked at once
        n = n - 1
        total += j
    return total, last, n


@case((0,), (1,), (6,))
def after_the_loop(n):
    i = -5
    for i in range(n):
        if i == 3:
            break
    return i


@case(*grid((0, 1, 5, 12), (1, 3, 50)))
def breaks(n, limit):
    count = 0
    for i in range(n):
        if i % 2 == 1:
            continue
        for j in range(i, -1, -1):
            if j == 3:
                continue
            if count >= limit:
                break
            count += 1
        else_ = count
        while True:
            else_ -= 3
            if else_ < 0:
                break
            if else_ % 2 == 0:
                continue
            count += 1
        if count > 2 * limit:
            return count, i
    return count, n


@case((np.array([4.0, 2.0, 9.0]), 2.0), (np.array([4.0, 2.0, 9.0]), 8.0), (np.zeros(0), 1.0))
def early_return(a, wanted):
    for i in range(a.size):
        if a[i] == wanted:
            return i
    return -1


@case((0,), (3,), (-3,))
def always_returns(n):
    while True:
        if n > 0:
            return n
        n += 1
        if n == 0:
            return -100


@case((1,), (-1,), (0,))
def both_return(n):
    if n > 0:
        return 1.5
    elif n < 0:
        return -1
    else:
        return 0


@case((np.array([3.0, 1.0]), 5), (np.array([3.0, 1.0]), 1), (np.array([3.0, 1.0]), -1))
def short_circuit(a, i):
    inside = 0 <= i < a.size and a[i] > 0.5
    outside = i < 0 or i >= a.size or a[i] < 0.0
    chained = -1 < i < a.size > a[0 if i < 0 or i > 1 else i] != 7.0
    return inside, outside, chained, not (inside and outside), 1 if inside or not outside else 2


@kernel
def counted(count, value):
    count[0] += 1
    return value


@case(*((np.zeros(1, np.int64), a, b) for a, b in grid((0, 1, 5), (0, 3, 9))))
def evaluated_once(count, a, b):
    """The middle of a chain is computed once, the rest only where it is needed."""
    first = counted(count, a) < counted(count, b) < counted(count, 6)
    second = (counted(count, a) > 0 and counted(count, b) > 0) or counted(count, 1) == 1
    return first, second, counted(count, a) if a > b else b


@case((1, 2.5), (-1, 2.5), (0, -1.0))
def conditional_expressions(n, x):
    y = x if n > 0 else -x if n < 0 else 0
    pair = (n, x) if x > 0 else (n + 1, 0.5)
    return y, pair, (1 if n else 2) + (3 if x > 0 else 4)


@case((4,), (0,))
def constant_conditions(n):
    if True:
        n += 1
    if 0:
        n += 10
    while n < 3 and True:
        n += 1
    return n if not False else -1


# arrays ------------------------------------------------------------------------------------------------------


@case((np.arange(6.0).reshape(2, 3), np.arange(24).reshape(2, 3, 4)), (np.zeros((0, 3)), np.zeros((1, 0, 2), int)))
def axes(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        row = a[i]
        for j in range(a.shape[1]):
            total += row[j] * a[i, j] - a[i][j] / 3
            a[i, j] = total
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(b.shape[2]):
                b[i, j, k] = b[i][j, k] + b[0, 0, 0] * k
    n, m = a.shape
    return total, a.size, b.size, len(a), len(b), n, m, b.shape


@case((np.arange(8.0), 2, 5), (np.arange(8.0), 0, 8), (np.arange(8.0), 8, 8), (np.zeros(0), 0, 0))
def slices(a, i, j):
    part, rest, head = a[i:j], a[j:], a[:i]
    total = 0.0
    for k in range(part.size):
        total = total * 2 + part[k]
        part[k] = -total
    return part, rest, head, total, a[:][:i].size, sum_of(a[i:j])


@case((np.arange(5.0),), (np.arange(2.0),))
def slices_from_the_end(a):
    return a[:-1], a[-2:], a[-2:-1], a[-1], a[LAST:].size


@case((np.arange(12.0).reshape(4, 3), 1, 3))
def slices_of_rows(a, i, j):
    part = a[i:j]
    part[0, 1] = 100.0
    return part, part.shape, part[1:].size, part[1][2]


@kernel
def sum_of(a):
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@case((0,), (1,), (5,))
def new_arrays(n):
    a, b, c = np.zeros(n), np.zeros((n, 2), np.int32), np.empty(n, bool)
    d = np.zeros((2, n, 3), dtype=np.int64)
    for i in range(n):
        c[i] = i % 2 == 0
        b[i, 1] = i
        d[1, i, 2] = 7
    return a, b, c, d, (a, (b.shape, c))


@case((np.arange(4.0), 3), (np.zeros(0), 3), (np.arange(4.0), 0))
def arrays_in_loops(a, n):
    total = 0.0
    best = a
    for i in range(n):
        fresh = scaled(a, float(i))
        total += sum_of(fresh)
        if i == 1:
            best = fresh
        work = np.zeros(a.size)
        for j in range(a.size):
            work[j] = fresh[j] + best[j]
        total += sum_of(work)
    return total, best, best.copy()


@kernel
def scaled(a, factor):
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = a[i] * factor
    return out


@case((np.arange(4.0),))
def views_of_arguments(a):
    return a, a[1:3], a.copy()


@case((0, 2), (1, 0))
def constant_arrays(i, j):
    return TABLE[i, j] + TABLE[i][j] * TABLE[-1, -1], TABLE.shape, TABLE.size, TABLE[i]


# tuples and records ------------------------------------------------------------------------------------------


class Point(NamedTuple):
    x: float
    y: float = 0.5


class Line(NamedTuple):
    start: Point
    end: Point
    marks: Any


@case((Line(Point(1.0, 2.0), Point(3.0), np.arange(3)), 2), (Line(Point(-1.0), Point(0.0), np.arange(1)), 0))
def named_tuples(line, n):
    start, end, marks = line
    for _ in range(n):
        start, end = end, Point(y=start.x, x=end.y + line.start.x)
    marks[0] = 9
    return Line(start, end, marks), line[0].x, line.end[1], Point(1.0), len(line), start.x < end.x


@case((2,), (-2,))
def tuples_reassigned(n):
    pair = (n, 1)
    nested = (pair, (0.5, True))
    if n > 0:
        pair = (0.25, 2)  # both are of floats then
        nested = (pair, (1, False))
    a, (b, c) = nested
    return pair, nested, a[0], b, c, ()


SPOT = np.dtype([("flag", "?"), ("count", "i4"), ("value", "f8"), ("code", "u8"), ("small", "u1")])
ALIGNED = np.dtype([("flag", "?"), ("count", "i4"), ("value", "f8")], align=True)


def spots(n, dtype):
    made = np.zeros(n, dtype)
    made["count"], made["value"] = np.arange(n), np.arange(n) / 3
    return made


@case((spots(4, SPOT),), (spots(1, SPOT),), (spots(4, ALIGNED),))
def records(a):
    total = 0.0
    for i in range(a.size):
        spot = a[i]
        spot["count"] += 2
        spot["flag"] = spot["count"] > 3
        a[i]["value"] *= 2
        total += spot["value"] + a[0]["count"]
    best = a[0]
    for i in range(1, a.size):
        if a[i]["value"] > best["value"]:
            best = a[i]
    return total, best["count"], bump(best), best["count"]


@kernel
def bump(record):
    record["count"] += 10
    return record["count"]


# what is known while compiling -------------------------------------------------------------------------------


@case((None, 3, 1.0), (np.arange(3.0), 3, 1.0))
def switches(a, n, x):
    total = 0.0
    if a is not None:
        total += a[0]
    if a is None or a.size == 0:
        total -= 1.0
    if n > 2 and a is not None and a[1] > 0.0:
        total += a[1]
    size = 0 if a is None else a.size
    return total, size, a is None, maybe(a)


@kernel
def maybe(a=None, b=2):
    if a is None:
        return -1.0 * b
    return a[0] * b


@kernel
def with_defaults(a: float, b: int = 2, c: float = 1, switch: bool = False):
    return a * b + c if not switch else a


@case((1,), (2.5,))
def named_arguments(x):
    once = with_defaults(x) + with_defaults(x, c=3) + with_defaults(b=1, a=x, switch=True)
    return once + with_defaults(x, 3, 4.5, False)


# blocks and what they make -----------------------------------------------------------------------------------


@case((3, np.arange(3.0)), (0, np.arange(3.0)), (-1, np.arange(3.0)))
def aggregates_in_blocks(n, a):
    """A tuple, a view and a record that are made once, inside a block, and used after it."""
    made = spots_of(2)
    if n >= 0:
        pair = (n, a[0])
        part = a[1:]
        spot = made[1]
        spot["count"] = 5
    if n >= 0:
        return pair, part, spot["count"], part[0]
    return (0, 0.0), a, -1, 0.0


@case((2,), (0,))
def aggregates_in_loops(n):
    total = 0.0
    for i in range(n + 1):
        pair = (i, i * 0.5)
        work = np.zeros(3)
        work[i % 3] = 1.0
        total += pair[1] + work[0]
    return total, pair, work


@kernel
def spots_of(n):
    return np.zeros(n, ALIGNED)


@kernel
def level0(x):
    return x + 1


@kernel
def level1(x):
    return level0(level0(x)) * 2


@kernel
def level2(x, y):
    return level1(x) + level1(y), level0(y)


@case((1, 2.0), (1.5, 2), (True, 1.0))
def deep_calls(x, y):
    """The same kernels, for whole numbers and for floats."""
    a, b = level2(x, y)
    c, d = level2(int(x), 3)
    return a, b, c, d, level0(True)


@case((0,), (3,))
def nothing(n):
    """No result at all, also where it says so."""
    for i in range(n):
        if i == 1:
            return
    return


@case((3,), (0,))
def tuples_of_nothing(n):
    return None, (), (None, n)


# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("made", "inputs"), CASES)
def test_a_kernel_is_its_function(made, inputs):
    for arguments in inputs:
        check(made, *arguments)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31))
def test_whole_numbers(a, b):
    check(compare_ints, a, b)
    if b != 0 and (a, b) != (-(2**63), -1):
        check(divide, a, b)


@given(st.floats(), st.floats(), st.floats())
def test_floats(a, b, c):
    check(compare_floats, a, b)
    check(float_arithmetic, a, b)
    check(extremes, a, b, c)


@given(st.floats(min_value=5e-324, allow_infinity=False))
def test_functions(x):
    check(functions, min(x, 600.0))


@given(st.floats(0.01, 100.0), st.floats(-50.0, 50.0))
def test_powers_are_those_of_the_c_library(x, y):
    check(real_powers, x, y)


@given(st.integers(-20, 20), st.integers(-20, 20))
def test_ranges(a, b):
    check(ranges, a, b)
