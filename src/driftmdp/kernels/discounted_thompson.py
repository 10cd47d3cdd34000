"""Discounted Thompson sampling [RK17]: play the arm whose draw from its Beta posterior is the largest.

Rewards are mapped to [0, 1] and clipped. One between 0 and 1 is a success with the probability of its size.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs, Record, RunInputs
from driftmdp.kernels.posterior import beta, uniform
from driftmdp.kernels.posterior_arrays import Bits
from driftmdp.kernels.world import take_step

VANISHED = 1e-200  # changes no draw, and smaller numbers would be slow


class ThompsonParams(NamedTuple):
    """Parameters of discounted Thompson sampling: numbers only.

    ===================  ==============================================================================
    discount             factor of all successes and failures at every step
    successes, failures  of the prior, at least 1
    bottom, span         rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ===================  ==============================================================================
    """

    discount: float
    successes: float
    failures: float
    bottom: float
    span: float


class ThompsonArrays(NamedTuple):
    """What discounted Thompson sampling knows.

    ===================  =====  =================================================================
    successes, failures  (K,)   discounted, without the prior
    advised              (1,)   the arm that was drawn for this step, -1 before
    generator            (4,)   state of the random generator, see kernels/posterior.py
    ===================  =====  =================================================================
    """

    successes: Floats
    failures: Floats
    advised: Longs
    generator: Bits


@kernel
def choose(params: ThompsonParams, arrays: ThompsonArrays) -> int:
    """Return the arm with the largest draw, the same until it is played."""
    if arrays.advised[0] < 0:
        chosen, best = 0, -np.inf
        for arm in range(arrays.successes.size):
            successes, failures = arrays.successes[arm], arrays.failures[arm]
            drawn = beta(arrays.generator, params.successes + successes, params.failures + failures)
            if drawn > best:
                chosen, best = arm, drawn
        arrays.advised[0] = chosen
    return arrays.advised[0]


@kernel
def learn(params: ThompsonParams, arrays: ThompsonArrays, arm: int, reward: float) -> None:
    """Discount the past of all arms, and count a success or a failure."""
    gain = (reward - params.bottom) / params.span
    is_success = gain >= 1.0 or (gain > 0.0 and uniform(arrays.generator) < gain)
    for other in range(arrays.successes.size):
        arrays.successes[other] *= params.discount
        arrays.failures[other] *= params.discount
        if arrays.successes[other] < VANISHED:
            arrays.successes[other] = 0.0
        if arrays.failures[other] < VANISHED:
            arrays.failures[other] = 0.0
    if is_success:
        arrays.successes[arm] += 1.0
    else:
        arrays.failures[arm] += 1.0
    arrays.advised[0] = -1


@kernel
def play(
    inputs: RunInputs, params: ThompsonParams, arrays: ThompsonArrays, record: Record, first: int, last: int
) -> None:
    """Take the steps of the rows ``first .. last - 1``."""
    world, draws, noise = inputs
    for step in range(first, last):
        arm = choose(params, arrays)
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn(params, arrays, arm, reward)
