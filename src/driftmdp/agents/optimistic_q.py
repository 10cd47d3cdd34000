"""Optimistic Q-learning for average reward [WJLSJ20]: no model, a discount instead of the average, and a bonus.

Q = Q^ = V^ = H everywhere. Each step, in state s
    a = argmax Q^(s, a), which gives r and leads to s',
    n = n(s, a) + 1, and with the rate (H + 1) / (H + n)
    move Q(s, a) towards r + gamma V^(s') + 4 sp sqrt(H ln(2 T / delta) / n),
    Q^(s, a) = min(Q^(s, a), Q(s, a)),  V^(s) = max_a Q^(s, a).

H = min(sqrt(sp T / SA), (T / (SA ln(4 T / delta)))^(1/3)) and gamma = 1 - 1/H: values of that discount are near
enough to the average reward, and still learned in T steps. sp is the span of the optimal bias, which must be given.

The updates were read in the authors' code, H and the bonus in another public implementation. The text of
Algorithm 1 was not available.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.plan_explanation import Reasons, tried
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.agents.snapshot_checks import monitor_array, numbers, require, restore_monitor
from driftmdp.agents.step_counter import StepCountingAgent
from driftmdp.agents.watchable import WatchableAgent
from driftmdp.errors import InvalidInputError
from driftmdp.formulas.radii import checked_delta
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.validation import as_integer, as_number

LEAST_HORIZON = 2.0  # H, so that the discount is at least 1/2 however short a run is
LARGEST_DISCOUNT = 1.0 - 1e-9
LARGEST_SPAN = 1e9  # and scale: bonuses stay far from overflow


@dataclass(frozen=True)
class QReason:
    """The agent's estimates of one action, in units of the reward range.

    Attributes
    ----------
    action
        Its number in the state.
    value
        Q^, the bound by which actions are chosen: discounted rewards from here on, at most H.
    estimate
        Q, of which Q^ is the least so far.
    bonus
        What its last visit added for being rare. Infinite if it was never tried.
    count
        How often it was tried.
    """

    action: int
    value: float
    estimate: float
    bonus: float
    count: int

    def __str__(self) -> str:
        bonus = f", the last time with a bonus of {self.bonus:.4g}" if self.count else ""
        return f"action {self.action}: at most {self.value:.4g}, {tried(self.count)}{bonus}"


@dataclass(frozen=True)
class QSummary:
    """The constants of an agent, and how far it has come.

    Attributes
    ----------
    effective_horizon, discount
        H and gamma.
    bonus
        That of a first visit.
    settled_pairs
        How many pairs have a Q^ below H, where all begin: on the others it knows nothing yet.
    """

    effective_horizon: float
    discount: float
    bonus: float
    settled_pairs: int


class OptimisticQ(StepCountingAgent, WatchableAgent):
    """Model-free learning with optimism: a table of Q, and no more.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T: number of steps.
    span
        sp(v*), the span of the optimal bias in units of the reward range. The theory needs it, or a bound on it.
        1 is a choice of ours.
    delta
        Probability that a bonus is too small. By default 1/T.
    scale
        A factor on every bonus. 1 is theory.
    discount
        gamma, with H = 1 / (1 - gamma). By default 1 - 1/H with H of the theory, at least 2.
    reward_range
        Bounds (lo, hi) on the rewards. They are mapped to [0, 1] by it and clipped.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.garnet(n_states=5, drift="stationary", noise="bernoulli", horizon=5000)
    >>> agent = dm.agents.OptimisticQ.for_problem(problem, scale=0.01)
    >>> dm.simulate(agent, problem, seed=7).summary
    QSummary(effective_horizon=..., discount=..., bonus=..., settled_pairs=...)
    """

    can_be_watched = True
    horizon: int
    reward_range: Range

    def __init__(
        self,
        space: Space,
        horizon: int,
        span: float = 1.0,
        delta: float | None = None,
        scale: float = 1.0,
        discount: float | None = None,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(space, as_integer(horizon, "horizon", minimum=1), seed)
        self.span = as_number(span, "span", 0.0, LARGEST_SPAN)
        self.scale = as_number(scale, "scale", 0.0, LARGEST_SPAN)
        self.delta = None if delta is None else checked_delta(delta, horizon)
        self.discount = None if discount is None else _checked_discount(discount)
        self.reward_range = required_range(reward_range)
        self.reset()

    @property
    def effective_horizon(self) -> float:
        """H: how many steps the discount looks ahead."""
        if self.discount is not None:
            return 1.0 / (1.0 - self.discount)
        horizon, n_pairs = float(self.horizon), self.space.n_pairs
        by_span = sqrt(self.span * horizon / n_pairs)
        by_noise: float = (horizon / (n_pairs * self._log(4.0))) ** (1.0 / 3.0)
        return max(LEAST_HORIZON, min(by_span, by_noise))

    def _log(self, factor: float) -> float:
        """Return ln(factor T / delta)."""
        log_horizon = log(self.horizon)
        return log(factor) + log_horizon + (log_horizon if self.delta is None else -log(self.delta))

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. This agent draws nothing."""
        super().reset(rng)
        looks_ahead, bottom, unit = self.effective_horizon, self.reward_range[0], span_of(self.reward_range)
        bonus = self.scale * 4.0 * self.span * sqrt(looks_ahead * self._log(2.0))
        self._params = kernels.optimistic_q.QParams(looks_ahead, 1.0 - 1.0 / looks_ahead, bonus, bottom, unit)
        self._tables = kernels.optimistic_q.new_tables(self._offsets, looks_ahead)

    def _decide(self, state: int) -> int:
        return int(kernels.optimistic_q.choose(self._tables, state))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        pair = int(self._offsets[state]) + action
        kernels.optimistic_q.learn(self._params, self._tables, (state, pair, reward, next_state))
        super()._learn(state, action, reward, next_state)
        effect = f"{self.name} clips them and cannot tell them apart"
        self._range_monitor.check_reward(reward, self.reward_range, effect)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        rows = context.record, first, last
        reached, status = kernels.optimistic_q.play(context.inputs, self._params, self._tables, *rows, watch)
        self._t += reached - first
        return reached, status

    def counts(self) -> NDArray[np.float64]:
        """Return how often each pair was tried, shape (n_pairs,)."""
        return self._tables.visits.astype(np.float64)

    def summary(self) -> QSummary:
        """Return the constants, and how many pairs have a Q^ below its start."""
        params = self._params
        settled = int(np.count_nonzero(self._tables.bounds < params.horizon))
        return QSummary(params.horizon, params.discount, params.bonus, settled)

    def explain(self, state: int) -> tuple[QReason, ...]:
        """Return Q, visits and bonus of every action in a state, in units of the reward range, to be printed.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.OptimisticQ(dm.Space.uniform(2, 2), horizon=100, discount=0.5)
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> agent.explain(0)[1]
        QReason(action=1, value=2.0, estimate=2.0, bonus=inf, count=0)
        """
        s, tables = self._state(state, "state"), self._tables
        here = slice(int(self._offsets[s]), int(self._offsets[s + 1]))
        counts = tables.visits[here]
        bonuses = np.where(counts > 0, self._params.bonus / np.sqrt(np.maximum(counts, 1)), np.inf)
        columns = tables.bounds[here], tables.values[here], bonuses, counts
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return Reasons(QReason(action, *row) for action, row in enumerate(rows))

    def _state_arrays(self) -> Arrays:
        tables = self._tables
        rewards = monitor_array(self._range_monitor)
        learned = {"values": tables.values, "bounds": tables.bounds, "visits": tables.visits, "rewards": rewards}
        return super()._state_arrays() | learned

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        tables, visits = self._tables, arrays["visits"]
        for name in ("values", "bounds"):
            stored = numbers(arrays, name)
            require(stored.shape == tables.values.shape, f"{name} has the wrong shape")
            getattr(tables, name)[:] = stored
        require(bool((tables.bounds <= self._params.horizon).all()), "a bound is wrong")
        require(visits.shape == tables.visits.shape and visits.dtype.kind == "i", "the visits are wrong")
        require(bool((visits >= 0).all()) and int(visits.sum()) == self.t - 1, "the visits are wrong")
        tables.visits[:] = visits
        tables.best[:] = np.maximum.reduceat(tables.bounds, self._offsets[:-1])
        restore_monitor(self._range_monitor, self.t, arrays)


def _checked_discount(discount: float) -> float:
    value = as_number(discount, "discount", 0.0)
    if value > LARGEST_DISCOUNT:
        raise InvalidInputError(f"discount must be below 1, at most 1 - 1e-9; got {discount!r}.")
    return value
