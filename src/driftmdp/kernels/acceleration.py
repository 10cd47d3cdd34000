"""Acceleration of extended value iteration, for plans that need more than plain sweeps.

``accelerate`` alternates the step of kernels/extended_value_iteration.py, which certifies a plan whatever it was
made by, with solving the ordinary MDP that the step found. The optimistic MDP of u is a policy of the extended MDP,
whose actions are (a, p): this is its modified policy iteration, and its policy iteration where that is slow
[P94, Chapter 8].
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import gain
from driftmdp.kernels.arrays import Model
from driftmdp.kernels.bellman import BUFFER_FULL, CONVERGED, OUT_OF_BUDGET, SOLVE_SPARSELY, STALLED, subtract_least
from driftmdp.kernels.extended_value_iteration import (
    TIE,
    find_top,
    is_close,
    needs_sorting,
    relax,
    row_value,
    sweep,
)
from driftmdp.kernels.plan_arrays import PlanWorkspace

ACCELERATION_ROUNDS = 200
ROUNDS_WITHOUT_PROGRESS = 8  # then acceleration is given up
SLOW_CONTRACTION = 0.85  # sweeps of one policy that leave more of the residual than this are given up
NEAR_PRECISIONS = 8.0  # within this multiple of the precision, true steps alone suffice
MAX_POLICY_SWEEPS = 50  # within a round
MAX_EVALUATIONS = 1000  # of policies within a round
DAMPING = 0.9  # of a step is taken where full steps may circle with the period of a chain
MAX_DAMPED_SWEEPS = 20_000
SPARSE_ROUNDS = 50  # of sparse elimination outside of compiled code


@kernel
def accelerate(workspace: PlanWorkspace, n: int, precision: float, prune: bool) -> tuple[float, float, int, int]:
    """Iterate modified policy iteration, and solve where that is slow. Return as ``iterate``.

    SOLVE_SPARSELY means that the MDP of the last sweep needs a sparse elimination, BUFFER_FULL that the workspace
    has no places for it. If ``prune``, ``values`` are exact only for rows that are best or nearly so.
    """
    sort = needs_sorting(workspace.sets, n)
    iterations, stuck, least, last = 0, 0, np.inf, np.inf
    slow = False
    best = np.empty(n)
    for s in range(n):
        best[s] = workspace.u[s]
    for _ in range(ACCELERATION_ROUNDS):
        # Each round begins with a true step, which certifies the plan or improves the policy.
        if prune and iterations > 0 and not slow:
            low, high = sweep_policy(workspace, n, sort, True)
        else:
            low, high = sweep(workspace, n, sort, slow)
        iterations += 1
        if is_close(low, high, precision):
            return low, high, iterations, CONVERGED
        # Only full sweeps have this certificate, so the damped sweeps start from the best u so far.
        stuck = stuck + 1 if high - low >= 0.9 * least else 0
        if high - low < least:
            least = high - low
            for s in range(n):
                best[s] = workspace.u[s]
        if stuck >= ROUNDS_WITHOUT_PROGRESS:
            break
        # A policy that will change need not be valued exactly. One that does not improve is valued better.
        enough = max(0.1 * (high - low), 0.5 * precision) if stuck == 0 else 0.1 * precision
        if not slow:
            # The policy alone is swept, which costs a fraction of a true step.
            relax(workspace, n, 1.0)
            if high - low > NEAR_PRECISIONS * precision:
                sweeps, slow = value_policy(workspace, n, sort, enough)
                iterations += sweeps
            else:
                slow = high - low > SLOW_CONTRACTION * last
            last = high - low
            if slow and workspace.data.size == 0:
                return low, high, iterations, BUFFER_FULL
            continue
        # Where such sweeps hardly help (long chains, almost separate parts), the ordinary MDP that the true step
        # found is solved instead. Once slow, it stays so: what made it slow is in the sets.
        model = optimistic_model(workspace, n)
        _, _, sweeps, evaluations, status = gain.solve(
            model, workspace.actions[:n], workspace.u[:n], enough, MAX_EVALUATIONS, False
        )
        iterations += sweeps + evaluations
        subtract_least(workspace.u, n)
        if status == OUT_OF_BUDGET and n > gain.DENSE_LIMIT and stuck > 0:
            return low, high, iterations, SOLVE_SPARSELY
    for s in range(n):
        workspace.u[s] = best[s]
    return damped_sweeps(workspace, n, precision, sort, iterations)


@kernel
def sweep_policy(workspace: PlanWorkspace, n: int, sort: bool, improve: bool) -> tuple[float, float]:
    """Like ``sweep`` for the actions of the last sweep only, and for rows that may be better if ``improve``.

    Rows that cannot be best are left out: their ``values`` become upper bounds.
    """
    sets, u = workspace.sets, workspace.u
    top, _ = find_top(workspace, n, sort)
    # Action elimination: p sums to 1, so that since u was ``before`` no row has risen by more than this.
    rise = -np.inf
    for s in range(n if improve else 0):
        rise = max(rise, u[s] - workspace.before[s])
    low, high = np.inf, -np.inf
    for s in range(n):
        current = sets.offsets[s] + workspace.actions[s]
        best = row_value(workspace, current, n, top, False)
        if improve:
            workspace.values[current], workspace.before[s] = best, u[s]
            for row in range(sets.offsets[s], sets.offsets[s + 1]):
                if row != current:
                    workspace.values[row] += rise
                    # Ties must have exact values too: the first of them is taken.
                    if workspace.values[row] >= best - 2.0 * TIE:
                        workspace.values[row] = row_value(workspace, row, n, top, False)
                        if workspace.values[row] > best:
                            best = workspace.values[row]
                            workspace.actions[s] = row - sets.offsets[s]
        workspace.new[s] = best
        low, high = min(low, best - u[s]), max(high, best - u[s])
    return low, high


@kernel
def value_policy(workspace: PlanWorkspace, n: int, sort: bool, enough: float) -> tuple[int, bool]:
    """Sweep the policy alone until its residual is small enough. Return sweeps, and whether that is too slow."""
    before = np.inf
    for i in range(MAX_POLICY_SWEEPS):
        low, high = sweep_policy(workspace, n, sort, False)
        relax(workspace, n, 1.0)
        if high - low <= enough:
            return i + 1, False
        if high - low > SLOW_CONTRACTION * before:
            return i + 1, True
        before = high - low
    return MAX_POLICY_SWEEPS, True


@kernel
def optimistic_model(workspace: PlanWorkspace, n: int) -> Model:
    """Return the ordinary MDP that the last filled sweep found."""
    sets = workspace.sets
    rows = sets.offsets[n]
    return Model(
        sets.offsets[: n + 1], sets.rewards[:rows], sets.indptr[: rows + 1], workspace.indices, workspace.data
    )


@kernel
def damped_sweeps(
    workspace: PlanWorkspace, n: int, precision: float, sort: bool, iterations: int
) -> tuple[float, float, int, int]:
    """Take steps of nine tenths, which converge on periodic chains too. Stop when they no longer improve."""
    before = np.inf
    for i in range(MAX_DAMPED_SWEEPS + 1):
        low, high = sweep(workspace, n, sort, False)
        iterations += 1
        if is_close(low, high, precision):
            return low, high, iterations, CONVERGED
        if i % 1000 == 0:
            if high - low > 0.99 * before:
                break
            before = high - low
        if i < MAX_DAMPED_SWEEPS:  # u stays the one that the last sweep has certified
            relax(workspace, n, DAMPING)
    return low, high, iterations, STALLED
