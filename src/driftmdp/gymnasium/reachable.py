"""A wrapper that leaves out the states in which no agent ever decides."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.gymnasium.continuing_env import discrete, without_wrappers
from driftmdp.validation import as_integer, as_table


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
        outside = discrete(env, "observation_space")
        found = _decision_states(env) if states is None else as_table(states, "states")
        if np.ndim(found) != 1:
            raise InvalidInputError(f"states must be a list of states; got {states!r}.")
        numbers = [as_integer(s, "A state", int(outside.start), int(outside.start + outside.n) - 1) for s in found]
        if not numbers or sorted(set(numbers)) != numbers:
            raise InvalidInputError(f"states must be distinct and ascend, at least one; got {numbers}.")
        self.states: NDArray[np.int64] = np.array(numbers)
        self._index = {state: index for index, state in enumerate(numbers)}
        self.observation_space = Discrete(len(numbers))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._number(observation, terminated=False), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
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
    inside: Any = without_wrappers(env)
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
