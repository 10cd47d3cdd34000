"""Inventory kernels: equal to tests/reference/inventory_optimist.py, and the laws that they obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import kernels
from driftmdp.kernels.inventory_arrays import (
    Demands,
    DemandWorkspace,
    OrderTrace,
    ShelfModel,
    new_demand_workspace,
    new_demands,
    new_order_trace,
)
from driftmdp.problems.inventory import Empirical
from tests.reference import inventory_optimist as reference

SEEDS = st.integers(0, 10**6)
CLOSE = {"rtol": 0.0, "atol": 1e-10}
NEARLY_AS_GOOD = 1e-5  # orders whose costs differ less may both be chosen: plans are not exact


def random_days(rng: np.random.Generator, capacity: int, n: int) -> list[tuple[int, int, int]]:
    """Return weekday, units on sale and units sold: shelves empty, full and sold out, a long run of zeros."""
    quiet = range(n // 3, n // 3 + 20)
    days = []
    for t in range(n):
        on_sale = int(rng.choice([0, capacity, rng.integers(1, capacity + 1)], p=[0.1, 0.3, 0.6]))
        demand = 0 if t in quiet else int(rng.poisson(capacity * rng.choice([0.1, 0.5, 2.0])))
        days.append((int(rng.integers(7)), on_sale, min(demand, on_sale)))
    return days


def learned(days, capacity: int) -> tuple[Demands, DemandWorkspace]:
    demands, workspace = new_demands(1, capacity), new_demand_workspace(capacity, 0)
    for weekday, on_sale, sold in days:
        kernels.censored_demand.learn(demands, 0, weekday, on_sale, sold, workspace)
    return demands, workspace


def random_law(rng: np.random.Generator, capacity: int, gaps: bool) -> np.ndarray:
    """Return a law that sells something now and then."""
    law = rng.dirichlet(np.full(capacity + 1, rng.choice([0.3, 1.0, 5.0])))
    if gaps:
        law *= rng.random(capacity + 1) < 0.6
    law[rng.integers(1, capacity + 1)] += 0.05
    return law / law.sum()


def random_costs(rng: np.random.Generator) -> list[float]:
    """Return f, c, l and h, often 0 and often equal."""
    return [float(x) for x in rng.integers(0, 5, 4) * rng.choice([0.25, 1.0, 1.0 / 3.0])]


def random_path(rng: np.random.Generator, capacity: int, n: int) -> np.ndarray:
    """Return demands that swing, and differ between weekdays."""
    t = np.arange(n)
    mean = rng.choice([0.15, 0.4, 0.8]) * capacity * (1 + 0.8 * np.sin(t / 20)) * np.where(t % 7 < 2, 2.0, 0.7)
    return rng.poisson(mean).astype(np.int32)


def least_average_cost(law: np.ndarray, shelf: ShelfModel) -> float:
    """Return minus the optimal gain of the MDP of problems/inventory."""
    problem = dm.problems.inventory(
        shelf.capacity,
        horizon=1,
        demand=Empirical([law.tolist()]),
        fixed_cost=shelf.fixed,
        unit_cost=shelf.unit,
        lost_sale=shelf.lost,
        holding=shelf.holding,
        zeta=0.0,
        lead_time=shelf.lead_time,
    )
    return -dm.planning.optimal_gain(problem.drifting.at(1), allow_transient=True).gain


# Demand seen through sales. -----------------------------------------------------------------------------


@pytest.mark.parametrize(("capacity", "n"), [(1, 150), (3, 150), (8, 90), (20, 60)])
def test_estimates_weights_belief_and_laws_equal_the_reference(capacity, n):
    rng = np.random.default_rng(capacity)
    demands, workspace = new_demands(3, capacity), new_demand_workspace(capacity, 0)
    expected = reference.Demand(capacity)
    for t, (weekday, on_sale, sold) in enumerate(random_days(rng, capacity, n)):
        kernels.censored_demand.learn(demands, 1, weekday, on_sale, sold, workspace)
        expected.learn(weekday, on_sale, sold)
        np.testing.assert_allclose(demands.at_risk[1], expected.at_risk, **CLOSE)
        np.testing.assert_allclose(demands.stops[1], expected.stops, **CLOSE)
        np.testing.assert_allclose(demands.weights[1], expected.weights, **CLOSE)
        np.testing.assert_allclose(demands.rhythm[1], [expected.observed, expected.expected], **CLOSE)
        np.testing.assert_allclose(demands.belief[1], expected.belief, **CLOSE)
        assert demands.days[1] == expected.days
        if t % 7 == 0:
            theta = expected.believed(weekday)
            kernels.censored_demand.predict(demands, 1, weekday, workspace)
            np.testing.assert_allclose(workspace.hazards, expected.hazards(), **CLOSE)
            np.testing.assert_allclose(workspace.law, expected.optimistic_law(1.0), **CLOSE)
            np.testing.assert_allclose(workspace.today, expected.optimistic_law(theta), **CLOSE)
            np.testing.assert_allclose(workspace.tail, expected.tail(theta), **CLOSE)
            np.testing.assert_allclose(workspace.spread, expected.spread(theta), **CLOSE)
    others, untouched = demands.at_risk[[0, 2]], demands.weights[[0, 2]]
    assert not others.any()
    assert (untouched == 1 / 6).all()


@given(SEEDS)
def test_a_prediction_is_a_law_whose_tail_lies_above_the_estimate(seed):
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(1, 130))
    demands, workspace = learned(random_days(rng, capacity, int(rng.integers(0, 90))), capacity)
    kernels.censored_demand.predict(demands, 0, int(rng.integers(7)), workspace)
    for law in (workspace.law, workspace.today):
        assert law.min() >= 0
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert (1 - np.cumsum(workspace.today[:-1]) >= workspace.tail[1:] - 1e-12).all()
    assert (np.diff(workspace.tail) <= 0).all()


@given(SEEDS)
def test_weights_are_a_law_and_no_memory_and_no_belief_dies_out(seed):
    rng = np.random.default_rng(seed)
    demands, _ = learned(random_days(rng, 6, 90), 6)
    assert demands.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert demands.weights.min() >= 0.01 / 6
    assert 0.005 <= demands.belief[0] <= 0.995


@given(SEEDS)
def test_a_day_with_nothing_on_sale_judges_nobody_and_leaves_the_longest_memory(seed):
    rng = np.random.default_rng(seed)
    demands, workspace = learned(random_days(rng, 4, 40), 4)
    before = Demands(*(array.copy() for array in demands))
    kernels.censored_demand.learn(demands, 0, int(rng.integers(7)), 0, 0, workspace)
    for name in ("weights", "belief", "rhythm"):
        np.testing.assert_array_equal(getattr(demands, name), getattr(before, name))
    np.testing.assert_array_equal(demands.at_risk[0, -1], before.at_risk[0, -1])
    assert (demands.at_risk <= before.at_risk).all()
    assert demands.days[0] == before.days[0] + 1


@given(SEEDS)
def test_selling_one_more_raises_no_memory_s_hazard_below_and_selling_out_none_at_all(seed):
    """So for each memory; the mixture's tail may fall, as memories that expect a lower one gain weight."""
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(1, 9))
    days = random_days(rng, capacity, int(rng.integers(0, 60)))
    on_sale = int(rng.integers(1, capacity + 1))
    sold = int(rng.integers(1, on_sale + 1))
    hazards = []
    for y in (sold, sold - 1):
        demands, workspace = learned([*days, (0, on_sale, y)], capacity)
        kernels.censored_demand.predict(demands, 0, 0, workspace)
        hazards.append(workspace.hazards)
    more, less = hazards
    levels = capacity if sold == on_sale else sold
    assert (more[:, :levels] <= less[:, :levels] + 1e-12).all()


