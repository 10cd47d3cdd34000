"""Fading memories: how they are kept, weighed by what they predicted, and mixed into one model.

A memory of m steps fades by the factor 1 - 1/m each step of *time*, visited or not. Sums are kept as of a pair's
last visit, so that a step costs what one pair has.

=========  ====================================================================================================
age        steps since the last visit of a pair. Its context c is floor(log2 age), and has weights of its own
n_k        visits in memory k
mu_k       mean reward in memory k, as of the last visit: the weights of the age decide which one to believe
r^         sum over k of u_k mu_k, u being the weights on rewards
p_k        next states in memory k, faded to today. All that is older counts for one visit together
p^         sum over k of w_k p_k, w being the weights on next states
alpha      how readily a pair has next states that it never had, as visits
=========  ====================================================================================================
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import reward_drift, transition_counts
from driftmdp.kernels.adaptive_agent_arrays import (
    CONTEXTS,
    MEMORIES,
    AdaptiveArrays,
    FadingMemories,
    MemoryWeights,
)
from driftmdp.kernels.arrays import Floats, Step, TransitionCounts

OLDER = 1.0  # visits that all which is older than a memory counts for
LEAST_VISITS = 0.3  # that a fading memory has of a reward, however long ago it was seen
LEAST_VARIANCE = 1e-6  # a memory that was always right must not lose all weight at its first error
MAX_SURPRISE = 20.0  # in squared deviations: larger errors count as this one
NEWNESS_MEMORY = 1000.0  # steps that alpha is made of


@kernel
def find_context(age: int) -> int:
    """Return floor(log2 age)."""
    context = 0
    while age > 1 and context < CONTEXTS - 1:
        age >>= 1
        context += 1
    return context


@kernel
def fade_to_today(fading: FadingMemories, weights: MemoryWeights, age: int) -> None:
    """Fill ``fades`` with the factors by which the memories faded in so many steps."""
    for k in range(MEMORIES - 1):
        weights.fades[k] = np.exp(fading.rates[k] * age)


@kernel
def visits_in_memory(counts: TransitionCounts, fading: FadingMemories, index: int, k: int) -> float:
    """Return n_k of a pair, as of its last visit."""
    return fading.sums[index, 0, k] if k < MEMORIES - 1 else counts.slots[index]["count"]


@kernel
def mean_in_memory(counts: TransitionCounts, fading: FadingMemories, index: int, k: int) -> float:
    """Return mu_k of a pair."""
    if k < MEMORIES - 1:
        return fading.sums[index, 1, k] / fading.sums[index, 0, k]
    return counts.slots[index]["total"] / counts.slots[index]["count"]


@kernel
def mix_rewards(
    counts: TransitionCounts, fading: FadingMemories, weights: MemoryWeights, index: int, context: int
) -> tuple[float, float]:
    """Return r^ of a pair, and the visits that it is worth today. ``fades`` are those of its age."""
    mean, visits = 0.0, 0.0
    for k in range(MEMORIES):
        weight = weights.rewards[context, k]
        mean += weight * mean_in_memory(counts, fading, index, k)
        n = visits_in_memory(counts, fading, index, k)
        visits += weight * (max(LEAST_VISITS, n * weights.fades[k]) if k < MEMORIES - 1 else n)
    return mean, visits


@kernel
def mix_transitions(
    counts: TransitionCounts, fading: FadingMemories, weights: MemoryWeights, index: int, context: int
) -> float:
    """Write p^ of a pair's next states. Return the visits that it is worth. ``fades`` are those of its age."""
    slot, factors = counts.slots[index], weights.scratch
    count, everything, visits = slot["count"], 0.0, 0.0
    for k in range(MEMORIES):
        weight = weights.transitions[context, k]
        kept, worth = weigh_older(fading, weights, index, k, count)
        factors[k] = weight * (1.0 - kept) * weights.fades[k] / worth
        everything += weight * kept / worth
        visits += weight * worth
    found = slot["head"]
    while found >= 0:
        entry = counts.entries[found]
        chance = everything * entry["count"]
        for k in range(MEMORIES - 1):
            chance += factors[k] * fading.counts[found, k]
        fading.chances[found] = chance
        found = entry["link"]
    return visits


@kernel
def weigh_older(
    fading: FadingMemories, weights: MemoryWeights, index: int, k: int, count: float
) -> tuple[float, float]:
    """Return what a visit older than memory k counts for, and the visits that the pair is worth in all."""
    if k == MEMORIES - 1:
        return 1.0, count
    # Never more than all visits: no memory may look surer of a pair that does not change than everything does.
    n = fading.sums[index, 0, k] * weights.fades[k]
    older = max(count - n, 1e-9)
    kept = min(1.0, OLDER / older)
    return kept, n + kept * older


