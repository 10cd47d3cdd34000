"""Fading memories of AdaptiveV1: how they are kept, weighed by what they predicted, and mixed into one model.

A memory of m steps fades by the factor 1 - 1/m each step of *time*, visited or not. Sums are kept as of a pair's
last visit, so that a step costs what one pair has.

=========  ====================================================================================================
age        steps since the last visit of a pair. Its context is floor(log2 age)
n_k        visits in memory k, faded to today
mu_e       expert e's estimate of a pair's reward: the mean of memory k, or the line through its last two rewards
r^         sum over e of u_e mu_e, the weights u being those of the context
p^         from the longest memory to the shortest p_k = (counts_k + p_{k+1}) / (n_k + 1), then sum of w_k p_k
sigma^2    noise of the pair's rewards
D          mean squared distance by which rewards moved, in this context, beyond the noise
=========  ====================================================================================================
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.adaptive_v1_arrays import (
    CONTEXTS,
    EXPERTS,
    MEMORIES,
    AdaptiveV1Arrays,
    ExpertWeightsV1,
    FadingMemoryV1,
)
from driftmdp.kernels.arrays import Floats, Step, TransitionCounts

BACK_OFF = 1.0  # visits that the next longer memory counts for
MAX_EXTRAPOLATION = 2.0  # a line is followed for so many gaps between the visits that it is drawn through
ERROR_MEMORY = 200.0  # errors that the mean squared error of an expert, and of all, is made of
DRIFT_MEMORY = 1000.0  # errors that the drift of a context is made of
DRIFT_PRIOR = 5.0  # and how many the next younger context counts for: twice the time, twice the distance squared
LARGEST_DRIFT = 0.25  # the largest variance of rewards in [0, 1]
# ln (1 + age) at which drift counts once: where it is slow, a visit is of use for longer
LOG_USUAL_AGE = np.log(31.0)
NOISE_PRIOR = 2.0  # visits that the noise of all pairs counts for
LEAST_ERROR = 1e-6  # an expert that was always right must not lose all weight at its first error
MAX_SURPRISE = 20.0  # in squared deviations: larger errors count as this one


@kernel
def find_context(age: int) -> int:
    """Return floor(log2 age)."""
    context = 0
    while age > 1 and context < CONTEXTS - 1:
        age >>= 1
        context += 1
    return context


@kernel
def extrapolate_rewards(fading: FadingMemoryV1, index: int, age: int) -> float:
    """Return where the line through a pair's last two rewards is today, within [0, 1]."""
    pair = fading.pairs[index]
    if pair["gap"] == 0:  # one visit makes no line
        return pair["reward"]
    slope = (pair["reward"] - pair["before"]) * min(age / pair["gap"], MAX_EXTRAPOLATION)
    return min(max(pair["reward"] + slope, 0.0), 1.0)


@kernel
def predict_rewards(
    counts: TransitionCounts, fading: FadingMemoryV1, index: int, age: int, predictions: Floats
) -> None:
    """Fill ``predictions`` with each expert's estimate of a pair's mean reward, mu_e."""
    slot = counts.slots[index]
    # Both sums fade alike, so their ratio needs no fading to today.
    for k in range(MEMORIES - 1):
        predictions[k] = fading.sums[index, 1, k] / fading.sums[index, 0, k]
    predictions[MEMORIES - 1] = slot["total"] / slot["count"]
    predictions[EXPERTS - 1] = extrapolate_rewards(fading, index, age)


@kernel
def estimate_noise(
    counts: TransitionCounts, fading: FadingMemoryV1, experts: ExpertWeightsV1, context: int, index: int
) -> float:
    """Return sigma^2 of a pair."""
    slot = counts.slots[index]
    variance = 0.0
    for k in range(MEMORIES):
        last = k == MEMORIES - 1
        n = slot["count"] if last else fading.sums[index, 0, k]
        mean = (slot["total"] if last else fading.sums[index, 1, k]) / n
        squares = (slot["squares"] if last else fading.sums[index, 2, k]) / n
        # Within a short memory drift adds little, so the memories that are trusted show the noise.
        variance += experts.reward_weights[context, k] * max(0.0, squares - mean * mean)
    # Few visits estimate a variance badly: then that of all pairs counts.
    count = slot["count"]
    return (NOISE_PRIOR * experts.noise[0] + count * variance) / (NOISE_PRIOR + count)


