"""Checks of arguments. Each raises one sentence that says what is wrong, where, and what to do next."""

import contextlib
import difflib
import math
import numbers
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError

SHOWN_CHARACTERS = 200  # characters of a value in a message
LARGEST = 1e150  # rewards up to this size can be added up and squared without overflow
# Letters and marks that are printable, and that no font shows: joiners, fillers, selectors of variants.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")

Array = TypeVar("Array", bound=NDArray[Any])


def as_integer(value: Any, name: str, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return ``value`` as an int within bounds. An array without axes is a number."""
    number = value if type(value) is int else _as_int(value, name)
    if abs(number) >= 2**63:
        raise InvalidInputError(f"{name} must be below 2^63 in size; got {number.bit_length()} bits.")
    _check_bounds(number, name, minimum, maximum)
    return number


def _as_int(value: Any, name: str) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, numbers.Integral):
        raise InvalidInputError(f"{name} must be a whole number; got {shown(value)}.")
    return int(value)


def as_number(value: Any, name: str, minimum: float | None = None, maximum: float | None = None) -> float:
    """Return ``value`` as a finite float within bounds."""
    number = value if type(value) is float else _as_float(value)
    if not math.isfinite(number):
        raise InvalidInputError(f"{name} must be a finite number; got {shown(value)}.")
    _check_bounds(number, name, minimum, maximum)
    return number


def _as_float(value: Any) -> float:
    """Return ``value`` as a float, or NaN if it is no real number or too large."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.timedelta64):
        with contextlib.suppress(OverflowError):
            return float(value)
    return math.nan


def as_flag(value: Any, name: str) -> bool:
    """Return ``value`` as True or False. 1 and 0 are accepted, arrays are not."""
    if not isinstance(value, bool | np.bool_ | int) or value not in (0, 1):
        raise InvalidInputError(f"{name} must be True or False; got {shown(value)}.")
    return bool(value)


def as_fraction(value: Any, name: str) -> float:
    """Return ``value`` as a float in [0, 1]."""
    return as_number(value, name, 0.0, 1.0)


def _check_bounds(value: float, name: str, minimum: float | None, maximum: float | None) -> None:
    if minimum is not None and value < minimum:
        raise InvalidInputError(f"{name} must be at least {minimum:g}; got {value:g}.")
    if maximum is not None and value > maximum:
        raise InvalidInputError(f"{name} must be at most {maximum:g}; got {value:g}.")


def as_vector(values: ArrayLike, name: str, length: int | None = None) -> NDArray[np.float64]:
    """Return ``values`` as a new one-dimensional float array of finite numbers."""
    vector = as_numbers(values, name, "a list of numbers")
    if vector.ndim != 1 or (length is not None and vector.size != length):
        wanted = "(n,)" if length is None else f"({length},)"
        raise InvalidInputError(f"{name} must have shape {wanted}; got {vector.shape}.")
    if not np.isfinite(vector).all():
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InvalidInputError(f"{name}[{where}] must be finite; got {vector[where]}.")
    return vector


def as_numbers(values: Any, name: str, rule: str = "real numbers", copy: bool = True) -> NDArray[np.float64]:
    """Return ``values`` as a float array of any shape, a new one if ``copy``.

    Dates, text, objects and masked entries are refused.
    """
    _refuse_masked(values, name)
    try:
        table = np.asarray(values)
    except (TypeError, ValueError):  # ragged
        table = np.empty(0, object)
    if table.dtype.kind not in "biuf":
        raise InvalidInputError(f"{name} must be {rule}; got {shown(values)}.")
    with np.errstate(over="ignore"):  # a long double may become infinite, which callers refuse
        return table.astype(np.float64, copy=copy)


def as_table(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return ``values`` as an array of any shape and type. Ragged lists and masked entries are refused."""
    _refuse_masked(values, name)
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInputError(f"{name} must be a regular table; its rows differ in length.") from None


def _refuse_masked(values: Any, name: str) -> None:
    """Refuse masked entries: numpy would read the values under the mask."""
    if _is_masked(values):
        raise InvalidInputError(f"{name} must have no masked entries; fill or drop them first.")


def _is_masked(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return any(_is_masked(one) for one in values if isinstance(one, list | tuple | np.ma.MaskedArray))
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.getmaskarray(values).any())


def as_list(values: Any, name: str, rule: str) -> list[Any]:
    """Return an iterable as a list. ``rule`` says what it should be. Text and sparse matrices are refused."""
    if isinstance(values, list | tuple):
        return list(values)
    if isinstance(values, Iterable) and not isinstance(values, str | bytes) and not hasattr(values, "tocsr"):
        with contextlib.suppress(TypeError):  # such as an array without axes
            return list(values)
    raise InvalidInputError(f"{name} must be {rule}; got {shown(values)}.")


def as_file(value: Any, name: str = "path") -> Path:
    """Return ``value`` as the path of a file, after checking that a file can have it."""
    try:
        path = Path(value)
        encoded = os.fsencode(path)
    except (TypeError, UnicodeEncodeError):
        encoded = b"\0"
    if b"\0" in encoded:
        raise InvalidInputError(f"{name} must be the path of a file; got {shown(value)}.")
    return path


def shown(value: Any) -> str:
    """Format a value for a message: one short line, arrays by type and shape.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.validation import shown
    >>> shown([1, 2]), shown(np.ones((2, 3)))
    ('[1, 2]', 'float64 of shape (2, 3)')
    """
    is_sparse = hasattr(value, "tocsr") and hasattr(value, "dtype")
    if is_sparse or (isinstance(value, np.ndarray) and value.shape):
        return f"{value.dtype} of shape {value.shape}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a broken __repr__ must not hide the error being reported
        text = f"a broken {type(value).__name__}"
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def one_of(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``. Otherwise the error names the nearest choice."""
    listed = list(choices)
    if isinstance(value, str) and value in listed:
        return value
    rule = f"{name} must be one of {', '.join(map(repr, listed))}"
    raise InvalidInputError(f"{rule}; got {shown(value)}.{nearest_name(value, listed)}")


def check_type(value: Any, kind: Any, rule: str, hint: str = "") -> None:
    """Raise unless ``value`` is an instance of ``kind``. ``rule`` says so in words: ``space must be a Space``."""
    if not isinstance(value, kind):
        raise InvalidInputError(f"{rule}; got {shown(value)}.{hint}")


def nearest_name(name: Any, choices: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest other choice, or an empty string.

    Examples
    --------
    >>> from driftmdp.validation import nearest_name
    >>> nearest_name("two-stat", ["two-state-v1", "perils-v1"])
    " Did you mean 'two-state-v1'?"
    """
    if not isinstance(name, str):
        return ""
    by_lower = {choice.lower(): choice for choice in choices if choice != name}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    if not close:
        return ""
    choice = by_lower[close[0]]
    looks_equal = as_seen(choice) == as_seen(name)
    return f" Did you mean {ascii(choice) if looks_equal else repr(choice)}?"  # so that they differ


def as_seen(text: str) -> str:
    r"""Return a text as a reader sees it: without characters that cannot be seen, and in one form of each other.

    Examples
    --------
    >>> from driftmdp.validation import as_seen
    >>> as_seen("\ufeffDatum\u200b"), as_seen("Ka\u0308se") == as_seen("K\xe4se")
    ('Datum', True)
    """
    normal = unicodedata.normalize("NFKC", text)
    return "".join(c for c in normal if (c.isprintable() or c.isspace()) and not _UNSEEN.match(c))


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Silence ``warn`` in this thread, within this block."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that led here.

    Call this last: a warning may be turned into an error.
    """
    if _quiet.get():
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("driftmdp."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def readonly(array: Array) -> Array:
    """Return a view that cannot be written to.

    Public properties return such views. Kernels take the arrays themselves, and do not look whether they may write.
    """
    view = array.view()
    view.flags.writeable = False
    return view
