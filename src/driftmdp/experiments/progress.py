"""What is told of a session of runs while it lasts."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "Silent"]


class Progress(Protocol):
    """What is told of a session while it lasts."""

    def begin(self, total: int, kept: int, notes: list[str]) -> None:
        """Say how many runs there are, and how many were there; ``notes`` are sentences worth knowing."""

    def advance(self, failed: bool) -> None:
        """Say that a run is done, or has failed."""

    def end(self) -> None:
        """Say that no more will come."""


class Silent:
    """Says nothing."""

    def begin(self, total: int, kept: int, notes: list[str]) -> None:
        """Say nothing."""

    def advance(self, failed: bool) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""
