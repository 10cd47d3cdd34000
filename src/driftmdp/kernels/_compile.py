"""The one way kernels are compiled: nogil, no fastmath, cached under a key made of all kernel sources.

numba's own cache looks only at the file that defines a function, so an edit in a kernel that is
inlined into another file would be missed. Here the cache directory and the stamp inside it are a hash
of every kernel source: an edit never meets a stale cache, and a second process never compiles again.

The directory is in ``NUMBA_CACHE_DIR`` if that is set, otherwise in the user's cache directory; where that cannot
be written, in the temporary one. What lies there is run, so nobody else may be able to write to it: otherwise a new
temporary directory is made, which is removed when the process ends.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from driftmdp.system import is_own
from driftmdp.validation import warn

Function = TypeVar("Function", bound=Callable[..., Any])


@functools.cache
def sources_hash() -> str:
    """Return a hash of every kernel source file, by name and content."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _candidates() -> list[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [home / "driftmdp", Path(tempfile.gettempdir()) / f"driftmdp-{_user()}"]


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


@functools.cache
def cache_directory() -> Path:
    """Return the first candidate directory that can be written by this user only, keyed by the sources' hash."""
    refused = []
    for parent in _candidates():
        directory = parent / f"kernels-{sources_hash()}"
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_own(parent, sticky=True):
                refused.append(parent)
                continue
            directory.mkdir(mode=0o700, exist_ok=True)
            if not is_own(directory):
                refused.append(directory)
                continue
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except OSError:
            continue
    if refused:
        warn(
            f"{refused[0]} must be writable by you only, because machine code is read from there; it is not used, "
            "and this process compiles for itself. Remove it, or set NUMBA_CACHE_DIR to a folder of your own."
        )
    fresh = tempfile.mkdtemp(prefix="driftmdp-")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return Path(fresh)


def has_compiled_cache() -> bool:
    """Return whether something has been compiled on this machine before."""
    return any(cache_directory().rglob("*.nbc"))


class _SourcesLocator(_CacheLocator):
    """Tell numba where a kernel's compiled code lives and which sources it was compiled from."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def get_source_stamp(self) -> str:
        return sources_hash()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _SourcesLocator:
        return cls(py_func, py_file)


class _SourcesCacheImplementation(CompileResultCacheImpl):
    _locator_classes = [_SourcesLocator]  # noqa: RUF012, numba's own attribute


class _SourcesCache(FunctionCache):
    _impl_class = _SourcesCacheImplementation


def kernel(function: Function) -> Function:
    """Compile ``function`` on first call, releasing the GIL, and keep the machine code on disk.

    Division by zero gives infinities and NaNs, as in numpy; kernels look for them where it matters.
    """
    # Set explicitly: otherwise a lean kernel that calls it hands its own setting down.
    return _compiled(function, _nrt=True)


def lean_kernel(function: Function) -> Function:
    """Like ``kernel``, for functions that neither make nor return arrays: compiled without counting references.

    Counting the arrays of a named tuple in and out costs ten times what a short function does
    (docs/decisions/0006).
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: Function) -> Function:
    """Like ``lean_kernel``, and inlined into its callers: for short functions that take many arrays."""
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if hasattr(compiled, "enable_caching"):  # not so where NUMBA_DISABLE_JIT leaves the Python function
        compiled._cache = _SourcesCache(function)  # type: ignore[no-untyped-call]
    return compiled
