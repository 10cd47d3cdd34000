"""Extended value iteration: the best plausible MDP and its policy, [CSZ20] alg:evi.

(T u)(s) = max over a of r(s, a) + max over plausible p of p'u. For *any* u, rho = max (T u - u) and gamma = u - min
u satisfy Properties 1 and 2 of [CSZ20] app:evi with precision span(T u - u): whatever produced u, one step on it
certifies the plan. From above to below: ``iterate`` takes such steps, ``sweep`` is one of them, and ``row_value``
has the inner maximum of one pair.

The inner maximum depends on the set. A *ball* is { p : |p - p^|_1 <= d }: move mass min(d/2, 1) to the best state,
taken from the worst states of the support [JOA10, Fig. 2]. Where the best state is itself among those taken from,
the mass returns to it, so it needs no special case. An *interval* set is { p : lower <= p <= upper }: start at the
lower bounds and fill up from the best state down. Both cost what the support costs, never what the state space
costs.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.bellman import CONVERGED, OUT_OF_BUDGET
from driftmdp.kernels.plan_arrays import PlanWorkspace, PlausibleSets

TIE = 1e-9  # actions within this of the best are ties
PLAIN_SWEEPS = 1000  # sweeps of alg:evi before acceleration begins
SHORT_ROW = 16  # rows up to this length are scanned for their worst successors


@kernel
def iterate(workspace: PlanWorkspace, n: int, precision: float) -> tuple[float, float, int, int]:
    """Iterate [CSZ20] alg:evi over n states from u. Return min and max of T u - u, sweeps and a status.

    It is CONVERGED or OUT_OF_BUDGET. ``order`` must have the n states in any order.
    """
    sort = needs_sorting(workspace.sets, n)
    for sweeps in range(1, PLAIN_SWEEPS + 1):
        low, high = sweep(workspace, n, sort, False)
        if is_close(low, high, precision):
            return low, high, sweeps, CONVERGED
        relax(workspace, n, 1.0)
    return low, high, PLAIN_SWEEPS, OUT_OF_BUDGET


@kernel
def sweep(workspace: PlanWorkspace, n: int, sort: bool, fill: bool) -> tuple[float, float]:
    """Set ``new`` to T u, ``values`` and ``actions`` to what attains it. Return min and max of T u - u.

    One pass of [CSZ20] alg:evi, lines 3 and 4: ``values`` are Upsilon~ of every row. If ``fill``, also write the
    optimistic transitions, line 6.
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


@kernel
def find_top(workspace: PlanWorkspace, n: int, sort: bool) -> tuple[int, bool]:
    """Return the state with the largest u, and whether all are equal. Bring ``order`` up to date if it is used."""
    u = workspace.u
    top, least = 0, u[0]
    for s in range(1, n):
        least = min(least, u[s])
        if u[s] > u[top]:
            top = s
    if sort:
        sort_states(workspace.order, n, u)
    return top, u[top] == least


@kernel
def relax(workspace: PlanWorkspace, n: int, share: float) -> None:
    """Move u towards T u by a share of the way, and subtract its least entry."""
    u, least = workspace.u, np.inf
    for s in range(n):
        u[s] += share * (workspace.new[s] - u[s])
        least = min(least, u[s])
    # Only differences of u matter: T (u + c) = T u + c. So u need not grow with the number of sweeps.
    for s in range(n):
        u[s] -= least


@kernel
def is_close(low: float, high: float, precision: float) -> bool:
    """Return whether T u - u is within the precision, [CSZ20] alg:evi, line 8. An overflown range is not."""
    return 0.0 <= high - low <= precision


@kernel
def row_value(workspace: PlanWorkspace, row: int, n: int, top: int, fill: bool) -> float:
    """Return the optimistic value of a row. If ``fill``, write its optimistic transitions."""
    sets, u, indices, data = workspace.sets, workspace.u, workspace.indices, workspace.data
    support = sets.support[row]
    if sets.slack.size > 0 and sets.radius[row] == 0.0:
        value = maximize_inner_intervals(sets, row, u, fill, indices, data)
    elif sets.slack.size > 0:
        value = maximize_intervals(sets, row, n, u, workspace.order, workspace.scratch, fill, indices, data)
    elif is_complete(support, n):
        value = maximize_complete_ball(sets, row, n, u, workspace.order, fill, indices, data)
    elif support == 0 and not fill:  # the whole simplex: all mass goes to the best state
        value = u[top]
    elif support <= SHORT_ROW:
        value = maximize_short_ball(sets, row, u, top, fill, indices, data)
    else:
        value = maximize_long_ball(sets, row, u, top, fill, indices, data)
    return sets.rewards[row] + value


