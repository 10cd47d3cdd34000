"""MASTER's step: start instances, let the shortest act, test for change, and a whole run of such steps.

One definition serves the live agent, which calls ``prepare`` and ``learn``, and ``play``. For [WL21]:

===================  ==============================================  =================================
[WL21]               what                                            here
===================  ==============================================  =================================
Procedure 1          schedule instances of all orders                ``start_instances``
Algorithm 5          the active instance decides and learns          ``prepare``, ``learn``
Algorithm 4          UCRL with adaptive confidence widening          ``plan``, kernels/optimist.py
Algorithm 6          U_t, Test 1, Test 2, restarts, doubling blocks  ``learn``, ``find_failure``
Lemma 11             rho                                             ``regret_rate``
===================  ==============================================  =================================
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import optimist, transition_counts
from driftmdp.kernels.arrays import Record, RunInputs, Step, TransitionCounts
from driftmdp.kernels.bellman import CONVERGED, COUNTS_FULL
from driftmdp.kernels.master_arrays import TEST_1, TEST_2, WIDENING, MasterArrays, MasterParams
from driftmdp.kernels.plan_arrays import OptimistArrays, PlanState
from driftmdp.kernels.posterior import uniform
from driftmdp.kernels.world import take_step


@kernel
def regret_rate(params: MasterParams, t: float) -> float:
    """Return rho(t), the base's regret per step after t steps, [WL21] Lemma 11 with 1 for what its order hides."""
    bound = params.scale * (np.sqrt(params.n_states * params.n_pairs / t) + params.n_pairs / t)
    # Assumption 1 asks for at least 1 / sqrt(t), which a scale below 1 may break.
    return params.diameter * min(1.0, max(bound, 1.0 / np.sqrt(t)))


@kernel
def instance_of(arrays: MasterArrays, order: int) -> OptimistArrays:
    """Return the arrays of the instance of an order."""
    counts, plan_state, orders = arrays.counts, arrays.plan_state, arrays.params.orders
    pairs, states = arrays.offsets[-1], arrays.offsets.size - 1
    slots, entries = counts.slots.size // orders, counts.entries.size // orders
    table, reasons = counts.table.size // orders, plan_state.reasons.size // orders
    return OptimistArrays(
        arrays.base,
        arrays.phases,
        arrays.offsets,
        TransitionCounts(
            counts.slot_of[order * pairs : (order + 1) * pairs],
            counts.slots[order * slots : (order + 1) * slots],
            counts.entries[order * entries : (order + 1) * entries],
            counts.table[order * table : (order + 1) * table],
            counts.steps,
            counts.tally[order : order + 1],
        ),
        PlanState(
            plan_state.clock[order : order + 1],
            plan_state.in_force[order : order + 1],
            plan_state.visits[order * pairs : (order + 1) * pairs],
            plan_state.policy[order * states : (order + 1) * states],
            plan_state.bias[order * states : (order + 1) * states],
            plan_state.touched[order * reasons : (order + 1) * reasons],
            plan_state.reasons[order * reasons : (order + 1) * reasons],
        ),
        arrays.workspace,
    )


@kernel
def start_instances(arrays: MasterArrays) -> None:
    """Start the instances that begin with this step, [WL21] Procedure 1, and find the active one."""
    block, instances = arrays.block[0], arrays.instances
    done, length = block["done"], 1 << block["order"]
    rate = regret_rate(arrays.params, length)
    order = block["order"]
    while order >= 0:
        size = 1 << order
        if done % size == 0 and uniform(arrays.generator) < rate / regret_rate(arrays.params, size):
            start_instance(arrays, order, done + size - 1)
        order -= 1
    active = 0
    while instances[active]["last"] < done:  # one of the block's own order covers all of it
        active += 1
    block["active"], block["begun"] = active, 1


@kernel
def start_instance(arrays: MasterArrays, order: int, last: int) -> None:
    """Start an instance from scratch, in the place of the last one of its order."""
    fresh, found = instance_of(arrays, order), arrays.instances[order]
    transition_counts.forget_all(fresh.counts)
    clock = fresh.plan_state.clock[0]
    clock["t"], clock["start"], clock["tau"] = 1, 0, 0  # episodes count on: visits are stamped with them
    found["last"], found["rewards"], found["widening"] = last, arrays.block[0]["rewards"], 0.0
    found["started"] += 1


@kernel
def prepare(arrays: MasterArrays, state: int) -> int:
    """Let the active instance plan if it must. Return a status as ``optimist.plan``, or COUNTS_FULL."""
    block = arrays.block[0]
    if block["begun"] == 0:
        start_instances(arrays)
    active = instance_of(arrays, block["active"])
    if not transition_counts.has_space(active.counts) or block["n_restarts"] == arrays.restarts.size:
        return COUNTS_FULL
    if optimist.should_replan(active, state):
        return plan(arrays, active)
    return CONVERGED


