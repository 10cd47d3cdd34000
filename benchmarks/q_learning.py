"""Tabular Q-learning with a constant step and epsilon-greedy choices: the yardstick of the learning curves."""

from __future__ import annotations

import numpy as np

import driftmdp as dm

__all__ = ["QLearning"]


class QLearning:
    """Q(s, a) += step (reward + discount max Q(next, .) - Q(s, a)), with a random action now and then."""

    def __init__(self, space: dm.Space, step: float, epsilon: float, discount: float) -> None:
        self.space, self.step, self.epsilon, self.discount = space, step, epsilon, discount

    def reset(self, rng: np.random.Generator) -> None:
        """Start from scratch."""
        self.rng = rng
        self.values = [[0.0] * int(count) for count in self.space.n_actions]
        self.choice: tuple[int, int] | None = None

    def act(self, state: int) -> int:
        """Choose an action. Called twice before an observation, it returns the same. Ties are broken at random."""
        if self.choice is None or self.choice[0] != state:
            values = self.values[state]
            best = [action for action, value in enumerate(values) if value == max(values)]
            options = range(len(values)) if self.rng.random() < self.epsilon else best
            self.choice = state, options[int(self.rng.random() * len(options))]
        return self.choice[1]

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Move the value of the action taken towards its outcome."""
        assert self.choice is not None
        state, advised = self.choice
        done = advised if action is None else action
        target = reward + self.discount * max(self.values[next_state])
        self.values[state][done] += self.step * (target - self.values[state][done])
        self.choice = None
