"""Least expected times to reach a target: h(s) = 1 + min_a sum_j p(j | s, a) h(j), h(target) = 0.

For any h >= 0 with delta = max_s |min_a (1 + P_a h)(s) - h(s)| < 1, the true times h* obey

    h / (1 + delta)  <=  h*  <=  h / (1 - delta),

because h / (1 + delta) is a sub-solution and h / (1 - delta) a super-solution of that equation. So
delta is a certified relative error, whatever produced h.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import graph
from driftmdp.kernels.arrays import Csr, Floats, Ints, Model
from driftmdp.kernels.bellman import expected_change
from driftmdp.kernels.policy_iteration import solve_dense


@kernel
def improve(model: Model, target: int, times: Floats, policy: Ints) -> tuple[float, bool]:
    """Make ``policy`` greedy for ``times``. Return the residual delta and whether the policy changed."""
    residual, changed = 0.0, False
    for s in range(model.offsets.size - 1):
        if s == target:
            continue
        current = model.offsets[s] + policy[s]
        best = current
        kept = least = 1.0 + expected_change(model, times, s, current)
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            value = 1.0 + expected_change(model, times, s, pair)
            if value < least:
                best, least = pair, value
        # An improvement within rounding changes nothing, so that policy iteration ends.
        if least < kept - 1e-14 * (1.0 + abs(kept)):
            policy[s] = best - model.offsets[s]
            changed = True
        residual = max(residual, abs(least))
    return residual, changed


@kernel
def approach_target(model: Model, order: Ints, policy: Ints) -> None:
    """Choose, in each state, the action most likely to lead to a state earlier in ``order``."""
    # In an order of growing distance every state has such an action, so this policy reaches the target for sure.
    place = np.empty(order.size, np.int32)
    for i in range(order.size):
        place[order[i]] = i
    for i in range(1, order.size):
        s = order[i]
        most = 0.0
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            nearer = 0.0
            for z in range(model.indptr[pair], model.indptr[pair + 1]):
                if place[model.indices[z]] < i:
                    nearer += model.data[z]
            if nearer > most:
                most = nearer
                policy[s] = pair - model.offsets[s]


@kernel
def sweep(model: Model, order: Ints, times: Floats, budget: int, tolerance: float, enough: float) -> float:
    """Improve ``times`` by Gauss-Seidel sweeps, nearest states first, each state's self-loop solved exactly.

    Return a bound on the largest true time. Sweeps end where this is at most ``enough``, or nothing changes.
    """
    n = model.offsets.size - 1
    step, kept = np.empty(n), np.empty(n)
    change, last_change, jumped = np.inf, np.inf, False
    bound = np.inf
    for i in range(budget):
        last_change, change = change, 0.0
        rise, top = 0.0, 0.0
        for j in range(1, n):
            s = order[j]
            value = _least_time(model, times, s)
            step[s] = value - times[s]
            times[s] = value
            change += abs(step[s])
            if step[s] > rise:
                rise = step[s]
            if value > top:
                top = value
        # A sweep G has G(c h) <= c G(h) - (c - 1) for c >= 1. So where G(h) <= h + rise, it does not raise c h for
        # c = 1 / (1 - rise), and then h* <= G(c h) <= c G(h) - (c - 1). The margin is for rounding.
        rise += 1e-12 * top
        if rise < 1.0:
            bound = min(bound, (top - rise) / (1.0 - rise))
        if bound <= enough or change <= tolerance:
            break
        if jumped and change > last_change:  # the jump went too far: take it back
            for s in range(n):
                times[s] = kept[s]
            change = np.inf
        jumped = False
        # Where the target is far and the rest mixes fast, what is left of the error shrinks by nearly the same
        # factor everywhere at each sweep: jump to the limit of that geometric series (Aitken).
        if i % 10 == 9 and change < last_change < np.inf:
            jumped = True
            stretch = change / (last_change - change)
            for j in range(1, n):
                s = order[j]
                kept[s] = times[s]
                times[s] = max(1.0, times[s] + step[s] * stretch)
            kept[order[0]] = 0.0
    return bound


@kernel
def _least_time(model: Model, times: Floats, s: int) -> float:
    """Return min_a (1 + sum_{j != s} p(j | s, a) times(j)) / (1 - p(s | s, a))."""
    least = np.inf
    for pair in range(model.offsets[s], model.offsets[s + 1]):
        total, leaving = 1.0, 0.0
        for z in range(model.indptr[pair], model.indptr[pair + 1]):
            if model.indices[z] != s:
                total += model.data[z] * times[model.indices[z]]
                leaving += model.data[z]  # summed, not 1 - p(s | s): a rare way out keeps its digits
        if leaving > 0.0:
            least = min(least, total / leaving)
    return least


@kernel
def evaluate(model: Model, target: int, policy: Ints, times: Floats) -> None:
    """Fill ``times`` with the policy's expected times to the target, by dense elimination."""
    n = model.offsets.size - 1
    matrix = np.zeros((n, n))
    for s in range(n):
        matrix[s, s] = 1.0 if s == target else 0.0
        times[s] = 0.0 if s == target else 1.0
        if s != target:
            pair = model.offsets[s] + policy[s]
            for z in range(model.indptr[pair], model.indptr[pair + 1]):
                if model.indices[z] != s:
                    matrix[s, s] += model.data[z]
                    matrix[s, model.indices[z]] -= model.data[z]
    solve_dense(matrix, times)


