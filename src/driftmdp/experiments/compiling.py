"""The first run on a machine compiles for a minute; what it needs only later is compiled aside at the same time."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

__all__ = ["compiling_optimal_gains_aside"]

COMPILE = "import driftmdp as dm; dm.planning.optimal_gains(dm.problems.two_state(2).drifting)"


@contextlib.contextmanager
def compiling_optimal_gains_aside() -> Iterator[None]:
    """Let another process compile the planner of regret's yardstick into the common cache, and wait for it.

    It is 20 s that a second core can do while an agent is compiled. If it fails, this process compiles it later.
    """
    aside = subprocess.Popen([sys.executable, "-c", COMPILE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
        aside.wait()
    finally:
        aside.kill()
        aside.wait()
