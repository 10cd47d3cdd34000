"""The adaptive agent's step: look at some pairs, plan, act, learn; and a whole run of such steps.

One definition serves the live agent, which calls ``think``, ``choose`` and ``learn`` one by one, and ``play``,
which calls them T times without leaving compiled code. kernels/fading_memory.py has the memories that it plans
with.

The plan is relative value iteration on the mixed model, a few sweeps a step from where it was, since a step changes
little. With N_s and N visits of a state and one of the P pairs, and L = 1 + curiosity ln (max(N_s, t / P) / N), the
value of a pair is

    hoped + (1 - l) min(H, p^h + spread sqrt(L Var_p^(h) / n)) + l H,    l = leak L / (n + leak L),
    H = min(max h, mean h + boldness L sd h),

and that of one that was never tried, with z = boldness (1 + curiosity ln (1 + N_s)), t for N_s in a state that was
never met, and m pairs known,

    min(1, mean r^ + z (sd r^ + 1 / (m + 1))) + min(max h, mean h + z sd h).
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import fading_memory, transition_counts
from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.adaptive_arrays import AdaptiveParams, AdaptivePlan, ExpertWeights, FadingMemory
from driftmdp.kernels.arrays import Draws, Ints, Record, TransitionCounts, WorldArrays
from driftmdp.kernels.bellman import CONVERGED, NO_ROOM
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import take_step

ROWS = 32  # pairs that are looked at each step, in turn, beside those of the state
SWEEPS = 10  # at most, a step
PRECISION = 0.01  # of a plan, in units of the reward range: then no more sweeps this step
PATIENCE = 50_000  # next states known, beyond which a plan is made more rarely than every step
LAZY = 0.9  # of a sweep's way is gone, so that no period withstands


@inlined_kernel
def think(
    params: AdaptiveParams,
    offsets: Ints,
    known: TransitionCounts,
    past: FadingMemory,
    judged: ExpertWeights,
    plan: AdaptivePlan,
) -> None:
    """Bring some pairs up to date, and the plan on; once a step."""
    facts = plan.facts[0]
    if facts["thought"] == facts["t"]:
        return
    facts["thought"] = facts["t"]
    n = known.tally[0]["n_slots"]
    for _ in range(min(n, ROWS)):
        facts["cursor"] = facts["cursor"] + 1 if facts["cursor"] + 1 < n else 0
        fading_memory.refresh(params, known, past, judged, facts["cursor"], facts["t"])
    if facts["t"] % max(params.every, 1 + known.tally[0]["n_entries"] // PATIENCE) == 0:
        facts["planned"], facts["sweeps"] = facts["t"], 0
        look_at_rewards(known, past, plan)
        while facts["sweeps"] < SWEEPS:
            sweep(params, offsets, known, past, plan)
            facts["sweeps"] += 1
            if facts["residual"] <= PRECISION:
                break
        look_at_values(plan)
        facts["plans"] += 1


@inlined_kernel
def look_at_rewards(known: TransitionCounts, past: FadingMemory, plan: AdaptivePlan) -> None:
    """Note mean and deviation of the rewards known."""
    n, total, squares = known.tally[0]["n_slots"], 0.0, 0.0
    for index in range(n):
        mean = past.pairs[index]["mean"]
        total += mean
        squares += mean * mean
    facts = plan.facts[0]
    facts["reward_mean"] = total / n if n > 0 else 1.0
    facts["reward_spread"] = np.sqrt(max(0.0, squares / n - (total / n) ** 2)) if n > 0 else 0.0


@inlined_kernel
def look_at_values(plan: AdaptivePlan) -> None:
    """Note largest value, mean and deviation over all states; those not known have one value in common."""
    facts = plan.facts[0]
    n_states = plan.bias.size
    unknown = n_states - facts["n_touched"]
    value = facts["elsewhere"]
    top = value if unknown > 0 else -np.inf
    total, squares = unknown * value, unknown * value * value
    for i in range(facts["n_touched"]):
        value = plan.bias[plan.touched[i]]
        top = max(top, value)
        total += value
        squares += value * value
    mean = total / n_states
    facts["top"], facts["mean"] = top, mean
    facts["deviation"] = np.sqrt(max(0.0, squares / n_states - mean * mean))


@inlined_kernel
def untried_value(params: AdaptiveParams, known: TransitionCounts, plan: AdaptivePlan, visits: float) -> float:
    """Return the value of a pair that was never tried, in a state with so many visits."""
    facts = plan.facts[0]
    z = params.boldness * (1.0 + params.curiosity * np.log(1.0 + visits))
    surprise = 1.0 / (known.tally[0]["n_slots"] + 1.0)
    reward = min(1.0, facts["reward_mean"] + z * (facts["reward_spread"] + surprise))
    return reward + min(facts["top"], facts["mean"] + z * facts["deviation"])


@inlined_kernel
def value_of(
    params: AdaptiveParams, known: TransitionCounts, past: FadingMemory, plan: AdaptivePlan, index: int
) -> float:
    """Return the value of a known pair."""
    facts, pair = plan.facts[0], past.pairs[index]
    mean, squares, found = 0.0, 0.0, known.slots[index]["head"]
    while found >= 0:
        entry = known.entries[found]
        value, chance = plan.bias[entry["next_state"]], past.chances[found]
        mean += chance * value
        squares += chance * value * value
        found = entry["link"]
    doubt = pair["doubt"]
    top = min(facts["top"], facts["mean"] + params.boldness * doubt * facts["deviation"])
    n = pair["weight"] + 1e-9
    value = mean + params.spread * np.sqrt(doubt * max(0.0, squares - mean * mean) / n)
    value = max(mean, min(value, top))
    leak = params.leak * doubt / (n + params.leak * doubt)
    return pair["hoped"] + (1.0 - leak) * value + leak * top


@inlined_kernel
def sweep(
    params: AdaptiveParams, offsets: Ints, known: TransitionCounts, past: FadingMemory, plan: AdaptivePlan
) -> None:
    """Move the values of all states most of the way to what their best pair promises."""
    facts, bias, swept = plan.facts[0], plan.bias, plan.swept
    look_at_values(plan)
    n = facts["n_touched"]
    for i in range(n):
        s = plan.touched[i]
        has_untried = plan.tried[s] < offsets[s + 1] - offsets[s]
        swept[s] = untried_value(params, known, plan, plan.visits[s]) if has_untried else -np.inf
    for index in range(known.tally[0]["n_slots"]):
        s = known.slots[index]["state"]
        swept[s] = max(swept[s], value_of(params, known, past, plan, index))
    elsewhere = untried_value(params, known, plan, float(facts["t"]))
    low, high, least = np.inf, -np.inf, np.inf
    if n < bias.size:
        low = high = elsewhere - facts["elsewhere"]
        facts["elsewhere"] += LAZY * low
        least = facts["elsewhere"]
    for i in range(n):
        s = plan.touched[i]
        change = swept[s] - bias[s]
        low, high = min(low, change), max(high, change)
        bias[s] += LAZY * change
        least = min(least, bias[s])
    if n < bias.size:
        facts["elsewhere"] -= least
    for i in range(n):
        bias[plan.touched[i]] -= least
    facts["gain"], facts["residual"] = high, high - low


@inlined_kernel
def choose(
    params: AdaptiveParams,
    offsets: Ints,
    known: TransitionCounts,
    past: FadingMemory,
    judged: ExpertWeights,
    plan: AdaptivePlan,
    state: int,
) -> int:
    """Return the action of the largest value; ties go to the least visited, then to the lowest."""
    action, best, least = 0, -np.inf, np.inf
    for pair in range(offsets[state], offsets[state + 1]):
        index = known.slot_of[pair]
        if index >= 0:
            fading_memory.refresh(params, known, past, judged, index, plan.facts[0]["t"])
            value, count = value_of(params, known, past, plan, index), known.slots[index]["count"]
        else:
            value, count = untried_value(params, known, plan, plan.visits[state]), 0.0
        if value > best + TIE or (value >= best - TIE and count < least):
            action, best, least = pair - offsets[state], value, count
    return action


@inlined_kernel
def meet(plan: AdaptivePlan, state: int) -> None:
    """Take a state among those known; it is worth what unknown ones are."""
    if plan.is_known[state] == 0:
        plan.is_known[state] = 1
        facts = plan.facts[0]
        plan.touched[facts["n_touched"]] = state
        plan.bias[state] = facts["elsewhere"]
        facts["n_touched"] += 1


@inlined_kernel
def learn(
    params: AdaptiveParams,
    offsets: Ints,
    known: TransitionCounts,
    past: FadingMemory,
    judged: ExpertWeights,
    plan: AdaptivePlan,
    step: tuple[int, int, float, int],
) -> None:
    """Take in a step, (state, pair, reward, next state), and let time pass."""
    state, pair, reward, next_state = step
    reward = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    t = plan.facts[0]["t"]
    index = known.slot_of[pair]
    if index >= 0:
        fading_memory.judge(params, known, past, judged, index, (reward, next_state, plan.bias.size, t))
    else:
        plan.tried[state] += 1
    index = fading_memory.remember(known, past, judged, (state, pair, reward, next_state), t)
    meet(plan, state)
    meet(plan, next_state)
    plan.visits[state] += 1.0
    for other in range(offsets[state], offsets[state + 1]):
        if known.slot_of[other] >= 0:
            slot = known.slot_of[other]
            past.pairs[slot]["rarity"] = np.log(plan.visits[state] / known.slots[slot]["count"])
    plan.facts[0]["t"] += 1
    fading_memory.refresh(params, known, past, judged, index, t + 1)


@lean_kernel
def play(
    world: WorldArrays,
    draws: Draws,
    noise: tuple[int, float, float, float],
    params: AdaptiveParams,
    offsets: Ints,
    known: TransitionCounts,
    past: FadingMemory,
    judged: ExpertWeights,
    plan: AdaptivePlan,
    record: Record,
    first: int,
    last: int,
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status."""
    for step in range(first, last):
        if not transition_counts.has_room(known):
            return step, NO_ROOM
        state = record.states[step]
        think(params, offsets, known, past, judged, plan)
        action = choose(params, offsets, known, past, judged, plan, state)
        facts = plan.facts[0]
        record.sweeps[step] = facts["sweeps"] if facts["planned"] == facts["t"] else 0
        reward, next_state = take_step(world, draws, noise, record, step, action)
        pair = offsets[state] + action
        learn(params, offsets, known, past, judged, plan, (state, pair, reward, next_state))
    return last, CONVERGED