@given(SEEDS)
def test_the_longest_memory_is_kaplan_meier_s(seed):
    rng = np.random.default_rng(seed)
    days = random_days(rng, 8, 50)
    demands, _ = learned(days, 8)
    # Sold out at y says that demand is beyond y - 1: censored then, after any stop at y - 1.
    times = [sold if sold < on_sale else sold - 1 for _, on_sale, sold in days if on_sale > 0]
    stopped = [sold < on_sale for _, on_sale, sold in days if on_sale > 0]
    assert_kaplan_meier(demands, reference.kaplan_meier(times, stopped))


def test_freireich_s_leukaemia_patients_survive_as_published():
    """6-MP arm of Freireich et al. (1963), Blood 21, and its survival as textbooks print it."""
    died = [6, 6, 6, 7, 10, 13, 16, 22, 23]
    lost = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    published = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448}
    textbook = reference.kaplan_meier(died + lost, [True] * len(died) + [False] * len(lost))
    assert textbook == pytest.approx(published, abs=5e-4)
    # Whoever is alive after t has "sold out" t + 1.
    demands, _ = learned([(0, 36, t) for t in died] + [(0, t + 1, t + 1) for t in lost], 36)
    assert_kaplan_meier(demands, textbook)


def assert_kaplan_meier(demands: Demands, survival: dict[int, float]) -> None:
    stops, at_risk = demands.stops[0, -1], demands.at_risk[0, -1]
    assert set(np.flatnonzero(stops)) == set(survival)
    tail = np.cumprod(1 - stops / np.maximum(at_risk, 1))
    np.testing.assert_allclose([tail[t] for t in survival], list(survival.values()), **CLOSE)


