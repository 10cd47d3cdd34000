"""The step of UCRL3 and KL-UCRL: an optimist's, with sharper confidence sets and plain extended value iteration.

When to plan, what to remember and which action to take are those of kernels/optimist.py. Here are the plausible
sets and the sweeps over them. ``params.bernstein`` says which sets: an interval for every next state [BMT20], or a
ball of the Kullback-Leibler divergence [FCG10].
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import Record, RunInputs
from driftmdp.kernels.bellman import CONVERGED, COUNTS_FULL
from driftmdp.kernels.bernoulli_bounds import laplace, lower_bound, peeling, reward_bound, upper_bound
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import find_top, is_close, relax
from driftmdp.kernels.kl_ball import maximize_kl_ball
from driftmdp.kernels.near_optimistic_support import maximize_near_optimistically
from driftmdp.kernels.optimist import choose_start, commit_plan, group_slots, learn, release_states, should_replan
from driftmdp.kernels.sharp_arrays import SharpArrays
from driftmdp.kernels.world import take_step

# Then u moves half of the way only, because nearly deterministic cycles would swing for ever, and supports do not
# become smaller any more.
PLAIN_SWEEPS = 100
MOST_SWEEPS = 1000
KAPPA = 10.0  # of NOSS [BMT20]


@kernel
def plan(arrays: SharpArrays) -> int:
    """Begin an episode with an optimistic plan from what is remembered. Return CONVERGED."""
    base = arrays.base
    workspace, clock = base.workspace, base.plan_state.clock[0]
    n = group_slots(base.counts, workspace)
    # All states that are not remembered are alike: one more state stands for them, so that S does not matter.
    n_states = n if n == base.offsets.size - 1 else n + 1
    progress, candidate = workspace.progress[0], workspace.candidate[0]
    progress["n_remembered"], progress["n_states"] = n, n_states
    kappa = build_sets(arrays, n, n_states)
    choose_start(base, n, n_states)
    low, high, sweeps = iterate(arrays, n_states, kappa, 1.0 / clock["t"])
    candidate["t"], candidate["sweeps"], candidate["gain"] = clock["t"], sweeps, high
    candidate["residual"], candidate["widening"], candidate["accelerated"] = high - low, 0.0, False
    commit_plan(base)
    release_states(workspace)
    return CONVERGED


# the plausible sets --------------------------------------------------------------------------------------


@kernel
def build_sets(arrays: SharpArrays, n: int, n_states: int) -> float:
    """Write a row for every remembered pair, and one for all other pairs of a state.

    Return kappa of NOSS for a span of 1 and one observed next state.
    """
    params, _, offsets, counts, plan_state, workspace = arrays.base
    clock, sets = plan_state.clock[0], workspace.sets
    most, row, stored = 1.0, 0, 0
    reward_radius, kl_radius = kl_constants(arrays)
    # A pair without visits has N = 1 and mean 0 in the reward radius of [FCG10], and no bound in [BMT20].
    clock["unseen"] = 1.0 if params.ranged else reward_radius
    for i in range(n_states):
        sets.offsets[i] = row
        sets.weight[i] = 1.0 if i < n else offsets.size - 1 - n
        first, last = workspace.first_slot[i], workspace.first_slot[i + 1] if i < n else workspace.first_slot[i]
        for k in range(first, last):
            index = workspace.slot_order[k]
            most = max(most, counts.slots[index]["count"])
            bound_pair(arrays, index, row, reward_radius, kl_radius)
            workspace.row_of[index], sets.indptr[row] = row, stored
            stored = build_row(arrays, n_states, index, stored)
            sets.support[row] = stored - sets.indptr[row]
            row += 1
        # All pairs without visits are alike: one row for those of a state.
        if i == n or last - first < offsets[workspace.states[i] + 1] - offsets[workspace.states[i]]:
            sets.rewards[row], sets.radius[row], sets.indptr[row] = clock["unseen"], 1.0, stored
            sets.support[row] = 0
            row += 1
    sets.offsets[n_states], sets.indptr[row] = row, stored
    clock["n_reasons"] = counts.tally[0]["n_slots"]
    workspace.candidate[0]["vacuous"] = clock["n_reasons"] == 0
    return KAPPA / most ** (2.0 / 3.0)


@kernel
def bound_pair(arrays: SharpArrays, index: int, row: int, reward_radius: float, kl_radius: float) -> None:
    """Set the optimistic reward and the radius of the row of a slot, and note them as reasons."""
    params, sets, pairs = arrays.base.params, arrays.base.workspace.sets, arrays.buffers.pairs
    slot, reason = arrays.base.counts.slots[index], arrays.base.plan_state.reasons[index]
    count = slot["count"]
    if params.bernstein:
        update_bounds(arrays, index, params.transition_log + arrays.base.phases.log_delta[0])
        sets.rewards[row], sets.radius[row] = pairs[index]["reward"], pairs[index]["elsewhere"]
        arrays.buffers.joined[row] = 0.0
    else:
        sets.rewards[row] = slot["total"] / count + reward_radius / math.sqrt(count)
        sets.radius[row] = kl_radius / count
    if params.ranged:
        sets.rewards[row] = min(max(sets.rewards[row], 0.0), 1.0)
    reason["pair"], reason["count"] = slot["pair"], count
    reason["reward"], reason["radius"] = sets.rewards[row], sets.radius[row]


@kernel
def kl_constants(arrays: SharpArrays) -> tuple[float, float]:
    """Return C_R and C_P of [FCG10] at the time of the plan, scaled."""
    params, log_delta = arrays.base.params, arrays.base.phases.log_delta[0]
    log = math.log(max(2.0, float(arrays.base.plan_state.clock[0]["t"])))
    b = params.transition_log + math.log(log) + log_delta
    shifted = b + 1.0 / log
    kl_radius = params.transition_factor * (b + math.log(shifted) * (1.0 + 1.0 / shifted))
    reward_radius = math.sqrt(params.reward_factor * (params.reward_log + math.log(log) + log_delta))
    return params.scale * reward_radius, params.scale * kl_radius


@kernel
def update_bounds(arrays: SharpArrays, index: int, share: float) -> None:
    """Compute the bounds of a pair again if it has new visits. They depend on nothing else, [BMT20]."""
    counts, scale = arrays.base.counts, arrays.base.params.scale
    slot, pair = counts.slots[index], arrays.buffers.pairs[index]
    count = slot["count"]
    if pair["count"] == count:
        return
    mean = slot["total"] / count
    a, c = peeling(count, share), laplace(count, share)
    pair["count"] = count
    pair["reward"] = mean + scale * reward_bound(count, slot["squares"] / count - mean * mean, share)
    pair["elsewhere"] = upper_bound(0.0, a, c, scale)
    found = slot["head"]
    while found >= 0:
        p = counts.entries[found]["count"] / count
        arrays.buffers.lower[found] = lower_bound(p, a, c, scale)
        if p == 1.0:
            arrays.buffers.lower[found] = max(arrays.buffers.lower[found], arrays.certainty ** (1.0 / count))
        arrays.buffers.upper[found] = upper_bound(p, a, c, scale)
        found = counts.entries[found]["link"]


@kernel
def build_row(arrays: SharpArrays, n_states: int, index: int, z: int) -> int:
    """Write the observed next states of a pair from place ``z`` on. Return the place after them."""
    params, counts, workspace = arrays.base.params, arrays.base.counts, arrays.base.workspace
    sets, found = workspace.sets, counts.slots[index]["head"]
    while found >= 0:
        entry = counts.entries[found]
        local = workspace.local_of[entry["next_state"]]
        sets.indices[z] = local if local >= 0 else n_states - 1  # a next state without remembered actions
        if params.bernstein:
            sets.data[z] = arrays.buffers.lower[found]
            sets.slack[z] = arrays.buffers.upper[found] - arrays.buffers.lower[found]
        else:
            sets.data[z] = entry["count"] / counts.slots[index]["count"]
        z += 1
        found = entry["link"]
    return z


# extended value iteration --------------------------------------------------------------------------------


@kernel
def iterate(arrays: SharpArrays, n: int, kappa: float, precision: float) -> tuple[float, float, int]:
    """Iterate over n states from u. Return min and max of T u - u, and how many sweeps it took.

    If they are not within the precision after the last sweep, u is the best that was found.
    """
    workspace, best, least = arrays.base.workspace, arrays.buffers.best, np.inf
    for sweeps in range(1, MOST_SWEEPS + 1):
        low, high = sweep(arrays, n, kappa, sweeps > PLAIN_SWEEPS)
        if is_close(low, high, precision):
            complete_values(arrays, n, kappa)
            return low, high, sweeps
        if high - low < least:
            least = high - low
            for s in range(n):
                best[s] = workspace.u[s]
        relax(workspace, n, 1.0 if sweeps <= PLAIN_SWEEPS else 0.5)
    for s in range(n):
        workspace.u[s] = best[s]
    low, high = sweep(arrays, n, kappa, True)
    complete_values(arrays, n, kappa)
    return low, high, MOST_SWEEPS + 1


@kernel
def sweep(arrays: SharpArrays, n: int, kappa: float, grow: bool) -> tuple[float, float]:
    """Set ``new`` to T u and ``values`` to what attains it. Return min and max of T u - u.

    If ``grow``, supports keep what they had in the last such sweep.
    """
    workspace, params = arrays.base.workspace, arrays.base.params
    sets, u = workspace.sets, workspace.u
    top, _ = find_top(workspace, n, params.bernstein)
    low, high = np.inf, -np.inf
    for s in range(n):
        best = -np.inf
        last = sets.offsets[s + 1]
        # An action never tried promises the largest reward and the best state: no other one can promise more.
        first = last - 1 if params.ranged and sets.support[last - 1] == 0 else sets.offsets[s]
        for row in range(first, last):
            workspace.values[row] = row_value(arrays, row, n, top, kappa, grow)
            best = max(best, workspace.values[row])
        workspace.new[s] = best
        low, high = min(low, best - u[s]), max(high, best - u[s])
    return low, high


@kernel
def complete_values(arrays: SharpArrays, n: int, kappa: float) -> None:
    """Set the values of the rows that ``sweep`` leaves out."""
    workspace, params = arrays.base.workspace, arrays.base.params
    sets = workspace.sets
    top, _ = find_top(workspace, n, params.bernstein)
    for s in range(n):
        last = sets.offsets[s + 1]
        if params.ranged and sets.support[last - 1] == 0:
            for row in range(sets.offsets[s], last - 1):
                workspace.values[row] = row_value(arrays, row, n, top, kappa, False)


@kernel
def row_value(arrays: SharpArrays, row: int, n: int, top: int, kappa: float, grow: bool) -> float:
    """Return the optimistic value of a row."""
    workspace, joined = arrays.base.workspace, arrays.buffers.joined
    sets, u, order = workspace.sets, workspace.u, workspace.order
    support = sets.support[row]
    if support == 0:
        value = u[top]
    elif arrays.base.params.bernstein:
        allowed = kappa * (u[top] - u[order[0]]) * support
        kept = joined[row] if grow else 0.0
        value, kept = maximize_near_optimistically(sets, row, n, u, order, workspace.scratch, allowed, kept)
        if grow:
            joined[row] = kept
    else:
        value = maximize_kl_ball(sets, row, u, u[top])
    return sets.rewards[row] + value


@kernel
def play(
    inputs: RunInputs, arrays: SharpArrays, record: Record, first: int, last: int, watch: Watch | None = None
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``. Return the row reached and a status."""
    world, draws, noise = inputs
    base = arrays.base
    clock, plan_state = base.plan_state.clock[0], base.plan_state
    for step in range(first, last):
        state = record.states[step]
        if not transition_counts.has_space(base.counts):
            return step, COUNTS_FULL
        if should_replan(base, state):
            plan(arrays)
        if clock["tau"] == clock["t"]:
            record.sweeps[step] = plan_state.in_force[0]["sweeps"]
            record.vacuous[step] = plan_state.in_force[0]["vacuous"]
        action = plan_state.policy[state]
        if watch is not None:
            action = forced_action(watch, base.offsets, state, action)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(base, (state, base.offsets[state] + action, reward, next_state))
        if watch is not None:
            signal = watch_step(watch, state, base.offsets[state] + action, reward, next_state)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED
