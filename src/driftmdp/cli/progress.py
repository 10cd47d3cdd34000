"""How a session of runs is going: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from driftmdp.cli.printing import remark

__all__ = ["Bar", "Lines", "make_progress"]

EVERY_SECONDS = 5.0


def make_progress() -> Bar | Lines:
    """Return a bar if someone watches, else lines."""
    return Bar() if sys.stderr.isatty() else Lines()


def _opening(total: int, kept: int, notes: list[str]) -> None:
    for note in notes:
        remark(note)
    if kept:
        remark(f"{kept} of {total} runs are there already.")


class _Rate(ProgressColumn):
    """Runs a second."""

    def render(self, task: Task) -> Text:
        """Return the rate."""
        return Text(f"{task.speed:,.0f} runs/s" if task.speed else "")


class Bar:
    """A bar with rate and time left."""

    def begin(self, total: int, kept: int, notes: list[str]) -> None:
        """Show the bar."""
        _opening(total, kept, notes)
        self._failed = 0
        self._bar = Progress(
            TextColumn("running"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failed]}", style="red"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("runs", total=total, completed=kept, failed="")
        self._bar.start()

    def advance(self, failed: bool) -> None:
        """Move it on."""
        self._failed += failed
        self._bar.update(self._task, advance=1, failed=f"{self._failed} failed" if self._failed else "")

    def end(self) -> None:
        """Leave it as it is."""
        self._bar.stop()


class Lines:
    """A line every few seconds."""

    def begin(self, total: int, kept: int, notes: list[str]) -> None:
        """Say what there is to do."""
        _opening(total, kept, notes)
        self._total, self._kept, self._done, self._failed = total, kept, 0, 0

    def advance(self, failed: bool) -> None:
        """Say how far it is, now and then; the clock starts with the first, which may have waited for compiling."""
        now = time.monotonic()
        if self._done == 0:
            self._start = self._last = now
        self._done += 1
        self._failed += failed
        if now - self._last >= EVERY_SECONDS:
            self._last = now
            rate = self._done / (now - self._start)
            left = (self._total - self._kept - self._done) / rate
            failures = f", {self._failed} failed" if self._failed else ""
            remark(
                f"{self._kept + self._done} of {self._total} runs, {rate:,.0f} a second, {left:,.0f} s left"
                f"{failures}"
            )

    def end(self) -> None:
        """Say nothing more."""