# Plans and orders. --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lead_time", "capacity"), [(0, 1), (0, 4), (0, 7), (1, 3), (1, 6), (2, 2), (2, 4)])
def test_the_whole_agent_orders_as_the_reference(lead_time, capacity):
    n = 120
    rng = np.random.default_rng([lead_time, capacity])
    costs = [float(rng.choice(x)) for x in ([0, 1, 4], [0, 0.5, 1], [2, 4, 8], [0.1, 0.5, 1])]
    path, weekdays = random_path(rng, capacity, n), (np.arange(n) % 7).astype(np.int32)
    shelf, trace, means = ShelfModel(*costs, capacity, lead_time), new_order_trace(n), np.zeros(n)
    demands, workspace = new_demands(1, capacity), new_demand_workspace(capacity, lead_time)
    arrays = shelf, demands, workspace
    residual = kernels.inventory_rules.follow_optimist(path, weekdays, arrays, means, trace)
    assert residual <= 1e-6 * sum(costs)
    agent = reference.Optimist(reference.Shop(*shelf))
    stock = coming = 0
    for t, demand in enumerate(path.tolist()):
        order = int(trace.orders[t])
        assert_as_good(agent.totals(t % 7, stock, coming), order)
        assert trace.levels[t] == stock + coming + order
        estimate = sum(agent.demand.tail(agent.demand.believed(t % 7))[1:])
        assert means[t] == pytest.approx(estimate, abs=1e-9)
        on_sale, sold, _, stock, coming = agent.shop.day(stock, coming, order, demand)
        assert trace.on_sale[t] == on_sale
        agent.demand.learn(t % 7, on_sale, sold)


def assert_as_good(totals: list[float], order: int) -> None:
    """Assert that the order is the reference's, or costs as little."""
    if order != reference.smallest_of_the_best(totals):
        assert totals[order] <= min(totals) + NEARLY_AS_GOOD


