"""Orders from sample paths: what rules cost on a path, what they ask of a forecast, and the gap to the optimum."""

import numpy as np
import pytest
from benchmarks.order_gaps import judge
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from driftmdp.kernels.late_orders import LateOrders, all_on_time
from driftmdp.kernels.ordering_arrays import (
    CAPPED,
    MOST_DOUBT,
    NO_LIMIT,
    PROJECTED,
    ComingPeriods,
    OrderTerms,
    horizon_needed,
)
from driftmdp.kernels.path_orders import NEVER, expected_regret, plan_on_paths
from driftmdp.kernels.path_rules import (
    OrderRule,
    RuleTrial,
    cost_of_path,
    fill_levels,
    new_trial,
    project,
    rule_order,
    set_ending,
    start_path,
    textbook_rule,
    worth_of_rest,
)
from tests.reference.lost_sales import cost_of, next_of

SEEDS = st.integers(0, 10**6)
LEAD_TIMES = st.sampled_from([0, 1, 2, 3, 7])


def random_terms(rng: np.random.Generator, lead_time: int) -> OrderTerms:
    costs = rng.integers(0, 5, 4) * rng.choice([0.25, 1.0, 1.0 / 3.0])
    capacity = int(rng.choice([1, 5, 30, NO_LIMIT]))
    pack, minimum = int(rng.integers(1, min(capacity, 4) + 1)), int(rng.choice([0, 3, 100]))
    return OrderTerms(*[float(x) for x in costs], capacity, pack, minimum, lead_time)


def random_calendar(rng: np.random.Generator, horizon: int) -> ComingPeriods:
    is_open, may_order = rng.random(horizon) < 0.8, rng.random(horizon) < 0.7
    return ComingPeriods(is_open.astype(np.uint8), may_order.astype(np.uint8), int(rng.integers(0, horizon + 1)))


def on_time():
    """Return that all orders arrive on their days."""
    return LateOrders(*all_on_time())


def random_trial(seed: int, lead_time: int, n_paths: int = 40) -> tuple[np.random.Generator, RuleTrial, tuple]:
    """Return a morning of a random item, and the arguments that it was made of."""
    rng = np.random.default_rng(seed)
    terms, horizon = random_terms(rng, lead_time), lead_time + int(rng.integers(1, 9))
    periods = random_calendar(rng, horizon)
    paths = rng.poisson(rng.choice([0.0, 0.2, 3.0, 900.0]), (n_paths, horizon)).astype(np.int32)
    stock = int(rng.integers(0, 9))
    coming = rng.integers(0, 3, max(lead_time - 1, 0)) * terms.pack
    arguments = terms, stock, coming, paths, periods
    return rng, new_trial(*arguments[:2], np.zeros(0, np.int64), *arguments[2:], on_time()), arguments


@given(SEEDS, LEAD_TIMES)
def test_the_cost_of_a_path_is_that_of_the_reference(seed, lead_time):
    """A rule's orders, followed day by day."""
    rng, trial, (terms, stock, coming, paths, periods) = random_trial(seed, lead_time)
    rule = OrderRule(int(rng.choice([PROJECTED, CAPPED])), float(rng.normal()), float(rng.choice([0, 2])), 0.0)
    fill_levels(trial, rule)
    set_ending(trial, textbook_rule(trial, rule.kind))
    for i, path in enumerate(paths[:5]):
        total, left, line = 0.0, stock, tuple(int(x) for x in coming)
        for h, (demand, opened) in enumerate(zip(path.tolist(), periods.is_open, strict=True)):
            order = 0
            if opened and periods.may_order[h] and h + lead_time < path.size:
                start_path(left, np.array(line, np.int64), trial.arrivals)
                arrivals = np.roll(trial.arrivals, h)  # as the kernel sees them: what arrives in morning h + j
                shifted = trial._replace(arrivals=arrivals)
                order = rule_order(shifted, rule.kind, h, left, left + sum(line), 0)
            total += cost_of(terms, left, order, demand) if opened else 0.0
            left, line = next_of(terms, left, line, order, demand if opened else 0)
        if not trial.ends:
            total -= worth_of_rest(trial, left)  # nothing that arrives later was ordered
        assert cost_of_path(trial, rule.kind, i, -1) == pytest.approx(total)


def test_a_projected_level_with_a_lead_time_of_one_is_the_expected_rest():
    paths = np.array([[0], [1], [4]], np.int32)
    paths = np.hstack([paths, paths])
    terms = OrderTerms(0.0, 0.0, 1.0, 1.0, NO_LIMIT, 1, 0, 1)
    ones = np.ones(2, np.uint8)
    trial = new_trial(
        terms, 3, np.zeros(0, np.int64), np.zeros(0, np.int64), paths, ComingPeriods(ones, ones, 0), on_time()
    )
    assert project(trial, 0, 3) == pytest.approx((3 + 2 + 0) / 3)
    assert project(trial, 0, 9) == pytest.approx((9 + 8 + 5) / 3)


