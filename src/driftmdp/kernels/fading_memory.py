"""Fading memories: how they are kept, weighed by what they predicted, and mixed into one model.

A memory of m steps fades by the factor 1 - 1/m each step of *time*, visited or not. Sums are kept as of a pair's
last visit, so that a step costs what one pair has.

=========  ====================================================================================================
age        steps since the last visit of a pair; its context is floor(log2 age)
n_k        visits in memory k, faded to today
mu_e       what expert e says of a pair's reward: the mean of memory k, or the line through its last two rewards
r^         sum over e of u_e mu_e, the weights u being those of the context
p^         from the longest memory to the shortest p_k = (counts_k + p_{k+1}) / (n_k + 1); then sum of w_k p_k
sigma^2    noise of the pair's rewards
D          mean squared distance by which rewards moved, in this context, beyond the noise
=========  ====================================================================================================
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import transition_counts
from driftmdp.kernels._compile import inlined_kernel
from driftmdp.kernels.adaptive_arrays import (
    CONTEXTS,
    EXPERTS,
    MEMORIES,
    AdaptiveParams,
    ExpertWeights,
    FadingMemory,
)
from driftmdp.kernels.arrays import Floats, TransitionCounts

BACK_OFF = 1.0  # visits that the next longer memory counts for
FURTHEST = 2.0  # a line is followed for so many gaps between the visits that it is drawn through
ERROR_MEMORY = 200.0  # errors that the mean squared error of an expert, and of all, is made of
DRIFT_MEMORY = 1000.0  # errors that the drift of a context is made of
DRIFT_PRIOR = 5.0  # and how many the next younger context counts for: twice the time, twice the distance squared
LARGEST_DRIFT = 0.25
LOG_USUAL_AGE = np.log(31.0)  # ln (1 + age) at which drift counts once; where it is slow, knowing is worth more
NOISE_PRIOR = 2.0  # visits that the noise of all pairs counts for
LEAST_ERROR = 1e-6
MOST_SURPRISE = 20.0  # in squared deviations: beyond, an outlier says no more


@inlined_kernel
def context_of(age: int) -> int:
    """Return floor(log2 age)."""
    context = 0
    while age > 1 and context < CONTEXTS - 1:
        age >>= 1
        context += 1
    return context


@inlined_kernel
def line_at(traces: FadingMemory, index: int, age: int) -> float:
    """Return where the line through a pair's last two rewards is today, within [0, 1]."""
    pair = traces.pairs[index]
    if pair["gap"] == 0:
        return pair["reward"]
    slope = (pair["reward"] - pair["before"]) * min(age / pair["gap"], FURTHEST)
    return min(max(pair["reward"] + slope, 0.0), 1.0)


@inlined_kernel
def consult(known: TransitionCounts, traces: FadingMemory, index: int, age: int, said: Floats) -> None:
    """Fill ``said`` with what each expert says of a pair's reward."""
    slot = known.slots[index]
    for k in range(MEMORIES - 1):
        said[k] = traces.sums[index, 1, k] / traces.sums[index, 0, k]
    said[MEMORIES - 1] = slot["total"] / slot["count"]
    said[EXPERTS - 1] = line_at(traces, index, age)


@inlined_kernel
def noise_of(
    known: TransitionCounts, traces: FadingMemory, judged: ExpertWeights, context: int, index: int
) -> float:
    """Return sigma^2 of a pair: its variance within the memories that are trusted, and that of all pairs."""
    slot = known.slots[index]
    variance = 0.0
    for k in range(MEMORIES):
        last = k == MEMORIES - 1
        n = slot["count"] if last else traces.sums[index, 0, k]
        mean = (slot["total"] if last else traces.sums[index, 1, k]) / n
        squares = (slot["squares"] if last else traces.sums[index, 2, k]) / n
        variance += judged.reward_weights[context, k] * max(0.0, squares - mean * mean)
    count = slot["count"]
    return (NOISE_PRIOR * judged.noise[0] + count * variance) / (NOISE_PRIOR + count)