def test_many_items_are_learned_and_ordered_as_one_by_one():
    rng = np.random.default_rng(0)
    capacity, n_items = 3, 3
    shelf = ShelfModel(1.0, 0.5, 4.0, 0.5, capacity, 2)
    agents = [reference.Optimist(reference.Shop(*shelf)) for _ in range(n_items)]
    demands, workspace = new_demands(n_items, capacity), new_demand_workspace(capacity, 2)
    for day in range(15):
        items = rng.permutation(n_items)
        stocks = rng.integers(0, capacity + 1, n_items)
        comings = rng.integers(0, capacity - stocks + 1)
        orders = np.full(n_items, -1)
        arrays = shelf, demands, workspace
        residual = kernels.inventory_rules.decide_all(arrays, items, day % 7, stocks, comings, orders)
        assert residual <= 1e-6 * sum(shelf[:4])
        for n, item in enumerate(items):
            assert_as_good(agents[item].totals(day % 7, int(stocks[n]), int(comings[n])), int(orders[n]))
        learned_items = rng.integers(0, n_items, 6)
        weekdays = np.full(6, day % 7)
        on_sale = rng.integers(0, capacity + 1, 6)
        sold = rng.integers(0, on_sale + 1)
        kernels.inventory_rules.learn_all(demands, learned_items, weekdays, on_sale, sold, workspace)
        for item, y, sales in zip(learned_items, on_sale.tolist(), sold.tolist(), strict=True):
            agents[item].demand.learn(day % 7, y, sales)
    for item, agent in enumerate(agents):
        np.testing.assert_allclose(demands.weights[item], agent.demand.weights, **CLOSE)
        np.testing.assert_allclose(demands.stops[item], agent.demand.stops, **CLOSE)


@given(SEEDS)
def test_the_best_levels_cost_what_their_stationary_distribution_says(seed):
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(1, 7))
    law = random_law(rng, capacity, gaps=bool(rng.integers(2)))
    shelf = ShelfModel(*random_costs(rng), capacity, 0)
    room = np.zeros(capacity + 1), np.zeros(capacity + 1)
    s, up, cost = kernels.order_planning.find_best_levels(law, shelf, *room, False)
    shop = reference.Shop(*shelf)
    rules, best = reference.best_levels(shop, law.tolist())
    assert cost == pytest.approx(best, abs=1e-8)
    assert (s, up) in rules
    s, up, with_never = kernels.order_planning.find_best_levels(law, shelf, *room, True)
    assert with_never == pytest.approx(min(0.0, best), abs=1e-8)
    assert (s, up) == (-1, 0) or (s, up) in rules


@given(SEEDS)
def test_without_lead_time_no_way_of_ordering_beats_the_best_levels(seed):
    """For all costs: also free ordering or holding, and sales worth less than a unit (then never order)."""
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(1, 13))
    shelf, workspace = ShelfModel(*random_costs(rng), capacity, 0), new_demand_workspace(capacity, 0)
    workspace.law[:] = random_law(rng, capacity, gaps=bool(rng.integers(2)))
    s, up, cost, residual = kernels.order_planning.plan(workspace, shelf)
    assert residual == 0
    assert cost == pytest.approx(least_average_cost(workspace.law, shelf), abs=1e-7)
    assert (s, up) == (-1, 0) or 0 <= s < up <= capacity
    if shelf.lost <= shelf.unit:
        assert (s, up) == (-1, 0)


@given(SEEDS, st.sampled_from([1, 2]))
def test_with_lead_time_a_plan_costs_the_least_within_its_residual(seed, lead_time):
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(1, 9 if lead_time == 1 else 6))
    shelf, workspace = (
        ShelfModel(*random_costs(rng), capacity, lead_time),
        new_demand_workspace(capacity, lead_time),
    )
    workspace.law[:] = random_law(rng, capacity, gaps=bool(rng.integers(2)))
    _, _, cost, residual = kernels.order_planning.plan(workspace, shelf)
    assert residual <= 1e-6 * sum(shelf[:4])
    assert abs(cost - least_average_cost(workspace.law, shelf)) <= residual / 2 + 1e-8


