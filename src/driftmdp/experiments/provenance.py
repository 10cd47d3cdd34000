"""Where results come from: versions and revision (part of the manifest), and the machine (stored beside it)."""

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from driftmdp._version import NUMERICS, __version__
from driftmdp.engines import usable_cores
from driftmdp.engines.versions import installed_version

MANIFEST_PACKAGES = ("numpy", "scipy", "numba", "pyarrow")


def versions() -> dict[str, str]:
    """Return the versions that may change a number.

    Examples
    --------
    >>> from driftmdp.experiments.provenance import versions
    >>> versions()["numerics"]
    '3'
    """
    found = {"driftmdp": __version__, "numerics": str(NUMERICS), "python": platform.python_version()}
    return found | {package: installed_version(package) for package in MANIFEST_PACKAGES}


def revision() -> str | None:
    """Return the git revision of this package's checkout, with a ``+`` if files differ; None outside of one."""
    here = Path(__file__).parent
    head = _git(here, "rev-parse", "HEAD")
    if head is None or _git(here, "ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    return f"{head}+" if _git(here, "status", "--porcelain", "--untracked-files=no") else head


def _git(folder: Path, *words: str) -> str | None:
    try:
        command = ["git", "-C", str(folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def machine() -> dict[str, Any]:
    """Return the facts of this machine that a timing depends on.

    Examples
    --------
    >>> from driftmdp.experiments.provenance import machine
    >>> machine()["cores"] >= 1
    True
    """
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": usable_cores(),
        "python": sys.version.split()[0],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
