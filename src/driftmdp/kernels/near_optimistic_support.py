"""The inner maximum of UCRL3 [BMT20]: intervals for every next state, over a support no larger than it need be.

The observed next states and the best state are in the support. As long as the states outside could add more than
min(kappa, what those inside give), the best of them joins (NOSS: near-optimistic support selection). Values are
relative to the least one, and mass that finds no place inside has that value.

With a fixed number of joined states this is a maximum of means over a fixed set, and sweeps converge. NOSS itself
jumps where a state joins or leaves, and sweeps may go in circles.
"""

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.extended_value_iteration import sort_row
from driftmdp.kernels.plan_arrays import PlausibleSets


@kernel
def maximize_near_optimistically(
    sets: PlausibleSets, row: int, n: int, u: Floats, order: Ints, observed: Floats, kappa: float, joined: float
) -> tuple[float, float]:
    """Return the near-optimistic mean of a row, and how many states beside the observed ones are in its support.

    They are at least ``joined``. ``order`` has the n states by u, ``observed`` is all zero. A state that stands for
    several has a weight.
    """
    first = sets.indptr[row]
    last = first + sets.support[row]
    sort_row(sets, row, u)
    for z in range(first, last):
        observed[sets.indices[z]] += 1.0
    if u[sets.indices[last - 1]] < u[order[n - 1]]:
        joined = max(joined, 1.0)
    inside = fill_inside(sets, row, n, u, order, observed, joined)
    while fill_outside(sets, row, n, u, order, observed, joined) > min(kappa, inside):
        more = fill_inside(sets, row, n, u, order, observed, joined + 1.0)
        if more <= inside:  # there is no mass left for one more, and so for no other
            break
        inside = more
        joined += 1.0
    for z in range(first, last):
        observed[sets.indices[z]] = 0.0
    return u[order[0]] + inside, joined


@kernel
def fill_inside(
    sets: PlausibleSets, row: int, n: int, u: Floats, order: Ints, observed: Floats, joined: float
) -> float:
    """Return max q'(u - min u) over the observed states and the best ``joined`` others, with sum q <= 1."""
    first = sets.indptr[row]
    z, k, least = first + sets.support[row] - 1, n - 1, u[order[0]]
    value, left = 0.0, 1.0
    for y in range(first, z + 1):
        value += sets.data[y] * (u[sets.indices[y]] - least)
        left -= sets.data[y]
    while left > 0.0:
        # From the best down: the next observed state at z, the next other one at k.
        while joined > 0.0 and k >= 0 and sets.weight[order[k]] <= observed[order[k]]:
            k -= 1
        has_other = joined > 0.0 and k >= 0
        if z >= first and (not has_other or u[sets.indices[z]] >= u[order[k]]):
            added, state = min(left, sets.slack[z]), sets.indices[z]
            z -= 1
        elif has_other:
            state = order[k]
            members = min(joined, sets.weight[state] - observed[state])
            added = min(left, members * sets.radius[row])
            joined -= members
            k -= 1
        else:
            break
        value += added * (u[state] - least)
        left -= added
    return value


@kernel
def fill_outside(
    sets: PlausibleSets, row: int, n: int, u: Floats, order: Ints, observed: Floats, joined: float
) -> float:
    """Return max q'(u - min u) over the states that are neither observed nor among the best ``joined`` others."""
    value, left, least = 0.0, 1.0, u[order[0]]
    for k in range(n - 1, -1, -1):
        state = order[k]
        if left <= 0.0 or u[state] <= least:
            break
        members = sets.weight[state] - observed[state]
        skipped = min(joined, members)
        joined -= skipped
        added = min(left, (members - skipped) * sets.radius[row])
        value += added * (u[state] - least)
        left -= added
    return value
