"""The inner maximum of extended value iteration: the best plausible transition of a row for given values u.

A *ball* is { p : |p - p^|_1 <= d }: move mass min(d/2, 1) to the best state, taken from the worst states of the
support [JOA10, Fig. 2]. Where the best state is itself among those taken from, the mass returns to it, so it needs no
special case. An *interval* set is { p : lower <= p <= upper }: start at the lower bounds and fill up from the best
state down. Both cost what the support costs, never what the state space costs.
"""

from __future__ import annotations

from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, Sets

SHORT = 16  # rows up to this length are kept sorted in place


@lean_kernel
def sort_states(order: Ints, n: int, u: Floats) -> None:
    """Sort the first n entries of ``order`` by u, ascending; quick where they are nearly sorted."""
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


@inlined_kernel
def sort_row(indices: Ints, data: Floats, first: int, last: int, u: Floats) -> None:
    """Sort the entries ``first .. last - 1`` of a row by u, ascending; quick where they are nearly sorted."""
    gap = 1
    for i in range(first + 1, last):
        if u[indices[i - 1]] > u[indices[i]]:
            gap = 2 if last - first <= SHORT else last - first
            break
    while gap > 1:
        gap = max(1, int(gap / 2.25))
        for i in range(first + gap, last):
            state, mass = indices[i], data[i]
            j = i
            while j >= first + gap and u[indices[j - gap]] > u[state]:
                indices[j], data[j] = indices[j - gap], data[j - gap]
                j -= gap
            indices[j], data[j] = state, mass


@inlined_kernel
def walks(support: int, n: int) -> bool:
    """Return whether a row is so long that walking all states in order is cheaper than sorting it."""
    return support > SHORT and 4 * support > n


@inlined_kernel
def ball_by_sorting(sets: Sets, row: int, u: Floats, top: int, fill: bool, indices: Ints, data: Floats) -> float:
    """Return max p'u over a ball; if ``fill``, write the maximiser p~ to the row of (indices, data)."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    sort_row(sets.indices, sets.data, first, last, u)
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


@lean_kernel
def ball_by_walking(
    sets: Sets,
    row: int,
    n: int,
    u: Floats,
    order: Ints,
    scratch: Floats,
    fill: bool,
    indices: Ints,
    data: Floats,
) -> float:
    """Like ``ball_by_sorting``, for rows that cover much of the n states; ``order`` has them by u."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    top = order[n - 1]
    moved = min(0.5 * sets.radius[row], 1.0)
    value, left = moved * u[top], moved
    for z in range(first, last):
        scratch[sets.indices[z]] += sets.data[z]
        value += sets.data[z] * u[sets.indices[z]]
    for i in range(n):
        if left <= 0.0:
            break
        taken = min(left, scratch[order[i]])
        left -= taken
        scratch[order[i]] -= taken
        value -= taken * u[order[i]]
    for z in range(first, last):
        if fill:
            kept = min(sets.data[z], scratch[sets.indices[z]])
            scratch[sets.indices[z]] -= kept
            indices[z], data[z] = sets.indices[z], kept
        else:
            scratch[sets.indices[z]] = 0.0
    if fill:
        for z in range(first, last):
            scratch[sets.indices[z]] = 0.0
        indices[last], data[last] = top, moved
    return value


@lean_kernel
def interval(
    sets: Sets,
    row: int,
    n: int,
    u: Floats,
    order: Ints,
    scratch: Floats,
    fill: bool,
    indices: Ints,
    data: Floats,
) -> float:
    """Return max p'u over intervals; if ``fill``, write the lower bounds and then what was added to them."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    upper_elsewhere = sets.radius[row]
    value, left = 0.0, 1.0
    for z in range(first, last):
        value += sets.data[z] * u[sets.indices[z]]
        left -= sets.data[z]
        scratch[sets.indices[z]] += sets.room[z] - upper_elsewhere
        if fill:
            indices[z], data[z] = sets.indices[z], sets.data[z]
    place = last
    for i in range(n - 1, -1, -1):
        if left <= 0.0:
            break
        state = order[i]
        added = min(left, upper_elsewhere * sets.weight[state] + scratch[state])
        if added > 0.0:
            left -= added
            value += added * u[state]
            if fill:
                indices[place], data[place] = state, added
                place += 1
    for z in range(first, last):
        scratch[sets.indices[z]] = 0.0
    if fill:
        for z in range(place, sets.indptr[row + 1]):
            indices[z], data[z] = 0, 0.0
    return value
