"""Base classes of agents without a plan: they count their own steps, and some draw one uniform number per step."""

import numpy as np

from driftmdp.agents.base import BuiltinAgent
from driftmdp.agents.snapshot_checks import LATEST, generator_text, restored_generator
from driftmdp.npz import Arrays
from driftmdp.validation import as_integer


class StepCountingAgent(BuiltinAgent):
    """An agent that counts its own steps."""

    _t = 1

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return self._t

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Start from scratch at t = 1."""
        super().reset(rng)
        self._t = 1

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        self._t += 1

    def _state_arrays(self) -> Arrays:
        return {"t": np.array([self._t])}

    def _restore(self, arrays: Arrays) -> None:
        self._t = as_integer(int(arrays["t"][0]), "t", minimum=1, maximum=LATEST)


class RandomizedAgent(StepCountingAgent):
    """An agent that draws one uniform number per step, kept between ``act`` and ``observe``."""

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Start from scratch. Draws come from ``rng``, by default from ``seed``."""
        super().reset(rng)
        self._rng = self._generator(rng)
        self._uniform: float | None = None

    def _draw(self) -> float:
        """Return the number of this step, the same until the next step."""
        if self._uniform is None:
            self._uniform = self._rng.random()
        return self._uniform

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        super()._learn(state, action, reward, next_state)
        self._uniform = None

    def _state_arrays(self) -> Arrays:
        drawn = np.nan if self._uniform is None else self._uniform
        return super()._state_arrays() | {"rng": generator_text(self._rng), "drawn": np.array([drawn])}

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        self._rng = restored_generator(arrays["rng"])
        drawn = float(arrays["drawn"][0])
        self._uniform = drawn if 0 <= drawn < 1 else None