@kernel
def maximize_short_ball(
    sets: PlausibleSets, row: int, u: Floats, top: int, fill: bool, indices: Ints, data: Floats
) -> float:
    """Return max p'u over a ball [JOA10, Fig. 2]. If ``fill``, write the maximiser p~ to (indices, data).

    With mass m moved to the top, p'u = p^'u + m u(top) - (mass times u, of what it is taken from).
    """
    states, masses = sets.indices, sets.data
    first = sets.indptr[row]
    last = first + sets.support[row]
    moved = min(0.5 * sets.radius[row], 1.0)
    value, left = moved * u[top], moved
    worst, least = first, np.inf
    for z in range(first, last):
        here = u[states[z]]
        value += masses[z] * here
        if here < least:
            worst, least = z, here
    # The worst successors are brought to the front one by one, as many as are taken from: no sorting.
    for z in range(first, last):
        states[z], states[worst] = states[worst], states[z]
        masses[z], masses[worst] = masses[worst], masses[z]
        taken = min(left, masses[z])
        value -= taken * least
        left -= taken
        if fill:
            indices[z], data[z] = states[z], masses[z] - taken
        if left <= 0.0 and not fill:
            break
        worst, least = z + 1, np.inf
        for y in range(z + 1, last):
            if u[states[y]] < least:
                worst, least = y, u[states[y]]
    if fill:
        indices[last], data[last] = top, moved
    return value


@kernel
def maximize_long_ball(
    sets: PlausibleSets, row: int, u: Floats, top: int, fill: bool, indices: Ints, data: Floats
) -> float:
    """Like ``maximize_short_ball``, for longer rows, which are kept sorted by u."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    sort_row(sets, row, u)
    moved = min(0.5 * sets.radius[row], 1.0)
    value, left = moved * u[top], moved
    for z in range(first, last):
        taken = min(left, sets.data[z])
        left -= taken
        value += (sets.data[z] - taken) * u[sets.indices[z]]
        if fill:
            indices[z], data[z] = sets.indices[z], sets.data[z] - taken
    if fill:
        indices[last], data[last] = top, moved
    return value


@kernel
def should_complete(support: int, n: int) -> bool:
    """Return whether a row has enough successors to get a place for every state, in order."""
    # Then the worst states are found by walking all states by value, which is cheaper than sorting the row.
    return n > SHORT_ROW and support > SHORT_ROW and 4 * support > n


@kernel
def is_complete(support: int, n: int) -> bool:
    """Return whether a row has a place for every state: ``data[first + s]`` is p^(s)."""
    # No other row has a support of n, because one that has was completed.
    return support == n and n > SHORT_ROW


@kernel
def maximize_complete_ball(
    sets: PlausibleSets, row: int, n: int, u: Floats, order: Ints, fill: bool, indices: Ints, data: Floats
) -> float:
    """Like ``maximize_short_ball``, for a complete row. ``order`` has the n states by u."""
    first = sets.indptr[row]
    moved = min(0.5 * sets.radius[row], 1.0)
    # The whole mean at full speed, then a correction for the few states that mass is taken from.
    value = moved * u[order[n - 1]] + dot(sets.data, first, u, n)
    if fill:
        for s in range(n):
            indices[first + s], data[first + s] = s, sets.data[first + s]
        indices[first + n], data[first + n] = order[n - 1], moved
    # First the states that are emptied, then the one that keeps something. A branch and no minimum: processors
    # guess that the next state is emptied too, and do not wait for ``left``.
    left, i = moved, 0
    while i < n and sets.data[first + order[i]] < left:
        s = order[i]
        value -= sets.data[first + s] * u[s]
        left -= sets.data[first + s]
        if fill:
            data[first + s] = 0.0
        i += 1
    if i < n:
        value -= left * u[order[i]]
        if fill:
            data[first + order[i]] -= left
    return value


@kernel
def dot(data: Floats, first: int, u: Floats, n: int) -> float:
    """Return sum of data[first + s] u[s], in four sums as ``sum_nonnegative``."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = n - n % 4
    for s in range(0, whole, 4):
        a += data[first + s] * u[s]
        b += data[first + s + 1] * u[s + 1]
        c += data[first + s + 2] * u[s + 2]
        d += data[first + s + 3] * u[s + 3]
    for s in range(whole, n):
        a += data[first + s] * u[s]
    return (a + b) + (c + d)


