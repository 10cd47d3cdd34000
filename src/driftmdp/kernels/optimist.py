"""An optimist's step: when to plan, planning, learning, and a whole run of such steps.

One definition serves the live agent, which calls ``should_replan``, ``plan`` and ``learn`` one by one, and
``play``, which calls them T times without leaving compiled code.
"""

import numpy as np

from driftmdp.kernels import transition_counts
from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Ints, Record, RunInputs, Step, TransitionCounts
from driftmdp.kernels.acceleration import accelerate
from driftmdp.kernels.bellman import BUFFER_FULL, CONVERGED, OUT_OF_BUDGET
from driftmdp.kernels.extended_value_iteration import TIE, count_extra_places, iterate, should_complete
from driftmdp.kernels.plan_arrays import OptimistArrays, OptimistParams, Phases, PlanState, PlanWorkspace
from driftmdp.kernels.world import take_step


@inlined_kernel
def should_replan(phases: Phases, offsets: Ints, plan_state: PlanState, state: int) -> bool:
    """Return whether the episode ends before a step in ``state``."""
    return should_end_episode(phases.every[plan_state.clock[0]["phase"]], offsets, plan_state, state)


@inlined_kernel
def should_end_episode(every: int, offsets: Ints, plan_state: PlanState, state: int) -> bool:
    """Return whether an episode that is cut at multiples of ``every`` ends before a step in ``state``."""
    clock = plan_state.clock[0]
    # [CSZ20] alg:swr-ucrl2, line 7, read as do-while: an episode has at least one step (paper-notes, item 1).
    if clock["tau"] == clock["t"]:
        return False
    if clock["tau"] == 0 or (every > 0 and (clock["t"] - clock["start"]) % every == 0):
        return True
    # nu = N+: the pair was visited as often in the episode as before it.
    visits = plan_state.visits[offsets[state] + plan_state.policy[state]]
    return visits["episode"] == clock["episode"] and visits["left"] <= 0


@inlined_kernel
def count_visit(plan_state: PlanState, pair: int) -> None:
    """Count a visit of the episode, and advance the clock."""
    clock, visits = plan_state.clock[0], plan_state.visits[pair]
    # Pairs not in memory at the plan have N+ = 1. The stamp of the episode saves resetting all pairs at each plan.
    if visits["episode"] != clock["episode"]:
        visits["episode"], visits["left"] = clock["episode"], 1
    visits["left"] -= 1
    clock["t"] += 1


@inlined_kernel
def learn(
    params: OptimistParams, phases: Phases, counts: TransitionCounts, plan_state: PlanState, step: Step
) -> None:
    """Remember a step and advance the clock. At a restart, forget everything."""
    state, pair, reward, next_state = step
    clock = plan_state.clock[0]
    if params.ranged == 1:
        reward = (reward - params.bottom) / params.span
    transition_counts.remember(counts, state, pair, next_state, reward)
    count_visit(plan_state, pair)
    following = clock["phase"] + 1
    if following < phases.starts.size and phases.starts[following] == clock["t"]:
        transition_counts.forget_all(counts)
        counts.tally[0]["window"] = phases.window[following]
        clock["phase"], clock["start"], clock["tau"] = following, clock["t"] - 1, 0


@inlined_kernel
def plan(arrays: OptimistArrays) -> int:
    """Begin an episode with an optimistic plan from what is remembered. Return a status.

    Where the workspace is too small it is BUFFER_FULL, and ``clock.need`` has the places that it takes.
    """
    params, _, offsets, counts, plan_state, workspace = arrays
    clock, u = plan_state.clock[0], workspace.u
    n = group_slots(counts, workspace)
    # All states that are not remembered are alike: one more state stands for them, so that S does not matter.
    n_local = n if n == offsets.size - 1 else n + 1
    stored = build_sets(arrays, n, n_local)
    if stored > workspace.indices.size:
        clock["need"] = stored
        release_states(n, workspace)
        return BUFFER_FULL
    for i in range(n_local):  # [CSZ20] alg:evi begins with u_0 = 0
        u[i], workspace.order[i] = 0.0, i
    if params.fast == 1:
        # Any u has a certificate, so the last plan's bias may be the start. Other states have bias 0 there.
        least = 0.0
        for i in range(n):
            u[i] = plan_state.bias[workspace.states[i]]
            least = min(least, u[i])
        for i in range(n_local):
            u[i] -= least
    precision = 1.0 / np.sqrt(clock["t"] - clock["start"])  # epsilon of [CSZ20] alg:swr-ucrl2, line 6
    low, high, sweeps, status = 0.0, np.inf, 0, OUT_OF_BUDGET
    if params.fast == 0:
        low, high, sweeps, status = iterate(workspace, n_local, precision)
    accelerated = status != CONVERGED
    if accelerated:
        low, high, more, status = accelerate(workspace, n_local, precision, False)
        sweeps += more
    clock["tried_gain"], clock["tried_residual"] = high, high - low
    clock["tried_sweeps"], clock["tried_accelerated"] = sweeps, accelerated
    if status == CONVERGED:
        commit_plan(arrays, n, n_local)
    return status