@inlined_kernel
def refresh(
    params: AdaptiveParams, known: TransitionCounts, traces: FadingMemory, judged: ExpertWeights, index: int, t: int
) -> None:
    """Bring what the next plan takes from a pair up to date."""
    slot, pair = known.slots[index], traces.pairs[index]
    age = t - pair["last"]
    context = context_of(age) if params.contexts == 1 else 0
    consult(known, traces, index, age, judged.scratch)
    mean, visits = 0.0, 0.0
    for e in range(EXPERTS):
        weight = judged.reward_weights[context, e]
        mean += weight * judged.scratch[e]
        visits += weight * (
            traces.sums[index, 0, e] if e < MEMORIES - 1 else slot["count"] if e < EXPERTS - 1 else 1.0
        )
    neglect = np.log(t / (known.slot_of.size * slot["count"]))  # beside an even share of all visits
    doubt = pair["doubt"] = 1.0 + params.curiosity * max(pair["rarity"], neglect)
    noise = params.noise**2 * doubt * noise_of(known, traces, judged, context, index) / visits
    worth = params.drift * (np.log1p(age) / LOG_USUAL_AGE if params.patience == 1 else 1.0)
    drift = worth**2 * judged.drift[context_of(age)]
    pair["mean"], pair["hoped"] = mean, min(1.0, mean + np.sqrt(noise + drift))
    mix_transitions(known, traces, judged, index, age)


@inlined_kernel
def mix_transitions(
    known: TransitionCounts, traces: FadingMemory, judged: ExpertWeights, index: int, age: int
) -> None:
    """Write p^ of a pair's next states, and the visits that it is worth."""
    slot, weights, factors = known.slots[index], judged.transition_weights, judged.scratch
    passed_on, visits = 0.0, 0.0
    for k in range(MEMORIES - 1):
        fade = np.exp(traces.rates[k] * age)
        n = traces.sums[index, 0, k] * fade
        visits += weights[k] * n
        weight = weights[k] + passed_on
        passed_on = weight * BACK_OFF / (n + BACK_OFF)
        factors[k] = weight * fade / (n + BACK_OFF)
    traces.pairs[index]["weight"] = visits + weights[MEMORIES - 1] * slot["count"]
    whole = (weights[MEMORIES - 1] + passed_on) / slot["count"]
    found = slot["head"]
    while found >= 0:
        entry = known.entries[found]
        chance = whole * entry["count"]
        for k in range(MEMORIES - 1):
            chance += factors[k] * traces.counts[found, k]
        traces.chances[found] = chance
        found = entry["link"]


@inlined_kernel
def judge(
    params: AdaptiveParams,
    known: TransitionCounts,
    traces: FadingMemory,
    judged: ExpertWeights,
    index: int,
    seen: tuple[float, int, int, int],
) -> None:
    """Weigh all memories by what they said of a step from a known pair; ``seen`` is (R, next state, S, t)."""
    reward, next_state, n_states, t = seen
    age = t - traces.pairs[index]["last"]
    judge_transitions(params, known, traces, judged, index, age, next_state, n_states)
    judge_rewards(params, known, traces, judged, index, age, reward)


@inlined_kernel
def judge_transitions(
    params: AdaptiveParams,
    known: TransitionCounts,
    traces: FadingMemory,
    judged: ExpertWeights,
    index: int,
    age: int,
    next_state: int,
    n_states: int,
) -> None:
    """Weigh each memory by the probability that it gave to the next state; fixed share [HW98]."""
    slot, weights = known.slots[index], judged.transition_weights
    found = known.table[transition_counts.locate(known, slot["pair"], next_state)]
    n_successors, entry = 0, slot["head"]
    while entry >= 0:
        n_successors += 1
        entry = known.entries[entry]["link"]
    whole = slot["count"] + 0.5 * (n_successors + 1)  # half a visit for each next state, and for a new one
    if found >= 0:
        said = (known.entries[found]["count"] + 0.5) / whole
    else:
        said = 0.5 / whole / max(1, n_states - n_successors)
    weights[MEMORIES - 1] *= said
    total = weights[MEMORIES - 1]
    for k in range(MEMORIES - 2, -1, -1):
        fade = np.exp(traces.rates[k] * age)
        counted = traces.counts[found, k] * fade if found >= 0 else 0.0
        said = (counted + BACK_OFF * said) / (traces.sums[index, 0, k] * fade + BACK_OFF)
        weights[k] *= said
        total += weights[k]
    deal_out(weights, total, params.share)


@inlined_kernel
def deal_out(weights: Floats, total: float, share: float) -> None:
    """Make weights sum to 1, a share of which is dealt out evenly to all that have any: fixed share [HW98]."""
    able = 0
    for e in range(weights.size):
        able += weights[e] > 0.0
    for e in range(weights.size):
        if weights[e] > 0.0:
            weights[e] = (1.0 - share) * weights[e] / total + share / able


