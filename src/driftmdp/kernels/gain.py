"""The optimal gain of one MDP, or of a drifting one step after step: sweep or eliminate, whichever is cheaper."""

from __future__ import annotations

import numpy as np

from driftmdp.kernels._compile import kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, Model, WorldArrays
from driftmdp.kernels.bellman import CONVERGED
from driftmdp.kernels.modified_policy_iteration import modified_policy_iteration
from driftmdp.kernels.policy_iteration import policy_iteration
from driftmdp.kernels.world import model_at

SMALL = 32  # up to here elimination is cheaper than sweeping
DENSE_LIMIT = 300  # up to here a dense elimination is worth its cube; beyond, the caller uses a sparse one


@lean_kernel
def solve(
    model: Model, policy: Ints, bias: Floats, tolerance: float, limit: int
) -> tuple[float, float, int, int, int]:
    """Sweep if that is cheap, eliminate if it is not; return lower, upper, sweeps, evaluations, status."""
    n = model.offsets.size - 1
    sweeps = 0
    if n > SMALL:
        low, high, sweeps, status = modified_policy_iteration(
            model, policy, bias, tolerance, 2 * limit if n <= DENSE_LIMIT else 30 * limit
        )
        if status == CONVERGED or n > DENSE_LIMIT:
            return low, high, sweeps, 0, status
    low, high, evaluations, status = policy_iteration(model, policy, bias, tolerance, limit)
    return low, high, sweeps, evaluations, status


@lean_kernel
def same(one: Ints, other: Ints) -> bool:
    """Return whether two policies are equal."""
    equal = True
    for s in range(one.size):
        equal &= one[s] == other[s]
    return equal


@kernel
def gains_along(
    world: WorldArrays, steps: Ints, tolerance: float, limit: int, lower: Floats, upper: Floats, policy_of: Ints
) -> tuple[int, Ints]:
    """Solve each of ``steps``, warm from the last; return the index of a failure or -1, and the policies.

    Fills certified ``lower`` and ``upper`` gains; the policy of step i is row ``policy_of[i]``.
    """
    n = world.offsets.size - 1
    rewards = np.empty(world.anchor_rewards.shape[1])
    scratch = np.empty(world.union_indices.size)
    bias = np.zeros(n)
    policy = np.zeros(n, np.int32)
    policies = np.empty((16, n), np.int32)
    n_policies = 0
    for i in range(steps.size):
        model = model_at(world, steps[i], rewards, scratch)
        lower[i], upper[i], _, _, status = solve(model, policy, bias, tolerance, limit)
        if status != CONVERGED:
            return i, policies[:n_policies]
        if n_policies == 0 or not same(policies[n_policies - 1], policy):
            if n_policies == len(policies):
                policies = np.concatenate((policies, np.empty_like(policies)))
            for s in range(n):
                policies[n_policies, s] = policy[s]
            n_policies += 1
        policy_of[i] = n_policies - 1
    return -1, policies[:n_policies]
