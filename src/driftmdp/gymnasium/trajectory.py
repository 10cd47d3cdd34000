"""What happened while an agent learned in an environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from driftmdp.display import facts, safely, sparkline
from driftmdp.validation import as_integer


class Trajectory(NamedTuple):
    """Every step, as it is written down."""

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]

    @classmethod
    def of(cls, steps: int) -> Trajectory:
        """Return room for that many steps."""
        states, actions = np.empty((2, steps), np.int64)
        return cls(states, actions, np.empty(steps), np.zeros(steps, np.bool_))

    @property
    def mean_rewards(self) -> None:
        """Nobody knows them."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Learning:
    """What happened, and who has learned.

    Attributes
    ----------
    agent
        The trained agent; ``learn(env, learning.agent, steps, fresh=False)`` goes on with it.
    environment, seed
        The environment's id, or its class; and the seed.
    states, actions
        Where the agent was and what was done there, as the environment numbers them, shape (steps,).
    rewards
        What each step gave.
    ended
        Whether the step was the last of an episode.

    Examples
    --------
    >>> Learning("agent", "Coin-v1", 7, np.zeros(4), np.zeros(4), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 0]))
    Learning(agent='str', environment='Coin-v1', seed=7, steps=4, episodes=1, average_reward=0.5)
    """

    agent: Any
    environment: str
    seed: int | None
    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]

    @property
    def steps(self) -> int:
        """How many steps were done."""
        return self.rewards.size

    @property
    def episode_ends(self) -> NDArray[np.int64]:
        """The times, from 1, of the last step of each whole episode."""
        return np.flatnonzero(self.ended) + 1

    @property
    def episode_lengths(self) -> NDArray[np.int64]:
        """How many steps each whole episode took."""
        return np.diff(self.episode_ends, prepend=0)

    @property
    def episode_returns(self) -> NDArray[np.float64]:
        """The sum of the rewards of each whole episode."""
        sums = np.concatenate([[0.0], np.cumsum(self.rewards)])
        return np.diff(sums[self.episode_ends], prepend=0.0)

    def average_reward(self, window: int | None = None) -> float:
        """Return the mean reward of a step, of all or of the last ``window`` steps."""
        last = self.steps if window is None else as_integer(window, "window", 1, self.steps)
        return float(self.rewards[-last:].mean())

    def learning_curve(self, window: int) -> NDArray[np.float64]:
        """Return the mean reward of a step in each whole stretch of ``window`` steps, one after the other."""
        size = as_integer(window, "window", 1, self.steps)
        whole = self.steps // size
        return np.asarray(self.rewards[: whole * size].reshape(whole, size).mean(axis=1))

    @safely
    def _repr_html_(self) -> str:
        return facts(
            f"Learning of {type(self.agent).__name__} in {self.environment}",
            seed=None if self.seed is None else str(self.seed),
            steps=self.steps,
            episodes=self.episode_ends.size or None,
            total_reward=self.rewards.sum(),
            reward_a_step=self.average_reward(),
            reward_so_far=sparkline(np.cumsum(self.rewards), "the cumulative reward"),
        )

    def __repr__(self) -> str:
        return (
            f"Learning(agent={type(self.agent).__name__!r}, environment={self.environment!r}, seed={self.seed}, "
            f"steps={self.steps}, episodes={self.episode_ends.size}, average_reward={self.average_reward():.4g})"
        )


def name_of(env: gymnasium.Env[Any, Any]) -> str:
    """Return an environment's id, or the name of its class if it has none."""
    return type(env.unwrapped).__name__ if env.spec is None else env.spec.id
