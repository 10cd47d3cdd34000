"""Run one function in a fresh interpreter: with a time limit, or to see its peak memory.

The answer is passed in a file, so that the output of a library is kept apart and can be shown.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ChildFailed", "ChildReport", "call_in_child", "peak_memory"]

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class ChildReport:
    """The result of a function in a fresh interpreter, the peak memory and the printed output."""

    result: Any
    peak_bytes: int
    printed: str


class ChildFailed(RuntimeError):  # noqa: N818, reads as what happened
    """The function raised or the interpreter died. The message is the last line of its output."""


def call_in_child(
    function: Callable[..., Any],
    *arguments: Any,
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> ChildReport:
    """Call a module-level function with JSON arguments. Raises ChildFailed or subprocess.TimeoutExpired.

    ``environment`` has variables that the interpreter is given beside those of this process.
    """
    with tempfile.TemporaryDirectory() as directory:
        answer = Path(directory) / "answer.json"
        place = [function.__module__, function.__qualname__, json.dumps(arguments), str(answer)]
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks.child", *place],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            timeout=timeout,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        printed = process.stdout.strip()
        if process.returncode != 0 or not answer.exists():
            raise ChildFailed(printed.splitlines()[-1] if printed else f"exit code {process.returncode}")
        return ChildReport(printed=printed, **json.loads(answer.read_text()))


def peak_memory() -> int:
    """Return the largest resident memory of this process so far, in bytes.

    Not ``getrusage`` on Linux: there a new process inherits the peak of the one that started it.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _answer(module: str, name: str, arguments: str, answer: str) -> None:
    result = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    Path(answer).write_text(json.dumps({"result": result, "peak_bytes": peak_memory()}))


if __name__ == "__main__":
    _answer(*sys.argv[1:])
