"""What every agent of this package is: the protocol, its parameters, and how it is copied and kept.

A user's own agent needs only ``reset``, ``act`` and ``observe``; it need not inherit from anything.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.lock import AgentLock, Locked
from driftmdp.agents.reward_range import span_of
from driftmdp.deprecation import warn_renamed
from driftmdp.display import safely, short, table
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Draws, Record, WorldArrays
from driftmdp.mdp import DriftingMdp, Problem, Space
from driftmdp.mdp.space import as_space
from driftmdp.system import require_memory
from driftmdp.validation import LARGEST, as_integer, as_number, warn

PAIR_BYTES = 40  # that an agent takes for each pair of its space before it has seen anything; 16 to 52
PATIENCE = 20  # rewards seen live after which their range may be doubted


@runtime_checkable
class Agent(Protocol):
    """What ``simulate`` asks of an agent."""

    def reset(self, rng: np.random.Generator) -> None:
        """Forget everything and begin anew; all randomness comes from ``rng``."""

    def act(self, state: int) -> int:
        """Return the action to take in ``state``."""

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Learn what the last action gave; ``action`` says what was really done, if not what was advised."""


class RunContext:
    """A problem with its random numbers drawn, and the record that a compiled run fills.

    Attributes
    ----------
    problem
        What is played: a :class:`~driftmdp.Problem` with T steps, S states and its pairs (s, a).
    world
        Its world as kernels take it, a named tuple of arrays: ``offsets`` (S + 1,), ``anchor_rewards`` (K, pairs),
        and the anchors' transitions and the weights (T, K) in CSR.
    noise
        (code, sigma, low, high): the noise model's number, its standard deviation, and the reward range.
    draws
        The world's random numbers, drawn before anything happens: ``anchor``, ``successor`` and ``noise``, float64
        (T,).
    record
        What the run fills: ``states`` int32 (T + 1,), the start already in ``states[0]``; ``actions`` int32,
        ``rewards`` and ``mean_rewards`` float64, ``sweeps`` int32 (0 where nothing was planned) and ``vacuous``
        bool, all (T,).
    """

    def __init__(self, problem: Problem, draws: Draws, record: Record) -> None:
        self.problem = problem
        self.world: WorldArrays = problem.drifting.world
        self.noise = (problem.noise.code, problem.noise.sigma, *problem.reward_range)
        self.draws = draws
        self.record = record

    @property
    def luck(self) -> Draws:
        """The old name of ``draws``."""
        warn_renamed("RunContext.luck", "RunContext.draws")
        return self.draws