@given(SEEDS, LEAD_TIMES)
def test_more_stock_projects_to_more(seed, lead_time):
    _, trial, (_, stock, coming, _, _) = random_trial(seed, lead_time)
    levels = []
    for more in range(4):
        start_path(stock + more, coming, trial.arrivals)
        levels.append(project(trial, 0, stock + more))
    assert np.all(np.diff(levels) >= -1e-9)
    assert np.all(np.diff(levels) <= 1.0 + 1e-9)
    if lead_time == 0:
        assert levels[0] == stock


@given(SEEDS, LEAD_TIMES)
def test_orders_keep_the_rules_and_are_the_same_twice(seed, lead_time):
    _, _, (terms, stock, coming, paths, periods) = random_trial(seed, lead_time)
    before = paths.copy()
    order, cost, method, doubt = plan_on_paths(terms, stock, coming, paths, periods)
    assert (order, cost, method, doubt) == plan_on_paths(terms, stock, coming, paths, periods)
    assert np.array_equal(paths, before)
    assert order % terms.pack == 0
    assert order == 0 or terms.minimum <= order <= terms.capacity - stock - coming.sum()
    assert order == 0 or (periods.is_open[0] and periods.may_order[0])
    assert np.isfinite(cost)
    assert np.isfinite(doubt)


@given(SEEDS, LEAD_TIMES)
def test_money_in_another_currency_changes_no_order(seed, lead_time):
    _, _, (terms, stock, coming, paths, periods) = random_trial(seed, lead_time)
    order, cost, method, doubt = plan_on_paths(terms, stock, coming, paths, periods)
    dear = OrderTerms(*(4.0 * x for x in terms[:4]), *terms[4:])
    found = plan_on_paths(dear, stock, coming, paths, periods)
    assert (found[0], found[2]) == (order, method)
    assert found[1] == pytest.approx(4.0 * cost)
    assert found[3] == pytest.approx(doubt)


def steady(mean: float, horizon: int, cycle: int = 1, seed: int = 0) -> tuple[np.ndarray, ComingPeriods]:
    ones = np.ones(horizon, np.uint8)
    paths = np.random.default_rng(seed).poisson(mean, (500, horizon)).astype(np.int32)
    return paths, ComingPeriods(ones, ones, cycle)


def nothing(lead_time: int) -> np.ndarray:
    return np.zeros(max(lead_time - 1, 0), np.int64)


@pytest.mark.parametrize("lead_time", [0, 1, 5])
def test_what_would_arrive_after_the_end_is_not_ordered(lead_time):
    terms = OrderTerms(0.0, 0.0, 9.0, 0.1, NO_LIMIT, 1, 0, lead_time)
    order, *_ = plan_on_paths(terms, 0, nothing(lead_time), *steady(5.0, lead_time, 0)) if lead_time else (0,)
    assert order == 0
    order, *_ = plan_on_paths(terms, 0, nothing(lead_time), *steady(5.0, lead_time + 1, 0))
    assert order > 5  # one period to sell it in, and lost sales are dear


@pytest.mark.parametrize("cycle", [0, 1])
def test_without_demand_nothing_is_ordered(cycle):
    for lead_time in (0, 2):
        terms = OrderTerms(0.0, 1.0, 9.0, 0.0, NO_LIMIT, 1, 0, lead_time)
        assert plan_on_paths(terms, 0, nothing(lead_time), *steady(0.0, 8, cycle))[:2] == (0, 0.0)


def test_a_sale_that_is_not_worth_a_unit_is_lost():
    terms = OrderTerms(0.0, 5.0, 4.0, 0.1, NO_LIMIT, 1, 0, 2)
    order, cost, *_ = plan_on_paths(terms, 0, nothing(2), *steady(3.0, 8))
    assert order == 0
    assert cost == pytest.approx(12.0, rel=0.05)


@pytest.mark.parametrize("fixed", [0.0, 4.0, 20.0])
def test_the_cost_of_a_plan_does_not_depend_on_what_was_paid_before(fixed):
    """A stock in the beginning is charged as one in the end is credited. It was 41, 31, 19 and 0 per day."""
    terms = OrderTerms(fixed, 10.0, 30.0, 0.5, NO_LIMIT, 1, 0, 3)
    paths, periods = steady(4.0, horizon_needed(terms, 4.0))
    found = [plan_on_paths(terms, stock, nothing(3), paths, periods)[1] for stock in (15, 25, 50, 100)]
    assert max(found) < 1.15 * min(found)
    assert min(found) > 40.0


