"""Goods that spoil, sold oldest first: what an evening takes off the shelf, and what is left in time to be sold.

With a shelf life of n, a unit that is on the shelf for the first time in morning t can be sold in the periods t ..
t + n - 1, and spoils in the evening of t + n - 1. Then ``waste`` is charged, and no holding. Closed periods age
goods too. The *ages* of a shelf are the units by what is left of their life: ``ages[k]`` can be sold in k + 1 more
periods, this one included.

Sold oldest first, what spoils needs no list of ages. If the units whose last period is h or earlier are ``due`` so
far, and so many were ``gone`` before, sold or spoiled, then the evening of h takes (due - gone)^+ off the shelf.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Ints, Longs
from driftmdp.kernels.ordering_arrays import OrderTerms
from driftmdp.kernels.path_forecast import PathForecast, expected_rest

WEEK = 7  # periods after which demand comes round, also behind the last one of a path


@kernel
def start_expiry(terms: OrderTerms, ages: Longs, coming: Longs, expiring: Longs) -> None:
    """Fill ``expiring[h]`` with the units whose last period is h, of those on the shelf and on their way."""
    for h in range(expiring.size):
        expiring[h] = 0
    for k in range(ages.size):
        expiring[k] += ages[k]
    for j in range(coming.size):
        expiring[j + terms.shelf_life] += coming[j]


@kernel
def restart_expiry(terms: OrderTerms, ages: Longs, coming: Longs, expiring: Longs) -> None:
    """Do the same where only arrivals were added since: what was on the shelf before them is still there."""
    for h in range(terms.shelf_life - 1, expiring.size):
        expiring[h] = 0
    if ages.size == terms.shelf_life:
        expiring[ages.size - 1] = ages[ages.size - 1]
    for j in range(coming.size):
        expiring[j + terms.shelf_life] += coming[j]


@kernel
def next_ages(ages: Longs) -> Longs:
    """Return the next period, from each on, in which something of the shelf or of a new order may spoil."""
    found = np.zeros(ages.size, np.int64)
    following = ages.size - 1
    for k in range(ages.size - 1, -1, -1):
        if ages[k] > 0:
            following = k
        found[k] = following
    return found


@kernel
def sums_of_paths(demand: Ints) -> Longs:
    """Return the demand before each period on each path, by (path, period)."""
    sums = np.zeros((demand.shape[0], demand.shape[1] + 1), np.int64)
    for i in range(demand.shape[0]):
        for h in range(demand.shape[1]):
            sums[i, h + 1] = sums[i, h] + demand[i, h]
    return sums


@kernel
def _demand_before(sums: Longs, h: int) -> int:
    """Return the demand before a period of a path. Behind its end it goes on as at its beginning, by weekday."""
    horizon = sums.size - 1
    if h <= horizon:
        return sums[h]
    first = horizon % WEEK if horizon > WEEK else 0
    place = first + h - horizon
    if place < horizon:
        return sums[horizon] + sums[place] - sums[first]
    return sums[horizon] + place // horizon * sums[horizon] + sums[place % horizon] - sums[first]


@kernel
def spoiled_behind(
    sums: Longs, start: int, expiring: Longs, following: Longs, due: int, gone: int, stock: int
) -> int:
    """Return how many units of a stock, left before period ``start``, will spoil.

    Later orders do not change it, as the oldest are sold first. ``sums`` is the path's of `sums_of_paths`, and
    ``following`` those of `next_ages`: periods in which nothing is due are passed at once.
    """
    spoiled, there, h = 0, gone + stock, start
    before = _demand_before(sums, h)
    while h < expiring.size and gone < there and due < there:
        if h < following.size:
            h = following[h]
        due = min(due + expiring[h], there)
        after = _demand_before(sums, h + 1)
        gone, before = gone + after - before, after
        if due > gone:
            spoiled += due - gone
            gone = due
        h += 1
    return spoiled


@kernel
def most_due(terms: OrderTerms, forecast: PathForecast, h: int, expiring: Longs, owed: int) -> int:
    """Return the most units that can spoil within the projection of `project_ages`."""
    for j in range(h, max(h + terms.lead_time, min(forecast.cover[h], forecast.means.size) - 1)):
        owed += expiring[j]
    return max(owed, 0)


@kernel
def project_ages(
    terms: OrderTerms, forecast: PathForecast, h: int, stock: int, arrivals: Longs, expiring: Longs, owed: int
) -> float:
    """Return the projected inventory level of an order of morning h, less what spoils before the next one arrives.

    The estimated withdrawal and aging of [BD09], with the chances of demand instead of its mean: of d units whose
    last period is j, E (d - X_j)^+ spoil. ``owed`` is due - gone this morning, at most 0.
    """
    arrival, last = h + terms.lead_time, min(forecast.cover[h], forecast.means.size)
    level, oldest, spoiled_later = float(stock), float(owed), 0.0
    for j in range(h, max(arrival, last - 1)):
        oldest += expiring[j]
        if j < arrival:
            rest = expected_rest(forecast, j, level)
            spoiled = min(expected_rest(forecast, j, oldest), rest) if oldest > 0.0 else 0.0
            oldest -= level - rest + spoiled
            level = rest - spoiled
            if j + 1 < arrival:
                level += arrivals[j + 1]
        else:  # today's order is there too, and demand takes the old goods first
            spoiled = 0.0
            if oldest > 0.0:
                spoiled = min(expected_rest(forecast, j, oldest), expected_rest(forecast, j, level))
            oldest -= forecast.means[j] + spoiled
            spoiled_later += spoiled
    return level - spoiled_later
