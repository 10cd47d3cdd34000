"""AdaptiveV1: the first edition of Adaptive, kept for one release for old snapshots and comparisons.

Every transition tests every candidate memory at once, so the memory need not be learned from rewards block by
block, as in BORL, nor be given, as in SWUCRL2-CW. With ten memories, of 4, 12, 36, ... steps to all of them,

each step
    mix the memories' models by weight; put rewards up by their noise and by how far rewards were seen to move in
    the time since a pair was last tried, next states by a part of their deviation, and what was never tried at some
    deviations above what was tried,
    move the values of the states on by a few sweeps of relative value iteration, and take the best action;
then
    weigh each memory by the probability that it had given to the next state, and each expert on rewards (the mean
    of each memory, and the line through a pair's last two) by that of the reward, pairs of different age apart;
    deal 0.3% of the weight out evenly, so that it can move (fixed share), and remember the step in all of them.

No horizon, window, budget or scale is set. The formulas are in kernels/fading_memory_v1.py and
kernels/adaptive_v1.py.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftmdp import kernels
from driftmdp.agents import adaptive_v1_snapshot, snapshot_checks
from driftmdp.agents.base import RunContext
from driftmdp.agents.model_based import ModelBasedAgent
from driftmdp.agents.plan_explanation import Plan, Reasons, tried
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.agents.snapshot_checks import require
from driftmdp.display import counted
from driftmdp.kernels import adaptive_v1_arrays
from driftmdp.kernels.adaptive_v1_arrays import AdaptiveV1Arrays, AdaptiveV1Params
from driftmdp.kernels.arrays import enlarge_counts, new_counts
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.mdp import Space
from driftmdp.npz import Arrays


@dataclass(frozen=True)
class AdaptiveV1Reason:
    """What the first edition of Adaptive estimates of one action.

    Attributes
    ----------
    action
        Its number in the state.
    value
        The long-term average reward that it promises, with optimism; NaN if there is no plan yet.
    reward, hoped_reward
        Its estimated reward, without and with optimism; NaN and the top of the range if never tried.
    count, age
        How often it was tried, and how many steps ago; 0 if never.
    """

    action: int
    value: float
    reward: float
    hoped_reward: float
    count: int
    age: int

    def __str__(self) -> str:
        promise = f"action {self.action}: promises {self.value:.4g}"
        if not self.count:
            return f"{promise}, {tried(self.count)}"
        reward = f"reward {self.reward:.4g}, hoped {self.hoped_reward:.4g}"
        return f"{promise}, {reward}, {tried(self.count)}, {counted(self.age, 'step')} ago"


class AdaptiveV1(ModelBasedAgent):
    """The first edition of :class:`Adaptive`; take ``Adaptive``.

    It is kept for one release, for snapshots that it wrote and for comparisons. It plans with the memory that
    predicts best, and there is nothing to set.

    Parameters
    ----------
    space
        States and actions.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Not used: this agent draws nothing; kept so that all agents are made alike.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> run = dm.simulate(dm.agents.AdaptiveV1.for_problem(problem), problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 1000)  # random play and SWUCRL2-CW miss about 6,300
    True
    """

    can_be_watched = True
    reward_range: Range

    def __init__(self, space: Space, reward_range: Range = (0.0, 1.0), seed: int | None = None) -> None:
        super().__init__(space, None, seed)
        self.reward_range = required_range(reward_range)
        self._params = AdaptiveV1Params(bottom=self.reward_range[0], span=span_of(self.reward_range))
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. This agent draws nothing."""
        super().reset(rng)
        self._memory = new_counts(self.space.n_pairs, 0)
        self._past = adaptive_v1_arrays.new_fading_memory(self._memory.slots.size, self._memory.entries.size)
        self._judged = adaptive_v1_arrays.new_expert_weights(self._params)
        self._plan = adaptive_v1_arrays.new_adaptive_plan(self.space.n_states)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._plan.facts["t"][0])

    @property
    def _arrays(self) -> AdaptiveV1Arrays:
        """Everything that the kernels need."""
        return AdaptiveV1Arrays(self._params, self._offsets, self._memory, self._past, self._judged, self._plan)

    def _decide(self, state: int) -> int:
        kernels.adaptive_v1.improve_plan(self._arrays)
        return int(kernels.adaptive_v1.choose(self._arrays, state))

    def _remember(self, state: int, pair: int, reward: float, next_state: int) -> None:
        kernels.adaptive_v1.learn(self._arrays, (state, pair, reward, next_state))
        effect = f"{self.name} clips them and cannot tell them apart"
        self._range_monitor.check_reward(reward, self.reward_range, effect)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        return kernels.adaptive_v1.play(context.inputs, self._arrays, context.record, first, last, watch)

    def _enlarge(self) -> None:
        self._memory = enlarge_counts(self._memory)
        slots, entries = self._memory.slots.size, self._memory.entries.size
        self._past = adaptive_v1_arrays.enlarge_fading_memory(self._past, slots, entries)

    # what is remembered and planned ------------------------------------------------------------------

    @property
    def n_plans(self) -> int:
        """How many plans were made: one per step, except for very large problems."""
        return int(self._plan.facts["plans"][0])

    def _last_plan(self) -> Plan:
        facts, bottom, span = self._plan.facts[0], self._params.bottom, self._params.span
        gain, residual = bottom + span * float(facts["gain"]), span * float(facts["residual"])
        return Plan(int(facts["planned"]), gain, residual, int(facts["sweeps"]), False, "a few sweeps a step")

    def summary(self) -> dict[str, Any]:
        """Return how many steps it looks back, for rewards just tried and for transitions, and the weights.

        Examples
        --------
        >>> import driftmdp as dm
        >>> problem = dm.problems.river_swim(horizon=3000)
        >>> summary = dm.simulate(dm.agents.AdaptiveV1.for_problem(problem), problem, seed=7).summary
        >>> summary["transition_memory"] > 1000  # nothing changes there
        True
        """
        rewards, transitions = self._judged.reward_weights[0], self._judged.transition_weights
        reach = np.log(np.minimum([*adaptive_v1_arrays.FADING, np.inf], max(1, self.t - 1)))
        memories = rewards[:-1] / max(rewards[:-1].sum(), 1e-300)
        return {
            "reward_memory": float(np.exp(memories @ reach)),
            "transition_memory": float(np.exp(transitions @ reach)),
            "reward_weights": rewards.tolist(),
            "transition_weights": transitions.tolist(),
        }

    def explain(self, state: int) -> tuple[AdaptiveV1Reason, ...]:
        """Return the agent's estimates of every action in a state, as of its last plan, to be printed.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.AdaptiveV1(dm.Space.uniform(2, 2))
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> [reason.count for reason in agent.explain(0)]
        [1, 0]
        """
        s = self._state(state, "state")
        return Reasons(self._reason(s, action) for action in range(self.space.n_actions[s]))

    def _reason(self, state: int, action: int) -> AdaptiveV1Reason:
        bottom, span, plan = self._params.bottom, self._params.span, self._plan
        index = int(self._memory.slot_of[self._offsets[state] + action])
        if index >= 0:
            pair, count = self._past.pairs[index], int(self._memory.slots[index]["count"])
            promised = kernels.adaptive_v1.evaluate_pair(self._params, self._memory, self._past, plan, index)
            mean, hoped, age = float(pair["mean"]), float(pair["hoped"]), self.t - int(pair["last"])
        else:
            visits = float(plan.visits[state])
            promised = kernels.adaptive_v1.evaluate_untried(self._params, self._memory, plan, visits)
            mean, hoped, count, age = np.nan, 1.0, 0, 0
        here = plan.bias[state] if plan.is_met[state] else plan.facts["elsewhere"][0]
        value = bottom + span * float(promised - here) if self.n_plans else np.nan
        return AdaptiveV1Reason(action, value, bottom + span * mean, bottom + span * hoped, count, age)

    # keeping -----------------------------------------------------------------------------------------

    def _state_arrays(self) -> Arrays:
        tally, past, plan = self._memory.tally[0], self._past, self._plan
        slots, entries = int(tally["n_slots"]), int(tally["n_entries"])
        weights = {f"judged_{name}": array for name, array in self._judged._asdict().items()}
        sizes = {"pairs": slots, "sums": slots, "counts": entries, "chances": entries}
        traces = {name: getattr(past, name)[:size] for name, size in sizes.items()}
        planned = {name: getattr(plan, name) for name in ("facts", "bias", "visits", "tried")}
        touched = plan.touched[: int(plan.facts[0]["n_touched"])]
        seen = {"touched": touched, "rewards": snapshot_checks.monitor_array(self._range_monitor)}
        return snapshot_checks.memory_arrays(self._memory) | weights | traces | planned | seen

    def _restore(self, arrays: Arrays) -> None:
        self._memory = snapshot_checks.restored_memory(self.space, self._memory, arrays)
        require(int(self._memory.tally["window"][0]) == 0, "the window is wrong")
        self._past = adaptive_v1_snapshot.restored_fading_memory(self._memory, arrays)
        self._judged = adaptive_v1_snapshot.restored_expert_weights(self._judged, arrays)
        self._plan = adaptive_v1_snapshot.restored_plan(self._plan, self._memory, arrays)
        require(bool((self._past.pairs["last"] < self.t).all()), "a pair was visited in the future")
        snapshot_checks.restore_monitor(self._range_monitor, self.t, arrays)
