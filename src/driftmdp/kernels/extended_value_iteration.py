"""Extended value iteration: the best plausible MDP and its policy.

(T u)(s) = max over a of r(s, a) + max over plausible p of p'u. For *any* u, rho = max (T u - u) and gamma = u - min
u satisfy Properties 1 and 2 of [CSZ20] app:evi with precision span(T u - u): whatever produced u, one step on it
certifies the plan. ``iterate_plainly`` is [CSZ20] alg:evi. ``accelerate`` alternates that step with solving the
ordinary MDP that it found.
"""

import numpy as np

from driftmdp.kernels import gain, inner_max
from driftmdp.kernels._compile import inlined_kernel, kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, Model
from driftmdp.kernels.bellman import BUFFER_FULL, CONVERGED, OUT_OF_BUDGET, STALLED, TOO_SLOW, subtract_least
from driftmdp.kernels.plan_arrays import PlanWorkspace, PlausibleSets, SetRows

TIE = 1e-9  # actions within this of the best are ties
PLAIN_SWEEPS = 1000  # sweeps of alg:evi before acceleration begins
ACCELERATION_ROUNDS = 200
ROUNDS_WITHOUT_PROGRESS = 8  # then acceleration is given up
SLOW_CONTRACTION = 0.85  # sweeps of one policy that leave more of the residual than this are given up
NEAR_PRECISIONS = 8.0  # within this multiple of the precision, true steps alone suffice
MAX_POLICY_SWEEPS = 50  # within a round
MAX_EVALUATIONS = 1000  # of policies within a round
DAMPING = 0.9  # of a step is taken where full steps may circle with the period of a chain
MAX_DAMPED_SWEEPS = 20_000


@inlined_kernel
def needs_sorting(sets: PlausibleSets, n: int) -> bool:
    """Return whether some row needs all n states in order of their value."""
    if sets.slack.size > 0:
        return True
    found = False
    for row in range(sets.offsets[n]):
        found |= inner_max.is_complete(sets.support[row], n)
    return found


@inlined_kernel
def row_value(workspace: PlanWorkspace, row: int, n: int, top: int, fill: bool) -> float:
    """Return the optimistic value of a row. If ``fill``, write its optimistic transitions."""
    sets, u, indices, data = workspace.sets, workspace.u, workspace.indices, workspace.data
    support = sets.support[row]
    if sets.slack.size > 0 and sets.radius[row] == 0.0:
        value = inner_max.maximize_inner_intervals(sets, row, u, fill, indices, data)
    elif sets.slack.size > 0:
        value = inner_max.maximize_intervals(
            sets, row, n, u, workspace.order, workspace.scratch, fill, indices, data
        )
    elif inner_max.is_complete(support, n):
        value = inner_max.maximize_complete_ball(sets, row, n, u, workspace.order, fill, indices, data)
    elif support == 0 and not fill:  # the whole simplex: all mass goes to the best state
        value = u[top]
    elif support <= inner_max.SHORT_ROW:
        value = inner_max.maximize_short_ball(sets, row, u, top, fill, indices, data)
    else:
        value = inner_max.maximize_long_ball(sets, row, u, top, fill, indices, data)
    return sets.rewards[row] + value


@lean_kernel
def sweep(workspace: PlanWorkspace, n: int, sort: bool, fill: bool) -> tuple[float, float]:
    """Set ``new`` to T u, ``values`` and ``actions`` to what attains it. Return min and max of T u - u.

    If ``fill``, also write the optimistic transitions.
    """
    sets, u = workspace.sets, workspace.u
    top, flat = find_top(workspace, n, sort)
    low, high = np.inf, -np.inf
    for s in range(n):
        best = -np.inf
        for row in range(sets.offsets[s], sets.offsets[s + 1]):
            # Where all values are equal, as in the first sweep from u = 0, every distribution has the same mean.
            value = sets.rewards[row] + u[top] if flat and not fill else row_value(workspace, row, n, top, fill)
            workspace.values[row] = value
            if value > best:
                best = value
                workspace.actions[s] = row - sets.offsets[s]
        workspace.new[s], workspace.before[s] = best, u[s]
        low, high = min(low, best - u[s]), max(high, best - u[s])
    return low, high


