"""Plausible sets that a caller gives: measured, written into a workspace, and the policy read out of it.

Agents write sets from what they remember instead: kernels/optimist.py.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Bools, Floats, Ints
from driftmdp.kernels.extended_value_iteration import TIE, count_extra_places, should_complete
from driftmdp.kernels.plan_arrays import PlanWorkspace, PlausibleSets, SetRows


@kernel
def measure_rows(indptr: Ints, data: Floats, radius: Floats, n: int, sums: Floats, whole: Bools) -> int:
    """Fill the sum of each row of p^ and whether its ball is the whole simplex. Return the places that rows take.

    A row that sums to 0 was never seen. One with a negative number gets the sum NaN.
    """
    places = 0
    for pair in range(radius.size):
        total = sum_nonnegative(data, indptr[pair], indptr[pair + 1])
        sums[pair] = total
        whole[pair] = total == 0.0 or radius[pair] >= 2.0
        support = indptr[pair + 1] - indptr[pair]
        # One place more than the support: for the mass that is moved to the best state.
        places += 1 if whole[pair] else 1 + (n if should_complete(support, n) else support)
    return places


@kernel
def sum_nonnegative(data: Floats, first: int, last: int) -> float:
    """Return the sum of the numbers in ``first .. last - 1``, NaN if one is negative."""
    # Four sums that do not wait for each other: three times as fast as one.
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


@kernel
def build_sets(
    offsets: Ints, rewards: Floats, rows: SetRows, radius: Floats, whole: Bools, sets: PlausibleSets, row_of: Ints
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
            if whole[pair]:
                row_of[pair] = -1
                best = max(best, rewards[pair])
                continue
            row_of[pair] = row
            sets.rewards[row], sets.radius[row], sets.indptr[row] = rewards[pair], radius[pair], z
            first, last = indptr[pair], indptr[pair + 1]
            sets.support[row] = last - first
            if slack.size == 0 and should_complete(last - first, n):
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


@kernel
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
