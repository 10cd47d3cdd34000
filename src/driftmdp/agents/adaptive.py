"""Adaptive: the agent to take if you do not want to choose one.

Every transition tests every candidate memory at once, so the memory need not be learned from rewards block by
block, as in BORL, nor be given, as in SWUCRL2-CW. With eleven memories, of 4/3, 4, 12, ... steps to all of them,

each step
    mix the memories' models by weight; put each pair some deviations above what is believed of its reward and of
    its next state, the more the fewer visits it had, and by how far rewards and the values of next states were seen
    to move in the time since; move the values of the states on by a few sweeps of relative value iteration, and
    take the best action;
then
    weigh each memory by the probability that it had given to the next state and to the reward, pairs of different
    age apart; give 0.3% of the weight back to where it was at the start, nine tenths of it on the memory of
    everything: evidence must pay for forgetting; and remember the step in all of them.

No horizon, window, budget or scale is set. The formulas are in kernels/adaptive_agent.py, fading_memory.py,
reward_drift.py and value_drift.py. docs/adaptive.md has the pseudo-code, the guarantees, and what each part is
worth.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftmdp import kernels
from driftmdp.agents import adaptive_snapshot, snapshot_checks
from driftmdp.agents.base import RunContext
from driftmdp.agents.model_based import ModelBasedAgent
from driftmdp.agents.plan_explanation import Plan, Reasons, tried
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.agents.snapshot_checks import require
from driftmdp.display import counted
from driftmdp.kernels import adaptive_agent_arrays
from driftmdp.kernels.adaptive_agent_arrays import AdaptiveArrays, AdaptiveParams
from driftmdp.kernels.arrays import enlarge_counts, new_counts
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.mdp import Space
from driftmdp.npz import Arrays


@dataclass(frozen=True)
class AdaptiveReason:
    """The agent's estimates of one action.

    Attributes
    ----------
    action
        Its number in the state.
    value
        The long-term average reward that it promises, with optimism; NaN if there is no plan yet.
    reward, hoped_reward
        Its estimated reward, without and with optimism. If never tried, NaN and what is hoped for.
    count, age
        How often it was tried, and how many steps ago; 0 if never.
    worth
        The visits that its transitions are worth today, as far as the world is believed to have moved since.
    """

    action: int
    value: float
    reward: float
    hoped_reward: float
    count: int
    age: int
    worth: float

    def __str__(self) -> str:
        promise = f"action {self.action}: promises {self.value:.4g}"
        if not self.count:
            return f"{promise}, {tried(self.count)}"
        reward = f"reward {self.reward:.4g}, hoped {self.hoped_reward:.4g}"
        known = f"{tried(self.count)}, {counted(self.age, 'step')} ago, worth {self.worth:.3g} today"
        return f"{promise}, {reward}, {known}"


class Adaptive(ModelBasedAgent):
    """Plan with the memory that predicts best; nothing to set.

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
    >>> run = dm.simulate(dm.agents.Adaptive.for_problem(problem), problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 1000)  # random play and SWUCRL2-CW miss about 6,300
    True
    """

    can_be_watched = True
    reward_range: Range

    def __init__(self, space: Space, reward_range: Range = (0.0, 1.0), seed: int | None = None) -> None:
        super().__init__(space, None, seed)
        self.reward_range = required_range(reward_range)
        self._params = AdaptiveParams(bottom=self.reward_range[0], span=span_of(self.reward_range))
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. This agent draws nothing."""
        super().reset(rng)
        self._memory = new_counts(self.space.n_pairs, 0)
        self._past = adaptive_agent_arrays.new_fading_memories(self._memory.slots.size, self._memory.entries.size)
        self._weights = adaptive_agent_arrays.new_memory_weights(self._params, self.space.n_states)
        self._plan = adaptive_agent_arrays.new_adaptive_plan(self.space.n_states)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._plan.facts["t"][0])

    @property
    def _arrays(self) -> AdaptiveArrays:
        """Everything that the kernels need."""
        return AdaptiveArrays(self._params, self._offsets, self._memory, self._past, self._weights, self._plan)

    def _decide(self, state: int) -> int:
        kernels.adaptive_agent.improve_plan(self._arrays)
        return int(kernels.adaptive_agent.choose(self._arrays, state))

    def _remember(self, state: int, pair: int, reward: float, next_state: int) -> None:
        kernels.adaptive_agent.learn(self._arrays, (state, pair, reward, next_state))
        effect = f"{self.name} clips them and cannot tell them apart"
        self._range_monitor.check_reward(reward, self.reward_range, effect)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        return kernels.adaptive_agent.play(context.inputs, self._arrays, context.record, first, last, watch)

    def _enlarge(self) -> None:
        self._memory = enlarge_counts(self._memory)
        slots, entries = self._memory.slots.size, self._memory.entries.size
        self._past = adaptive_agent_arrays.enlarge_fading_memories(self._past, slots, entries)

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
        """Return how many steps it looks back, for rewards and transitions of pairs by age, and the weights.

        The weights and memories are those of the age that was judged most of late. ``rewards_move`` is the root of
        the mean squared distance that a reward was seen to move in that time, in the units of the rewards.

        Examples
        --------
        >>> import driftmdp as dm
        >>> problem = dm.problems.river_swim(horizon=3000)
        >>> summary = dm.simulate(dm.agents.Adaptive.for_problem(problem), problem, seed=7).summary
        >>> summary["transition_memory"] > 1000  # nothing changes there
        True
        """
        usual = int(np.argmax(self._weights.judged[:, 0]))
        rewards, transitions = self._weights.rewards[usual], self._weights.transitions[usual]
        reach = np.log(np.minimum([*adaptive_agent_arrays.FADING, np.inf], max(1, self.t - 1)))
        return {
            "age": 2**usual,
            "reward_memory": float(np.exp(rewards @ reach)),
            "transition_memory": float(np.exp(transitions @ reach)),
            "rewards_move": self._params.span * float(np.sqrt(self._weights.drift[usual])),
            "reward_weights": rewards.tolist(),
            "transition_weights": transitions.tolist(),
        }

    def explain(self, state: int) -> tuple[AdaptiveReason, ...]:
        """Return the agent's estimates of every action in a state, as of its last plan, to be printed.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> [reason.count for reason in agent.explain(0)]
        [1, 0]
        """
        s = self._state(state, "state")
        return Reasons(self._reason(s, action) for action in range(self.space.n_actions[s]))

    def _reason(self, state: int, action: int) -> AdaptiveReason:
        bottom, span, plan, arrays = self._params.bottom, self._params.span, self._plan, self._arrays
        index = int(self._memory.slot_of[self._offsets[state] + action])
        if index >= 0:
            pair, count = self._past.pairs[index], int(self._memory.slots[index]["count"])
            promised = kernels.adaptive_agent.evaluate_pair(arrays, index)
            mean, hoped, age = float(pair["mean"]), float(pair["hoped"]), self.t - int(pair["last"])
            worth = float(pair["visits"])
        else:
            visits = kernels.adaptive_agent.fair_visits(arrays, state)
            promised = kernels.adaptive_agent.evaluate_untried(arrays, visits)
            mean, hoped = np.nan, kernels.adaptive_agent.hope_for_reward(arrays, visits)
            count, age, worth = 0, 0, 0.0
        here = plan.bias[state] if plan.is_met[state] else plan.facts["top"][0]
        value = bottom + span * float(promised - here) if self.n_plans else np.nan
        return AdaptiveReason(action, value, bottom + span * mean, bottom + span * hoped, count, age, worth)

    # keeping -----------------------------------------------------------------------------------------

    def _state_arrays(self) -> Arrays:
        kept = adaptive_snapshot.adaptive_arrays(self._memory, self._past, self._weights, self._plan)
        seen = {"rewards": snapshot_checks.monitor_array(self._range_monitor)}
        return snapshot_checks.memory_arrays(self._memory) | kept | seen

    def _restore(self, arrays: Arrays) -> None:
        self._memory = snapshot_checks.restored_memory(self.space, self._memory, arrays)
        require(int(self._memory.tally["window"][0]) == 0, "the window is wrong")
        self._past = adaptive_snapshot.restored_fading_memories(self._memory, arrays)
        self._weights = adaptive_snapshot.restored_memory_weights(self._weights, arrays)
        self._plan = adaptive_snapshot.restored_adaptive_plan(self._plan, self._memory, arrays)
        require(bool((self._past.pairs["last"] < self.t).all()), "a pair was visited in the future")
        snapshot_checks.restore_monitor(self._range_monitor, self.t, arrays)
