"""Goods that spoil: exact plans and paths against a reference that ages every unit, and laws."""

import itertools

import numpy as np
import pytest

from driftmdp.kernels.exact_orders import plan_exactly
from driftmdp.kernels.exact_perishables import is_small_with_ages, plan_ages_exactly
from driftmdp.kernels.late_orders import LateOrders, all_on_time
from driftmdp.kernels.ordering_arrays import PROJECTED, ComingPeriods, OrderTerms
from driftmdp.kernels.path_orders import plan_ages_on_paths
from driftmdp.kernels.path_rules import cost_of_path, new_trial
from driftmdp.kernels.service_orders import UNITS, plan_ages_for_service, plan_for_service
from tests.reference.perishables import best_cost, sell_and_age

NOTHING = np.zeros(0, np.int64)


def steady(law, cycle=1):
    ones = np.ones(1, np.uint8)
    return np.array([law], float), ComingPeriods(ones, ones, cycle)


def poisson(mean, size):
    law = np.array([np.exp(-mean) * mean**x / float(np.prod(np.arange(1, x + 1))) for x in range(size)])
    law[-1] += 1.0 - law.sum()
    return law


@pytest.mark.parametrize("lead_time", [0, 1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_exact_plans_are_those_of_the_reference(seed, lead_time):
    rng = np.random.default_rng((seed, lead_time))
    life, pack = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    costs = [float(x) for x in (rng.choice([0, 2]), rng.integers(0, 3), rng.integers(3, 9), rng.integers(0, 2))]
    terms = OrderTerms(*costs, 6, pack, int(rng.choice([0, 2])), lead_time, life, float(rng.integers(0, 3)))
    is_open = np.array([1, rng.integers(0, 2), 1, 1], np.uint8)
    laws = rng.dirichlet(np.ones(4), 4)
    ages = rng.integers(0, 2, life)
    coming = pack * rng.integers(0, 2, max(lead_time - 1, 0))
    cost, order = best_cost(terms, ages.tolist(), coming.tolist(), laws.tolist(), is_open.tolist())
    found = plan_ages_exactly(terms, ages, coming, laws, ComingPeriods(is_open, np.ones(4, np.uint8), 0))
    assert found[1] * is_open.sum() == pytest.approx(cost, abs=1e-8)
    assert found[0] == order


@pytest.mark.parametrize(("unit", "waste"), [(1.0, 0.0), (2.0, 1.0), (0.5, 3.0)])
def test_one_period_of_life_is_the_newsvendor(unit, waste):
    law, lost = poisson(4.0, 20), 6.0
    terms = OrderTerms(0.0, unit, lost, 9.0, 19, 1, 0, 0, 1, waste)
    best = int(np.searchsorted(np.cumsum(law), (lost - unit) / (lost + waste)))
    x = np.arange(20)
    cost = unit * best + law @ (lost * np.maximum(x - best, 0) + waste * np.maximum(best - x, 0))
    order, gain, certificate = plan_ages_exactly(terms, np.zeros(1, np.int64), NOTHING, *steady(law))
    assert order == best
    assert abs(gain - cost) <= certificate + 1e-9


@pytest.mark.parametrize("lead_time", [0, 1])
def test_more_life_never_costs_more_and_a_long_one_is_the_plain_plan(lead_time):
    law, gains = poisson(2.0, 12), []
    plain = OrderTerms(3.0, 1.0, 8.0, 0.5, 8, 1, 0, lead_time)
    for life in (1, 2, 3, 4):
        terms = plain._replace(shelf_life=life, waste=1.0)
        assert is_small_with_ages(terms, np.zeros(life, np.int64), NOTHING, *steady(law))
        gains.append(plan_ages_exactly(terms, np.zeros(life, np.int64), NOTHING, *steady(law))[1:])
    for (shorter, doubt), (longer, other) in itertools.pairwise(gains):
        assert longer <= shorter + doubt + other
    best, certificate = plan_exactly(plain, 0, NOTHING, *steady(law))[1:]
    assert gains[-1][0] >= best - certificate - gains[-1][1]
    sure = np.array([0.0, 0.0, 1.0])  # two a period: four last two periods, so nothing spoils
    small = plain._replace(capacity=4)
    terms = small._replace(shelf_life=4, waste=1.0)
    assert plan_ages_exactly(terms, np.zeros(4, np.int64), NOTHING, *steady(sure))[1] == pytest.approx(
        plan_exactly(small, 0, NOTHING, *steady(sure))[1], rel=1e-3
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_path_without_orders_ages_as_the_reference_does(seed):
    rng = np.random.default_rng(seed)
    life, horizon = int(rng.integers(1, 6)), 8
    ages, coming = rng.integers(0, 5, life), rng.integers(0, 4, 2)
    terms = OrderTerms(1.0, 1.0, 5.0, 0.5, 99, 1, 0, 3, life, 2.0)
    paths, ones = rng.poisson(1.5, (4, horizon)).astype(np.int32), np.ones(horizon, np.uint8)
    never = ComingPeriods(ones, np.zeros(horizon, np.uint8), 0)
    trial = new_trial(terms, int(ages.sum()), ages, coming, paths, never, LateOrders(*all_on_time()))
    units, cost = [k + 1 for k, count in enumerate(ages) for _ in range(count)], 0.0
    for h, demand in enumerate(paths[0].tolist()):
        units += [life] * (int(coming[h - 1]) if 1 <= h <= 2 else 0)
        units, sold, spoiled = sell_and_age(units, demand)
        cost += 5.0 * (demand - sold) + 2.0 * spoiled + 0.5 * len(units)
    assert cost_of_path(trial, PROJECTED, 0, -1) == pytest.approx(cost)


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_orders_from_paths_are_near_the_exact_ones(lead_time):
    law = poisson(2.0, 12)
    terms = OrderTerms(0.0, 1.0, 8.0, 0.2, 10, 1, 0, lead_time, 2, 1.0)
    coming, horizon = np.zeros(max(lead_time - 1, 0), np.int64), 10 + lead_time
    ones = np.ones(horizon, np.uint8)
    paths = np.random.default_rng(3).choice(12, (512, horizon), p=law).astype(np.int32)
    for ages in ([0, 0], [4, 0], [0, 3]):
        there = np.array(ages)
        exact = plan_ages_exactly(terms, there, coming, *steady(law))[0]
        periods = ComingPeriods(ones, ones, 1)
        order = plan_ages_on_paths(terms, int(there.sum()), there, coming, paths, periods)[0]
        assert abs(order - exact) <= 1


@pytest.mark.parametrize("lead_time", [0, 1])
@pytest.mark.parametrize("life", [1, 2, 3])
def test_dearer_waste_never_costs_less_and_never_orders_more_than_a_shelf_needs(life, lead_time):
    law, found = poisson(2.0, 12), []
    for waste in (0.0, 1.0, 4.0):
        terms = OrderTerms(0.0, 1.0, 8.0, 0.2, 10, 1, 0, lead_time, life, waste)
        found.append(plan_ages_exactly(terms, np.zeros(life, np.int64), NOTHING, *steady(law)))
    for less, more in itertools.pairwise(found):
        assert less[1] - less[2] <= more[1] + more[2]
        assert more[0] <= less[0]  # from an empty shelf


@pytest.mark.parametrize("lead_time", [0, 2])
def test_a_long_life_is_planned_on_paths_as_none(lead_time):
    paths = np.random.default_rng(3).poisson(3.0, (512, 12 + lead_time)).astype(np.int32)
    ones, coming = np.ones(paths.shape[1], np.uint8), np.zeros(max(lead_time - 1, 0), np.int64)
    plain = OrderTerms(4.0, 1.0, 8.0, 0.2, 40, 1, 0, lead_time)
    for stock in (0, 5, 12):
        ages = np.zeros(300, np.int64)
        ages[-1] = stock
        terms = plain._replace(shelf_life=300, waste=5.0)
        order = plan_ages_on_paths(terms, stock, ages, coming, paths, ComingPeriods(ones, ones, 1))[0]
        there = stock, np.zeros(0, np.int64), coming, paths, ComingPeriods(ones, ones, 1)
        assert abs(order - plan_ages_on_paths(plain, *there)[0]) <= 2


def test_nothing_is_ordered_that_spoils_before_the_shop_opens():
    paths = np.random.default_rng(3).poisson(3.0, (256, 14)).astype(np.int32)
    is_open = np.array([1, 1, 0, 0, 1, 1, 1] * 2, np.uint8)
    terms = OrderTerms(0.0, 1.0, 8.0, 0.2, 40, 1, 0, 2)
    for life, orders in ((1, False), (2, False), (3, True)):
        state = 0, np.zeros(life, np.int64), np.zeros(1, np.int64), paths, ComingPeriods(is_open, is_open, 1)
        assert (plan_ages_on_paths(terms._replace(shelf_life=life), *state)[0] > 0) == orders


@pytest.mark.parametrize("wait", [1, 3])
def test_a_service_target_counts_old_stock_until_it_spoils(wait):
    lead_time, life = 2, 3
    terms = OrderTerms(0.0, 1.0, 0.0, 0.1, 99, 1, 0, lead_time, life, 1.0)
    paths = np.random.default_rng(1).poisson(4.0, (400, lead_time + wait)).astype(np.int32)
    ones = np.ones(paths.shape[1], np.uint8)
    may_order = (np.arange(paths.shape[1]) % wait == 0).astype(np.uint8)
    periods, target, coming = ComingPeriods(ones, may_order, 1), (0.95, UNITS, 0.0), np.zeros(1, np.int64)

    def order(ages):
        there = np.array(ages)
        return plan_ages_for_service(terms, int(there.sum()), there, coming, paths, periods, target)[0]

    assert order([0, 0, 30]) == 0 if wait == 1 else order([0, 0, 30]) > 0
    assert order([0, 30, 0]) >= order([0, 0, 30])
    plain = plan_for_service(terms._replace(shelf_life=0), 0, coming, paths, periods, target)
    assert plan_for_service(terms._replace(shelf_life=0), 0, coming, paths, periods, target) == plain
    # All that is there is gone when the order comes, but it was enough until then: what was saved is spent.
    assert abs(order([0, 30, 0]) - plain[0]) <= 2


def test_a_service_target_is_for_the_periods_that_an_order_can_serve():
    terms = OrderTerms(0.0, 1.0, 0.0, 0.1, 999, 1, 0, 0, 2, 1.0)
    paths = np.random.default_rng(1).poisson(4.0, (400, 7)).astype(np.int32)
    ones, first = np.ones(7, np.uint8), np.array([1, 0, 0, 0, 0, 0, 0], np.uint8)
    state = 0, np.zeros(2, np.int64), NOTHING, paths, ComingPeriods(ones, first, 7)
    order, share = plan_ages_for_service(terms, *state, (0.95, UNITS, 0.0))
    assert 6 <= order <= 12  # two periods, not seven
    assert share >= 0.94
