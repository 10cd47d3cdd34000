"""How much to order of goods that spoil, when demand's laws are known and the states are few: dynamic programming.

The state of a morning is the units by their last period, z_1 .. z_d with d = n + L - 1: z_k spoils k - 1 evenings
from tonight. The first n are on the shelf, the others on their way, and an order a becomes z_{d+1}. Demand takes
the oldest first, what is left of z_1 spoils, and the rest moves down by one. So all lead times are one case. A
state's place in the table of values is the number with the digits z_1 .. z_d, in base B = most units + 1.

Periods, cycle and certificate are those of exact_orders.py.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.exact_orders import COST_TIE, MAX_SWEEPS, MAX_WORK, PRECISION, STEP, count_open
from driftmdp.kernels.order_states import smallest_order, support_of, top_level
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms

MOST_PLACES = 2e5  # of the table
MOST_STEP_WORK = 1.5e5  # products in a step back: beyond it a plan takes longer than one on paths


class AgeGrid(NamedTuple):
    """The states with up to ``top`` units, see above.

    ========  =======  ==================================================
    top       int      most units, on the shelf and on their way
    size      int      of the table of values
    places    (d,)     what a unit of z_k adds to a state's place
    states    (M,)     places of the M states
    units     (M, d)   z_1 .. z_d
    ========  =======  ==================================================
    """

    top: int
    size: int
    places: Longs
    states: Longs
    units: Longs


@kernel
def plan_ages_exactly(
    terms: OrderTerms, ages: Longs, coming: Longs, laws: Floats, periods: ComingPeriods
) -> tuple[int, float, float]:
    """Return the best order today, its expected cost per open period, and the certificate of that.

    ``ages[k]`` can be sold in k + 1 more periods, k < n. Arguments otherwise as of `plan_exactly`.
    """
    grid = new_age_grid(terms, most_units(terms, ages, coming, laws, periods))
    values = np.zeros(grid.size)
    shelf = np.zeros(grid.places.size + 1, np.int64)
    for k in range(ages.size):
        shelf[k] = ages[k]
    for j in range(coming.size):
        shelf[ages.size + j] = coming[j]
    gain, residual = 0.0, 0.0
    if periods.cycle > 0:
        gain, residual = settle_ages(terms, grid, laws, periods, values)
    for h in range(laws.shape[0] - 1, 0, -1):
        step_back_with_ages(terms, grid, laws[h], periods.is_open[h] != 0, periods.may_order[h] != 0, values)
    order, cost = best_order_with_ages(
        terms, grid, laws[0], periods.is_open[0] != 0, periods.may_order[0] != 0, shelf, values
    )
    if periods.cycle == 0:
        gain = cost / max(count_open(periods, 0), 1)
    return order, gain, residual


@kernel
def most_units(terms: OrderTerms, ages: Longs, coming: Longs, laws: Floats, periods: ComingPeriods) -> int:
    """Return a level that no good order exceeds. What will spoil at the mean demand is no part of it."""
    nothing = np.zeros(0, np.int64)
    level, position, due, gone, spoiled = top_level(terms, 0, nothing, laws, periods), 0, 0.0, 0.0, 0.0
    for k in range(ages.size + coming.size):
        units = ages[k] if k < ages.size else coming[k - ages.size]
        position += units
        due += units
        if k < laws.shape[0] and periods.is_open[k] != 0:
            for x in range(laws.shape[1]):
                gone += x * laws[k, x]
        if due > gone:
            spoiled, gone = spoiled + due - gone, due
    return max(min(level + int(spoiled), terms.capacity), position)


@kernel
def is_small_with_ages(terms: OrderTerms, ages: Longs, coming: Longs, laws: Floats, periods: ComingPeriods) -> bool:
    """Return whether an exact plan is quick enough."""
    top, depth = float(most_units(terms, ages, coming, laws, periods)), terms.shelf_life + terms.lead_time - 1
    support = 0
    for h in range(laws.shape[0]):
        support = max(support, support_of(laws[h]))
    size, work = 1.0, min(top + 1.0, float(support)) * (top / terms.pack + depth + 1.0) / (depth + 1.0)
    for k in range(depth):  # states and orders whose sum fits are a simplex, but the table is a cube
        size *= top + 1.0
        work *= (top + k + 1.0) / (k + 1.0)
    return size <= MOST_PLACES and work <= MOST_STEP_WORK


@kernel
def new_age_grid(terms: OrderTerms, top: int) -> AgeGrid:
    """Return all states with up to ``top`` units."""
    depth, base = terms.shelf_life + terms.lead_time - 1, top + 1
    places, count = np.zeros(depth, np.int64), 1
    for k in range(depth - 1, -1, -1):
        places[k] = count
        count *= base
    size, load = 0, np.zeros(count, np.int64)
    for place in range(count):
        load[place] = place % base + (load[place // base] if place > 0 else 0)
        size += 1 if load[place] <= top else 0
    states, units, m = np.zeros(size, np.int64), np.zeros((size, depth), np.int64), 0
    for place in range(count):
        if load[place] <= top:
            states[m] = place
            for k in range(depth):
                units[m, k] = place // places[k] % base
            m += 1
    return AgeGrid(top, count, places, states, units)


@kernel
def settle_ages(
    terms: OrderTerms, grid: AgeGrid, laws: Floats, periods: ComingPeriods, values: Floats
) -> tuple[float, float]:
    """Fill the values behind the last period. Return the average cost per open period and its certificate."""
    horizon, first = laws.shape[0], laws.shape[0] - periods.cycle
    n_open = float(max(count_open(periods, first), 1))
    scale = terms.fixed + terms.unit + terms.lost + terms.holding + terms.waste
    before = np.zeros(values.size)
    gain, residual, work = 0.0, 0.0, 0.0
    for _ in range(MAX_SWEEPS):
        for m in range(grid.states.size):
            before[grid.states[m]] = values[grid.states[m]]
        for h in range(horizon - 1, first - 1, -1):
            work += step_back_with_ages(
                terms, grid, laws[h], periods.is_open[h] != 0, periods.may_order[h] != 0, values
            )
        low, high = np.inf, -np.inf
        for m in range(grid.states.size):
            grown = values[grid.states[m]] - before[grid.states[m]]
            low, high = min(low, grown), max(high, grown)
        gain, residual = 0.5 * (low + high) / n_open, (high - low) / n_open
        if residual <= PRECISION * gain + COST_TIE * scale or work > MAX_WORK:
            break
        base = values[0]
        for m in range(grid.states.size):
            i = grid.states[m]
            values[i] = before[i] + STEP * (values[i] - base - before[i])
    return gain, residual


@kernel
def step_back_with_ages(
    terms: OrderTerms, grid: AgeGrid, law: Floats, is_open: bool, may_order: bool, values: Floats
) -> float:
    """Replace the values of the mornings after a period by those of its morning. Return the products it took."""
    after, depth = values.copy(), grid.places.size
    shelf, work = np.zeros(depth + 1, np.int64), 0.0
    support = law[: support_of(law)]
    for m in range(grid.states.size):
        for k in range(depth):
            shelf[k] = grid.units[m, k]
        shelf[depth] = 0
        _, values[grid.states[m]] = best_order_with_ages(terms, grid, support, is_open, may_order, shelf, after)
        work += float(support.size) * (grid.top + 1) / (terms.pack * (depth + 1))
    return work


@kernel
def best_order_with_ages(
    terms: OrderTerms, grid: AgeGrid, law: Floats, is_open: bool, may_order: bool, shelf: Longs, after: Floats
) -> tuple[int, float]:
    """Return the smallest of the best orders with z_1 .. z_{d+1} = ``shelf`` there, and the expected cost."""
    if not is_open:
        return 0, terms.waste * shelf[0] + after[_place_after(grid, shelf, 1)]
    tie = COST_TIE * (terms.fixed + terms.unit + terms.lost + terms.holding + terms.waste)
    load, last = 0, shelf.size - 1
    for k in range(shelf.size):
        load += shelf[k]
    there = shelf[last]
    best, cost, order = 0, _cost_of_period(terms, grid, law, shelf, after), smallest_order(terms)
    while may_order and load + order <= min(grid.top, terms.capacity):
        shelf[last] = there + order
        total = terms.fixed + terms.unit * order + _cost_of_period(terms, grid, law, shelf, after)
        if total < cost - tie:
            best, cost = order, total
        order += terms.pack
    shelf[last] = there
    return best, cost


@kernel
def _place_after(grid: AgeGrid, shelf: Longs, first: int) -> int:
    """Return the place of the next morning, if all that spoils before ``first`` is gone."""
    place = 0
    for k in range(first, shelf.size):
        place += shelf[k] * grid.places[k - 1]
    return place


@kernel
def _cost_of_period(terms: OrderTerms, grid: AgeGrid, law: Floats, shelf: Longs, after: Floats) -> float:
    """Return what an open period is expected to cost, and the mornings after it."""
    on_sale = 0
    for k in range(terms.shelf_life):
        on_sale += shelf[k]
    place, kept = _place_after(grid, shelf, 1), on_sale - shelf[0]
    total, beyond, missing, k, eaten = 0.0, 1.0, 0.0, 0, 0  # z_{k+1} is being sold, so far ``eaten`` of it
    for x in range(law.size):
        if x >= on_sale:
            missing += law[x] * (x - on_sale)
            continue
        spoiled = max(shelf[0] - x, 0)
        left = min(on_sale - x, kept)
        total += law[x] * (terms.waste * spoiled + terms.holding * left + after[place])
        beyond -= law[x]
        while eaten == shelf[k]:
            k, eaten = k + 1, 0
        eaten += 1
        place -= grid.places[k - 1] if k > 0 else 0
    sold_out = _place_after(grid, shelf, terms.shelf_life)
    return total + terms.lost * missing + max(beyond, 0.0) * after[sold_out]
