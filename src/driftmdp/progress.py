"""Progress reporting: a bar in a terminal or in a notebook, plain lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Protocol, TypeVar, runtime_checkable

from driftmdp.errors import InvalidInputError

__all__ = ["Lines", "NotebookBar", "Progress", "Silent", "as_progress", "make_progress", "watched"]

Item = TypeVar("Item")

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_REDRAWS = 0.1


@runtime_checkable
class Progress(Protocol):
    """Receives the progress of a long piece of work; any object with these three methods will do."""

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Start, with the total, how much was done before, and sentences for the user."""

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Count ``by`` more as done, or as failed."""

    def end(self) -> None:
        """Stop; no more will come."""


class Silent:
    """Shows nothing."""

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Show nothing."""

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


def make_progress(unit: str = "runs") -> Progress:
    """Return a bar in a notebook or a terminal, else lines on standard error.

    Parameters
    ----------
    unit
        What is counted, in the plural: ``"runs"``, ``"steps"``, ``"items"``.

    Examples
    --------
    >>> from driftmdp.progress import make_progress
    >>> progress = make_progress("steps")
    >>> progress.begin(total=1000, kept=0, notes=[])
    >>> progress.advance(by=500)
    >>> progress.end()
    """
    if in_notebook():
        return NotebookBar(unit)
    try:
        return TerminalBar(unit) if sys.stderr.isatty() else Lines(unit)
    except (AttributeError, ValueError, ModuleNotFoundError):
        # No standard error (pythonw), a closed one, or no rich, which comes with the extra [experiments].
        return Lines(unit)


def as_progress(progress: Any, unit: str = "runs") -> Progress:
    """Return ``Silent()`` for None or False, ``make_progress(unit)`` for True, or the object itself.

    Raises
    ------
    InvalidInputError
        If it is none of these.

    Examples
    --------
    >>> from driftmdp.progress import as_progress
    >>> type(as_progress(None)).__name__
    'Silent'
    >>> as_progress("bar")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: progress must be True, False, or have begin, advance and end; got 'bar'.
    """
    if progress is None or progress is False:
        return Silent()
    if progress is True:
        return make_progress(unit)
    if isinstance(progress, type):
        name = progress.__name__
        raise InvalidInputError(
            f"progress must be made from its class first; got the class {name}. Write {name}()."
        )
    if not isinstance(progress, Progress):
        raise InvalidInputError(f"progress must be True, False, or have begin, advance and end; got {progress!r}.")
    return progress


def watched(items: Iterable[Item], total: int, progress: Progress, every: float = 0.0) -> Iterator[Item]:
    """Yield items as they come and report each, also those before an error.

    Parameters
    ----------
    items
        The items.
    total
        How many there will be.
    progress
        Where to report.
    every
        The least number of seconds between two reports, for items that come too fast to report each.

    Examples
    --------
    >>> from driftmdp.progress import Silent, watched
    >>> list(watched("abc", 3, Silent()))
    ['a', 'b', 'c']
    """
    progress.begin(total, 0, [])
    unreported, last = 0, time.monotonic()
    try:
        for item in items:
            unreported, now = unreported + 1, time.monotonic()
            if now - last >= every:
                progress.advance(by=unreported)
                unreported, last = 0, now
            yield item
    finally:
        if unreported:
            progress.advance(by=unreported)
        progress.end()


class RateEstimate:
    """Counts what is done and estimates the rate, from the first count on: before it, code may be compiled.

    Parameters
    ----------
    total, kept
        How much there is in all, and how much was done before.
    unit
        What is counted, in the plural.

    Examples
    --------
    >>> from driftmdp.progress import RateEstimate
    >>> rate = RateEstimate(total=100, kept=20, unit="runs")
    >>> rate.count(failed=True)
    >>> rate.finished, rate.failures
    (21, ', 1 failed')
    """

    def __init__(self, total: int, kept: int, unit: str) -> None:
        self.total, self.kept = total, kept
        self.unit = unit.removesuffix("s") if total == 1 else unit
        self.done = self.failed = self._first = 0
        self.start = self.now = time.monotonic()

    def count(self, failed: bool = False, by: int = 1) -> None:
        """Count more as done."""
        self.now = time.monotonic()
        if self.done == 0:
            self.start, self._first = self.now, by
        self.done += by
        self.failed += by if failed else 0

    @property
    def finished(self) -> int:
        """How much is done, now and before."""
        return self.kept + self.done

    @property
    def failures(self) -> str:
        """``, 3 failed``, or nothing."""
        return f", {self.failed} failed" if self.failed else ""

    @property
    def per_second(self) -> float:
        """The rate, or 0 if it is not known yet."""
        seconds = self.now - self.start
        return (self.done - self._first) / seconds if seconds > 0 else 0.0

    def opening(self, notes: Sequence[str]) -> list[str]:
        """Return the notes, and a sentence on what was done before."""
        are = "is" if self.kept == 1 else "are"
        return [*notes, *([f"{self.kept} of {self.total} {self.unit} {are} there already."] if self.kept else [])]

    def status(self) -> str:
        """Return how much is done, the rate and the time left."""
        speed, rate = "", self.per_second
        if rate:
            speed = f", {rate:,.0f} per second, {(self.total - self.finished) / rate:,.0f} s left"
        return f"{self.finished} of {self.total} {self.unit}{speed}{self.failures}"


