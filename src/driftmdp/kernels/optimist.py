"""An optimist's step: when to plan, planning, learning, and a whole run of such steps.

One definition serves the live agent, which calls ``should_replan``, ``plan`` and ``learn`` one by one, and
``play``, which calls them T times without leaving compiled code. For [CSZ20] alg:swr-ucrl2:

=======  ====================================================  =============================================
lines    the paper                                             here
=======  ====================================================  =============================================
7        while t is no multiple of W and nu < N+               ``should_replan``
4        tau = t, nu = 0, N from the last W steps              ``commit_plan``, kernels/transition_counts.py
5        the plausible sets H_r and H_p(eta)                   ``build_sets``
6        the policy of EVI to precision 1/sqrt(tau)            ``begin_plan``, ``choose``
8, 9     act, observe, count the visit, t + 1                  ``play``, ``learn``
=======  ====================================================  =============================================

UCRL2 and the other optimists differ in their memory, radii and schedule only, which are numbers here.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.acceleration import SPARSE_ROUNDS, accelerate
from driftmdp.kernels.arrays import Ints, Record, RunInputs, Step, TransitionCounts
from driftmdp.kernels.bellman import BUFFER_FULL, CONVERGED, COUNTS_FULL, OUT_OF_BUDGET, SOLVE_SPARSELY, STALLED
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import (
    TIE,
    count_extra_places,
    is_close,
    iterate,
    needs_sorting,
    should_complete,
    sweep,
)
from driftmdp.kernels.plan_arrays import OptimistArrays, OptimistParams, PlanState, PlanWorkspace
from driftmdp.kernels.world import take_step


@kernel
def should_replan(arrays: OptimistArrays, state: int) -> bool:
    """Return whether the episode ends before a step in ``state``."""
    every = arrays.phases.every[arrays.plan_state.clock[0]["phase"]]
    return should_end_episode(every, arrays.offsets, arrays.plan_state, state)


@kernel
def should_end_episode(every: int, offsets: Ints, plan_state: PlanState, state: int) -> bool:
    """Return whether an episode that is cut at multiples of ``every`` ends before a step in ``state``."""
    clock = plan_state.clock[0]
    # [CSZ20] alg:swr-ucrl2, line 7, read as do-while: an episode has at least one step (paper-notes, item 1).
    if clock["tau"] == clock["t"]:
        return False
    if clock["tau"] == 0 or (every > 0 and (clock["t"] - clock["start"]) % every == 0):
        return True
    # nu = N+: the pair was visited as often in the episode as is remembered from before it.
    visits = plan_state.visits[offsets[state] + plan_state.policy[state]]
    return visits["episode"] == clock["episode"] and visits["left"] <= 0


@kernel
def count_visit(plan_state: PlanState, pair: int) -> None:
    """Count a visit of the episode, and advance the clock: [CSZ20] alg:swr-ucrl2, line 9."""
    clock, visits = plan_state.clock[0], plan_state.visits[pair]
    # Pairs not in memory at the plan have N+ = 1. The stamp of the episode saves resetting all pairs at each plan.
    if visits["episode"] != clock["episode"]:
        visits["episode"], visits["left"] = clock["episode"], 1
    visits["left"] -= 1
    clock["t"] += 1


@kernel
def learn(arrays: OptimistArrays, step: Step) -> None:
    """Remember a step and advance the clock. At a restart, forget everything."""
    params, phases, counts, plan_state = arrays.params, arrays.phases, arrays.counts, arrays.plan_state
    state, pair, reward, next_state = step
    clock = plan_state.clock[0]
    if params.ranged:  # the radii of eq:Hr are those of rewards in [0, 1]
        reward = (reward - params.bottom) / params.span
    transition_counts.remember(counts, state, pair, next_state, reward)
    count_visit(plan_state, pair)
    following = clock["phase"] + 1
    if following < phases.starts.size and phases.starts[following] == clock["t"]:
        transition_counts.forget_all(counts)
        counts.tally[0]["window"] = phases.window[following]
        clock["phase"], clock["start"], clock["tau"] = following, clock["t"] - 1, 0


@kernel
def plan(arrays: OptimistArrays) -> int:
    """Begin an episode with an optimistic plan from what is remembered. Return a status.

    ==============  ===================================================================================
    CONVERGED       the plan is in force
    STALLED         there is no such plan, and ``candidate`` has the best that was found
    BUFFER_FULL     its sets take ``progress.places``: make a workspace for them, and call again
    SOLVE_SPARSELY  solve the MDP found, with its bias in u, and call again: the plan goes on from there
    ==============  ===================================================================================
    """
    workspace = arrays.workspace
    candidate, progress = workspace.candidate[0], workspace.progress[0]
    if progress["t"] == arrays.plan_state.clock[0]["t"]:
        status = SOLVE_SPARSELY  # which the caller has done
        progress["rounds"] += 1
        candidate["sweeps"] += 1
    else:
        release_states(workspace)  # those of a plan that its caller gave up
        status = begin_plan(arrays)
    if status == SOLVE_SPARSELY:
        # Whatever solved it, the next step certifies u. It also finds the MDP to be solved if it does not.
        sort = needs_sorting(workspace.sets, progress["n_states"])
        low, high = sweep(workspace, progress["n_states"], sort, True)
        candidate["gain"], candidate["residual"] = high, high - low
        if is_close(low, high, progress["precision"]):
            status = CONVERGED
        elif progress["rounds"] < SPARSE_ROUNDS:
            progress["t"] = arrays.plan_state.clock[0]["t"]
            return SOLVE_SPARSELY
        else:
            status = STALLED
    if status == CONVERGED:
        commit_plan(arrays)
    release_states(workspace)
    return status


@kernel
def begin_plan(arrays: OptimistArrays) -> int:
    """Write the plausible sets and iterate over them as far as compiled code can. Return a status as ``plan``."""
    params, counts, plan_state, workspace = arrays.params, arrays.counts, arrays.plan_state, arrays.workspace
    clock, candidate, progress = plan_state.clock[0], workspace.candidate[0], workspace.progress[0]
    n = group_slots(counts, workspace)
    # All states that are not remembered are alike: one more state stands for them, so that S does not matter.
    n_states = n if n == arrays.offsets.size - 1 else n + 1
    precision = 1.0 / np.sqrt(clock["t"] - clock["start"])  # epsilon of [CSZ20] alg:swr-ucrl2, line 6
    progress["n_remembered"], progress["n_states"] = n, n_states
    progress["rounds"], progress["precision"] = 0, precision
    progress["places"] = build_sets(arrays, n, n_states)
    if progress["places"] > workspace.indices.size:
        return BUFFER_FULL
    choose_start(arrays, n, n_states)
    low, high, sweeps, status = 0.0, np.inf, 0, OUT_OF_BUDGET
    if not params.fast:
        low, high, sweeps, status = iterate(workspace, n_states, precision)
    candidate["accelerated"] = status != CONVERGED
    if status != CONVERGED:
        low, high, more, status = accelerate(workspace, n_states, precision, False)
        sweeps += more
    candidate["t"], candidate["sweeps"] = clock["t"], sweeps
    candidate["gain"], candidate["residual"] = high, high - low
    candidate["widening"] = arrays.phases.transition_extra[clock["phase"]]
    return status


@kernel
def choose_start(arrays: OptimistArrays, n: int, n_states: int) -> None:
    """Set u to what iteration begins with, u_0 = 0 of [CSZ20] alg:evi or the bias of the last plan."""
    u, order = arrays.workspace.u, arrays.workspace.order
    for i in range(n_states):
        u[i], order[i] = 0.0, i
    if arrays.params.fast:
        # Any u has a certificate, so the last plan's bias may be the start. Other states have bias 0 there.
        least = 0.0
        for i in range(n):
            u[i] = arrays.plan_state.bias[arrays.workspace.states[i]]
            least = min(least, u[i])
        for i in range(n_states):
            u[i] -= least


@kernel
def group_slots(counts: TransitionCounts, workspace: PlanWorkspace) -> int:
    """Group the slots by state and give the remembered states numbers. Return how many there are."""
    n = 0
    n_slots = counts.tally[0]["n_slots"]
    # A counting sort. Sizes stand two places up, so that the starts, moved on while filling, end where they belong.
    first = workspace.first_slot
    first[0] = first[1] = 0
    for index in range(n_slots):
        state = counts.slots[index]["state"]
        if workspace.local_of[state] < 0:
            workspace.local_of[state] = n
            workspace.states[n] = state
            first[n + 2] = 0
            n += 1
        first[workspace.local_of[state] + 2] += 1
    for i in range(2, n + 2):
        first[i] += first[i - 1]
    for index in range(n_slots):
        local = workspace.local_of[counts.slots[index]["state"]]
        workspace.slot_order[first[local + 1]] = index
        first[local + 1] += 1
    return n


@kernel
def build_sets(arrays: OptimistArrays, n: int, n_states: int) -> int:
    """Write the plausible sets, [CSZ20] eq:Hr and eq:Hp. Return how many places their rows take.

    Only what fits is written.
    """
    params, phases, offsets, counts, plan_state, workspace = arrays
    clock, sets = plan_state.clock[0], workspace.sets
    phase = clock["phase"]
    # The part of the logarithms in the radii that all pairs share.
    log = params.power * np.log(clock["t"] - clock["start"]) + phases.log_delta[phase]
    extra_r, extra_p = phases.reward_extra[phase], phases.transition_extra[phase]
    # From this radius on a set is the whole simplex: distributions are at most 2 apart in L1.
    whole_radius = 1.0 if params.bernstein else 2.0
    # A pair without visits has N+ = 1 and mean 0.
    clock["unseen"] = 1.0 if params.ranged else reward_radius(params, log, 1.0, 0.0) + extra_r
    vacuous = True
    row, stored = 0, 0
    for i in range(n_states):
        sets.offsets[i] = row
        sets.weight[i] = 1.0 if i < n else offsets.size - 1 - n
        first, last = workspace.first_slot[i], workspace.first_slot[i + 1] if i < n else workspace.first_slot[i]
        has_unseen = i == n or last - first < offsets[workspace.states[i] + 1] - offsets[workspace.states[i]]
        best = clock["unseen"] if has_unseen else -np.inf
        for k in range(first, last):
            index = workspace.slot_order[k]
            slot, reason = counts.slots[index], plan_state.reasons[index]
            count = slot["count"]
            mean = slot["total"] / count
            # r~ is the largest plausible reward, [CSZ20] alg:evi, line 5: only the upper end of H_r matters.
            radius_r = reward_radius(params, log, count, slot["squares"] / count - mean * mean) + extra_r
            radius = transition_radius(params, log, count) + extra_p
            reward = mean + radius_r
            if params.ranged:
                reward = min(max(reward, 0.0), 1.0)
            # A plan is vacuous if the data exclude nothing: no reward in the range, and no distribution.
            vacuous &= radius >= whole_radius and params.ranged and radius_r >= 1.0
            reason["pair"], reason["count"] = slot["pair"], count
            reason["reward"], reason["radius"] = reward, radius
            if radius >= whole_radius:
                workspace.row_of[index] = -1
                best = max(best, reward)
            else:
                workspace.row_of[index] = row
                sets.rewards[row], sets.radius[row], sets.indptr[row] = reward, radius, stored
                stored = build_row(arrays, n_states, index, row, stored, log)
                row += 1
        # Pairs with the whole simplex lead anywhere: only the best of their rewards matters, in one row per state.
        if best > -np.inf:
            sets.rewards[row], sets.radius[row], sets.indptr[row] = best, whole_radius, stored
            sets.support[row] = 0
            stored += 1
            row += 1
    sets.offsets[n_states], sets.indptr[row] = row, stored
    workspace.candidate[0]["vacuous"], clock["n_reasons"] = vacuous, counts.tally[0]["n_slots"]
    return stored


@kernel
def reward_radius(params: OptimistParams, log: float, count: float, variance: float) -> float:
    """Return the reward radius of [CSZ20] eq:Hr before widening. The variance matters to Bernstein only."""
    if params.bernstein:
        share = (params.reward_log + np.log(count) + log) / count
        # Rounding may make the variance of equal rewards negative.
        return params.scale * (2.0 * np.sqrt(max(0.0, variance) * share) + 6.0 * share)
    return params.scale * np.sqrt(params.reward_factor * (params.reward_log + log) / count)


@kernel
def transition_radius(params: OptimistParams, log: float, count: float) -> float:
    """Return the L1 radius of [CSZ20] eq:Hp before widening. Bernstein: that of a next state never observed."""
    if params.bernstein:
        return params.scale * 6.0 * (params.reward_log + np.log(count) + log) / count
    return params.scale * np.sqrt(params.transition_factor * (params.transition_log + log) / count)


@kernel
def build_row(arrays: OptimistArrays, n_states: int, index: int, row: int, stored: int, log: float) -> int:
    """Write the observed successors of a slot from place ``stored`` on. Return the place after its row."""
    params, phases, _, counts, plan_state, workspace = arrays
    sets, slot = workspace.sets, counts.slots[index]
    count, support = slot["count"], transition_counts.count_successors(counts, slot["head"])
    complete = not params.bernstein and should_complete(support, n_states)
    sets.support[row] = n_states if complete else support
    if params.bernstein:
        last = stored + support + count_extra_places(n_states, support, sets.radius[row])
    else:
        last = stored + sets.support[row] + 1
    if last > sets.indices.size:  # go on counting, so that the caller learns how many places are needed
        return last
    if complete:
        for i in range(n_states):
            sets.data[stored + i] = 0.0
    share = (params.reward_log + np.log(count) + log) / count if params.bernstein else 0.0
    extra = phases.transition_extra[plan_state.clock[0]["phase"]]
    found, z = slot["head"], stored
    while found >= 0:
        entry = counts.entries[found]
        local = workspace.local_of[entry["next_state"]]
        if local < 0:  # a next state without remembered actions
            local = n_states - 1
        p = entry["count"] / count  # p^, the estimate of [CSZ20] eq:p_bar
        if complete:
            sets.data[stored + local] += p
        else:
            sets.indices[z], sets.data[z] = local, p
        if params.bernstein:
            radius = params.scale * (2.0 * np.sqrt(p * (1.0 - p) * share) + 6.0 * share) + extra
            sets.data[z] = max(0.0, p - radius)
            sets.slack[z] = min(1.0, p + radius) - sets.data[z]
        z += 1
        found = entry["link"]
    return last


@kernel
def commit_plan(arrays: OptimistArrays) -> None:
    """Put the candidate in force, with the policy of its last sweep, [CSZ20] alg:evi, line 4.

    An episode begins, [CSZ20] alg:swr-ucrl2, line 4: every pair has N+ visits left in it.
    """
    counts, plan_state, workspace = arrays.counts, arrays.plan_state, arrays.workspace
    clock, n, n_states = (
        plan_state.clock[0],
        workspace.progress[0]["n_remembered"],
        workspace.progress[0]["n_states"],
    )
    # Only the states of the last plan are cleared: a plan costs what is remembered, whatever S is.
    for i in range(clock["n_touched"]):
        plan_state.policy[plan_state.touched[i]] = 0
        plan_state.bias[plan_state.touched[i]] = 0.0
    top = -np.inf
    for i in range(n_states):
        top = max(top, workspace.u[i])
    # Biases relative to the states that are not remembered, whose entries stay 0.
    elsewhere = workspace.u[n] if n < n_states else 0.0
    clock["top"] = top - elsewhere
    for i in range(n):
        state = workspace.states[i]
        plan_state.touched[i] = state
        plan_state.bias[state] = workspace.u[i] - elsewhere
        plan_state.policy[state] = choose(arrays, i, top)
    clock["n_touched"] = n
    clock["episode"] += 1
    clock["tau"] = clock["t"]
    # nu = 0, kept as f N+ - nu. Pairs that are not remembered get their N+ = 1 when they are visited.
    growth = episode_growth(arrays.params, clock["t"] - clock["start"])
    for index in range(counts.tally[0]["n_slots"]):
        visits = plan_state.visits[counts.slots[index]["pair"]]
        visits["episode"], visits["left"] = clock["episode"], math.ceil(growth * counts.slots[index]["count"])
    in_force, made = plan_state.in_force[0], workspace.candidate[0]
    in_force["t"], in_force["sweeps"], in_force["widening"] = made["t"], made["sweeps"], made["widening"]
    in_force["gain"], in_force["residual"] = made["gain"], made["residual"]
    in_force["vacuous"], in_force["accelerated"] = made["vacuous"], made["accelerated"]


@kernel
def episode_growth(params: OptimistParams, t: int) -> float:
    """Return the growth of a pair's visits that ends an episode: f of [BG25], or 1 for doubling."""
    return math.sqrt(math.log(1.0 + t) / t) if params.vanishing else 1.0


