"""Empirical laws of rewards in [0, 1], kept in bounded space, and the sums over them that K_inf is made of.

A law holds up to 17 different values exactly. One more moves it to the grid 0, 1/16, .. 1: each reward is shared
between the two points around it, so that its mean is kept.

The sums are over the values v of a law, with d = v + value.
"""

import math

from driftmdp.compiler import kernel
from driftmdp.kernels.imed_rl_arrays import LAW_SIZE, RewardLaws


@kernel
def add_reward(laws: RewardLaws, index: int, reward: float, weight: float) -> None:
    """Add a reward to the law of a pair. One value too many moves the law to the grid 0, 1/16, .. 1."""
    size = laws.sizes[index]
    if size <= LAW_SIZE:
        for k in range(size):
            if laws.values[index, k] == reward:
                laws.weights[index, k] += weight
                return
        if size < LAW_SIZE:
            laws.values[index, size], laws.weights[index, size] = reward, weight
            laws.sizes[index] = size + 1
            return
        move_to_grid(laws, index)
    split_reward(laws, index, reward, weight)


@kernel
def move_to_grid(laws: RewardLaws, index: int) -> None:
    """Move the law of a pair to the grid."""
    values, weights = laws.values[index : index + 1].copy(), laws.weights[index : index + 1].copy()
    for k in range(LAW_SIZE):
        laws.values[index, k], laws.weights[index, k] = float(k) / (LAW_SIZE - 1), 0.0
    laws.sizes[index] = LAW_SIZE + 1
    for k in range(LAW_SIZE):
        split_reward(laws, index, values[0, k], weights[0, k])


@kernel
def split_reward(laws: RewardLaws, index: int, reward: float, weight: float) -> None:
    """Share the weight of a reward between the two points of the grid around it, so that its mean is kept."""
    # Spreading a law makes K smaller: exploration can only grow by it.
    place = reward * (LAW_SIZE - 1)
    k = min(int(place), LAW_SIZE - 2)
    laws.weights[index, k] += weight * (1.0 - (place - k))
    laws.weights[index, k + 1] += weight * (place - k)


@kernel
def largest_reward(laws: RewardLaws, index: int) -> float:
    """Return the largest reward in the law of a pair."""
    top = 0.0
    for k in range(min(laws.sizes[index], LAW_SIZE)):
        if laws.weights[index, k] > 0.0:
            top = max(top, laws.values[index, k])
    return top


@kernel
def slope_at(laws: RewardLaws, index: int, value: float, x: float) -> tuple[float, float]:
    """Return sum w z and sum w z^2, z = d / (1 - d x): how the dual at x falls, and how that grows."""
    slope, bend = 0.0, 0.0
    for k in range(min(laws.sizes[index], LAW_SIZE)):
        if laws.weights[index, k] > 0.0:  # a point of the grid without weight may be a pole
            d = laws.values[index, k] + value
            ratio = d / (1.0 - d * x)
            slope += laws.weights[index, k] * ratio
            bend += laws.weights[index, k] * ratio * ratio
    return slope, bend


@kernel
def dual_at(laws: RewardLaws, index: int, value: float, x: float) -> float:
    """Return the dual at x, sum w ln (1 - d x)."""
    total = 0.0
    for k in range(min(laws.sizes[index], LAW_SIZE)):
        if laws.weights[index, k] > 0.0:
            total += laws.weights[index, k] * math.log(1.0 - (laws.values[index, k] + value) * x)
    return total