@kernel
def judge(arrays: AdaptiveArrays, index: int, age: int, reward: float, next_state: int) -> None:
    """Weigh the memories by what they predicted for a pair's reward and next state, before these are remembered."""
    params, _, counts, fading, weights, _ = arrays
    context = find_context(age) if params.by_age else 0
    start_context(weights, context)
    fade_to_today(fading, weights, age)
    judge_transition(arrays, index, context, next_state)
    judge_reward(arrays, index, context, reward)
    reward_drift.measure(params, counts, fading, weights, index, context, find_context(age), reward)


@kernel
def start_context(weights: MemoryWeights, context: int) -> None:
    """Give a context that is met for the first time the weights of the next younger one that was met."""
    if weights.judged[context, 0] == 0.0:
        younger = context - 1
        while younger >= 0 and weights.judged[younger, 0] == 0.0:
            younger -= 1
        for k in range(MEMORIES if younger >= 0 else 0):
            weights.rewards[context, k] = weights.rewards[younger, k]
            weights.transitions[context, k] = weights.transitions[younger, k]


@kernel
def judge_transition(arrays: AdaptiveArrays, index: int, context: int, next_state: int) -> None:
    """Weigh each memory by the probability that it gave to the next state, and learn alpha."""
    params, _, counts, fading, weights, _ = arrays
    slot, newness = counts.slots[index], weights.newness
    count, alpha = slot["count"], newness[2]
    found = counts.table[transition_counts.locate(counts, slot["pair"], next_state)]
    for k in range(MEMORIES):
        kept, worth = weigh_older(fading, weights, index, k, count)
        # If the next state is new: alpha, shared by all that were not seen, is alike in all memories and cancels.
        counted = 1.0
        if found >= 0:
            recent = fading.counts[found, k] * weights.fades[k] if k < MEMORIES - 1 else 0.0
            counted = (1.0 - kept) * recent + kept * counts.entries[found]["count"]
        weights.scratch[k] = np.log(counted / (worth + alpha))
    multiply_weights(weights, weights.transitions[context], params.share)
    newness[0] = (1.0 - 1.0 / NEWNESS_MEMORY) * newness[0] + (found < 0)
    newness[1] = (1.0 - 1.0 / NEWNESS_MEMORY) * newness[1] + 1.0 / (count + alpha)
    newness[2] = (newness[0] + 0.5) / (newness[1] + 1.0)


@kernel
def judge_reward(arrays: AdaptiveArrays, index: int, context: int, reward: float) -> None:
    """Weigh each memory by the normal density that its mean gave to the reward."""
    params, _, counts, fading, weights, _ = arrays
    # One variance for all memories: where all predict the same, none gains.
    variance = fading.pairs[index]["variance"] + LEAST_VARIANCE
    for k in range(MEMORIES):
        error = reward - mean_in_memory(counts, fading, index, k)
        weights.scratch[k] = -0.5 * min(error * error / variance, MAX_SURPRISE)
    multiply_weights(weights, weights.rewards[context], params.share)


@kernel
def multiply_weights(weights: MemoryWeights, row: Floats, share: float) -> None:
    """Multiply weights by the likelihoods whose logarithms are in ``scratch``, and share: fixed share [HW98]."""
    best = -np.inf
    for k in range(MEMORIES):
        best = max(best, weights.scratch[k])
    total = 0.0
    for k in range(MEMORIES):
        row[k] *= np.exp(weights.scratch[k] - best)
        total += row[k]
    # The best memory may change, so none may be lost. Evidence must pay for forgetting, so most goes to everything.
    for k in range(MEMORIES):
        row[k] = (1.0 - share) * row[k] / total + share * weights.prior[k]


@kernel
def remember(counts: TransitionCounts, fading: FadingMemories, weights: MemoryWeights, step: Step, t: int) -> int:
    """Add a step to every memory. Return the slot of its pair."""
    state, pair, reward, next_state = step
    index = counts.slot_of[pair]
    age = 0 if index < 0 else t - fading.pairs[index]["last"]
    entry = transition_counts.count_step(counts, state, pair, next_state, reward)
    counts.tally[0]["remembered"] += 1
    index = counts.slot_of[pair]
    # Sums are kept as of the last visit: they fade for the steps since, and then the visit counts in full.
    fade_to_today(fading, weights, age)
    for k in range(MEMORIES - 1):
        kept = weights.fades[k]
        fading.sums[index, 0, k] = fading.sums[index, 0, k] * kept + 1.0
        fading.sums[index, 1, k] = fading.sums[index, 1, k] * kept + reward
        fading.sums[index, 2, k] = fading.sums[index, 2, k] * kept + reward * reward
    found = counts.slots[index]["head"]
    while found >= 0:
        for k in range(MEMORIES - 1):
            fading.counts[found, k] = fading.counts[found, k] * weights.fades[k] + (found == entry)
        found = counts.entries[found]["link"]
    fading.pairs[index]["last"] = t
    return index
