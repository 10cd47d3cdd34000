"""Goods that spoil, but not before they are sold: those of which a plan can forget the shelf life.

Canned goods keep for a year and are sold in a month. They are planned as goods that never spoil if the last unit
of the largest sensible order, of what is on the shelf, and of what is on its way, is sold in time but for a chance
of SPOIL_CHANCE, less where waste is dear. A plan that orders more than that is made again with the shelf life.

The sum of n periods of an expert's demand is negative binomial too, of mean n m and shape n r. Of M and R, it is x
or less with a chance of at most (M / x)^x ((R + x) / (R + M))^(R + x), x < M: the bound of Chernoff.
"""

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.demand_arrays import DISPERSIONS, DemandBeliefs, Shared
from driftmdp.kernels.demand_experts import fill_levels, weights_of
from driftmdp.kernels.late_orders import delay_moments
from driftmdp.kernels.ordering_arrays import OrderTask, OrderTerms
from driftmdp.kernels.path_forecast import batch_of

SPOIL_CHANCE = 1e-3  # of the last unit that would spoil, below which it makes no difference
MOST_SAFETY = 6.0  # standard deviations of the largest sensible stock
MOST_BATCHES = 2.0  # economic orders on top of it


class LongDemand(NamedTuple):
    """What is believed of an item's demand in the long run.

    =========  =========  ======================================================================
    levels     (K,)       of the experts
    weights    (K, D)     by level and dispersion
    before     (H + 1,)   sum of the factors before a period. Behind them it goes on as on average
    is_open    float      share of the periods that are open
    =========  =========  ======================================================================
    """

    levels: Floats
    weights: Floats
    before: Floats
    is_open: float


@kernel
def most_in_time(
    beliefs: DemandBeliefs, shared: Shared, task: OrderTask, n: int, terms: OrderTerms, coming: Longs, hope: float
) -> float:
    """Return the units up to which an item is sold in time for certain, or 0: see lasting_goods.py."""
    if terms.shelf_life == 0 or task.horizons[n, 1] == 0:
        return 0.0
    i, kind = task.items[n], task.kinds[n]
    levels = np.zeros(beliefs.units.shape[1])
    fill_levels(beliefs, i, kind, task.priors[n], levels)
    factors = np.zeros(task.horizons[n, 1])
    for h in range(factors.size):
        factors[h] = hope * task.factors[n, h]
    demand = new_long_demand(levels, weights_of(beliefs, shared, i, kind), factors)
    most = most_sensible(terms, demand, longest_window(task, n))
    return most if are_sold_in_time(terms, demand, task.ages[n][: terms.shelf_life], coming, most) else 0.0


@kernel
def position_of(task: OrderTask, n: int, coming: Longs) -> int:
    """Return what is on the shelf and on its way."""
    position = task.stock[n]
    for j in range(coming.size):
        position += coming[j]
    return position


@kernel
def new_long_demand(levels: Floats, weights: Floats, factors: Floats) -> LongDemand:
    """Return the demand of periods with these factors, 0 where closed."""
    before, n_open = np.zeros(factors.size + 1), 0
    for h in range(factors.size):
        before[h + 1] = before[h] + factors[h]
        n_open += 1 if factors[h] > 0.0 else 0
    return LongDemand(levels, weights, before, float(n_open) / factors.size)


@kernel
def without_life(terms: OrderTerms) -> OrderTerms:
    """Return the terms of the same goods if they never spoiled."""
    costs, sizes = (terms.fixed, terms.unit, terms.lost, terms.holding), (terms.capacity, terms.pack, terms.minimum)
    return OrderTerms(
        costs[0], costs[1], costs[2], costs[3], sizes[0], sizes[1], sizes[2], terms.lead_time, 0, terms.waste
    )


@kernel
def most_sensible(terms: OrderTerms, demand: LongDemand, window: float) -> float:
    """Return the most units, on the shelf and on their way, that an order leads to if goods never spoil.

    ``window``: periods from an order until the next one has arrived.
    """
    horizon, mean, squares, own = demand.before.size - 1, 0.0, 0.0, 0.0
    factor = demand.before[horizon] / horizon
    for k in range(demand.levels.size):
        level = demand.levels[k] * factor
        for d in range(DISPERSIONS.size):
            weight = demand.weights[k, d]
            mean += weight * level
            squares += weight * level * level
            own += weight * (level + DISPERSIONS[d] * level * level / max(demand.is_open, 1e-3))
    variance = window * own + window * window * max(squares - mean * mean, 0.0)
    batch = max(batch_of(without_life(terms), mean), float(terms.minimum))
    most = window * mean + MOST_SAFETY * sqrt(variance) + MOST_BATCHES * batch + terms.pack
    return min(most, float(terms.capacity))


@kernel
def longest_window(task: OrderTask, n: int) -> float:
    """Return the most periods from an item's order until the next one has arrived, late ones included."""
    horizon, last, longest = task.horizons[n, 1], 0, 1
    for h in range(1, horizon):
        if task.may_order[n, h] != 0 and task.is_open[n, h] != 0:
            longest, last = max(longest, h - last), h
    mean, variance = delay_moments(task.hazards[n], task.sizes[n, 3])
    return task.sizes[n, 3] + (longest if last > 0 else horizon) + max(mean + MOST_SAFETY * sqrt(variance), 0.0)


@kernel
def are_sold_in_time(terms: OrderTerms, demand: LongDemand, ages: Longs, coming: Longs, most: float) -> bool:
    """Return whether as good as nothing spoils as long as no order leads to more than ``most`` units."""
    life, horizon = terms.shelf_life, demand.before.size - 1
    allowed = SPOIL_CHANCE * terms.lost / max(terms.lost + terms.waste, 1e-300)
    least = _factor_of(demand, terms.lead_time, life)
    for h in range(terms.lead_time + 1, horizon - life + 1):
        least = min(least, _factor_of(demand, h, life))
    if _chance_of_less(demand, least, life, most) > allowed:
        return False
    due = 0
    for k in range(ages.size):
        due += ages[k]
        if ages[k] > 0 and _chance_of_less(demand, _factor_of(demand, 0, k + 1), k + 1, float(due)) > allowed:
            return False
    for j in range(coming.size):
        due += coming[j]
        if coming[j] > 0 and _chance_of_less(demand, _factor_of(demand, j + 1, life), life, float(due)) > allowed:
            return False
    return True


@kernel
def _factor_of(demand: LongDemand, first: int, n: int) -> float:
    """Return the sum of the factors of n periods."""
    horizon = demand.before.size - 1
    start, stop = min(first, horizon), min(first + n, horizon)
    behind = n - (stop - start)
    return demand.before[stop] - demand.before[start] + behind * demand.before[horizon] / horizon


@kernel
def _chance_of_less(demand: LongDemand, factor: float, n: int, units: float) -> float:
    """Return a bound of the chance that n periods, whose factors have this sum, sell fewer than so many units."""
    x, n_open, chance = units - 1.0, max(n * demand.is_open, 1e-3), 0.0
    if x < 0.0:
        return 0.0
    for k in range(demand.levels.size):
        mean = demand.levels[k] * factor
        for d in range(DISPERSIONS.size):
            weight, shape = demand.weights[k, d], n_open / DISPERSIONS[d]
            if x >= mean:
                chance += weight
                continue
            rate = (shape + x) * log((shape + mean) / (shape + x))
            if x > 0.0:
                rate -= x * log(mean / x)
            chance += weight * exp(-max(rate, 0.0))
    return chance
