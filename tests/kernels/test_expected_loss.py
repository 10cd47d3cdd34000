"""What a period is expected to lose, compared with scipy's laws."""

import numpy as np
import pytest
from scipy import stats

from driftmdp.kernels.demand_arrays import LOSS_EDGES
from driftmdp.kernels.expected_loss import count_spread, expected_loss, one_law, predicted_range
from driftmdp.kernels.order_decisions import expected_cost
from driftmdp.kernels.ordering_arrays import NO_LIMIT, ComingPeriods, OrderTerms

EVEN = LOSS_EDGES.copy()
HEAVY = LOSS_EDGES - 0.02 * LOSS_EDGES**8 * (LOSS_EDGES < 1.0)  # 2% more beyond high quantiles


def law_of(mean, dispersion):
    return stats.nbinom(1 / dispersion, 1 / (1 + dispersion * mean))


@pytest.mark.parametrize("on_sale", [0, 3, 20])
@pytest.mark.parametrize("capacity", [20, NO_LIMIT])
def test_demand_beyond_the_capacity_does_not_count(on_sale, capacity):
    chances = law_of(4.0, 0.5).pmf(np.arange(2000))
    counted = np.minimum(np.arange(2000), capacity)
    demand, lost, tail = expected_loss(4.0, 0.5, on_sale, capacity, EVEN)
    assert demand == pytest.approx(chances @ counted, abs=1e-6)
    assert lost == pytest.approx(chances @ np.maximum(counted - on_sale, 0), abs=1e-6)
    assert tail == pytest.approx(chances @ (counted > on_sale), abs=1e-6)


def test_a_large_mean_is_walked_on_a_coarser_grid():
    chances = law_of(500.0, 0.4).pmf(np.arange(20_000))
    demand, lost, tail = expected_loss(500.0, 0.4, 900, NO_LIMIT, EVEN)
    assert demand == pytest.approx(500.0, rel=1e-3)
    assert lost == pytest.approx(chances @ np.maximum(np.arange(20_000) - 900, 0), rel=0.02)
    assert tail == pytest.approx(chances @ (np.arange(20_000) > 900), rel=0.02)


def test_a_heavier_tail_loses_more():
    losses = [expected_loss(4.0, 0.5, 12, NO_LIMIT, shape)[1] for shape in (EVEN, HEAVY)]
    assert losses[1] > 2.0 * losses[0]


@pytest.mark.parametrize("demand", [0, 5, 40])
def test_where_a_demand_lies_in_its_law(demand):
    low, high = predicted_range(4.0, 0.5, demand)
    assert (low, high) == pytest.approx((law_of(4.0, 0.5).cdf(demand - 1), law_of(4.0, 0.5).cdf(demand)), abs=1e-8)
    assert 0.0 <= low < high <= 1.0


def test_an_item_of_bulk_orders_has_a_wide_law():
    weights, levels, sums = np.full((6, 7), 1 / 42), np.full(6, 4.0), np.zeros(6)
    before = one_law(sums, weights, levels, 1.0)
    for t in range(300):
        count_spread(sums, 0, 4.0, 80.0 if t % 50 == 0 else 3.0)
    after = one_law(sums, weights, levels, 1.0)
    assert after[0] == before[0] == pytest.approx(4.0)
    assert after[1] > 4.0 > before[1]


def test_the_cost_of_a_service_order_covers_the_time_until_the_next_arrives():
    terms = OrderTerms(6.0, 2.0, 0.0, 0.5, NO_LIMIT, 1, 0, 1)
    paths, ones = np.full((3, 8), 2, np.int32), np.ones(8, np.uint8)
    may_order = np.array([1, 0, 0, 1, 0, 0, 1, 0], np.uint8)
    cost = expected_cost(
        terms, 3, np.zeros(0, np.int64), np.zeros(0, np.int64), 6, paths, ComingPeriods(ones, may_order, 1)
    )
    # Evenings have 1, 5, 3 and 1 units left, and 2 are sold a day, each for 2 and a sixth of 6.
    assert cost == pytest.approx((0.5 * (1 + 5 + 3 + 1) + 8 * (2.0 + 1.0)) / 4)
