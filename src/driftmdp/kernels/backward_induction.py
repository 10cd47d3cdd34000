"""Backward induction along a drifting MDP: the best, or a given policy's, expected total reward."""

from __future__ import annotations

import numpy as np

from driftmdp.kernels._compile import kernel
from driftmdp.kernels.arrays import Floats, Ints, WorldArrays
from driftmdp.kernels.bellman import backup
from driftmdp.kernels.world import model_at


@kernel
def induce_backward(world: WorldArrays, values: Floats, policy: Ints) -> None:
    """Fill ``policy[t, s]`` with the best actions and ``values[s]`` with the best total from t = 1.

    V_t(s) = max_a r_t(s, a) + sum_j p_t(j | s, a) V_{t+1}(j), V_{T+1} = 0.
    """
    offsets = world.offsets
    rewards = np.empty(world.anchor_rewards.shape[1])
    scratch = np.empty(world.union_indices.size)
    next_values = np.empty(values.size)
    for s in range(values.size):
        values[s] = 0.0
    for step in range(len(policy) - 1, -1, -1):
        model = model_at(world, step, rewards, scratch)
        for s in range(values.size):
            next_values[s] = values[s]
        for s in range(values.size):
            best = -np.inf
            for pair in range(offsets[s], offsets[s + 1]):
                value = backup(model, next_values, pair)
                if value > best:
                    best = value
                    policy[step, s] = pair - offsets[s]
            values[s] = best


@kernel
def evaluate_backward(world: WorldArrays, policy: Ints, values: Floats) -> None:
    """Fill ``values[s]`` with the expected total reward of ``policy[t, s]`` from t = 1."""
    rewards = np.empty(world.anchor_rewards.shape[1])
    scratch = np.empty(world.union_indices.size)
    next_values = np.empty(values.size)
    for s in range(values.size):
        values[s] = 0.0
    for step in range(len(policy) - 1, -1, -1):
        model = model_at(world, step, rewards, scratch)
        for s in range(values.size):
            next_values[s] = values[s]
        for s in range(values.size):
            pair = world.offsets[s] + policy[step, s]
            values[s] = backup(model, next_values, pair)
