"""Where machine code is kept on disk: in a folder whose name is a hash of everything that it is made from.

An edit of a kernel or of the compiler, another processor, another LLVM: each has a folder of its own, so that code
is never read where it does not belong. A file that is damaged is compiled again.

The folder is in ``NUMBA_CACHE_DIR`` if that is set, otherwise in the user's cache folder. Where that cannot be
written, in the temporary one. What lies there is run, so nobody else may be able to write to it: otherwise a new
temporary folder is made, which is removed when the process ends.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from driftmdp.compiler.machine import machine_name
from driftmdp.files import temporary_beside
from driftmdp.system import is_own
from driftmdp.validation import warn

DIGEST_BYTES = 32


@functools.cache
def sources_hash() -> str:
    """Return a hash of every source file of the kernels and of the compiler, by name and content."""
    return _hash_sources()


def _hash_sources() -> str:
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for folder in ("compiler", "kernels"):
        for source in sorted((package / folder).glob("*.py")):
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


def folder_name() -> str:
    """Return the name of the folder for these sources on this machine."""
    return f"kernels-{sources_hash()}-{hashlib.sha256(machine_name().encode()).hexdigest()[:8]}"


@functools.cache
def cache_directory() -> Path:
    """Return the first candidate folder that nobody else can write to, and this user can or that holds code."""
    refused = []
    for parent in _candidates():
        directory = parent / folder_name()
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_own(parent, sticky=True):
                refused.append(parent)
                continue
            directory.mkdir(mode=0o700, exist_ok=True)
            if not is_own(directory):
                refused.append(directory)
                continue
            if any(directory.iterdir()):  # warmed, and perhaps read-only since: what is there is used
                return directory
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


def is_kept() -> bool:
    """Return whether the folder outlives this process."""
    return cache_directory().name == folder_name()


def read(name: str) -> Any:
    """Return what was kept under a name, or None if there is nothing, or nothing whole."""
    try:
        found = (cache_directory() / name).read_bytes()
    except OSError:
        return None
    digest, content = found[:DIGEST_BYTES], found[DIGEST_BYTES:]
    if hashlib.sha256(content).digest() != digest:
        return None
    try:
        return pickle.loads(content)
    except (AttributeError, ImportError):  # the class of a tuple is elsewhere now
        return None


def write(name: str, value: Any) -> None:
    """Keep a value under a name. Where that cannot be done, the next process compiles again."""
    if _hash_sources() != sources_hash():  # edited while this process runs: it belongs to another folder
        return
    path = cache_directory() / name
    # Written aside and renamed, so that another process never reads half of it. A class in a function has no name.
    with contextlib.suppress(OSError, AttributeError, pickle.PicklingError), temporary_beside(path) as temporary:
        content = pickle.dumps(value)
        temporary.write_bytes(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
