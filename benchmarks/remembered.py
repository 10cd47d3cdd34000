"""Agents that remember a given number of steps, whatever the number of states.

The steps are drawn once and fed to agents of any size. Their order makes an agent plan only once while
it learns them. That plan has no data and advises action 0 everywhere, and action 0 is taken last, once per state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm

__all__ = ["DELTA", "N_ACTIONS", "Steps", "fed", "learner"]

DELTA = 0.05
N_ACTIONS = 3


@dataclass(frozen=True)
class Steps:
    """The steps, one entry per step."""

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    next_states: NDArray[np.int64]

    @classmethod
    def drawn(cls, n_steps: int, n_visited: int) -> Steps:
        """Draw steps among the first ``n_visited`` states. A pair leads to one of five neighbours."""
        rng = np.random.default_rng(0)
        once = np.arange(min(n_visited, n_steps // 2))  # action 0, at the end
        n_other = n_steps - once.size
        states = np.concatenate([rng.integers(n_visited, size=n_other), once])
        actions = np.concatenate([rng.integers(1, N_ACTIONS, size=n_other), np.zeros_like(once)])
        next_states = (states + actions * rng.integers(-2, 3, size=n_steps)) % n_visited
        return cls(states, actions, (states % 10) / 10.0, next_states)

    @property
    def size(self) -> int:
        """How many steps."""
        return self.states.size


def learner(n_states: int, n_steps: int, planner: str) -> dm.agents.UCRL2:
    """Return a UCRL2 whose L1 radius is 1/sqrt(N) once it remembers ``n_steps`` steps.

    Jaksch's radius is sqrt(14 S ln(2 A t / delta) / N), so the scale undoes the rest. The reward's radius is scaled
    alike, which makes it small.
    """
    scale = 1.0 / math.sqrt(14 * n_states * math.log(2 * N_ACTIONS * (n_steps + 1) / DELTA))
    space = dm.Space.uniform(n_states, N_ACTIONS)
    return dm.agents.UCRL2(space, horizon=n_steps + 1, delta=DELTA, scale=scale, planner=planner)


def fed(agent: dm.agents.UCRL2, steps: Steps) -> dm.agents.UCRL2:
    """Feed the steps to an agent, and return it."""
    agent.reset(np.random.default_rng(0))
    columns = (steps.states, steps.actions, steps.rewards, steps.next_states)
    for state, action, reward, next_state in zip(*(column.tolist() for column in columns), strict=True):
        agent.act(state)
        agent.observe(reward, next_state, action=action)
    return agent
