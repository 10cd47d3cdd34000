"""How much to order when states are too many for dynamic programming: rules tuned on sample paths, and improved.

The rules of kernels/path_rules.py are tuned for the item as it is this morning: a coarse grid on a few paths, then
a search with shorter and shorter steps on more. The tuned rule that is the cheapest on all paths gives the order.
Then one step of policy improvement: other orders today, each followed by the rule, on all paths. The paths are
common to all orders, so that costs are compared path by path. Another order is taken only if its mean saving is
more than SURE standard errors, and of orders that cost the same the smaller.

A plan comes with its *doubt*: what believing these comparisons may cost. A saving D with standard error e has the
wrong sign by chance, which loses e (phi(z) - z Pr(Z > z)) on average, z = |D| / e, the normal law's unit loss. The
largest of these, as a share of the cost of a period, tells which items need more paths: those with rare and dear
losses, and those for which ordering hardly pays.
"""

from math import ceil

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.exact_orders import COST_TIE
from driftmdp.kernels.late_orders import LateOrders, all_on_time
from driftmdp.kernels.normal_law import normal_tail
from driftmdp.kernels.ordering_arrays import CAPPED, IMPROVED, PROJECTED, ComingPeriods, OrderTerms
from driftmdp.kernels.path_forecast import batch_of
from driftmdp.kernels.path_rules import (
    OrderRule,
    RuleTrial,
    cost_scale,
    ends_of_turn,
    fill_levels,
    mean_cost,
    new_trial,
    project,
    rule_order,
    set_ending,
    start_path,
    textbook_rule,
    worth_of_rest,
)
from driftmdp.kernels.shelf_ages import start_expiry

COARSE_PATHS, FINE_PATHS = 128, 256  # of a search
LONG_LEAD = 4  # beyond it projecting takes long, and there are fewer paths in proportion
FEWEST_PATHS = 100
NEVER = -1e6  # the safety of a rule that never orders
SURE = 1.0  # standard errors of a saving
MOST_MOVES = 5  # in one direction, with steps of one size
MOST_CANDIDATES = 14  # orders that are compared
TINY, TINY_COST = 1e-300, 1e-6  # of the sum of the costs, per period: less is not told from none
SQRT_2PI = 2.5066282746310002


@kernel
def plan_on_paths(
    terms: OrderTerms, stock: int, coming: Longs, paths: Ints, periods: ComingPeriods
) -> tuple[int, float, int, float]:
    """Return an order for today, its estimated cost per open period, how it was found, and its doubt.

    ``coming[j]`` arrives j + 1 periods from now, j < L - 1. ``paths[i, h]`` is the demand of period h on path i.
    """
    return plan_ages_on_paths(terms, stock, np.zeros(0, np.int64), coming, paths, periods)


@kernel
def plan_ages_on_paths(
    terms: OrderTerms, stock: int, ages: Longs, coming: Longs, paths: Ints, periods: ComingPeriods
) -> tuple[int, float, int, float]:
    """Return the same for goods that spoil: ``ages[k]`` of the stock can be sold in k + 1 more periods, k < n."""
    return plan_late_on_paths(terms, stock, ages, coming, paths, periods, all_on_time())


@kernel
def plan_late_on_paths(
    terms: OrderTerms,
    stock: int,
    ages: Longs,
    coming: Longs,
    paths: Ints,
    periods: ComingPeriods,
    late: LateOrders,
) -> tuple[int, float, int, float]:
    """Return the same with both, and ``coming`` by the periods in which it is expected."""
    trial = new_trial(terms, stock, ages, coming, paths, periods, late)
    rule, doubt = tune(trial)
    costs = np.zeros(fewer(paths.shape[0], terms.lead_time))
    order, method = 0, rule.kind
    if trial.forecast.decides[0] == 0:
        cost, doubt = mean_cost(trial, rule, -1, costs), 0.0
    else:
        own = own_order(trial, rule)
        order, cost, unsure = improve(trial, rule, own, costs)
        doubt = max(doubt, unsure)
        method += IMPROVED if order != own else 0
    if not trial.ends:  # what there was in the beginning is charged as what is left in the end is credited
        on_its_way = start_path(stock, coming, trial.arrivals) - stock
        cost += worth_of_rest(trial, stock) + min(terms.unit, terms.lost) * on_its_way
    cost /= max(_periods_charged(trial, periods), 1.0)
    return order, cost, method, doubt / max(cost, TINY_COST * cost_scale(terms), TINY)


