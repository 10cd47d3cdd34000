"""The optimal average reward of one MDP, or of a drifting one step after step.

Every routine ends with one true Bellman step T h on the bias h that it returns, so that

    min (T h - h)  <=  rho*  <=  max (T h - h)                          [P94] Theorem 8.5.5

certifies the gain whatever happened before. T is (T h)(s) = max_a r(s, a) + sum_j p(j | s, a) h(j).

* ``policy_iteration``: Howard's, with dense elimination. On a communicating MDP an intermediate policy
  may have several recurrent classes; then every state is steered to the best of them, which raises the
  gain, so the method still ends after finitely many policies (docs/decisions/0004).
* ``modified_policy_iteration``: sweeps in O(non-zeros), for large sparse MDPs that mix fast.
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import graph
from driftmdp.kernels._compile import kernel
from driftmdp.kernels.arrays import Floats, Ints, Model, World
from driftmdp.kernels.world import model_at

SMALL = 32  # up to here elimination is cheaper than sweeping
DENSE_LIMIT = 300  # up to here a dense elimination is worth its cube; beyond, the caller uses a sparse one

MARGIN = 1e-14  # an improvement below this share of the numbers involved is rounding

PATIENCE, MOST_PATIENCE = 1e6, 1e12  # steps that a discount looks ahead, at first and at last
KAPPA = 0.95  # the lazy chain moves with this probability

CHECK = 400  # sweeps after which their pace is looked at

CONVERGED = 0  # the residual is within the tolerance
STALLED = 1  # no policy improves by more than rounding, and the residual is still above the tolerance
OUT_OF_BUDGET = 2  # the allowed iterations or sweeps are used up


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
def advance(model: Model, values: Floats, s: int, pair: int) -> float:
    """Return sum_j p(j | pair) (values(j) - values(s)): what a step changes, free of the values' size."""
    total = 0.0
    for z in range(model.indptr[pair], model.indptr[pair + 1]):
        total += model.data[z] * (values[model.indices[z]] - values[s])
    return total


@kernel
def smallest(values: Floats) -> float:
    """Return the least entry."""
    least = np.inf
    for value in values:
        least = min(least, value)
    return least


@kernel
def largest_size(values: Floats) -> float:
    """Return the largest absolute value."""
    size = 0.0
    for value in values:
        size = max(size, abs(value))
    return size


@kernel
def bellman_step(
    model: Model,
    bias: Floats,
    policy: Ints,
    margin: float,
) -> tuple[float, float, bool]:
    """Make ``policy`` greedy for ``bias``; return min and max of T bias - bias, and if it changed.

    An action is left only for one that is better by more than ``margin``: ties keep the policy, which
    is what makes policy iteration end.
    """
    low, high, changed = np.inf, -np.inf, False
    for s in range(model.offsets.size - 1):
        current = model.offsets[s] + policy[s]
        best = current
        kept = best_value = model.rewards[current] + advance(model, bias, s, current)
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            if pair != current:
                value = model.rewards[pair] + advance(model, bias, s, pair)
                if value > best_value:
                    best, best_value = pair, value
        if best_value > kept + margin:
            policy[s] = best - model.offsets[s]
            changed = True
        low = min(low, best_value)
        high = max(high, best_value)
    return low, high, changed


@kernel
def spread(model: Model, gain: float, bias: Floats, policy: Ints, margin: float) -> None:
    """Improve ``policy`` further, in place up and down the states, so that news travels far in one go.

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
        h[s] = max(h[s], backup(model, h, best) - gain)


@kernel
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


@kernel
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


@kernel
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
        if changed:
            spread(model, low, bias, policy, margin)
    return low, high, limit, CONVERGED if high - low <= tolerance else OUT_OF_BUDGET


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


@kernel
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


@kernel
def policy_sweep(model: Model, u: Floats, new: Floats, policy: Ints) -> tuple[float, float]:
    """Like ``full_sweep`` for the policy's own actions only."""
    low, high = np.inf, -np.inf
    for s in range(u.size):
        pair = model.offsets[s] + policy[s]
        new[s] = model.rewards[pair] + KAPPA * expectation(model, u, pair) + (1.0 - KAPPA) * u[s]
        low, high = min(low, new[s] - u[s]), max(high, new[s] - u[s])
    return low, high


@kernel
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


@kernel
def same(one: Ints, other: Ints) -> bool:
    """Return whether two policies are equal."""
    equal = True
    for s in range(one.size):
        equal &= one[s] == other[s]
    return equal


@kernel
def gains_along(
    world: World, steps: Ints, tolerance: float, limit: int, lower: Floats, upper: Floats, policy_of: Ints
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
