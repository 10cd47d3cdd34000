"""Base classes of agents that count transitions and plan from the counts."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import locked
from driftmdp.agents.plan_explanation import Plan
from driftmdp.agents.snapshot_checks import WHOLE_PLAN_ARRAYS, memory_arrays, restored_memory, restored_plan_state
from driftmdp.agents.watchable import WatchableAgent
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import TransitionCounts, mean_rewards_by_pair, visits_by_pair
from driftmdp.kernels.plan_arrays import OptimistParams, PlanState
from driftmdp.kernels.posterior_arrays import PosteriorParams
from driftmdp.npz import Arrays
from driftmdp.validation import as_integer


class ModelBasedAgent(WatchableAgent):
    """An agent that counts transitions in ``_memory`` and plans from them."""

    _memory: TransitionCounts

    @property
    @abstractmethod
    def n_plans(self) -> int:
        """How many plans were made."""

    @property
    @locked
    def last_plan(self) -> Plan:
        """The facts of the last plan."""
        if self.n_plans == 0:
            raise InvalidInputError("There is no plan yet; call act(state) first.")
        return self._last_plan()

    @abstractmethod
    def _last_plan(self) -> Plan:
        """Return the facts of the last plan, which exists."""

    def counts(self) -> NDArray[np.float64]:
        """Return how many remembered steps each pair has, shape (n_pairs,)."""
        return visits_by_pair(self._memory)

    def _continue(self, status: int) -> None:
        """Do what compiled code asks for by its status: by default, make the counts larger."""
        self._enlarge()

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        if not kernels.transition_counts.has_space(self._memory):
            self._enlarge()
        self._remember(state, int(self._offsets[state]) + action, reward, next_state)

    @abstractmethod
    def _remember(self, state: int, pair: int, reward: float, next_state: int) -> None:
        """Count a step; there is space for it."""

    @abstractmethod
    def _enlarge(self) -> None:
        """Make space for more pairs and next states."""


class EpisodicAgent(ModelBasedAgent):
    """An agent that plans at the start of each episode and follows ``_plan_state.policy`` until its end."""

    _params: OptimistParams | PosteriorParams
    _plan_state: PlanState

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._plan_state.clock["t"][0])

    @property
    def n_plans(self) -> int:
        """How many plans were made."""
        return int(self._plan_state.clock["episode"][0])

    def plan(self) -> Plan:
        """Plan now, whether it is time or not, and return the facts of the plan; a new episode begins."""
        self._plan()
        return self.last_plan

    @abstractmethod
    def _should_replan(self, state: int) -> bool:
        """Return whether the schedule asks for a plan before the next action."""

    def _plan(self) -> None:
        """Plan from what is remembered."""
        while (status := self._try_plan()) != kernels.bellman.CONVERGED:
            self._continue(status)

    @abstractmethod
    def _try_plan(self) -> int:
        """Plan in compiled code. Return a status, which ``_continue`` knows what to do about."""

    def forget_pair(self, pair: int) -> None:
        """Forget everything about a pair, and plan again before the next action."""
        found = as_integer(pair, "pair", 0, self.space.n_pairs - 1)
        kernels.transition_counts.forget_pair(self._memory, found)
        self._plan_state.clock["tau"] = 0

    def _decide(self, state: int) -> int:
        if self._should_replan(state):
            self._plan()
        return int(self._plan_state.policy[state])

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the mean remembered reward of every pair, NaN where nothing is remembered, shape (n_pairs,)."""
        return self._params.bottom + self._params.span * mean_rewards_by_pair(self._memory)

    def _state_arrays(self) -> Arrays:
        arrays, clock = memory_arrays(self._memory), self._plan_state.clock[0]
        for name in WHOLE_PLAN_ARRAYS:
            arrays[name] = getattr(self._plan_state, name)
        for name in ("touched", "reasons"):
            arrays[name] = getattr(self._plan_state, name)[: int(clock[f"n_{name}"])]
        return arrays

    def _restore(self, arrays: Arrays) -> None:
        self._memory = restored_memory(self.space, self._memory, arrays)
        self._plan_state = restored_plan_state(self.space, self._plan_state, self._memory, arrays)
