"""The inner maximum of extended value iteration: the best plausible transition of a row for given values u.

A *ball* is { p : |p - p^|_1 <= d }: move mass min(d/2, 1) to the best state, taken from the worst states of the
support [JOA10, Fig. 2]. Where the best state is itself among those taken from, the mass returns to it, so it needs
no special case. An *interval* set is { p : lower <= p <= upper }: start at the lower bounds and fill up from the
best state down. Both cost what the support costs, never what the state space costs.
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, PlausibleSets

SHORT = 16  # rows up to this length are scanned for their worst successors


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


@lean_kernel
def sort_row(sets: PlausibleSets, row: int, u: Floats) -> None:
    """Sort the observed successors of a row by u, ascending; quick where they are nearly sorted."""
    indices, data, room = sets.indices, sets.data, sets.room
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
            more = room[i] if room.size > 0 else 0.0
            j = i
            while j >= first + gap and u[indices[j - gap]] > u[state]:
                indices[j], data[j] = indices[j - gap], data[j - gap]
                if room.size > 0:
                    room[j] = room[j - gap]
                j -= gap
            indices[j], data[j] = state, mass
            if room.size > 0:
                room[j] = more


@inlined_kernel
def wants_completion(support: int, n: int) -> bool:
    """Return whether a row has so many successors that it is laid out with a place for every state, in order.

    Then the worst states are found by walking all states by value, which is cheaper than sorting the row.
    """
    return n > SHORT and support > SHORT and 4 * support > n


@inlined_kernel
def is_complete(support: int, n: int) -> bool:
    """Return whether a row was laid out so: ``data[first + s]`` is p^(s).

    No other row has a support of n, because one that has wants completion.
    """
    return support == n and n > SHORT


@inlined_kernel
def ball_by_selecting(
    sets: PlausibleSets, row: int, u: Floats, top: int, fill: bool, indices: Ints, data: Floats
) -> float:
    """Return max p'u over a ball; if ``fill``, write the maximiser p~ to the row of (indices, data).

    For short rows: the worst successors are brought to the front one by one, as many as are taken from.
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


@lean_kernel
def ball_by_sorting(
    sets: PlausibleSets, row: int, u: Floats, top: int, fill: bool, indices: Ints, data: Floats
) -> float:
    """Like ``ball_by_selecting``, for longer rows, which are kept sorted by u."""
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


@lean_kernel
def complete_ball(
    sets: PlausibleSets, row: int, n: int, u: Floats, order: Ints, fill: bool, indices: Ints, data: Floats
) -> float:
    """Like ``ball_by_selecting``, for a complete row; ``order`` has the n states by u."""
    first = sets.indptr[row]
    moved = min(0.5 * sets.radius[row], 1.0)
    value = moved * u[order[n - 1]] + dot(sets.data, first, u, n)
    if fill:
        for s in range(n):
            indices[first + s], data[first + s] = s, sets.data[first + s]
        indices[first + n], data[first + n] = order[n - 1], moved
    left = moved
    for i in range(n):
        s = order[i]
        taken = min(left, sets.data[first + s])
        value -= taken * u[s]
        left -= taken
        if fill:
            data[first + s] -= taken
        if left <= 0.0:
            break
    return value


@inlined_kernel
def sum_of(data: Floats, first: int, last: int) -> float:
    """Return the sum of a run of numbers, in four sums that do not wait for each other; NaN if one is negative."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    negative = False
    whole = last - (last - first) % 4
    for z in range(first, whole, 4):
        a += data[z]
        b += data[z + 1]
        c += data[z + 2]
        d += data[z + 3]
        negative |= min(min(data[z], data[z + 1]), min(data[z + 2], data[z + 3])) < 0.0
    for z in range(whole, last):
        a += data[z]
        negative |= data[z] < 0.0
    return np.nan if negative else (a + b) + (c + d)


@inlined_kernel
def dot(data: Floats, first: int, u: Floats, n: int) -> float:
    """Return sum of data[first + s] u[s], in four sums that do not wait for each other."""
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


@lean_kernel
def interval(
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


@lean_kernel
def interval_within(sets: PlausibleSets, row: int, u: Floats, fill: bool, indices: Ints, data: Floats) -> float:
    """Like ``interval``, for a row whose next states outside the support have probability 0."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    sort_row(sets, row, u)
    left = 1.0
    for z in range(first, last):
        left -= sets.data[z]
    value = 0.0
    for z in range(last - 1, first - 1, -1):
        added = min(max(left, 0.0), sets.room[z])
        left -= added
        value += (sets.data[z] + added) * u[sets.indices[z]]
        if fill:
            indices[z], data[z] = sets.indices[z], sets.data[z] + added
    return value
