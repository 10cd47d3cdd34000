"""Howard's policy iteration with dense elimination.

On a communicating MDP an intermediate policy may have several recurrent classes; then every state is steered to the
best of them, which raises the gain, so the method still ends after finitely many policies (docs/decisions/0004).
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import graph
from driftmdp.kernels._compile import kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, Model
from driftmdp.kernels.bellman import (
    CONVERGED,
    OUT_OF_BUDGET,
    STALLED,
    advance,
    bellman_step,
    largest_size,
    spread,
)

MARGIN = 1e-14  # an improvement below this share of the numbers involved is rounding
PATIENCE, MOST_PATIENCE = 1e6, 1e12  # steps that a discount looks ahead, at first and at last


@lean_kernel
def solve_dense(matrix: Floats, vector: Floats) -> None:
    """Overwrite ``vector`` with the solution of matrix x = vector; Gaussian elimination, partial pivots."""
    n = vector.size
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
            vector[k], vector[pivot] = vector[pivot], vector[k]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor * matrix[k, j]
                vector[i] -= factor * vector[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            vector[i] -= matrix[i, j] * vector[j]
        vector[i] /= matrix[i, i]


@kernel
def evaluate_class(model: Model, policy: Ints, members: Ints, discount: float, bias: Floats) -> float:
    """Return the gain of a policy on a closed set with one recurrent class, and fill its ``bias`` there.

    Solves (I - P + 1 v') h = r with v uniform on the members: then v' h is the gain and h the bias. The
    uniform v keeps the system well conditioned even where some states are almost never visited.

    With ``discount`` < 1 solves (I - discount P) h = r instead, which needs no recurrent class.
    """
    m = members.size
    place = np.empty(model.offsets.size - 1, np.int32)
    for i in range(m):
        place[members[i]] = i
    matrix = np.empty((m, m))
    h = np.empty(m)
    for i in range(m):
        for j in range(m):
            matrix[i, j] = 1.0 / m if discount == 1.0 else 0.0
        pair = model.offsets[members[i]] + policy[members[i]]
        matrix[i, i] += 1.0 - discount
        h[i] = model.rewards[pair]
        for z in range(model.indptr[pair], model.indptr[pair + 1]):
            if model.data[z] != 0.0 and model.indices[z] != members[i]:
                # 1 - p(i | i) is summed, not subtracted: a rare way out keeps its digits
                matrix[i, i] += discount * model.data[z]
                matrix[i, place[model.indices[z]]] -= discount * model.data[z]
    solve_dense(matrix, h)
    gain = 0.0
    for i in range(m):
        gain += h[i] / m
        bias[members[i]] = h[i] - h[0]
    return gain


@lean_kernel
def solves(model: Model, policy: Ints, gain: float, bias: Floats) -> bool:
    """Return whether r + P bias = bias + gain holds under ``policy``, up to rounding."""
    error = 0.0
    for s in range(model.offsets.size - 1):
        pair = model.offsets[s] + policy[s]
        value = model.rewards[pair] + advance(model, bias, s, pair) - gain
        if not np.isfinite(value):
            return False
        error = max(error, abs(value))
    return error <= 1e-6 * (1.0 + largest_size(model.rewards))


@lean_kernel
def evaluate(model: Model, policy: Ints, everyone: Ints, patience: float, bias: Floats) -> bool:
    """Fill ``bias`` for a policy with one recurrent class; return whether a discount had to decide.

    Where leaving some states takes longer than double precision can tell from never (a chain against a
    current: 7^100 steps), the policy is as good as multichain; then a discount of 1 - 1 / patience tells which part
    is better.
    """
    gain = evaluate_class(model, policy, everyone, 1.0, bias)
    if solves(model, policy, gain, bias):
        return False
    evaluate_class(model, policy, everyone, 1.0 - 1.0 / patience, bias)
    return True


@kernel
def members_of(labels: Ints, label: int) -> Ints:
    """Return the states with a label."""
    count = 0
    for s in range(labels.size):
        count += labels[s] == label
    members = np.empty(count, np.int32)
    i = 0
    for s in range(labels.size):
        if labels[s] == label:
            members[i] = s
            i += 1
    return members


@kernel
def steer_to(model: Model, policy: Ints, labels: Ints, label: int) -> None:
    """Change ``policy`` outside a recurrent class so that every state that can reach the class does."""
    n = model.offsets.size - 1
    members = members_of(labels, label)
    order = np.empty(n, np.int32)
    for i in range(members.size):
        order[i] = members[i]
    pointer, pairs = graph.reverse(model)
    graph.reach(model.offsets, pointer, pairs, order, members.size, policy)


@kernel
def make_unichain(model: Model, policy: Ints, bias: Floats) -> None:
    """If ``policy`` has several recurrent classes, steer every state to the one with the largest gain."""
    labels = np.empty(model.offsets.size - 1, np.int32)
    n_classes = graph.recurrent_classes(model, policy, labels)
    if n_classes == 1:
        return
    best, best_gain = 0, -np.inf
    for label in range(n_classes):
        members = members_of(labels, label)
        gain = evaluate_class(model, policy, members, 1.0, bias)
        if gain > best_gain:
            best, best_gain = label, gain
    steer_to(model, policy, labels, best)


@kernel
def policy_iteration(
    model: Model,
    policy: Ints,
    bias: Floats,
    tolerance: float,
    limit: int,
) -> tuple[float, float, int, int]:
    """Improve ``policy`` and ``bias`` in place; return lower and upper gain, evaluations, status.

    The given bias is tried first, so a good warm start costs one Bellman step and no elimination.
    """
    everyone = np.empty(model.offsets.size - 1, np.int32)
    for s in range(everyone.size):
        everyone[s] = s
    low, high, changed = bellman_step(model, bias, policy, 0.0)
    patience = PATIENCE
    discounted = False
    for iteration in range(limit):
        if high - low <= tolerance:
            return low, high, iteration, CONVERGED
        if iteration > 0 and not changed:
            if not discounted or patience > MOST_PATIENCE:
                return low, high, iteration, STALLED
            patience *= 100.0
        make_unichain(model, policy, bias)
        discounted = evaluate(model, policy, everyone, patience, bias)
        margin = MARGIN * (1.0 + largest_size(model.rewards) + (largest_size(bias) if discounted else 0.0))
        low, high, changed = bellman_step(model, bias, policy, margin)
        if changed:  # it only speeds up, so it may be shy: a margin of the bias's rounding keeps it from circling
            shy = MARGIN * (1.0 + largest_size(model.rewards) + largest_size(bias))
            spread(model, low, bias, policy, shy)
    return low, high, limit, CONVERGED if high - low <= tolerance else OUT_OF_BUDGET
