"""IMED-RL [PM22]: play the action that the data speak least against, weighed by how often it was tried.

each step, in state s
    if an action of s was never tried, try it. Otherwise
    phi = values of the empirical model with the actions of the skeleton only: n(s', a) >= ln^2 max_a' n(s', a'),
    mu = max_a r(s, a) + p(s, a) phi,
    K(a) = the least divergence from the law of what a gives to one whose mean exceeds mu,
    play the action of the smallest index n(s, a) K(a) + ln n(s, a).

Nothing is set and nothing is drawn: no horizon, no confidence, no bonus. It is proved for ergodic MDPs, where every
state is visited again and again whatever is done.

What the paper leaves open follows its authors' code: every pair begins with one reward of 1/2 and one uniform next
state, and values are iterated to 1e-3. Departs from that code, whose index has n ln M too many, M the most that a
step can be worth. docs/rivals.md lists every departure.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.imed_rl_snapshot import restored_laws, restored_plan
from driftmdp.agents.model_based import ModelBasedAgent
from driftmdp.agents.plan_explanation import Plan, Reasons, tried
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.agents.snapshot_checks import memory_arrays, monitor_array, require, restore_monitor, restored_memory
from driftmdp.kernels import imed_rl_arrays
from driftmdp.kernels.arrays import enlarge_counts, mean_rewards_by_pair, new_counts
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.kernels.imed_rl_arrays import LAW_SIZE, ImedArrays, ImedParams
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.validation import one_of

PRECISION = 1e-3  # of the values, in units of the reward range: that of the authors' code
MAX_SWEEPS = 100  # per step. What is left is done at the next one
INDICES = ("paper", "authors")


@dataclass(frozen=True)
class ImedReason:
    """The agent's estimates of one action.

    Attributes
    ----------
    action
        Its number in the state.
    index
        n K + ln n: the smallest is played. Minus infinity if it was never tried.
    divergence
        K: how much one visit speaks against the action being the best, in nats. 0 for the best one. With
        ``index="authors"`` it is K + ln M.
    value
        The long-term average reward that it promises by the empirical model.
    count
        n, how often it was tried.
    planned
        Whether it is in the skeleton: tried often enough for its state's value to rest on it.
    """

    action: int
    index: float
    divergence: float
    value: float
    count: int
    planned: bool

    def __str__(self) -> str:
        against = f"index {self.index:.4g}, divergence {self.divergence:.3g}"
        promise = f"promises {self.value:.4g}, {tried(self.count)}"
        return f"action {self.action}: {against}, {promise}{'' if self.planned else ', not in the skeleton'}"


@dataclass(frozen=True)
class ImedSummary:
    """How much an agent planned.

    Attributes
    ----------
    plans
        How often values were iterated.
    sweeps
        Sweeps of all of them together.
    rounded_pairs
        Pairs with more than 16 different rewards, whose law of rewards is kept on a grid.
    """

    plans: int
    sweeps: int
    rounded_pairs: int


class IMEDRL(ModelBasedAgent):
    """Indexed minimum empirical divergence: the smallest n K + ln n is played.

    Parameters
    ----------
    space
        States and actions.
    reward_range
        Bounds (lo, hi) on the rewards. They are mapped to [0, 1] by it and clipped.
    seed
        Not used: this agent draws nothing.
    index
        ``"paper"``, n K + ln n, or ``"authors"``, that of its authors' code, n (K + ln M) + ln n: it explores less,
        and is better or much worse by luck (docs/rivals.md).

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.garnet(n_states=5, drift="stationary", noise="bernoulli", horizon=5000)
    >>> run = dm.simulate(dm.agents.IMEDRL.for_problem(problem), problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 200)
    True
    >>> run.summary
    ImedSummary(plans=..., sweeps=..., rounded_pairs=0)
    """

    can_be_watched = True

    reward_range: Range

    def __init__(
        self,
        space: Space,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
        index: str = "paper",
    ) -> None:
        super().__init__(space, None, seed)
        self.reward_range = required_range(reward_range)
        self.index = one_of(index, "index", INDICES)
        bottom, span = self.reward_range[0], span_of(self.reward_range)
        self._params = ImedParams(PRECISION, MAX_SWEEPS, bottom, span, index == "authors")
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. This agent draws nothing."""
        super().reset(rng)
        self._memory = new_counts(self.space.n_pairs, 0)
        self._laws = imed_rl_arrays.new_reward_laws(self._memory.slots.size)
        self._plan = imed_rl_arrays.new_imed_plan(self.space.n_states)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._plan.facts["t"][0])

    @property
    def _arrays(self) -> ImedArrays:
        """Everything that the kernels need."""
        return ImedArrays(self._params, self._offsets, self._memory, self._laws, self._plan)

    def _decide(self, state: int) -> int:
        return int(kernels.imed_rl.choose(self._arrays, state))

    def _remember(self, state: int, pair: int, reward: float, next_state: int) -> None:
        kernels.imed_rl.learn(self._arrays, (state, pair, reward, next_state))
        effect = f"{self.name} clips them and cannot tell them apart"
        self._range_monitor.check_reward(reward, self.reward_range, effect)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        return kernels.imed_rl.play(context.inputs, self._arrays, context.record, first, last, watch)

    def _enlarge(self) -> None:
        self._memory = enlarge_counts(self._memory)
        self._laws = imed_rl_arrays.enlarge_reward_laws(self._laws, self._memory.slots.size)

    # what is remembered and planned ------------------------------------------------------------------

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the mean reward of every pair, NaN where it was never tried, shape (n_pairs,)."""
        return self._params.bottom + self._params.span * mean_rewards_by_pair(self._memory)

    @property
    def n_plans(self) -> int:
        """How often values were iterated: at every step in a state all of whose actions were tried."""
        return int(self._plan.facts["plans"][0])

    def _last_plan(self) -> Plan:
        facts, bottom, span = self._plan.facts[0], self._params.bottom, self._params.span
        gain, residual = bottom + span * float(facts["gain"]), span * float(facts["residual"])
        return Plan(int(facts["planned"]), gain, residual, int(facts["sweeps"]), False, "value iteration")

    def summary(self) -> ImedSummary:
        """Return how much was planned."""
        rounded = int(np.count_nonzero(self._laws.sizes > LAW_SIZE))
        return ImedSummary(self.n_plans, int(self._plan.facts["total_sweeps"][0]), rounded)

    def explain(self, state: int) -> tuple[ImedReason, ...]:
        """Return index and estimates of every action in a state, by the values of the last plan, to be printed.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.IMEDRL(dm.Space.uniform(2, 2))
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> [reason.index for reason in agent.explain(0)]
        [0.0, -inf]
        """
        s = self._state(state, "state")
        return Reasons(self._reason(s, action) for action in range(self.space.n_actions[s]))

    def _reason(self, state: int, action: int) -> ImedReason:
        plan, memory = self._plan, self._memory
        here = float(plan.bias[state] if plan.is_met[state] else plan.facts["elsewhere"][0])
        slot = int(memory.slot_of[self._offsets[state] + action])
        count = float(memory.slots[slot]["count"]) if slot >= 0 else 0.0
        kernels.imed_rl.summarize_values(plan)
        if slot >= 0:
            mu = kernels.imed_rl.best_value(self._offsets, memory, plan, state)
            value = kernels.imed_rl.evaluate_pair(memory, plan, slot)
            against = kernels.imed_rl.divergence(self._params, memory, self._laws, plan, slot, mu)
            index = count * against + float(np.log(count))
        else:
            value, against, index = 0.5 + float(plan.facts["mean"][0]), 0.0, -np.inf
        planned = bool(count >= plan.enough[state])
        promised = self._params.bottom + self._params.span * (value - here)
        return ImedReason(action, float(index), float(against), promised, int(count), planned)

    # keeping -----------------------------------------------------------------------------------------

    def _state_arrays(self) -> Arrays:
        slots, plan = int(self._memory.tally["n_slots"][0]), self._plan
        laws = {f"law_{name}": array[:slots] for name, array in self._laws._asdict().items()}
        planned = {
            "facts": plan.facts,
            "bias": plan.bias,
            "touched": plan.touched[: int(plan.facts["n_touched"][0])],
        }
        rewards = monitor_array(self._range_monitor)
        return memory_arrays(self._memory) | laws | planned | {"rewards": rewards}

    def _restore(self, arrays: Arrays) -> None:
        self._memory = restored_memory(self.space, self._memory, arrays)
        require(int(self._memory.tally["window"][0]) == 0, "the window is wrong")
        self._laws = restored_laws(self._memory, arrays)
        self._plan = restored_plan(self._plan, self._memory, arrays)
        restore_monitor(self._range_monitor, self.t, arrays)
