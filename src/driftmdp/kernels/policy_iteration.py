"""Howard's policy iteration with dense or banded elimination, and the stationary distribution of a chain.

On a communicating MDP an intermediate policy may have several recurrent classes. Then every state is steered to the
best of them, which raises the gain, so the method still ends after finitely many policies (docs/decisions/0004).
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import graph
from driftmdp.kernels.arrays import Floats, Ints, Model, StateOrder
from driftmdp.kernels.band import best_class, evaluate_chain
from driftmdp.kernels.bellman import (
    CONVERGED,
    OUT_OF_BUDGET,
    STALLED,
    bellman_step,
    expected_change,
    improve_in_place,
    max_abs,
)

MARGIN = 1e-14  # an improvement below this share of the numbers involved is rounding
FIRST_LOOKAHEAD, LAST_LOOKAHEAD = 1e6, 1e12  # steps that a discount looks ahead, at first and at last


@kernel
def solve_dense(matrix: Floats, vector: Floats) -> None:
    """Overwrite ``vector`` with the solution of matrix x = vector, by Gaussian elimination with partial pivots."""
    n = vector.size
    for k in range(n):
        pivot, size = k, abs(matrix[k, k])
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > size:
                pivot, size = i, abs(matrix[i, k])
        # Columns left of k are not read again, and need no swap.
        if pivot != k:
            for j in range(k, n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
            vector[k], vector[pivot] = vector[pivot], vector[k]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:  # transition matrices are mostly zeros
                # Whole rows: from column k + 1 would do, since the others are not read again, but a loop from 0
                # is compiled to vector instructions.
                for j in range(n):
                    matrix[i, j] -= factor * matrix[k, j]
                vector[i] -= factor * vector[k]
    for i in range(n - 1, -1, -1):
        value = vector[i]
        for j in range(i + 1, n):
            value -= matrix[i, j] * vector[j]
        vector[i] = value / matrix[i, i]


@kernel
def evaluate_class(model: Model, policy: Ints, members: Ints, discount: float, bias: Floats) -> float:
    """Return the gain of a policy on a closed set with one recurrent class, and fill its ``bias`` there.

    Solves (I - P + 1 v') h = r with v uniform on the members: then v' h is the gain and h the bias.

    With ``discount`` < 1 solves (I - discount P) h = r instead, which needs no recurrent class.
    """
    m = members.size
    place = np.empty(model.offsets.size - 1, np.int32)
    for i in range(m):
        place[members[i]] = i
    matrix = np.empty((m, m))
    h = np.empty(m)
    # A uniform v keeps the system well conditioned even where some states are almost never visited.
    v = 1.0 / m if discount == 1.0 else 0.0
    for i in range(m):
        for j in range(m):
            matrix[i, j] = v
        pair = model.offsets[members[i]] + policy[members[i]]
        matrix[i, i] += 1.0 - discount
        h[i] = model.rewards[pair]
        for z in range(model.indptr[pair], model.indptr[pair + 1]):
            if model.data[z] != 0.0 and model.indices[z] != members[i]:
                # 1 - p(i | i) is summed, not subtracted: a rare way out keeps its digits.
                matrix[i, i] += discount * model.data[z]
                matrix[i, place[model.indices[z]]] -= discount * model.data[z]
    solve_dense(matrix, h)
    gain = 0.0
    for i in range(m):
        gain += h[i] / m
        bias[members[i]] = h[i] - h[0]
    return gain


@kernel
def solves_poisson(model: Model, policy: Ints, gain: float, bias: Floats) -> bool:
    """Return whether Poisson's equation r + P bias = bias + gain holds under ``policy``, up to rounding."""
    error = 0.0
    for s in range(model.offsets.size - 1):
        pair = model.offsets[s] + policy[s]
        value = model.rewards[pair] + expected_change(model, bias, s, pair) - gain
        if not np.isfinite(value):  # a comparison with NaN would hide it
            return False
        error = max(error, abs(value))
    return error <= 1e-6 * (1.0 + max_abs(model.rewards))


@kernel
def evaluate(
    model: Model, policy: Ints, all_states: Ints, band: StateOrder | None, lookahead: float, bias: Floats
) -> bool:
    """Fill ``bias`` for a policy with one recurrent class. Return whether a discount had to decide."""
    if band is None:
        gain = evaluate_class(model, policy, all_states, 1.0, bias)
    else:
        gain = evaluate_chain(model, policy, band, 1.0, bias)
    if solves_poisson(model, policy, gain, bias):
        return False
    # Where leaving some states takes longer than double precision can tell from never (a chain against a current:
    # 7^100 steps), the policy is as good as multichain. A discount tells which part is better.
    if band is None:
        evaluate_class(model, policy, all_states, 1.0 - 1.0 / lookahead, bias)
    else:
        evaluate_chain(model, policy, band, 1.0 - 1.0 / lookahead, bias)
    return True


@kernel
def find_members(labels: Ints, label: int) -> Ints:
    """Return the states with a label."""
    members = np.empty(labels.size, np.int32)
    count = 0
    for s in range(labels.size):
        if labels[s] == label:
            members[count] = s
            count += 1
    return members[:count]


@kernel
def steer_to(model: Model, policy: Ints, labels: Ints, label: int) -> None:
    """Change ``policy`` outside a recurrent class so that every state that can reach the class does."""
    members = find_members(labels, label)
    order = np.empty(labels.size, np.int32)
    for i in range(members.size):
        order[i] = members[i]
    pointer, pairs = graph.reverse(model)
    graph.reach(model.offsets, pointer, pairs, order, members.size, policy)


@kernel
def make_unichain(model: Model, policy: Ints, band: StateOrder | None, bias: Floats) -> None:
    """If ``policy`` has several recurrent classes, steer every state to the one with the largest gain."""
    if graph.all_lead_to(model, policy, 0):  # then every recurrent class contains state 0
        return
    labels = np.empty(model.offsets.size - 1, np.int32)
    n_classes = graph.recurrent_classes(model, policy, labels)
    if n_classes == 1:
        return
    best, best_gain = 0, -np.inf
    if band is None:
        for label in range(n_classes):
            gain = evaluate_class(model, policy, find_members(labels, label), 1.0, bias)
            if gain > best_gain:
                best, best_gain = label, gain
    else:
        best = best_class(model, policy, band, labels)
    steer_to(model, policy, labels, best)


@kernel
def policy_iteration(
    model: Model, policy: Ints, bias: Floats, tolerance: float, limit: int, band: StateOrder | None
) -> tuple[float, float, int, int]:
    """Improve ``policy`` and ``bias`` in place. Return lower and upper gain, evaluations, status.

    Elimination is dense, or in the order of a ``band``.
    """
    all_states = np.empty(model.offsets.size - 1, np.int32)
    for s in range(all_states.size):
        all_states[s] = s
    # The given bias is tried first: a good warm start costs one Bellman step and no elimination.
    low, high, changed = bellman_step(model, bias, policy, 0.0)
    lookahead = FIRST_LOOKAHEAD
    discounted = False
    for iteration in range(limit):
        if high - low <= tolerance:
            return low, high, iteration, CONVERGED
        if iteration > 0 and not changed:
            # No better policy under this discount: only a longer view may still tell policies apart.
            if not discounted or lookahead > LAST_LOOKAHEAD:
                return low, high, iteration, STALLED
            lookahead *= 100.0
        make_unichain(model, policy, band, bias)
        discounted = evaluate(model, policy, all_states, band, lookahead, bias)
        # The bias of a discounted policy is as large as the lookahead, and so is its rounding.
        margin = MARGIN * (1.0 + max_abs(model.rewards) + (max_abs(bias) if discounted else 0.0))
        low, high, changed = bellman_step(model, bias, policy, margin)
        if changed:
            # This only speeds up, so it may be cautious: a margin of the bias's rounding keeps it from circling.
            cautious = MARGIN * (1.0 + max_abs(model.rewards) + max_abs(bias))
            improve_in_place(model, low, bias, policy, cautious)
    return low, high, limit, CONVERGED if high - low <= tolerance else OUT_OF_BUDGET


@kernel
def stationary_distribution(matrix: Floats) -> Floats:
    """Return the stationary distribution of an irreducible chain, and overwrite ``matrix``.

    Grassmann, Taksar and Heyman's elimination [GTH85]: no subtraction, so every entry is accurate in
    relative terms, the smallest too.
    """
    n = len(matrix)
    for k in range(n - 1, 0, -1):
        leaving = 0.0
        for j in range(k):
            leaving += matrix[k, j]
        for i in range(k):
            matrix[i, k] /= leaving
            # The chain that is watched only while it is below k: a visit to k is followed to where it ends.
            for j in range(k):
                matrix[i, j] += matrix[i, k] * matrix[k, j]
    distribution = np.empty(n)
    distribution[0] = 1.0
    whole = 1.0
    for k in range(1, n):
        total = 0.0
        for i in range(k):
            total += distribution[i] * matrix[i, k]
        distribution[k] = total
        whole += total
    for k in range(n):
        distribution[k] /= whole
    return distribution
