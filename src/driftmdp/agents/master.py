"""MASTER [WL21], for average reward: one optimist runs on all time scales, to notice when the world changes.

for n = 0, 1, 2, ...: a block of 2^n steps
    an instance of UCRL2 with its own memory covers it. Shorter ones, of 2^m steps, begin at random with
        probability rho(2^n) / rho(2^m) at each multiple of 2^m,
    in each step the shortest instance acts and learns, and promises the gain g of its plan,
    restart from n = 0
        if an instance of 2^m steps earned 9 rho^(2^m) more than the least g of the block (Test 1),
        if the block's g are 3 rho^ above its rewards on average (Test 2),
        or if an instance had to widen its sets too much.

rho is the regret per step that theory promises of one instance, rho^ = 18 (log2 T + 1) ln(T/delta) rho.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.base import ResumableAgent, RunContext, locked
from driftmdp.agents.master_parts import LARGEST_DIAMETER, AdaptiveWideningRadii, MasterSummary, largest_diameter
from driftmdp.agents.master_snapshot import instance_arrays, restored_instances, restored_records
from driftmdp.agents.optimist import PLANNERS, TIES, Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, Everything, optimist_params, phases_of
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.plan_explanation import Explanation, Plan
from driftmdp.agents.reward_range import Range, required_range
from driftmdp.agents.snapshot_checks import monitor_array, restore_monitor
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.kernels import master_arrays, plan_arrays
from driftmdp.kernels.arrays import Records, visits_by_pair
from driftmdp.kernels.master_arrays import MasterArrays, MasterParams, part_of
from driftmdp.mdp import Problem, Space
from driftmdp.npz import Arrays
from driftmdp.planning.optimistic import solve_sparsely
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number, one_of

LEAST_SCALE, LARGEST_SCALE = 1e-9, 1e9
LEAST_DELTA = 1e-300
LEAST_THRESHOLD = 1e-300  # where T/delta is 1, so that statistics have a ratio to it
CAUSES = {1: "test 1", 2: "test 2", 3: "widening"}


class MASTER(ResumableAgent):
    """MASTER of Wei and Luo [WL21], over UCRL2 with adaptive confidence widening.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    diameter
        D, a bound on the diameters of the world, at least 1. ``for_problem`` puts the problem's.
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the mean rewards.
    scale
        A factor on every radius of the instances and so on rho, their regret. 1 is theory.
    test_scale
        A factor on rho^ in both tests. 1 is theory, under which they hardly ever fire (docs/rivals.md).
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``.
    ties
        ``"least-visited"`` or ``"first"``.
    seed
        Of the schedule's generator until ``reset(rng)`` gives another. None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> agent = dm.agents.MASTER.for_problem(problem, scale=0.1)
    >>> summary = dm.simulate(agent, problem, seed=7).summary
    >>> summary.blocks, summary.test_1, summary.test_2, summary.restarts
    (13, 0, 0, ())
    """

    horizon: int
    reward_range: Range

    def __init__(
        self,
        space: Space,
        horizon: int,
        diameter: float = 1.0,
        delta: float | None = None,
        reward_range: Range = (0.0, 1.0),
        scale: float = 1.0,
        test_scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        super().__init__(space, as_integer(horizon, "horizon", minimum=1), seed)
        self.diameter = as_number(diameter, "diameter", 1.0, LARGEST_DIAMETER)
        self.delta = delta if delta is None else as_number(delta, "delta", LEAST_DELTA, 1.0)
        self.reward_range = required_range(reward_range)
        self.scale = as_number(scale, "scale", LEAST_SCALE, LARGEST_SCALE)
        self.test_scale = as_number(test_scale, "test_scale", LEAST_SCALE, LARGEST_SCALE)
        self.planner, self.ties = one_of(planner, "planner", PLANNERS), one_of(ties, "ties", TIES)
        self._params = self._new_params()
        n_bytes = self._params.orders * (12.0 * self.space.n_pairs + 12.0 * self.space.n_states)
        require_memory(n_bytes, f"MASTER with instances of {self._params.orders} orders")
        self._confidence = AdaptiveWideningRadii(self.delta, self.scale, 1.0 / self.horizon)
        self.reset()

    def _new_params(self) -> MasterParams:
        states, pairs, steps = self.space.n_states, self.space.n_pairs, self.horizon
        log = math.log(steps) if self.delta is None else -math.log(self.delta)
        # rho^ over rho, [WL21] Lemma 12. Without states and their jumps, Lemma 3, it is 6 instead of 18.
        threshold = self.test_scale * 18.0 * (math.log2(steps) + 1.0) * (math.log(steps) + log)
        allowance = 4.0 * self.scale * math.sqrt(states * pairs * (math.log(pairs * steps) + log))
        # Blocks double, so that one of 2^n steps begins at 2^n or later, the last perhaps right after the horizon.
        sizes = steps.bit_length() + 1, states, pairs
        return MasterParams(
            *sizes, self.diameter, self.scale, max(threshold, LEAST_THRESHOLD), 1.0 / steps, allowance
        )

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem, with its largest diameter unless one is given.

        Examples
        --------
        >>> import driftmdp as dm
        >>> round(dm.agents.MASTER.for_problem(dm.problems.two_state(horizon=5000)).diameter, 2)
        5.0
        """
        if "diameter" not in parameters:
            parameters = parameters | {"diameter": largest_diameter(checked_problem(problem))}
        return super().for_problem(problem, **parameters)

    # the protocol ------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. Instances are drawn from ``rng``, by default from ``seed``."""
        super().reset(rng)
        orders, n_states, n_pairs = self._params.orders, self.space.n_states, self.space.n_pairs
        counts, plan_state = master_arrays.new_instances(orders, n_states, n_pairs)
        base = optimist_params(
            self._confidence, self.space, self.horizon, self.reward_range, self.planner, self.ties
        )
        first = part_of(counts, 0, orders)
        self._arrays = MasterArrays(
            params=self._params,
            base=base,
            phases=phases_of(Everything(), self._confidence, BY_DOUBLING, self.horizon),
            offsets=self._offsets,
            counts=counts,
            plan_state=plan_state,
            workspace=plan_arrays.new_agent_workspace(n_states, first, base.bernstein),
            block=master_arrays.new_block(),
            instances=master_arrays.no_instances(orders),
            last_plan=master_arrays.no_plan(),
            restarts=master_arrays.enlarge_restarts(),
            generator=self._generator(rng).integers(0, 2**64, 4, dtype=np.uint64),
        )

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._arrays.block["t"][0])

    def _decide(self, state: int) -> int:
        while (status := kernels.master.prepare(self._arrays, state)) != kernels.bellman.CONVERGED:
            self._continue(status)
        return int(kernels.master.advice(self._arrays, state))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        kernels.master.learn(self._arrays, (state, int(self._offsets[state]) + action, reward, next_state))
        self._range_monitor.check_reward(reward, self.reward_range, f"{self.name} caps optimistic rewards there")

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        while first < last:
            first, status = kernels.master.play(context.inputs, self._arrays, context.record, first, last)
            if first < last:
                self._continue(status)

    def _continue(self, status: int) -> None:
        """Do what compiled code asks for by its status."""
        workspace = self._arrays.workspace
        progress = workspace.progress[0]
        if status == kernels.bellman.SOLVE_SPARSELY:
            solve_sparsely(workspace, int(progress["n_states"]), float(progress["precision"]))
        elif status == kernels.bellman.BUFFER_FULL:
            self._enlarge_workspace(2 * int(progress["places"]))
        elif status == kernels.bellman.COUNTS_FULL:
            self._enlarge()
        else:
            best, precision = self._plan_of(workspace.candidate[0]), self._arrays.base.span * progress["precision"]
            rule = f"The plan of {self.name} at t={self.t} must be certain to {precision:.3g}"
            raise NotConvergedError(f"{rule}; got {best.residual:.3g}. Use a larger scale.", best)

    def _enlarge(self) -> None:
        """Make space for more restarts, or for more pairs and next states in the instances of every order."""
        if self._arrays.block["n_restarts"][0] == self._arrays.restarts.size:
            self._arrays = self._arrays._replace(restarts=master_arrays.enlarge_restarts(self._arrays.restarts))
            return
        orders, counts = self._params.orders, self._arrays.counts
        slots, entries = 2 * (counts.slots.size // orders), 2 * (counts.entries.size // orders)
        parts = [part_of(counts, order, orders) for order in range(orders)]
        states = [part_of(self._arrays.plan_state, order, orders) for order in range(orders)]
        self._arrays = self._arrays._replace(
            counts=master_arrays.stack_counts(parts, slots - 1, entries - 1),
            plan_state=master_arrays.stack_plan_states(states, slots),
        )
        self._enlarge_workspace(0)

    def _enlarge_workspace(self, stored: int) -> None:
        part, bernstein = part_of(self._arrays.counts, 0, self._params.orders), self._arrays.base.bernstein
        workspace = plan_arrays.new_agent_workspace(self.space.n_states, part, bernstein, stored)
        self._arrays = self._arrays._replace(workspace=workspace)

    # what was planned and tested ---------------------------------------------------------------------

    @property
    def n_plans(self) -> int:
        """How many plans all instances made."""
        return int(self._arrays.block["plans"][0])

    @property
    @locked
    def last_plan(self) -> Plan:
        """The facts of the last plan, of whichever instance."""
        if self.n_plans == 0:
            raise InvalidInputError("There is no plan yet; call act(state) first.")
        return self._plan_of(self._arrays.last_plan[0])

    def _plan_of(self, facts: Records) -> Plan:
        """Return a plan from the record of its facts, in units of the rewards."""
        base, paper = self._arrays.base, "paper, then accelerated" if facts["accelerated"] else "paper"
        gain, residual = base.bottom + base.span * float(facts["gain"]), base.span * float(facts["residual"])
        method = "fast" if base.fast else paper
        return Plan(int(facts["t"]), gain, residual, int(facts["sweeps"]), bool(facts["vacuous"]), method)

    def _active_instance(self) -> Optimist:
        """Return an optimist that knows what the active instance knows."""
        parts, reading = (Everything(), self._confidence, BY_DOUBLING), (self.reward_range, self.planner, self.ties)
        optimist = Optimist(self.space, self.horizon, *parts, *reading)
        order, orders = int(self._arrays.block["active"][0]), self._params.orders
        optimist._memory = part_of(self._arrays.counts, order, orders)
        optimist._plan_state = part_of(self._arrays.plan_state, order, orders)
        return optimist

    def counts(self) -> NDArray[np.float64]:
        """Return how many steps of each pair the active instance remembers, shape (n_pairs,)."""
        active, orders = int(self._arrays.block["active"][0]), self._params.orders
        return visits_by_pair(part_of(self._arrays.counts, active, orders))

    def explain(self, state: int) -> Explanation:
        """Return why the plan of the active instance takes its action in ``state``.

        Its time is that of the instance, which counts its own steps.

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.MASTER(dm.Space.uniform(2, 2), horizon=100, seed=1)
        >>> agent.act(0)
        0
        >>> print(agent.explain(0).actions[0])
        action 0: promises 1, not remembered
        """
        return self._active_instance().explain(state)

    def summary(self) -> MasterSummary:
        """Return what was started, and what the tests found."""
        block = self._arrays.block[0]
        restarts = self._arrays.restarts[: int(block["n_restarts"])]
        return MasterSummary(
            blocks=int(block["blocks"]),
            instances=tuple(self._arrays.instances["started"].tolist()),
            test_1=int(block["test_1"]),
            test_2=int(block["test_2"]),
            widening=int(block["widening"]),
            restarts=tuple(restarts["t"].tolist()),
            causes=tuple(CAUSES[cause] for cause in restarts["cause"].tolist()),
            closest_1=float(block["closest_1"]),
            closest_2=float(block["closest_2"]),
        )

    # snapshots ---------------------------------------------------------------------------------------

    def _state_arrays(self) -> Arrays:
        return instance_arrays(self._arrays) | {"rewards": monitor_array(self._range_monitor)}

    def _restore(self, arrays: Arrays) -> None:
        self._arrays = restored_instances(self.space, restored_records(self._arrays, arrays), arrays)
        restore_monitor(self._range_monitor, self.t, arrays)
        self._enlarge_workspace(0)
