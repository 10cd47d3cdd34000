"""Shares of a supplier's cost, and the choice of who is ordered: laws and hand-made cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp import kernels
from driftmdp.inventory.joint_orders import (
    JointItems,
    SharingItems,
    cost_shares,
    most_worthwhile,
    order_together,
    orders_out_of_reach,
)
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.kernels.exact_orders import plan_exactly
from driftmdp.kernels.late_orders import LateOrders, all_on_time
from driftmdp.kernels.order_menus import MENU, NO_ORDER, fill_menu_exactly, fill_menu_on_paths
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms
from tests.reference.lost_sales import Chain

AMOUNTS = st.floats(0.01, 50.0)


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS), min_size=1, max_size=8), st.floats(0.1, 500.0))
def test_shares_add_up_to_the_cost_and_have_a_common_rhythm(rows, cost):
    fixed, holding, levels = np.array(rows).T
    ones = np.ones(len(rows))
    shares = cost_shares(SharedOrder(cost), SharingItems(fixed, holding, ones, ones, levels, ones, np.inf * ones))
    assert shares.sum() == pytest.approx(cost)
    assert (shares >= 0).all()
    squares = (fixed + shares) / (0.5 * holding * levels)
    paying = shares > 1e-9 * cost
    assert np.allclose(squares[paying], squares[paying][0])
    assert (squares[~paying] >= squares[paying][0] * (1 - 1e-6)).all()


def sharing(n=5, **given):
    found = {
        "fixed": 1.0,
        "holding": 0.2,
        "lost": 8.0,
        "lead_times": 1.0,
        "levels": 2.0,
        "prices": 1.0,
        "most": np.inf,
    } | given
    return SharingItems(**{name: np.full(n, value) for name, value in found.items()})


def test_nobody_has_a_share_where_it_is_best_to_order_on_every_order_day():
    for cost, wait, is_shared in ((0.5, 1.0, False), (60.0, 1.0, True), (4.0, 7.0, False), (900.0, 7.0, True)):
        assert cost_shares(SharedOrder(cost), sharing(), wait).any() == is_shared, (cost, wait)


def test_nobody_has_a_share_with_which_losing_all_sales_is_better():
    free = cost_shares(SharedOrder(100.0), sharing(2))
    assert free.tolist() == [50.0, 50.0]
    limited = sharing(2)._replace(most=np.array([21.0, 200.0]))
    assert cost_shares(SharedOrder(100.0), limited) == pytest.approx([20.0, 80.0])
    nowhere = sharing(2)._replace(most=np.array([11.0, 31.0]))
    assert cost_shares(SharedOrder(100.0), nowhere) == pytest.approx([25.0, 75.0])


def test_where_losing_sales_is_nearly_as_good_the_worthwhile_item_orders():
    """Alone the second item is not worth its share of 37, and the first alone is worth the whole order."""
    levels, holding, lost = np.array([1.5, 1.2]), np.array([0.26, 0.4]), np.array([8.0, 4.7])
    most = most_worthwhile(holding, lost, levels)
    items = SharingItems(np.array([1.1, 3.9]), holding, lost, np.ones(2), levels, np.ones(2), most)
    shares = cost_shares(SharedOrder(90.0), items, 1.0)
    assert shares.sum() == pytest.approx(90.0)
    assert shares[1] + 3.9 <= most[1] * (1 + 1e-12)


def test_a_rhythm_costs_what_a_simulation_of_it_costs():
    """Demand that is nearly normal, so that the rough formula is near."""
    terms, wait = sharing(1, levels=40.0, fixed=20.0, holding=0.5, lost=9.0), 3
    found = kernels.review_cycles.cost_of_rhythm(float(wait), *terms[:5])
    rng, least = np.random.default_rng(4), np.inf
    demand = rng.poisson(40.0, 30_000)
    for up in range(120, 260, 5):
        stock = coming = 0
        paid = 0.0
        for t, wanted in enumerate(demand.tolist()):
            stock, coming = stock + coming, 0
            if t % wait == 0:
                coming = max(0, up - stock)
                paid += 20.0
            paid += 0.5 * max(0, stock - wanted) + 9.0 * max(0, wanted - stock)
            stock = max(0, stock - wanted)
        least = min(least, paid / demand.size)
    assert found == pytest.approx(least, rel=0.05)


def menus(*savings):
    """Items whose one order saves this much."""
    orders = np.full((len(savings), MENU), NO_ORDER, np.int64)
    orders[:, 0], orders[:, 1] = 0, 10
    costs = np.zeros((len(savings), MENU))
    costs[:, 0] = savings
    return JointItems(orders, costs, np.ones(len(savings)), np.zeros(len(savings), bool), np.ones(len(savings)))


@pytest.mark.parametrize(
    ("savings", "expected"),
    [((5, 5, 0.5), (0, 0, 0)), ((7, 5, 0.5), (10, 10, 0)), ((20, 1.1, 0.9), (10, 10, 0)), ((0, 0), (0, 0))],
)
def test_an_order_is_placed_if_savings_together_exceed_the_cost(savings, expected):
    # each item's own order costs 1, and an order to the supplier 9
    assert order_together(SharedOrder(9.0), menus(*savings), False).tolist() == list(expected)


def test_a_placed_order_takes_everyone_who_saves_something():
    assert order_together(SharedOrder(9.0), menus(5, 1.5, 0.5), True).tolist() == [10, 10, 0]


def test_an_item_that_is_due_is_ordered_whatever_it_costs():
    items = menus(0, 2)
    items.is_due[0] = True
    assert order_together(SharedOrder(900.0), items, False).tolist() == [10, 10]


def test_an_order_is_filled_up_with_what_costs_least_per_unit():
    items = menus(50, 50)
    items.orders[:, 2:4] = [[20, 30], [20, 30]]
    items.costs[:, 2:4] = [[1.0, 9.0], [4.0, 9.0]]
    assert order_together(SharedOrder(1.0, minimum_units=35), items, False).tolist() == [20, 20]
    assert order_together(SharedOrder(1.0, minimum_units=26), items, False).tolist() == [20, 10]
    assert order_together(SharedOrder(1.0, minimum_units=61), items, False).tolist() == [0, 0]


def test_what_is_worth_ordering_is_told_only_where_the_minimum_is_out_of_reach():
    items = menus(50, 50)
    items.orders[:, 2:4], items.costs[:, 2:4] = [[20, 30], [20, 30]], 1.0
    for reached in (SharedOrder(1.0, minimum_units=60), SharedOrder(1.0, 60, 60.0 * items.prices[0])):
        assert orders_out_of_reach(reached, items).tolist() == [0, 0]
    for missed in (SharedOrder(1.0, minimum_units=61), SharedOrder(1.0, minimum_value=60.1 * items.prices[0])):
        assert orders_out_of_reach(missed, items).tolist() == [10, 10]
    assert orders_out_of_reach(SharedOrder(900.0, minimum_units=61), items).tolist() == [0, 0]  # the cost is why


def test_filling_up_that_costs_more_than_is_saved_waits():
    items = menus(5)
    items.orders[0, 2], items.costs[0, 2] = 40, 30.0
    assert order_together(SharedOrder(1.0, minimum_units=40), items, False).tolist() == [0]


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_menus_have_the_costs_of_a_slow_reference(lead_time):
    """Differences of costs are those of the chain's values, [P94]: what an order costs, then the best plan."""
    terms, law = OrderTerms(3.0, 0.5, 6.0, 0.4, 12, 2, 0, lead_time), np.array([0.3, 0.3, 0.2, 0.1, 0.1])
    periods = ComingPeriods(np.ones(1, np.uint8), np.ones(1, np.uint8), 1)
    coming = np.zeros(max(lead_time - 1, 0), np.int64)
    orders, costs = np.full(MENU, NO_ORDER, np.int64), np.zeros(MENU)
    for stock in range(8):
        fill_menu_exactly(terms, stock, coming, law[None, :], periods, orders, costs)
        order, *_ = plan_exactly(terms, stock, coming, law[None, :], periods)
        pays = costs[0] - costs[1] > terms.fixed
        assert (order > 0) == pays
        if order:
            assert order == orders[1]
    assert Chain(terms, [law], [True], [True]).optimum()[0] > 0


