"""Rules of ordering for lost sales with a lead time, and what they cost on sample paths of demand.

A rule knows, for each morning h of the H to come, a level r_h below which it orders, a level U_h up to which it
orders, and the most that it orders at once. What it compares with them is

- the *projected inventory level*, [VJA24]: the stock that is expected when an order of this morning arrives, before
  it is added. With a short lead time expected stocks are passed on from period to period, m <- E (m - X)^+ + what
  arrives. That is a little less than the expectation over paths, by Jensen's inequality, but costs L lookups
  only, and the levels are tuned with it. With a long one it would forget the stock: then it is a mean over some
  of the paths.
- or the *inventory position*, stock and all that is on its way. With most = U it is a base stock rule, with less a
  *capped base stock* rule, [X21].

r_h is the mean demand between the arrival of this order and that of the next, and a safety of z standard
deviations. U_h adds the mean demand of another T periods, for a fixed cost. So both follow seasons, weekdays and
order days.

Orders whose lead time varies arrive on a path when late_orders.py lets them, and the rules see what is promised.

Only orders that arrive within the H periods are simulated, those of h < H - L: later ones change nothing before the
end. What the last evening leaves on the shelf is worth nothing if nothing follows. Otherwise it is worth the units'
price, and where an order would not be due, what a stock that falls by mu per period saves: with x above r and
orders of Q, x^2 h / (2 mu) - x (f / Q + Q h / (2 mu)) in costs, as of the economic order quantity.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.late_orders import (
    LateOrders,
    delay_moments,
    move_promises,
    send_order,
    start_late_path,
)
from driftmdp.kernels.order_states import smallest_order
from driftmdp.kernels.ordering_arrays import CAPPED, NO_LIMIT, PROJECTED, ComingPeriods, OrderTerms
from driftmdp.kernels.path_forecast import (
    PathForecast,
    batch_of,
    expected_rest,
    mean_until,
    new_forecast,
    textbook_safety,
)
from driftmdp.kernels.shelf_ages import (
    most_due,
    next_ages,
    project_ages,
    restart_expiry,
    spoiled_behind,
    start_expiry,
    sums_of_paths,
)

SHORT_LEAD = 12  # up to it, expected stocks are passed on. Beyond it, scenarios are
LONG_STRIDES = 12  # of a projection over a long lead time
MOST_ENDS = 7  # of a path with goods that spoil


class OrderRule(NamedTuple):
    """A rule's kind (PROJECTED, CAPPED) and parameters: z, T, and the most, as a multiple of the need (0: none)."""

    kind: int
    safety: float
    extra: float
    cap: float


class RuleLevels(NamedTuple):
    """A rule on given periods, (H,) each: r, U and the most of an order."""

    reorder: Floats
    up_to: Floats
    most: Floats


class RuleTrial(NamedTuple):
    """What rules are tried on: an item this morning, the forecast, and buffers.

    ===============  =======  ==========================================================================
    stock, coming             of this morning. ``coming[j]`` arrives j + 1 periods from now
    ends             bool     whether nothing counts behind the last period
    levels                    of the rule that is tried
    arrivals         (H,)     what arrives on a path
    holding          (H,)     cost of a unit that is left in the evening, 0 in closed periods
    ending           (2,)     r and Q behind the last period, by which its rest is valued
    scenario_levels  (K,)     of one projection
    least            int      the smallest order that is not 0
    ages             (n,)     of goods that spoil: ``ages[k]`` can be sold in k + 1 more periods. Else empty
    expiring         (H',)    units by their last period on a path, also behind its end
    next_ages        (n,)     and
    path_sums                 by (path, period): of goods that spoil, see shelf_ages.py. Else empty
    late                      orders whose arrival is not certain. Then ``arrivals`` are what is promised
    ===============  =======  ==========================================================================
    """

    terms: OrderTerms
    forecast: PathForecast
    stock: int
    coming: Longs
    ends: bool
    levels: RuleLevels
    arrivals: Longs
    holding: Floats
    ending: Floats
    scenario_levels: Longs
    least: int
    ages: Longs
    expiring: Longs
    next_ages: Longs
    path_sums: Longs
    late: LateOrders