@kernel
def refresh_pair(arrays: AdaptiveV1Arrays, index: int, t: int) -> None:
    """Bring what the next plan takes from a pair up to date."""
    params, _, counts, fading, experts, _ = arrays
    slot, pair = counts.slots[index], fading.pairs[index]
    age = t - pair["last"]
    context = find_context(age) if params.contexts else 0
    predict_rewards(counts, fading, index, age, experts.scratch)
    mean, visits = 0.0, 0.0
    for e in range(EXPERTS):
        weight = experts.reward_weights[context, e]
        mean += weight * experts.scratch[e]
        visits += weight * (
            fading.sums[index, 0, e] if e < MEMORIES - 1 else slot["count"] if e < EXPERTS - 1 else 1.0
        )
    # L of kernels/adaptive_v1.py: optimism grows for pairs that had less than their share of all visits.
    neglect = np.log(t / (counts.slot_of.size * slot["count"]))
    optimism = pair["doubt"] = 1.0 + params.curiosity * max(pair["rarity"], neglect)
    noise = (
        params.noise * params.noise * optimism * estimate_noise(counts, fading, experts, context, index) / visits
    )
    # What moves slowly is worth more deviations, since the answer stays valid for longer.
    worth = params.drift * (np.log1p(age) / LOG_USUAL_AGE if params.patience else 1.0)
    drift = worth * worth * experts.drift[find_context(age)]
    # Noise and drift are independent: their variances add up.
    pair["mean"], pair["hoped"] = mean, min(1.0, mean + np.sqrt(noise + drift))
    mix_transitions(counts, fading, experts, index, age)


@kernel
def mix_transitions(
    counts: TransitionCounts, fading: FadingMemoryV1, experts: ExpertWeightsV1, index: int, age: int
) -> None:
    """Write p^ of a pair's next states, and the visits that it is worth: n of kernels/adaptive_v1.py."""
    slot, weights, factors = counts.slots[index], experts.transition_weights, experts.scratch
    passed_on, visits = 0.0, 0.0
    for k in range(MEMORIES - 1):
        fade = np.exp(fading.rates[k] * age)
        n = fading.sums[index, 0, k] * fade
        visits += weights[k] * n
        # A memory with few visits passes its weight on to the next longer one: p_k backs off to p_{k+1}.
        weight = weights[k] + passed_on
        passed_on = weight * BACK_OFF / (n + BACK_OFF)
        factors[k] = weight * fade / (n + BACK_OFF)
    fading.pairs[index]["weight"] = visits + weights[MEMORIES - 1] * slot["count"]
    whole = (weights[MEMORIES - 1] + passed_on) / slot["count"]
    found = slot["head"]
    while found >= 0:
        entry = counts.entries[found]
        chance = whole * entry["count"]
        for k in range(MEMORIES - 1):
            chance += factors[k] * fading.counts[found, k]
        fading.chances[found] = chance
        found = entry["link"]


@kernel
def weigh_by_transition(arrays: AdaptiveV1Arrays, index: int, age: int, next_state: int) -> None:
    """Weigh each memory by the probability that it gave to the next state."""
    params, _, counts, fading, experts, plan = arrays
    slot, weights = counts.slots[index], experts.transition_weights
    found = counts.table[transition_counts.locate(counts, slot["pair"], next_state)]
    n_successors = transition_counts.count_successors(counts, slot["head"])
    # Half a visit for each next state, and for a new one: no step may have probability 0.
    whole = slot["count"] + 0.5 * (n_successors + 1)
    if found >= 0:
        chance = (counts.entries[found]["count"] + 0.5) / whole
    else:
        chance = 0.5 / whole / max(1, plan.bias.size - n_successors)
    # From the longest memory to the shortest, each backing off to the one before, as in p^.
    weights[MEMORIES - 1] *= chance
    total = weights[MEMORIES - 1]
    for k in range(MEMORIES - 2, -1, -1):
        fade = np.exp(fading.rates[k] * age)
        counted = fading.counts[found, k] * fade if found >= 0 else 0.0
        chance = (counted + BACK_OFF * chance) / (fading.sums[index, 0, k] * fade + BACK_OFF)
        weights[k] *= chance
        total += weights[k]
    share_weights(weights, total, params.share)


@kernel
def share_weights(weights: Floats, total: float, share: float) -> None:
    """Make weights sum to 1, a share of which is spread evenly: fixed share [HW98]."""
    # The best expert may change: none may fall so low that it cannot come back. Those at 0 are switched off.
    n_enabled = 0
    for e in range(weights.size):
        n_enabled += weights[e] > 0.0
    for e in range(weights.size):
        if weights[e] > 0.0:
            weights[e] = (1.0 - share) * weights[e] / total + share / n_enabled