def test_a_menu_on_paths_agrees_with_the_exact_one():
    terms, rng = OrderTerms(6.0, 0.0, 8.0, 0.5, 40, 1, 0, 1), np.random.default_rng(3)
    law = np.bincount(rng.poisson(3.0, 200_000), minlength=20)[:20] / 200_000
    horizon = 16
    periods = ComingPeriods(np.ones(horizon, np.uint8), np.ones(horizon, np.uint8), 1)
    paths, nothing = rng.poisson(3.0, (4096, horizon)).astype(np.int32), np.zeros(0, np.int64)
    one = ComingPeriods(np.ones(1, np.uint8), np.ones(1, np.uint8), 1)
    for stock in (0, 3, 8, 15):
        exact, found = (
            (np.full(MENU, NO_ORDER, np.int64), np.zeros(MENU)),
            (np.full(MENU, NO_ORDER, np.int64), np.zeros(MENU)),
        )
        fill_menu_exactly(terms, stock, nothing, law[None, :], one, *exact)
        fill_menu_on_paths(terms, stock, nothing, nothing, paths, periods, LateOrders(*all_on_time()), *found)
        savings = [costs[0] - costs[1] for _, costs in (exact, found)]
        assert savings[1] == pytest.approx(savings[0], abs=1.0)
        assert abs(int(exact[0][1]) - int(found[0][1])) <= 4