@given(SEEDS, st.sampled_from([0, 1, 2]))
def test_a_plan_s_orders_are_best_in_every_state(seed, lead_time):
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(1, (8, 8, 5)[lead_time]))
    costs = [float(rng.choice(x)) for x in ([0, 1], [0, 0.5], [3, 8], [0.5, 1, 2])]
    shelf, workspace = ShelfModel(*costs, capacity, lead_time), new_demand_workspace(capacity, lead_time)
    workspace.law[:] = random_law(rng, capacity, gaps=False)
    workspace.today[rng.integers(capacity + 1)] = 1.0  # far from a usual day
    kernels.order_planning.plan(workspace, shelf)
    shop, today = reference.Shop(*shelf), workspace.today.tolist()
    _, values = reference.plan(shop, workspace.law.tolist())
    for stock, coming in shop.states():
        totals = [shop.expected(stock, coming, a, today, values) for a in shop.orders(stock, coming)]
        assert_as_good(totals, kernels.order_planning.choose_order(workspace, shelf, stock, coming))


def test_values_solve_the_optimality_equation_where_the_law_has_gaps():
    """Demand is always 2: s = 0 and s = 1 cost the same, but at stock 1 an order of 1 is not worth f."""
    shelf, workspace = ShelfModel(3.0, 2.0, 4.0, 0.0, 2, 0), new_demand_workspace(2, 0)
    workspace.law[:] = 0.0, 0.0, 1.0
    kernels.order_planning.plan(workspace, shelf)
    _, values = reference.plan(reference.Shop(*shelf), workspace.law.tolist())
    expected = [values[stock, 0] - values[0, 0] for stock in range(3)]
    np.testing.assert_allclose(workspace.values - workspace.values[0], expected, atol=1e-9)


def test_the_best_levels_without_demand_hold_one_unit():
    room = np.zeros(4), np.zeros(4)
    law = np.array([1.0, 0.0, 0.0, 0.0])
    s, up, cost = kernels.order_planning.find_best_levels(law, ShelfModel(4.0, 0.5, 4.0, 0.5, 3, 0), *room, False)
    assert (s, up, cost) == (0, 1, 0.5)


# Yardsticks along a path. -------------------------------------------------------------------------------


def quarters(rng: np.random.Generator) -> list[float]:
    """Return costs whose sums are exact, so that equal costs are equal numbers."""
    return [float(x) / 4 for x in rng.integers([0, 0, 4, 0], [40, 8, 40, 8])]


@given(SEEDS, st.sampled_from([0, 1, 2]))
def test_levels_along_a_path_equal_the_reference(seed, lead_time):
    rng = np.random.default_rng(seed)
    capacity, n = int(rng.integers(1, 6)), 40
    path = random_path(rng, capacity, n)
    shelf = ShelfModel(*quarters(rng), capacity, lead_time)
    shop, demand = reference.Shop(*shelf), path.tolist()
    first, scored, last = sorted(int(t) for t in rng.integers(0, n + 1, 3))
    up = int(rng.integers(1, capacity + 1))
    s = int(rng.integers(-1, up))
    cost = kernels.inventory_rules.cost_of_levels(path, first, scored, last, shelf, s, up)
    # The kernel counts lost sales, the reference what was sold: l X between them, whatever is ordered.
    shift = shelf.lost * sum(demand[scored:last])
    assert cost == reference.cost_of_levels(shop, demand, first, scored, last, s, up) + shift
    cheapest = kernels.inventory_rules.find_cheapest_levels(path, first, scored, last, shelf)
    assert cheapest == reference.cheapest_levels(shop, demand, first, scored, last)
    trace = new_order_trace(n)
    kernels.inventory_rules.follow_levels(path, shelf, s, up, trace)
    choose = lambda t, stock, coming, sales: reference.order_up_to(s, up, stock, coming)  # noqa: E731
    _, orders, shelves, _ = reference.follow(shop, demand, choose)
    assert (trace.orders.tolist(), trace.on_sale.tolist()) == (orders, shelves)
    assert (trace.levels == up).all()


