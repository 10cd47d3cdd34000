"""The engine of the optimists: a memory, a confidence, a planner and a schedule, and one step for all of them.

The step is compiled and is the same whether it is taken live (``act``, ``observe``) or T times in a row
(``simulate``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.composition import phases_of, rules_of
from driftmdp.agents.lock import locked
from driftmdp.agents.parts import Confidence, Doubling, Everything, Memory, SinceRestart, SlidingWindow
from driftmdp.agents.plan_explanation import ActionReason, Beliefs, Explanation, Plan
from driftmdp.agents.reward_range import checked_range
from driftmdp.agents.snapshot_checks import memory_arrays, restored_memory, restored_mind
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.kernels.arrays import enlarge_counts, mean_rewards_by_pair, new_counts, visits_by_pair
from driftmdp.kernels.plan_arrays import enlarge_plan_state, new_agent_workspace, new_plan_state
from driftmdp.mdp import Space
from driftmdp.planning.optimistic import finish_sparsely
from driftmdp.validation import as_integer, one_of

TIE = 1e-9  # of the planner, in units of the reward range
PLANNERS = ("paper", "fast")
TIES = ("least-visited", "first")
BY_DOUBLING = Doubling()
PLAN_FACTS = "gain", "residual", "sweeps", "is_vacuous", "accelerated"
TRIED_FACTS = "gain", "residual", "sweeps", "vacuous", "accelerated"


class Optimist(ResumableAgent):
    """Plan for the best world that what is remembered leaves plausible, and act on it until the next plan.

    The named agents are compositions of this class; use it directly to try other ones.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    memory
        ``Everything()``, ``SlidingWindow(W)`` or ``SinceRestart(starts, window=None)``.
    confidence
        ``PaperRadii``, ``JakschRadii``, ``VariationRadii`` or ``BernsteinRadii``, each with ``delta``, ``scale``
        and ``widening``.
    schedule
        When to plan again.
    reward_range
        Bounds (lo, hi) on the mean rewards: rewards are mapped to [0, 1] and optimistic ones capped at hi. None is
        the raw reading: no mapping, no cap.
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``, with warm starts and acceleration.
    ties
        Among actions within 1e-9 of the best, the ``"least-visited"`` in memory or the ``"first"``.
    seed
        Not used by optimists, which draw nothing; kept so that all agents are made alike.

    Examples
    --------
    >>> import driftmdp as dm
    >>> from driftmdp.agents import Doubling, JakschRadii, Optimist, SlidingWindow
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> agent = Optimist.for_problem(
    ...     problem, memory=SlidingWindow(100), confidence=JakschRadii(scale=0.1), schedule=Doubling(every=25)
    ... )
    >>> dm.simulate(agent, problem, seed=7).plans >= 40
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        memory: Memory,
        confidence: Confidence,
        schedule: Doubling = BY_DOUBLING,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        super().__init__(space, as_integer(horizon, "horizon", minimum=1), seed)
        if not isinstance(memory, (Everything, SlidingWindow, SinceRestart)):
            raise InvalidInputError(f"memory must be Everything, SlidingWindow or SinceRestart; got {memory!r}.")
        if not isinstance(confidence, Confidence):
            raise InvalidInputError(f"confidence must be one of the radii of driftmdp.agents; got {confidence!r}.")
        if not isinstance(schedule, Doubling):
            raise InvalidInputError(f"schedule must be Doubling; got {schedule!r}.")
        self.memory, self.confidence, self._schedule = memory, confidence, schedule
        self.reward_range = checked_range(reward_range)
        self.planner = one_of(planner, "planner", PLANNERS)
        self.ties = one_of(ties, "ties", TIES)
        self._rules, self._phases = rules_of(self), phases_of(self, schedule)
        self.reset()

    # the protocol ------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and begin anew."""
        super().reset(rng)
        windows = self._phases.window
        self._known = new_counts(self.space.n_pairs, int(windows[0]), steps=int(windows.max()))
        self._plan_state = new_plan_state(self.space.n_states, self.space.n_pairs, self._known.slots.size)
        self._workspace = new_agent_workspace(self.space.n_states, self._known, self._rules.bernstein == 1)

    @property
    def schedule(self) -> Doubling:
        """When it plans again."""
        return self._schedule

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._plan_state.clock["t"][0])

    def _decide(self, state: int) -> int:
        if kernels.optimist.should_replan(self._phases, self._offsets, self._plan_state, state):
            self._plan()
        return int(self._plan_state.policy[state])

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        if not kernels.transition_counts.has_space(self._known):
            self._enlarge()
        pair = int(self._offsets[state]) + action
        kernels.optimist.learn(
            self._rules, self._phases, self._known, self._plan_state, state, pair, reward, next_state
        )
        if self.reward_range is not None and not self.reward_range[0] <= reward <= self.reward_range[1]:
            self._doubt_the_range(state, action, pair)

    def _doubt_the_range(self, state: int, action: int, pair: int) -> None:
        """Doubt the range where a pair's rewards are far outside of it."""
        index = self._known.slot_of[pair]  # -1 right after a restart
        slot = self._known.slots[index]
        if index >= 0 and slot["count"] >= 20 and self.reward_range is not None:
            mean = self._rules.bottom + self._rules.span * slot["total"] / slot["count"]
            effect = f"optimistic rewards are capped there, so {self.name} cannot learn from it"
            what = f"reward of state {state}, action {action}"
            self._doubt("reward_range", self.reward_range, what, float(mean), effect)

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        step = first
        while step < last:
            step, status = kernels.optimist.play(
                context.world,
                context.draws,
                context.noise,
                self._rules,
                self._phases,
                self._known,
                self._plan_state,
                self._workspace,
                context.record,
                step,
                last,
                self._acceleration,
            )
            if step < last:
                self._help(status)

    # planning ----------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Plan now, whether it is time or not, and return the facts of the plan; a new episode begins."""
        self._plan()
        return self.last_plan

    @property
    @locked
    def last_plan(self) -> Plan:
        """The facts of the last plan."""
        clock = self._plan_state.clock[0]
        if clock["episode"] == 0:
            raise InvalidInputError("There is no plan yet; call act(state) first.")
        return self._facts(clock["planned"], *(clock[name] for name in PLAN_FACTS))

    def _facts(self, t: int, gain: float, residual: float, sweeps: int, vacuous: int, accelerated: int) -> Plan:
        bottom, span = self._rules.bottom, self._rules.span
        method = "fast" if self._rules.fast else "paper, then accelerated" if accelerated else "paper"
        return Plan(int(t), bottom + span * float(gain), span * float(residual), int(sweeps), bool(vacuous), method)

    @property
    def n_plans(self) -> int:
        """How many plans were made."""
        return int(self._plan_state.clock["episode"][0])

    @property
    def _acceleration(self) -> int | None:
        """What compiled code is told: None leaves acceleration out of it, until ``_help`` is asked for."""
        return 1 if self._rules.fast else None

    def _plan(self) -> None:
        status = -1
        while status != kernels.bellman.CONVERGED:
            status = kernels.optimist.plan(
                self._rules,
                self._phases,
                self._offsets,
                self._known,
                self._plan_state,
                self._workspace,
                self._acceleration,
            )
            if status == kernels.bellman.CONVERGED or self._help(status):
                return

    def _help(self, status: int) -> bool:
        """Do what compiled code could not; return whether a plan was finished."""
        if status == kernels.bellman.BUFFER_FULL:
            if kernels.transition_counts.has_space(self._known):
                self._enlarge_draft(2 * int(self._plan_state.clock["need"][0]))
            else:
                self._enlarge()
            return False
        workspace, clock = self._workspace, self._plan_state.clock[0]
        n = int(np.count_nonzero(workspace.local_of >= 0))
        n_local = min(n + 1, self.space.n_states)
        precision = 1.0 / np.sqrt(float(clock["t"] - clock["start"]))
        try:
            if status == kernels.bellman.TOO_SLOW:
                low, high, more, status = kernels.extended_value_iteration.accelerate(
                    workspace, n_local, precision, False
                )
                clock["tried_gain"], clock["tried_residual"] = high, high - low
                clock["tried_sweeps"] += more
                clock["tried_accelerated"] = True
            if status == kernels.bellman.OUT_OF_BUDGET:
                low, high, rounds = finish_sparsely(workspace, n_local, precision)
                clock["tried_gain"], clock["tried_residual"] = high, high - low
                clock["tried_sweeps"] += rounds
            if not 0 <= clock["tried_residual"] <= precision:
                raise self._not_converged(precision)
            widening = self._phases.transition_extra[clock["phase"]]
            kernels.optimist.commit_plan(
                self._rules, widening, self._offsets, self._known, self._plan_state, workspace, n, n_local
            )
            return True
        finally:
            kernels.optimist.release_states(n, workspace)

    def _not_converged(self, precision: float) -> NotConvergedError:
        clock = self._plan_state.clock[0]
        best = self._facts(clock["t"], *(clock[f"tried_{name}"] for name in TRIED_FACTS))
        return NotConvergedError(
            f"The plan of {self.name} at t={clock['t']} must be certain to {precision * self._rules.span:.3g}; got "
            f"{best.residual:.3g}. Either the plausible worlds do not communicate, or too rarely for double "
            "precision: "
            "use a larger scale or widening.",
            best,
        )

    def _enlarge(self) -> None:
        self._known = enlarge_counts(self._known)
        self._plan_state = enlarge_plan_state(self._plan_state, self._known.slots.size)
        self._enlarge_draft(0)

    def _enlarge_draft(self, stored: int) -> None:
        self._workspace = new_agent_workspace(self.space.n_states, self._known, self._rules.bernstein == 1, stored)

    # what it knows -----------------------------------------------------------------------------------

    def counts(self) -> NDArray[np.float64]:
        """Return how many remembered steps each pair has, N of [CSZ20] eq:N_sa, shape (n_pairs,)."""
        return visits_by_pair(self._known)

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return r^ of every pair, NaN where nothing is remembered, shape (n_pairs,)."""
        return self._rules.bottom + self._rules.span * mean_rewards_by_pair(self._known)

    def successor_counts(self) -> sp.csr_array:
        """Return how often each next state followed each pair, as CSR of shape (n_pairs, S)."""
        entries = self._known.entries[: int(self._known.tally["n_entries"][0])]
        entries = entries[entries["count"] > 0]
        shape = self.space.n_pairs, self.space.n_states
        return sp.csr_array((entries["count"], (entries["pair"], entries["next_state"])), shape=shape)

    def beliefs(self) -> Beliefs:
        """Return what the plan in force was made from, for every pair and state; rewards in units of the range.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.UCRL2(dm.Space.uniform(2, 2), horizon=100)
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> plan = agent.plan()
        >>> agent.beliefs().counts  # by pair: state 0's two actions, then state 1's
        array([1., 0., 0., 0.])
        """
        planned, clock, plan_state = self.last_plan.t, self._plan_state.clock[0], self._plan_state
        n = self.space.n_pairs
        counts, rewards, radii = np.zeros(n), np.full(n, float(clock["unseen"])), np.full(n, np.inf)
        reasons = plan_state.reasons[: int(clock["n_reasons"])]
        pairs = reasons["pair"]
        counts[pairs], rewards[pairs], radii[pairs] = reasons["count"], reasons["reward"], reasons["radius"]
        return Beliefs(
            planned_at=planned,
            gain=float(clock["gain"]),
            residual=float(clock["residual"]),
            counts=counts,
            rewards=rewards,
            radii=radii,
            bias=plan_state.bias.copy(),
            policy=plan_state.policy.copy(),
        )

    def explain(self, state: int) -> Explanation:
        """Say why the plan in force takes its action in ``state``.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.UCRL2(dm.Space.uniform(2, 2), horizon=100)
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> agent.act(1)
        0
        >>> print(agent.explain(0).actions[0])
        action 0: promises 1, not remembered
        """
        s = self._state(state, "state")
        plan, clock = self.last_plan, self._plan_state.clock[0]
        bottom, span = self._rules.bottom, self._rules.span
        first, last = int(self._offsets[s]), int(self._offsets[s + 1])
        reasons = self._plan_state.reasons[: int(clock["n_reasons"])]
        seen = reasons[(reasons["pair"] >= first) & (reasons["pair"] < last)]
        values = np.full(last - first, float(clock["unseen"] + clock["top"] - self._plan_state.bias[s]))
        rewards, counts = np.full(last - first, float(clock["unseen"])), np.zeros(last - first, int)
        radii, places = np.full(last - first, np.inf), seen["pair"] - first
        values[places], rewards[places] = seen["value"], seen["reward"]
        counts[places], radii[places] = seen["count"], seen["radius"]
        actions = tuple(
            ActionReason(
                action, bottom + span * float(value), bottom + span * float(reward), int(count), float(radius)
            )
            for action, (value, reward, count, radius) in enumerate(
                zip(values, rewards, counts, radii, strict=True)
            )
        )
        return Explanation(
            s,
            int(self._plan_state.policy[s]),
            actions,
            tied=int(np.count_nonzero(values >= values.max() - TIE)),
            vacuous=bool((radii >= (1.0 if self._rules.bernstein else 2.0)).all()),
            planned_at=plan.t,
            gain=plan.gain,
            widening=float(clock["widening"]),
            scale=self.confidence.scale,
            ties=self.ties,
        )

    # keeping -----------------------------------------------------------------------------------------

    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        plan_state = self._plan_state
        clock = plan_state.clock[0]
        return memory_arrays(self._known) | {
            "clock": plan_state.clock,
            "visits": plan_state.visits,
            "policy": plan_state.policy,
            "bias": plan_state.bias,
            "touched": plan_state.touched[: int(clock["n_touched"])],
            "reasons": plan_state.reasons[: int(clock["n_reasons"])],
        }

    def _restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._known = restored_memory(self.space, self._known, arrays)
        self._plan_state = restored_mind(self.space, self._plan_state, self._known, arrays)
        clock = self._plan_state.clock[0]
        if not 0 <= clock["phase"] < self._phases.starts.size:
            raise ValueError("the phase does not exist")
        if self._known.tally["window"][0] != self._phases.window[clock["phase"]]:
            raise ValueError("the window is not that of the phase")
        if clock["start"] != self._phases.starts[clock["phase"]] - 1:
            raise ValueError("the phase began at another time")
        self._enlarge_draft(0)
