"""An optimist's step: when to plan, planning, learning; and a whole run of such steps.

One definition serves the live agent, which calls ``should_replan``, ``plan`` and ``learn`` one by one, and
``play``, which calls them T times without leaving compiled code.

``plan`` and ``play`` are compiled in two ways: with ``acceleration``, and with None for it. Then they do the
paper's sweeps; where these are too many (PLAIN_SWEEPS), they ask for help, and acceleration is compiled only then
(docs/decisions/0012).
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import extended_value_iteration, inner_max, transition_counts
from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import (
    Draws,
    Ints,
    OptimistParams,
    Phases,
    PlanState,
    PlanWorkspace,
    Record,
    TransitionCounts,
    WorldArrays,
)
from driftmdp.kernels.bellman import CONVERGED, NO_ROOM
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import take_step


@inlined_kernel
def should_replan(phases: Phases, offsets: Ints, plan_state: PlanState, state: int) -> bool:
    """Return whether the episode ends before a step in ``state``.

    [CSZ20] alg:swr-ucrl2, line 7, read as do-while: an episode has at least one step (docs/paper-notes.md, item 1).
    """
    clock = plan_state.clock[0]
    if clock["tau"] == clock["t"]:
        return False
    every = phases.every[clock["phase"]]
    if clock["tau"] == 0 or (every > 0 and (clock["t"] - clock["start"]) % every == 0):
        return True
    visits = plan_state.visits[offsets[state] + plan_state.policy[state]]
    return visits["episode"] == clock["episode"] and visits["left"] <= 0


@inlined_kernel
def learn(
    rules: OptimistParams,
    phases: Phases,
    known: TransitionCounts,
    plan_state: PlanState,
    state: int,
    pair: int,
    reward: float,
    next_state: int,
) -> None:
    """Remember a step and let time pass; at a restart, forget everything."""
    clock = plan_state.clock[0]
    if rules.ranged == 1:
        reward = (reward - rules.bottom) / rules.span
    transition_counts.remember(known, state, pair, next_state, reward)
    visits = plan_state.visits[pair]
    if visits["episode"] != clock["episode"]:
        visits["episode"], visits["left"] = clock["episode"], 1
    visits["left"] -= 1
    clock["t"] += 1
    following = clock["phase"] + 1
    if following < phases.starts.size and phases.starts[following] == clock["t"]:
        transition_counts.forget_all(known)
        known.tally[0]["window"] = phases.window[following]
        clock["phase"], clock["start"], clock["tau"] = following, clock["t"] - 1, 0


@inlined_kernel
def plan(
    rules: OptimistParams,
    phases: Phases,
    offsets: Ints,
    known: TransitionCounts,
    plan_state: PlanState,
    workspace: PlanWorkspace,
    acceleration: int | None,
) -> int:
    """Begin an episode with an optimistic plan from what is remembered; return a status.

    Without ``acceleration`` the status is TOO_SLOW where plain sweeps are not enough.
    """
    n, n_local = prepare(rules, phases, offsets, known, plan_state, workspace)
    if n_local == 0:
        release(n, workspace)
        return NO_ROOM
    clock = plan_state.clock[0]
    precision = 1.0 / np.sqrt(clock["t"] - clock["start"])
    if acceleration is None:  # numba then leaves the other branch out
        low, high, sweeps, status = extended_value_iteration.iterate_plainly(workspace, n_local, precision)
        accelerated = False
    else:
        low, high, sweeps, status, accelerated = extended_value_iteration.iterate(
            workspace, n_local, precision, rules.fast == 1, False
        )
    clock["tried_gain"], clock["tried_residual"] = high, high - low
    clock["tried_sweeps"], clock["tried_accelerated"] = sweeps, accelerated
    if status == CONVERGED:
        commit_plan(
            rules, phases.transition_extra[clock["phase"]], offsets, known, plan_state, workspace, n, n_local
        )
    return status


@inlined_kernel
def prepare(
    rules: OptimistParams,
    phases: Phases,
    offsets: Ints,
    known: TransitionCounts,
    plan_state: PlanState,
    workspace: PlanWorkspace,
) -> tuple[int, int]:
    """Lay out the plausible sets and the first u; return how many states are remembered, and with the rest.

    The second number is 0 where the draft is too small; then ``clock.need`` says what it takes.
    """
    n = group(known, workspace)
    n_local = n if n == offsets.size - 1 else n + 1
    stored = build_sets(rules, phases, offsets, known, plan_state, workspace, n, n_local)
    if stored > workspace.indices.size:
        plan_state.clock[0]["need"] = stored
        return n, 0
    for i in range(n_local):
        workspace.u[i] = 0.0
    if rules.fast == 1:
        base = 0.0
        for i in range(n):
            workspace.u[i] = plan_state.bias[workspace.states[i]]
            base = min(base, workspace.u[i])
        for i in range(n_local):
            workspace.u[i] -= base
    return n, n_local


@inlined_kernel
def group(known: TransitionCounts, workspace: PlanWorkspace) -> int:
    """Group the slots by state and give the remembered states numbers; return how many there are."""
    n = 0
    n_slots = known.tally[0]["n_slots"]
    first = workspace.first_slot
    first[0] = first[1] = 0
    for index in range(n_slots):
        state = known.slots[index]["state"]
        if workspace.local_of[state] < 0:
            workspace.local_of[state] = n
            workspace.states[n] = state
            first[n + 2] = 0
            n += 1
        first[workspace.local_of[state] + 2] += 1
    for i in range(2, n + 2):
        first[i] += first[i - 1]
    for index in range(n_slots):
        local = workspace.local_of[known.slots[index]["state"]]
        workspace.slot_order[first[local + 1]] = index
        first[local + 1] += 1
    return n


@inlined_kernel
def build_sets(
    rules: OptimistParams,
    phases: Phases,
    offsets: Ints,
    known: TransitionCounts,
    plan_state: PlanState,
    workspace: PlanWorkspace,
    n: int,
    n_local: int,
) -> int:
    """Write the plausible sets; return how much room their rows take, and write only what fits.

    Pairs with the whole simplex, never seen or with a vacuous radius, become one row per state: the best of their
    rewards.
    """
    clock, sets = plan_state.clock[0], workspace.sets
    phase = clock["phase"]
    log = rules.power * np.log(clock["t"] - clock["start"]) + phases.log_delta[phase]
    extra_r, extra_p = phases.reward_extra[phase], phases.transition_extra[phase]
    whole_radius = 1.0 if rules.bernstein == 1 else 2.0
    clock["unseen"] = 1.0 if rules.ranged == 1 else reward_radius(rules, log, 1.0, 0.0) + extra_r
    vacuous = True
    row, stored = 0, 0
    for i in range(n_local):
        sets.offsets[i] = row
        sets.weight[i] = 1.0 if i < n else offsets.size - 1 - n
        first, last = workspace.first_slot[i], workspace.first_slot[i + 1] if i < n else workspace.first_slot[i]
        has_unseen = i == n or last - first < actions_of(offsets, workspace.states[i])
        best = clock["unseen"] if has_unseen else -np.inf
        for k in range(first, last):
            index = workspace.slot_order[k]
            slot, reason = known.slots[index], plan_state.reasons[index]
            count = slot["count"]
            mean = slot["total"] / count
            radius_r = reward_radius(rules, log, count, slot["squares"] / count - mean * mean) + extra_r
            radius = transition_radius(rules, log, count) + extra_p
            reward = mean + radius_r
            if rules.ranged == 1:
                reward = min(max(reward, 0.0), 1.0)
            vacuous &= radius >= whole_radius and rules.ranged == 1 and radius_r >= 1.0
            reason["pair"], reason["count"] = slot["pair"], count
            reason["reward"], reason["radius"] = reward, radius
            if radius >= whole_radius:
                workspace.row_of[index] = -1
                best = max(best, reward)
            else:
                workspace.row_of[index] = row
                sets.rewards[row], sets.radius[row], sets.indptr[row] = reward, radius, stored
                stored = lay_row(rules, known, workspace, n_local, index, row, stored, log, extra_p)
                row += 1
        if best > -np.inf:
            sets.rewards[row], sets.radius[row], sets.indptr[row] = best, whole_radius, stored
            sets.support[row] = 0
            stored += 1
            row += 1
    sets.offsets[n_local], sets.indptr[row] = row, stored
    clock["tried_vacuous"], clock["n_reasons"] = vacuous, known.tally[0]["n_slots"]
    return stored


@inlined_kernel
def reward_radius(rules: OptimistParams, log: float, count: float, variance: float) -> float:
    """Return the reward radius before widening; the variance matters to Bernstein only."""
    if rules.bernstein == 1:
        share = (rules.reward_log + np.log(count) + log) / count
        return rules.scale * (2.0 * np.sqrt(max(0.0, variance) * share) + 6.0 * share)
    return rules.scale * np.sqrt(rules.reward_factor * (rules.reward_log + log) / count)


@inlined_kernel
def transition_radius(rules: OptimistParams, log: float, count: float) -> float:
    """Return the L1 radius before widening; Bernstein: that of a next state that was not observed."""
    if rules.bernstein == 1:
        return rules.scale * 6.0 * (rules.reward_log + np.log(count) + log) / count
    return rules.scale * np.sqrt(rules.transition_factor * (rules.transition_log + log) / count)


@inlined_kernel
def actions_of(offsets: Ints, state: int) -> int:
    """Return how many actions a state offers."""
    return offsets[state + 1] - offsets[state]


@inlined_kernel
def lay_row(
    rules: OptimistParams,
    known: TransitionCounts,
    workspace: PlanWorkspace,
    n_local: int,
    index: int,
    row: int,
    stored: int,
    log: float,
    extra: float,
) -> int:
    """Write the observed successors of a slot from place ``stored`` on; return the place after its row."""
    sets, slot = workspace.sets, known.slots[index]
    count, support = slot["count"], successors(known, slot["head"])
    complete = rules.bernstein == 0 and inner_max.wants_completion(support, n_local)
    sets.support[row] = n_local if complete else support
    if rules.bernstein == 1:
        last = stored + support + extended_value_iteration.widest(n_local, support, sets.radius[row])
    else:
        last = stored + sets.support[row] + 1
    if last > sets.indices.size:
        return last
    if complete:
        for i in range(n_local):
            sets.data[stored + i] = 0.0
    share = (rules.reward_log + np.log(count) + log) / count if rules.bernstein == 1 else 0.0
    found, z = slot["head"], stored
    while found >= 0:
        entry = known.entries[found]
        local = workspace.local_of[entry["next_state"]]
        if local < 0:
            local = n_local - 1
        p = entry["count"] / count
        if complete:
            sets.data[stored + local] += p
        else:
            sets.indices[z], sets.data[z] = local, p
        if rules.bernstein == 1:
            radius = rules.scale * (2.0 * np.sqrt(p * (1.0 - p) * share) + 6.0 * share) + extra
            sets.data[z] = max(0.0, p - radius)
            sets.room[z] = min(1.0, p + radius) - sets.data[z]
        z += 1
        found = entry["link"]
    return last


@inlined_kernel
def successors(known: TransitionCounts, head: int) -> int:
    """Return how many next states a pair's entries have."""
    count = 0
    while head >= 0:
        count += 1
        head = known.entries[head]["link"]
    return count


