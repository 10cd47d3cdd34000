"""Run the cases of a fuzzer, and check the result of one call."""

from __future__ import annotations

import faulthandler
import importlib
import subprocess
import sys
import tempfile
import traceback
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from driftmdp.errors import DriftmdpError

ROOT = Path(__file__).parents[2]
CASE_SECONDS = 120  # compiling included
SENTENCE_CHARACTERS = 2000


def answered(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or its DriftmdpError. Any other exception is raised."""
    try:
        return call()
    except DriftmdpError as error:
        check_sentence(str(error))
        return error


def check_sentence(message: str) -> None:
    """Refuse a message that a terminal or a log would not show as one line of text."""
    assert message.strip(), "an empty message"
    assert len(message) <= SENTENCE_CHARACTERS, f"a message of {len(message)} characters: {message[:200]!r}"
    strange = [c for c in message if unicodedata.category(c) in ("Cc", "Cs")]
    assert not strange, f"control characters {strange!r} in {message[:200]!r}"


def run_cases(name: str, seed: int, first: int, cases: int) -> int:
    """Run cases ``first .. first + cases - 1`` in this process, and return how many failed."""
    fuzzer = importlib.import_module(f"tests.fuzz.{name}")
    failed = 0
    for number in range(first, first + cases):
        faulthandler.dump_traceback_later(CASE_SECONDS, exit=True)  # a hang ends the process with its traceback
        print(f"case {number}", flush=True)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fuzzer.case(np.random.default_rng([seed, number]), Path(folder))
            except Exception:
                failed += 1
                traceback.print_exc()
                print(f"python -m tests.fuzz {name} --seed {seed} --first {number} --cases 1", file=sys.stderr)
        faulthandler.cancel_dump_traceback_later()
    print(f"{name}: {cases - failed} of {cases} cases held", flush=True)
    return failed


def assert_survives(name: str, cases: int, seed: int = 0) -> None:
    """Run cases in a child process and fail with its last words if one did not hold."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz", name, "--seed", str(seed)]
    done = subprocess.run(
        [*command, "--cases", str(cases)], cwd=ROOT, capture_output=True, text=True, errors="replace", check=False
    )
    last = done.stdout.splitlines()[-1:] or ["no case began"]
    assert done.returncode == 0, f"{name}: exit {done.returncode} at {last[0]}\n{done.stderr[-4000:]}"
