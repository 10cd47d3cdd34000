"""RestartQ-UCB [MZZSB22]: optimistic Q-learning in short episodes that restarts, here along one stream of steps.

for epoch d = 1, 2, ..., of K episodes of H steps each
    every Q_h(s, a) is the largest possible, H - h + 1,
    in step h of an episode take the action with the largest Q_h(s, a),
    at the end of a stage of visits, Q_h(s, a) = min(Q_h, mean of r + V_{h+1}(s') over the stage + bonus).

Departs from [MZZSB22] Algorithm 1: an episode begins where the last one ended, since an average-reward world has no
first state to return to.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from driftmdp import kernels
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.plan_explanation import Reasons, tried
from driftmdp.agents.reward_range import Range, required_range, span_of, unit_variation
from driftmdp.agents.snapshot_checks import LATEST, monitor_array, require, restore_monitor
from driftmdp.display import brief, counted
from driftmdp.kernels.restart_q_arrays import CELL, RestartQParams, new_restart_q
from driftmdp.mdp import Problem, Space
from driftmdp.mdp.space import as_space
from driftmdp.npz import Arrays
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number

LEAST_DELTA = 1e-300


@dataclass(frozen=True)
class RestartQSummary:
    """How a run of RestartQ was cut, and how often it learned.

    Attributes
    ----------
    episode
        H, steps per episode.
    restart_every
        K, episodes per epoch.
    restarts
        The times of the first step after each restart so far.
    updates
        How many stages ended, each with a new value.
    """

    episode: int
    restart_every: int
    restarts: tuple[int, ...]
    updates: int

    __repr__ = brief


@dataclass(frozen=True)
class RestartQReason:
    """The agent's estimates of one action for the step that comes next.

    Attributes
    ----------
    action
        Its number in the state.
    value
        Q_h, the bound by which actions are chosen: rewards until the end of the episode, in units of the reward
        range.
    count
        How often it was tried in this state and at this step of an episode since the last restart.
    missing
        How many more such visits end its stage, and so may lower the bound.
    """

    action: int
    value: float
    count: int
    missing: int

    def __str__(self) -> str:
        seen, more = f"{tried(self.count)} at this step of an episode", counted(self.missing, "more visit")
        return f"action {self.action}: at most {self.value:.4g}, {seen}, learns after {more}"


class RestartQ(ResumableAgent):
    """RestartQ-UCB of Mao, Zhang, Zhu, Simchi-Levi and Basar [MZZSB22], with Hoeffding bonuses.

    The stream of steps is cut into episodes of ``episode`` steps. The Freedman bonuses of the paper need
    c S A H^6 ln(2/delta) visits before they apply, more than any horizon here has.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    episode
        H, steps per episode. By default ceil((T / SA)^(1/9)), at least 2, and 1 for one state.
    restart_every
        K, episodes between restarts. By default that of the paper for a variation of 1, which ``for_problem``
        replaces by the problem's.
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the rewards.
    scale
        A factor on every bonus. 1 is theory. The authors' own experiments have 0.05 and no logarithm.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> agent = dm.agents.RestartQ.for_problem(problem, scale=0.05)
    >>> agent.episode, agent.restart_every
    (3, 11)
    >>> dm.simulate(agent, problem, seed=7).summary.restarts[:3]
    (34, 67, 100)
    """

    horizon: int
    reward_range: Range

    def __init__(
        self,
        space: Space,
        horizon: int,
        episode: int | None = None,
        restart_every: int | None = None,
        delta: float | None = None,
        reward_range: Range = (0.0, 1.0),
        scale: float = 1.0,
        seed: int | None = None,
    ) -> None:
        super().__init__(space, as_integer(horizon, "horizon", minimum=1), seed)
        self.reward_range = required_range(reward_range)
        self.delta = delta if delta is None else as_number(delta, "delta", LEAST_DELTA, 1.0)
        self.scale = as_number(scale, "scale", 0.0)
        length = usual_episode(self.space, self.horizon) if episode is None else episode
        self.episode = as_integer(length, "episode", 1, self.horizon)
        every = (
            tuned_restarts(self.space, self.horizon, self.episode, 1.0) if restart_every is None else restart_every
        )
        self.restart_every = as_integer(every, "restart_every", 1, self.horizon)
        cells = self.episode * self.space.n_pairs
        require_memory(cells * (CELL.itemsize + 8), f"RestartQ with {self.episode:,} values for every pair")
        iota = math.log(2.0 / (1.0 / self.horizon if self.delta is None else self.delta))
        bottom, span = self.reward_range[0], span_of(self.reward_range)
        # As whole numbers of Python: the product may be larger than those of compiled code.
        epoch = min(self.episode * self.restart_every, self.horizon)
        self._params = RestartQParams(self.episode, epoch, self.horizon, iota, self.scale, bottom, span)
        self.reset()

    @classmethod
    def for_problem(cls, problem: Problem, budgets: str = "exact", **parameters: Any) -> Self:
        """Return an agent for a problem. ``restart_every`` follows from the problem's variation.

        Parameters
        ----------
        problem
            Its space, horizon, reward range and variation are used.
        budgets
            Which B_r and B_p: ``"exact"``, or others that the problem states.
        **parameters
            Other parameters of the agent.

        Examples
        --------
        >>> import driftmdp as dm
        >>> problem = dm.problems.two_state(horizon=5000)
        >>> dm.agents.RestartQ.for_problem(problem, episode=5).restart_every
        7
        """
        checked_problem(problem)
        if parameters.get("restart_every") is None:
            unset = {name: value for name, value in parameters.items() if name != "restart_every"}
            agent = super().for_problem(problem, **unset)
            b_r = unit_variation(problem, agent.reward_range, budgets)
            variation = b_r + problem.budget(budgets)[1]
            every = tuned_restarts(agent.space, agent.horizon, agent.episode, variation)
            parameters = parameters | {"restart_every": every}
        return super().for_problem(problem, **parameters)

    # the protocol ------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch."""
        super().reset(rng)
        self._arrays = new_restart_q(self._params, self._offsets)
        kernels.restart_q.begin_epoch(self._arrays)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._arrays.clock[0])

    def _decide(self, state: int) -> int:
        return int(kernels.restart_q.choose(self._arrays, state))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        kernels.restart_q.learn(self._arrays, (state, int(self._offsets[state]) + action, reward, next_state))
        self._range_monitor.check_reward(reward, self.reward_range, f"{self.name} caps its values there")

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        kernels.restart_q.play(context.inputs, self._arrays, context.record, first, last)

    def explain(self, state: int) -> tuple[RestartQReason, ...]:
        """Return Q_h and visits of every action in a state, for the step that comes next, to be printed.

        Examples
        --------
        >>> import driftmdp as dm
        >>> print(dm.agents.RestartQ(dm.Space.uniform(2, 1), horizon=1000, episode=4).explain(0))
        action 0: at most 4, never tried at this step of an episode, learns after 4 more visits
        """
        s, first = self._state(state, "state"), (self.t - 1) % self.episode * self.space.n_pairs
        cells = self._arrays.cells[first + int(self._offsets[s]) : first + int(self._offsets[s + 1])]
        columns = cells["q"], cells["visits"], cells["stage"] - cells["stage_visits"]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return Reasons(RestartQReason(action, *row) for action, row in enumerate(rows))

    def summary(self) -> RestartQSummary:
        """Return how the run was cut, and how often values were updated."""
        epoch = self.episode * self.restart_every
        restarts = tuple(range(1 + epoch, min(self.t, self.horizon) + 1, epoch))
        return RestartQSummary(self.episode, self.restart_every, restarts, int(self._arrays.clock[1]))

    # snapshots ---------------------------------------------------------------------------------------

    def _state_arrays(self) -> Arrays:
        learned = {"cells": self._arrays.cells, "values": self._arrays.values, "clock": self._arrays.clock}
        return learned | {"rewards": monitor_array(self._range_monitor)}

    def _restore(self, arrays: Arrays) -> None:
        cells, values, clock = arrays["cells"], arrays["values"], arrays["clock"]
        for name, found in (("cells", cells), ("values", values), ("clock", clock)):
            new = getattr(self._arrays, name)
            fits = found.shape == new.shape and found.dtype.newbyteorder("=") == new.dtype
            require(fits, f"{name} have the wrong type")
        finite = np.isfinite(values).all() and all(np.isfinite(cells[name]).all() for name in CELL.names or ())
        require(bool(finite), "a value is not finite")
        require(bool((values[-1] == 0.0).all()), "the last values are not 0")
        within = (cells["stage_visits"] >= 0) & (cells["stage_visits"] < cells["stage"])
        require(bool((within & (cells["stage_visits"] <= cells["visits"])).all()), "a stage is wrong")
        require(bool(1 <= clock[0] < LATEST and 0 <= clock[1] < clock[0]), "time is wrong")
        self._arrays.cells[:], self._arrays.values[:], self._arrays.clock[:] = cells, values, clock
        restore_monitor(self._range_monitor, self.t, arrays)


def usual_episode(space: Space, horizon: int) -> int:
    """Return H = ceil((T / SA)^(1/9)), at least 2, at most T, and 1 for one state.

    It balances H^2 (SA)^(1/3) T^(2/3), the bound of [MZZSB22] Theorem 2 along one stream, with the T / H cuts.
    """
    if as_space(space).n_states == 1:
        return 1
    root = float((horizon / space.n_pairs) ** (1 / 9))
    return min(horizon, max(2, math.ceil(root)))


def tuned_restarts(space: Space, horizon: int, episode: int, variation: float) -> int:
    """Return K = ceil(M / D) for D = (SA)^(-1/3) Delta^(2/3) H^(-2/3) T^(1/3) epochs [MZZSB22].

    Delta sums changes from one episode to the next over all steps of an episode: along one stream that is at most
    H times ``variation``, B_r + B_p.
    """
    episodes = math.ceil(horizon / episode)
    epochs = math.cbrt(variation * variation * horizon / space.n_pairs)
    return episodes if epochs <= 1.0 else max(1, math.ceil(episodes / epochs))
