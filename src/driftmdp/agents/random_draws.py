"""What agents that draw their actions share: one uniform number a step, kept between act and observe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.generator_state import as_text, from_text
from driftmdp.agents.step_counter import CountsSteps


class DrawsUniform(CountsSteps):
    """An agent that draws one number a step."""

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Begin anew; draws come from ``rng``, by default from ``seed``."""
        super().reset(rng)
        self._rng = self._generator(rng)
        self._uniform: float | None = None

    def _draw(self) -> float:
        """Return the number of this step; asked again before the next, the same."""
        if self._uniform is None:
            self._uniform = self._rng.random()
        return self._uniform

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        super()._learn(state, action, reward, next_state)
        self._uniform = None

    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        drawn = np.nan if self._uniform is None else self._uniform
        return super()._state_arrays() | {"rng": as_text(self._rng), "drawn": np.array([drawn])}

    def _restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        super()._restore(arrays)
        self._rng = from_text(arrays["rng"])
        drawn = float(arrays["drawn"][0])
        self._uniform = drawn if 0 <= drawn < 1 else None
