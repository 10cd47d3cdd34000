"""How much to order when demand's laws are known and the states are few: by dynamic programming.

A state is the stock s of a morning and the orders on their way, c_1 .. c_{L-1}, which are multiples of the pack. The
row of c_1 .. c_{L-1} in a table of values is the number with these digits, in packs, in base B. So when a period has
passed and a was ordered, row m becomes (m mod B^(L-2)) B + a, and the column is the next stock. L = 0 and L = 1 have
one row.

Values are costs to come. The H given periods are planned backwards. Behind them the last ``cycle`` periods repeat
for ever: relative value iteration on a whole cycle, which the values of the cheapest average cost g* solve. After
each sweep, min (TV - V) <= g* <= max (TV - V), whatever V is, [P94] Theorem 8.5.5, and the difference is the
certificate. Steps are damped, because orders may come round in a fixed rhythm, and sweeps alone would never settle.

Without a lead time a step costs one convolution: the cheapest order is a running minimum over levels a pack apart.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.ordering_arrays import NO_LIMIT, ComingPeriods, OrderTerms

COST_TIE = 1e-9  # of the costs' sum: orders whose costs differ less are equally good, and the smallest is taken
PRECISION = 3e-4  # of the average cost, at which sweeps end
STEP = 0.85  # of a damped sweep
EXACT_WORK = 150_000.0  # of `exact_work`: beyond it a plan takes longer than one on paths
MAX_SWEEPS = 2000
MAX_WORK = 3e7  # products in the sweeps of one plan
NEGLIGIBLE = 1e-10  # demand beyond this probability is taken for the largest before it
SAFETY = 5.0  # standard deviations of demand that a level which is never exceeded has room for
LONGEST_COVER = 100.0  # periods of demand in one order, however cheap it is to hold


@kernel
def plan_exactly(
    terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods
) -> tuple[int, float, float]:
    """Return the best order today, its expected cost per open period, and the certificate of that.

    ``coming[j]`` arrives j + 1 periods from now, j < L - 1: multiples of the pack. ``laws[h, x]`` is the chance of a
    demand of x in period h, and in the last column of that or more. The cost is that of the periods behind (the
    average cost of the best policy, within the certificate), or of the H periods where nothing follows.
    """
    grid = _new_grid(terms, top_level(terms, stock, coming, laws, periods))
    row = _row_of(grid, coming, terms.pack)
    values = np.zeros(grid.rows * grid.width)
    gain, residual = 0.0, 0.0
    if periods.cycle > 0:
        gain, residual = _settle(terms, grid, laws, periods, row * grid.width + stock, values)
    for h in range(laws.shape[0] - 1, 0, -1):
        _step_back(terms, grid, laws[h], periods.is_open[h] != 0, periods.may_order[h] != 0, values)
    order, cost = _order_today(terms, grid, laws[0], periods, values, stock, row)
    if periods.cycle == 0:
        gain = cost / max(_count_open(periods, 0), 1)
    return order, gain, residual


@kernel
def exact_work(terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods) -> float:
    """Return about how many products a step back takes: more than some hundred thousand are better left to paths.

    Infinite where the state is not one of those that are planned for, an order on its way that is no multiple of the
    pack.
    """
    for j in range(coming.size):
        if coming[j] % terms.pack != 0:
            return np.inf
    top = float(top_level(terms, stock, coming, laws, periods))
    support = 0
    for h in range(laws.shape[0]):
        support = max(support, _support(laws[h]))
    work = (top + 1.0) * min(top + 1.0, float(support))
    for level in range(terms.lead_time):
        # Rows and orders whose sum fits are a simplex: one side more, one dimension more.
        work *= (top / terms.pack + level + 1.0) / (level + 1.0)
    return work


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


class Grid(NamedTuple):
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
def _new_grid(terms: OrderTerms, top: int) -> Grid:
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
    return Grid(rows, top + 1, top, min(top, terms.capacity), base, shift, load, first)


@kernel
def _row_of(grid: Grid, coming: Longs, pack: int) -> int:
    row = 0
    for j in range(coming.size):
        row = row * grid.base + coming[j] // pack
    return row


@kernel
def _next_row(grid: Grid, row: int, packs: int) -> int:
    return row % grid.shift * grid.base + packs if grid.rows > 1 else 0


@kernel
def _count_open(periods: ComingPeriods, first: int) -> int:
    count = 0
    for h in range(first, periods.is_open.size):
        if periods.is_open[h] != 0:
            count += 1
    return count


@kernel
def _settle(
    terms: OrderTerms, grid: Grid, laws: Floats, periods: ComingPeriods, state: int, values: Floats
) -> tuple[float, float]:
    """Fill the values behind the last period. Return the average cost per open period and its certificate.

    Of all costs within the certificate, that which a state sees: without demand each stock has its own.
    """
    horizon, first = laws.shape[0], laws.shape[0] - periods.cycle
    n_open = float(max(_count_open(periods, first), 1))
    scale = terms.fixed + terms.unit + terms.lost + terms.holding
    before = np.zeros(values.size)
    gain, residual, work = 0.0, 0.0, 0.0
    for _ in range(MAX_SWEEPS):
        for i in range(values.size):
            before[i] = values[i]
        for h in range(horizon - 1, first - 1, -1):
            work += _step_back(terms, grid, laws[h], periods.is_open[h] != 0, periods.may_order[h] != 0, values)
        low, high = _growth(grid, before, values)
        gain, residual = (values[state] - before[state]) / n_open, (high - low) / n_open
        if residual <= PRECISION * gain + COST_TIE * scale or work > MAX_WORK:
            break
        base = values[0]
        for i in range(values.size):
            values[i] = before[i] + STEP * (values[i] - base - before[i])
    return gain, residual


@kernel
def _growth(grid: Grid, before: Floats, after: Floats) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for row in range(grid.rows):
        start = row * grid.width
        for i in range(start, start + grid.top - grid.load[row] + 1):
            low = min(low, after[i] - before[i])
            high = max(high, after[i] - before[i])
    return low, high


@kernel
def _step_back(terms: OrderTerms, grid: Grid, law: Floats, is_open: bool, may_order: bool, values: Floats) -> float:
    """Replace the values of the mornings after a period by those of its morning. Return the products it took."""
    after = values.copy()
    if not is_open:
        _shift_closed(grid, after, values)
        return float(values.size)
    support = _support(law)
    period_costs = np.empty(grid.width)
    _fill_period_costs(terms, law, period_costs)
    if terms.lead_time == 0:
        return _step_at_once(terms, grid, law[:support], may_order, period_costs, after, values)
    return _step_ahead(terms, grid, law[:support], may_order, period_costs, after, values)


@kernel
def _shift_closed(grid: Grid, after: Floats, values: Floats) -> None:
    for row in range(grid.rows):
        if grid.load[row] <= grid.top:
            start, following = row * grid.width, _next_row(grid, row, 0) * grid.width + grid.first[row]
            for s in range(grid.top - grid.load[row] + 1):
                values[start + s] = after[following + s]


@kernel
def _support(law: Floats) -> int:
    """Return how many demands are worth telling apart."""
    support, beyond = law.size, 0.0
    while support > 1:
        beyond += law[support - 1]
        if beyond > NEGLIGIBLE:
            return support
        support -= 1
    return support


@kernel
def _fill_period_costs(terms: OrderTerms, law: Floats, costs: Floats) -> None:
    """Fill ``costs[y]`` with what a period is expected to cost that has y on sale: lost sales and holding."""
    mean = 0.0
    for x in range(law.size):
        mean += x * law[x]
    sold, beyond = 0.0, 1.0
    for y in range(costs.size):
        costs[y] = terms.lost * max(mean - sold, 0.0) + terms.holding * (y - sold)
        if y < law.size:
            beyond = max(beyond - law[y], 0.0)
            sold = min(sold + beyond, mean)


@kernel
def _expect(law: Floats, after: Floats, out: Floats) -> None:
    """Fill ``out[s]`` with E after[(s - X)^+]."""
    beyond = 1.0
    for s in range(out.size):
        beyond = max(beyond - law[s], 0.0) if s < law.size else 0.0
        out[s] = beyond * after[0]
    for x in range(min(law.size, out.size)):
        chance = law[x]
        part, source = out[x:], after[: out.size - x]
        for i in range(part.size):
            part[i] += chance * source[i]


@kernel
def _step_at_once(
    terms: OrderTerms,
    grid: Grid,
    law: Floats,
    may_order: bool,
    period_costs: Floats,
    after: Floats,
    values: Floats,
) -> float:
    """Step back over an open period without a lead time."""
    _expect(law, after, values)
    for y in range(grid.width):
        values[y] += period_costs[y]
    if may_order:
        least = smallest_order(terms)
        # levels[y]: the cheapest of y, y + pack, y + 2 pack .., each unit charged. ``after`` is free now.
        levels = after
        for y in range(grid.limit, -1, -1):
            levels[y] = values[y] + terms.unit * y
            if y + terms.pack <= grid.limit:
                levels[y] = min(levels[y], levels[y + terms.pack])
        for s in range(grid.limit - least + 1):
            values[s] = min(values[s], terms.fixed + levels[s + least] - terms.unit * s)
    return float(grid.width) * min(law.size, grid.width)


@kernel
def smallest_order(terms: OrderTerms) -> int:
    """Return the least order that is not 0."""
    return max((terms.minimum + terms.pack - 1) // terms.pack, 1) * terms.pack


@kernel
def _step_ahead(
    terms: OrderTerms,
    grid: Grid,
    law: Floats,
    may_order: bool,
    period_costs: Floats,
    after: Floats,
    values: Floats,
) -> float:
    """Step back over an open period with a lead time: in each row, every order that fits."""
    totals, work = np.empty(grid.width), 0.0
    for row in range(grid.rows):
        if grid.load[row] > grid.top:
            continue
        best = values[row * grid.width : (row + 1) * grid.width]
        size = grid.top - grid.load[row] + 1
        _expect(law, _after_order(terms, grid, row, 0, after), best[:size])
        order = smallest_order(terms)
        while may_order and grid.load[row] + order <= grid.limit:
            fits = totals[: grid.limit - grid.load[row] - order + 1]
            _expect(law, _after_order(terms, grid, row, order, after), fits)
            ordering = terms.fixed + terms.unit * order
            for s in range(fits.size):
                best[s] = min(best[s], ordering + fits[s])
            work += float(fits.size) * min(law.size, fits.size)
            order += terms.pack
        for s in range(size):
            best[s] += period_costs[s]
    return work


@kernel
def _after_order(terms: OrderTerms, grid: Grid, row: int, order: int, after: Floats) -> Floats:
    """Return the values of the next mornings, by what the period left, when an order is on its way."""
    if grid.rows == 1:
        return after[order if terms.lead_time == 1 else 0 :]
    return after[_next_row(grid, row, order // terms.pack) * grid.width + grid.first[row] :]


@kernel
def _order_today(
    terms: OrderTerms, grid: Grid, law: Floats, periods: ComingPeriods, after: Floats, stock: int, row: int
) -> tuple[int, float]:
    """Return the smallest of the best orders, and its expected cost."""
    if periods.is_open[0] == 0:
        return 0, after[_next_row(grid, row, 0) * grid.width + grid.first[row] + stock]
    period_costs = np.empty(grid.width)
    _fill_period_costs(terms, law, period_costs)
    tie = COST_TIE * (terms.fixed + terms.unit + terms.lost + terms.holding)
    best, cost, order = 0, np.inf, 0
    while order == 0 or (periods.may_order[0] != 0 and stock + grid.load[row] + order <= grid.limit):
        on_sale = stock + (order if terms.lead_time == 0 else 0)
        total = _expect_one(law, _after_order(terms, grid, row, order, after), on_sale)
        total += period_costs[on_sale] + terms.unit * order + (terms.fixed if order > 0 else 0.0)
        if total < cost - tie:
            best, cost = order, total
        order = order + terms.pack if order > 0 else smallest_order(terms)
    return best, cost


@kernel
def _expect_one(law: Floats, after: Floats, on_sale: int) -> float:
    """Return E after[(y - X)^+]."""
    total, beyond = 0.0, 1.0
    for x in range(min(law.size, on_sale + 1)):
        total += law[x] * after[on_sale - x]
        beyond -= law[x]
    return total + max(beyond, 0.0) * after[0]
