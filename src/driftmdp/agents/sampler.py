"""The engine of posterior sampling: a memory, a prior and a schedule; the planner solves a drawn model.

The step is compiled and is the same whether it is taken live (``act``, ``observe``) or T times in a row
(``simulate``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.lock import locked
from driftmdp.agents.plan_explanation import Plan
from driftmdp.agents.reward_range import required_range, span_of
from driftmdp.agents.snapshot_checks import memory_arrays, restored_memory, restored_mind
from driftmdp.errors import InvalidInputError
from driftmdp.formulas import tuned
from driftmdp.kernels.arrays import enlarge_counts, mean_rewards_by_pair, new_counts, visits_by_pair
from driftmdp.kernels.plan_arrays import PosteriorParams, new_plan_state, new_sampled_model
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_integer, as_number

TOLERANCE = 1e-3  # of the gain of a sampled model, in units of the reward range
LEAST_PRIOR = 0.05  # of all next states together: below, nearly all draws would be beyond double precision
LARGEST_PRIOR = 1e6
SUCCESSORS = 64  # of a pair in a sampled model, for which there is room at first


@dataclass(frozen=True)
class SamplingSummary:
    """What an agent that samples its model has to say of its plans.

    Attributes
    ----------
    plans
        How many models were drawn and solved.
    prior
        The Dirichlet weight of each next state.
    tolerance
        The residual that a plan should have, in units of the rewards.
    residual
        The largest that one had. Above the tolerance, the best policy found in a bounded time was used.
    """

    plans: int
    prior: float
    tolerance: float
    residual: float


class Sampler(ResumableAgent):
    """What the agents of this family share; a subclass gives the memory and the schedule."""

    reward_range: tuple[float, float]

    def __init__(
        self,
        space: Space,
        horizon: int | None,
        reward_range: tuple[float, float],
        prior: float | None,
        seed: int | None,
        window: int = 0,
        discount: float = 1.0,
        every: int = 0,
    ) -> None:
        super().__init__(space, horizon, seed)
        self.reward_range, n = required_range(reward_range), self.space.n_states
        self.prior = prior if prior is None else as_number(prior, "prior", LEAST_PRIOR / n, LARGEST_PRIOR)
        weight = 1.0 / n if self.prior is None else self.prior
        bottom, span = self.reward_range[0], span_of(self.reward_range)
        self._law = PosteriorParams(weight, float(discount), every, TOLERANCE, bottom, span)
        self._window = window
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and begin anew; models are drawn from ``rng``, by default from ``seed``."""
        super().reset(rng)
        n_states, n_pairs = self.space.n_states, self.space.n_pairs
        self._known = new_counts(n_pairs, self._window)
        self._plan_state = new_plan_state(n_states, n_pairs, 0)
        self._faded = np.zeros(n_pairs, np.int64)
        self._draws = self._generator(rng).integers(0, 2**64, 4, dtype=np.uint64)
        self._sample = new_sampled_model(self._offsets, min(n_states, SUCCESSORS) * n_pairs + n_states)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._plan_state.clock["t"][0])

    def _decide(self, state: int) -> int:
        if kernels.optimist.should_end_episode(self._law.every, self._offsets, self._plan_state, state):
            self._plan()
        return int(self._plan_state.policy[state])

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        if not kernels.transition_counts.has_space(self._known):
            self._known = enlarge_counts(self._known)
        pair = int(self._offsets[state]) + action
        kernels.posterior.learn(
            self._law, self._known, self._plan_state, self._faded, state, pair, reward, next_state
        )
        self._doubt_the_mean(reward, f"{self.name} clips them and cannot tell them apart")

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        step = first
        while step < last:
            step, _ = kernels.posterior.play(
                context.world,
                context.draws,
                context.noise,
                self._law,
                self._known,
                self._plan_state,
                self._faded,
                self._draws,
                self._sample,
                context.record,
                step,
                last,
            )
            if step < last:
                self._make_room()

    def plan(self) -> Plan:
        """Draw and solve a model now, whether it is time or not; a new episode begins."""
        self._plan()
        return self.last_plan

    def _plan(self) -> None:
        while kernels.posterior.plan(
            self._law, self._known, self._plan_state, self._faded, self._draws, self._sample
        ):
            self._make_room()

    def _make_room(self) -> None:
        if kernels.transition_counts.has_space(self._known):
            self._sample = new_sampled_model(self._offsets, 2 * self._sample.model.data.size)
        else:
            self._known = enlarge_counts(self._known)

    @property
    @locked
    def last_plan(self) -> Plan:
        """The facts of the last plan; ``gain`` is that of the model drawn."""
        clock = self._plan_state.clock[0]
        if clock["episode"] == 0:
            raise InvalidInputError("There is no plan yet; call act(state) first.")
        span, residual = self._law.span, float(clock["residual"])
        method = "sampled" if residual <= self._law.tolerance else "sampled, best policy found"
        gain = self._law.bottom + span * float(clock["gain"])
        return Plan(int(clock["planned"]), gain, span * residual, int(clock["sweeps"]), False, method)

    @property
    def n_plans(self) -> int:
        """How many models were drawn."""
        return int(self._plan_state.clock["episode"][0])

    def summary(self) -> SamplingSummary:
        """Return how many models were drawn, and how well they were solved."""
        span, worst = self._law.span, float(self._plan_state.clock["tried_residual"][0])
        return SamplingSummary(self.n_plans, self._law.prior, span * self._law.tolerance, span * worst)

    def counts(self) -> NDArray[np.float64]:
        """Return how many remembered steps each pair has, as of its last visit or plan; shape (n_pairs,)."""
        return visits_by_pair(self._known)

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the mean clipped reward of every pair, NaN where nothing is remembered, shape (n_pairs,)."""
        return self._law.bottom + self._law.span * mean_rewards_by_pair(self._known)

    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        plan_state = self._plan_state
        return memory_arrays(self._known) | {
            "clock": plan_state.clock,
            "visits": plan_state.visits,
            "policy": plan_state.policy,
            "bias": plan_state.bias,
            "touched": plan_state.touched[:0],
            "reasons": plan_state.reasons[:0],
            "faded": self._faded,
            "luck": self._draws,
        }

    def _restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._known = restored_memory(self.space, self._known, arrays)
        if self._known.tally["window"][0] != self._window:
            raise ValueError("the window is wrong")
        self._plan_state = restored_mind(self.space, self._plan_state, self._known, arrays)
        faded, draws = arrays["faded"], arrays["luck"]
        whole = faded.shape == self._faded.shape and faded.dtype.kind == "i"
        if not whole or not ((faded >= 0) & (faded < self.t)).all():
            raise ValueError("the time of a pair is wrong")
        if draws.shape != (4,) or draws.dtype.kind != "u" or not draws.any():
            raise ValueError("the generator is wrong")
        if not np.isfinite(self._plan_state.bias).all():
            raise ValueError("the bias is not finite")
        self._faded, self._draws = faded.astype(np.int64), draws.astype(np.uint64)


def usual_window(space: Space, horizon: int) -> int:
    """Return [CSZ20]'s window for unknown variation, S^(2/3) A^(1/2) T^(1/2), rounded down and at most T."""
    return tuned(as_space(space), as_integer(horizon, "horizon", minimum=1), 0.0, 0.0, "oblivious").window
