"""The adaptive agent's step: refresh some pairs, plan, act, learn, and a whole run of such steps.

One definition serves the live agent, which calls ``improve_plan``, ``choose`` and ``learn`` one by one, and
``play``, which calls them T times without leaving compiled code. kernels/fading_memory.py has the memories that it
plans with, kernels/reward_drift.py the noise and the drift of rewards, kernels/value_drift.py that of next states.

The plan is relative value iteration on the mixed model, a few sweeps per step from where it was, since a step
changes little. A pair is valued some deviations above what is believed of it. With N_s and N visits of a state and
one of the P pairs, the first guess (m0, tau) of a reward and (b1, b2) of a value and its square, and

    L = caution + curiosity ln (max(N_s, t / P) / N),  kappa = sigma^2 / tau^2,  beta = min(1, 2 alpha) + 0.02,

    hoped = min(1, (v r^ + kappa m0) / (v + kappa) + sqrt(max(L sigma^2 / (v + kappa), drift of rewards))),
    m     = (N p^h + beta b1) / (N + beta),    Var = (N p^(h^2) + beta b2) / (N + beta) - m^2,
    value = hoped + min(top, m + sqrt(max(spread^2 L Var / N, drift of values))).

A pair that was never tried is valued at z = boldness (1 + ln (1 + max(N_s, t / P)) / 2) deviations above the first
guess.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import fading_memory, reward_drift, transition_counts, value_drift
from driftmdp.kernels.acceleration import DAMPING
from driftmdp.kernels.adaptive_agent_arrays import MEMORIES, AdaptiveArrays, AdaptiveParams, AdaptivePlan
from driftmdp.kernels.arrays import Record, RunInputs, Step
from driftmdp.kernels.bellman import CONVERGED, COUNTS_FULL
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import take_step

PAIRS_PER_STEP = 16  # that are refreshed each step, in turn, beside those of the state
MAX_SWEEPS_PER_STEP = 10
SWEEP_PRECISION = 0.01  # of a plan, in units of the reward range: then no more sweeps this step
ENTRIES_PER_STEP = 50_000  # with more next states in memory, a plan is made more rarely than every step
BOLDER = 0.5  # growth of the deviations of untried pairs, for every e-fold of visits
PRIOR = 2.0  # visits that the first guess of a next state counts for, times alpha
LEAST_PRIOR = 0.02  # and these more
NOVELTY_MEMORY = 10.0  # next states new to their pairs that the novelty is made of


@kernel
def improve_plan(arrays: AdaptiveArrays) -> None:
    """Refresh some pairs and improve the plan, once per step."""
    params, _, counts, _, _, plan = arrays
    facts = plan.facts[0]
    if facts["thought"] == facts["t"]:  # ``act`` may be called again before ``observe``
        return
    facts["thought"] = facts["t"]
    # A few pairs in turn: what fades moves slowly, and a step must not cost what is remembered.
    n = counts.tally[0]["n_slots"]
    for _ in range(min(n, PAIRS_PER_STEP)):
        facts["cursor"] = facts["cursor"] + 1 if facts["cursor"] + 1 < n else 0
        refresh_pair(arrays, facts["cursor"], facts["t"])
    if facts["t"] % max(params.every, 1 + counts.tally[0]["n_entries"] // ENTRIES_PER_STEP) == 0:
        facts["planned"], facts["sweeps"] = facts["t"], 0
        summarize_rewards(arrays)
        while facts["sweeps"] < MAX_SWEEPS_PER_STEP:
            sweep(arrays)
            facts["sweeps"] += 1
            if facts["residual"] <= SWEEP_PRECISION:
                break
        summarize_values(arrays)
        facts["plans"] += 1


@kernel
def refresh_pair(arrays: AdaptiveArrays, index: int, t: int) -> None:
    """Bring what the next plan takes from a pair up to date."""
    params, _, counts, fading, weights, plan = arrays
    slot, pair, facts = counts.slots[index], fading.pairs[index], plan.facts[0]
    age = t - pair["last"]
    age_context = fading_memory.find_context(age)
    context = age_context if params.by_age else 0
    fading_memory.fade_to_today(fading, weights, age)
    mean, visits = fading_memory.mix_rewards(counts, fading, weights, index, context)
    noise = reward_drift.estimate_noise(counts, fading, weights, index, context)
    drift = reward_drift.drift_of_pair(params, fading, weights, index, age_context)
    pair["mean"], pair["variance"] = mean, noise * (1.0 + 1.0 / visits) + drift
    # L: optimism grows for pairs that had less than their share of the visits of the state, or of all.
    share = fair_visits(arrays, slot["state"]) / slot["count"]
    pair["doubt"] = params.caution + params.curiosity * np.log(max(1.0, share))
    # The rewards of all pairs are a first guess of one: few noisy visits do not tell more.
    tau = spread_of_rewards(arrays)
    kappa = params.shrink * noise / (tau * tau)
    believed = (visits * mean + kappa * facts["reward_mean"]) / (visits + kappa)
    uncertain = params.noise * params.noise * pair["doubt"] * noise / (visits + kappa)
    worth = params.drift * reward_drift.weigh_age(params, age)
    moved = worth * worth * drift * (1.0 - weights.rewards[context, MEMORIES - 1] if params.trust else 1.0)
    pair["hoped"] = min(1.0, believed + np.sqrt(max(uncertain, moved)))
    pair["visits"] = fading_memory.mix_transitions(counts, fading, weights, index, context)
    pair["value_drift"] = value_drift.drift_of_pair(params, weights, slot["state"], age, age_context)


@kernel
def fair_visits(arrays: AdaptiveArrays, state: int) -> float:
    """Return the visits of a state, or what a pair would have if all had as many: a state may be left for long."""
    return max(arrays.plan.visits[state], arrays.plan.facts[0]["t"] / arrays.counts.slot_of.size)


@kernel
def summarize_rewards(arrays: AdaptiveArrays) -> None:
    """Note mean and deviation of the mean rewards of the pairs that were tried."""
    n, total, squares = arrays.counts.tally[0]["n_slots"], 0.0, 0.0
    for index in range(n):
        mean = arrays.fading.pairs[index]["mean"]
        total += mean
        squares += mean * mean
    facts = arrays.plan.facts[0]
    facts["reward_mean"] = total / n if n > 0 else 1.0
    facts["reward_spread"] = np.sqrt(max(0.0, squares / n - (total / n) * (total / n))) if n > 0 else 0.0


@kernel
def spread_of_rewards(arrays: AdaptiveArrays) -> float:
    """Return tau, the deviation of the first guess of a reward."""
    # Few tried pairs show too little of how rewards differ.
    return arrays.plan.facts[0]["reward_spread"] + 1.0 / (arrays.counts.tally[0]["n_slots"] + 1.0)


@kernel
def summarize_values(arrays: AdaptiveArrays) -> None:
    """Note the values of the states that were met, and the first guess of a next state: b1 and b2."""
    plan = arrays.plan
    facts, n = plan.facts[0], plan.facts[0]["n_met"]
    top, whole, total, squares = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        # States that were left for ever must count less and less, so visits weigh.
        value, weight = plan.bias[plan.met[i]], np.sqrt(plan.visits[plan.met[i]])
        top = max(top, value)
        whole += weight
        total += weight * value
        squares += weight * value * value
    mean, square = (total / whole, squares / whole) if whole > 0.0 else (0.0, 0.0)
    facts["top"], facts["mean"], facts["deviation"] = top, mean, np.sqrt(max(0.0, square - mean * mean))
    facts["first_top"], facts["first_mean"], facts["first_square"] = top, mean, square
    if arrays.params.unmet and 0 < n < plan.bias.size:
        # A state that was never met may be better than all, for as long as it takes to see as many states again.
        visits, novelty = float(facts["t"]), facts["novelty"]
        # The gain of one sweep depends on these hopes: compared with it, they would swing for ever.
        more = n * max(0.0, hope_for_reward(arrays, visits) - facts["steady_gain"])
        value = max(0.0, evaluate_untried(arrays, visits) - facts["steady_gain"]) + more
        facts["first_top"] = max(top, value)
        facts["first_mean"] = (1.0 - novelty) * mean + novelty * value
        facts["first_square"] = (1.0 - novelty) * square + novelty * value * value


@kernel
def boldness(params: AdaptiveParams, visits: float) -> float:
    """Return z, the deviations at which an untried pair is valued in a state with so many visits."""
    return params.boldness * (1.0 + BOLDER * np.log(1.0 + visits))


@kernel
def hope_for_reward(arrays: AdaptiveArrays, visits: float) -> float:
    """Return the reward that is hoped for of an untried pair."""
    z = boldness(arrays.params, visits)
    return min(1.0, arrays.plan.facts[0]["reward_mean"] + z * spread_of_rewards(arrays))


@kernel
def evaluate_untried(arrays: AdaptiveArrays, visits: float) -> float:
    """Return the value of a pair that was never tried, in a state with so many visits."""
    facts, z = arrays.plan.facts[0], boldness(arrays.params, visits)
    return hope_for_reward(arrays, visits) + min(facts["top"], facts["mean"] + z * facts["deviation"])


@kernel
def evaluate_pair(arrays: AdaptiveArrays, index: int) -> float:
    """Return the value of a pair that was tried."""
    params, _, counts, fading, weights, plan = arrays
    facts, pair = plan.facts[0], fading.pairs[index]
    mean, square = value_drift.predict_value(arrays, index)
    # A next state that was not seen may always come, the less likely the more visits there are. All visits count:
    # that the world moved is another doubt, and has a measure of its own.
    prior = LEAST_PRIOR + min(params.most_prior, PRIOR * weights.newness[2])
    visits = counts.slots[index]["count"]
    unseen = prior / (visits + prior)
    mean = (1.0 - unseen) * mean + unseen * facts["first_mean"]
    square = (1.0 - unseen) * square + unseen * facts["first_square"]
    uncertain = params.spread * params.spread * pair["doubt"] * max(0.0, square - mean * mean) / visits
    return pair["hoped"] + min(facts["first_top"], mean + np.sqrt(max(uncertain, pair["value_drift"])))


@kernel
def sweep(arrays: AdaptiveArrays) -> None:
    """Move the values of all states most of the way to those of their best pairs."""
    counts, plan = arrays.counts, arrays.plan
    facts, bias, swept, n = plan.facts[0], plan.bias, plan.swept, plan.facts[0]["n_met"]
    summarize_values(arrays)
    for i in range(n):
        s = plan.met[i]
        swept[s] = evaluate_untried(arrays, fair_visits(arrays, s)) if has_untried(arrays, s) else -np.inf
    for index in range(counts.tally[0]["n_slots"]):
        s = counts.slots[index]["state"]
        swept[s] = max(swept[s], evaluate_pair(arrays, index))
    low, high, least = np.inf, -np.inf, np.inf
    for i in range(n):
        s = plan.met[i]
        change = swept[s] - bias[s]
        low, high = min(low, change), max(high, change)
        bias[s] += DAMPING * change  # full steps may circle with the period of a chain
        least = min(least, bias[s])
    # In a state that cannot be reached again hope would grow on itself for ever.
    most = n + np.sqrt(facts["t"])
    for i in range(n):
        bias[plan.met[i]] = min(bias[plan.met[i]] - least, most)
    # [P94, Theorem 8.5.5]: the gain of the hoped for model lies between low and high.
    facts["gain"], facts["residual"] = (high, high - low) if n > 0 else (0.0, 0.0)
    facts["steady_gain"] += arrays.params.steady * (facts["gain"] - facts["steady_gain"])


@kernel
def has_untried(arrays: AdaptiveArrays, state: int) -> bool:
    """Return whether a state has an action that was never tried."""
    return arrays.plan.tried[state] < arrays.offsets[state + 1] - arrays.offsets[state]


@kernel
def choose(arrays: AdaptiveArrays, state: int) -> int:
    """Return the action of the largest value. Ties go to the least visited, then to the lowest."""
    offsets, counts, plan = arrays.offsets, arrays.counts, arrays.plan
    action, best, least = 0, -np.inf, np.inf
    for pair in range(offsets[state], offsets[state + 1]):
        index = counts.slot_of[pair]
        if index >= 0:
            # These decide now, so they are brought up to date whoever's turn it is.
            refresh_pair(arrays, index, plan.facts[0]["t"])
            value, count = evaluate_pair(arrays, index), counts.slots[index]["count"]
        else:
            value, count = evaluate_untried(arrays, fair_visits(arrays, state)), 0.0
        # Ties within rounding go to the pair that would teach more.
        if value > best + TIE or (value >= best - TIE and count < least):
            action, best, least = pair - offsets[state], value, count
    return action


@kernel
def add_state(plan: AdaptivePlan, state: int) -> None:
    """Add a state that is met for the first time. Its value is the best of those known."""
    if not plan.is_met[state]:
        plan.is_met[state] = True
        facts = plan.facts[0]
        plan.met[facts["n_met"]] = state
        plan.bias[state] = facts["top"]
        facts["n_met"] += 1


@kernel
def learn(arrays: AdaptiveArrays, step: Step) -> None:
    """Learn from a step and advance the clock."""
    params, _, counts, fading, weights, plan = arrays
    state, pair, reward, next_state = step
    reward = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    facts = plan.facts[0]
    t = facts["t"]
    add_state(plan, state)
    index = counts.slot_of[pair]
    if index >= 0:
        # Before the step is remembered: predictions are to be judged, not fits.
        age = t - fading.pairs[index]["last"]
        fading_memory.judge(arrays, index, age, reward, next_state)
        value_drift.measure(arrays, index, age, next_state)
    else:
        plan.tried[state] += 1
    if counts.table[transition_counts.locate(counts, pair, next_state)] < 0:
        facts["novelty"] += ((not plan.is_met[next_state]) - facts["novelty"]) / NOVELTY_MEMORY
    index = fading_memory.remember(counts, fading, weights, (state, pair, reward, next_state), t)
    add_state(plan, next_state)
    plan.visits[state] += 1.0
    facts["t"] += 1
    refresh_pair(arrays, index, t + 1)


@kernel
def play(
    inputs: RunInputs, arrays: AdaptiveArrays, record: Record, first: int, last: int, watch: Watch | None = None
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status.

    A watch may force actions, and stops the run by its own status after the step that it fires on.
    """
    world, draws, noise = inputs
    offsets, plan = arrays.offsets, arrays.plan
    for step in range(first, last):
        # Arrays cannot grow in compiled code: the caller enlarges them and comes back to the same step.
        if not transition_counts.has_space(arrays.counts):
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