@kernel
def _periods_charged(trial: RuleTrial, periods: ComingPeriods) -> float:
    """Return how many open periods the cost of a path is of: a mean over ends, of goods that spoil."""
    n_ends, step, horizon, total = 1, 1, periods.is_open.size, 0
    if trial.ages.size > 0 and not trial.ends:
        n_ends, step = ends_of_turn(trial)
    for h in range(horizon):
        if periods.is_open[h] != 0:
            total += min((horizon - 1 - h) // step + 1, n_ends)
    return total / n_ends


@kernel
def fewer(n_paths: int, lead_time: int) -> int:
    """Return how many of so many paths are used with a lead time."""
    return max(n_paths * LONG_LEAD // max(lead_time, LONG_LEAD), min(n_paths, FEWEST_PATHS))


@kernel
def tune(trial: RuleTrial) -> tuple[OrderRule, float]:
    """Return the cheapest rule that was found, and per period the expected regret of ordering at all, or not."""
    n_paths, lead = trial.forecast.demand.shape[0], trial.terms.lead_time
    few = np.zeros(fewer(min(n_paths, COARSE_PATHS), lead))
    many, every = np.zeros(fewer(min(n_paths, FINE_PATHS), lead)), np.zeros(fewer(n_paths, lead))
    set_ending(trial, textbook_rule(trial, PROJECTED))
    rule = _first_rule(trial, PROJECTED, few)
    set_ending(trial, rule)  # one for all that are compared
    rule = _refine(trial, rule, many)
    cost = mean_cost(trial, rule, -1, every)
    if lead > 0:  # without a lead time, position and projected level are the same
        other = _refine(trial, _first_rule(trial, CAPPED, few), many)
        rule, cost = _cheaper(trial, rule, cost, other, every)
    never = OrderRule(PROJECTED, NEVER, 0.0, 0.0)  # ordering may not pay at all
    mean_cost(trial, rule, -1, every)
    others = np.zeros(every.size)
    saving = mean_cost(trial, never, -1, others) - cost
    regret = expected_regret(saving, saving_error(others, every, saving)) / trial.forecast.means.size
    if saving <= COST_TIE * cost_scale(trial.terms):
        return never, regret
    return rule, regret


@kernel
def _first_rule(trial: RuleTrial, kind: int, costs: Floats) -> OrderRule:
    """Return the cheapest rule of a coarse grid around the textbook's."""
    rule, cost = textbook_rule(trial, kind), np.inf
    safety, extra = rule.safety, rule.extra
    down = _step_down(trial, rule)
    for j in range(-4, 3):
        moved = safety + (down if j < 0 else 0.4) * j
        rule, cost = _cheaper(trial, rule, cost, OrderRule(kind, moved, extra, 0.0), costs)
    if extra > 0.0:
        safety = rule.safety
        for j in range(-1, 2):
            rule, cost = _cheaper(trial, rule, cost, OrderRule(kind, safety + 0.4 * j, 0.5 * extra, 0.0), costs)
            rule, cost = _cheaper(trial, rule, cost, OrderRule(kind, safety + 0.4 * j, 1.6 * extra, 0.0), costs)
    return rule


@kernel
def _step_down(trial: RuleTrial, rule: OrderRule) -> float:
    """Return a grid's steps of z below a rule: four of a position's lead to one that orders when all is sold.

    Where lost sales are cheap, or few packs fit, the best position is far below the textbook's.
    """
    if rule.kind != CAPPED:
        return 0.4
    fill_levels(trial, rule)
    last = trial.forecast.last
    return max(0.24 * trial.levels.reorder[last] / trial.forecast.deviation[last], 0.4)


@kernel
def _cheaper(
    trial: RuleTrial, rule: OrderRule, cost: float, other: OrderRule, costs: Floats
) -> tuple[OrderRule, float]:
    """Return the cheaper of two rules and its cost: of one whose cost is known, and another."""
    found = mean_cost(trial, other, -1, costs)
    if found < cost:
        return other, found
    return rule, cost


@kernel
def _refine(trial: RuleTrial, rule: OrderRule, costs: Floats) -> OrderRule:
    """Return a rule nearby that is cheaper."""
    cost = mean_cost(trial, rule, -1, costs)
    rule, cost = _move(trial, rule, cost, (0.2, 0.0, 0.0), costs)
    if rule.extra > 0.0:
        rule, cost = _move(trial, rule, cost, (0.0, 0.25 * rule.extra, 0.0), costs)
    if rule.kind == CAPPED:
        for k in range(3):
            capped = OrderRule(rule.kind, rule.safety, rule.extra, 1.9 - 0.4 * k)
            rule, cost = _cheaper(trial, rule, cost, capped, costs)
    return _move(trial, rule, cost, (0.1, 0.0, 0.0), costs)[0]


@kernel
def _move(
    trial: RuleTrial, rule: OrderRule, cost: float, step: tuple[float, float, float], costs: Floats
) -> tuple[OrderRule, float]:
    """Move a rule's parameters by steps to and fro as long as it gets cheaper. Return it and its cost."""
    for turn in range(2):
        sign, moves = 1.0 - 2.0 * turn, 0
        while moves < MOST_MOVES:
            other = OrderRule(
                rule.kind,
                rule.safety + sign * step[0],
                max(rule.extra + sign * step[1], 0.0),
                max(rule.cap + sign * step[2], 0.0),
            )
            found = mean_cost(trial, other, -1, costs)
            if found >= cost:
                break
            rule, cost, moves = other, found, moves + 1
        if moves > 0:
            break
    return rule, cost


@kernel
def own_order(trial: RuleTrial, rule: OrderRule) -> int:
    """Return what a rule orders today."""
    fill_levels(trial, rule)
    position = start_path(trial.stock, trial.coming, trial.arrivals)
    start_expiry(trial.terms, trial.ages, trial.coming, trial.expiring)
    return rule_order(trial, rule.kind, 0, trial.stock, position, 0)


@kernel
def improve(trial: RuleTrial, rule: OrderRule, own: int, costs: Floats) -> tuple[int, float, float]:
    """Return the best order today if the rule follows, its mean cost, and the expected regret of that choice.

    ``own`` is the rule's order.
    """
    terms = trial.terms
    own_cost, others = mean_cost(trial, rule, own, costs), np.zeros(costs.size)
    position = start_path(trial.stock, trial.coming, trial.arrivals)
    least, most = trial.least, (terms.capacity - position) // terms.pack * terms.pack
    found = own, own_cost, 0.0
    if most < least:
        return found
    # None at all if the rule orders, and what it would order if it does not: a fixed cost makes them differ most.
    other = 0 if own > 0 else order_up(trial, rule, position, least, most)
    found = _compare(trial, rule, other, found, costs, own_cost, others)
    if most // terms.pack <= MOST_CANDIDATES:
        # Customers who take several make costs rise and fall with the order: a search step by step would stop.
        for packs in range(least // terms.pack, most // terms.pack + 1):
            found = _compare(trial, rule, packs * terms.pack, found, costs, own_cost, others)
        return found
    step, tried = max(int(0.5 * trial.forecast.deviation[0] / terms.pack), 1) * terms.pack, 0
    while step > 0 and tried < MOST_CANDIDATES:
        center = found[0]
        for sign in range(-1, 2, 2):
            if least <= center + sign * step <= most:
                tried += 1
                found = _compare(trial, rule, center + sign * step, found, costs, own_cost, others)
        if found[0] == center:
            step = step // (2 * terms.pack) * terms.pack
    return found


@kernel
def _compare(
    trial: RuleTrial,
    rule: OrderRule,
    order: int,
    found: tuple[int, float, float],
    costs: Floats,
    own_cost: float,
    others: Floats,
) -> tuple[int, float, float]:
    """Return the better of the best order until now and another, as `improve`."""
    cost, regret = _sure_cost(trial, rule, order, costs, own_cost, others)
    regret = max(regret, found[2])
    if cost < found[1] - COST_TIE * cost_scale(trial.terms):
        return order, cost, regret
    return found[0], found[1], regret


@kernel
def order_up(trial: RuleTrial, rule: OrderRule, position: int, least: int, most: int) -> int:
    """Return the packs up to the rule's U, or those of an economic order if it never orders: this may yet pay."""
    level = float(position)
    if rule.kind == PROJECTED:
        level = project(trial, 0, trial.stock)
    wanted = trial.levels.up_to[0] - level
    if wanted <= 0.0:
        wanted = batch_of(trial.terms, trial.forecast.rate)
    packs = ceil(wanted / trial.terms.pack)
    return min(max(packs * trial.terms.pack, least), most)


@kernel
def _sure_cost(
    trial: RuleTrial, rule: OrderRule, order: int, costs: Floats, own_cost: float, others: Floats
) -> tuple[float, float]:
    """Return the mean cost of an order today, and the expected regret of taking the worse of it and the rule's own.

    The cost is infinite if the mean saving, path by path, is not more than SURE standard errors.
    """
    cost = mean_cost(trial, rule, order, others)
    saving = own_cost - cost
    error = saving_error(costs, others, saving)
    regret = expected_regret(saving, error)
    if saving > SURE * error:
        return cost, regret
    return np.inf, regret + max(saving, 0.0)  # a saving that is not sure is left


@kernel
def saving_error(costs: Floats, others: Floats, saving: float) -> float:
    """Return the standard error of a mean saving, from the costs path by path."""
    squares = 0.0
    for i in range(costs.size):
        apart = costs[i] - others[i] - saving
        squares += apart * apart
    return float(np.sqrt(squares)) / costs.size


@kernel
def expected_regret(saving: float, error: float) -> float:
    """Return what is lost on average by believing the sign of a saving with a normal error: its unit loss."""
    if error <= 0.0:
        return 0.0
    z = abs(saving) / error
    return max(error * (float(np.exp(-0.5 * z * z)) / SQRT_2PI - z * normal_tail(z)), 0.0)
