"""Whoever waits more than a second for the compiler is told why, once a process, on stderr."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

PATIENCE = 1.0  # seconds
SWITCH = "DRIFTMDP_QUIET"  # an environment variable: 1 for no notice

_lock = threading.Lock()
_waited = 0.0
_told = False


@contextlib.contextmanager
def telling_who_waits() -> Iterator[None]:
    """Tell, if what is inside and what was before it took more than a second together."""
    global _waited
    timer = threading.Timer(max(0.0, PATIENCE - _waited), _tell)
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no thread can be started any more: the process ends
        timer.start()
    began = time.perf_counter()
    try:
        yield
    finally:
        timer.cancel()
        with _lock:
            _waited += time.perf_counter() - began


def _tell() -> None:
    global _told
    with _lock:
        if _told or os.environ.get(SWITCH, "0") not in ("", "0"):
            return
        _told = True
    if sys.stderr is not None:
        print(
            f"driftmdp: compiling for this machine, a few seconds, once. {SWITCH}=1 turns this line off.",
            file=sys.stderr,
        )
