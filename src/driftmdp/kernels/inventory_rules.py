"""Ordering rules day by day, each along a path of demands.

Every path begins with an empty shelf and nothing on its way. A day's order, what there was to sell and the level
that was ordered up to are written down. Costs, sales and stock follow from them and the demand.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import censored_demand, order_planning
from driftmdp.kernels.arrays import Floats, Ints, Longs, Record, RunInputs
from driftmdp.kernels.inventory_arrays import Demands, DemandWorkspace, OrderingArrays, OrderTrace, ShelfModel
from driftmdp.kernels.world import take_step

DAYS_BEFORE_FITTING = 14  # until then a rolling rule keeps the shelf full: fewer days would say too little


@kernel
def advance_day(shelf: ShelfModel, stock: int, coming: int, order: int, demand: int) -> tuple[int, int, int]:
    """Return what there is to sell today, and tomorrow's stock and what will be coming then."""
    on_sale = stock + order if shelf.lead_time == 0 else stock  # without a lead time an order is sold today
    left = on_sale - min(on_sale, demand)
    if shelf.lead_time == 0:
        return on_sale, left, 0
    if shelf.lead_time == 1:
        return on_sale, left + order, 0
    return on_sale, left + coming, order


@kernel
def order_up_to(position: int, s: int, up: int) -> int:
    """Return what an (s, S) rule orders. The position is stock and what is coming."""
    return up - position if position <= s and up > position else 0


@kernel
def follow_levels(path: Ints, shelf: ShelfModel, s: int, up: int, trace: OrderTrace) -> None:
    """Write down what one (s, S) rule does."""
    stock, coming = 0, 0
    for t in range(path.size):
        order = order_up_to(stock + coming, s, up)
        trace.orders[t], trace.levels[t] = order, up
        trace.on_sale[t], stock, coming = advance_day(shelf, stock, coming, order, path[t])


@kernel
def cost_of_levels(path: Ints, first: int, scored: int, last: int, shelf: ShelfModel, s: int, up: int) -> float:
    """Return what an (s, S) rule costs on the days ``scored .. last - 1`` if it begins on day ``first``."""
    stock, coming, cost = 0, 0, 0.0
    for t in range(first, last):
        order = order_up_to(stock + coming, s, up)
        on_sale, stock, coming = advance_day(shelf, stock, coming, order, path[t])
        if t >= scored:
            if order > 0:
                cost += shelf.fixed + shelf.unit * order
            left = on_sale - path[t]  # below 0: demand that was lost
            cost += shelf.holding * left if left > 0 else -shelf.lost * left
    return cost


@kernel
def find_cheapest_levels(path: Ints, first: int, scored: int, last: int, shelf: ShelfModel) -> tuple[int, int]:
    """Return the (s, S) that would have cost least on a path. All 0 <= s < S <= capacity are tried."""
    best_s, best_up, best = 0, 1, np.inf
    for up in range(1, shelf.capacity + 1):
        for s in range(up):
            cost = cost_of_levels(path, first, scored, last, shelf, s, up)
            if cost < best:
                best_s, best_up, best = s, up, cost
    return best_s, best_up


@kernel
def fit_levels(
    days: Ints, first: int, last: int, shelf: ShelfModel, workspace: DemandWorkspace, dice: Floats, drawn: Ints
) -> tuple[int, int]:
    """Return the (s, S) of least average cost if demand is drawn from the days ``first .. last - 1``."""
    if shelf.lead_time == 0:
        law = workspace.law
        for x in range(law.size):
            law[x] = 0.0
        for t in range(first, last):
            law[min(days[t], shelf.capacity)] += 1.0 / (last - first)
        s, up, _ = order_planning.find_best_levels(law, shelf, workspace.renewals, workspace.totals, False)
        return s, up
    # With a lead time there is no closed form: the cheapest on a long path of draws. The same dice every time, so
    # that fits differ only by their days.
    for i in range(dice.size):
        drawn[i] = days[first + int(dice[i] * (last - first))]
    return find_cheapest_levels(drawn, 0, 0, drawn.size, shelf)


@kernel
def roll_levels(
    path: Ints,
    shelf: ShelfModel,
    window: int,
    censored_sales: bool,
    workspace: DemandWorkspace,
    dice: tuple[Floats, Ints],
    seen: Ints,
    trace: OrderTrace,
) -> None:
    """Fit (s, S) each morning to the last ``window`` days: of sales taken for demand, or of demand itself.

    ``seen`` is working space for one number per day.
    """
    stock, coming = 0, 0
    for t in range(path.size):
        s, up = shelf.capacity - 1, shelf.capacity
        if t >= DAYS_BEFORE_FITTING:
            s, up = fit_levels(seen, max(0, t - window), t, shelf, workspace, dice[0], dice[1])
        order = order_up_to(stock + coming, s, up)
        trace.orders[t], trace.levels[t] = order, up
        trace.on_sale[t], stock, coming = advance_day(shelf, stock, coming, order, path[t])
        seen[t] = min(path[t], trace.on_sale[t]) if censored_sales else path[t]