@kernel
def new_trial(
    terms: OrderTerms,
    stock: int,
    ages: Longs,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    late: LateOrders,
) -> RuleTrial:
    """Return what rules are tried on. ``ages`` are empty if the item never spoils.

    ``coming`` is what is on its way by the periods in which it is expected.
    """
    horizon, arrivals = paths.shape[1], np.zeros(paths.shape[1], np.int64)
    levels, holding = RuleLevels(np.zeros(horizon), np.zeros(horizon), np.zeros(horizon)), np.zeros(horizon)
    for h in range(horizon):
        holding[h] = terms.holding if periods.is_open[h] != 0 else 0.0
    forecast = new_forecast(terms, paths, periods)
    if late.delays.shape[0] > 0:
        _add_doubt_of_arrivals(forecast, late)
    scenario_levels = np.zeros(forecast.scenarios.shape[1], np.int64)
    ends, least = periods.cycle == 0, smallest_order(terms)
    expiring = np.zeros(horizon + terms.shelf_life + coming.size, np.int64)
    if ages.size > 0:
        start_expiry(terms, ages, coming, expiring)
    return RuleTrial(
        terms,
        forecast,
        stock,
        coming,
        ends,
        levels,
        arrivals,
        holding,
        np.zeros(2),
        scenario_levels,
        least,
        ages,
        expiring,
        next_ages(ages),
        sums_of_paths(forecast.demand if ages.size > 0 else forecast.demand[:0]),
        late,
    )


@kernel
def _add_doubt_of_arrivals(forecast: PathForecast, late: LateOrders) -> None:
    """Let needs also cover the mean delay of orders, and their deviations its deviation, d^2 + (rate s)^2."""
    mean, variance = delay_moments(late.hazards, late.lead)
    for h in range(forecast.means.size):
        if forecast.deviation[h] > 0.0:
            own = forecast.deviation[h] * forecast.deviation[h]
            forecast.need[h] = max(forecast.need[h] + mean * forecast.rate, 0.0)
            forecast.deviation[h] = sqrt(own + variance * forecast.rate * forecast.rate)


@kernel
def textbook_rule(trial: RuleTrial, kind: int) -> OrderRule:
    """Return the rule that textbooks give: z for the best chance of a stock-out per order, T for the batch."""
    terms, rate = trial.terms, trial.forecast.rate
    batch = batch_of(terms, rate)
    extra = 0.0
    if terms.fixed > 0.0 and rate > 0.0:
        extra = max(batch / rate - 1.0, 0.25)
        if terms.shelf_life > 0:
            extra = min(extra, float(terms.shelf_life - 1))
    return OrderRule(kind, textbook_safety(terms, rate, batch), extra, 0.0)


@kernel
def set_ending(trial: RuleTrial, rule: OrderRule) -> None:
    """Let the rest of the last evening be worth what it is under a rule.

    Not under the rule that is tried, each time: what it might make of the end is not what it is tuned for.
    """
    forecast, terms = trial.forecast, trial.terms
    last = forecast.last
    after = float(forecast.cover[last])
    extra = mean_until(forecast, after + rule.extra, trial.ends) - mean_until(forecast, after, trial.ends)
    reorder = forecast.need[last] + rule.safety * forecast.deviation[last]
    batch = max(extra + 0.5 * forecast.need[last], float(trial.least))
    trial.ending[0] = max(reorder, 0.0) + forecast.behind
    trial.ending[1] = max(min(batch, float(terms.capacity)), 1.0)


@kernel
def fill_levels(trial: RuleTrial, rule: OrderRule) -> None:
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
def project(trial: RuleTrial, h: int, stock: int) -> float:
    """Return the projected inventory level, for an order of morning h of the path that is simulated."""
    if trial.terms.lead_time > SHORT_LEAD:
        return _project_long(trial, h, stock)
    forecast, level, arrival = trial.forecast, float(stock), h + trial.terms.lead_time
    for j in range(h, arrival):
        level = expected_rest(forecast, j, level)
        if j + 1 < arrival:
            level += trial.arrivals[j + 1]
    return level


