"""Python as the oracle of the compiler: the same bits from a kernel and from the function it was made of."""

import copy
import functools
import struct
import warnings
from types import FunctionType

import numpy as np

from driftmdp.compiler import Kernel


def bits(value):
    """Return what is compared. A NaN is a NaN, and an int is the float that it became by being joined with one."""
    if isinstance(value, tuple):
        return type(value).__name__, tuple(bits(item) for item in value)
    if isinstance(value, np.ndarray) and value.dtype.names:  # without the bytes between fields
        return tuple(bits(np.ascontiguousarray(value[name])) for name in value.dtype.names)
    if isinstance(value, np.ndarray):
        plain = np.where(np.isnan(value), np.nan, value) if value.dtype.kind == "f" else value
        return value.dtype, value.shape, plain.tobytes()
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating):
        return "nan" if value != value else struct.pack("d", value)
    return int(value)


def matches(one, other):
    """Return whether two results are the same, bit by bit."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(matches, one, other))
    if isinstance(one, float) and isinstance(other, int):
        return bits(one) == bits(float(other))
    return bits(one) == bits(other)


@functools.cache
def as_python(kernel):
    """Return the function that a kernel was made of, in which the kernels that it calls are functions too."""
    function = kernel.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Kernel):
            names[name] = as_python(names[name])
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def check(kernel, *arguments):
    """Check that a kernel returns what its function returns, and leaves its arguments as that does."""
    ours, pythons = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found = kernel(*ours)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = as_python(kernel)(*pythons)
    assert matches(found, expected), f"{kernel}{arguments}: {found!r}, but Python has {expected!r}"
    assert matches(ours, pythons), f"{kernel}{arguments} left {ours!r}, but Python leaves {pythons!r}"