def test_a_lead_time_of_sixty():
    terms = OrderTerms(0.0, 0.0, 9.0, 1.0, NO_LIMIT, 1, 0, 60)
    paths, periods = steady(5.0, horizon_needed(terms, 5.0))
    coming = np.full(59, 4)  # near what is best for ever: less than demand, since stock gathers
    order, cost, *_ = plan_on_paths(terms, 10, coming, paths, periods)
    assert 3 <= order <= 8
    assert 3.0 < cost < 25.0
    assert plan_on_paths(terms, 200, coming, paths, periods)[0] == 0


def test_large_demand_is_ordered_near_the_newsvendor_s_quantile():
    """Without a lead time and with no fixed cost, the best level is a quantile of a day's demand."""
    terms = OrderTerms(0.0, 0.0, 9.0, 1.0, NO_LIMIT, 1, 0, 0)
    paths, periods = steady(2500.0, 8)
    order, *_ = plan_on_paths(terms, 0, nothing(0), paths, periods)
    assert order == pytest.approx(2500 + 1.28 * 50, abs=20)


def test_orders_last_until_the_next_order_day():
    terms = OrderTerms(0.0, 0.0, 9.0, 0.1, NO_LIMIT, 1, 0, 1)
    paths, periods = steady(4.0, 15, 7)
    weekly = periods._replace(may_order=(np.arange(15) % 7 == 0).astype(np.uint8))
    often, seldom = (plan_on_paths(terms, 4, nothing(1), paths, calendar)[0] for calendar in (periods, weekly))
    assert often < 12
    assert 25 < seldom < 50
    tomorrow = periods._replace(may_order=(np.arange(15) % 7 == 1).astype(np.uint8))
    assert plan_on_paths(terms, 4, nothing(1), paths, tomorrow)[0] == 0


def test_a_fixed_cost_makes_orders_larger():
    paths, periods = steady(4.0, 16)
    orders = [
        plan_on_paths(OrderTerms(fixed, 0.0, 9.0, 0.5, NO_LIMIT, 1, 0, 1), 0, nothing(1), paths, periods)[0]
        for fixed in (0.0, 30.0)
    ]
    assert orders[1] > orders[0] + 8


def test_a_rule_may_never_order():
    """Where the fixed cost is beyond all that can be earned."""
    terms = OrderTerms(500.0, 0.0, 1.0, 1.0, 20, 1, 0, 2)
    paths, periods = steady(3.0, 10)
    assert plan_on_paths(terms, 0, nothing(2), paths, periods)[0] == 0
    trial = new_trial(terms, 0, np.zeros(0, np.int64), nothing(2), paths, periods, on_time())
    fill_levels(trial, OrderRule(PROJECTED, NEVER, 0.0, 0.0))
    assert cost_of_path(trial, PROJECTED, 0, -1) == paths[0].sum()


@pytest.mark.parametrize("number", [0, 3, 5, 8, 12, 26, 31])
def test_the_gap_to_the_optimum_is_small(number):
    verdict = judge((7, number))
    assert verdict.plans > 0
    assert -0.01 < verdict.gap < 3.0


@given(st.floats(-3.0, 3.0), st.floats(0.05, 2.0))
def test_expected_regret_is_the_mean_loss_of_a_wrong_sign(saving, error):
    """The true saving lies around the found one, and is lost where its sign is another."""
    true = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000, loc=abs(saving), scale=error)
    assert expected_regret(saving, error) == pytest.approx(np.maximum(-true, 0.0).mean(), abs=1e-4)
    assert expected_regret(saving, 0.0) == 0.0


def test_doubt_is_large_where_ordering_hardly_pays_and_falls_with_paths():
    found = {}
    for lost in (2.0, 3.3, 30.0):
        terms = OrderTerms(4.0, 1.0, lost, 0.5, 20, 1, 0, 2)
        for n_paths in (512, 4096):
            drawn = np.random.default_rng(n_paths).poisson(1.0, (n_paths, 20)).astype(np.int32)
            periods = ComingPeriods(np.ones(20, np.uint8), np.ones(20, np.uint8), 1)
            found[lost, n_paths] = plan_on_paths(terms, 0, nothing(2), drawn, periods)[3]
    assert found[3.3, 512] > found[2.0, 512]
    assert found[3.3, 4096] < found[3.3, 512]


@pytest.mark.parametrize("capacity", [12, 20, 60])
def test_a_plan_that_never_orders_knows_its_doubt(capacity):
    """A defect once: on large shelves a search that slid into never ordering compared it with itself."""
    terms = OrderTerms(4.0, 1.0, 3.02, 0.5, capacity, 1, 0, 2)
    drawn = np.random.default_rng(8).poisson(1.0, (4096, 20)).astype(np.int32)
    periods = ComingPeriods(np.ones(20, np.uint8), np.ones(20, np.uint8), 1)
    few, many = (plan_on_paths(terms, 0, nothing(2), drawn[:n].copy(), periods) for n in (512, 4096))
    assert (few[0], many[0]) == (0, 4)
    assert few[3] > MOST_DOUBT
