"""A user's own code on other machines: its source files travel with the work, and must be the same there.

On a worker the files are put into a folder of their own, which is looked into after all else, as the
folder of the spec is here. What is then imported must have the digest that is part of what a run is; so a worker
that has another file of that name in its way is refused.
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
from driftmdp.experiments.user_code import INSTALLED, KNOWN, digest_of_code, files_of

Files: TypeAlias = "tuple[tuple[str, bytes], ...]"  # path and content

_lock = threading.Lock()


@dataclass(frozen=True)
class Carrying:
    """A function that brings the source files of a user's own modules along.

    Attributes
    ----------
    function
        What is called.
    files
        Path below the folder that is imported from, and content, of each file that is not installed.
    digests
        Each ``module:name``, and the digest of its code.
    """

    function: Callable[[Any], Any]
    files: Files
    digests: tuple[tuple[str, str], ...]

    def __call__(self, task: Any) -> Any:
        """Call the function, once the code is there."""
        with _lock:
            wrong = _unpack(self.files, self.digests)
        if wrong is not None:
            raise InvalidInputError(wrong)
        return self.function(task)


def carrying(function: Callable[[Any], Any], names: Iterable[str]) -> Callable[[Any], Any]:
    """Return the function, which brings the code of each ``module:name`` along if there is any.

    Examples
    --------
    >>> carrying(abs, [])(-3)
    3
    """
    own = sorted(set(names))
    if not own:
        return function
    files = {path: file.read_bytes() for name in own for path, file in files_of(name)}
    return Carrying(function, tuple(sorted(files.items())), tuple((name, digest_of_code(name)) for name in own))


@functools.lru_cache(maxsize=1)
def _unpack(files: Files, digests: tuple[tuple[str, str], ...]) -> str | None:
    """Make the code importable, once until other code comes; return what is wrong with it here, if anything is."""
    tops = {PurePosixPath(path).parts[0].removesuffix(".py") for path, _ in files}
    _forget(tops)
    if files:
        _look_into(_written(files))
    for name, digest in digests:
        try:
            found = digest_of_code(name)
        except Exception as error:
            return f"{name} must be importable on every worker; there: {type(error).__name__}: {error}."
        if found != digest:
            return _other(name, Path(str(importlib.import_module(name.partition(":")[0]).__file__)))
    for top in sorted(tops - KNOWN):
        place = _place_of(top)
        if place is None or not _has(place.parent, top, files):
            return _other(top, place)
    return None


def _other(name: str, place: Path | None) -> str:
    return (
        f"{name} must be the same on every worker; one has another in {place}. Remove it there, or start the "
        "worker in another folder."
    )


def _place_of(top: str) -> Path | None:
    """Return the file or the folder that a top-level name is imported from."""
    spec = importlib.util.find_spec(top)
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or [])
    return Path(folders[0]) if folders else Path(spec.origin) if spec.origin else None


def _has(folder: Path, top: str, files: Files) -> bool:
    """Return whether a folder has those of the files that belong to a top-level name, with the same content."""
    own = [
        (folder / path, content) for path, content in files if PurePosixPath(path).parts[0] in {top, f"{top}.py"}
    ]
    return all(file.is_file() and file.read_bytes() == content for file, content in own)


def _forget(names: set[str]) -> None:
    """Forget modules that were imported before under these names, for they may be other code by now."""
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        parts = Path(getattr(module, "__file__", None) or "").parts
        if top in names - KNOWN and not INSTALLED & set(parts):
            del sys.modules[name]
    importlib.invalidate_caches()


def _written(files: Files) -> Path:
    """Return a new folder that has the files."""
    folder = Path(tempfile.mkdtemp(dir=_root().name))
    for path, content in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


@functools.cache
def _root() -> tempfile.TemporaryDirectory[str]:
    """Return this process's folder for code that was brought; it is removed when the process ends.

    That of a worker lies in the worker's own, which dask removes even after a kill.
    """
    try:
        from distributed import get_worker

        place = str(get_worker().local_directory)
    except (ImportError, ValueError):
        place = None
    return tempfile.TemporaryDirectory(prefix="driftmdp-code-", dir=place, ignore_cleanup_errors=True)


def _look_into(folder: Path) -> None:
    """Import from this folder, behind all others, and no longer from what was brought before."""
    root = Path(_root().name)
    sys.path[:] = [path for path in sys.path if not Path(path).is_relative_to(root)]
    sys.path.append(str(folder))
    for old in root.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