@lean_kernel
def sweep_policy(workspace: PlanWorkspace, n: int, sort: bool, improve: bool) -> tuple[float, float]:
    """Like ``sweep`` for the actions of the last sweep only, and for rows that may be better if ``improve``.

    Rows that cannot be best are left out: their ``values`` become upper bounds.
    """
    sets, u = workspace.sets, workspace.u
    top, _ = find_top(workspace, n, sort)
    # Action elimination: since u was ``before``, no row has risen by more than this.
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


@inlined_kernel
def find_top(workspace: PlanWorkspace, n: int, sort: bool) -> tuple[int, bool]:
    """Return the state with the largest u, and whether all are equal. Bring ``order`` up to date if it is used."""
    u = workspace.u
    top, least = 0, u[0]
    for s in range(1, n):
        least = min(least, u[s])
        if u[s] > u[top]:
            top = s
    if sort:
        inner_max.sort_states(workspace.order, n, u)
    return top, u[top] == least


@inlined_kernel
def relax(workspace: PlanWorkspace, n: int, share: float) -> None:
    """Move u towards T u by a share of the way, and subtract its least entry."""
    for s in range(n):
        workspace.u[s] += share * (workspace.new[s] - workspace.u[s])
    subtract_least(workspace.u, n)


@inlined_kernel
def is_close(low: float, high: float, precision: float) -> bool:
    """Return whether T u - u is within the precision. An empty or overflown range is not."""
    return 0.0 <= high - low <= precision


@kernel
def optimistic_model(workspace: PlanWorkspace, n: int) -> Model:
    """Return the ordinary MDP that the last filled sweep found."""
    sets = workspace.sets
    rows = sets.offsets[n]
    return Model(
        sets.offsets[: n + 1], sets.rewards[:rows], sets.indptr[: rows + 1], workspace.indices, workspace.data
    )


@kernel
def accelerate(workspace: PlanWorkspace, n: int, precision: float, prune: bool) -> tuple[float, float, int, int]:
    """Iterate modified policy iteration, and solve where that is slow. Return as ``iterate_plainly``.

    OUT_OF_BUDGET means that the MDP of the last sweep needs a sparse elimination, BUFFER_FULL that the workspace
    has no places for it.
    """
    sort = needs_sorting(workspace.sets, n)
    iterations, stuck, least, last = 0, 0, np.inf, np.inf
    slow = False
    best = workspace.u[:n].copy()
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
            model, workspace.actions[:n], workspace.u[:n], enough, MAX_EVALUATIONS
        )
        iterations += sweeps + evaluations
        subtract_least(workspace.u, n)
        if status == OUT_OF_BUDGET and n > gain.DENSE_LIMIT and stuck > 0:
            return low, high, iterations, OUT_OF_BUDGET
    for s in range(n):
        workspace.u[s] = best[s]
    return damped_sweeps(workspace, n, precision, sort, iterations)


@lean_kernel
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


@lean_kernel
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


@lean_kernel
def iterate(
    workspace: PlanWorkspace, n: int, precision: float, fast: bool, prune: bool
) -> tuple[float, float, int, int, bool]:
    """Plan over n states from u. Return min and max of T u - u, iterations, status, if it was accelerated.

    If ``prune``, ``values`` are exact only for rows that are best or nearly so.
    """
    for s in range(n if fast else 0):
        workspace.order[s] = s
    iterations = 0
    if not fast:
        low, high, iterations, status = iterate_plainly(workspace, n, precision)
        if status == CONVERGED:
            return low, high, iterations, status, False
    low, high, more, status = accelerate(workspace, n, precision, prune)
    return low, high, iterations + more, status, True


@lean_kernel
def iterate_plainly(workspace: PlanWorkspace, n: int, precision: float) -> tuple[float, float, int, int]:
    """Iterate [CSZ20] alg:evi from u. Return min and max of T u - u, sweeps, and CONVERGED or TOO_SLOW.

    Where TOO_SLOW, ``accelerate`` goes on. It is separate because all that it needs is half of the compile time,
    and is rarely needed.
    """
    for s in range(n):
        workspace.order[s] = s
    sort = needs_sorting(workspace.sets, n)
    for sweeps in range(1, PLAIN_SWEEPS + 1):
        low, high = sweep(workspace, n, sort, False)
        if is_close(low, high, precision):
            return low, high, sweeps, CONVERGED
        relax(workspace, n, 1.0)
    return low, high, PLAIN_SWEEPS, TOO_SLOW


