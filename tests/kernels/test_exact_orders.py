"""Orders by dynamic programming: equal to tests/reference/lost_sales.py within their certificate, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from driftmdp.kernels.exact_orders import plan_exactly
from driftmdp.kernels.order_states import exact_work, top_level
from driftmdp.kernels.ordering_arrays import NO_LIMIT, ComingPeriods, OrderTerms
from tests.reference.lost_sales import Chain, backwards

SEEDS = st.integers(0, 10**6)
LEAD_TIMES = st.sampled_from([0, 1, 2, 3])


def random_terms(rng: np.random.Generator, lead_time: int) -> OrderTerms:
    """Return terms with costs that are often 0 or equal, small shelves, packs and minimums that may not fit."""
    costs = rng.integers(0, 5, 4) * rng.choice([0.25, 1.0, 1.0 / 3.0])
    capacity = int(rng.integers(1, (13, 10, 8, 6)[lead_time]))
    pack, minimum = int(rng.integers(1, min(capacity, 4) + 1)), int(rng.integers(0, 5))
    return OrderTerms(*[float(x) for x in costs], capacity, pack, minimum, lead_time)


def random_calendar(rng: np.random.Generator, horizon: int, cycle: int) -> ComingPeriods:
    """Return open and order days that repeat, each cycle with one of both."""
    length = max(cycle, 1)
    is_open, may_order = rng.random(length) < 0.8, rng.random(length) < 0.7
    day = rng.integers(length)
    is_open[day] = may_order[day] = True
    # Aligned with the end: the last ``cycle`` periods are what repeats.
    place = (np.arange(horizon) - horizon) % length
    return ComingPeriods(is_open[place].astype(np.uint8), may_order[place].astype(np.uint8), cycle)


def random_laws(rng: np.random.Generator, horizon: int, cycle: int, capacity: int) -> np.ndarray:
    """Return laws that repeat, with some demand beyond the shelf."""
    length = max(cycle, 1)
    laws = rng.dirichlet(np.full(capacity + 3, rng.choice([0.2, 1.0])), length)
    laws[:, 1] += 0.05
    laws /= laws.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(laws[(np.arange(horizon) - horizon) % length])


def chain_of(terms: OrderTerms, laws: np.ndarray, periods: ComingPeriods, first: int, length: int) -> Chain:
    part = slice(first, first + length)
    return Chain(terms, laws[part], periods.may_order[part], periods.is_open[part])


@given(SEEDS, LEAD_TIMES, st.sampled_from([1, 2, 3]))
def test_a_plan_costs_the_least_within_its_certificate(seed, lead_time, cycle):
    rng = np.random.default_rng(seed)
    terms, horizon = random_terms(rng, lead_time), 2 * cycle
    laws, periods = random_laws(rng, horizon, cycle, terms.capacity), random_calendar(rng, horizon, cycle)
    chain = chain_of(terms, laws, periods, 0, cycle)
    best, _ = chain.optimum(precision=1e-7)
    policy, worst = np.zeros((cycle, len(chain.stocks)), int), 0.0
    for phase in range(cycle):
        calendar = ComingPeriods(np.roll(periods.is_open, -phase), np.roll(periods.may_order, -phase), cycle)
        shifted = np.ascontiguousarray(np.roll(laws, -phase, axis=0))
        for state, (stock, coming) in enumerate(chain.stocks):
            order, cost, residual = plan_exactly(terms, stock, np.array(coming, np.int64), shifted, calendar)
            assert abs(cost - best) <= residual + 1e-6
            policy[phase, state], worst = order, max(worst, residual)
    found = chain.average_cost(list(policy))
    assert best - 1e-5 <= found <= best + worst + 1e-5


@given(SEEDS, LEAD_TIMES)
def test_with_an_end_the_plan_is_backward_induction(seed, lead_time):
    rng = np.random.default_rng(seed)
    terms, horizon = random_terms(rng, lead_time), int(rng.integers(1, 6))
    laws = random_laws(rng, horizon, horizon, terms.capacity)
    periods = random_calendar(rng, horizon, horizon)._replace(cycle=0)
    chain = chain_of(terms, laws, periods, 0, horizon)
    values, orders = backwards(chain, range(horizon))
    n_open = max(int(periods.is_open.sum()), 1)
    for state, (stock, coming) in enumerate(chain.stocks):
        order, cost, residual = plan_exactly(terms, stock, np.array(coming, np.int64), laws, periods)
        assert (cost * n_open, residual) == (pytest.approx(values[state], abs=1e-8), 0.0)
        if order != orders[state]:  # both may be best, up to rounding
            assert values[state] == pytest.approx(cost_of_order(chain, 0, horizon, state, order), abs=1e-8)


def cost_of_order(chain: Chain, phase: int, horizon: int, state: int, order: int) -> float:
    values, _ = backwards(chain, range(phase + 1, horizon))
    rows, orders, *_ = chain.phases[phase]
    return float(chain.step(phase, values)[(rows == state) & (orders == order)][0])


@given(SEEDS, LEAD_TIMES)
def test_orders_keep_the_rules(seed, lead_time):
    rng = np.random.default_rng(seed)
    terms, horizon = random_terms(rng, lead_time), 6
    laws, periods = random_laws(rng, horizon, 3, terms.capacity), random_calendar(rng, horizon, 3)
    stock, coming = int(rng.integers(0, terms.capacity + 4)), np.zeros(max(lead_time - 1, 0), np.int64)
    order, *_ = plan_exactly(terms, stock, coming, laws, periods)
    assert order % terms.pack == 0
    assert order == 0 or (terms.minimum <= order <= terms.capacity - stock)
    assert order == 0 or (periods.may_order[0] and periods.is_open[0])


@given(SEEDS, LEAD_TIMES)
def test_money_in_another_currency_changes_no_order(seed, lead_time):
    rng = np.random.default_rng(seed)
    terms = random_terms(rng, lead_time)
    laws, periods = random_laws(rng, 4, 2, terms.capacity), random_calendar(rng, 4, 2)
    dear = OrderTerms(*(4.0 * x for x in terms[:4]), *terms[4:])
    coming = np.zeros(max(lead_time - 1, 0), np.int64)
    order, cost, residual = plan_exactly(terms, 0, coming, laws, periods)
    assert plan_exactly(dear, 0, coming, laws, periods) == (order, 4.0 * cost, 4.0 * residual)


def steady(law, horizon=4, cycle=1) -> tuple[np.ndarray, ComingPeriods]:
    ones = np.ones(horizon, np.uint8)
    return np.tile(np.asarray(law, float), (horizon, 1)), ComingPeriods(ones, ones, cycle)


NOTHING = np.zeros(0, np.int64)


def test_without_demand_nothing_is_ordered():
    assert plan_exactly(OrderTerms(1.0, 1.0, 9.0, 1.0, 20, 1, 0, 0), 0, NOTHING, *steady([1.0, 0.0]))[:2] == (
        0,
        0.0,
    )


def test_a_minimum_that_never_fits_is_never_ordered():
    order, cost, _ = plan_exactly(OrderTerms(0.0, 0.0, 9.0, 1.0, 5, 2, 6, 1), 0, NOTHING, *steady([0.5, 0.5]))
    assert (order, cost) == (0, pytest.approx(4.5))


def test_one_unit_of_capacity():
    """Demand of one each day, and a shelf of one: an order a day, and no other cost."""
    for lead_time in (0, 1):
        terms = OrderTerms(1.0, 2.0, 9.0, 1.0, 1, 1, 0, lead_time)
        order, cost, _ = plan_exactly(terms, 0, NOTHING, *steady([0.0, 1.0]))
        # With a lead time of one an order fits only when the shelf is empty in the morning: every other day.
        assert (order, cost) == (1, pytest.approx(3.0 if lead_time == 0 else 6.0, abs=0.01))


def test_a_pack_as_large_as_the_shelf():
    order, *_ = plan_exactly(OrderTerms(0.0, 0.0, 9.0, 0.1, 12, 12, 0, 0), 0, NOTHING, *steady([0.5, 0.5]))
    assert order == 12
    order, *_ = plan_exactly(OrderTerms(0.0, 0.0, 9.0, 0.1, 12, 12, 0, 0), 1, NOTHING, *steady([0.5, 0.5]))
    assert order == 0


def test_never_an_order_day():
    laws, periods = steady([0.5, 0.5])
    closed = periods._replace(may_order=np.zeros(4, np.uint8))
    order, cost, _ = plan_exactly(OrderTerms(0.0, 0.0, 9.0, 1.0, 5, 1, 0, 1), 0, NOTHING, laws, closed)
    assert (order, cost) == (0, pytest.approx(4.5))


def test_all_days_closed_cost_nothing():
    laws, periods = steady([0.5, 0.5])
    closed = periods._replace(is_open=np.zeros(4, np.uint8))
    assert plan_exactly(OrderTerms(0.0, 0.0, 9.0, 1.0, 5, 1, 0, 2), 3, np.zeros(1, np.int64), laws, closed)[:2] == (
        0,
        0.0,
    )


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_a_shelf_without_a_limit_is_one_that_is_large_enough(lead_time):
    laws, periods = steady([0.3, 0.3, 0.2, 0.1, 0.1])
    coming = np.zeros(max(lead_time - 1, 0), np.int64)
    free = OrderTerms(5.0, 0.5, 9.0, 0.5, NO_LIMIT, 1, 0, lead_time)
    large = free._replace(capacity=40)
    assert top_level(free, 0, coming, laws, periods) < 40
    found, expected = (plan_exactly(terms, 0, coming, laws, periods) for terms in (free, large))
    assert found == expected


def test_an_order_on_its_way_that_is_no_multiple_of_the_pack_is_not_for_this_planner():
    laws, periods = steady([0.5, 0.5])
    terms = OrderTerms(0.0, 0.0, 9.0, 1.0, 20, 4, 0, 2)
    assert exact_work(terms, 0, np.array([6]), laws, periods) == np.inf
    assert exact_work(terms, 0, np.array([8]), laws, periods) < np.inf


def test_work_grows_with_the_lead_time():
    laws, periods = steady([0.3, 0.3, 0.2, 0.1, 0.1])
    works = [
        exact_work(
            OrderTerms(0.0, 0.0, 9.0, 1.0, 20, 1, 0, lead), 0, np.zeros(max(lead - 1, 0), np.int64), laws, periods
        )
        for lead in range(5)
    ]
    assert works == sorted(works)


def test_a_large_shelf_settles():
    """An order covers 50 days, so that sweeps settle slowly. A plan that stops early orders nothing from 20."""
    chances = nbinom.pmf(np.arange(990), 2.0, 2.0 / 22.0)
    terms = OrderTerms(300.0, 0.5, 4.0, 0.01, 990, 1, 0, 0)
    order, cost, residual = plan_exactly(terms, 20, NOTHING, *steady([*chances, 1.0 - chances.sum()], 7, 7))
    assert residual < 1e-3 * cost
    assert order == 970