@inlined_kernel
def commit_plan(
    rules: OptimistParams,
    widening: float,
    offsets: Ints,
    known: TransitionCounts,
    plan_state: PlanState,
    workspace: PlanWorkspace,
    n: int,
    n_local: int,
) -> None:
    """Take the policy of the last sweep; [CSZ20] alg:evi, line 4, with ties within 1e-9."""
    clock = plan_state.clock[0]
    for i in range(clock["n_touched"]):
        plan_state.policy[plan_state.touched[i]] = 0
        plan_state.bias[plan_state.touched[i]] = 0.0
    top = -np.inf
    for i in range(n_local):
        top = max(top, workspace.u[i])
    elsewhere = workspace.u[n] if n < n_local else 0.0
    clock["top"] = top - elsewhere
    for i in range(n):
        state = workspace.states[i]
        plan_state.touched[i] = state
        plan_state.bias[state] = workspace.u[i] - elsewhere
        plan_state.policy[state] = choose(rules, offsets, known, plan_state, workspace, i, top)
    clock["n_touched"] = n
    clock["episode"] += 1
    clock["tau"] = clock["planned"] = clock["t"]
    clock["widening"] = widening
    clock["gain"], clock["residual"], clock["sweeps"] = (
        clock["tried_gain"],
        clock["tried_residual"],
        clock["tried_sweeps"],
    )
    clock["is_vacuous"], clock["accelerated"] = clock["tried_vacuous"], clock["tried_accelerated"]
    for index in range(known.tally[0]["n_slots"]):
        visits = plan_state.visits[known.slots[index]["pair"]]
        visits["episode"], visits["left"] = clock["episode"], known.slots[index]["count"]
    release(n, workspace)


