"""What is told of a long piece of work while it lasts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")


@runtime_checkable
class Progress(Protocol):
    """What is told of a piece of work while it lasts; any object with these three methods will do."""

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Say how much there is in all, and how much was there before; ``notes`` are sentences worth knowing."""

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Say that one more is done, or ``by`` more; or that it has failed."""

    def end(self) -> None:
        """Say that no more will come."""


class Silent:
    """Says nothing."""

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Say nothing."""

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


def watched(items: Iterable[Item], total: int, progress: Progress, every: float = 0.0) -> Iterator[Item]:
    """Yield items as they come, and tell of each; also of the last before an error.

    Parameters
    ----------
    items
        What comes.
    total
        How many will.
    progress
        Is told.
    every
        The seconds between two words, where items are too quick to tell of each.

    Examples
    --------
    >>> list(watched("abc", 3, Silent()))
    ['a', 'b', 'c']
    """
    progress.begin(total, 0, [])
    untold, last = 0, time.monotonic()
    try:
        for item in items:
            untold, now = untold + 1, time.monotonic()
            if now - last >= every:
                progress.advance(by=untold)
                untold, last = 0, now
            yield item
    finally:
        if untold:
            progress.advance(by=untold)
        progress.end()


def opening(total: int, kept: int, notes: Sequence[str], unit: str) -> list[str]:
    """Return what is worth knowing before it begins, a sentence each."""
    are = "is" if kept == 1 else "are"
    return [*notes, *([f"{kept} of {total} {_agreeing(unit, total)} {are} there already."] if kept else [])]


def _agreeing(unit: str, total: int) -> str:
    return unit.removesuffix("s") if total == 1 else unit


class RateEstimate:
    """Counts what is done, and tells how fast from the first count on; what is before may wait for compiling.

    Parameters
    ----------
    total, kept
        How much there is in all, and how much was there before.
    unit
        What is counted, in the plural.

    Examples
    --------
    >>> pace = RateEstimate(total=100, kept=20, unit="runs")
    >>> pace.count(failed=True)
    >>> pace.there, pace.failures
    (21, ', 1 failed')
    """

    def __init__(self, total: int, kept: int, unit: str) -> None:
        self.total, self.kept, self.unit = total, kept, unit
        self.done = self.failed = self._first = 0
        self.start = self.now = time.monotonic()

    def count(self, failed: bool = False, by: int = 1) -> None:
        """Take in that more is done."""
        self.now = time.monotonic()
        if self.done == 0:
            self.start, self._first = self.now, by
        self.done += by
        self.failed += by if failed else 0

    @property
    def there(self) -> int:
        """How much is there."""
        return self.kept + self.done

    @property
    def failures(self) -> str:
        """``, 3 failed``, or nothing."""
        return f", {self.failed} failed" if self.failed else ""

    def told(self) -> str:
        """Return how far it is, how fast it goes and how long it will take."""
        seconds, timed, speed = self.now - self.start, self.done - self._first, ""
        if seconds > 0 and timed:
            rate = timed / seconds
            left = (self.total - self.there) / rate
            speed = f", {rate:,.0f} a second, {left:,.0f} s left"
        return f"{self.there} of {self.total} {_agreeing(self.unit, self.total)}{speed}{self.failures}"