@kernel
def roll_base_stock(
    path: Ints, shelf: ShelfModel, window: int, ratio: float, seen: Ints, counts: Longs, trace: OrderTrace
) -> None:
    """Order every day up to the ``ratio`` quantile of the sales of lead time + 1 days in a row, by the last days.

    ``counts`` is working space for how often each sum was seen, up to (lead time + 1) times the capacity.
    """
    stock, coming = 0, 0
    span = shelf.lead_time + 1
    for t in range(path.size):
        up = shelf.capacity
        if t >= DAYS_BEFORE_FITTING:
            up = min(shelf.capacity, _quantile_of_sums(seen, max(0, t - window), t, span, ratio, counts))
        order = order_up_to(stock + coming, up - 1, up)
        trace.orders[t], trace.levels[t] = order, up
        trace.on_sale[t], stock, coming = advance_day(shelf, stock, coming, order, path[t])
        seen[t] = min(path[t], trace.on_sale[t])


@kernel
def _quantile_of_sums(seen: Ints, first: int, last: int, span: int, ratio: float, counts: Longs) -> int:
    for x in range(counts.size):
        counts[x] = 0
    n = last - first - span + 1
    for t in range(first, first + n):
        total = 0
        for d in range(span):
            total += seen[t + d]
        counts[total] += 1
    below = 0
    for x in range(counts.size):
        below += counts[x]
        if below / n >= ratio:
            return x
    return counts.size - 1


@kernel
def follow_policies(
    path: Ints, shelf: ShelfModel, offsets: Ints, policies: Ints, policy_of: Ints, trace: OrderTrace
) -> None:
    """Write down what given policies do, ``policies[policy_of[t], state]`` on day t: the clairvoyant's."""
    stock, coming = 0, 0
    for t in range(path.size):
        order = policies[policy_of[t], offsets[stock] + coming]
        trace.orders[t], trace.levels[t] = order, stock + coming + order
        trace.on_sale[t], stock, coming = advance_day(shelf, stock, coming, order, path[t])


@kernel
def decide(arrays: OrderingArrays, i: int, weekday: int, stock: int, coming: int) -> tuple[int, float]:
    """Return the optimist's order, and how far from optimal its plan may be."""
    shelf, demands, workspace = arrays
    censored_demand.predict(demands, i, weekday, workspace)
    _, _, _, residual = order_planning.plan(workspace, shelf)
    order = order_planning.choose_order(workspace, shelf, stock, coming)
    # An item without stock shows no demand. One unit is tried once it would pay under a law nearer to the prior.
    if order == 0 and stock + coming == 0 and demands.unseen[i] > 0:
        censored_demand.mix_with_prior(demands, i, workspace.law)
        censored_demand.mix_with_prior(demands, i, workspace.today)
        _, _, _, again = order_planning.plan(workspace, shelf)
        residual = max(residual, again)
        order = min(1, order_planning.choose_order(workspace, shelf, stock, coming))
    return order, residual


@kernel
def follow_optimist(path: Ints, weekdays: Ints, arrays: OrderingArrays, means: Floats, trace: OrderTrace) -> float:
    """Write down what the optimist does, who sees sales only. Return the largest residual of its plans.

    ``means[t]`` becomes its estimate of the mean of min(X, capacity), without optimism.
    """
    shelf, demands, workspace = arrays
    stock, coming, worst = 0, 0, 0.0
    for t in range(path.size):
        order, residual = decide(arrays, 0, weekdays[t], stock, coming)
        worst = max(worst, residual)
        trace.orders[t], trace.levels[t] = order, stock + coming + order
        means[t] = 0.0  # E min(X, S) is the sum of the tail
        for j in range(1, workspace.tail.size):
            means[t] += workspace.tail[j]
        trace.on_sale[t], stock, coming = advance_day(shelf, stock, coming, order, path[t])
        censored_demand.learn(demands, 0, weekdays[t], trace.on_sale[t], min(path[t], trace.on_sale[t]), workspace)
    return worst


@kernel
def decide_all(
    arrays: OrderingArrays, items: Longs, weekday: int, stocks: Longs, comings: Longs, orders: Longs
) -> float:
    """Fill the orders of many items. Return the largest residual of their plans."""
    worst = 0.0
    for n in range(items.size):
        orders[n], residual = decide(arrays, items[n], weekday, stocks[n], comings[n])
        worst = max(worst, residual)
    return worst


@kernel
def learn_all(
    demands: Demands, items: Longs, weekdays: Longs, on_sale: Longs, sales: Longs, workspace: DemandWorkspace
) -> None:
    """Learn days of items, in the order given."""
    for n in range(items.size):
        censored_demand.learn(demands, items[n], weekdays[n], on_sale[n], sales[n], workspace)


@kernel
def play(
    inputs: RunInputs, arrays: OrderingArrays, record: Record, places: tuple[Longs, Longs], first: int, last: int
) -> float:
    """Take the steps of the rows ``first .. last - 1``. ``places`` are stock and what is coming, by state."""
    world, draws, noise = inputs
    shelf, demands, workspace = arrays
    on_hand, coming = places
    worst = 0.0
    for step in range(first, last):
        state = record.states[step]
        weekday = demands.days[0] % 7
        order, residual = decide(arrays, 0, weekday, on_hand[state], coming[state])
        worst = max(worst, residual)
        _, following = take_step(world, draws, noise, record, step, order)
        # Agents see states only: the sales are what is missing from the stock that a day without demand leaves.
        on_sale, unsold, _ = advance_day(shelf, on_hand[state], coming[state], order, 0)
        censored_demand.learn(demands, 0, weekday, on_sale, unsold - on_hand[following], workspace)
    return worst