@kernel
def maximize_intervals(
    sets: PlausibleSets,
    row: int,
    n: int,
    u: Floats,
    order: Ints,
    scratch: Floats,
    fill: bool,
    indices: Ints,
    data: Floats,
) -> float:
    """Return max p'u over intervals [FPL20]. If ``fill``, write the lower bounds, then what was added to them."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    upper_elsewhere = sets.radius[row]
    value, left = 0.0, 1.0
    for z in range(first, last):
        value += sets.data[z] * u[sets.indices[z]]
        left -= sets.data[z]
        # Less what every state gets below, so that one pass over the states serves those of the support too.
        scratch[sets.indices[z]] += sets.slack[z] - upper_elsewhere
        if fill:
            indices[z], data[z] = sets.indices[z], sets.data[z]
    place = last
    for i in range(n - 1, -1, -1):
        if left <= 0.0:
            break
        state = order[i]
        # A state that stands for several can take as much as all of them.
        added = min(left, upper_elsewhere * sets.weight[state] + scratch[state])
        if added > 0.0:
            left -= added
            value += added * u[state]
            if fill:
                indices[place], data[place] = state, added
                place += 1
    for z in range(first, last):
        scratch[sets.indices[z]] = 0.0
    if fill:  # places that were not needed hold no mass
        for z in range(place, sets.indptr[row + 1]):
            indices[z], data[z] = 0, 0.0
    return value


@kernel
def maximize_inner_intervals(
    sets: PlausibleSets, row: int, u: Floats, fill: bool, indices: Ints, data: Floats
) -> float:
    """Like ``maximize_intervals``, for a row whose next states outside the support have probability 0."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    sort_row(sets, row, u)
    left = 1.0
    for z in range(first, last):
        left -= sets.data[z]
    value = 0.0
    for z in range(last - 1, first - 1, -1):
        added = min(max(left, 0.0), sets.slack[z])
        left -= added
        value += (sets.data[z] + added) * u[sets.indices[z]]
        if fill:
            indices[z], data[z] = sets.indices[z], sets.data[z] + added
    return value


@kernel
def count_extra_places(n: int, support: int, upper_elsewhere: float) -> int:
    """Return how many places intervals need beyond their support: for the states that mass can be added to."""
    if upper_elsewhere == 0.0:
        return 0
    # Each state outside takes this upper bound of the mass, so few take all of it. The support may be met too.
    return int(min(n, support + 2.0 + 1.0 / upper_elsewhere))


@kernel
def needs_sorting(sets: PlausibleSets, n: int) -> bool:
    """Return whether some row needs all n states in order of their value."""
    if sets.slack.size > 0:
        return True
    found = False
    for row in range(sets.offsets[n]):
        found |= is_complete(sets.support[row], n)
    return found


@kernel
def sort_states(order: Ints, n: int, u: Floats) -> None:
    """Sort the first n entries of ``order`` by u, ascending. It is quick where they are nearly sorted."""
    # Between sweeps u changes little: mostly one pass finds that nothing is to be done. Otherwise Shell's sort.
    gap = 1
    for i in range(1, n):
        if u[order[i - 1]] > u[order[i]]:
            gap = n
            break
    while gap > 1:
        gap = max(1, int(gap / 2.25))
        for i in range(gap, n):
            state = order[i]
            j = i
            while j >= gap and u[order[j - gap]] > u[state]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = state


@kernel
def sort_row(sets: PlausibleSets, row: int, u: Floats) -> None:
    """Sort the observed successors of a row by u, ascending, as ``sort_states``."""
    indices, data, slack = sets.indices, sets.data, sets.slack
    first = sets.indptr[row]
    last = first + sets.support[row]
    gap = 1
    for i in range(first + 1, last):
        if u[indices[i - 1]] > u[indices[i]]:
            gap = last - first
            break
    while gap > 1:
        gap = max(1, int(gap / 2.25))
        for i in range(first + gap, last):
            state, mass = indices[i], data[i]
            width = slack[i] if slack.size > 0 else 0.0
            j = i
            while j >= first + gap and u[indices[j - gap]] > u[state]:
                indices[j], data[j] = indices[j - gap], data[j - gap]
                if slack.size > 0:
                    slack[j] = slack[j - gap]
                j -= gap
            indices[j], data[j] = state, mass
            if slack.size > 0:
                slack[j] = width
