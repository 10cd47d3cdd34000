"""The first run on a machine compiles for a minute. What it needs only later is compiled in the background."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

OPTIMAL_GAINS = "import driftmdp as dm; dm.planning.optimal_gains(dm.problems.two_state(2).drifting)"
OPTIMISTIC_PLANS = (
    "import driftmdp as dm; space = dm.Space.uniform(2, 1);"
    "dm.planning.extended_value_iteration(space, [0, 1], [[0.9, 0.1], [0.5, 0.5]], [0.2, 0.2], 1e-6)"
)


@contextlib.contextmanager
def compiling_in_background(*scripts: str) -> Iterator[None]:
    """Let other processes compile what the scripts need into the common cache, and wait for them.

    If one fails, this process compiles it later.
    """
    # It is 20 s and more that a second core can do while this process compiles an agent.
    processes = [
        # -P: import nothing from the current folder, which this process may not do either.
        subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for script in scripts
    ]
    try:
        yield
        for process in processes:
            process.wait()
    finally:
        for process in processes:
            process.kill()
            process.wait()
