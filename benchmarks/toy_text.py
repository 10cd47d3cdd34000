"""Gymnasium's toy-text worlds as average-reward worlds: the environment, its rewards, and the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

import driftmdp as dm
from driftmdp.gymnasium import Reachable
from driftmdp.interchange import from_toy_text

__all__ = ["WORLDS", "ToyWorld", "optimum"]

GOAL = 20.0  # reward at the end of an episode in the fourth world


class GoalReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Pay for the end of an episode too."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        state, reward, terminated, truncated, info = self.env.step(action)
        return state, float(reward) + GOAL * terminated, terminated, truncated, info


@dataclass(frozen=True)
class ToyWorld:
    """A world by its id: how long to learn, the range of its rewards, and an extra reward at the end."""

    title: str
    environment: str
    steps: int
    reward_range: tuple[float, float]
    goal: float = 0.0

    def make(self) -> gymnasium.Env[Any, Any]:
        """Return the environment, without the states in which no action is taken."""
        env = Reachable(gymnasium.make(self.environment))
        return GoalReward(env) if self.goal else env


WORLDS = {
    "frozen-lake": ToyWorld("FrozenLake-v1", "FrozenLake-v1", 50_000, (0.0, 1.0)),
    "cliff": ToyWorld("CliffWalking-v1", "CliffWalking-v1", 20_000, (-100.0, -1.0)),
    "cliff-with-goal": ToyWorld(
        "CliffWalking-v1, 20 more at the goal", "CliffWalking-v1", 20_000, (-100.0, GOAL - 1), GOAL
    ),
    "taxi": ToyWorld("Taxi-v4", "Taxi-v4", 50_000, (-10.0, 20.0)),
}


def optimum(world: ToyWorld) -> float:
    """Return the best average reward of the world in which an end leads to a start (without time limits)."""
    env = world.make()
    inside: Any = env.unwrapped
    kept = set(_states(env))
    table = {
        s: {a: [_paid(line, world.goal) for line in lines] for a, lines in inside.P[s].items()} for s in inside.P
    }
    for s in set(table) - kept:  # never visited, so any way back to the start will do
        table[s] = {a: [(1.0, s, 0.0, True)] for a in table[s]}
    mdp = from_toy_text(table, start=inside.initial_state_distrib)
    return dm.planning.optimal_gain(mdp, allow_transient=True).gain


def _states(env: gymnasium.Env[Any, Any]) -> list[int]:
    states: Callable[[str], Any] = env.get_wrapper_attr
    return [int(s) for s in np.asarray(states("states"))]


def _paid(line: Any, goal: float) -> tuple[float, int, float, bool]:
    p, following, reward, terminated = line
    return p, following, reward + goal * terminated, terminated