class BuiltinAgent(Locked, ABC):
    """The shared ground of the agents in this package.

    A subclass keeps each parameter of its constructor as an attribute of the same name. Threads may share an agent:
    every method holds ``lock``. But an agent makes one decision at a time, and ``observe`` belongs to the last
    ``act``, of whichever thread: hold ``with agent.lock:`` around both, or take an agent per stream of decisions.

    Attributes
    ----------
    space, horizon, seed
        States and actions; the number of steps and the seed, or None.
    reward_range
        Bounds (lo, hi) on the mean rewards; None where they do not matter.
    lock
        Reentrant; held by every method.
    """

    only_for: ClassVar[str] = ""  # "bandits" or "inventory", if it is for no other problems
    later_parameters: ClassVar[Mapping[str, Any]] = {}  # newer than stored results, with the value that those have

    space: Space
    horizon: int | None
    reward_range: tuple[float, float] | None
    seed: int | None

    def __init__(self, space: Space, horizon: int | None, seed: int | None) -> None:
        super().__init__()
        self.space = as_space(space)
        require_memory(PAIR_BYTES * space.n_pairs, f"An agent for {space.n_pairs:,} pairs")
        self.horizon = None if horizon is None else as_integer(horizon, "horizon", minimum=1)
        self.seed = None if seed is None else as_integer(seed, "seed", minimum=0)
        self._offsets: NDArray[np.int32] = np.array(space.offsets)
        self._waiting: tuple[int, int] | None = None
        self._doubts: list[str] = []
        self._doubted: frozenset[str] = frozenset()
        self._n_seen, self._total, self._n_aside = 0, 0.0, 0

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent with the problem's space, horizon and reward range filled in."""
        checked_problem(problem)
        known: dict[str, Any] = {
            "space": problem.space,
            "horizon": problem.horizon,
            "reward_range": problem.reward_range,
        }
        wanted = _parameter_names(cls)
        takes_all = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(cls).parameters.values())
        filled = {name: value for name, value in known.items() if name in wanted or takes_all}
        return cls(**filled | parameters)

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """What the agent was made from, by the names of its constructor.

        One of ``later_parameters`` is left out at its value there: results and snapshots stay as they were.
        """
        known = {name: getattr(self, name) for name in _parameter_names(type(self)) if hasattr(self, name)}
        return without_later(known, self.later_parameters)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        raise NotImplementedError

    @abstractmethod
    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and begin anew; all randomness comes from ``rng``, by default from ``seed``."""
        self._generator(rng)
        self._waiting, self._doubts = None, []
        self._n_seen, self._total, self._n_aside = 0, 0.0, 0

    @abstractmethod
    def _decide(self, state: int) -> int:
        """Return the action for a valid state."""

    @abstractmethod
    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        """Take in a valid step."""

    @abstractmethod
    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record, as ``act`` and ``observe`` would."""

    def act(self, state: int) -> int:
        """Return the action to take in ``state``.

        Asking twice before ``observe`` gives the same answer. A state other than the last next state is a
        jump: no transition to it is learned.
        """
        s = self._state(state, "state")
        if self.horizon is not None and self.t > self.horizon:
            raise InvalidInputError(
                f"{self.name} must not act after its horizon of {self.horizon} steps. "
                "Call reset(rng) to begin anew, or make it with a larger horizon."
            )
        action = self._decide(s)
        self._waiting = s, action
        return action

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Learn what the last action gave.

        Parameters
        ----------
        reward, next_state
            What followed.
        action
            What was really done in that state, if it is not what ``act`` advised.
        """
        if self._waiting is None:
            raise InvalidInputError("observe must follow act; call act(state) first.")
        s, advised = self._waiting
        if not (type(reward) is float and -LARGEST <= reward <= LARGEST):
            given = reward.item() if isinstance(reward, np.generic) else reward
            reward = as_number(given, "reward", -LARGEST, LARGEST)
        following = self._state(next_state, "next_state")
        done = advised if action is None else self.space.pair(s, action) - int(self._offsets[s])
        self._learn(s, done, reward, following)
        self._waiting = None
        self._voice()

    def _state(self, state: int, name: str) -> int:
        try:
            s = operator.index(state)
        except TypeError:
            raise InvalidInputError(f"{name} must be a whole number; got {state!r}.") from None
        if not 0 <= s < self._offsets.size - 1:
            known = f"one of 0 .. {self._offsets.size - 2}" if self._offsets.size > 2 else "0, the only one"
            raise InvalidInputError(f"{name} must be {known}; got {s}.")
        return s

    def _doubt(self, name: str, bounds: tuple[float, float], what: str, mean: float, effect: str) -> None:
        """Doubt a range, once, if a mean lies more than a whole range outside of it; ``_voice`` says it."""
        reach = span_of(bounds)
        if not bounds[0] - reach <= mean <= bounds[1] + reach:
            self._doubt_that(f"The mean {what} is {mean:g}, far outside", name, bounds, effect)

    def _doubt_that(self, fault: str, name: str, bounds: tuple[float, float], effect: str) -> None:
        if name not in self._doubted:
            self._doubted |= {name}
            self._doubts.append(
                f"{fault} {name} ({bounds[0]:g}, {bounds[1]:g}): {effect}. Make the agent with the range of your "
                "rewards."
            )

    def _doubt_the_mean(self, reward: float, effect: str) -> None:
        """Doubt the range where rewards seen live are far outside of it, or all beside it, and say what follows."""
        self._n_seen, self._total = self._n_seen + 1, self._total + reward
        bounds = self.reward_range
        if bounds is None or bounds[0] <= reward <= bounds[1]:
            return
        self._n_aside += 1 if reward > bounds[1] else -1
        if self._n_seen >= PATIENCE:
            self._doubt("reward_range", bounds, f"of {self._n_seen} rewards", self._total / self._n_seen, effect)
        if self._n_seen == PATIENCE == abs(self._n_aside):
            side = "above" if self._n_aside > 0 else "below"
            self._doubt_that(f"All of the first {PATIENCE} rewards are {side}", "reward_range", bounds, effect)

    def _voice(self) -> None:
        """Warn of what was doubted during a step; a step is whole before it, should a warning be an error."""
        while self._doubts:
            warn(self._doubts.pop(0))

    def summary(self) -> Any:
        """Return what the agent has to say of its own choices so far; ``simulate`` keeps it in ``Run.summary``."""
        return None

    def copy(self) -> Self:
        """Return an agent with the same parameters, as new."""
        return self._fresh_copy(None)

    def _fresh_copy(self, rng: np.random.Generator | None) -> Self:
        fresh = object.__new__(type(self))  # parameters are never changed, and reset makes everything else again
        vars(fresh).update(vars(self) | {"lock": AgentLock()})
        fresh.reset(rng)
        return fresh

    def _generator(self, rng: np.random.Generator | None) -> np.random.Generator:
        if rng is None:
            return np.random.default_rng(self.seed)
        if not isinstance(rng, np.random.Generator):
            raise InvalidInputError(f"rng must be a numpy Generator; got {rng!r}. Use np.random.default_rng(seed).")
        return rng

    @abstractmethod
    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything learned, as arrays by name."""

    @abstractmethod
    def _restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what ``_state_arrays`` gave; the agent is as new."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a snapshot; ``driftmdp.agents.load(path)`` continues exactly where this agent is."""
        from driftmdp.agents.snapshot import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the agent of a snapshot, which must be of this class."""
        from driftmdp.agents.snapshot import load

        agent = load(path)
        if not isinstance(agent, cls):
            raise InvalidInputError(f"{path} must hold an agent of class {cls.__name__}; it holds {agent.name}.")
        return agent

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self.parameters.items() if value is not None)
        return f"{self.name}({shown})"

    @safely
    def _repr_html_(self) -> str:
        known = [(name, short(value)) for name, value in self.parameters.items() if value is not None]
        return table([], [*known, ("next step", f"t = {self.t:,}")], self.name)


class ResumableAgent(BuiltinAgent):
    """An agent whose compiled run can stop after any row and go on."""

    @abstractmethod
    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        """Play the rows ``first .. last - 1`` of a stage in compiled code."""

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record."""
        self._play_rows(context, 0, context.record.actions.size)


def without_later(parameters: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that came later and have the value that they had before."""
    return {name: value for name, value in parameters.items() if name not in later or value != later[name]}


def checked_problem(problem: Problem) -> Problem:
    """Return a problem, or say that it is none."""
    if not isinstance(problem, Problem):
        bare = isinstance(problem, DriftingMdp)
        hint = "Write Problem(it, reward_range=(lo, hi))" if bare else "Try driftmdp.problems.two_state()"
        hint = f"Write driftmdp.problems.make({problem!r})" if isinstance(problem, str) else hint
        raise InvalidInputError(f"problem must be a Problem; got {problem!r}. {hint}.")
    return problem


@functools.cache
def _parameter_names(agent: type[BuiltinAgent]) -> tuple[str, ...]:
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return tuple(name for name, p in inspect.signature(agent).parameters.items() if p.kind not in variable)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
