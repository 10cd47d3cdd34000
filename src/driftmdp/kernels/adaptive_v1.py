"""The step of AdaptiveV1: refresh some pairs, plan, act, learn, and a whole run of such steps.

One definition serves the live agent, which calls ``improve_plan``, ``choose`` and ``learn`` one by one, and
``play``, which calls them T times without leaving compiled code. kernels/fading_memory_v1.py has the memories that
it plans with.

The plan is relative value iteration on the mixed model, a few sweeps per step from where it was, since a step
changes little. With N_s and N visits of a state and one of the P pairs, and
L = 1 + curiosity ln (max(N_s, t / P) / N), the value of a pair is

    hoped + (1 - l) min(H, p^h + spread sqrt(L Var_p^(h) / n)) + l H,    l = leak L / (n + leak L),
    H = min(max h, mean h + boldness L sd h),

and that of one that was never tried, with z = boldness (1 + curiosity ln (1 + N_s)), t for N_s in a state that was
never met, and m pairs tried,

    min(1, mean r^ + z (sd r^ + 1 / (m + 1))) + min(max h, mean h + z sd h).
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import fading_memory_v1, transition_counts
from driftmdp.kernels.acceleration import DAMPING
from driftmdp.kernels.adaptive_v1_arrays import AdaptiveV1Arrays, AdaptiveV1Params, AdaptiveV1Plan, FadingMemoryV1
from driftmdp.kernels.arrays import Ints, Record, RunInputs, Step, TransitionCounts
from driftmdp.kernels.bellman import CONVERGED, COUNTS_FULL
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import take_step

PAIRS_PER_STEP = 32  # that are refreshed each step, in turn, beside those of the state
MAX_SWEEPS_PER_STEP = 10
SWEEP_PRECISION = 0.01  # of a plan, in units of the reward range: then no more sweeps this step
ENTRIES_PER_STEP = 50_000  # with more next states in memory, a plan is made more rarely than every step


@kernel
def improve_plan(arrays: AdaptiveV1Arrays) -> None:
    """Refresh some pairs and improve the plan, once per step."""
    params, offsets, counts, fading, _, plan = arrays
    facts = plan.facts[0]
    if facts["thought"] == facts["t"]:  # ``act`` may be called again before ``observe``
        return
    facts["thought"] = facts["t"]
    # A few pairs in turn: what fades moves slowly, and a step must not cost what is remembered.
    n = counts.tally[0]["n_slots"]
    for _ in range(min(n, PAIRS_PER_STEP)):
        facts["cursor"] = facts["cursor"] + 1 if facts["cursor"] + 1 < n else 0
        fading_memory_v1.refresh_pair(arrays, facts["cursor"], facts["t"])
    if facts["t"] % max(params.every, 1 + counts.tally[0]["n_entries"] // ENTRIES_PER_STEP) == 0:
        facts["planned"], facts["sweeps"] = facts["t"], 0
        summarize_rewards(counts, fading, plan)
        while facts["sweeps"] < MAX_SWEEPS_PER_STEP:
            sweep(params, offsets, counts, fading, plan)
            facts["sweeps"] += 1
            if facts["residual"] <= SWEEP_PRECISION:
                break
        summarize_values(plan)
        facts["plans"] += 1


@kernel
def summarize_rewards(counts: TransitionCounts, fading: FadingMemoryV1, plan: AdaptiveV1Plan) -> None:
    """Note mean and deviation of the mean rewards of the pairs that were tried."""
    n, total, squares = counts.tally[0]["n_slots"], 0.0, 0.0
    for index in range(n):
        mean = fading.pairs[index]["mean"]
        total += mean
        squares += mean * mean
    facts = plan.facts[0]
    facts["reward_mean"] = total / n if n > 0 else 1.0
    facts["reward_spread"] = np.sqrt(max(0.0, squares / n - (total / n) * (total / n))) if n > 0 else 0.0


@kernel
def summarize_values(plan: AdaptiveV1Plan) -> None:
    """Note largest value, mean and deviation over all states."""
    facts = plan.facts[0]
    n_states = plan.bias.size
    # States that were never met are alike, and share one value: the cost does not depend on S.
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


@kernel
def evaluate_untried(
    params: AdaptiveV1Params, counts: TransitionCounts, plan: AdaptiveV1Plan, visits: float
) -> float:
    """Return the value of a pair that was never tried, in a state with so many visits."""
    facts = plan.facts[0]
    z = params.boldness * (1.0 + params.curiosity * np.log(1.0 + visits))
    # Few tried pairs show too little of how rewards differ.
    surprise = 1.0 / (counts.tally[0]["n_slots"] + 1.0)
    reward = min(1.0, facts["reward_mean"] + z * (facts["reward_spread"] + surprise))
    return reward + min(facts["top"], facts["mean"] + z * facts["deviation"])


@kernel
def evaluate_pair(
    params: AdaptiveV1Params, counts: TransitionCounts, fading: FadingMemoryV1, plan: AdaptiveV1Plan, index: int
) -> float:
    """Return the value of a pair that was tried."""
    facts, pair = plan.facts[0], fading.pairs[index]
    mean, squares, found = 0.0, 0.0, counts.slots[index]["head"]
    while found >= 0:
        entry = counts.entries[found]
        value, chance = plan.bias[entry["next_state"]], fading.chances[found]
        mean += chance * value
        squares += chance * value * value
        found = entry["link"]
    optimism = pair["doubt"]  # L of the module's formula
    # H: no state was seen to be better than the top, and one far above the others is not to be expected.
    top = min(facts["top"], facts["mean"] + params.boldness * optimism * facts["deviation"])
    n = pair["weight"] + 1e-9  # a pair that has faded away has weight 0
    value = mean + params.spread * np.sqrt(optimism * max(0.0, squares - mean * mean) / n)
    value = max(mean, min(value, top))
    # A next state that was not seen may always come, the less likely the more visits there are.
    leak = params.leak * optimism / (n + params.leak * optimism)
    return pair["hoped"] + (1.0 - leak) * value + leak * top


@kernel
def sweep(
    params: AdaptiveV1Params, offsets: Ints, counts: TransitionCounts, fading: FadingMemoryV1, plan: AdaptiveV1Plan
) -> None:
    """Move the values of all states most of the way to those of their best pairs."""
    facts, bias, swept = plan.facts[0], plan.bias, plan.swept
    summarize_values(plan)
    n = facts["n_touched"]
    for i in range(n):
        s = plan.touched[i]
        has_untried = plan.tried[s] < offsets[s + 1] - offsets[s]
        swept[s] = evaluate_untried(params, counts, plan, plan.visits[s]) if has_untried else -np.inf
    for index in range(counts.tally[0]["n_slots"]):
        s = counts.slots[index]["state"]
        swept[s] = max(swept[s], evaluate_pair(params, counts, fading, plan, index))
    # A state never met is valued like an untried pair with t visits of its state.
    elsewhere = evaluate_untried(params, counts, plan, float(facts["t"]))
    low, high, least = np.inf, -np.inf, np.inf
    if n < bias.size:
        low = high = elsewhere - facts["elsewhere"]
        facts["elsewhere"] += DAMPING * low
        least = facts["elsewhere"]
    for i in range(n):
        s = plan.touched[i]
        change = swept[s] - bias[s]
        low, high = min(low, change), max(high, change)
        bias[s] += DAMPING * change  # full steps may circle with the period of a chain
        least = min(least, bias[s])
    if n < bias.size:
        facts["elsewhere"] -= least
    for i in range(n):
        bias[plan.touched[i]] -= least
    # [P94, Theorem 8.5.5]: the gain of the mixed model lies between low and high.
    facts["gain"], facts["residual"] = high, high - low


@kernel
def choose(arrays: AdaptiveV1Arrays, state: int) -> int:
    """Return the action of the largest value. Ties go to the least visited, then to the lowest."""
    params, offsets, counts, fading, _, plan = arrays
    action, best, least = 0, -np.inf, np.inf
    for pair in range(offsets[state], offsets[state + 1]):
        index = counts.slot_of[pair]
        if index >= 0:
            # These decide now, so they are brought up to date whoever's turn it is.
            fading_memory_v1.refresh_pair(arrays, index, plan.facts[0]["t"])
            value, count = evaluate_pair(params, counts, fading, plan, index), counts.slots[index]["count"]
        else:
            value, count = evaluate_untried(params, counts, plan, plan.visits[state]), 0.0
        # Ties within rounding go to the pair that would teach more.
        if value > best + TIE or (value >= best - TIE and count < least):
            action, best, least = pair - offsets[state], value, count
    return action


@kernel
def add_state(plan: AdaptiveV1Plan, state: int) -> None:
    """Add a state that is met for the first time. Its value is that of the states never met."""
    if not plan.is_met[state]:
        plan.is_met[state] = True
        facts = plan.facts[0]
        plan.touched[facts["n_touched"]] = state
        plan.bias[state] = facts["elsewhere"]
        facts["n_touched"] += 1


@kernel
def learn(arrays: AdaptiveV1Arrays, step: Step) -> None:
    """Learn from a step and advance the clock."""
    params, offsets, counts, fading, experts, plan = arrays
    state, pair, reward, next_state = step
    reward = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    t = plan.facts[0]["t"]
    index = counts.slot_of[pair]
    if index >= 0:
        # Before the step is remembered: predictions are to be judged, not fits.
        age = t - fading.pairs[index]["last"]
        fading_memory_v1.weigh_by_transition(arrays, index, age, next_state)
        fading_memory_v1.weigh_by_reward(arrays, index, age, reward)
    else:
        plan.tried[state] += 1
    index = fading_memory_v1.remember(counts, fading, experts, (state, pair, reward, next_state), t)
    add_state(plan, state)
    add_state(plan, next_state)
    plan.visits[state] += 1.0
    # A visit makes the other actions of the state rarer.
    for other in range(offsets[state], offsets[state + 1]):
        if counts.slot_of[other] >= 0:
            slot = counts.slot_of[other]
            fading.pairs[slot]["rarity"] = np.log(plan.visits[state] / counts.slots[slot]["count"])
    plan.facts[0]["t"] += 1
    fading_memory_v1.refresh_pair(arrays, index, t + 1)


@kernel
def play(
    inputs: RunInputs, arrays: AdaptiveV1Arrays, record: Record, first: int, last: int, watch: Watch | None = None
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status.

    A watch may force actions, and stops the run by its own status after the step that it fires on.
    """
    world, draws, noise = inputs
    _, offsets, counts, _, _, plan = arrays
    for step in range(first, last):
        # Arrays cannot grow in compiled code: the caller enlarges them and comes back to the same step.
        if not transition_counts.has_space(counts):
            return step, COUNTS_FULL
        state = record.states[step]
        improve_plan(arrays)
        action = choose(arrays, state)
        facts = plan.facts[0]
        record.sweeps[step] = facts["sweeps"] if facts["planned"] == facts["t"] else 0
        if watch is not None:
            action = forced_action(watch, offsets, state, action)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(arrays, (state, offsets[state] + action, reward, next_state))
        if watch is not None:
            signal = watch_step(watch, state, offsets[state] + action, reward, next_state)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED
