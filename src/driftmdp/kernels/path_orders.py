"""How much to order when states are too many for dynamic programming: rules tuned on sample paths, and improved.

The rules of kernels/path_rules.py are tuned for the item as it is this morning: each parameter by a search with
shorter and shorter steps, on the first of the paths. The cheapest of the tuned rules gives the order. Then one step
of policy improvement: other orders today, each followed by the rule, on all paths. The paths are common to all
orders, so that their costs are compared path by path. Another order is taken only if its mean saving is more than
SURE standard errors, and of orders that cost the same the smaller.
"""

from math import ceil

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.exact_orders import COST_TIE, smallest_order
from driftmdp.kernels.ordering_arrays import CAPPED, IMPROVED, PROJECTED, ComingPeriods, OrderTerms
from driftmdp.kernels.path_rules import (
    PathForecast,
    Rule,
    RuleLevels,
    cost_of_path,
    fill_levels,
    new_forecast,
    order_by_rule,
    project,
    start_path,
)

TUNING_PATHS = 128
NEVER = -1e6  # the safety of a rule that never orders
SURE = 1.0  # standard errors of a saving
MAX_CANDIDATES = 14
LONG_LEAD = 8  # beyond it projecting is slow: fewer paths


@kernel
def plan_on_paths(
    terms: OrderTerms, stock: int, coming: Longs, paths: Ints, periods: ComingPeriods
) -> tuple[int, float, int]:
    """Return an order for today, its estimated cost per open period, and how it was found.

    ``coming[j]`` arrives j + 1 periods from now, j < L - 1. ``paths[i, h]`` is the demand of period h on path i.
    """
    forecast = new_forecast(terms, paths, periods)
    ends, horizon = periods.cycle == 0, paths.shape[1]
    levels = RuleLevels(np.zeros(horizon), np.zeros(horizon), np.zeros(horizon))
    arrivals = np.zeros(horizon, np.int64)
    n_open = 0
    for h in range(horizon):
        n_open += 1 if periods.is_open[h] != 0 else 0
    start = (stock, coming, -1)
    n_tuning = min(TUNING_PATHS, paths.shape[0])
    rule, _ = tune(terms, forecast, start, ends, n_tuning, levels, arrivals)
    fill_levels(terms, forecast, rule, ends, levels)
    costs = np.zeros(paths.shape[0])
    if forecast.decides[0] == 0:
        total = _mean_cost(terms, forecast, rule, levels, start, ends, arrivals, costs)
        return 0, total / max(n_open, 1), rule.kind
    order, total, improved = _improve(terms, forecast, rule, levels, start, ends, arrivals, costs)
    return order, total / max(n_open, 1), rule.kind + (IMPROVED if improved else 0)


@kernel
def _mean_cost(
    terms: OrderTerms,
    forecast: PathForecast,
    rule: Rule,
    levels: RuleLevels,
    start: tuple[int, Longs, int],
    ends: bool,
    arrivals: Longs,
    costs: Floats,
) -> float:
    """Fill the costs of the first paths. Return their mean."""
    total = 0.0
    for i in range(costs.size):
        costs[i] = cost_of_path(terms, forecast, rule, levels, forecast.demand[i], start, ends, arrivals)
        total += costs[i]
    return total / costs.size


@kernel
def _try_rule(
    terms: OrderTerms,
    forecast: PathForecast,
    rule: Rule,
    start: tuple[int, Longs, int],
    ends: bool,
    levels: RuleLevels,
    arrivals: Longs,
    costs: Floats,
) -> float:
    """Return the mean cost of a rule."""
    fill_levels(terms, forecast, rule, ends, levels)
    return _mean_cost(terms, forecast, rule, levels, start, ends, arrivals, costs)


@kernel
def tune(
    terms: OrderTerms,
    forecast: PathForecast,
    start: tuple[int, Longs, int],
    ends: bool,
    n_paths: int,
    levels: RuleLevels,
    arrivals: Longs,
) -> tuple[Rule, float]:
    """Return the cheapest rule that was found on the first paths, and its mean cost there."""
    costs = np.zeros(n_paths)
    tie = COST_TIE * (terms.fixed + terms.unit + terms.lost + terms.holding)
    best = Rule(PROJECTED, NEVER, 0.0, 0.0)  # ordering may not pay at all
    cost = _try_rule(terms, forecast, best, start, ends, levels, arrivals, costs)
    for kind in range(PROJECTED, CAPPED + 1):
        rule = Rule(kind, forecast.safety, _first_extra(terms, forecast), 0.0)
        least = _try_rule(terms, forecast, rule, start, ends, levels, arrivals, costs)
        for turn in range(2):
            step = 0.8 if turn == 0 else 0.4
            while step > 0.05:
                moved = False
                for sign in range(-1, 2, 2):
                    other = Rule(kind, rule.safety + sign * step, rule.extra, rule.cap)
                    found = _try_rule(terms, forecast, other, start, ends, levels, arrivals, costs)
                    if found < least:
                        rule, least, moved = other, found, True
                if not moved:
                    step *= 0.5
            if turn == 0 and rule.extra > 0.0:
                step = 1.5
                while step > 1.1:
                    moved = False
                    for sign in range(2):
                        factor = step if sign == 1 else 1.0 / step
                        other = Rule(kind, rule.safety, rule.extra * factor, rule.cap)
                        found = _try_rule(terms, forecast, other, start, ends, levels, arrivals, costs)
                        if found < least:
                            rule, least, moved = other, found, True
                    if not moved:
                        step = np.sqrt(step)
            if turn == 0 and kind == CAPPED:
                for k in range(4):
                    other = Rule(kind, rule.safety, rule.extra, 2.0 - 0.33 * k)
                    found = _try_rule(terms, forecast, other, start, ends, levels, arrivals, costs)
                    if found < least:
                        rule, least = other, found
        if least < cost - tie:
            best, cost = rule, least
    return best, cost


@kernel
def _first_extra(terms: OrderTerms, forecast: PathForecast) -> float:
    """Return the periods of demand that the economic order quantity has more than one period."""
    if terms.fixed <= 0.0 or forecast.rate <= 0.0:
        return 0.0
    return max(forecast.batch / forecast.rate - 1.0, 0.25)


@kernel
def _improve(
    terms: OrderTerms,
    forecast: PathForecast,
    rule: Rule,
    levels: RuleLevels,
    start: tuple[int, Longs, int],
    ends: bool,
    arrivals: Longs,
    costs: Floats,
) -> tuple[int, float, bool]:
    """Return the best order today, its mean cost, and whether it differs from the rule's."""
    stock, coming, _ = start
    position = start_path(stock, coming, arrivals)
    level = float(position)
    if rule.kind == PROJECTED:
        level = project(forecast, terms.lead_time, 0, stock, arrivals)
    base = order_by_rule(terms, levels, 0, level, position)
    base_cost = _mean_cost(terms, forecast, rule, levels, (stock, coming, base), ends, arrivals, costs)
    least, most = smallest_order(terms), (terms.capacity - position) // terms.pack * terms.pack
    if most < least:
        return base, base_cost, False
    tie = COST_TIE * (terms.fixed + terms.unit + terms.lost + terms.holding)
    best, best_cost, best_error = base, base_cost, 0.0
    others = np.zeros(costs.size)
    step = max(int(0.5 * forecast.deviation[0] / terms.pack), 1) * terms.pack
    tried = 0
    if base > 0:
        cost = _mean_cost(terms, forecast, rule, levels, (stock, coming, 0), ends, arrivals, others)
        error = _error_of_saving(costs, others)
        if base_cost - cost > SURE * error - tie:
            best, best_cost, best_error = 0, cost, error
    else:
        wanted = max(ceil((levels.up_to[0] - level) / terms.pack) * terms.pack, least)
        wanted = min(wanted, most)
        cost = _mean_cost(terms, forecast, rule, levels, (stock, coming, wanted), ends, arrivals, others)
        error = _error_of_saving(costs, others)
        if base_cost - cost > SURE * error + tie:
            best, best_cost, best_error = wanted, cost, error
    while step >= terms.pack and tried < MAX_CANDIDATES and best > 0:
        moved = False
        for sign in range(-1, 2, 2):
            other = best + sign * step
            if least <= other <= most:
                tried += 1
                cost = _mean_cost(terms, forecast, rule, levels, (stock, coming, other), ends, arrivals, others)
                error = _error_of_saving(costs, others)
                if cost < best_cost - tie and base_cost - cost > SURE * error:
                    best, best_cost, best_error, moved = other, cost, error, True
        if not moved:
            step = step // (2 * terms.pack) * terms.pack
    return best, best_cost, best != base


@kernel
def _error_of_saving(costs: Floats, others: Floats) -> float:
    """Return the standard error of the mean difference, path by path."""
    total, squares = 0.0, 0.0
    for i in range(costs.size):
        saving = costs[i] - others[i]
        total += saving
        squares += saving * saving
    mean = total / costs.size
    return np.sqrt(max(squares / costs.size - mean * mean, 0.0) / costs.size)
