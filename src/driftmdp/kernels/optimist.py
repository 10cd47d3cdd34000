"""An optimist's step: when to plan, planning, learning; and a whole run of such steps.

One definition serves the live agent, which calls ``is_due``, ``plan`` and ``learn`` one by one, and ``play``, which
calls them T times without leaving compiled code.

``plan`` and ``play`` are compiled in two ways: with ``acceleration``, and with None for it. Then they do the
paper's sweeps; where these are too many (PLAIN_SWEEPS), they ask for help, and acceleration is compiled only then
(docs/decisions/0012).
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import extended, inner, memory
from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Draft, Ints, Luck, Memory, Mind, Phases, Record, Rules, World
from driftmdp.kernels.bellman import CONVERGED, NO_ROOM
from driftmdp.kernels.extended import TIE
from driftmdp.kernels.world import take_step


@inlined_kernel
def is_due(phases: Phases, offsets: Ints, mind: Mind, state: int) -> bool:
    """Return whether the episode ends before a step in ``state``.

    [CSZ20] alg:swr-ucrl2, line 7, read as do-while: an episode has at least one step (docs/paper-notes.md, item 1).
    """
    clock = mind.clock[0]
    if clock["tau"] == clock["t"]:
        return False
    every = phases.every[clock["phase"]]
    if clock["tau"] == 0 or (every > 0 and (clock["t"] - clock["start"]) % every == 0):
        return True
    visits = mind.visits[offsets[state] + mind.policy[state]]
    return visits["episode"] == clock["episode"] and visits["left"] <= 0


@inlined_kernel
def learn(
    rules: Rules,
    phases: Phases,
    known: Memory,
    mind: Mind,
    state: int,
    pair: int,
    reward: float,
    next_state: int,
) -> None:
    """Remember a step and let time pass; at a restart, forget everything."""
    clock = mind.clock[0]
    if rules.ranged == 1:
        reward = (reward - rules.bottom) / rules.span
    memory.remember(known, state, pair, next_state, reward)
    visits = mind.visits[pair]
    if visits["episode"] != clock["episode"]:
        visits["episode"], visits["left"] = clock["episode"], 1
    visits["left"] -= 1
    clock["t"] += 1
    following = clock["phase"] + 1
    if following < phases.starts.size and phases.starts[following] == clock["t"]:
        memory.forget_all(known)
        known.tally[0]["window"] = phases.window[following]
        clock["phase"], clock["start"], clock["tau"] = following, clock["t"] - 1, 0


@inlined_kernel
def plan(
    rules: Rules,
    phases: Phases,
    offsets: Ints,
    known: Memory,
    mind: Mind,
    draft: Draft,
    acceleration: int | None,
) -> int:
    """Begin an episode with an optimistic plan from what is remembered; return a status.

    Without ``acceleration`` the status is TOO_SLOW where plain sweeps are not enough.
    """
    n, n_local = prepare(rules, phases, offsets, known, mind, draft)
    if n_local == 0:
        release(n, draft)
        return NO_ROOM
    clock = mind.clock[0]
    precision = 1.0 / np.sqrt(clock["t"] - clock["start"])
    if acceleration is None:  # numba then leaves the other branch out
        low, high, sweeps, status = extended.iterate_plainly(draft, n_local, precision)
        accelerated = False
    else:
        low, high, sweeps, status, accelerated = extended.iterate(draft, n_local, precision, rules.fast == 1, False)
    clock["tried_gain"], clock["tried_residual"] = high, high - low
    clock["tried_sweeps"], clock["tried_accelerated"] = sweeps, accelerated
    if status == CONVERGED:
        settle(rules, phases.transition_extra[clock["phase"]], offsets, known, mind, draft, n, n_local)
    return status


@inlined_kernel
def prepare(
    rules: Rules, phases: Phases, offsets: Ints, known: Memory, mind: Mind, draft: Draft
) -> tuple[int, int]:
    """Lay out the plausible sets and the first u; return how many states are remembered, and with the rest.

    The second number is 0 where the draft is too small; then ``clock.need`` says what it takes.
    """
    n = group(known, draft)
    n_local = n if n == offsets.size - 1 else n + 1
    stored = lay_out(rules, phases, offsets, known, mind, draft, n, n_local)
    if stored > draft.indices.size:
        mind.clock[0]["need"] = stored
        return n, 0
    for i in range(n_local):
        draft.u[i] = 0.0
    if rules.fast == 1:
        base = 0.0
        for i in range(n):
            draft.u[i] = mind.bias[draft.states[i]]
            base = min(base, draft.u[i])
        for i in range(n_local):
            draft.u[i] -= base
    return n, n_local


@inlined_kernel
def group(known: Memory, draft: Draft) -> int:
    """Group the slots by state and give the remembered states numbers; return how many there are."""
    n = 0
    n_slots = known.tally[0]["n_slots"]
    first = draft.first_slot
    first[0] = first[1] = 0
    for index in range(n_slots):
        state = known.slots[index]["state"]
        if draft.local_of[state] < 0:
            draft.local_of[state] = n
            draft.states[n] = state
            first[n + 2] = 0
            n += 1
        first[draft.local_of[state] + 2] += 1
    for i in range(2, n + 2):
        first[i] += first[i - 1]
    for index in range(n_slots):
        local = draft.local_of[known.slots[index]["state"]]
        draft.slot_order[first[local + 1]] = index
        first[local + 1] += 1
    return n


@inlined_kernel
def lay_out(
    rules: Rules,
    phases: Phases,
    offsets: Ints,
    known: Memory,
    mind: Mind,
    draft: Draft,
    n: int,
    n_local: int,
) -> int:
    """Write the plausible sets; return how much room their rows take, and write only what fits.

    Pairs with the whole simplex, never seen or with a vacuous radius, become one row per state: the best of their
    rewards.
    """
    clock, sets = mind.clock[0], draft.sets
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
        first, last = draft.first_slot[i], draft.first_slot[i + 1] if i < n else draft.first_slot[i]
        has_unseen = i == n or last - first < actions_of(offsets, draft.states[i])
        best = clock["unseen"] if has_unseen else -np.inf
        for k in range(first, last):
            index = draft.slot_order[k]
            slot, reason = known.slots[index], mind.reasons[index]
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
                draft.row_of[index] = -1
                best = max(best, reward)
            else:
                draft.row_of[index] = row
                sets.rewards[row], sets.radius[row], sets.indptr[row] = reward, radius, stored
                stored = lay_row(rules, known, draft, n_local, index, row, stored, log, extra_p)
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
def reward_radius(rules: Rules, log: float, count: float, variance: float) -> float:
    """Return the reward radius before widening; the variance matters to Bernstein only."""
    if rules.bernstein == 1:
        share = (rules.reward_log + np.log(count) + log) / count
        return rules.scale * (2.0 * np.sqrt(max(0.0, variance) * share) + 6.0 * share)
    return rules.scale * np.sqrt(rules.reward_factor * (rules.reward_log + log) / count)


@inlined_kernel
def transition_radius(rules: Rules, log: float, count: float) -> float:
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
    rules: Rules,
    known: Memory,
    draft: Draft,
    n_local: int,
    index: int,
    row: int,
    stored: int,
    log: float,
    extra: float,
) -> int:
    """Write the observed successors of a slot from place ``stored`` on; return the place after its row."""
    sets, slot = draft.sets, known.slots[index]
    count, support = slot["count"], successors(known, slot["head"])
    complete = rules.bernstein == 0 and inner.wants_completion(support, n_local)
    sets.support[row] = n_local if complete else support
    if rules.bernstein == 1:
        last = stored + support + extended.widest(n_local, support, sets.radius[row])
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
        local = draft.local_of[entry["next_state"]]
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
def successors(known: Memory, head: int) -> int:
    """Return how many next states a pair's entries have."""
    count = 0
    while head >= 0:
        count += 1
        head = known.entries[head]["link"]
    return count