@kernel
def build_sparse_system(model: Model, target: int, policy: Ints) -> Csr:
    """Return the CSR arrays of the matrix that ``evaluate`` eliminates densely."""
    n = model.offsets.size - 1
    indptr = np.empty(n + 1, np.int32)
    indptr[0] = 0
    for s in range(n):
        pair = model.offsets[s] + policy[s]
        indptr[s + 1] = indptr[s] + (1 if s == target else 1 + model.indptr[pair + 1] - model.indptr[pair])
    indices, data = np.empty(indptr[n], np.int32), np.empty(indptr[n])
    for s in range(n):
        fill = indptr[s]
        indices[fill] = s
        data[fill] = 1.0 if s == target else 0.0
        if s != target:
            pair = model.offsets[s] + policy[s]
            for z in range(model.indptr[pair], model.indptr[pair + 1]):
                fill += 1
                indices[fill] = model.indices[z]
                # The self-loop's place stays, as a zero: the size of a row is known before it is filled.
                data[fill] = 0.0 if model.indices[z] == s else -model.data[z]
                data[indptr[s]] -= data[fill]
    return indptr, indices, data


@kernel
def iterate_policies(model: Model, target: int, policy: Ints, times: Floats, tolerance: float) -> float:
    """From a policy that reaches the target, improve until the residual is small. Return the residual."""
    residual = np.inf
    # Far more policies than Howard's method was ever seen to need: rounding must not make an endless loop.
    for _ in range(10 * model.offsets.size + 100):
        evaluate(model, target, policy, times)
        residual, changed = improve(model, target, times, policy)
        if residual <= tolerance or not changed:
            break
    return residual


@kernel
def solve_all_targets(model: Model, tolerance: float) -> tuple[float, int, int, float]:
    """Return the diameter, its source and target, and the worst residual, by elimination: for small S."""
    n = model.offsets.size - 1
    pointer, pairs = graph.reverse(model)
    order, policy, times = np.empty(n, np.int32), np.zeros(n, np.int32), np.empty(n)
    longest, source, worst_target, worst = 0.0, 0, 0, 0.0
    for target in range(n):
        order[0] = target
        if graph.reach(model.offsets, pointer, pairs, order, 1, policy) < n:
            return np.inf, -1, target, 0.0
        approach_target(model, order, policy)
        residual = iterate_policies(model, target, policy, times, tolerance)
        worst = max(worst, residual) if np.isfinite(residual) else np.inf
        for s in range(n):
            if times[s] > longest:
                longest, source, worst_target = times[s], s, target
    return longest, source, worst_target, worst
