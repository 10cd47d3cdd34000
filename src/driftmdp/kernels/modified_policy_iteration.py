"""Modified policy iteration: sweeps over the non-zeros, for large sparse MDPs that mix fast."""

from __future__ import annotations

import numpy as np

from driftmdp.kernels._compile import kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, Model
from driftmdp.kernels.bellman import CONVERGED, OUT_OF_BUDGET, expectation, smallest

KAPPA = 0.95  # the lazy chain moves with this probability
CHECK = 400  # sweeps after which their pace is looked at


@kernel
def modified_policy_iteration(
    model: Model, policy: Ints, bias: Floats, tolerance: float, budget: int
) -> tuple[float, float, int, int]:
    """Like ``policy_iteration``, in sweeps over the non-zeros; ``budget`` counts full and policy sweeps.

    Sweeps the lazy chain, T'u = max (r + kappa P u) + (1 - kappa) u, which is aperiodic; h = kappa u has
    T h - h = T'u - u exactly, so the certificate is that of the MDP itself. After each full sweep the policy found
    is swept alone, which costs a fraction, until its own residual is a tenth of the full one.
    """
    n = model.offsets.size - 1
    u, new = np.empty(n), np.empty(n)
    for s in range(n):
        u[s] = bias[s] / KAPPA
    sweeps, checked, before = 0, 0, np.inf
    while True:
        low, high = full_sweep(model, u, new, policy)
        sweeps += 1
        if high - low <= tolerance or sweeps >= budget:
            break
        if sweeps - checked >= CHECK:
            pace = np.log(before / (high - low)) / (sweeps - checked)
            if np.isfinite(before) and sweeps + np.log((high - low) / tolerance) / max(pace, 1e-9) > budget:
                break  # at this pace the budget will not suffice
            checked, before = sweeps, high - low
        enough = max(0.1 * (high - low), 0.5 * tolerance)
        for _ in range(20):
            u, new = new, u
            low, high = policy_sweep(model, u, new, policy)
            sweeps += 1
            if high - low <= enough:
                break
        u, new = new, u
        base = smallest(u)
        for s in range(n):
            u[s] -= base
    for s in range(n):
        bias[s] = KAPPA * u[s]
    return low, high, sweeps, CONVERGED if high - low <= tolerance else OUT_OF_BUDGET


@lean_kernel
def full_sweep(model: Model, u: Floats, new: Floats, policy: Ints) -> tuple[float, float]:
    """Set ``new`` to T'u and ``policy`` to the actions that attain it; return min and max of T'u - u."""
    low, high = np.inf, -np.inf
    for s in range(u.size):
        best_value, best = -np.inf, 0
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            value = model.rewards[pair] + KAPPA * expectation(model, u, pair)
            if value > best_value:
                best_value, best = value, pair - model.offsets[s]
        policy[s] = best
        new[s] = best_value + (1.0 - KAPPA) * u[s]
        low, high = min(low, new[s] - u[s]), max(high, new[s] - u[s])
    return low, high


@lean_kernel
def policy_sweep(model: Model, u: Floats, new: Floats, policy: Ints) -> tuple[float, float]:
    """Like ``full_sweep`` for the policy's own actions only."""
    low, high = np.inf, -np.inf
    for s in range(u.size):
        pair = model.offsets[s] + policy[s]
        new[s] = model.rewards[pair] + KAPPA * expectation(model, u, pair) + (1.0 - KAPPA) * u[s]
        low, high = min(low, new[s] - u[s]), max(high, new[s] - u[s])
    return low, high