@inlined_kernel
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


@inlined_kernel
def build_sets(arrays: OptimistArrays, n: int, n_local: int) -> int:
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
    whole_radius = 1.0 if params.bernstein == 1 else 2.0
    # A pair without visits has N+ = 1 and mean 0.
    clock["unseen"] = 1.0 if params.ranged == 1 else reward_radius(params, log, 1.0, 0.0) + extra_r
    vacuous = True
    row, stored = 0, 0
    for i in range(n_local):
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
            radius_r = reward_radius(params, log, count, slot["squares"] / count - mean * mean) + extra_r
            radius = transition_radius(params, log, count) + extra_p
            reward = mean + radius_r
            if params.ranged == 1:
                reward = min(max(reward, 0.0), 1.0)
            # A plan is vacuous if the data exclude nothing: no reward in the range, and no distribution.
            vacuous &= radius >= whole_radius and params.ranged == 1 and radius_r >= 1.0
            reason["pair"], reason["count"] = slot["pair"], count
            reason["reward"], reason["radius"] = reward, radius
            if radius >= whole_radius:
                workspace.row_of[index] = -1
                best = max(best, reward)
            else:
                workspace.row_of[index] = row
                sets.rewards[row], sets.radius[row], sets.indptr[row] = reward, radius, stored
                stored = build_row(arrays, n_local, index, row, stored, log)
                row += 1
        # Pairs with the whole simplex lead anywhere: only the best of their rewards matters, in one row per state.
        if best > -np.inf:
            sets.rewards[row], sets.radius[row], sets.indptr[row] = best, whole_radius, stored
            sets.support[row] = 0
            stored += 1
            row += 1
    sets.offsets[n_local], sets.indptr[row] = row, stored
    clock["tried_vacuous"], clock["n_reasons"] = vacuous, counts.tally[0]["n_slots"]
    return stored


@inlined_kernel
def reward_radius(params: OptimistParams, log: float, count: float, variance: float) -> float:
    """Return the reward radius of [CSZ20] eq:Hr before widening. The variance matters to Bernstein only."""
    if params.bernstein == 1:
        share = (params.reward_log + np.log(count) + log) / count
        # Rounding may make the variance of equal rewards negative.
        return params.scale * (2.0 * np.sqrt(max(0.0, variance) * share) + 6.0 * share)
    return params.scale * np.sqrt(params.reward_factor * (params.reward_log + log) / count)


@inlined_kernel
def transition_radius(params: OptimistParams, log: float, count: float) -> float:
    """Return the L1 radius of [CSZ20] eq:Hp before widening. Bernstein: that of a next state never observed."""
    if params.bernstein == 1:
        return params.scale * 6.0 * (params.reward_log + np.log(count) + log) / count
    return params.scale * np.sqrt(params.transition_factor * (params.transition_log + log) / count)


@inlined_kernel
def build_row(arrays: OptimistArrays, n_local: int, index: int, row: int, stored: int, log: float) -> int:
    """Write the observed successors of a slot from place ``stored`` on. Return the place after its row."""
    params, phases, _, counts, plan_state, workspace = arrays
    sets, slot = workspace.sets, counts.slots[index]
    count, support = slot["count"], transition_counts.count_successors(counts, slot["head"])
    complete = params.bernstein == 0 and should_complete(support, n_local)
    sets.support[row] = n_local if complete else support
    if params.bernstein == 1:
        last = stored + support + count_extra_places(n_local, support, sets.radius[row])
    else:
        last = stored + sets.support[row] + 1
    if last > sets.indices.size:  # go on counting, so that the caller learns how many places are needed
        return last
    if complete:
        for i in range(n_local):
            sets.data[stored + i] = 0.0
    share = (params.reward_log + np.log(count) + log) / count if params.bernstein == 1 else 0.0
    extra = phases.transition_extra[plan_state.clock[0]["phase"]]
    found, z = slot["head"], stored
    while found >= 0:
        entry = counts.entries[found]
        local = workspace.local_of[entry["next_state"]]
        if local < 0:  # a next state without remembered actions
            local = n_local - 1
        p = entry["count"] / count  # p^, the estimate of [CSZ20] eq:p_bar
        if complete:
            sets.data[stored + local] += p
        else:
            sets.indices[z], sets.data[z] = local, p
        if params.bernstein == 1:
            radius = params.scale * (2.0 * np.sqrt(p * (1.0 - p) * share) + 6.0 * share) + extra
            sets.data[z] = max(0.0, p - radius)
            sets.slack[z] = min(1.0, p + radius) - sets.data[z]
        z += 1
        found = entry["link"]
    return last


@inlined_kernel
def commit_plan(arrays: OptimistArrays, n: int, n_local: int) -> None:
    """Take the policy of the last sweep. [CSZ20] alg:evi, line 4, with ties within 1e-9."""
    _, phases, _, counts, plan_state, workspace = arrays
    clock = plan_state.clock[0]
    # Only the states of the last plan are cleared: a plan costs what is remembered, whatever S is.
    for i in range(clock["n_touched"]):
        plan_state.policy[plan_state.touched[i]] = 0
        plan_state.bias[plan_state.touched[i]] = 0.0
    top = -np.inf
    for i in range(n_local):
        top = max(top, workspace.u[i])
    # Biases relative to the states that are not remembered, whose entries stay 0.
    elsewhere = workspace.u[n] if n < n_local else 0.0
    clock["top"] = top - elsewhere
    for i in range(n):
        state = workspace.states[i]
        plan_state.touched[i] = state
        plan_state.bias[state] = workspace.u[i] - elsewhere
        plan_state.policy[state] = choose(arrays, i, top)
    clock["n_touched"] = n
    clock["episode"] += 1
    clock["tau"] = clock["planned"] = clock["t"]
    clock["widening"] = phases.transition_extra[clock["phase"]]
    clock["gain"], clock["residual"] = clock["tried_gain"], clock["tried_residual"]
    clock["sweeps"], clock["accelerated"] = clock["tried_sweeps"], clock["tried_accelerated"]
    clock["is_vacuous"] = clock["tried_vacuous"]
    for index in range(counts.tally[0]["n_slots"]):
        visits = plan_state.visits[counts.slots[index]["pair"]]
        visits["episode"], visits["left"] = clock["episode"], counts.slots[index]["count"]
    release_states(n, workspace)


@inlined_kernel
def choose(arrays: OptimistArrays, i: int, top: float) -> int:
    """Return the action of a remembered state. Ties go to the least visited, then to the lowest."""
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
            count = 0.0 if params.first_tie == 1 else counts.slots[index]["count"]
            # Slots are in no order of actions, so the number decides among equals.
            if count < least or (count == least and other < action):
                action, least = other, count
    return action


@inlined_kernel
def release_states(n: int, workspace: PlanWorkspace) -> None:
    """Reset ``local_of`` of the remembered states for the next plan."""
    for i in range(n):
        workspace.local_of[workspace.states[i]] = -1


@lean_kernel
def play(inputs: RunInputs, arrays: OptimistArrays, record: Record, first: int, last: int) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status."""
    world, draws, noise = inputs
    params, phases, offsets, counts, plan_state, _ = arrays
    for step in range(first, last):
        state = record.states[step]
        # Arrays cannot grow in compiled code: the caller enlarges them and comes back to the same step.
        if not transition_counts.has_space(counts):
            return step, BUFFER_FULL
        if should_replan(phases, offsets, plan_state, state):
            status = plan(arrays)
            if status != CONVERGED:
                return step, status
        if plan_state.clock[0]["tau"] == plan_state.clock[0]["t"]:
            record.sweeps[step] = plan_state.clock[0]["sweeps"]
            record.vacuous[step] = plan_state.clock[0]["is_vacuous"] == 1
        action = plan_state.policy[state]
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(params, phases, counts, plan_state, (state, offsets[state] + action, reward, next_state))
    return last, CONVERGED