@kernel
def weigh_by_reward(arrays: AdaptiveV1Arrays, index: int, age: int, reward: float) -> None:
    """Weigh each expert by the normal density that it gave to the reward. Update drift and noise."""
    params, _, counts, fading, experts, _ = arrays
    # Short memories are right after short absences, long ones after long: each age has weights of its own.
    context = find_context(age) if params.contexts else 0
    start_context(experts, context)
    weights, errors, log_weights = experts.reward_weights[context], experts.reward_errors[context], experts.scratch
    predict_rewards(counts, fading, index, age, log_weights)
    best = -np.inf
    for e in range(EXPERTS):
        error = (reward - log_weights[e]) * (reward - log_weights[e])
        # The expert's own error is the variance of its density: a vague expert is surprised less.
        errors[e] += (error - errors[e]) / ERROR_MEMORY
        expected = errors[e] + LEAST_ERROR
        log_weights[e] = -0.5 * np.log(expected) - 0.5 * min(error / expected, MAX_SURPRISE)
        if weights[e] > 0.0:
            log_weights[e] += np.log(weights[e])
            best = max(best, log_weights[e])
    # Relative to the best, so that nothing underflows. An enabled expert never gets the 0 of a disabled one.
    total = 0.0
    for e in range(EXPERTS):
        if weights[e] > 0.0:
            weights[e] = max(np.exp(log_weights[e] - best), 1e-300)
            total += weights[e]
    share_weights(weights, total, params.share)
    # What the error of r^ has beyond noise, also that of the mean of N visits, is drift.
    error = reward - fading.pairs[index]["mean"]
    error *= error
    expected = estimate_noise(counts, fading, experts, context, index) * (1.0 + 1.0 / counts.slots[index]["count"])
    update_drift(experts, find_context(age), error - expected, expected)
    experts.noise[1] = min(experts.noise[1] + 1.0, ERROR_MEMORY)
    experts.noise[0] += (error - experts.noise[0]) / experts.noise[1]


@kernel
def start_context(experts: ExpertWeightsV1, context: int) -> None:
    """Give a context that is met for the first time the weights of the next younger one that was met."""
    if experts.judged[context, 0] == 0.0:
        younger = context - 1
        while younger >= 0 and experts.judged[younger, 0] == 0.0:
            younger -= 1
        for e in range(EXPERTS if younger >= 0 else 0):
            experts.reward_weights[context, e] = experts.reward_weights[younger, e]
            experts.reward_errors[context, e] = experts.reward_errors[younger, e]


@kernel
def update_drift(experts: ExpertWeightsV1, context: int, excess: float, noise: float) -> None:
    """Add by how much an error exceeded the noise, and estimate the drift of every context again."""
    for c in range(3):
        experts.judged[context, c] *= 1.0 - 1.0 / DRIFT_MEMORY
    experts.judged[context, 0] += 1.0
    experts.judged[context, 1] += excess
    experts.judged[context, 2] += noise
    younger = 0.0
    for c in range(CONTEXTS):
        n, total = experts.judged[c, 0], experts.judged[c, 1]
        # What noise alone may have done is left out: normal errors of variance v have squares of deviation
        # sqrt(2) v. What older contexts lack they take from younger ones, since drift only adds up.
        chance = experts.judged[c, 2] * np.sqrt(2.0 / n) if n > 0.0 else 0.0
        moved = (total - chance + DRIFT_PRIOR * 2.0 * younger) / (n + DRIFT_PRIOR)
        younger = min(max(moved, younger), LARGEST_DRIFT)
        experts.drift[c] = younger


@kernel
def remember(counts: TransitionCounts, fading: FadingMemoryV1, experts: ExpertWeightsV1, step: Step, t: int) -> int:
    """Add a step to every memory. Return the slot of its pair."""
    state, pair, reward, next_state = step
    index = counts.slot_of[pair]
    age = 0 if index < 0 else t - fading.pairs[index]["last"]
    entry = transition_counts.count_step(counts, state, pair, next_state, reward)
    counts.tally[0]["remembered"] += 1
    index = counts.slot_of[pair]
    # Sums are kept as of the last visit: they fade for the steps since, and then the visit counts in full.
    fades = experts.scratch
    for k in range(MEMORIES - 1):
        fades[k] = np.exp(fading.rates[k] * age)
        fading.sums[index, 0, k] = fading.sums[index, 0, k] * fades[k] + 1.0
        fading.sums[index, 1, k] = fading.sums[index, 1, k] * fades[k] + reward
        fading.sums[index, 2, k] = fading.sums[index, 2, k] * fades[k] + reward * reward
    found = counts.slots[index]["head"]
    while found >= 0:
        for k in range(MEMORIES - 1):
            fading.counts[found, k] = fading.counts[found, k] * fades[k] + (found == entry)
        found = counts.entries[found]["link"]
    trace = fading.pairs[index]
    trace["gap"], trace["last"] = age, t
    trace["before"], trace["reward"] = trace["reward"], reward
    return index
