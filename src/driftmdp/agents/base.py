"""The agent protocol, and the base classes of the agents in this package: every call is checked and locked.

A user's own agent needs only ``reset``, ``act`` and ``observe``. It need not inherit from anything.
"""

import copy
import functools
import operator
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, ParamSpec, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents import snapshot
from driftmdp.agents.parameters import ParameterizedAgent
from driftmdp.agents.plan_explanation import Plan
from driftmdp.agents.reward_range import Range, RangeMonitor
from driftmdp.deprecation import warn_renamed
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Draws, Record, WorldArrays
from driftmdp.mdp import Problem, Space
from driftmdp.mdp.space import as_space
from driftmdp.npz import Arrays
from driftmdp.system import require_memory
from driftmdp.validation import LARGEST, as_integer, as_number, check_type

P = ParamSpec("P")
Answer = TypeVar("Answer")

PAIR_BYTES = 40  # that an agent takes for each pair of its space before its first step; 16 to 52


@runtime_checkable
class Agent(Protocol):
    """The three methods that ``simulate`` calls."""

    def reset(self, rng: np.random.Generator) -> None:
        """Forget everything and start from scratch. All randomness comes from ``rng``."""

    def act(self, state: int) -> int:
        """Return the action to take in ``state``."""

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Learn from the last step. ``action`` is the action really taken, if it was not the advised one."""


class PlanningAgent(Protocol):
    """The properties of an agent that plans. ``Run.episode_starts`` and ``Run.sweeps`` are filled from them."""

    @property
    def n_plans(self) -> int:
        """How many plans were made."""

    @property
    def last_plan(self) -> Plan:
        """The facts of the last plan."""


class RunContext:
    """A problem with its random numbers drawn, and the record that a compiled run fills.

    Attributes
    ----------
    problem
        The problem that is played: a :class:`~driftmdp.Problem` with T steps, S states and its pairs (s, a).
    world
        Its world as kernels take it, a named tuple of arrays: ``offsets`` (S + 1,), ``anchor_rewards`` (K, pairs),
        and the anchors' transitions and the weights (T, K) in CSR.
    noise
        (code, sigma, low, high): the noise model's number, its standard deviation, and the reward range.
    draws
        The world's random numbers, drawn before anything happens: ``anchor``, ``successor`` and ``noise``, float64
        (T,).
    record
        Arrays that the run fills: ``states`` int32 (T + 1,), the start already in ``states[0]``; ``actions`` int32,
        ``rewards`` and ``mean_rewards`` float64, ``sweeps`` int32 (0 where nothing was planned) and ``vacuous``
        bool, all (T,).
    """

    def __init__(self, problem: Problem, draws: Draws, record: Record) -> None:
        self.problem = problem
        self.world: WorldArrays = problem.drifting.world
        self.noise = (problem.noise.code, problem.noise.spread, *problem.reward_range)
        self.draws = draws
        self.record = record

    @property
    def inputs(self) -> tuple[WorldArrays, Draws, tuple[int, float, float, float]]:
        """(world, draws, noise): the first arguments of every compiled run."""
        return self.world, self.draws, self.noise

    @property
    def luck(self) -> Draws:
        """The old name of ``draws``."""
        warn_renamed("RunContext.luck", "RunContext.draws")
        return self.draws


class AgentLock(type(threading.RLock())):  # type: ignore[misc]
    """A reentrant lock. A copy of it is a new lock, so that its owner can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return AgentLock, ()


def locked(method: Callable[P, Answer]) -> Callable[P, Answer]:
    """Let a method hold the lock of its object."""

    @functools.wraps(method)
    def holding(*args: P.args, **keywords: P.kwargs) -> Answer:
        with args[0].lock:  # type: ignore[attr-defined]
            return method(*args, **keywords)

    return holding


class Locked(ABC):
    """An object whose public methods, those of subclasses too, wait for each other.

    Compiled code runs without Python's own lock, so two threads in one agent would write the same arrays.

    Attributes
    ----------
    lock
        Reentrant: ``with agent.lock:`` keeps several calls together.
    """

    lock: AgentLock

    def __init__(self) -> None:
        self.lock = AgentLock()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, found in list(vars(cls).items()):
            if isinstance(found, FunctionType) and not name.startswith("_"):
                setattr(cls, name, locked(found))

    @locked
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        fresh = memo[id(self)] = object.__new__(type(self))
        vars(fresh).update(copy.deepcopy(vars(self), memo))
        return fresh


