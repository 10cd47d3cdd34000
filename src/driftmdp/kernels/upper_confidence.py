"""Bandits with upper confidence bounds: UCB1, SW-UCB and D-UCB are one index on another memory.

The index of an arm is mean + sqrt(c ln n / N), where N counts its plays in memory and n those of all arms: every
play for UCB1, those of the window for SW-UCB, discounted ones for D-UCB.
"""

from __future__ import annotations

import math

import numpy as np

from driftmdp.kernels import transition_counts
from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Draws, Record, TransitionCounts, UcbParams, WorldArrays
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import take_step


@inlined_kernel
def choose(bounds: UcbParams, known: TransitionCounts) -> int:
    """Return the first arm without a play in memory, or else the first within 1e-9 of the largest index."""
    n_arms = known.slot_of.size
    plays = 0.0
    for arm in range(n_arms):
        if known.slot_of[arm] < 0:
            return arm
        plays += known.slots[known.slot_of[arm]]["count"]
    log = bounds.factor * max(0.0, math.log(plays))
    chosen, best = 0, -np.inf
    for arm in range(n_arms):
        slot = known.slots[known.slot_of[arm]]
        best = max(best, slot["total"] / slot["count"] + math.sqrt(log / slot["count"]))
    for arm in range(n_arms):
        slot = known.slots[known.slot_of[arm]]
        if slot["total"] / slot["count"] + math.sqrt(log / slot["count"]) >= best - TIE:
            chosen = arm
            break
    return chosen


@inlined_kernel
def learn(bounds: UcbParams, known: TransitionCounts, arm: int, reward: float) -> None:
    """Let the past fade and remember a play."""
    if bounds.discount < 1.0:
        transition_counts.discount(known, bounds.discount)
    transition_counts.remember(known, 0, arm, 0, (reward - bounds.bottom) / bounds.span)


@lean_kernel
def play(
    world: WorldArrays,
    draws: Draws,
    noise: tuple[int, float, float, float],
    bounds: UcbParams,
    known: TransitionCounts,
    record: Record,
    first: int,
    last: int,
) -> None:
    """Take the steps of the rows ``first .. last - 1``."""
    for step in range(first, last):
        arm = choose(bounds, known)
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn(bounds, known, arm, reward)
