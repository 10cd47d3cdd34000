"""The plausible sets that an optimist plans with, [CSZ20] eq:Hr and eq:Hp, written from what it remembers.

A row holds the set of one pair: the largest plausible reward, and the distributions of the next state around the
observed one. Pairs of a state that may still lead anywhere share a row. Remembered states have numbers in the order
in which they are met. kernels/given_sets.py writes sets that are given instead.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import TransitionCounts
from driftmdp.kernels.extended_value_iteration import count_extra_places, should_complete
from driftmdp.kernels.plan_arrays import OptimistArrays, OptimistParams, PlanWorkspace


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