class Lines(Silent):
    """A line on standard error every few seconds.

    Parameters
    ----------
    unit
        What is counted, in the plural.
    """

    def __init__(self, unit: str = "runs") -> None:
        self._unit = unit

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Print the notes."""
        self._rate, self._last = RateEstimate(total, kept, self._unit), 0.0
        _print(*self._rate.opening(notes))

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Print the status if the last line is old enough."""
        rate = self._rate
        rate.count(failed, by)
        if rate.now - max(self._last, rate.start) >= SECONDS_BETWEEN_LINES:
            self._last = rate.now
            _print(rate.status())


def _print(*lines: str) -> None:
    """Print if possible: a standard error that is missing, closed or full must not stop the work."""
    if sys.stderr is not None:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            for line in lines:
                print(line, file=sys.stderr, flush=True)


class TerminalBar:
    """A bar in a terminal, with rate and time left; needs the package rich.

    Parameters
    ----------
    unit
        What is counted, in the plural.
    """

    def __init__(self, unit: str = "runs") -> None:
        import rich.progress as columns

        self._unit, self._columns = unit, columns

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Show the bar."""
        from rich.console import Console

        self._rate = RateEstimate(total, kept, self._unit)
        _print(*self._rate.opening(notes))
        self._bar = self._columns.Progress(
            self._columns.TextColumn("running"),
            self._columns.BarColumn(),
            self._columns.MofNCompleteColumn(),
            self._columns.TextColumn("{task.fields[rate]}"),
            self._columns.TimeRemainingColumn(),
            self._columns.TextColumn("{task.fields[failed]}", style="red"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(self._unit, total=total, completed=kept, rate="", failed="")
        self._bar.start()

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Move the bar."""
        self._rate.count(failed, by)
        rate = f"{self._rate.per_second:,.0f} {self._unit}/s" if self._rate.per_second else ""
        failures = self._rate.failures.removeprefix(", ")
        self._bar.update(self._task, advance=by, rate=rate, failed=failures)

    def end(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


def in_notebook() -> bool:
    """Return whether this code runs in the kernel of a notebook, without importing IPython.

    Examples
    --------
    >>> from driftmdp.progress import in_notebook
    >>> in_notebook()
    False
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and (type(shell).__name__ == "ZMQInteractiveShell" or hasattr(shell, "kernel"))


class NotebookBar:
    """A bar below the cell, redrawn at most ten times per second, without widgets.

    Parameters
    ----------
    unit
        What is counted, in the plural.

    Raises
    ------
    InvalidInputError
        If this is not the kernel of a notebook.
    """

    def __init__(self, unit: str = "runs") -> None:
        if not in_notebook():
            raise InvalidInputError(
                "NotebookBar must be made in a notebook; got no kernel. Use make_progress(), which chooses."
            )
        self._unit = unit

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Show the bar."""
        from IPython.display import display

        self._rate = RateEstimate(total, kept, self._unit)
        self._notes = self._rate.opening(notes)
        self._began = self._drawn = time.monotonic()
        self._handle = display(self._bundle(self._rate.status()), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Move the bar."""
        self._rate.count(failed, by)
        if self._rate.now - self._drawn >= SECONDS_BETWEEN_REDRAWS:
            self._drawn = self._rate.now
            self._handle.update(self._bundle(self._rate.status()), raw=True)

    def end(self) -> None:
        """Leave the bar with how much was done, and how long it took."""
        rate, seconds = self._rate, time.monotonic() - self._began
        stopped = ", stopped" if rate.finished < rate.total else ""
        status = f"{rate.finished} of {rate.total} {rate.unit} in {seconds:,.1f} s{stopped}{rate.failures}"
        self._handle.update(self._bundle(status), raw=True)

    def _bundle(self, status: str) -> dict[str, Any]:
        return {
            "text/html": bar_html(self._rate.finished, self._rate.total, status, self._notes),
            "text/plain": "\n".join([*self._notes, status]),
        }


def bar_html(finished: int, total: int, status: str, notes: Sequence[str] = ()) -> str:
    """Return a bar with its status, and the notes above.

    Examples
    --------
    >>> from driftmdp.progress import bar_html
    >>> bar_html(1, 4, "1 of 4 <runs>")
    '<div><progress value="1" max="4" aria-label="1 of 4 &lt;runs&gt;"></progress> 1 of 4 &lt;runs&gt;</div>'
    """
    text = escape(status)
    above = "".join(f"<div>{escape(note)}</div>" for note in notes)
    bar = f'<progress value="{finished}" max="{max(total, 1)}" aria-label="{text}"></progress>'
    return f"{above}<div>{bar} {text}</div>"
