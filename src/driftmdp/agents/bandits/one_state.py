"""What all bandits share: one state, a range that the rewards lie in, and a doubt when they do not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from driftmdp.agents.composition import checked_range
from driftmdp.agents.timed import Timed
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem, Space
from driftmdp.mdp.space import as_space

__all__ = ["Bandit", "bandit_range", "n_arms_of", "span_of", "variation_of"]

PATIENCE = 20  # rewards before their mean is judged


class Bandit(Timed):
    """An agent for one state, whose actions are arms."""

    is_bandit: ClassVar[bool] = True
    reward_range: tuple[float, float]

    def __init__(
        self, space: Space, horizon: int | None, reward_range: tuple[float, float], seed: int | None
    ) -> None:
        n_arms_of(space, self.name)
        super().__init__(space, horizon, seed)
        self.reward_range = bandit_range(reward_range)
        self._warned = False

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Begin anew at t = 1."""
        super().reset(rng)
        self._n_seen, self._total = 0, 0.0

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        super()._learn(state, action, reward, next_state)
        self._n_seen += 1
        self._total += reward
        if not self._warned and self._n_seen >= PATIENCE:
            self._doubt_the_range(self._total / self._n_seen)

    def _doubt_the_range(self, mean: float) -> None:
        """Doubt the range, once, if the mean reward lies more than a whole range outside of it."""
        low, high = self.reward_range
        if not -1.0 <= (mean - low) / span_of(self.reward_range) <= 2.0:
            self._warned = True
            self._doubts.append(
                f"The mean of {self._n_seen} rewards is {mean:g}, far outside reward_range ({low:g}, {high:g}): "
                f"{self.name} cannot weigh them. Make the agent with the range of your rewards."
            )


def n_arms_of(space: Space, name: str) -> int:
    """Return the number of arms of a space with one state."""
    if as_space(space).n_states != 1:
        raise InvalidInputError(
            f"{name} must have a space of one state, a bandit; got {space.n_states} states. For several states use "
            "SWUCRL2CW, BORL or another agent for MDPs."
        )
    return space.n_pairs


def bandit_range(reward_range: Any) -> tuple[float, float]:
    """Return bounds on the rewards, which bandits cannot do without."""
    bounds = checked_range(reward_range, optional=False)
    assert bounds is not None
    return bounds


def span_of(bounds: tuple[float, float]) -> float:
    """Return hi - lo, or 1 where the range is one point."""
    return bounds[1] - bounds[0] if bounds[1] > bounds[0] else 1.0


def variation_of(problem: Problem, reward_range: Any) -> float:
    """Return B_r of a problem's means mapped to [0, 1]."""
    return problem.drifting.variation().reward / span_of(bandit_range(reward_range))
