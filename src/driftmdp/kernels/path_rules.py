"""Rules of ordering for lost sales with a lead time, and what they cost on sample paths of demand.

A rule knows, for each morning h of the H to come, a level r_h below which it orders, a level U_h up to which it orders,
and the most that it orders at once. What it compares with them is

- the *projected inventory level*, [vJA24]: the stock that is expected when an order of this morning arrives, before
  it is added. Expected stocks are passed on from period to period, m <- E (m - X)^+ + what arrives. That is a little
  less than the expectation over whole paths, by Jensen's inequality, but costs L lookups. The levels are tuned with it.
- or the *inventory position*, stock and all that is on its way. With most = U it is a base stock rule, with less a
  *capped base stock* rule, [X21].

r_h is the mean demand between the arrival of this order and that of the next, and a safety of z standard deviations.
U_h adds the mean demand of another T periods, for a fixed cost. So both follow seasons, weekdays and order days.

Only orders that arrive within the H periods are simulated, those of h < H - L: later ones change nothing before the
end. What the last evening leaves on the shelf is worth nothing if nothing follows. Otherwise it is worth the units'
price, and where an order would not be due, what a stock that falls by mu per period saves: with x above r and
orders of Q, x^2 h / (2 mu) - x (f / Q + Q h / (2 mu)) in costs, as of the economic order quantity.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.exact_orders import smallest_order
from driftmdp.kernels.ordering_arrays import CAPPED, NO_LIMIT, PROJECTED, ComingPeriods, OrderTerms

TABLE_SIZE = 256  # levels at which the expected rest of a period is tabulated
LONGEST_COVER = 100.0  # periods of demand in one order, however cheap it is to hold
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
    decides    (H,)           whether an order of this morning is simulated
    cover      (H,)           when the next order arrives: this one must last until then
    need       (H,)           mean demand from this order's arrival until then
    deviation  (H,)           its standard deviation
    rate       float          mean demand per period
    holding    (H,)           cost of a unit that is left in the evening, 0 in closed periods
    batch      float          Q: the economic order quantity, or what must be ordered at once
    safety     float          z by the textbook: to be out of stock in Q h / (Q h + mu l) of the rounds of orders
    last_reorder  float       r with this z, behind the last period
    =========  =============  ==================================================================================
    """

    demand: Ints
    rests: Floats
    per_step: float
    means: Floats
    sums: Floats
    decides: Longs
    cover: Longs
    need: Floats
    deviation: Floats
    rate: float
    holding: Floats
    batch: float
    safety: float
    last_reorder: float


class Rule(NamedTuple):
    """A rule's kind (PROJECTED, CAPPED) and parameters: z, T, and the most as a multiple of the need (0: no cap)."""

    kind: int
    safety: float
    extra: float
    cap: float


class RuleLevels(NamedTuple):
    """A rule on given periods, (H,) each: r, U and the most of an order."""

    reorder: Floats
    up_to: Floats
    most: Floats


class Trial(NamedTuple):
    """What rules are tried on: an item this morning, the forecast, and buffers.

    ===============  =======  ==========================================================================
    stock, coming             of this morning. ``coming[j]`` arrives j + 1 periods from now
    ends             bool     whether nothing counts behind the last period
    levels                    of the rule that is tried
    arrivals         (H,)     what arrives on a path
    ===============  =======  ==========================================================================
    """

    terms: OrderTerms
    forecast: PathForecast
    stock: int
    coming: Longs
    ends: bool
    levels: RuleLevels
    arrivals: Longs


@kernel
def new_trial(terms: OrderTerms, stock: int, coming: Longs, paths: Ints, periods: ComingPeriods) -> Trial:
    """Return what rules are tried on."""
    horizon = paths.shape[1]
    levels = RuleLevels(np.zeros(horizon), np.zeros(horizon), np.zeros(horizon))
    forecast = new_forecast(terms, paths, periods)
    return Trial(terms, forecast, stock, coming, periods.cycle == 0, levels, np.zeros(horizon, np.int64))