@kernel
def choose(arrays: OptimistArrays, i: int, top: float) -> int:
    """Return the action of a remembered state: argmax of Upsilon~, [CSZ20] alg:evi, line 4.

    Actions within 1e-9 of the best are ties, because rounding must not decide. They go to the least visited, then
    to the lowest.
    """
    params, _, offsets, counts, plan_state, workspace = arrays
    state = workspace.states[i]
    first, last = workspace.first_slot[i], workspace.first_slot[i + 1]
    has_unseen = last - first < offsets[state + 1] - offsets[state]
    # A pair with the whole simplex has no row of its own: all its mass goes to the best state.
    best = plan_state.clock[0]["unseen"] + top if has_unseen else -np.inf
    for k in range(first, last):
        index = workspace.slot_order[k]
        row = workspace.row_of[index]
        value = workspace.values[row] if row >= 0 else plan_state.reasons[index]["reward"] + top
        # Relative to the state's own value, as ``explain`` shows it.
        plan_state.reasons[index]["value"] = value - workspace.u[i]
        best = max(best, value)
    best -= workspace.u[i] + TIE
    action, least = 0, np.inf
    # Of the actions without a visit the first competes: the others tie with it exactly.
    if has_unseen and plan_state.clock[0]["unseen"] + top - workspace.u[i] >= best:
        action, least = 0, 0.0
        while counts.slot_of[offsets[state] + action] >= 0:
            action += 1
    for k in range(first, last):
        index = workspace.slot_order[k]
        if plan_state.reasons[index]["value"] >= best:
            other = counts.slots[index]["pair"] - offsets[state]
            count = 0.0 if params.first_tie else counts.slots[index]["count"]
            # Slots are in no order of actions, so the number decides among equals.
            if count < least or (count == least and other < action):
                action, least = other, count
    return action


