"""Questions about doubtful input: asked at a terminal, and answered by ``--yes`` or by nobody without one."""

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from driftmdp.cli.output import remark
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.doubts import Confirm, Doubt

YES_HELP = "Take input that looks like a mistake, such as a date in the future, without asking."
Yes = Annotated[bool, typer.Option("--yes", "-y", help=YES_HELP)]


class Questions:
    """Asks about doubts.

    Parameters
    ----------
    yes
        Whether all of them are confirmed.
    """

    def __init__(self, yes: bool) -> None:
        self._asked: set[str] = set()
        self.confirm: Confirm | None = None if yes else self._confirm

    def _confirm(self, doubt: Doubt) -> bool:
        if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
            self._asked.add(doubt.sentence)
            remark(doubt.sentence)
            print("Take it? [y/N] ", end="", file=sys.stderr, flush=True)
            return sys.stdin.readline().strip().lower() in ("y", "yes")
        if doubt.must_confirm:
            raise InvalidInputError(f"{doubt.sentence} Nothing was done; correct it, or add --yes if it is right.")
        return True

    def others(self, remarks: Iterable[str]) -> list[str]:
        """Return remarks without what was asked about."""
        return [sentence for sentence in remarks if sentence not in self._asked]
