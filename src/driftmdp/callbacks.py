"""Callbacks: the methods that are called during a run, and their arguments.

A callback changes nothing: the trajectory is the same with and without it. It cannot end a run early, because a
shorter run could not be compared with others. An error that it raises stops the run, and reaches the caller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.deprecation import renamed
from driftmdp.errors import InvalidInputError
from driftmdp.validation import as_integer, as_list, check_type, nearest_name, readonly

__all__ = ["Callback", "CallbackList", "Steps"]

__getattr__ = renamed(__name__, Audience="CallbackList")

METHODS = ("on_start", "on_steps", "on_end")


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps since a callback was last called.

    Attributes
    ----------
    first, last
        Their times, from 1, both included.
    states, actions, rewards
        What happened at them, shape (last - first + 1,), read-only.
    mean_rewards
        r_t(s_t, a_t) of them; None where the world does not show them.
    agent
        The agent as it is after them, to be read only.
    """

    first: int
    last: int
    states: NDArray[np.signedinteger[Any]]
    actions: NDArray[np.signedinteger[Any]]
    rewards: NDArray[np.float64]
    mean_rewards: NDArray[np.float64] | None
    agent: Any

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __repr__(self) -> str:
        return f"<Steps {self.first} to {self.last}: mean reward {self.rewards.mean():.6g}>"


class Callback:
    """Is called during a run; write those methods that you need.

    Attributes
    ----------
    every
        After how many steps ``on_steps`` is called; it is called once more at the end if steps are left.

    Examples
    --------
    >>> import driftmdp as dm
    >>> class Printer(dm.Callback):
    ...     every = 400
    ...     def on_steps(self, steps):
    ...         print(steps.first, steps.last, steps.agent.t)
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> run = dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, seed=7, callbacks=[Printer()])
    1 400 401
    401 800 801
    801 1000 1001
    """

    every: int = 1000

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in dir(cls):  # a mixin's too
            if name.startswith("on_") and name not in METHODS:
                rule = f"A method of a callback whose name begins with on_ must be one of {', '.join(METHODS)}"
                hint = nearest_name(name, METHODS)
                raise InvalidInputError(f"{rule}; got {name!r} in {cls.__name__}.{hint}")

    def on_start(self, agent: Any, problem: Any, seed: int | None) -> None:
        """Receive the copy of the agent that plays, and the problem; in gymnasium, the environment."""

    def on_steps(self, steps: Steps) -> None:
        """Receive the steps since the last call."""

    def on_end(self, run: Any) -> None:
        """Receive the finished run, which ``simulate`` or ``learn`` returns."""


class CallbackList:
    """Several callbacks, each called at its own interval.

    Parameters
    ----------
    callbacks
        In the order in which they are called.

    Raises
    ------
    InvalidInputError
        If one is not a callback, or its ``every`` is not a positive whole number.
    """

    def __init__(self, callbacks: Iterable[Callback]) -> None:
        self._callbacks = _checked(callbacks)
        self._every = [as_integer(one.every, f"callbacks[{i}].every", 1) for i, one in enumerate(self._callbacks)]
        self._reported = [0] * len(self._callbacks)

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def times(self, horizon: int) -> list[int]:
        """Return the times after which a callback is called.

        Examples
        --------
        >>> from driftmdp import Callback
        >>> from driftmdp.callbacks import CallbackList
        >>> one, other = Callback(), Callback()
        >>> one.every, other.every = 4, 6
        >>> CallbackList([one, other]).times(13)
        [4, 6, 8, 12, 13]
        """
        return sorted({horizon}.union(*(range(every, horizon, every) for every in self._every)))

    def start(self, agent: Any, problem: Any, seed: int | None) -> None:
        """Call ``on_start`` of every callback."""
        for callback in self._callbacks:
            callback.on_start(agent, problem, seed)

    def report(self, agent: Any, last: int, record: Any) -> None:
        """Call ``on_steps`` of those whose interval ends at ``last``; at the end of the run, of all.

        ``record`` has the arrays ``states``, ``actions``, ``rewards`` and ``mean_rewards``, perhaps None.
        """
        for i, (callback, every) in enumerate(zip(self._callbacks, self._every, strict=True)):
            if last % every == 0 or last == record.actions.size:
                first, self._reported[i] = self._reported[i], last
                callback.on_steps(_steps(agent, record, first, last))

    def end(self, run: Any) -> None:
        """Call ``on_end`` of every callback."""
        for callback in self._callbacks:
            callback.on_end(run)


def _steps(agent: Any, record: Any, first: int, last: int) -> Steps:
    there = slice(first, last)
    means = None if record.mean_rewards is None else readonly(record.mean_rewards[there])
    states, actions, rewards = record.states[there], record.actions[there], record.rewards[there]
    return Steps(first + 1, last, readonly(states), readonly(actions), readonly(rewards), means, agent)


def _checked(callbacks: Iterable[Callback]) -> list[Callback]:
    if isinstance(callbacks, (str, Callback, type)) or not isinstance(callbacks, Iterable):
        raise InvalidInputError(f"callbacks must be a list; got {callbacks!r}. Write callbacks=[...].")
    listed = as_list(callbacks, "callbacks", "a list")
    for i, callback in enumerate(listed):
        if isinstance(callback, type):
            rule, name = f"callbacks[{i}] must be made from its class first", callback.__name__
            raise InvalidInputError(f"{rule}; got the class {name}. Write {name}().")
        check_type(callback, Callback, f"callbacks[{i}] must be a driftmdp.Callback", " Inherit from it.")
    return listed
