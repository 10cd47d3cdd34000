"""The common base class of the optimists: memory, confidence, planner, schedule, and one step for all of them.

The step is compiled and is the same whether it is taken live (``act``, ``observe``) or T times in a row
(``simulate``).
"""

import numpy as np
import scipy.sparse as sp

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.model_based import EpisodicAgent
from driftmdp.agents.optimist_parts import MEMORY_KINDS, Confidence, Doubling, Memory, optimist_params, phases_of
from driftmdp.agents.plan_explanation import ActionReason, Beliefs, Explanation, Plan
from driftmdp.agents.reward_range import REWARDS_BEFORE_RANGE_CHECK, Range, checked_range
from driftmdp.agents.snapshot_checks import require
from driftmdp.errors import NotConvergedError
from driftmdp.kernels import plan_arrays
from driftmdp.kernels.arrays import Records, enlarge_counts, new_counts
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.kernels.plan_arrays import OptimistArrays, OptimistParams, Phases
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.planning.optimistic import solve_sparsely
from driftmdp.validation import as_integer, check_type, one_of

TIE = 1e-9  # of the planner, in units of the reward range
PLANNERS = ("paper", "fast")
TIES = ("least-visited", "first")
BY_DOUBLING = Doubling()


class Optimist(EpisodicAgent):
    """Plan for the best world that the remembered steps do not rule out, and follow the plan until the next.

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

    can_be_watched = True
    horizon: int
    _params: OptimistParams

    def __init__(
        self,
        space: Space,
        horizon: int,
        memory: Memory,
        confidence: Confidence,
        schedule: Doubling = BY_DOUBLING,
        reward_range: Range | None = (0.0, 1.0),
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        super().__init__(space, as_integer(horizon, "horizon", minimum=1), seed)
        check_type(memory, MEMORY_KINDS, "memory must be Everything, SlidingWindow or SinceRestart")
        check_type(confidence, Confidence, "confidence must be one of the radii of driftmdp.agents")
        check_type(schedule, Doubling, "schedule must be Doubling")
        self.memory, self.confidence, self._schedule = memory, confidence, schedule
        self.reward_range = checked_range(reward_range)
        self.planner = one_of(planner, "planner", PLANNERS)
        self.ties = one_of(ties, "ties", TIES)
        self._params = optimist_params(confidence, self.space, self.horizon, self.reward_range, planner, ties)
        self._phases = self._new_phases()
        self.reset()

    def _new_phases(self) -> Phases:
        return phases_of(self.memory, self.confidence, self._schedule, self.horizon)

    # the protocol ------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch."""
        super().reset(rng)
        windows = self._phases.window
        largest = int(windows.max()) if windows.size > 1 else None
        self._memory = new_counts(self.space.n_pairs, int(windows[0]), steps=largest)
        n_states, n_pairs, n_slots = self.space.n_states, self.space.n_pairs, self._memory.slots.size
        self._plan_state = plan_arrays.new_plan_state(n_states, n_pairs, n_slots)
        self._enlarge_workspace(0)

    @property
    def schedule(self) -> Doubling:
        """When it plans again."""
        return self._schedule

    @property
    def _arrays(self) -> OptimistArrays:
        """Everything that the kernels need."""
        learned = self._memory, self._plan_state, self._workspace
        return OptimistArrays(self._params, self._phases, self._offsets, *learned)

    def _should_replan(self, state: int) -> bool:
        return bool(kernels.optimist.should_replan(self._arrays, state))

    def _remember(self, state: int, pair: int, reward: float, next_state: int) -> None:
        kernels.optimist.learn(self._arrays, (state, pair, reward, next_state))
        bounds, slot = self.reward_range, self._memory.slot_of[pair]  # slot is -1 right after a restart
        if bounds is not None and not bounds[0] <= reward <= bounds[1] and slot >= 0:
            count, total = self._memory.slots[slot]["count"], self._memory.slots[slot]["total"]
            if count >= REWARDS_BEFORE_RANGE_CHECK:
                what = f"reward of state {state}, action {pair - int(self._offsets[state])}"
                mean = float(self._params.bottom + self._params.span * total / count)
                effect = f"optimistic rewards are capped there, so {self.name} cannot learn from it"
                self._range_monitor.check_mean("reward_range", bounds, what, mean, effect)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        return kernels.optimist.play(context.inputs, self._arrays, context.record, first, last, watch)

    # planning ----------------------------------------------------------------------------------------

    def _last_plan(self) -> Plan:
        return self._plan_of(self._plan_state.in_force[0])

    def _plan_of(self, facts: Records) -> Plan:
        """Return a plan from the record of its facts, in units of the rewards."""
        span, gain = self._params.span, self._params.bottom + self._params.span * float(facts["gain"])
        paper = "paper, then accelerated" if facts["accelerated"] else "paper"
        return Plan(
            t=int(facts["t"]),
            gain=gain,
            residual=span * float(facts["residual"]),
            sweeps=int(facts["sweeps"]),
            vacuous=bool(facts["vacuous"]),
            method="fast" if self._params.fast else paper,
        )

    def _try_plan(self) -> int:
        return kernels.optimist.plan(self._arrays)

    def _continue(self, status: int) -> None:
        progress = self._workspace.progress[0]
        if status == kernels.bellman.SOLVE_SPARSELY:
            solve_sparsely(self._workspace, int(progress["n_states"]), float(progress["precision"]))
        elif status == kernels.bellman.BUFFER_FULL:
            self._enlarge_workspace(2 * int(progress["places"]))
        elif status == kernels.bellman.COUNTS_FULL:
            self._enlarge()
        else:
            raise self._not_converged()

    def _not_converged(self) -> NotConvergedError:
        best = self._plan_of(self._workspace.candidate[0])
        precision = self._params.span * float(self._workspace.progress[0]["precision"])
        return NotConvergedError(
            f"The plan of {self.name} at t={best.t} must be certain to {precision:.3g}; got {best.residual:.3g}. "
            "Either the plausible worlds do not communicate, or too rarely for double precision: use a larger "
            "scale or widening.",
            best,
        )

    def _enlarge(self) -> None:
        self._memory = enlarge_counts(self._memory)
        self._plan_state = plan_arrays.enlarge_plan_state(self._plan_state, self._memory.slots.size)
        self._enlarge_workspace(0)

    def _enlarge_workspace(self, stored: int) -> None:
        n_states, bernstein = self.space.n_states, self._params.bernstein
        self._workspace = plan_arrays.new_agent_workspace(n_states, self._memory, bernstein, stored)

    # what is remembered and planned ------------------------------------------------------------------

    def successor_counts(self) -> sp.csr_array:
        """Return how often each next state followed each pair, as CSR of shape (n_pairs, S)."""
        entries = self._memory.entries[: int(self._memory.tally["n_entries"][0])]
        entries = entries[entries["count"] > 0]
        shape = self.space.n_pairs, self.space.n_states
        return sp.csr_array((entries["count"], (entries["pair"], entries["next_state"])), shape=shape)

    def beliefs(self) -> Beliefs:
        """Return the beliefs behind the plan in force, for every pair and state, rewards in units of the range.

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
        gain, residual = float(plan_state.in_force["gain"][0]), float(plan_state.in_force["residual"][0])
        bias, policy = plan_state.bias.copy(), plan_state.policy.copy()
        return Beliefs(planned, gain, residual, counts, rewards, radii, bias, policy)

    def explain(self, state: int) -> Explanation:
        """Return why the plan in force takes its action in ``state``.

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
        plan, clock, bias = self.last_plan, self._plan_state.clock[0], self._plan_state.bias
        bottom, span = self._params.bottom, self._params.span
        beliefs, here = self.beliefs(), slice(int(self._offsets[s]), int(self._offsets[s + 1]))
        counts, rewards, radii = beliefs.counts[here], beliefs.rewards[here], beliefs.radii[here]
        values = np.full(counts.size, float(clock["unseen"] + clock["top"] - bias[s]))
        reasons = self._plan_state.reasons[: int(clock["n_reasons"])]
        seen = reasons[(reasons["pair"] >= here.start) & (reasons["pair"] < here.stop)]
        values[seen["pair"] - here.start] = seen["value"]
        columns = bottom + span * values, bottom + span * rewards, counts.astype(int), radii
        rows = zip(*(column.tolist() for column in columns), strict=True)
        actions = tuple(ActionReason(i, *row) for i, row in enumerate(rows))
        action, tied = int(self._plan_state.policy[s]), int(np.count_nonzero(values >= values.max() - TIE))
        vacuous = bool((radii >= (1.0 if self._params.bernstein else 2.0)).all())
        settings = float(self._plan_state.in_force["widening"][0]), self.confidence.scale, self.ties
        return Explanation(s, action, actions, tied, vacuous, plan.t, plan.gain, *settings)

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        clock = self._plan_state.clock[0]
        require(0 <= clock["phase"] < self._phases.starts.size, "the phase does not exist")
        window, start = self._phases.window[clock["phase"]], self._phases.starts[clock["phase"]]
        require(self._memory.tally["window"][0] == window, "the window is not that of the phase")
        require(clock["start"] == start - 1, "the phase began at another time")
        self._enlarge_workspace(0)