@kernel
def plan(arrays: MasterArrays, active: OptimistArrays) -> int:
    """Plan with the least widening that keeps the bias within 2D, [WL21] Algorithm 4. Return a status."""
    block, extra, clock = arrays.block[0], arrays.phases.transition_extra, active.plan_state.clock[0]
    while True:
        status = optimist.plan(active)
        if status != CONVERGED:
            return status  # eta stays, for the caller comes back
        low, high = np.inf, -np.inf
        for i in range(active.workspace.progress[0]["n_states"]):
            low, high = min(low, active.workspace.u[i]), max(high, active.workspace.u[i])
        if high - low <= 2.0 * arrays.params.diameter or extra[0] >= 2.0:
            break
        extra[0] *= 2.0
        clock["episode"] -= 1  # the wider plan takes the place of this one
    extra[0] = arrays.params.first_widening
    made, last = active.plan_state.in_force[0], arrays.last_plan[0]
    last["t"], last["sweeps"], last["widening"] = block["t"], made["sweeps"], made["widening"]
    last["gain"], last["residual"] = made["gain"], made["residual"]
    last["vacuous"], last["accelerated"] = made["vacuous"], made["accelerated"]
    block["plans"] += 1
    block["planned"] = block["t"]
    return CONVERGED


@kernel
def learn(arrays: MasterArrays, step: Step) -> None:
    """Let the active instance learn, test for change, and begin a block where one ends: [WL21] Algorithm 6."""
    block = arrays.block[0]
    active, found = instance_of(arrays, block["active"]), arrays.instances[block["active"]]
    made = active.plan_state.in_force[0]
    gain = min(max(made["gain"], 0.0), 1.0)
    reward = (step[2] - arrays.base.bottom) / arrays.base.span
    optimist.learn(active, step)
    block["bound"] = min(block["bound"], gain)
    block["excess"] += gain - reward
    block["rewards"] += reward
    # Departs from [WL21] Algorithm 4, which counts 1/T too: at a small scale that alone would use the allowance up.
    found["widening"] += made["widening"] - arrays.params.first_widening
    block["done"] += 1
    cause = find_failure(arrays, active.plan_state.clock[0]["t"] - 1)
    if cause > 0:
        note_restart(arrays, cause)
        begin_block(arrays, 0)
    elif block["done"] == 1 << block["order"]:
        begin_block(arrays, block["order"] + 1)
    block["t"] += 1
    block["begun"] = 0


@kernel
def find_failure(arrays: MasterArrays, steps: int) -> int:
    """Return what speaks for a change after a step, 0 for nothing. ``steps`` are those of the active instance."""
    params, block, instances = arrays.params, arrays.block[0], arrays.instances
    done, cause = block["done"], 0
    for order in range(block["order"] + 1):  # Test 1, for the instances that end now
        size = 1 << order
        if done % size != 0:
            break
        if instances[order]["last"] == done - 1:
            above = (block["rewards"] - instances[order]["rewards"]) / size - block["bound"]
            threshold = 9.0 * params.threshold * regret_rate(params, size)
            block["closest_1"] = max(block["closest_1"], above / threshold)
            if above >= threshold and cause == 0:
                cause = TEST_1
    threshold = 3.0 * params.threshold * regret_rate(params, done)
    block["closest_2"] = max(block["closest_2"], block["excess"] / done / threshold)
    if block["excess"] / done >= threshold and cause == 0:
        cause = TEST_2
    # Algorithm 4 ends early where it had to widen too much: the world must have changed.
    if instances[block["active"]]["widening"] > params.allowance * np.sqrt(steps) and cause == 0:
        cause = WIDENING
    return cause


@kernel
def note_restart(arrays: MasterArrays, cause: int) -> None:
    """Write a restart down."""
    block = arrays.block[0]
    restart = arrays.restarts[block["n_restarts"]]
    restart["t"], restart["cause"] = block["t"], cause
    block["n_restarts"] += 1
    if cause == TEST_1:
        block["test_1"] += 1
    elif cause == TEST_2:
        block["test_2"] += 1
    else:
        block["widening"] += 1


@kernel
def begin_block(arrays: MasterArrays, order: int) -> None:
    """Begin a block of 2^order steps. All instances end."""
    block = arrays.block[0]
    block["order"], block["done"], block["bound"] = order, 0, 1.0
    block["excess"], block["rewards"] = 0.0, 0.0
    block["blocks"] += 1
    for other in range(arrays.instances.size):
        arrays.instances[other]["last"] = -1


@kernel
def advice(arrays: MasterArrays, state: int) -> int:
    """Return the action of the active instance, which has a plan."""
    return arrays.plan_state.policy[arrays.block[0]["active"] * (arrays.offsets.size - 1) + state]


@kernel
def play(inputs: RunInputs, arrays: MasterArrays, record: Record, first: int, last: int) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``. Return the row reached and the status of ``prepare``."""
    world, draws, noise = inputs
    block = arrays.block[0]
    for step in range(first, last):
        state = record.states[step]
        status = prepare(arrays, state)
        if status != CONVERGED:
            return step, status
        if block["planned"] == block["t"]:
            record.sweeps[step] = arrays.last_plan[0]["sweeps"]
            record.vacuous[step] = arrays.last_plan[0]["vacuous"]
        action = advice(arrays, state)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(arrays, (state, arrays.offsets[state] + action, reward, next_state))
    return last, CONVERGED
