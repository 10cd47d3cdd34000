"""Which progress to show: what fits where the program runs, or what the user gave."""

from __future__ import annotations

import sys
from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.progress.base import Progress, Silent
from driftmdp.progress.lines import Lines
from driftmdp.progress.notebook import NotebookBar, in_notebook


def make_progress(unit: str = "runs") -> Progress:
    """Return a bar if someone watches in a notebook or a terminal, else lines on standard error.

    Parameters
    ----------
    unit
        What is counted, in the plural: ``"runs"``, ``"steps"``, ``"items"``.

    Examples
    --------
    >>> progress = make_progress("steps")
    >>> progress.begin(total=1000, kept=0, notes=[])
    >>> progress.advance(by=500)
    >>> progress.end()
    """
    if in_notebook():
        return NotebookBar(unit)
    if not _is_terminal(sys.stderr):
        return Lines(unit)
    try:
        from driftmdp.progress.terminal import Bar
    except ModuleNotFoundError:  # rich comes with the extra [experiments]
        return Lines(unit)
    return Bar(unit)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # there is none, as under pythonw; or it is closed, or an odd one
        return False


def as_progress(progress: Any, unit: str = "runs") -> Progress:
    """Return what to tell: nothing for None or False, ``make_progress(unit)`` for True, or the object itself.

    Raises
    ------
    InvalidInputError
        If it is none of these.

    Examples
    --------
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
        raise InvalidInputError(
            f"progress must be made from its class first; got the class {progress.__name__}. Write "
            f"{progress.__name__}()."
        )
    if not isinstance(progress, Progress):
        raise InvalidInputError(f"progress must be True, False, or have begin, advance and end; got {progress!r}.")
    return progress