class BuiltinAgent(Locked, ParameterizedAgent):
    """The base class of the agents in this package: the protocol, with every call checked.

    A subclass keeps each parameter of its constructor as an attribute of the same name. Threads may share an agent:
    every method holds ``lock``. But an agent makes one decision at a time, and ``observe`` belongs to the last
    ``act``, of whichever thread. Hold ``with agent.lock:`` around both, or take an agent per stream of decisions.

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

    space: Space
    horizon: int | None
    reward_range: Range | None
    seed: int | None

    def __init__(self, space: Space, horizon: int | None, seed: int | None) -> None:
        super().__init__()
        self.space = as_space(space)
        require_memory(PAIR_BYTES * space.n_pairs, f"An agent for {space.n_pairs:,} pairs")
        self.horizon = None if horizon is None else as_integer(horizon, "horizon", minimum=1)
        self.seed = None if seed is None else as_integer(seed, "seed", minimum=0)
        self._offsets: NDArray[np.int32] = np.array(space.offsets)
        self._pending_step: tuple[int, int] | None = None
        self._range_monitor = RangeMonitor()

    @abstractmethod
    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. All randomness comes from ``rng``, by default from ``seed``."""
        if rng is not None:
            hint = " Use np.random.default_rng(seed)."
            check_type(rng, np.random.Generator, "rng must be a numpy Generator", hint)
        self._pending_step = None
        self._range_monitor = RangeMonitor(self._range_monitor.warned)

    @abstractmethod
    def _decide(self, state: int) -> int:
        """Return the action for a valid state."""

    @abstractmethod
    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        """Learn from a valid step."""

    @abstractmethod
    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record, as ``act`` and ``observe`` would."""

    @abstractmethod
    def _state_arrays(self) -> Arrays:
        """Return everything learned, as arrays by name."""

    @abstractmethod
    def _restore(self, arrays: Arrays) -> None:
        """Take over what ``_state_arrays`` returned. The agent is as new."""

    def act(self, state: int) -> int:
        """Return the action to take in ``state``.

        Asking twice before ``observe`` gives the same answer. A state other than the last next state is a
        jump: no transition to it is learned.
        """
        s = self._state(state, "state")
        if self.horizon is not None and self.t > self.horizon:
            raise InvalidInputError(
                f"{self.name} must not act after its horizon of {self.horizon} steps. "
                "Call reset(rng) to start from scratch, or make it with a larger horizon."
            )
        action = self._decide(s)
        self._pending_step = s, action
        return action

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Learn from the last step.

        Parameters
        ----------
        reward, next_state
            What the last action gave and where it led.
        action
            The action really taken in that state, if it was not the one that ``act`` advised.
        """
        if self._pending_step is None:
            raise InvalidInputError("observe must follow act; call act(state) first.")
        s, advised = self._pending_step
        if isinstance(reward, float) and -LARGEST <= reward <= LARGEST:
            reward = float(reward)  # numpy's too
        else:
            given = reward.item() if isinstance(reward, np.generic) else reward
            reward = as_number(given, "reward", -LARGEST, LARGEST)
        following = self._state(next_state, "next_state")
        done = advised if action is None else self.space.pair(s, action) - int(self._offsets[s])
        self._learn(s, done, reward, following)
        self._pending_step = None
        if self._range_monitor.pending:
            self._range_monitor.warn()  # last, so that the step is complete even if this is raised as an error

    def _state(self, state: int, name: str) -> int:
        try:
            s = operator.index(state)
        except TypeError:
            raise InvalidInputError(f"{name} must be a whole number; got {state!r}.") from None
        if not 0 <= s < self._offsets.size - 1:
            rule = f"one of 0 .. {self._offsets.size - 2}" if self._offsets.size > 2 else "0, the only one"
            raise InvalidInputError(f"{name} must be {rule}; got {s}.")
        return s

    def summary(self) -> Any:
        """Return a summary of the agent's own choices so far; ``simulate`` keeps it in ``Run.summary``."""
        return None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a snapshot; ``driftmdp.agents.load(path)`` continues exactly where this agent is."""
        snapshot.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the agent of a snapshot, which must be of this class."""
        agent = snapshot.load(path)
        if not isinstance(agent, cls):
            raise InvalidInputError(f"{path} must hold an agent of class {cls.__name__}; it holds {agent.name}.")
        return agent

    def copy(self) -> Self:
        """Return a new agent with the same parameters, which has learned nothing."""
        return self._fresh_copy(None)

    def _fresh_copy(self, rng: np.random.Generator | None) -> Self:
        fresh = object.__new__(type(self))  # parameters are never changed, and reset makes everything else again
        vars(fresh).update(vars(self), lock=AgentLock())
        fresh.reset(rng)
        return fresh

    def _generator(self, rng: np.random.Generator | None) -> np.random.Generator:
        return np.random.default_rng(self.seed) if rng is None else rng


class ResumableAgent(BuiltinAgent):
    """An agent whose compiled run can stop after any row of its record and go on."""

    @abstractmethod
    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        """Play the rows ``first .. last - 1`` of a record in compiled code."""

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record."""
        self._play_rows(context, 0, context.record.actions.size)
