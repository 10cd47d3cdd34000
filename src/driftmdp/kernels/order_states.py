"""The states that exact plans of orders are made for: their table, how high it reaches, and what a plan will take.

A state is the stock s of a morning and the orders on their way, c_1 .. c_{L-1}, which are multiples of the pack.
The row of c_1 .. c_{L-1} in a table of values is the number with these digits, in packs, in base B. So when a
period has passed and a was ordered, row m becomes (m mod B^(L-2)) B + a, and the column is the next stock. L = 0
and L = 1 have one row.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.ordering_arrays import NO_LIMIT, ComingPeriods, OrderTerms

# Of `exact_work`, without and with a lead time: beyond it a plan takes longer than one on paths.
EXACT_WORK, EXACT_WORK_AHEAD = 1e6, 1.5e5
NEGLIGIBLE = 1e-10  # demand beyond this probability is taken for the largest before it
SAFETY = 5.0  # standard deviations of demand that a level which is never exceeded has room for
LONGEST_COVER = 100.0  # periods of demand in one order, however cheap it is to hold


class StateGrid(NamedTuple):
    """The table of states, see above.

    =============  =======  ======================================================================
    rows, width    int      of the table: combinations of orders on their way, stocks
    top            int      most units, on the shelf and on their way
    limit          int      most units that an order may fill up to
    base           int      B: orders that one period can have, in packs
    shift          int      B^(L-2), 1 with a shorter lead time
    load           (rows,)  units on their way
    first          (rows,)  of these, next morning
    =============  =======  ======================================================================
    """

    rows: int
    width: int
    top: int
    limit: int
    base: int
    shift: int
    load: Longs
    first: Longs


@kernel
def new_grid(terms: OrderTerms, top: int) -> StateGrid:
    """Return the table of all states with up to ``top`` units."""
    base = top // terms.pack + 1
    rows, shift = 1, 1
    for j in range(terms.lead_time - 1):
        rows *= base
        if j > 0:
            shift *= base
    load, first = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for row in range(rows):
        rest = row
        while rest > 0:
            load[row] += rest % base * terms.pack
            rest //= base
        if rows > 1:
            first[row] = row // shift * terms.pack
    return StateGrid(rows, top + 1, top, min(top, terms.capacity), base, shift, load, first)


@kernel
def row_of(grid: StateGrid, coming: Longs, pack: int) -> int:
    """Return the row of the orders on their way."""
    row = 0
    for j in range(coming.size):
        row = row * grid.base + coming[j] // pack
    return row


@kernel
def next_row(grid: StateGrid, row: int, packs: int) -> int:
    """Return the row of the next morning, after an order."""
    return row % grid.shift * grid.base + packs if grid.rows > 1 else 0


@kernel
def smallest_order(terms: OrderTerms) -> int:
    """Return the least order that is not 0."""
    return max((terms.minimum + terms.pack - 1) // terms.pack, 1) * terms.pack


@kernel
def top_level(terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods) -> int:
    """Return a level that no good order exceeds: what the values are computed up to.

    Enough for the most demand in lead time and wait for the next order, with a wide margin, and the economic order
    quantity on top.
    """
    position = stock
    for j in range(coming.size):
        position += coming[j]
    mean, peak, variance = _demand_ahead(laws, periods, terms.lead_time + _longest_wait(periods))
    batch = LONGEST_COVER * mean
    if terms.holding > 0.0:
        batch = min(batch, 1.5 * np.sqrt(2.0 * terms.fixed * mean / terms.holding))
    level = peak + SAFETY * np.sqrt(variance) + batch + 2.0 * terms.pack + terms.minimum + 2.0
    if terms.capacity < NO_LIMIT:
        level = min(level, float(terms.capacity))
    return max(int(level), position)


@kernel
def _longest_wait(periods: ComingPeriods) -> int:
    """Return the most periods from one order to the next."""
    wait, longest = 0, 1
    for h in range(periods.may_order.size):
        wait += 1
        if periods.may_order[h] != 0 and periods.is_open[h] != 0:
            longest, wait = max(longest, wait), 0
    return max(longest, wait)


@kernel
def _demand_ahead(laws: Floats, periods: ComingPeriods, length: int) -> tuple[float, float, float]:
    """Return the mean demand of a period, and the most mean and variance that so many periods in a row have."""
    horizon = laws.shape[0]
    means, variances = np.zeros(horizon + 1), np.zeros(horizon + 1)
    for h in range(horizon):
        mean, square = 0.0, 0.0
        if periods.is_open[h] != 0:
            for x in range(laws.shape[1]):
                mean += x * laws[h, x]
                square += x * x * laws[h, x]
        means[h + 1], variances[h + 1] = means[h] + mean, variances[h] + square - mean * mean
    span = min(length, horizon)
    peak, variance = 0.0, 0.0
    for h in range(horizon - span + 1):
        peak = max(peak, means[h + span] - means[h])
        variance = max(variance, variances[h + span] - variances[h])
    scale = float(length) / span
    return means[horizon] / horizon, peak * scale, variance * scale


@kernel
def is_small(terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods) -> bool:
    """Return whether an exact plan is quick enough."""
    limit = EXACT_WORK if terms.lead_time == 0 else EXACT_WORK_AHEAD
    return exact_work(terms, stock, coming, laws, periods) <= limit


@kernel
def exact_work(terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods) -> float:
    """Return about how much a step back takes, in products.

    Infinite where the state is not one of those that are planned for, an order on its way that is no multiple of
    the pack.
    """
    for j in range(coming.size):
        if coming[j] % terms.pack != 0:
            return np.inf
    highest = top_level(terms, stock, coming, laws, periods)
    top = float(highest)
    support = 0
    for h in range(laws.shape[0]):
        support = max(support, support_of(laws[h]))
    work, size = (top + 1.0) * min(top + 1.0, float(support)), top + 1.0
    for level in range(terms.lead_time):
        # Rows and orders whose sum fits are a simplex: one side more, one dimension more.
        work *= (top / terms.pack + level + 1.0) / (level + 1.0)
        # But the table is a cube. With few packs and a long lead time it is large, though hardly any of it is used.
        size *= float(highest // terms.pack + 1) if level > 0 else 1.0
    return max(work, size)


@kernel
def support_of(law: Floats) -> int:
    """Return how many demands are worth telling apart."""
    support, beyond = law.size, 0.0
    while support > 1:
        beyond += law[support - 1]
        if beyond > NEGLIGIBLE:
            return support
        support -= 1
    return support
