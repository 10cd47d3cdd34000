"""Stand-ins for ``driftmdp.callbacks`` and ``driftmdp.progress`` until those rooms are there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Callback", "Steps", "make_progress"]


class Steps(NamedTuple):
    """What happened since the last call."""

    first: int
    last: int
    states: NDArray[np.int32]
    actions: NDArray[np.int32]
    rewards: NDArray[np.float64]
    mean_rewards: NDArray[np.float64] | None
    agent: Any


class Callback:
    """Told of a run while it lasts."""

    every: int = 1000

    def on_start(self, agent: Any, problem: Any, seed: int | None) -> None:
        """Before the first step."""

    def on_steps(self, steps: Steps) -> None:
        """After every ``every`` steps, and at the end."""

    def on_end(self, run: Any) -> None:
        """After the last step."""


class _Silent:
    def begin(self, total: int, kept: int, notes: list[str]) -> None:
        """Say nothing."""

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


def make_progress(unit: str = "runs") -> _Silent:
    """Return what says nothing."""
    return _Silent()
