"""The versions of a process. Two processes with the same ones give the same numbers and read each other's messages.

They have everything that may change a number or a message: Python's minor version, the packages that compute,
compile and send, the system and the kind of processor, and a digest of this package's own source files. They leave
out Python's patch level and the processor's model.
"""

import functools
import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from driftmdp._version import NUMERICS, __version__

MESSAGE_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pyarrow", "cloudpickle", "dask", "distributed")
SOURCES = "driftmdp's source files, digest"


@functools.cache
def own_versions() -> dict[str, str]:
    """Return the versions of this process.

    Examples
    --------
    >>> from driftmdp.engines.versions import own_versions
    >>> own_versions()["numerics"]
    '3'
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


def difference(ours: dict[str, str], theirs: dict[str, str]) -> tuple[str, str, str] | None:
    """Return the first version that differs, as it is here and there; None if all agree.

    Examples
    --------
    >>> from driftmdp.engines.versions import difference
    >>> difference({"numpy": "2.4.6", "scipy": "1.16"}, {"numpy": "2.1.0", "scipy": "1.16"})
    ('numpy', '2.4.6', '2.1.0')
    """
    for name in ours | theirs:
        here, there = ours.get(name, "none"), theirs.get(name, "none")
        if here != there:
            return name, here, there
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
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(root).as_posix()} {content}\n".encode())
    return whole.hexdigest()[:16]