@pytest.mark.parametrize("censored", [True, False])
def test_rolling_levels_without_lead_time_are_always_best_for_the_last_days(censored):
    """Of rules that cost the same for these days any may be taken."""
    rng = np.random.default_rng(4)
    capacity, n, window = 4, 100, 60
    path = random_path(rng, capacity, n)
    shelf, trace, workspace = (
        ShelfModel(2.0, 0.5, 4.0, 0.5, capacity, 0),
        new_order_trace(n),
        new_demand_workspace(capacity, 0),
    )
    dice = np.zeros(1), np.zeros(1, np.int32)
    kernels.inventory_rules.roll_levels(
        path, shelf, window, censored, workspace, dice, np.zeros(n, np.int32), trace
    )
    shop, demand = reference.Shop(*shelf), path.tolist()

    def choose(t, stock, coming, sales):
        rules = [(capacity - 1, capacity)]
        if t > 0:
            seen = (sales if censored else demand[:t])[-window:]
            rules, _ = reference.best_levels(shop, reference.empirical_law(seen, capacity))
        orders = {reference.order_up_to(*rule, stock, coming) for rule in rules if rule[1] == trace.levels[t]}
        assert trace.orders[t] in orders
        return int(trace.orders[t])

    _, _, shelves, _ = reference.follow(shop, demand, choose)
    assert trace.on_sale.tolist() == shelves


@pytest.mark.parametrize("censored", [True, False])
@pytest.mark.parametrize("lead_time", [1, 2])
def test_rolling_levels_with_lead_time_equal_the_reference_on_the_same_draws(lead_time, censored):
    rng = np.random.default_rng(lead_time)
    capacity, n, window = 3, 50, 20
    path = random_path(rng, capacity, n)
    shelf = ShelfModel(2.0, 0.5, 4.0, 0.5, capacity, lead_time)
    trace, workspace = new_order_trace(n), new_demand_workspace(capacity, lead_time)
    dice = rng.random(40)
    room = dice, np.zeros(40, np.int32)
    kernels.inventory_rules.roll_levels(
        path, shelf, window, censored, workspace, room, np.zeros(n, np.int32), trace
    )
    shop = reference.Shop(*shelf)

    def fit(seen):
        drawn = [seen[int(die * len(seen))] for die in dice]
        return reference.cheapest_levels(shop, drawn, 0, 0, len(drawn))

    _, orders, shelves, _ = reference.roll_levels(shop, path.tolist(), window, censored, fit)
    assert (trace.orders.tolist(), trace.on_sale.tolist()) == (orders, shelves)


def base_stock_of_the_kernel(path: np.ndarray, shelf: ShelfModel, window: int, ratio: float) -> OrderTrace:
    n, trace = path.size, new_order_trace(path.size)
    counts = np.zeros((shelf.lead_time + 1) * shelf.capacity + 1, np.int64)
    kernels.inventory_rules.roll_base_stock(path, shelf, window, ratio, np.zeros(n, np.int32), counts, trace)
    return trace


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_base_stock_equals_the_reference(lead_time, ratio):
    rng = np.random.default_rng(lead_time)
    shelf = ShelfModel(2.0, 0.5, 4.0, 0.5, 6, lead_time)
    path = random_path(rng, shelf.capacity, 120)
    trace = base_stock_of_the_kernel(path, shelf, 60, ratio)
    _, orders, shelves, _ = reference.roll_base_stock(reference.Shop(*shelf), path.tolist(), ratio)
    assert (trace.orders.tolist(), trace.on_sale.tolist()) == (orders, shelves)


def test_base_stock_knows_that_seven_of_twenty_five_days_are_a_share_of_28_percent():
    shelf = ShelfModel(2.0, 0.5, 4.0, 0.5, 1, 0)
    path = np.array([1] * 17 + [0] * 7 + [1, 1], np.int32)
    trace = base_stock_of_the_kernel(path, shelf, 25, 0.28)
    _, orders, *_ = reference.roll_base_stock(reference.Shop(*shelf), path.tolist(), 0.28, window=25)
    assert trace.orders.tolist() == orders  # on the last day none: 7 of 25 days sold nothing
