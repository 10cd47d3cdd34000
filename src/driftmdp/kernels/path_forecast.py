"""Sample paths of the demand to come, and what rules of ordering ask about it.

An order of morning h must last from its arrival, h + L, until that of the next possible order. What is asked most
is the demand between: its mean and standard deviation, and in each period the expected rest of a stock.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.normal_law import normal_quantile
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms

TABLE_SIZE = 256  # levels at which the expected rest of a period is tabulated
LONGEST_COVER = 100.0  # periods of demand in one order, however cheap it is to hold
N_SCENARIOS = 48  # paths that stocks are projected on
PATH_NOISE = 3.0  # standard errors of a mean over the paths
LEAST_DEVIATION = 0.3  # of demand, in units: that of no demand at all would leave nothing to tune


class PathForecast(NamedTuple):
    """Demand of the H coming periods as n paths, and what rules ask about it.

    =========  =============  ==================================================================================
    demand     (n, H)         of the paths, 0 in closed periods
    rests      (H, K + 1)     E (k step - X_h)^+
    per_step   float          levels of ``rests`` per unit
    means      (H,)           of demand
    sums       (H + 1,)       of the means before a period
    rate       float          mean demand per period
    decides    (H,)           whether an order of this morning is simulated: it arrives within the H periods
    cover      (H,)           when the next order arrives: this one must last until then
    need       (H,)           mean demand from this order's arrival until then
    deviation  (H,)           its standard deviation
    scenarios  (H + 1, K)     demand before a period on K of the paths
    last       int            the last morning whose order is simulated
    behind     float          mean demand between the last evening and the arrival of the next order
    =========  =============  ==================================================================================
    """

    demand: Ints
    rests: Floats
    per_step: float
    means: Floats
    sums: Floats
    rate: float
    decides: Longs
    cover: Longs
    need: Floats
    deviation: Floats
    scenarios: Longs
    last: int
    behind: float


@kernel
def new_forecast(terms: OrderTerms, paths: Ints, periods: ComingPeriods) -> PathForecast:
    """Return the paths with all that rules ask about them."""
    n, horizon = paths.shape[0], paths.shape[1]
    demand, means, sums = np.zeros((n, horizon), np.int32), np.zeros(horizon), np.zeros(horizon + 1)
    largest = _copy_open(paths, periods, demand, means)
    for h in range(horizon):
        sums[h + 1] = sums[h] + means[h]
    rate = sums[horizon] / horizon
    step = largest // TABLE_SIZE + 1
    rests = np.zeros((horizon, largest // step + 2))
    for h in range(horizon):
        _fill_rests(demand, h, step, rests)
    decides, cover = np.zeros(horizon, np.int64), np.zeros(horizon, np.int64)
    last, delay = _fill_cover(terms, periods, decides, cover)
    need, deviation = np.zeros(horizon), np.zeros(horizon)
    for h in range(horizon - terms.lead_time):
        need[h], deviation[h] = _need_of(demand, h + terms.lead_time, cover[h], rate)
    _smooth_needs(n, cover, need, deviation)
    scenarios = np.zeros((horizon + 1, min(N_SCENARIOS, n)), np.int64)
    for h in range(horizon):
        for k in range(scenarios.shape[1]):
            scenarios[h + 1, k] = scenarios[h, k] + demand[k, h]
    per_step, behind = 1.0 / step, delay * rate
    return PathForecast(
        demand, rests, per_step, means, sums, rate, decides, cover, need, deviation, scenarios, last, behind
    )


@kernel
def _copy_open(paths: Ints, periods: ComingPeriods, demand: Ints, means: Floats) -> int:
    """Copy the demand of open periods, and fill its means. Return the largest demand."""
    largest = 0
    for i in range(paths.shape[0]):
        for h in range(paths.shape[1]):
            if periods.is_open[h] != 0:
                demand[i, h] = paths[i, h]
                means[h] += paths[i, h]
                largest = max(largest, paths[i, h])
    for h in range(means.size):
        means[h] /= paths.shape[0]
    return largest


@kernel
def _fill_rests(demand: Ints, h: int, step: int, rests: Floats) -> None:
    """Fill ``rests[h, k]`` with the mean over the paths of (k step - X)^+."""
    n, size = demand.shape[0], rests.shape[1]
    counts, units = np.zeros(size), np.zeros(size)
    for i in range(n):
        k = demand[i, h] // step + 1  # the first level above it
        if k < size:
            counts[k] += 1.0
            units[k] += demand[i, h]
    below, total = 0.0, 0.0
    for k in range(size):
        below += counts[k]
        total += units[k]
        rests[h, k] = (below * k * step - total) / n


@kernel
def _fill_cover(terms: OrderTerms, periods: ComingPeriods, decides: Longs, cover: Longs) -> tuple[int, int]:
    """Find the mornings whose orders are simulated, and when the next order after each arrives.

    Return the last of these mornings, and how many periods after the last evening the next order arrives.
    """
    horizon, lead = decides.size, terms.lead_time
    following = horizon + _wait_behind(periods)
    last, next_arrival = 0, following + lead
    for h in range(horizon - 1, -1, -1):
        cover[h] = following + lead
        if periods.cycle == 0:
            cover[h] = min(cover[h], horizon)
        if periods.may_order[h] != 0 and periods.is_open[h] != 0 and _can_be_sold(terms, periods, h + lead):
            following = h
            if h + lead >= horizon:
                next_arrival = h + lead
            else:
                decides[h] = 1
                last = max(last, h)
    return last, next_arrival - horizon


@kernel
def _can_be_sold(terms: OrderTerms, periods: ComingPeriods, arrival: int) -> bool:
    """Return whether the shop is open before goods spoil that arrive in a period."""
    end = arrival + terms.shelf_life
    if terms.shelf_life == 0 or end > periods.is_open.size:
        return True
    n_open = 0
    for h in range(arrival, end):
        n_open += 1 if periods.is_open[h] != 0 else 0
    return n_open > 0


@kernel
def _wait_behind(periods: ComingPeriods) -> int:
    """Return how long after the last period the first order is, if the cycle goes on."""
    horizon = periods.is_open.size
    for j in range(periods.cycle):
        h = horizon - periods.cycle + j
        if periods.may_order[h] != 0 and periods.is_open[h] != 0:
            return j
    return max(periods.cycle, 1)


@kernel
def _need_of(demand: Ints, first: int, last: int, rate: float) -> tuple[float, float]:
    """Return mean and standard deviation of the demand of the periods first .. last - 1."""
    n, end = demand.shape[0], min(last, demand.shape[1])
    total, squares = 0.0, 0.0
    for i in range(n):
        units = 0.0
        for h in range(first, end):
            units += demand[i, h]
        total += units
        squares += units * units
    mean = total / n
    variance = max(squares / n - mean * mean, 0.0)
    if last > end:  # behind the paths: as in them on average
        mean += (last - end) * rate
        variance *= float(last - first) / max(end - first, 1)
    return mean, max(np.sqrt(variance), LEAST_DEVIATION)


@kernel
def _smooth_needs(n_paths: int, cover: Longs, need: Floats, deviation: Floats) -> None:
    """Make needs equal that differ by no more than the noise of the paths.

    Otherwise a rule might seem to order tomorrow what it does not order today, every day.
    """
    needs, deviations = need.copy(), deviation.copy()
    for h in range(need.size):
        mean, variance, count = 0.0, 0.0, 0.0
        for other in range(need.size):
            if deviations[other] > 0.0 and cover[other] - other == cover[h] - h:
                mean += needs[other]
                variance += deviations[other] * deviations[other]
                count += 1.0
        if count > 1.0 and abs(mean / count - needs[h]) < PATH_NOISE * deviations[h] / np.sqrt(float(n_paths)):
            need[h], deviation[h] = mean / count, np.sqrt(variance / count)


@kernel
def mean_until(forecast: PathForecast, time: float, ends: bool) -> float:
    """Return the mean demand before a time, which may lie within a period or behind the last."""
    horizon = forecast.means.size
    if time >= horizon:
        return forecast.sums[horizon] + (0.0 if ends else (time - horizon) * forecast.rate)
    whole = int(time)
    return forecast.sums[whole] + (time - whole) * forecast.means[whole]


@kernel
def expected_rest(forecast: PathForecast, h: int, on_sale: float) -> float:
    """Return E (m - X_h)^+, for m that need not be whole."""
    place = on_sale * forecast.per_step
    k = int(place)
    if k + 1 >= forecast.rests.shape[1]:
        return on_sale - forecast.means[h]
    low = forecast.rests[h, k]
    return low + (place - k) * (forecast.rests[h, k + 1] - low)


@kernel
def batch_of(terms: OrderTerms, rate: float) -> float:
    """Return the units of one order: the economic order quantity, if it is not too small or too large."""
    batch = max(rate, float(terms.pack), float(terms.minimum))
    if terms.fixed > 0.0:
        economic = LONGEST_COVER * rate
        if terms.holding > 0.0:
            economic = min(economic, np.sqrt(2.0 * terms.fixed * rate / terms.holding))
        if terms.shelf_life > 0:
            economic = min(economic, rate * terms.shelf_life)
        batch = max(batch, economic)
    return max(min(batch, float(terms.capacity)), 1.0)


@kernel
def textbook_safety(terms: OrderTerms, rate: float, batch: float) -> float:
    """Return the standard deviations of safety that make the chance of a stock-out per order the best."""
    gain = max(terms.lost - terms.unit, 0.0) * rate
    over = batch * terms.holding
    if terms.shelf_life > 0:  # what is left over may spoil
        over += batch * (terms.unit + terms.waste - terms.holding) / terms.shelf_life
    out = over / max(over + gain, 1e-300)
    return normal_quantile(1.0 - min(max(out, 1e-4), 0.99))
