"""Bandits with exponential weights: EXP3, EXP3.P, EXP3.S and Rexp3 are one step with other numbers.

Weights are kept as logarithms, the largest of which is 0, so they neither overflow nor run out of digits, however
many updates there are.
"""

from __future__ import annotations

import math

import numpy as np

from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import ArmWeights, Draws, Exp3Params, Floats, Record, WorldArrays
from driftmdp.kernels.world import draw, take_step


@inlined_kernel
def mix(params: Exp3Params, weights: ArmWeights) -> None:
    """Compute the probabilities of the draw to come, [CSZ20] eq:p."""
    logits, probabilities = weights.logits, weights.probabilities
    total = 0.0
    for arm in range(logits.size):
        probabilities[arm] = math.exp(logits[arm])
        total += probabilities[arm]
    floor = params.mixing / logits.size
    for arm in range(logits.size):
        probabilities[arm] = (1.0 - params.mixing) * (probabilities[arm] / total) + floor


@inlined_kernel
def choose(weights: ArmWeights, uniform: float) -> int:
    """Return the arm that a uniform number in [0, 1) falls on."""
    return draw(weights.probabilities, 0, weights.probabilities.size, uniform)


@inlined_kernel
def credit(params: Exp3Params, weights: ArmWeights, arm: int, gain: float) -> None:
    """Take in a gain in [0, 1] of the arm that was drawn, [CSZ20] eq:borl_update, and mix."""
    logits, probabilities = weights.logits, weights.probabilities
    total = 0.0
    if params.sharing > 0.0:
        for other in range(logits.size):
            total += math.exp(logits[other])
    for other in range(logits.size):
        estimate = params.bonus + gain if other == arm else params.bonus
        logits[other] += params.rate * estimate / probabilities[other]
    if params.sharing > 0.0:
        for other in range(logits.size):
            logits[other] = math.log(math.exp(logits[other]) + params.sharing * total)
    top = -np.inf
    for other in range(logits.size):
        top = max(top, logits[other])
    for other in range(logits.size):
        logits[other] -= top
    mix(params, weights)


@inlined_kernel
def learn(params: Exp3Params, weights: ArmWeights, t: int, arm: int, reward: float) -> None:
    """Take in the reward of step t; at the end of a batch, begin anew."""
    credit(params, weights, arm, min(max((reward - params.bottom) / params.span, 0.0), 1.0))
    if params.batch > 0 and t % params.batch == 0:
        for other in range(weights.logits.size):
            weights.logits[other] = 0.0
        mix(params, weights)


@lean_kernel
def play(
    world: WorldArrays,
    draws: Draws,
    noise: tuple[int, float, float, float],
    params: Exp3Params,
    weights: ArmWeights,
    uniforms: Floats,
    record: Record,
) -> None:
    """Take all steps of a run from its beginning."""
    for step in range(record.actions.size):
        arm = choose(weights, uniforms[step])
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn(params, weights, step + 1, arm, reward)
