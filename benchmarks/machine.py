"""Facts about the machine and the packages that a measurement was taken with."""

from __future__ import annotations

import datetime
import os
import platform
from importlib import metadata
from pathlib import Path

__all__ = ["facts"]

PACKAGES = (
    "driftmdp",
    "numpy",
    "scipy",
    "numba",
    "pymdptoolbox",
    "mdpsolver",
    "statisticalrl-learners",
    "SMPyBandits",
)


def facts() -> list[str]:
    """Return one line per fact."""
    return [
        f"python {platform.python_version()}, " + ", ".join(_version(package) for package in PACKAGES),
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, {_load()}",
        datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
    ]


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} not installed"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _load() -> str:
    if not hasattr(os, "getloadavg"):
        return "load unknown"
    return f"load {os.getloadavg()[0]:.1f} over the last minute of the run"
