"""The user's own code on other machines: its source files travel with the function, and must be the same there.

A worker writes the files into a folder of their own at the end of its import path, as the folder of the spec is
here. What is then imported must have the digest that is part of a run's identity. So a worker that imports another
file of that name is refused. Why this is not cloudpickle: docs/decisions, 18.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from driftmdp.errors import InvalidInputError
from driftmdp.experiments.user_code import INSTALL_FOLDERS, ON_EVERY_WORKER, digest_of_code, files_of

Files: TypeAlias = "tuple[tuple[str, bytes], ...]"  # path and content

_lock = threading.Lock()


@dataclass(frozen=True)
class ShippedFunction:
    """A function with the source files of the user's own modules.

    Attributes
    ----------
    function
        The function.
    files
        Path below the import folder, and content, of each file that is not installed.
    digests
        Each ``module:name``, and the digest of its code.
    """

    function: Callable[[Any], Any]
    files: Files
    digests: tuple[tuple[str, str], ...]

    def __call__(self, task: Any) -> Any:
        """Make the code importable, then call the function."""
        with _lock:
            problem = _install(self.files, self.digests)
        if problem:
            raise InvalidInputError(problem)
        return self.function(task)


def with_user_code(function: Callable[[Any], Any], names: Iterable[str]) -> Callable[[Any], Any]:
    """Return the function, with the code of each ``module:name`` if there is any.

    Examples
    --------
    >>> from driftmdp.experiments.ship_code import with_user_code
    >>> with_user_code(abs, [])(-3)
    3
    """
    own = sorted(set(names))
    if not own:
        return function
    files = {path: file.read_bytes() for name in own for path, file in files_of(name)}
    return ShippedFunction(
        function, tuple(sorted(files.items())), tuple((name, digest_of_code(name)) for name in own)
    )


@functools.lru_cache(maxsize=1)
def _install(files: Files, digests: tuple[tuple[str, str], ...]) -> str:
    """Make the code importable, once until other code comes; return what is wrong with it here, or nothing."""
    tops = {PurePosixPath(path).parts[0].removesuffix(".py") for path, _ in files} - ON_EVERY_WORKER
    _forget_modules(tops)
    if files:
        _replace_folder(files)
    for name, digest in digests:
        try:
            found = digest_of_code(name)
        except Exception as error:
            return f"{name} must be importable on every worker; there: {type(error).__name__}: {error}."
        if found != digest:
            return _differs(name, importlib.import_module(name.partition(":")[0]).__file__)
    for top in sorted(tops):
        spec = importlib.util.find_spec(top)
        places = [*(spec.submodule_search_locations or []), spec.origin] if spec else []
        place = Path(places[0]) if places and places[0] else None
        if place is None or not _has_files(place.parent, top, files):
            return _differs(top, place)
    return ""


def _differs(name: str, place: Any) -> str:
    return (
        f"{name} must be the same on every worker; one has another in {place}. Remove it there, or start the "
        "worker in another folder."
    )


def _has_files(folder: Path, top: str, files: Files) -> bool:
    """Return whether a folder has all files of a top-level name, with the same content."""
    own = ((folder / path, content) for path, content in files if path.split("/")[0] in {top, f"{top}.py"})
    return all(file.is_file() and file.read_bytes() == content for file, content in own)


def _forget_modules(tops: set[str]) -> None:
    """Forget modules that were imported before under these names, because they may be other code by now."""
    for name, module in list(sys.modules.items()):
        is_installed = INSTALL_FOLDERS & set(Path(getattr(module, "__file__", None) or "").parts)
        if name.partition(".")[0] in tops and not is_installed:
            del sys.modules[name]
    importlib.invalidate_caches()


@functools.cache
def _root() -> tempfile.TemporaryDirectory[str]:
    """Return this process's folder for shipped code. It is removed when the process ends.

    A dask worker's lies in the worker's own folder, which dask removes even after a kill.
    """
    try:
        from distributed import get_worker

        place = str(get_worker().local_directory)
    except (ImportError, ValueError):
        place = None
    return tempfile.TemporaryDirectory(prefix="driftmdp-code-", dir=place, ignore_cleanup_errors=True)


def _replace_folder(files: Files) -> None:
    """Write the files into a new folder at the end of the import path, and remove the one before."""
    root = Path(_root().name)
    folder = Path(tempfile.mkdtemp(dir=root))
    for path, content in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    sys.path[:] = [path for path in sys.path if not Path(path).is_relative_to(root)]
    sys.path.append(str(folder))
    for old in root.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
