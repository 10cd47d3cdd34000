"""What agents without a plan share: they keep their own time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.base import BuiltinAgent
from driftmdp.agents.snapshot_checks import LATEST
from driftmdp.validation import as_integer


class CountsSteps(BuiltinAgent):
    """An agent that counts its own steps."""

    _t = 1

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return self._t

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Begin anew at t = 1."""
        super().reset(rng)
        self._t = 1

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        self._t += 1

    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        return {"t": np.array([self._t])}

    def _restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._t = as_integer(int(arrays["t"][0]), "t", minimum=1, maximum=LATEST)