@kernel
def _project_long(trial: RuleTrial, h: int, stock: int) -> float:
    """Return the projected level over a long lead time: a mean over scenarios, some periods at a time."""
    before, levels, arrival = trial.forecast.scenarios, trial.scenario_levels, h + trial.terms.lead_time
    stride = max(trial.terms.lead_time // LONG_STRIDES, 1)
    for k in range(levels.size):
        levels[k] = stock
    j = h
    while j < arrival:
        end, arrives = min(j + stride, arrival), 0
        for i in range(j + 1, min(end + 1, arrival)):
            arrives += trial.arrivals[i]
        start, stop = before[j], before[end]
        for k in range(levels.size):
            levels[k] = max(levels[k] - (stop[k] - start[k]), 0) + arrives
        j = end
    total = 0
    for k in range(levels.size):
        total += levels[k]
    return float(total) / levels.size


@kernel
def order_by_rule(trial: RuleTrial, h: int, level: float, position: int) -> int:
    """Return a rule's order: packs up to U if the level is below r, as far as they fit."""
    terms, levels = trial.terms, trial.levels
    if level >= levels.reorder[h]:
        return 0
    wanted = min(levels.up_to[h] - level, levels.most[h])
    packs = ceil(wanted / terms.pack - 1e-9)
    order = max(packs * terms.pack, trial.least)
    if position + order > terms.capacity:
        order = (terms.capacity - position) // terms.pack * terms.pack
        if order < trial.least:
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
def rule_order(trial: RuleTrial, kind: int, h: int, stock: int, position: int, owed: int) -> int:
    """Return the order of a rule whose levels are filled in, in morning h of the path that is simulated.

    ``owed``: what is due less what is gone, of goods that spoil. See shelf_ages.py.
    """
    level = float(position)
    if kind == PROJECTED:
        # Lost sales only raise the projected level, and no more spoils than is due: often this is enough.
        sums, most_spoiled = trial.forecast.sums, 0
        if trial.ages.size > 0:
            most_spoiled = most_due(trial.terms, trial.forecast, h, trial.expiring, owed)
        if level - (sums[h + trial.terms.lead_time] - sums[h]) - most_spoiled >= trial.levels.reorder[h]:
            return 0
        if trial.ages.size > 0:
            level = project_ages(trial.terms, trial.forecast, h, stock, trial.arrivals, trial.expiring, owed)
        else:
            level = project(trial, h, stock)
    return order_by_rule(trial, h, level, position)


@kernel
def cost_of_path(trial: RuleTrial, kind: int, i: int, first: int) -> float:
    """Return the cost of path i under the rule whose levels are filled in. ``first``: its first order, or -1."""
    if trial.ages.size > 0:
        return _cost_with_ages(trial, kind, i, first)
    terms, forecast, arrivals, late = trial.terms, trial.forecast, trial.arrivals, trial.late
    stock, path, is_late = trial.stock, forecast.demand[i], late.delays.shape[0] > 0
    position = start_path(stock, trial.coming, arrivals)
    if is_late:
        start_late_path(late, i)
    cost = 0.0
    for h in range(path.size):
        stock += late.truly[h] if is_late else arrivals[h]
        if is_late:
            move_promises(late, h, arrivals)
        if forecast.decides[h] != 0:
            order = first if h == 0 and first >= 0 else rule_order(trial, kind, h, stock, position, 0)
            if order > 0:
                cost += terms.fixed + terms.unit * order
                position += order
                if terms.lead_time == 0:
                    stock += order
                else:
                    arrivals[h + terms.lead_time] += order
                if is_late:
                    send_order(late, i, h, order)
        sold = min(stock, path[h])
        stock -= sold
        position -= sold
        cost += terms.lost * (path[h] - sold) + trial.holding[h] * stock
    if trial.ends:
        return cost
    return cost - worth_of_rest(trial, position if is_late else stock)  # what is late comes behind the end


@kernel
def _cost_with_ages(trial: RuleTrial, kind: int, i: int, first: int) -> float:
    """Return the same of goods that spoil: a mean over several last periods.

    Orders that spoil before the next come in turns that never mix, and what a turn is worth depends on where the
    path ends in it. So orders are charged when they arrive, and the ends are those of a whole turn.
    """
    terms, arrivals, stock, lead = trial.terms, trial.arrivals, trial.stock, trial.terms.lead_time
    late, path, is_late = trial.late, trial.forecast.demand[i], trial.late.delays.shape[0] > 0
    position = start_path(stock, trial.coming, arrivals)
    if is_late:
        start_late_path(late, i)
    _start_ages(trial, i)
    due, gone, cost, total = 0, 0, 0.0, 0.0
    n_ends, step = ends_of_turn(trial)
    sums = trial.path_sums[i]
    for h in range(path.size):
        stock += late.truly[h] if is_late else arrivals[h]
        arrived = arrivals[h] if h >= lead and not is_late else 0
        if is_late:
            move_promises(late, h, arrivals)
        if trial.forecast.decides[h] != 0:
            order = first if h == 0 and first >= 0 else rule_order(trial, kind, h, stock, position, due - gone)
            if order > 0:
                position += order
                arrival = send_order(late, i, h, order) if is_late else h + lead
                if arrival + terms.shelf_life - 1 < trial.expiring.size:
                    trial.expiring[arrival + terms.shelf_life - 1] += order
                if lead == 0:
                    stock, arrived = stock + order, order
                else:
                    arrivals[h + lead] += order
                if is_late:  # which of the arrivals are orders of this path is not known when they come
                    arrived = order
        sold = min(stock, path[h])
        due, gone = due + trial.expiring[h], gone + sold
        spoiled = max(due - gone, 0)
        gone, stock, position = gone + spoiled, stock - sold - spoiled, position - sold - spoiled
        cost += terms.lost * (path[h] - sold) + trial.holding[h] * stock + terms.waste * spoiled
        cost += terms.fixed + terms.unit * arrived if arrived > 0 else 0.0
        left = path.size - 1 - h
        if not trial.ends and left % step == 0 and left // step < n_ends:  # no credit for what will spoil
            spoiled = spoiled_behind(sums, h + 1, trial.expiring, trial.next_ages, due, gone, stock)
            rest = (position if is_late else stock) - spoiled
            total += cost + terms.waste * spoiled - worth_of_rest(trial, rest)
    return cost if trial.ends else total / n_ends


@kernel
def _start_ages(trial: RuleTrial, i: int) -> None:
    """Fill the last periods of what is on the shelf, and on its way on path i. Goods age from their arrival."""
    terms, late = trial.terms, trial.late
    if late.delays.shape[0] == 0:
        restart_expiry(terms, trial.ages, trial.coming, trial.expiring)
        return
    restart_expiry(terms, trial.ages, trial.coming[:0], trial.expiring)
    for k in range(late.first.shape[1]):
        units = late.coming[k] if k < late.coming.size else late.overdue[k - late.coming.size]
        last = late.first[i, k] + terms.shelf_life - 1
        if last < trial.expiring.size:
            trial.expiring[last] += units


@kernel
def ends_of_turn(trial: RuleTrial) -> tuple[int, int]:
    """Return over how many last periods the cost of goods that spoil is a mean, and how far they are apart."""
    last, lead, horizon = trial.forecast.last, trial.terms.lead_time, trial.forecast.means.size
    step = max(trial.forecast.cover[last] - last - lead, 1)
    longest = min(trial.terms.shelf_life, MOST_ENDS, horizon - lead - 1)
    return max(longest // step, 1), step


@kernel
def mean_cost(trial: RuleTrial, rule: OrderRule, first: int, costs: Floats) -> float:
    """Fill the costs of the first paths under a rule, with a first order or -1. Return their mean."""
    fill_levels(trial, rule)
    total = 0.0
    for i in range(costs.size):
        costs[i] = cost_of_path(trial, rule.kind, i, first)
        total += costs[i]
    return total / costs.size


@kernel
def worth_of_rest(trial: RuleTrial, stock: int) -> float:
    """Return what a stock saves behind it, such as that of the last evening, see above."""
    terms, rate, reorder, batch = trial.terms, trial.forecast.rate, trial.ending[0], trial.ending[1]
    worth, above = min(terms.unit, terms.lost) * stock, stock - reorder
    if above <= 0.0 or rate <= 0.0:
        return worth
    return worth + above * (terms.fixed / batch + (batch - above) * 0.5 * terms.holding / rate)


@kernel
def cost_scale(terms: OrderTerms) -> float:
    """Return the sum of the costs, against which ties are measured."""
    return terms.fixed + terms.unit + terms.lost + terms.holding + terms.waste
