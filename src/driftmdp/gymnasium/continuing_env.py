"""An environment as one world without end, in numbers from 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from driftmdp.errors import InvalidInputError
from driftmdp.gymnasium.environment import ProblemEnv
from driftmdp.mdp import Problem, Space
from driftmdp.validation import as_integer, as_table

KEEP_NUMBERS = (OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit)


def space_of(env: gymnasium.Env[Any, Any]) -> Space:
    """Return the states and actions of a Discrete x Discrete environment, for making an agent.

    Our own problems keep their ragged actions, also within gymnasium's TimeLimit, OrderEnforcing,
    PassiveEnvChecker and RecordEpisodeStatistics; another wrapper may number states or actions anew. Of others
    nobody knows which actions they will mask, so every state has all of them; ``learn`` says what it does with
    the masked ones.

    Raises
    ------
    InvalidInputError
        If a space is not Discrete.

    Examples
    --------
    >>> space_of(gymnasium.make("FrozenLake-v1"))
    Space.uniform(16, 4)
    """
    if isinstance(env, Problem):
        raise InvalidInputError(
            f"env must be a gymnasium.Env; got the problem {env.name!r}. Write ProblemEnv(problem)."
        )
    if not isinstance(env, gymnasium.Env):
        raise InvalidInputError(f"env must be a gymnasium.Env; got {env!r}. Use gymnasium.make(id).")
    states, actions = discrete(env, "observation_space"), discrete(env, "action_space")
    inside = without_wrappers(env)
    if isinstance(inside, ProblemEnv):
        return inside.problem.space
    return Space.uniform(int(states.n), int(actions.n))


def without_wrappers(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Return what is inside of those wrappers that are known to keep the numbers of states and actions."""
    while type(env) in KEEP_NUMBERS:
        env = env.env  # type: ignore[attr-defined]
    return env


def discrete(env: gymnasium.Env[Any, Any], name: str) -> Discrete:
    """Return the Discrete space of that name, or say that it is none."""
    space = getattr(env, name)
    if not isinstance(space, Discrete):
        raise InvalidInputError(
            f"{name} of env must be Discrete; got {space}. Number its values with a wrapper, such as "
            "gymnasium.wrappers.TransformObservation."
        )
    return space


class StepResult(NamedTuple):
    """What a step gave: the action really done, its reward, and whether it ended an episode."""

    action: int
    reward: float
    ended: bool


class ContinuingEnv:
    """An environment in which the end of an episode leads to the start of the next.

    Attributes
    ----------
    state
        Where we are, from 0 whatever the environment counts from.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], seed: int | None) -> None:
        self._env = env
        self._n_actions = int(discrete(env, "action_space").n)
        self._n_states = int(discrete(env, "observation_space").n)
        self.first_state = int(discrete(env, "observation_space").start)
        self.first_action = int(discrete(env, "action_space").start)
        self._begin(seed)

    def step(self, advised: int) -> StepResult:
        """Do what is advised, or the nearest action that the mask leaves; at an end, begin the next episode."""
        action = self._legal(as_integer(advised, "The agent's action", 0, self._n_actions - 1))
        observation, reward, terminated, truncated, info = self._env.step(action + self.first_action)
        ended = bool(terminated or truncated)
        if ended:
            self._begin(None)
        else:
            self._arrive(observation, info)
        return StepResult(action, _number(reward), ended)

    def _begin(self, seed: int | None) -> None:
        self._arrive(*self._env.reset(seed=seed))

    def _arrive(self, observation: Any, info: dict[str, Any]) -> None:
        first, last = self.first_state, self.first_state + self._n_states - 1
        self.state = as_integer(observation, "The environment's observation", first, last) - first
        mask = info.get("action_mask")
        self._mask = None if mask is None else as_table(mask, "action_mask")
        if self._mask is not None and self._mask.shape != (self._n_actions,):
            raise InvalidInputError(
                f"action_mask must have an entry for each of the {self._n_actions} actions; got shape "
                f"{self._mask.shape} in state {observation}."
            )

    def _legal(self, action: int) -> int:
        if self._mask is None or self._mask[action]:
            return action
        legal = np.flatnonzero(self._mask)
        if not legal.size:
            raise InvalidInputError(f"action_mask must leave an action; got none in state {self.state}.")
        return int(legal[np.abs(legal - action).argmin()])


def _number(reward: Any) -> float:
    try:
        return float(reward)
    except (TypeError, ValueError):
        raise InvalidInputError(f"The environment's reward must be a number; got {reward!r}.") from None
