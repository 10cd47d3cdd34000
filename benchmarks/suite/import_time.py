"""The time of ``import driftmdp`` beyond its dependencies, in fresh interpreters. It must not load a compiler."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, medians

__all__ = ["run"]

DEPENDENCIES = "numpy, scipy.sparse"
USED = "driftmdp, driftmdp.simulation, driftmdp.problems"  # with agents, planning and formulas
LIMIT = 0.08  # seconds beyond the dependencies

MEASURE = """
import sys, time
start = time.perf_counter()
import {modules}
print(time.perf_counter() - start, "numba" in sys.modules or "llvmlite" in sys.modules)
"""


def run(quick: bool) -> list[Row]:
    """Return two rows: the differences of medians."""
    repeats = 3 if quick else 15
    seconds = medians({modules: _importing(modules) for modules in ("driftmdp", USED, DEPENDENCIES)}, repeats)
    scale = f"import {DEPENDENCIES}: {as_time(seconds[DEPENDENCIES])}"
    note = f"Medians of {repeats} fresh interpreters, whose own start is not counted. No compiler is loaded"
    bare, used = (seconds[modules] - seconds[DEPENDENCIES] for modules in ("driftmdp", USED))
    later = "The same with agents, planning, problems and simulate, which are loaded when they are first used"
    return [
        Speed.under("import driftmdp, beyond numpy and scipy.sparse", bare, LIMIT, scale, note),
        Speed.under("import driftmdp and use simulate, beyond numpy and scipy.sparse", used, None, scale, later),
    ]


def _importing(modules: str) -> Task:
    def task() -> float:
        command = [sys.executable, "-c", MEASURE.format(modules=modules)]
        seconds, compiler = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        require(compiler == "False", f"import {modules} must not load a compiler.")
        return float(seconds)

    return task
