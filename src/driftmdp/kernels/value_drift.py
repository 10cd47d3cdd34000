"""How far the values of next states were seen to move: the drift of transitions, as far as it matters to the plan.

A pair that is visited often shows how wrong one would be about it, had one not looked for a while. Memory k + 1
less memory k is a *band*: the visits of a pair that are about as old as memory k reaches back. At every visit, what
each band would have predicted for the value h of the next state is compared with what is believed now, by their
errors against the same next state, so that the noise which both share cancels out.

=========  ====================================================================================================
y          h of the next state that came
y^         p^h, what was believed
o_k        mean of h over the next states of band k, n_k of them
excess     (y - o_k)^2 - (y - y^)^2 - Var / n_k, whose mean is at most 0 where nothing moved
G[c]       mean excess of the bands whose age is of context c, less two deviations as if all were independent
E_s, F_s   fading sums over the pairs of a state: of excess, and of the G that was expected
=========  ====================================================================================================
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import fading_memory, reward_drift
from driftmdp.kernels.adaptive_agent_arrays import MEMORIES, AdaptiveArrays, AdaptiveParams, MemoryWeights

LEAST_BAND = 0.5  # visits that a band must have
STATE_MEMORY = 100.0  # visits that a state's own drift is made of
LARGEST = 1e300  # a number that can be kept


@kernel
def drift_of_pair(params: AdaptiveParams, weights: MemoryWeights, state: int, age: int, age_context: int) -> float:
    """Return the squared distance that the value of a pair's next state is given for drift."""
    drift = weights.value_drift[age_context]
    if drift > 0.0 and params.by_state:
        # Actions of a state that moved may have moved too, tried or not. Where nothing moves, they are left alone.
        # The factor has no bound: where no drift was expected before, G > 0 only says that E_s is to be believed.
        # Values do have one, the best state's.
        known = weights.by_state[state]
        drift *= (max(0.0, known[0]) + drift) / (known[1] + drift)
    worth = params.value_drift * reward_drift.weigh_age(params, age)
    return min(worth * worth * drift, LARGEST)


@kernel
def measure(arrays: AdaptiveArrays, index: int, age: int, next_state: int) -> None:
    """Learn how far values move from a visit, before it is remembered."""
    _, _, counts, fading, weights, plan = arrays
    if not plan.is_met[next_state]:
        return
    slot, value, known = counts.slots[index], plan.bias[next_state], weights.by_state[counts.slots[index]["state"]]
    believed, square = predict_value(arrays, index)
    variance = max(0.0, square - believed * believed)
    reward_drift.fade_judged(weights.value_judged)
    known[0] *= 1.0 - 1.0 / STATE_MEMORY
    known[1] *= 1.0 - 1.0 / STATE_MEMORY
    last = fading_memory.find_context(age)
    for k in range(MEMORIES - 1):
        context = fading_memory.find_context(age + fading.reaches[k])
        older = fading_memory.visits_in_memory(counts, fading, index, k + 1)
        band = older - fading.sums[index, 0, k]
        if context == last or band < LEAST_BAND:
            continue
        last = context
        stale = recall_value(arrays, slot["head"], k) / band
        chance, gap = variance / band, stale - believed
        excess = (value - stale) * (value - stale) - (value - believed) * (value - believed) - chance
        by_chance = 4.0 * gap * gap * variance + 2.0 * chance * chance
        reward_drift.add_error(weights.value_judged, context, excess, by_chance)
        known[0] += excess
        known[1] += weights.value_drift[context]
    reward_drift.estimate_drift(weights.value_judged, weights.value_drift, np.inf)


@kernel
def predict_value(arrays: AdaptiveArrays, index: int) -> tuple[float, float]:
    """Return the means of h and of h^2 by p^ of a pair."""
    counts, bias = arrays.counts, arrays.plan.bias
    mean, square, found = 0.0, 0.0, counts.slots[index]["head"]
    while found >= 0:
        value, chance = bias[counts.entries[found]["next_state"]], arrays.fading.chances[found]
        mean += chance * value
        square += chance * value * value
        found = counts.entries[found]["link"]
    return mean, square


@kernel
def recall_value(arrays: AdaptiveArrays, head: int, k: int) -> float:
    """Return the sum of h over the next states of a band."""
    counts, fading, bias = arrays.counts, arrays.fading, arrays.plan.bias
    total, found = 0.0, head
    while found >= 0:
        entry = counts.entries[found]
        older = fading.counts[found, k + 1] if k < MEMORIES - 2 else entry["count"]
        total += (older - fading.counts[found, k]) * bias[entry["next_state"]]
        found = entry["link"]
    return total
