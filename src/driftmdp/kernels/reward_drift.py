"""How noisy rewards are, and how far they were seen to move in the time since a pair was last tried.

=========  ====================================================================================================
sigma^2    noise of a pair's rewards: their variance within the memories that are trusted
D[c]       mean squared distance by which rewards moved in the time of context c, beyond noise and chance
d          D[c] for one pair: less where its own rewards moved less than expected, more where they moved more
=========  ====================================================================================================
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.adaptive_agent_arrays import CONTEXTS, MEMORIES, AdaptiveParams, FadingMemories, MemoryWeights
from driftmdp.kernels.arrays import Floats, TransitionCounts

NOISE_PRIOR = 2.0  # visits that the noise of all pairs counts for
NOISE_MEMORY = 200.0  # errors that it is made of
LEAST_DRIFT_MEMORY = 1000.0  # steps that the drift of a context is made of,
DRIFT_MEMORY = 20.0  # or so many times the age that begins it
DRIFT_PRIOR = 5.0  # errors that the next younger context counts for: twice the time, twice the distance squared
DRIFT_DOUBT = 2.0  # deviations that noise alone may have done
PAIR_MEMORY = 50.0  # visits that a pair's own drift is made of
LARGEST_FACTOR = 4.0  # by which a pair may move more than others
LARGEST_DRIFT = 0.25  # the largest variance of rewards in [0, 1]
LOG_USUAL_AGE = np.log(31.0)  # ln (1 + age) at which drift counts once


@kernel
def estimate_noise(
    counts: TransitionCounts, fading: FadingMemories, weights: MemoryWeights, index: int, context: int
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
        variance += weights.rewards[context, k] * max(0.0, squares - mean * mean)
    # Few visits estimate a variance badly: then that of all pairs counts.
    count = slot["count"]
    return (NOISE_PRIOR * weights.noise[0] + count * variance) / (NOISE_PRIOR + count)


@kernel
def weigh_age(params: AdaptiveParams, age: int) -> float:
    """Return the deviations of drift that count for a pair of some age."""
    # Where drift is slow, an answer stays valid for longer, so that more of it is worth a look.
    return np.log1p(age) / LOG_USUAL_AGE if params.patience else 1.0


@kernel
def drift_of_pair(
    params: AdaptiveParams, fading: FadingMemories, weights: MemoryWeights, index: int, age_context: int
) -> float:
    """Return d of a pair that was last visited in the time of a context."""
    drift, pair = weights.drift[age_context], fading.pairs[index]
    if drift > 0.0 and params.by_pair:
        factor = (max(0.0, pair["moved"]) + drift) / (pair["foreseen"] + drift)
        drift = min(LARGEST_DRIFT, drift * min(factor, LARGEST_FACTOR))
    return drift


@kernel
def measure(
    params: AdaptiveParams,
    counts: TransitionCounts,
    fading: FadingMemories,
    weights: MemoryWeights,
    index: int,
    context: int,
    age_context: int,
    reward: float,
) -> None:
    """Learn noise and drift from the error of r^."""
    pair = fading.pairs[index]
    error = reward - pair["mean"]
    error *= error
    # What it has beyond noise, also that of the mean of N visits, is drift.
    count = counts.slots[index]["count"]
    noise = estimate_noise(counts, fading, weights, index, context) * (1.0 + 1.0 / count)
    kept = 1.0 - 1.0 / PAIR_MEMORY
    pair["moved"] = kept * pair["moved"] + error - noise
    pair["foreseen"] = kept * pair["foreseen"] + weights.drift[age_context]
    update_drift(weights, age_context, error - noise, noise)
    weights.noise[1] = min(weights.noise[1] + 1.0, NOISE_MEMORY)
    weights.noise[0] += (error - weights.noise[0]) / weights.noise[1]


@kernel
def update_drift(weights: MemoryWeights, context: int, excess: float, noise: float) -> None:
    """Add by how much an error exceeded the noise, and estimate the drift of every context again."""
    fade_judged(weights.judged)
    add_error(weights.judged, context, excess, 2.0 * noise * noise)  # the variance of a squared normal error
    estimate_drift(weights.judged, weights.drift, LARGEST_DRIFT)


@kernel
def fade_judged(judged: Floats) -> None:
    """Let what was learned from errors fade, the more slowly the older a context is."""
    reach = DRIFT_MEMORY
    for c in range(CONTEXTS):
        kept = 1.0 - 1.0 / max(LEAST_DRIFT_MEMORY, reach)
        reach *= 2.0
        for i in range(3):
            judged[c, i] *= kept


@kernel
def add_error(judged: Floats, context: int, excess: float, variance: float) -> None:
    """Add the excess of an error, and the variance that it has by chance."""
    judged[context, 0] += 1.0
    judged[context, 1] += excess
    judged[context, 2] += variance


@kernel
def estimate_drift(judged: Floats, drift: Floats, largest: float) -> None:
    """Estimate the drift of every context."""
    younger = 0.0
    for c in range(CONTEXTS):
        # What noise alone may have done is left out. What older contexts lack they take from younger ones, since
        # drift only adds up.
        chance = DRIFT_DOUBT * np.sqrt(judged[c, 2])
        moved = (judged[c, 1] - chance + DRIFT_PRIOR * 2.0 * younger) / (judged[c, 0] + DRIFT_PRIOR)
        younger = min(max(moved, younger), largest)
        drift[c] = younger
