"""Extended value iteration: the best plausible MDP and its policy.

(T u)(s) = max over a of r(s, a) + max over plausible p of p'u. For *any* u, rho = max (T u - u) and gamma = u - min u
satisfy Properties 1 and 2 of [CSZ20] app:evi with precision span(T u - u): whatever produced u, one step on it certifies
the plan. ``plain`` is [CSZ20] alg:evi; ``accelerate`` alternates that step with solving the ordinary MDP that it
found.
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels import gain, inner
from driftmdp.kernels._compile import kernel, lean_kernel
from driftmdp.kernels.arrays import Draft, Floats, Ints, Model, Sets
from driftmdp.kernels.bellman import CONVERGED, OUT_OF_BUDGET, STALLED

PLAIN_SWEEPS = 1000  # after so many sweeps of alg:evi, acceleration takes over
ROUNDS = 200  # of acceleration
LIMIT = 1000  # policy evaluations within a round
LAZY = 0.9  # of a step is taken in the sweeps that close what acceleration could not
LAZY_SWEEPS = 20_000


@lean_kernel
def must_walk(sets: Sets, n: int) -> bool:
    """Return whether some row needs all n states in order of their value."""
    if sets.room.size > 0:
        return True
    for row in range(sets.offsets[n]):
        if inner.walks(sets.support[row], n):
            return True
    return False


@lean_kernel
def best_state(u: Floats, n: int) -> int:
    """Return the first state with the largest value."""
    top = 0
    for s in range(1, n):
        if u[s] > u[top]:
            top = s
    return top


@lean_kernel
def sweep(draft: Draft, n: int, walk: bool, fill: bool) -> tuple[float, float]:
    """Set ``new`` to T u, ``values`` to what it is the maximum of; return min and max of T u - u.

    If ``fill``, also write the optimistic transitions and the best row of every state.
    """
    sets, u = draft.sets, draft.u
    top = best_state(u, n)
    if walk:
        inner.sort_states(draft.order, n, u)
    low, high = np.inf, -np.inf
    for s in range(n):
        best = -np.inf
        for row in range(sets.offsets[s], sets.offsets[s + 1]):
            if sets.support[row] == 0 and sets.room.size == 0 and not fill:
                value = u[top]
            elif sets.room.size > 0:
                value = inner.interval(
                    sets, row, n, u, draft.order, draft.scratch, fill, draft.indices, draft.data
                )
            elif inner.walks(sets.support[row], n):
                value = inner.ball_by_walking(
                    sets, row, n, u, draft.order, draft.scratch, fill, draft.indices, draft.data
                )
            else:
                value = inner.ball_by_sorting(sets, row, u, top, fill, draft.indices, draft.data)
            value += sets.rewards[row]
            draft.values[row] = value
            if value > best:
                best = value
                if fill:
                    draft.actions[s] = row - sets.offsets[s]
        draft.new[s] = best
        low, high = min(low, best - u[s]), max(high, best - u[s])
    return low, high


@lean_kernel
def step_on(draft: Draft, n: int, share: float) -> None:
    """Move u towards T u by a share of the way, and subtract its least entry."""
    u, new = draft.u, draft.new
    base = np.inf
    for s in range(n):
        u[s] += share * (new[s] - u[s])
        base = min(base, u[s])
    for s in range(n):
        u[s] -= base


@lean_kernel
def plain(draft: Draft, n: int, precision: float, limit: int, walk: bool) -> tuple[float, float, int, int]:
    """Iterate [CSZ20] alg:evi from u; return min and max of T u - u, sweeps, status."""
    sweeps = 0
    while True:
        low, high = sweep(draft, n, walk, False)
        sweeps += 1
        if high - low <= precision:
            return low, high, sweeps, CONVERGED
        if sweeps >= limit:
            return low, high, sweeps, OUT_OF_BUDGET
        step_on(draft, n, 1.0)


@kernel
def tilde(draft: Draft, n: int) -> Model:
    """Return the ordinary MDP that the last filled sweep found."""
    sets = draft.sets
    return Model(sets.offsets[: n + 1], sets.rewards, sets.indptr, draft.indices, draft.data)


@kernel
def accelerate(draft: Draft, n: int, precision: float, walk: bool) -> tuple[float, float, int, int]:
    """Alternate a true step with solving the MDP it found; return min and max of T u - u, iterations, status.

    OUT_OF_BUDGET means that the MDP found needs a sparse elimination; then u is as good as sweeps made it.
    """
    iterations, stuck, least = 0, 0, np.inf
    best = draft.u[:n].copy()
    for _ in range(ROUNDS):
        low, high = sweep(draft, n, walk, True)
        iterations += 1
        if high - low <= precision:
            return low, high, iterations, CONVERGED
        stuck = stuck + 1 if high - low >= 0.9 * least else 0
        if high - low < least:
            least = high - low
            for s in range(n):
                best[s] = draft.u[s]
        if stuck >= 8:
            break
        tolerance = max(0.1 * (high - low), 0.5 * precision) if stuck == 0 else 0.1 * precision
        _, _, sweeps, evaluations, status = gain.solve(
            tilde(draft, n), draft.actions[:n], draft.u[:n], tolerance, LIMIT
        )
        iterations += sweeps + evaluations
        base = np.inf
        for s in range(n):
            base = min(base, draft.u[s])
        for s in range(n):
            draft.u[s] -= base
        if status == OUT_OF_BUDGET and n > gain.DENSE_LIMIT and stuck > 0:
            return low, high, iterations, OUT_OF_BUDGET
    for s in range(n):
        draft.u[s] = best[s]
    return lazily(draft, n, precision, walk, iterations)


@lean_kernel
def lazily(draft: Draft, n: int, precision: float, walk: bool, iterations: int) -> tuple[float, float, int, int]:
    """Take steps of nine tenths, which no period withstands; give up when they no longer help."""
    before = np.inf
    for i in range(LAZY_SWEEPS + 1):
        low, high = sweep(draft, n, walk, False)
        iterations += 1
        if high - low <= precision:
            return low, high, iterations, CONVERGED
        if i % 1000 == 0:
            if high - low > 0.99 * before:
                break
            before = high - low
        if i < LAZY_SWEEPS:
            step_on(draft, n, LAZY)
    return low, high, iterations, STALLED


@lean_kernel
def iterate(draft: Draft, n: int, precision: float, fast: bool) -> tuple[float, float, int, int, bool]:
    """Plan over n states from ``draft.u``; return min and max of T u - u, iterations, status, and if it was accelerated."""
    walk = must_walk(draft.sets, n)
    if walk:
        for s in range(n):
            draft.order[s] = s
    iterations = 0
    if not fast:
        low, high, iterations, status = plain(draft, n, precision, PLAIN_SWEEPS, walk)
        if status == CONVERGED:
            return low, high, iterations, status, False
        step_on(draft, n, 1.0)
    low, high, more, status = accelerate(draft, n, precision, walk)
    return low, high, iterations + more, status, True


@lean_kernel
def lay_out(
    offsets: Ints,
    rewards: Floats,
    rows: tuple[Ints, Ints, Floats, Floats],
    radius: Floats,
    whole: Ints,
    draft: Draft,
    row_of: Ints,
) -> None:
    """Write given sets, one row a pair, but one for all pairs of a state that have the whole simplex.

    ``rows`` is (indptr, indices, data, room) of the pairs; ``row_of`` is filled with the row of each pair, -1 for those
    in ``whole``.
    """
    indptr, indices, data, room = rows
    sets = draft.sets
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
            sets.support[row] = indptr[pair + 1] - indptr[pair]
            for y in range(indptr[pair], indptr[pair + 1]):
                sets.indices[z], sets.data[z] = indices[y], data[y]
                if room.size > 0:
                    sets.room[z] = room[y]
                z += 1
            z += 1 if room.size == 0 else widest(n, sets.support[row], sets.radius[row])
            row += 1
        if best > -np.inf:
            sets.rewards[row], sets.indptr[row], sets.support[row] = best, z, 0
            sets.radius[row] = 2.0 if room.size == 0 else 1.0
            row += 1
            z += 1
    sets.offsets[n], sets.indptr[row] = row, z


@lean_kernel
def widest(n: int, support: int, upper_elsewhere: float) -> int:
    """Return to how many states intervals can add mass at most."""
    if upper_elsewhere <= 0.0:
        return support
    return int(min(n, support + 2.0 + 1.0 / upper_elsewhere))
