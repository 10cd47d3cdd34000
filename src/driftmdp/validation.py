"""Small checks shared by every room: one sentence that says what, where, and what to do next."""

from __future__ import annotations

import contextlib
import difflib
import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError

__all__ = [
    "LARGEST",
    "as_fraction",
    "as_integer",
    "as_number",
    "as_table",
    "as_vector",
    "nearest_name",
    "one_of",
    "quietly",
    "readonly",
    "warn",
]

LARGEST = 1e150  # rewards up to this size can be added up and squared without overflow

Array = TypeVar("Array", bound=NDArray[Any])


def as_integer(value: Any, name: str, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return ``value`` as an int within bounds, or say what is wrong; an array without axes is a number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidInputError(f"{name} must be a whole number; got {value!r}.")
    if abs(int(value)) >= 2**63:
        raise InvalidInputError(f"{name} must be a whole number that a computer can count to; got {value}.")
    _check_bounds(float(value), name, minimum, maximum)
    return int(value)


def as_number(value: Any, name: str, minimum: float | None = None, maximum: float | None = None) -> float:
    """Return ``value`` as a finite float within bounds, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not _is_finite(value):
        raise InvalidInputError(f"{name} must be a finite number; got {value!r}.")
    _check_bounds(float(value), name, minimum, maximum)
    return float(value)


def as_fraction(value: Any, name: str) -> float:
    """Return ``value`` as a float in [0, 1], or say what is wrong with it."""
    return as_number(value, name, 0.0, 1.0)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _check_bounds(value: float, name: str, minimum: float | None, maximum: float | None) -> None:
    if minimum is not None and value < minimum:
        raise InvalidInputError(f"{name} must be at least {minimum:g}; got {value:g}.")
    if maximum is not None and value > maximum:
        raise InvalidInputError(f"{name} must be at most {maximum:g}; got {value:g}.")


def as_vector(values: ArrayLike, name: str, length: int | None = None) -> NDArray[np.float64]:
    """Return ``values`` as a new one-dimensional float array of finite numbers."""
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a list of numbers; got {values!r}.") from None
    if vector.ndim != 1 or (length is not None and vector.size != length):
        wanted = "(n,)" if length is None else f"({length},)"
        raise InvalidInputError(f"{name} must have shape {wanted}; got {vector.shape}.")
    if not np.isfinite(vector).all():
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InvalidInputError(f"{name}[{where}] must be finite; got {vector[where]}.")
    return vector


def as_table(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return ``values`` as an array of any shape, or say that it is ragged."""
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInputError(f"{name} must be a regular table; its rows differ in length.") from None


def one_of(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise name the nearest choice."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    raise InvalidInputError(
        f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.{nearest_name(value, known)}"
    )


def nearest_name(name: Any, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest known name, or an empty string.

    Examples
    --------
    >>> nearest_name("two-stat", ["two-state-v1", "perils-v1"])
    " Did you mean 'two-state-v1'?"
    """
    if not isinstance(name, str):
        return ""
    by_lower = {choice.lower(): choice for choice in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Let ``warn`` say nothing, in this thread and within this block."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that led here.

    A warning may be turned into an error: call this when everything else is done.
    """
    if _quiet.get():
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("driftmdp."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def readonly(array: Array) -> Array:
    """Return a view that cannot be written to.

    Public properties give such views; kernels take the arrays themselves, because numba compiles
    everything a second time for read-only ones.
    """
    view = array.view()
    view.flags.writeable = False
    return view
