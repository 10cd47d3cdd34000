"""Progress as plain lines, for files and pipes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from driftmdp.progress.base import RateEstimate, opening

EVERY_SECONDS = 5.0


class Lines:
    """A line on standard error every few seconds.

    Parameters
    ----------
    unit
        What is counted, in the plural.
    """

    def __init__(self, unit: str = "runs") -> None:
        self._unit = unit

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Say what there is to do."""
        say_opening(total, kept, notes, self._unit)
        self._pace = RateEstimate(total, kept, self._unit)

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Say how far it is, now and then."""
        pace = self._pace
        first = pace.done == 0
        pace.count(failed, by)
        if first:
            self._last = pace.now
        if pace.now - self._last >= EVERY_SECONDS:
            self._last = pace.now
            _say(pace.told())

    def end(self) -> None:
        """Say nothing more."""


def say_opening(total: int, kept: int, notes: Sequence[str], unit: str) -> None:
    """Say what is worth knowing before it begins."""
    for sentence in opening(total, kept, notes, unit):
        _say(sentence)


def _say(text: str) -> None:
    """Say it if it can be said: a standard error that is missing, closed or full must not stop the work."""
    if sys.stderr is not None:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            print(text, file=sys.stderr, flush=True)
