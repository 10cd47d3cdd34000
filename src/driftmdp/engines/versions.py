"""What a process computes with: two with the same facts give the same numbers and read each other's messages.

Fatal, and so among the facts, is what may change a number or a message: Python's minor version, the packages that
compute, compile and carry, the system and the kind of processor, and this package's own source files. Not among
them: Python's patch level, and which processor of its kind it is.
"""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from driftmdp._version import NUMERICS, __version__

MESSAGE_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pyarrow", "cloudpickle", "dask", "distributed")
SOURCES = "driftmdp's source files, digest"


@functools.cache
def own_facts() -> Mapping[str, str]:
    """Return the facts of this process.

    Examples
    --------
    >>> own_facts()["numerics"]
    '1'
    """
    found = {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "driftmdp": __version__,
        "numerics": str(NUMERICS),
        SOURCES: _digest_of_sources(),
        "system": platform.system(),
        "processor": platform.machine(),
    }
    return found | {package: installed_version(package) for package in MESSAGE_PACKAGES}


def difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the first fact that differs, as it is here and there; None if all agree.

    Examples
    --------
    >>> difference({"numpy": "2.4.6", "scipy": "1.16"}, {"numpy": "2.1.0", "scipy": "1.16"})
    ('numpy', '2.4.6', '2.1.0')
    """
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        if ours.get(name, "none") != theirs.get(name, "none"):
            return name, ours.get(name, "none"), theirs.get(name, "none")
    return None


def installed_version(package: str) -> str:
    """Return the version of an installed package, or "none"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _digest_of_sources() -> str:
    root = Path(__file__).parents[1]
    whole = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        whole.update(
            f"{file.relative_to(root).as_posix()} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode()
        )
    return whole.hexdigest()[:16]
