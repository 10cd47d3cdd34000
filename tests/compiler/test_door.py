"""Python's objects go into compiled code and come out: all of them right, or a sentence."""

import copy
import gc
import math
import multiprocessing
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest

from driftmdp.compiler import KernelError, kernel
from driftmdp.compiler.kernel import MAX_WAYS


class Point(NamedTuple):
    x: float
    n: int = 3


class Named(Point):
    """A subclass of a named tuple."""


class Renamed(NamedTuple):
    n: float
    x: int


class Level(IntEnum):
    HIGH = 7


@kernel
def twice(x):
    return x + x


@kernel
def scale(x: float, n: int = 2, flag: bool = False):
    return (x * n, flag)


@kernel
def total(a):
    found = 0.0
    for i in range(a.size):
        found += a[i]
    return found


@kernel
def fill(a, x):
    for i in range(a.size):
        a[i] = x


@kernel
def first_of(point):
    return point.x


@kernel
def pieces(a, point):
    return a[1:], (point, a.size > 2, None), np.zeros((0, 3))


@kernel
def spin(n):
    x = 0.5
    for _ in range(n):
        x = 3.5 * x * (1.0 - x)
    return x


# what goes in -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, 6), (-(2**62), -(2**63)), (1.5, 3.0), (True, 2), (np.int32(4), 8), (np.int64(-4), -8),
        (np.uint8(200), 400), (np.float32(0.5), 1.0), (np.float64(0.1), 0.2), (np.bool_(True), 2), (Level.HIGH, 14),
        (math.inf, math.inf), (np.uint64(2**63 + 1), np.uint64(2)),
    ],
)  # fmt: skip
def test_numbers(given, expected):
    for _ in range(3):  # by a new way, and by the one that is remembered
        found = twice(given)
        assert found == expected
        assert type(found) is type(expected)


def test_what_is_declared_a_float_is_one():
    assert scale(3) == (6.0, False)
    assert isinstance(scale(3)[0], float)
    assert isinstance(scale(np.int64(3))[0], float)
    assert scale(0.5, True) == (0.5, False)
    assert isinstance(first_of(Point(3)), float)


