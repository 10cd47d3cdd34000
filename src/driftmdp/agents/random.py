"""Random: the yardstick that every agent should beat."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import Stage
from driftmdp.agents.scripted import Scripted
from driftmdp.mdp import Space

__all__ = ["Random"]

GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Random(Scripted):
    """Choose every action with the same probability.

    Parameters
    ----------
    space
        States and actions.
    seed
        Of the generator used until ``reset(rng)`` gives another.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> run = dm.simulate(dm.agents.Random(problem.space), problem, seed=7)
    >>> bool(400 < run.actions.sum() < 600)
    True
    """

    def __init__(self, space: Space, seed: int | None = None) -> None:
        super().__init__(space, None, seed)
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Begin anew; draws come from ``rng``, by default from ``seed``."""
        super().reset()
        self._rng = self._generator(rng)
        self._uniform: float | None = None

    def _decide(self, state: int) -> int:
        if self._uniform is None:
            self._uniform = self._rng.random()
        return int(self._uniform * int(self._offsets[state + 1] - self._offsets[state]))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        super()._learn(state, action, reward, next_state)
        self._uniform = None

    def play(self, stage: Stage) -> None:
        """Run a whole problem in compiled code and fill its record."""
        uniforms = self._rng.random(stage.record.actions.size)
        kernels.scripted.wander(stage.world, stage.luck, stage.noise, uniforms, stage.record)
        self._t += stage.record.actions.size

    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        generator = json.dumps(self._rng.bit_generator.state, default=lambda array: array.tolist())
        drawn = np.nan if self._uniform is None else self._uniform
        return super()._state_arrays() | {"rng": np.array(generator), "drawn": np.array([drawn])}

    def _restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.reset()
        super()._restore(arrays)
        state = json.loads(str(arrays["rng"]))
        if state["bit_generator"] not in GENERATORS:
            raise ValueError(f"unknown generator {state['bit_generator']!r}")
        self._rng = np.random.Generator(getattr(np.random, state["bit_generator"])())
        self._rng.bit_generator.state = state
        drawn = float(arrays["drawn"][0])
        self._uniform = drawn if 0 <= drawn < 1 else None