@kernel
def new_forecast(terms: OrderTerms, paths: Ints, periods: ComingPeriods) -> PathForecast:
    """Return the paths with all that rules ask about them."""
    n, horizon = paths.shape[0], paths.shape[1]
    demand = np.zeros((n, horizon), np.int32)
    means, sums = np.zeros(horizon), np.zeros(horizon + 1)
    largest = 0
    for i in range(n):
        for h in range(horizon):
            if periods.is_open[h] != 0:
                demand[i, h] = paths[i, h]
                means[h] += paths[i, h]
                largest = max(largest, paths[i, h])
    for h in range(horizon):
        means[h] /= n
        sums[h + 1] = sums[h] + means[h]
    step = largest // TABLE_SIZE + 1
    rests = np.zeros((horizon, largest // step + 2))
    for h in range(horizon):
        _fill_rests(demand, h, step, rests)
    decides, cover = np.zeros(horizon, np.int64), np.zeros(horizon, np.int64)
    _fill_cover(terms, periods, decides, cover)
    need, deviation = np.zeros(horizon), np.zeros(horizon)
    rate = sums[horizon] / horizon
    for h in range(horizon - terms.lead_time):
        need[h], deviation[h] = _need_of(demand, h + terms.lead_time, cover[h], rate)
    _smooth_needs(n, cover, need, deviation)
    holding = np.zeros(horizon)
    for h in range(horizon):
        holding[h] = terms.holding if periods.is_open[h] != 0 else 0.0
    batch = batch_of(terms, rate)
    safety = textbook_safety(terms, rate, batch)
    reorder = _reorder_behind(terms, periods, need, deviation, safety, rate)
    return PathForecast(
        demand,
        rests,
        1.0 / step,
        means,
        sums,
        decides,
        cover,
        need,
        deviation,
        rate,
        holding,
        batch,
        safety,
        reorder,
    )


@kernel
def _reorder_behind(
    terms: OrderTerms, periods: ComingPeriods, need: Floats, deviation: Floats, safety: float, rate: float
) -> float:
    """Return the stock of the last evening below which the next order to arrive would be placed."""
    horizon, first = need.size, max(need.size - terms.lead_time, 0)
    h = max(first - 1, 0)
    while h > 0 and (periods.may_order[h] == 0 or periods.is_open[h] == 0):
        h -= 1
    # That order arrives ``delay`` periods behind the last evening.
    delay, following = 0, first
    while following < horizon and (periods.may_order[following] == 0 or periods.is_open[following] == 0):
        delay, following = delay + 1, following + 1
    if following == horizon:
        delay += _wait_behind(periods)
    return max(need[h] + safety * deviation[h], 0.0) + delay * rate


@kernel
def batch_of(terms: OrderTerms, rate: float) -> float:
    """Return the units of one order: the economic order quantity, if it is not too small or too large."""
    batch = max(rate, float(terms.pack), float(terms.minimum))
    if terms.fixed > 0.0:
        economic = LONGEST_COVER * rate
        if terms.holding > 0.0:
            economic = min(economic, np.sqrt(2.0 * terms.fixed * rate / terms.holding))
        batch = max(batch, economic)
    return max(min(batch, float(terms.capacity)), 1.0)


@kernel
def textbook_safety(terms: OrderTerms, rate: float, batch: float) -> float:
    """Return the standard deviations of safety that make the chance of a stock-out per order the best."""
    gain = max(terms.lost - terms.unit, 0.0) * rate
    out = batch * terms.holding / max(batch * terms.holding + gain, 1e-300)
    return normal_quantile(1.0 - min(max(out, 1e-4), 0.99))


@kernel
def normal_quantile(chance: float) -> float:
    """Return the normal quantile to two digits, [AS64] 26.2.22."""
    tail = min(chance, 1.0 - chance)
    t = np.sqrt(-2.0 * np.log(tail))
    z = t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t)
    return z if chance > 0.5 else -z


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
def _fill_cover(terms: OrderTerms, periods: ComingPeriods, decides: Longs, cover: Longs) -> None:
    """Find the mornings whose orders are simulated, and when the next order after each arrives."""
    horizon, lead = decides.size, terms.lead_time
    following = horizon + _wait_behind(periods)
    for h in range(horizon - 1, -1, -1):
        cover[h] = following + lead
        if periods.cycle == 0:
            cover[h] = min(cover[h], horizon)
        if periods.may_order[h] != 0 and periods.is_open[h] != 0:
            following = h
            if h + lead < horizon:
                decides[h] = 1


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
def fill_levels(trial: Trial, rule: Rule) -> None:
    """Fill the levels of a rule for the coming mornings."""
    forecast, levels, ends, lead = trial.forecast, trial.levels, trial.ends, trial.terms.lead_time
    for h in range(forecast.means.size - lead):
        after = float(forecast.cover[h])
        extra = mean_until(forecast, after + rule.extra, ends) - mean_until(forecast, after, ends)
        reorder = forecast.need[h] + rule.safety * forecast.deviation[h]
        if rule.kind == CAPPED:
            reorder += mean_until(forecast, float(h + lead), ends) - mean_until(forecast, float(h), ends)
        levels.reorder[h], levels.up_to[h] = reorder, reorder + extra
        levels.most[h] = rule.cap * forecast.need[h] + extra if rule.cap > 0.0 else float(NO_LIMIT)


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
def project(forecast: PathForecast, lead_time: int, h: int, stock: int, arrivals: Longs) -> float:
    """Return the projected inventory level, for an order of morning h."""
    level = float(stock)
    for j in range(h, h + lead_time):
        level = expected_rest(forecast, j, level)
        if j + 1 < h + lead_time:
            level += arrivals[j + 1]
    return level


@kernel
def order_by_rule(terms: OrderTerms, levels: RuleLevels, h: int, level: float, position: int) -> int:
    """Return a rule's order: packs up to U if the level is below r, as far as they fit."""
    if level >= levels.reorder[h]:
        return 0
    wanted = min(levels.up_to[h] - level, levels.most[h])
    packs = ceil(wanted / terms.pack - 1e-9)
    order = max(packs * terms.pack, smallest_order(terms))
    if position + order > terms.capacity:
        order = (terms.capacity - position) // terms.pack * terms.pack
        if order < smallest_order(terms):
            return 0
    return order


@kernel
def start_path(stock: int, coming: Longs, arrivals: Longs) -> int:
    """Put the orders on their way into a calendar of arrivals. Return the inventory position."""
    for h in range(arrivals.size):
        arrivals[h] = 0
    position = stock
    for j in range(coming.size):
        position += coming[j]
        if j + 1 < arrivals.size:
            arrivals[j + 1] = coming[j]
    return position


@kernel
def rule_order(trial: Trial, kind: int, h: int, stock: int, position: int) -> int:
    """Return the order of a rule whose levels are filled in, in morning h of the path that is simulated."""
    level = float(position)
    if kind == PROJECTED:
        level = project(trial.forecast, trial.terms.lead_time, h, stock, trial.arrivals)
    return order_by_rule(trial.terms, trial.levels, h, level, position)


@kernel
def cost_of_path(trial: Trial, kind: int, path: Ints, first: int) -> float:
    """Return the cost of a path under the rule whose levels are filled in, with a first order, or -1 for its own."""
    terms, forecast, arrivals, stock = trial.terms, trial.forecast, trial.arrivals, trial.stock
    position = start_path(stock, trial.coming, arrivals)
    cost = 0.0
    for h in range(path.size):
        stock += arrivals[h]
        if forecast.decides[h] != 0:
            order = first if h == 0 and first >= 0 else rule_order(trial, kind, h, stock, position)
            if order > 0:
                cost += terms.fixed + terms.unit * order
                position += order
                if terms.lead_time == 0:
                    stock += order
                else:
                    arrivals[h + terms.lead_time] = order
        sold = min(stock, path[h])
        stock -= sold
        position -= sold
        cost += terms.lost * (path[h] - sold) + forecast.holding[h] * stock
    return cost if trial.ends else cost - worth_of_rest(terms, forecast, stock)


@kernel
def mean_cost(trial: Trial, rule: Rule, first: int, costs: Floats) -> float:
    """Fill the costs of the first paths under a rule, with a first order or -1. Return their mean."""
    fill_levels(trial, rule)
    total = 0.0
    for i in range(costs.size):
        costs[i] = cost_of_path(trial, rule.kind, trial.forecast.demand[i], first)
        total += costs[i]
    return total / costs.size


@kernel
def worth_of_rest(terms: OrderTerms, forecast: PathForecast, stock: int) -> float:
    """Return what the stock of the last evening saves behind it, see above."""
    worth = min(terms.unit, terms.lost) * stock
    above = stock - forecast.last_reorder
    if above <= 0.0 or forecast.rate <= 0.0:
        return worth
    per_unit = 0.5 * terms.holding / forecast.rate
    return worth + above * (terms.fixed / forecast.batch + (forecast.batch - above) * per_unit)


@kernel
def cost_scale(terms: OrderTerms) -> float:
    """Return the sum of the costs, against which ties are measured."""
    return terms.fixed + terms.unit + terms.lost + terms.holding
