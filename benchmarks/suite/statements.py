"""The paper's statements: ``driftmdp check`` from a shell, and thoroughly."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.rows import Row, Speed
from benchmarks.timing import seconds_of
from driftmdp.statements import statements

__all__ = ["run"]


def run(quick: bool) -> list[Row]:
    """Return the time of the whole command, and thoroughly, without compiling, which first_result has."""
    if quick:
        return []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        _call("warm")
        for what, options, limit in (
            ("driftmdp check", [], 60.0),
            ("driftmdp check --thorough", ["--thorough"], 900.0),
        ):
            seconds = seconds_of(partial(_call, "check", *options, "--page", f"{folder}/page.md"))
            rows.append(
                Speed.under(what, seconds, limit, note=f"{len(statements())} statements, after driftmdp warm")
            )
    return rows


def _call(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "driftmdp", *words], check=True, capture_output=True)
