"""An environment as one world without end, with states and actions numbered from 0."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from driftmdp.errors import InvalidInputError
from driftmdp.gymnasium.environment import ProblemEnv
from driftmdp.mdp import Problem, Space
from driftmdp.validation import as_integer, as_table, check_type

NUMBER_KEEPING_WRAPPERS = (OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit)


def space_of(env: gymnasium.Env[Any, Any]) -> Space:
    """Return the states and actions of a Discrete x Discrete environment, for making an agent.

    Problems of this package keep their ragged actions, also inside gymnasium's TimeLimit, OrderEnforcing,
    PassiveEnvChecker and RecordEpisodeStatistics. Other wrappers may renumber states or actions. Other environments
    do not say which actions they will mask, so every state has all actions. ``learn`` explains how it replaces
    masked ones.

    Raises
    ------
    InvalidInputError
        If a space is not Discrete.

    Examples
    --------
    >>> import gymnasium
    >>> from driftmdp.gymnasium import space_of
    >>> space_of(gymnasium.make("FrozenLake-v1"))
    Space.uniform(16, 4)
    """
    hint = " Write ProblemEnv(problem)." if isinstance(env, Problem) else " Use gymnasium.make(id)."
    check_type(env, gymnasium.Env, "env must be a gymnasium.Env", hint)
    states, actions = discrete(env, "observation_space"), discrete(env, "action_space")
    inside = without_wrappers(env)
    if isinstance(inside, ProblemEnv):
        return inside.problem.space
    return Space.uniform(int(states.n), int(actions.n))


def without_wrappers(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Remove the wrappers that keep the numbers of states and actions."""
    while type(env) in NUMBER_KEEPING_WRAPPERS:
        env = env.env  # type: ignore[attr-defined]
    return env


def discrete(env: gymnasium.Env[Any, Any], name: str) -> Discrete:
    """Validate that the space of this name is Discrete."""
    space = getattr(env, name)
    hint = " Number its values with a wrapper, such as gymnasium.wrappers.TransformObservation."
    check_type(space, Discrete, f"{name} of env must be Discrete", hint)
    return cast(Discrete, space)


class StepResult(NamedTuple):
    """The result of a step: the action done, its reward, and whether it ended an episode."""

    action: int
    reward: float
    ended: bool


class ContinuingEnv:
    """An environment in which the end of an episode leads to the start of the next.

    Attributes
    ----------
    state
        The current state, from 0 whatever number the environment starts with.
    first_state, first_action
        The environment's own numbers of state 0 and action 0.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], seed: int | None) -> None:
        self._env = env
        self._n_actions = int(discrete(env, "action_space").n)
        self._n_states = int(discrete(env, "observation_space").n)
        self.first_state = int(discrete(env, "observation_space").start)
        self.first_action = int(discrete(env, "action_space").start)
        self._arrive(*env.reset(seed=seed))

    def step(self, chosen: int) -> StepResult:
        """Do the chosen action, or the nearest that the mask leaves. At an end, start the next episode."""
        action = self._nearest_legal(as_integer(chosen, "The agent's action", 0, self._n_actions - 1))
        observation, reward, terminated, truncated, info = self._env.step(action + self.first_action)
        ended = bool(terminated or truncated)
        self._arrive(*(self._env.reset(seed=None) if ended else (observation, info)))
        try:
            return StepResult(action, float(reward), ended)
        except (TypeError, ValueError):
            raise InvalidInputError(f"The environment's reward must be a number; got {reward!r}.") from None

    def _arrive(self, observation: Any, info: dict[str, Any]) -> None:
        first, last = self.first_state, self.first_state + self._n_states - 1
        self.state = as_integer(observation, "The environment's observation", first, last) - first
        mask = info.get("action_mask")
        self._mask = None if mask is None else as_table(mask, "action_mask")
        if self._mask is not None and self._mask.shape != (self._n_actions,):
            rule = f"action_mask must have an entry for each of the {self._n_actions} actions"
            raise InvalidInputError(f"{rule}; got shape {self._mask.shape} in state {observation}.")

    def _nearest_legal(self, action: int) -> int:
        if self._mask is None or self._mask[action]:
            return action
        legal = np.flatnonzero(self._mask)
        if not legal.size:
            raise InvalidInputError(f"action_mask must leave an action; got none in state {self.state}.")
        return int(legal[np.abs(legal - action).argmin()])
