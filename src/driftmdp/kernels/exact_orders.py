"""How much to order when demand's laws are known and the states are few: by dynamic programming.

Values are costs to come. The H given periods are planned backwards. Behind them the last ``cycle`` periods repeat
for ever: relative value iteration on a whole cycle, which the values of the cheapest average cost g* solve. After
each sweep, min (TV - V) <= g* <= max (TV - V), whatever V is, [P94] Theorem 8.5.5, and the difference is the
certificate. Steps are damped, because orders may come round in a fixed rhythm, and sweeps alone would never settle.

Without a lead time a step costs one convolution: the cheapest order is a running minimum over levels a pack apart.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.order_states import (
    StateGrid,
    new_grid,
    next_row,
    row_of,
    smallest_order,
    support_of,
    top_level,
)
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms

COST_TIE = 1e-9  # of the costs' sum: orders whose costs differ less are equally good, and the smallest is taken
PRECISION = 3e-4  # of the average cost, at which sweeps end
STEP = 0.85  # of a damped sweep
MAX_SWEEPS = 2000
MAX_WORK = 3e8  # products in the sweeps of one plan


@kernel
def plan_exactly(
    terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods
) -> tuple[int, float, float]:
    """Return the best order today, its expected cost per open period, and the certificate of that.

    ``coming[j]`` arrives j + 1 periods from now, j < L - 1: multiples of the pack. ``laws[h, x]`` is the chance
    of a demand of x in period h, and in the last column of that or more. The cost is that of the periods behind
    (the average cost of the best policy, within the certificate), or of the H periods where nothing follows.
    """
    grid, row, values, gain, residual = look_ahead(terms, stock, coming, laws, periods)
    order, cost = _order_today(terms, grid, laws[0], periods, values, stock, row)
    if periods.cycle == 0:
        gain = cost / max(count_open(periods, 0), 1)
    return order, gain, residual


@kernel
def look_ahead(
    terms: OrderTerms, stock: int, coming: Longs, laws: Floats, periods: ComingPeriods
) -> tuple[StateGrid, int, Floats, float, float]:
    """Return the states, today's row, the values of tomorrow's mornings, and the average cost with certificate."""
    grid = new_grid(terms, top_level(terms, stock, coming, laws, periods))
    row = row_of(grid, coming, terms.pack)
    values = np.zeros(grid.rows * grid.width)
    gain, residual = 0.0, 0.0
    if periods.cycle > 0:
        gain, residual = _settle(terms, grid, laws, periods, row * grid.width + stock, values)
    for h in range(laws.shape[0] - 1, 0, -1):
        _step_back(terms, grid, laws[h], periods.is_open[h] != 0, periods.may_order[h] != 0, values)
    return grid, row, values, gain, residual


@kernel
def count_open(periods: ComingPeriods, first: int) -> int:
    """Return how many periods are open, from one on."""
    count = 0
    for h in range(first, periods.is_open.size):
        if periods.is_open[h] != 0:
            count += 1
    return count


@kernel
def _settle(
    terms: OrderTerms, grid: StateGrid, laws: Floats, periods: ComingPeriods, state: int, values: Floats
) -> tuple[float, float]:
    """Fill the values behind the last period. Return the average cost per open period and its certificate.

    Of all costs within the certificate, that which a state sees: without demand each stock has its own.
    """
    horizon, first = laws.shape[0], laws.shape[0] - periods.cycle
    n_open = float(max(count_open(periods, first), 1))
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
def _growth(grid: StateGrid, before: Floats, after: Floats) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for row in range(grid.rows):
        start = row * grid.width
        for i in range(start, start + grid.top - grid.load[row] + 1):
            low = min(low, after[i] - before[i])
            high = max(high, after[i] - before[i])
    return low, high


@kernel
def _step_back(
    terms: OrderTerms, grid: StateGrid, law: Floats, is_open: bool, may_order: bool, values: Floats
) -> float:
    """Replace the values of the mornings after a period by those of its morning. Return the products it took."""
    after = values.copy()
    if not is_open:
        _shift_closed(grid, after, values)
        return float(values.size)
    support = support_of(law)
    period_costs = np.empty(grid.width)
    fill_period_costs(terms, law, period_costs)
    if terms.lead_time == 0:
        return _step_at_once(terms, grid, law[:support], may_order, period_costs, after, values)
    return _step_ahead(terms, grid, law[:support], may_order, period_costs, after, values)


@kernel
def _shift_closed(grid: StateGrid, after: Floats, values: Floats) -> None:
    for row in range(grid.rows):
        if grid.load[row] <= grid.top:
            start, following = row * grid.width, next_row(grid, row, 0) * grid.width + grid.first[row]
            for s in range(grid.top - grid.load[row] + 1):
                values[start + s] = after[following + s]


@kernel
def fill_period_costs(terms: OrderTerms, law: Floats, costs: Floats) -> None:
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
    grid: StateGrid,
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
def _step_ahead(
    terms: OrderTerms,
    grid: StateGrid,
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
def _after_order(terms: OrderTerms, grid: StateGrid, row: int, order: int, after: Floats) -> Floats:
    """Return the values of the next mornings, by what the period left, when an order is on its way."""
    if grid.rows == 1:
        return after[order if terms.lead_time == 1 else 0 :]
    return after[next_row(grid, row, order // terms.pack) * grid.width + grid.first[row] :]


@kernel
def _order_today(
    terms: OrderTerms, grid: StateGrid, law: Floats, periods: ComingPeriods, after: Floats, stock: int, row: int
) -> tuple[int, float]:
    """Return the smallest of the best orders, and its expected cost."""
    if periods.is_open[0] == 0:
        return 0, after[next_row(grid, row, 0) * grid.width + grid.first[row] + stock]
    period_costs = np.empty(grid.width)
    fill_period_costs(terms, law, period_costs)
    tie = COST_TIE * (terms.fixed + terms.unit + terms.lost + terms.holding)
    best, cost, order = 0, np.inf, 0
    while order == 0 or (periods.may_order[0] != 0 and stock + grid.load[row] + order <= grid.limit):
        total = cost_of_order(terms, grid, law, period_costs, after, stock, row, order)
        total += terms.fixed if order > 0 else 0.0
        if total < cost - tie:
            best, cost = order, total
        order = order + terms.pack if order > 0 else smallest_order(terms)
    return best, cost


@kernel
def cost_of_order(
    terms: OrderTerms,
    grid: StateGrid,
    law: Floats,
    period_costs: Floats,
    after: Floats,
    stock: int,
    row: int,
    order: int,
) -> float:
    """Return the expected cost of an order today and of all that follows, without today's fixed cost."""
    on_sale = stock + (order if terms.lead_time == 0 else 0)
    total = _expect_one(law, _after_order(terms, grid, row, order, after), on_sale)
    return total + period_costs[on_sale] + terms.unit * order


@kernel
def _expect_one(law: Floats, after: Floats, on_sale: int) -> float:
    """Return E after[(y - X)^+]."""
    total, beyond = 0.0, 1.0
    for x in range(min(law.size, on_sale + 1)):
        total += law[x] * after[on_sale - x]
        beyond -= law[x]
    return total + max(beyond, 0.0) * after[0]
