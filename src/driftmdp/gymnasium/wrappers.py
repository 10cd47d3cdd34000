"""Wrappers of environments with Discrete spaces.

``ContinuingEnv`` makes one world without end, with states and actions numbered from 0. ``Reachable`` leaves out the
states in which no agent ever decides.
"""

from typing import Any, NamedTuple, cast

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.gymnasium.environment import Info, ProblemEnv
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
    rule = "env must be a gymnasium.Env"
    if isinstance(env, Problem):
        raise InvalidInputError(f"{rule}; got the problem {env.name!r}. Write ProblemEnv(problem).")
    check_type(env, gymnasium.Env, rule, " Use gymnasium.make(id).")
    states, actions = _discrete(env, "observation_space"), _discrete(env, "action_space")
    inside = _without_wrappers(env)
    if isinstance(inside, ProblemEnv):
        return inside.problem.space
    return Space.uniform(int(states.n), int(actions.n))


def _without_wrappers(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Remove the wrappers that keep the numbers of states and actions."""
    while type(env) in NUMBER_KEEPING_WRAPPERS:
        env = env.env  # type: ignore[attr-defined]
    return env


def _discrete(env: gymnasium.Env[Any, Any], name: str) -> Discrete:
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
        self._n_actions = int(_discrete(env, "action_space").n)
        self._n_states = int(_discrete(env, "observation_space").n)
        self.first_state = int(_discrete(env, "observation_space").start)
        self.first_action = int(_discrete(env, "action_space").start)
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

    def _arrive(self, observation: Any, info: Info) -> None:
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


class Reachable(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Number only the states in which an agent decides, from 0.

    An optimist assumes the best of a state that it never saw. Agents never see holes and goals, in which an episode
    ends, and cannot reach some other states. As long as these are among its states, an optimist keeps looking for a
    way there. Without them, ``Adaptive`` finds the best path over a frozen lake that is not slippery. With them it
    does not.

    Parameters
    ----------
    env
        An environment with Discrete observations.
    states
        The states in which an agent may have to decide, ascending, as ``env`` numbers them. By default those that
        the table ``P`` of a toy-text environment reaches from the start without terminating. Wrappers that may
        renumber states hide ``P``. :func:`space_of` lists those that do not.

    Attributes
    ----------
    states
        The state of ``env`` behind each new number.

    Raises
    ------
    InvalidInputError
        If there is neither ``P`` nor ``states``, or a step leads to a state outside of them without terminating.
        A state outside of them that terminates is shown as 0.

    Examples
    --------
    >>> import gymnasium
    >>> from driftmdp.gymnasium import Reachable
    >>> lake = Reachable(gymnasium.make("FrozenLake-v1"))
    >>> lake.observation_space, lake.states
    (Discrete(11), array([ 0,  1,  2,  3,  4,  6,  8,  9, 10, 13, 14]))
    """

    def __init__(self, env: gymnasium.Env[Any, Any], states: ArrayLike | None = None) -> None:
        super().__init__(env)
        outside = _discrete(env, "observation_space")
        found = _decision_states(env) if states is None else as_table(states, "states")
        if np.ndim(found) != 1:
            raise InvalidInputError(f"states must be a list of states; got {states!r}.")
        numbers = [as_integer(s, "A state", int(outside.start), int(outside.start + outside.n) - 1) for s in found]
        if not numbers or sorted(set(numbers)) != numbers:
            raise InvalidInputError(f"states must be distinct and ascend, at least one; got {numbers}.")
        self.states: NDArray[np.int64] = np.array(numbers)
        self._index = {state: index for index, state in enumerate(numbers)}
        self.observation_space = Discrete(len(numbers))

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._number(observation, terminated=False), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Info]:
        """Take an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._number(observation, terminated), reward, terminated, truncated, info

    def _number(self, observation: Any, terminated: bool) -> int:
        state = as_integer(observation, "The environment's observation")
        index = self._index.get(state, 0 if terminated else None)
        if index is None:
            rule = "states must contain every state in which an agent decides"
            raise InvalidInputError(f"{rule}; got to {observation}. Add it.")
        return index


def _decision_states(env: gymnasium.Env[Any, Any]) -> list[int]:
    """Return the states that are reached from the start of a toy-text environment without terminating."""
    inside: Any = _without_wrappers(env)
    if isinstance(inside, gymnasium.Wrapper):
        rule = f"states must be given, as {type(inside).__name__} may renumber them"
        hint = "If it does not, write Reachable(env, Reachable(env.unwrapped).states)"
        raise InvalidInputError(f"{rule}; got None. {hint}.")
    if not hasattr(inside, "P") or not hasattr(inside, "initial_state_distrib"):
        raise InvalidInputError("states must be given: env has no toy-text table P to find them in; got None.")
    waiting = [int(s) for s in np.flatnonzero(inside.initial_state_distrib)]
    seen = set(waiting)
    while waiting:
        outcomes = [outcome for lines in inside.P[waiting.pop()].values() for outcome in lines]
        new = {int(following) for p, following, _, terminated in outcomes if p > 0 and not terminated} - seen
        seen |= new
        waiting.extend(new)
    return sorted(seen)
