"""Bandits: exponential weights (EXP3, EXP3.P, EXP3.S, Rexp3) and upper confidence bounds (UCB1, SW-UCB, D-UCB).

Exponential weights are kept as logarithms, the largest of which is 0, so they neither overflow nor run out of
digits, however many updates there are.

The upper confidence bound of an arm is mean + sqrt(c ln n / N), where N counts its plays in memory and n those of
all arms: every play for UCB1, those of the window for SW-UCB, discounted ones for D-UCB.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import ArmWeights, Exp3Params, Floats, Record, RunInputs, TransitionCounts, UcbParams
from driftmdp.kernels.bellman import CONVERGED
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import draw_index, take_step


@kernel
def update_probabilities(params: Exp3Params, weights: ArmWeights) -> None:
    """Compute the probabilities of the draw to come, [CSZ20] eq:p."""
    logits, probabilities = weights.logits, weights.probabilities
    total = 0.0
    for arm in range(logits.size):
        probabilities[arm] = math.exp(logits[arm])
        total += probabilities[arm]
    # Every arm keeps a share: estimates divide by these probabilities.
    floor = params.mixing / logits.size
    for arm in range(logits.size):
        probabilities[arm] = (1.0 - params.mixing) * (probabilities[arm] / total) + floor


@kernel
def draw_arm(weights: ArmWeights, uniform: float) -> int:
    """Return the arm that a uniform number in [0, 1) falls on."""
    return draw_index(weights.probabilities, 0, weights.probabilities.size, uniform)


@kernel
def add_gain(params: Exp3Params, weights: ArmWeights, arm: int, gain: float) -> None:
    """Add a gain in [0, 1] of the arm that was drawn, [CSZ20] eq:borl_update."""
    logits, probabilities = weights.logits, weights.probabilities
    total = 0.0
    if params.sharing > 0.0:  # EXP3.S shares the weight from before the update
        for other in range(logits.size):
            total += math.exp(logits[other])
    for other in range(logits.size):
        # Over its probability the gain's estimate is unbiased. The bonus makes it an upper bound, EXP3.P.
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
    update_probabilities(params, weights)


@kernel
def learn_exponential(params: Exp3Params, weights: ArmWeights, t: int, arm: int, reward: float) -> None:
    """Add the reward of step t. At the end of a batch, restart."""
    add_gain(params, weights, arm, min(max((reward - params.bottom) / params.span, 0.0), 1.0))
    if params.batch > 0 and t % params.batch == 0:  # Rexp3: under drift, old gains mislead
        for other in range(weights.logits.size):
            weights.logits[other] = 0.0
        update_probabilities(params, weights)


@kernel
def play_exponential(
    inputs: RunInputs, params: Exp3Params, weights: ArmWeights, uniforms: Floats, record: Record
) -> None:
    """Take all steps of a run from its beginning."""
    world, draws, noise = inputs
    for step in range(record.actions.size):
        arm = draw_arm(weights, uniforms[step])
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn_exponential(params, weights, step + 1, arm, reward)


@kernel
def choose_ucb(params: UcbParams, counts: TransitionCounts) -> int:
    """Return the first arm without a play in memory, or else the first within 1e-9 of the largest bound."""
    n_arms = counts.slot_of.size
    plays = 0.0
    for arm in range(n_arms):
        if counts.slot_of[arm] < 0:
            return arm
        plays += counts.slots[counts.slot_of[arm]]["count"]
    # Discounted plays may add up to less than one.
    log = params.factor * max(0.0, math.log(plays))
    chosen, best = 0, -np.inf
    for arm in range(n_arms):
        slot = counts.slots[counts.slot_of[arm]]
        best = max(best, slot["total"] / slot["count"] + math.sqrt(log / slot["count"]))
    for arm in range(n_arms):
        slot = counts.slots[counts.slot_of[arm]]
        if slot["total"] / slot["count"] + math.sqrt(log / slot["count"]) >= best - TIE:
            chosen = arm
            break
    return chosen


@kernel
def learn_ucb(params: UcbParams, counts: TransitionCounts, arm: int, reward: float) -> None:
    """Discount the past and count a play."""
    if params.discount < 1.0:
        transition_counts.discount(counts, params.discount)
    transition_counts.remember(counts, 0, arm, 0, (reward - params.bottom) / params.span)


@kernel
def play_ucb(
    inputs: RunInputs,
    params: UcbParams,
    counts: TransitionCounts,
    record: Record,
    first: int,
    last: int,
    watch: Watch | None = None,
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``. Return the row reached and a status."""
    world, draws, noise = inputs
    for step in range(first, last):
        arm = choose_ucb(params, counts)
        if watch is not None:
            arm = forced_action(watch, world.offsets, 0, arm)
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn_ucb(params, counts, arm, reward)
        if watch is not None:
            signal = watch_step(watch, 0, arm, reward, 0)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED
