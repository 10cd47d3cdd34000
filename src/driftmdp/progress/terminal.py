"""Progress as a bar in a terminal; needs the package rich."""

from __future__ import annotations

from collections.abc import Sequence

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

from driftmdp.progress.lines import say_opening


class _Rate(ProgressColumn):
    """So many a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        """Return the rate."""
        return Text(f"{task.speed:,.0f} {self._unit}/s" if task.speed else "")


class Bar:
    """A bar with rate and time left.

    Parameters
    ----------
    unit
        What is counted, in the plural.
    """

    def __init__(self, unit: str = "runs") -> None:
        self._unit = unit

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Show the bar."""
        say_opening(total, kept, notes, self._unit)
        self._failed = 0
        self._bar = Progress(
            TextColumn("running"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(self._unit),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failed]}", style="red"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(self._unit, total=total, completed=kept, failed="")
        self._bar.start()

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Move it on."""
        self._failed += by if failed else 0
        self._bar.update(self._task, advance=by, failed=f"{self._failed} failed" if self._failed else "")

    def end(self) -> None:
        """Leave it as it is."""
        self._bar.stop()
