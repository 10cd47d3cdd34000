"""Orders for a service target: simulated items of a known law are served as asked, slow ones too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.kernels.ordering_arrays import NO_LIMIT, ComingPeriods, OrderTerms
from driftmdp.kernels.service_orders import (
    PERIODS,
    UNITS,
    add_to_balance,
    clip_balance,
    loss_when_sold_out,
    plan_for_service,
)

WITHIN = 0.02  # of the target
N_PATHS = 250
# lead time, periods between order days, pack, fixed cost
TERMS = [(0, 1, 1, 0.0), (2, 1, 1, 0.0), (7, 1, 1, 0.0), (2, 7, 1, 0.0), (1, 1, 6, 0.0), (2, 1, 1, 20.0)]


def negative_binomial(mean: float, shape: float) -> np.ndarray:
    drawn = np.random.default_rng(0).negative_binomial(shape, shape / (shape + mean), 400_000)
    return np.bincount(drawn) / drawn.size


def expected_loss(law: np.ndarray, on_sale: int, measure: int) -> float:
    missing = np.maximum(np.arange(law.size) - on_sale, 0)
    return float(law @ (missing > 0 if measure == PERIODS else missing))


def served_share(terms: OrderTerms, law: np.ndarray, wait: int, target: float, measure: int, n: int) -> float:
    """Return the share that is expected to be served, given what was on sale in each of n periods."""
    rng, lead = np.random.default_rng(1), terms.lead_time
    mean = float(law @ np.arange(law.size))
    per_period, cumulated = (1.0 if measure == PERIODS else mean), np.cumsum(law)
    stock, line, balance, demand, lost = 0, [0] * lead, 0.0, 0.0, 0.0
    for t in range(n):
        stock += line.pop(0) if lead > 0 else 0
        order = 0
        if t % wait == 0:
            levels = rng.random((N_PATHS, lead + wait))
            paths = np.searchsorted(cumulated, levels, side="right").astype(np.int32)
            may_order = (np.arange(lead + wait) % wait == 0).astype(np.uint8)
            periods = ComingPeriods(np.ones(lead + wait, np.uint8), may_order, wait)
            coming = np.array(line[: max(lead - 1, 0)], np.int64)
            order, _ = plan_for_service(terms, stock, coming, paths, periods, (target, measure, balance))
        if lead > 0:
            line.append(order)
        else:
            stock += order
        missed = expected_loss(law, stock, measure)
        balance = add_to_balance(balance, target, measure, mean, missed)
        balance = clip_balance(terms, target, measure, balance, mean, wait * per_period)
        if t >= n // 5:
            demand, lost = demand + per_period, lost + missed
        stock = max(stock - int(np.searchsorted(cumulated, rng.random(), side="right")), 0)
    return 1.0 - lost / demand


@pytest.mark.parametrize("mean", [0.03, 0.3, 4.0])
@pytest.mark.parametrize(("lead_time", "wait", "pack", "fixed"), TERMS)
def test_a_share_of_demand_is_served_as_asked(mean, lead_time, wait, pack, fixed):
    terms = OrderTerms(fixed, 0.0, 0.0, 0.1, NO_LIMIT, pack, 0, lead_time)
    law = negative_binomial(mean, 2.0)
    share = served_share(terms, law, wait, 0.95, UNITS, 6000 if mean < 0.1 else 1500)
    assert share == pytest.approx(0.95, abs=WITHIN)


@pytest.mark.parametrize("target", [0.9, 0.98])
@pytest.mark.parametrize(("lead_time", "wait", "pack", "fixed"), TERMS)
def test_a_share_of_periods_is_without_stock_out_as_asked(target, lead_time, wait, pack, fixed):
    terms = OrderTerms(fixed, 0.0, 0.0, 0.1, NO_LIMIT, pack, 0, lead_time)
    share = served_share(terms, negative_binomial(1.0, 2.0), wait, target, PERIODS, 1500)
    assert share == pytest.approx(target, abs=WITHIN)


@given(st.integers(0, 10**6), st.sampled_from([0, 1, 4]), st.sampled_from([UNITS, PERIODS]))
def test_orders_keep_the_rules_and_grow_with_the_target(seed, lead_time, measure):
    rng = np.random.default_rng(seed)
    capacity = int(rng.choice([1, 7, 30, NO_LIMIT]))
    pack, minimum = int(rng.integers(1, min(capacity, 4) + 1)), int(rng.choice([0, 5]))
    terms = OrderTerms(float(rng.choice([0.0, 9.0])), 0.0, 0.0, 0.5, capacity, pack, minimum, lead_time)
    horizon = lead_time + int(rng.integers(1, 6))
    paths = rng.poisson(rng.choice([0.0, 0.3, 5.0]), (60, horizon)).astype(np.int32)
    periods = ComingPeriods(*((rng.random((2, horizon)) < 0.8).astype(np.uint8)), 1)
    stock, coming = int(rng.integers(0, 6)), rng.integers(0, 3, max(lead_time - 1, 0)) * pack
    orders = []
    for target in (0.5, 0.9, 0.99):
        order, share = plan_for_service(terms, stock, coming, paths, periods, (target, measure, 0.0))
        assert order % pack == 0
        assert order == 0 or minimum <= order <= capacity - stock - coming.sum()
        assert order == 0 or (periods.is_open[0] and periods.may_order[0])
        assert -1e-12 <= share <= 1.0
        orders.append(order)
    assert orders == sorted(orders)


def test_a_surplus_is_spent_and_a_debt_is_paid():
    terms = OrderTerms(0.0, 0.0, 0.0, 0.1, NO_LIMIT, 1, 0, 0)
    paths = np.random.default_rng(0).poisson(4.0, (500, 1)).astype(np.int32)
    ones = np.ones(1, np.uint8)
    orders = [
        plan_for_service(
            terms, 0, np.zeros(0, np.int64), paths, ComingPeriods(ones, ones, 1), (0.95, UNITS, balance)
        )[0]
        for balance in (-2.0, 0.0, 2.0)
    ]
    assert orders[0] > orders[1] > orders[2]


def test_what_a_sold_out_period_probably_lost():
    law = np.array([0.5, 0.2, 0.2, 0.1])
    assert loss_when_sold_out(law, 1, UNITS) == pytest.approx((0.2 * 1 + 0.1 * 2) / 0.5)
    assert loss_when_sold_out(law, 1, PERIODS) == pytest.approx(0.3 / 0.5)
    assert loss_when_sold_out(law, 9, UNITS) == 0.0


@pytest.mark.parametrize("lead_time", [0, 2])
def test_the_last_order_of_a_season_is_no_larger_than_the_season(lead_time):
    """A defect once: with a fixed cost, the economic order quantity was ordered for the last two days."""
    horizon = lead_time + 2
    paths = np.random.default_rng(0).poisson(5.0, (N_PATHS, horizon)).astype(np.int32)
    terms = OrderTerms(50.0, 1.0, 0.0, 0.01, NO_LIMIT, 1, 0, lead_time)
    coming, always = np.zeros(max(lead_time - 1, 0), np.int64), np.ones(horizon, np.uint8)
    ends, goes_on = (
        plan_for_service(terms, 0, coming, paths, ComingPeriods(always, always, cycle), (0.95, UNITS, 0.0))[0]
        for cycle in (0, 1)
    )
    assert 8 <= ends <= 16
    assert goes_on > 50
