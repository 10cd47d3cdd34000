"""The common base class of posterior sampling: a memory, a prior, a schedule, and a planner for drawn models.

The step is compiled and is the same whether it is taken live (``act``, ``observe``) or T times in a row
(``simulate``).
"""

from dataclasses import dataclass

import numpy as np

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.model_based import EpisodicAgent
from driftmdp.agents.plan_explanation import Plan
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.agents.snapshot_checks import require, restored_bits
from driftmdp.formulas import tuned
from driftmdp.kernels.arrays import enlarge_counts, new_counts
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.kernels.plan_arrays import new_plan_state
from driftmdp.kernels.posterior_arrays import PosteriorArrays, PosteriorParams, new_sampled_model
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.npz import Arrays
from driftmdp.validation import as_integer, as_number

TOLERANCE = 1e-3  # of the gain of a sampled model, in units of the reward range
LEAST_PRIOR = 0.05  # of all next states together: below, nearly all draws would be beyond double precision
LARGEST_PRIOR = 1e6
FIRST_SUCCESSORS = 64  # of a pair in a sampled model, that there is space for at first


@dataclass(frozen=True)
class SamplingSummary:
    """How many models an agent sampled, and how well it solved them.

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


class PosteriorSampler(EpisodicAgent):
    """The base class of this family. A subclass gives the memory and the schedule."""

    reward_range: Range
    can_be_watched = True
    _params: PosteriorParams

    def __init__(
        self,
        space: Space,
        horizon: int | None,
        reward_range: Range,
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
        self._params = PosteriorParams(weight, float(discount), every, TOLERANCE, bottom, span)
        self._window = window
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. Models are drawn from ``rng``, by default from ``seed``."""
        super().reset(rng)
        n_states, n_pairs = self.space.n_states, self.space.n_pairs
        self._memory = new_counts(n_pairs, self._window)
        self._plan_state = new_plan_state(n_states, n_pairs, 0)
        self._faded = np.zeros(n_pairs, np.int64)
        self._draws = self._generator(rng).integers(0, 2**64, 4, dtype=np.uint64)
        n_stored = min(n_states, FIRST_SUCCESSORS) * n_pairs + n_states
        self._sample = new_sampled_model(self._offsets, n_stored)

    @property
    def _arrays(self) -> PosteriorArrays:
        """Everything that the kernels need."""
        state = self._plan_state, self._faded, self._draws
        return PosteriorArrays(self._params, self._memory, *state, self._sample)

    def _should_replan(self, state: int) -> bool:
        return bool(kernels.optimist.should_end_episode(self._params.every, self._offsets, self._plan_state, state))

    def _remember(self, state: int, pair: int, reward: float, next_state: int) -> None:
        kernels.posterior.learn(self._arrays, (state, pair, reward, next_state))
        effect = f"{self.name} clips them and cannot tell them apart"
        self._range_monitor.check_reward(reward, self.reward_range, effect)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        return kernels.posterior.play(context.inputs, self._arrays, context.record, first, last, watch)

    def _try_plan(self) -> int:
        return kernels.posterior.plan(self._arrays)

    def _continue(self, status: int) -> None:
        if status == kernels.bellman.BUFFER_FULL:
            self._sample = new_sampled_model(self._offsets, 2 * self._sample.model.data.size)
        else:
            self._enlarge()

    def _enlarge(self) -> None:
        self._memory = enlarge_counts(self._memory)

    def _last_plan(self) -> Plan:
        plan, span = self._plan_state.in_force[0], self._params.span
        residual, gain = float(plan["residual"]), self._params.bottom + span * float(plan["gain"])
        method = "sampled" if residual <= self._params.tolerance else "sampled, best policy found"
        return Plan(int(plan["t"]), gain, span * residual, int(plan["sweeps"]), False, method)

    def summary(self) -> SamplingSummary:
        """Return how many models were drawn, and how well they were solved."""
        span, worst = self._params.span, float(self._plan_state.clock["worst_residual"][0])
        return SamplingSummary(self.n_plans, self._params.prior, span * self._params.tolerance, span * worst)

    def _state_arrays(self) -> Arrays:
        return super()._state_arrays() | {"faded": self._faded, "luck": self._draws}

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        require(self._memory.tally["window"][0] == self._window, "the window is wrong")
        faded, draws = arrays["faded"], restored_bits(arrays["luck"])
        require(faded.shape == self._faded.shape and faded.dtype.kind == "i", "the time of a pair is wrong")
        require(bool(((faded >= 0) & (faded < self.t)).all()), "the time of a pair is wrong")
        require(bool(np.isfinite(self._plan_state.bias).all()), "the bias is not finite")
        self._faded, self._draws = faded.astype(np.int64), draws


def usual_window(space: Space, horizon: int) -> int:
    """Return [CSZ20]'s window for unknown variation, S^(2/3) A^(1/2) T^(1/2), rounded down and at most T."""
    return tuned(as_space(space), as_integer(horizon, "horizon", minimum=1), 0.0, 0.0, "oblivious").window