@inlined_kernel
def choose(
    rules: OptimistParams,
    offsets: Ints,
    known: TransitionCounts,
    plan_state: PlanState,
    workspace: PlanWorkspace,
    i: int,
    top: float,
) -> int:
    """Return the action of a remembered state; ties go to the least visited, then to the lowest."""
    state = workspace.states[i]
    first, last = workspace.first_slot[i], workspace.first_slot[i + 1]
    has_unseen = last - first < actions_of(offsets, state)
    best = plan_state.clock[0]["unseen"] + top if has_unseen else -np.inf
    for k in range(first, last):
        index = workspace.slot_order[k]
        row = workspace.row_of[index]
        value = workspace.values[row] if row >= 0 else plan_state.reasons[index]["reward"] + top
        plan_state.reasons[index]["value"] = value - workspace.u[i]
        best = max(best, value)
    best -= workspace.u[i] + TIE
    action, least = 0, np.inf
    if has_unseen and plan_state.clock[0]["unseen"] + top - workspace.u[i] >= best:
        action, least = 0, 0.0
        while known.slot_of[offsets[state] + action] >= 0:
            action += 1
    for k in range(first, last):
        index = workspace.slot_order[k]
        if plan_state.reasons[index]["value"] >= best:
            other = known.slots[index]["pair"] - offsets[state]
            count = 0.0 if rules.first_tie == 1 else known.slots[index]["count"]
            if count < least or (count == least and other < action):
                action, least = other, count
    return action


