import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.problems.inventory import Costs
from tests.reference import cost, pseudo_reward

PRICES = st.tuples(*[st.floats(0, 20)] * 4)
LEVELS = st.integers(0, 12)


def named(shelf):
    return dict(zip(("fixed", "unit", "lost", "holding"), shelf, strict=True))


@given(shelf=PRICES, stock=LEVELS, order=LEVELS, demand=st.integers(0, 60))
def test_the_true_cost_is_the_papers(shelf, stock, order, demand):
    expected = cost(stock, order, demand, **named(shelf))
    assert Costs(*shelf).true_cost(stock, order, demand) == pytest.approx(expected, abs=1e-9)


@given(shelf=PRICES, stock=LEVELS, order=LEVELS, demand=st.integers(0, 60))
def test_the_pseudo_reward_needs_only_the_sales(shelf, stock, order, demand):
    expected = pseudo_reward(stock, order, demand, **named(shelf))
    sales = min(demand, stock + order)
    assert Costs(*shelf).pseudo_reward(stock, order, sales) == pytest.approx(expected, abs=1e-9)


@given(shelf=PRICES, stock=LEVELS, order=LEVELS, demand=st.integers(0, 60))
def test_the_pseudo_reward_is_minus_the_cost_plus_l_times_demand_also_above_the_shelf(shelf, stock, order, demand):
    costs = Costs(*shelf)
    sales = min(demand, stock + order)
    shifted = -costs.true_cost(stock, order, demand) + costs.lost_sale * demand
    assert costs.pseudo_reward(stock, order, sales) == pytest.approx(shifted, abs=1e-6)


@given(shelf=PRICES, capacity=st.integers(1, 6))
def test_the_range_of_pseudo_rewards_is_tight(shelf, capacity):
    met = [
        pseudo_reward(s, a, x, **named(shelf))
        for s in range(capacity + 1)
        for a in range(capacity - s + 1)
        for x in range(capacity + 3)
    ]
    assert Costs(*shelf).pseudo_reward_range(capacity) == pytest.approx((min(met), max(met)), abs=1e-9)


@pytest.mark.parametrize("name", ["fixed", "unit", "lost_sale", "holding"])
def test_a_negative_cost_is_refused_by_name(name):
    with pytest.raises(dm.errors.InvalidInputError, match=f"^{name} must be at least 0; got -1.$"):
        Costs(**{name: -1})
