"""A user's own code on other machines: its source files travel with the work, and must be the same there.

On a worker the files are put into a folder of their own, which is looked into after all else, as the
folder of the spec is here. What is then imported must have the digest that is part of what a run is; so a worker
that has another file of that name in its way is refused.
"""

from __future__ import annotations

import functools
import importlib
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.experiments.own_code import INSTALLED, digest_of_code, files_of

__all__ = ["Carrying", "carrying"]

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
    files: tuple[tuple[str, bytes], ...]
    digests: tuple[tuple[str, str], ...]

    def __call__(self, task: Any) -> Any:
        """Call the function, once the code is there."""
        with _lock:
            _unpack(self.files, self.digests)
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
def _unpack(files: tuple[tuple[str, bytes], ...], digests: tuple[tuple[str, str], ...]) -> None:
    """Make the code importable, and check that it is what is imported; once, until other code comes."""
    _forget({PurePosixPath(path).parts[0].removesuffix(".py") for path, _ in files})
    if files:
        _look_into(_written(files))
    for name, digest in digests:
        try:
            found = digest_of_code(name)
        except ImportError as error:
            raise InvalidInputError(f"{name} must be importable on every worker; there: {error}.") from None
        if found != digest:
            file = importlib.import_module(name.partition(":")[0]).__file__
            raise InvalidInputError(
                f"{name} must be the same on every worker; one has another in {file}. Remove it there, or start "
                "the worker in another folder."
            )


def _forget(names: set[str]) -> None:
    """Forget modules that were imported before under these names, for they may be other code by now."""
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        parts = Path(getattr(module, "__file__", None) or "").parts
        if top in names and top not in sys.stdlib_module_names and not INSTALLED & set(parts):
            del sys.modules[name]
    importlib.invalidate_caches()


def _written(files: tuple[tuple[str, bytes], ...]) -> Path:
    """Return a new folder that has the files."""
    folder = Path(tempfile.mkdtemp(dir=_root().name))
    for path, content in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


@functools.cache
def _root() -> tempfile.TemporaryDirectory[str]:
    """Return this process's folder for code that was brought; it is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="driftmdp-code-", ignore_cleanup_errors=True)


def _look_into(folder: Path) -> None:
    root = _root().name
    sys.path[:] = [path for path in sys.path if not path.startswith(root)]
    sys.path.append(str(folder))
