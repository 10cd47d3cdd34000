"""Progress as a bar in a notebook: one output of the cell that is drawn anew, without widgets."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from html import escape
from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.progress.base import RateEstimate, opening

EVERY_SECONDS = 0.1


def in_notebook() -> bool:
    """Return whether this code runs in the kernel of a notebook; IPython is not imported to find out.

    Examples
    --------
    >>> in_notebook()
    False
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and (type(shell).__name__ == "ZMQInteractiveShell" or hasattr(shell, "kernel"))


class NotebookBar:
    """A bar below the cell, drawn anew at most ten times a second.

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

        self._notes = opening(total, kept, notes, self._unit)
        self._pace = RateEstimate(total, kept, self._unit)
        self._began = self._drawn = time.monotonic()
        self._handle = display(self._bundle(self._pace.told()), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Move it on."""
        self._pace.count(failed, by)
        if self._pace.now - self._drawn >= EVERY_SECONDS:
            self._drawn = self._pace.now
            self._handle.update(self._bundle(self._pace.told()), raw=True)

    def end(self) -> None:
        """Leave it with how much there is, and how long it took."""
        pace = self._pace
        stopped = ", stopped" if pace.there < pace.total else ""
        seconds = time.monotonic() - self._began
        told = f"{pace.there} of {pace.total} {pace.unit} in {seconds:,.1f} s{stopped}{pace.failures}"
        self._handle.update(self._bundle(told), raw=True)

    def _bundle(self, told: str) -> dict[str, Any]:
        return {
            "text/html": bar_html(self._pace.there, self._pace.total, told, self._notes),
            "text/plain": "\n".join([*self._notes, told]),
        }


def bar_html(there: int, total: int, told: str, notes: Sequence[str] = ()) -> str:
    """Return a bar, what is told of it, and the notes above.

    Examples
    --------
    >>> bar_html(1, 4, "1 of 4 <runs>")
    '<div><progress value="1" max="4" aria-label="1 of 4 &lt;runs&gt;"></progress> 1 of 4 &lt;runs&gt;</div>'
    """
    text = escape(told)
    above = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return (
        f'{above}<div><progress value="{there}" max="{max(total, 1)}" aria-label="{text}"></progress> {text}</div>'
    )