@inlined_kernel
def judge_rewards(
    params: AdaptiveParams,
    known: TransitionCounts,
    traces: FadingMemory,
    judged: ExpertWeights,
    index: int,
    age: int,
    reward: float,
) -> None:
    """Weigh each expert by the normal density that it gave to the reward; note what drift and noise there are."""
    context = context_of(age) if params.contexts == 1 else 0
    begin_context(judged, context)
    weights, errors, losses = (
        judged.reward_weights[context],
        judged.reward_errors[context],
        judged.scratch,
    )
    consult(known, traces, index, age, losses)
    best = -np.inf
    for e in range(EXPERTS):
        error = (reward - losses[e]) ** 2
        errors[e] += (error - errors[e]) / ERROR_MEMORY
        expected = errors[e] + LEAST_ERROR
        losses[e] = -0.5 * np.log(expected) - 0.5 * min(error / expected, MOST_SURPRISE)
        if weights[e] > 0.0:
            losses[e] += np.log(weights[e])
            best = max(best, losses[e])
    total = 0.0
    for e in range(EXPERTS):
        if weights[e] > 0.0:
            weights[e] = max(np.exp(losses[e] - best), 1e-300)
            total += weights[e]
    deal_out(weights, total, params.share)
    error = (reward - traces.pairs[index]["mean"]) ** 2
    expected = noise_of(known, traces, judged, context, index) * (1.0 + 1.0 / known.slots[index]["count"])
    note_drift(judged, context_of(age), error - expected, expected)
    judged.noise[1] = min(judged.noise[1] + 1.0, ERROR_MEMORY)
    judged.noise[0] += (error - judged.noise[0]) / judged.noise[1]


@inlined_kernel
def begin_context(judged: ExpertWeights, context: int) -> None:
    """Let a context that is met for the first time begin with the opinions of the next younger one that was."""
    if judged.judged[context, 0] == 0.0:
        younger = context - 1
        while younger >= 0 and judged.judged[younger, 0] == 0.0:
            younger -= 1
        for e in range(EXPERTS if younger >= 0 else 0):
            judged.reward_weights[context, e] = judged.reward_weights[younger, e]
            judged.reward_errors[context, e] = judged.reward_errors[younger, e]


@inlined_kernel
def note_drift(judged: ExpertWeights, context: int, excess: float, noise: float) -> None:
    """Take in by how much an error exceeded the noise; what older contexts lack they take from younger ones.

    What noise alone may have done is left out: normal errors of variance v have squares of deviation sqrt(2) v.
    """
    for c in range(3):
        judged.judged[context, c] *= 1.0 - 1.0 / DRIFT_MEMORY
    judged.judged[context, 0] += 1.0
    judged.judged[context, 1] += excess
    judged.judged[context, 2] += noise
    younger = 0.0
    for c in range(CONTEXTS):
        n, total = judged.judged[c, 0], judged.judged[c, 1]
        chance = judged.judged[c, 2] * np.sqrt(2.0 / n) if n > 0.0 else 0.0  # a deviation, were it all noise
        moved = (total - chance + DRIFT_PRIOR * 2.0 * younger) / (n + DRIFT_PRIOR)
        younger = min(max(moved, younger), LARGEST_DRIFT)
        judged.drift[c] = younger


@inlined_kernel
def remember(
    known: TransitionCounts, traces: FadingMemory, judged: ExpertWeights, step: tuple[int, int, float, int], t: int
) -> int:
    """Add a step, (state, pair, reward, next state), to every memory; return the slot of its pair."""
    state, pair, reward, next_state = step
    index = known.slot_of[pair]
    age = 0 if index < 0 else t - traces.pairs[index]["last"]
    entry = transition_counts.enter(known, state, pair, next_state, reward)
    known.tally[0]["remembered"] += 1
    index = known.slot_of[pair]
    fades = judged.scratch
    for k in range(MEMORIES - 1):
        fades[k] = np.exp(traces.rates[k] * age)
        traces.sums[index, 0, k] = traces.sums[index, 0, k] * fades[k] + 1.0
        traces.sums[index, 1, k] = traces.sums[index, 1, k] * fades[k] + reward
        traces.sums[index, 2, k] = traces.sums[index, 2, k] * fades[k] + reward * reward
    found = known.slots[index]["head"]
    while found >= 0:
        for k in range(MEMORIES - 1):
            traces.counts[found, k] = traces.counts[found, k] * fades[k] + (found == entry)
        found = known.entries[found]["link"]
    trace = traces.pairs[index]
    trace["gap"], trace["last"] = age, t
    trace["before"], trace["reward"] = trace["reward"], reward
    return index