@inlined_kernel
def settle(
    rules: Rules, widening: float, offsets: Ints, known: Memory, mind: Mind, draft: Draft, n: int, n_local: int
) -> None:
    """Take the policy of the last sweep; [CSZ20] alg:evi, line 4, with ties within 1e-9."""
    clock = mind.clock[0]
    for i in range(clock["n_touched"]):
        mind.policy[mind.touched[i]] = 0
        mind.bias[mind.touched[i]] = 0.0
    top = -np.inf
    for i in range(n_local):
        top = max(top, draft.u[i])
    elsewhere = draft.u[n] if n < n_local else 0.0
    clock["top"] = top - elsewhere
    for i in range(n):
        state = draft.states[i]
        mind.touched[i] = state
        mind.bias[state] = draft.u[i] - elsewhere
        mind.policy[state] = choose(rules, offsets, known, mind, draft, i, top)
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
        visits = mind.visits[known.slots[index]["pair"]]
        visits["episode"], visits["left"] = clock["episode"], known.slots[index]["count"]
    release(n, draft)


@inlined_kernel
def choose(rules: Rules, offsets: Ints, known: Memory, mind: Mind, draft: Draft, i: int, top: float) -> int:
    """Return the action of a remembered state; ties go to the least visited, then to the lowest."""
    state = draft.states[i]
    first, last = draft.first_slot[i], draft.first_slot[i + 1]
    has_unseen = last - first < actions_of(offsets, state)
    best = mind.clock[0]["unseen"] + top if has_unseen else -np.inf
    for k in range(first, last):
        index = draft.slot_order[k]
        row = draft.row_of[index]
        value = draft.values[row] if row >= 0 else mind.reasons[index]["reward"] + top
        mind.reasons[index]["value"] = value - draft.u[i]
        best = max(best, value)
    best -= draft.u[i] + TIE
    action, least = 0, np.inf
    if has_unseen and mind.clock[0]["unseen"] + top - draft.u[i] >= best:
        action, least = 0, 0.0
        while known.slot_of[offsets[state] + action] >= 0:
            action += 1
    for k in range(first, last):
        index = draft.slot_order[k]
        if mind.reasons[index]["value"] >= best:
            other = known.slots[index]["pair"] - offsets[state]
            count = 0.0 if rules.first_tie == 1 else known.slots[index]["count"]
            if count < least or (count == least and other < action):
                action, least = other, count
    return action


@inlined_kernel
def release(n: int, draft: Draft) -> None:
    """Take the numbers of the remembered states back."""
    for i in range(n):
        draft.local_of[draft.states[i]] = -1


@lean_kernel
def play(
    world: World,
    luck: Luck,
    noise: tuple[int, float, float, float],
    rules: Rules,
    phases: Phases,
    offsets: Ints,
    known: Memory,
    mind: Mind,
    draft: Draft,
    record: Record,
    first: int,
    last: int,
    acceleration: int | None,
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status."""
    for step in range(first, last):
        state = record.states[step]
        if not memory.has_room(known):
            return step, NO_ROOM
        if is_due(phases, offsets, mind, state):
            status = plan(rules, phases, offsets, known, mind, draft, acceleration)
            if status != CONVERGED:
                return step, status
        if mind.clock[0]["tau"] == mind.clock[0]["t"]:
            record.sweeps[step] = mind.clock[0]["sweeps"]
            record.vacuous[step] = mind.clock[0]["is_vacuous"] == 1
        action = mind.policy[state]
        reward, next_state = take_step(world, luck, noise, record, step, action)
        learn(rules, phases, known, mind, state, offsets[state] + action, reward, next_state)
    return last, CONVERGED