def test_arguments_by_name_and_defaults():
    assert scale(1.5, flag=True) == scale(1.5, 2, True) == scale(flag=True, x=1.5) == (3.0, True)
    assert scale(n=4, x=1.0) == (4.0, False)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: scale(), "scale.*missing a required argument: 'x'"),
        (lambda: scale(1.0, 2, True, 4), "scale.*too many positional"),
        (lambda: scale(1.0, m=2), "scale.*unexpected keyword argument 'm'"),
        (lambda: scale("1.5"), "^x of <kernel .*scale>.*got str"),
        (lambda: scale([1.5]), "^x of .*got list"),
        (lambda: twice(1j), "got complex"),
        (lambda: total([1.0, 2.0]), "^a of <kernel .*total>: a kernel takes numbers, arrays.*got list"),
        (lambda: total(np.arange(6.0)[::2]), "^a of .*C-contiguous.*strides"),
        (lambda: total(np.arange(6.0).reshape(2, 3).T), "C-contiguous"),
        (lambda: total(np.arange(3, dtype=">f8")), "known type; got >f8"),
        (lambda: total(np.arange(3, dtype=np.float32)), "known type; got float32"),
        (lambda: total(np.array(["a"])), "known type"),
        (lambda: total(np.array([None])), "known type; got object"),
        (lambda: total(np.array(1.0)), "with axes"),
        (lambda: total(np.zeros(17, np.uint8)[1:].view(np.float64)), "aligned"),
        (lambda: total((np.zeros(2), [3])), "got list"),
        (lambda: total(np.zeros(2, [("x", "f4")])), "known type"),
        (lambda: total(np.zeros(2, [("x", "f8", 2)])), "known type"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(call, sentence):
    for _ in range(2):
        with pytest.raises(TypeError, match=sentence):
            call()


def test_more_than_64_bits():
    assert twice(5) == 10
    for number in (2**63, -(2**63) - 1, 10**30):
        for _ in range(2):
            with pytest.raises(OverflowError, match=r"too (large|big) to convert"):
                twice(number)
    assert twice(5) == 10


def test_arrays_of_any_kind():
    class Mine(np.ndarray):
        """A subclass."""

    a = np.arange(4.0)
    locked = a.copy()
    locked.flags.writeable = False
    for given in (a, a.view(Mine), locked, a[1:], a[:0], np.ascontiguousarray(a[::2]), a.astype(int), a > 1):
        for _ in range(2):
            assert total(given) == given.sum()
    mine = np.zeros(3).view(Mine)
    fill(mine, 2)
    np.testing.assert_array_equal(mine, [2.0] * 3)


def test_tuples_are_told_apart_by_their_class():
    """Equal types of items in another order, under other names: each has machine code of its own."""
    assert first_of(Point(1.5, 2)) == 1.5
    assert first_of(Renamed(1.5, 2)) == 2
    assert first_of(Named(2.5, 2)) == 2.5
    assert first_of(Point(3.5, 2)) == 3.5
    with pytest.raises(KernelError, match=r"in first_of: tuple\(float, int\) has no attribute x"):
        first_of((1.5, 2))


def test_a_kernel_goes_on_with_more_types_than_it_remembers():
    for _ in range(2):
        for n in range(1, MAX_WAYS + 5):
            kind = NamedTuple(f"Kind{n}", [("x", float), *((f"n{i}", int) for i in range(n))])  # type: ignore[misc]
            assert first_of(kind(float(n), *range(n))) == n
    assert len(first_of._ways) <= MAX_WAYS


# what comes out ---------------------------------------------------------------------------------------------


def test_results_are_pythons_own():
    a = np.arange(3.0)
    rest, (point, is_large, nothing), empty = pieces(a, Point(0.5))
    assert type(rest) is np.ndarray
    assert (type(point), type(point.x), type(point.n)) == (Point, float, int)
    assert (is_large, nothing, empty.shape) == (True, None, (0, 3))
    rest[0] = 100.0  # a copy: kernels give back no views
    assert a[1] == 1.0
    assert rest.flags.owndata
    assert rest.flags.writeable


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_nothing_is_kept_and_nothing_leaks():
    a, point = np.zeros(30_000), Point(0.5)
    references = sys.getrefcount(a), sys.getrefcount(point)
    for _ in range(10):
        pieces(a, point)
    assert (sys.getrefcount(a), sys.getrefcount(point)) == references
    gc.collect()
    before = resident()
    for _ in range(3000):
        pieces(a, point)  # 240 kB each
    small = a[:3]
    for _ in range(50_000):
        pieces(small, point)
    gc.collect()
    assert resident() - before < 20e6


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


# threads, processes, copies ---------------------------------------------------------------------------------


def test_other_threads_go_on_while_a_kernel_runs():
    spin(10)
    ended = threading.Event()

    def run():
        spin(30_000_000)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    turns = 0
    while not ended.is_set():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 3


def test_threads_may_compile_at_once():
    @kernel
    def fresh(a, n):
        return total(a) + n

    a = np.arange(10.0)
    barrier = threading.Barrier(8)

    def call(i):
        barrier.wait()
        return fresh(a, i if i % 2 else float(i))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(8))) == [45.0 + i for i in range(8)]


def test_kernels_are_pickled_and_copied_as_functions_are():
    assert pickle.loads(pickle.dumps(twice)) is twice
    assert copy.copy(twice) is twice
    assert copy.deepcopy([twice])[0] is twice

    @kernel
    def local(x):
        return x

    assert copy.deepcopy(local) is local
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(local)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_kernels_run_after_a_fork():
    assert twice(2) == 4
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(twice, (3,)) == 6
        assert pool.apply(total, (np.arange(3.0),)) == 3.0


def test_a_kernel_looks_like_its_function():
    assert repr(scale) == "<kernel tests.compiler.test_door.scale>"
    assert scale.__name__ == "scale"
    assert scale.__wrapped__ is scale.py_func