@kernel
def release_states(workspace: PlanWorkspace) -> None:
    """Close a plan: reset ``local_of`` of the remembered states for the next."""
    progress = workspace.progress[0]
    for i in range(progress["n_remembered"]):
        workspace.local_of[workspace.states[i]] = -1
    progress["t"], progress["n_remembered"] = 0, 0


@kernel
def play(
    inputs: RunInputs, arrays: OptimistArrays, record: Record, first: int, last: int, watch: Watch | None = None
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status.

    It is that of ``plan``, or COUNTS_FULL: the caller does what it asks for and comes back to the same step.
    A watch may force actions, and stops the run by its own status after the step that it fires on.
    """
    world, draws, noise = inputs
    clock, plan_state = arrays.plan_state.clock[0], arrays.plan_state
    for step in range(first, last):
        state = record.states[step]
        if not transition_counts.has_space(arrays.counts):
            return step, COUNTS_FULL
        if should_replan(arrays, state):
            status = plan(arrays)
            if status != CONVERGED:
                return step, status
        if clock["tau"] == clock["t"]:
            record.sweeps[step] = plan_state.in_force[0]["sweeps"]
            record.vacuous[step] = plan_state.in_force[0]["vacuous"]
        action = plan_state.policy[state]
        if watch is not None:
            action = forced_action(watch, arrays.offsets, state, action)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(arrays, (state, arrays.offsets[state] + action, reward, next_state))
        if watch is not None:
            signal = watch_step(watch, state, arrays.offsets[state] + action, reward, next_state)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED
