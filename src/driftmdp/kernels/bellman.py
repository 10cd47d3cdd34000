"""Bellman steps on one MDP, (T h)(s) = max_a r(s, a) + sum_j p(j | s, a) h(j), and along a drifting one.

For *any* h, min (T h - h) <= rho* <= max (T h - h) [P94, Theorem 8.5.5]: whatever produced h, one step on it
certifies the gain of a communicating MDP.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Model, WorldArrays
from driftmdp.kernels.world import model_at, model_buffers

# The statuses of kernels that iterate, plan or play.
CONVERGED = 0  # the residual is within the tolerance
STALLED = 1  # no policy improves by more than rounding, and the residual is still above the tolerance
OUT_OF_BUDGET = 2  # the allowed iterations or sweeps are used up
BUFFER_FULL = 3  # the buffers of a plan are too small: make them larger and go on
SOLVE_SPARSELY = 4  # the MDP found is too large to be solved in compiled code: solve it outside and go on
COUNTS_FULL = 5  # one more step may not fit into the counts: make them larger and go on


@kernel
def expectation(model: Model, values: Floats, pair: int) -> float:
    """Return sum_j p(j | pair) values(j)."""
    total = 0.0
    for z in range(model.indptr[pair], model.indptr[pair + 1]):
        total += model.data[z] * values[model.indices[z]]
    return total


@kernel
def backup(model: Model, bias: Floats, pair: int) -> float:
    """Return r(pair) + sum_j p(j | pair) bias(j)."""
    return model.rewards[pair] + expectation(model, bias, pair)


@kernel
def expected_change(model: Model, values: Floats, s: int, pair: int) -> float:
    """Return sum_j p(j | pair) (values(j) - values(s))."""
    total = 0.0
    for z in range(model.indptr[pair], model.indptr[pair + 1]):
        # Differences first: the result keeps its digits however large the values are.
        total += model.data[z] * (values[model.indices[z]] - values[s])
    return total


@kernel
def max_abs(values: Floats) -> float:
    """Return the largest absolute value."""
    size = 0.0
    for i in range(values.size):
        size = max(size, abs(values[i]))
    return size


@kernel
def subtract_least(u: Floats, n: int) -> None:
    """Make the least of the first n entries 0, so that values do not grow with the number of sweeps."""
    least = np.inf
    for s in range(n):
        least = min(least, u[s])
    for s in range(n):
        u[s] -= least


@kernel
def bellman_step(model: Model, bias: Floats, policy: Ints, margin: float) -> tuple[float, float, bool]:
    """Make ``policy`` greedy for ``bias``. Return min and max of T bias - bias, and if it changed."""
    low, high, changed = np.inf, -np.inf, False
    for s in range(model.offsets.size - 1):
        current = model.offsets[s] + policy[s]
        best = current
        kept = best_value = model.rewards[current] + expected_change(model, bias, s, current)
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            if pair != current:
                value = model.rewards[pair] + expected_change(model, bias, s, pair)
                if value > best_value:
                    best, best_value = pair, value
        # Ties keep the action, also those by rounding: this is what makes policy iteration end.
        if best_value > kept + margin:
            policy[s] = best - model.offsets[s]
            changed = True
        low = min(low, best_value)
        high = max(high, best_value)
    return low, high, changed


@kernel
def improve_in_place(model: Model, gain: float, bias: Floats, policy: Ints, margin: float) -> None:
    """Improve ``policy`` further, in place up and down the states, so that a change reaches far states in one pass.

    One Bellman step moves news by one transition, which on a chain of 1,000 states would take 1,000 policies.
    Where T h >= h + gain, as for the bias h of a policy with that gain, each update only raises h, so the new
    policy's gain is not below it.
    """
    n = model.offsets.size - 1
    h = bias.copy()
    for i in range(2 * n):
        s = i if i < n else 2 * n - 1 - i
        current = model.offsets[s] + policy[s]
        best, best_value = current, backup(model, h, current) + margin
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            value = backup(model, h, pair)
            if value > best_value:
                best, best_value = pair, value
        policy[s] = best - model.offsets[s]
        # Without the margin, which belongs to the comparison only.
        h[s] = max(h[s], backup(model, h, best) - gain)


@kernel
def induce_backward(world: WorldArrays, values: Floats, policy: Ints, improve: bool) -> None:
    """Fill ``values[s]`` with the best expected total reward from t = 1, or with that of a given policy.

    V_t(s) = max_a r_t(s, a) + sum_j p_t(j | s, a) V_{t+1}(j), V_{T+1} = 0. If ``improve``, ``policy[t, s]`` is
    filled with the best actions. Otherwise the maximum is over its action alone.
    """
    offsets = world.offsets
    buffers = model_buffers(world)
    next_values = np.empty(values.size)
    for s in range(values.size):
        values[s] = 0.0
    for step in range(len(policy) - 1, -1, -1):
        model = model_at(world, step, buffers)
        for s in range(values.size):
            next_values[s] = values[s]
        for s in range(values.size):
            first, last = offsets[s], offsets[s + 1]
            if not improve:
                first = offsets[s] + policy[step, s]
                last = first + 1
            values[s] = -np.inf
            for pair in range(first, last):
                value = backup(model, next_values, pair)
                if value > values[s]:
                    values[s], policy[step, s] = value, pair - offsets[s]
