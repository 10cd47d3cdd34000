"""The time of ``import driftmdp`` in a fresh interpreter, which must not load the compiler."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, medians

__all__ = ["run"]

MEASURE = """
import sys, time
start = time.perf_counter()
import {modules}
print(time.perf_counter() - start, "numba" in sys.modules)
"""


def run(quick: bool) -> list[Row]:
    """Return one row, with numpy and scipy.sparse for scale."""
    repeats = 3 if quick else 7
    seconds = medians({modules: _importing(modules) for modules in ("driftmdp", "numpy, scipy.sparse")}, repeats)
    scale = f"import numpy, scipy.sparse: {as_time(seconds['numpy, scipy.sparse'])}"
    note = f"Median of {repeats} fresh interpreters, whose own start is not counted. numba is not loaded"
    return [Speed.under("import driftmdp", seconds["driftmdp"], 0.5, scale, note)]


def _importing(modules: str) -> Task:
    def task() -> float:
        command = [sys.executable, "-c", MEASURE.format(modules=modules)]
        seconds, compiler = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        require(compiler == "False", f"import {modules} must not load numba.")
        return float(seconds)

    return task