@lean_kernel
def measure_rows(indptr: Ints, data: Floats, radius: Floats, n: int, sums: Floats, whole: Ints) -> int:
    """Fill the sum of each row of p^ and whether its ball is the whole simplex. Return the places that rows take.

    A row that sums to 0 was never seen. One with a negative number gets the sum NaN.
    """
    places = 0
    for pair in range(radius.size):
        total = inner_max.sum_nonnegative(data, indptr[pair], indptr[pair + 1])
        sums[pair] = total
        whole[pair] = total == 0.0 or radius[pair] >= 2.0
        support = indptr[pair + 1] - indptr[pair]
        # One place more than the support: for the mass that is moved to the best state.
        places += 1 if whole[pair] == 1 else 1 + (n if inner_max.should_complete(support, n) else support)
    return places


@lean_kernel
def pick_first_best(
    offsets: Ints, rewards: Floats, row_of: Ints, workspace: PlanWorkspace, n: int, policy: Ints
) -> None:
    """Fill the first action of each state whose value in the last sweep is within 1e-9 of the best."""
    top = -np.inf
    for s in range(n):
        top = max(top, workspace.u[s])
    for s in range(n):
        best = -np.inf
        for pair in range(offsets[s], offsets[s + 1]):
            row = row_of[pair]
            best = max(best, workspace.values[row] if row >= 0 else rewards[pair] + top)
        # Backwards, so that the last that is found is the first.
        for pair in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
            row = row_of[pair]
            if (workspace.values[row] if row >= 0 else rewards[pair] + top) >= best - TIE:
                policy[s] = pair - offsets[s]


@lean_kernel
def build_sets(
    offsets: Ints, rewards: Floats, rows: SetRows, radius: Floats, whole: Ints, sets: PlausibleSets, row_of: Ints
) -> None:
    """Write given sets, one row per pair, but one for all pairs of a state that have the whole simplex.

    ``rows`` are those of the pairs. ``row_of`` is filled with the row of each pair, -1 for those in ``whole``.
    """
    indptr, indices, data, slack = rows
    n = offsets.size - 1
    row, z = 0, 0
    for s in range(n):
        sets.offsets[s], sets.weight[s] = row, 1.0
        best = -np.inf
        for pair in range(offsets[s], offsets[s + 1]):
            if whole[pair] == 1:
                row_of[pair] = -1
                best = max(best, rewards[pair])
                continue
            row_of[pair] = row
            sets.rewards[row], sets.radius[row], sets.indptr[row] = rewards[pair], radius[pair], z
            first, last = indptr[pair], indptr[pair + 1]
            sets.support[row] = last - first
            if slack.size == 0 and inner_max.should_complete(last - first, n):
                sets.support[row] = n
                if last - first == n:  # such rows come in order, and perhaps without indices
                    for j in range(n):
                        sets.data[z + j] = data[first + j]
                else:
                    for j in range(n):
                        sets.data[z + j] = 0.0
                    for y in range(first, last):
                        sets.data[z + indices[y]] = data[y]
                z += n + 1
            else:
                for y in range(first, last):
                    sets.indices[z], sets.data[z] = indices[y], data[y]
                    if slack.size > 0:
                        sets.slack[z] = slack[y]
                    z += 1
                z += 1 if slack.size == 0 else count_extra_places(n, last - first, sets.radius[row])
            row += 1
        # All mass may go anywhere from any of these pairs: only the best reward among them matters.
        if best > -np.inf:
            sets.rewards[row], sets.indptr[row], sets.support[row] = best, z, 0
            sets.radius[row] = 2.0 if slack.size == 0 else 1.0
            row += 1
            z += 1
    sets.offsets[n], sets.indptr[row] = row, z


@lean_kernel
def count_extra_places(n: int, support: int, upper_elsewhere: float) -> int:
    """Return how many places intervals need beyond their support: for the states that mass can be added to."""
    if upper_elsewhere == 0.0:
        return 0
    # Each state outside takes this upper bound of the mass, so few take all of it. The support may be met too.
    return int(min(n, support + 2.0 + 1.0 / upper_elsewhere))
