"""The paper's statements: ``driftmdp check`` from a shell, and thoroughly."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.rows import Row, Speed
from benchmarks.timing import seconds_of
from driftmdp.statements import statements

__all__ = ["run"]


def run(quick: bool) -> list[Row]:
    """Return the time of the whole command: with an empty cache of machine code, once more, and thoroughly."""
    if quick:
        return []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        for what, options, limit in (
            ("the first time, compiling included", [], None),
            ("from then on", [], 60.0),
            ("--thorough", ["--thorough"], 900.0),
        ):
            command = [sys.executable, "-m", "driftmdp", "check", *options, "--page", f"{folder}/page.md"]
            seconds = seconds_of(partial(subprocess.run, command, check=True, capture_output=True, env=environment))
            rows.append(
                Speed.under(f"driftmdp check, {what}", seconds, limit, note=f"{len(statements())} statements")
            )
    return rows