@inlined_kernel
def release(n: int, workspace: PlanWorkspace) -> None:
    """Take the numbers of the remembered states back."""
    for i in range(n):
        workspace.local_of[workspace.states[i]] = -1


@lean_kernel
def play(
    world: WorldArrays,
    draws: Draws,
    noise: tuple[int, float, float, float],
    rules: OptimistParams,
    phases: Phases,
    offsets: Ints,
    known: TransitionCounts,
    plan_state: PlanState,
    workspace: PlanWorkspace,
    record: Record,
    first: int,
    last: int,
    acceleration: int | None,
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status."""
    for step in range(first, last):
        state = record.states[step]
        if not transition_counts.has_room(known):
            return step, NO_ROOM
        if should_replan(phases, offsets, plan_state, state):
            status = plan(rules, phases, offsets, known, plan_state, workspace, acceleration)
            if status != CONVERGED:
                return step, status
        if plan_state.clock[0]["tau"] == plan_state.clock[0]["t"]:
            record.sweeps[step] = plan_state.clock[0]["sweeps"]
            record.vacuous[step] = plan_state.clock[0]["is_vacuous"] == 1
        action = plan_state.policy[state]
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(rules, phases, known, plan_state, state, offsets[state] + action, reward, next_state)
    return last, CONVERGED
