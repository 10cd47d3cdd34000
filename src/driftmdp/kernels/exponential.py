"""Bandits with exponential weights: EXP3, EXP3.P, EXP3.S and Rexp3 are one step with other numbers.

Weights are kept as logarithms, the largest of which is 0, so they neither overflow nor run out of digits, however
many updates there are.
"""

from __future__ import annotations

import math

import numpy as np

from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Luck, Odds, Record, Weights, World
from driftmdp.kernels.world import draw, take_step


@inlined_kernel
def mix(odds: Odds, weights: Weights) -> None:
    """Compute the probabilities of the draw to come, [CSZ20] eq:p."""
    logits, probabilities = weights.logits, weights.probabilities
    total = 0.0
    for arm in range(logits.size):
        probabilities[arm] = math.exp(logits[arm])
        total += probabilities[arm]
    floor = odds.mixing / logits.size
    for arm in range(logits.size):
        probabilities[arm] = (1.0 - odds.mixing) * (probabilities[arm] / total) + floor


@inlined_kernel
def choose(weights: Weights, uniform: float) -> int:
    """Return the arm that a uniform number in [0, 1) falls on."""
    return draw(weights.probabilities, 0, weights.probabilities.size, uniform)


@inlined_kernel
def credit(odds: Odds, weights: Weights, arm: int, gain: float) -> None:
    """Take in a gain in [0, 1] of the arm that was drawn, [CSZ20] eq:borl_update, and mix."""
    logits, probabilities = weights.logits, weights.probabilities
    total = 0.0
    if odds.sharing > 0.0:
        for other in range(logits.size):
            total += math.exp(logits[other])
    for other in range(logits.size):
        estimate = odds.bonus + gain if other == arm else odds.bonus
        logits[other] += odds.rate * estimate / probabilities[other]
    if odds.sharing > 0.0:
        for other in range(logits.size):
            logits[other] = math.log(math.exp(logits[other]) + odds.sharing * total)
    top = -np.inf
    for other in range(logits.size):
        top = max(top, logits[other])
    for other in range(logits.size):
        logits[other] -= top
    mix(odds, weights)


@inlined_kernel
def learn(odds: Odds, weights: Weights, t: int, arm: int, reward: float) -> None:
    """Take in the reward of step t; at the end of a batch, begin anew."""
    credit(odds, weights, arm, min(max((reward - odds.bottom) / odds.span, 0.0), 1.0))
    if odds.batch > 0 and t % odds.batch == 0:
        for other in range(weights.logits.size):
            weights.logits[other] = 0.0
        mix(odds, weights)


@lean_kernel
def play(
    world: World,
    luck: Luck,
    noise: tuple[int, float, float, float],
    odds: Odds,
    weights: Weights,
    uniforms: Floats,
    record: Record,
) -> None:
    """Take all steps of a run from its beginning."""
    for step in range(record.actions.size):
        arm = choose(weights, uniforms[step])
        reward, _ = take_step(world, luck, noise, record, step, arm)
        learn(odds, weights, step + 1, arm, reward)
