"""Simulated items that sell out, that are given up, that die, and that are to serve a share of demand."""

import numpy as np
import pytest

from driftmdp.inventory import Costs
from driftmdp.inventory.order_engine import EXACT, NOTHING
from tests.inventory.engines import MONDAY, decide, drawn, engine_of, learn, learn_sales, longs, terms

N_ITEMS, N_DAYS = 30, 300


def mean_level(engine, day=MONDAY + N_DAYS):
    return np.mean([engine.describe(day, item).level for item in range(len(engine.table))])


@pytest.mark.parametrize(("mean", "on_sale"), [(0.5, 1), (6.0, 6), (40.0, 40)])
def test_demand_beyond_the_shelf_is_made_up_for(mean, on_sale):
    """Of items that sell out every other day the level is right to 8 percent. What was sold is far below."""
    rng = np.random.default_rng(0)
    engine, naive = (engine_of([terms()] * N_ITEMS) for _ in range(2))
    sold_out = 0.0
    for t in range(N_DAYS):
        demand = drawn(rng, mean, 0.3, N_ITEMS)
        shelf = rng.integers(max(1, on_sale // 2), 2 * on_sale + 1, N_ITEMS)
        learn_sales(engine, MONDAY + t, demand, shelf)
        learn(naive, MONDAY + t, np.minimum(demand, shelf))
        sold_out += (demand >= shelf).mean() / N_DAYS
    assert 0.2 < sold_out < 0.7
    assert mean_level(engine) == pytest.approx(mean, rel=0.08)
    assert mean_level(naive) < 0.9 * mean


def test_days_without_stock_are_not_days_without_demand():
    rng = np.random.default_rng(1)
    engine, naive = (engine_of([terms()] * N_ITEMS) for _ in range(2))
    for t in range(N_DAYS):
        there = rng.random(N_ITEMS) < 0.7
        sold = np.where(there, drawn(rng, 5.0, 0.3, N_ITEMS), 0)
        says = np.where(there, EXACT, NOTHING).astype(np.int8)
        engine.learn(MONDAY + t, np.arange(N_ITEMS), says, np.where(there, 99, 0), sold)
        learn(naive, MONDAY + t, sold)
    assert mean_level(engine) == pytest.approx(5.0, rel=0.03)
    assert mean_level(naive) == pytest.approx(3.5, rel=0.05)


class Shelf:
    """A simulated shop: mornings are decided, and days learned as the shelf shows them."""

    def __init__(self, engine, seed=0):
        self.engine, self.rng, self.day = engine, np.random.default_rng(seed), MONDAY
        self.terms = engine.table.terms
        n, longest = len(self.terms), max(own.lead_time for own in self.terms)
        self.stock, self.line = np.zeros(n, np.int64), np.zeros((n, longest + 1), np.int64)

    def go_on(self, mean, dispersion=0.3):
        """Live through a day. Return orders, demand, and what was sold."""
        self.stock += self.line[:, 0]
        self.line = np.roll(self.line, -1, axis=1)
        self.line[:, -1] = 0
        orders = decide(self.engine, self.day, self.stock, self.line[:, : self.line.shape[1] - 2]).order
        for n, own in enumerate(self.terms):
            if own.lead_time == 0:
                self.stock[n] += orders[n]
            else:
                self.line[n, own.lead_time - 1] += orders[n]
        demand = drawn(self.rng, np.broadcast_to(mean, self.stock.shape), dispersion)
        sold = np.minimum(demand, self.stock)
        says = np.where(self.stock == 0, NOTHING, np.where(sold == self.stock, 1, EXACT)).astype(np.int8)
        self.engine.learn(self.day, np.arange(len(self.terms)), says, self.stock.copy(), sold)
        self.stock -= sold
        self.day += 1
        return orders, demand, sold


@pytest.mark.parametrize("measure", ["units", pytest.param("periods", marks=pytest.mark.slow)])
def test_a_service_target_is_reached(measure):
    """Of all items together, within 2 points."""
    means = np.array([0.3, 1.0, 3.0, 8.0] * 3)
    own = [terms(lead_time=lead, service=0.9, service_measure=measure) for lead in np.repeat([0, 1, 3], 4)]
    shop = Shelf(engine_of(own))
    asked, served = np.zeros(means.size), np.zeros(means.size)
    for t in range(220):
        _, demand, sold = shop.go_on(means)
        if t >= 60:
            asked += demand if measure == "units" else 1
            served += sold if measure == "units" else sold == demand
    assert served.sum() / asked.sum() == pytest.approx(0.9, abs=0.02)


@pytest.mark.slow
def test_bulk_orders_are_served_as_asked():
    """Rare orders of about 6 times the mean, whose size an emptied shelf does not show."""
    own, rng = [terms(service=0.9) for _ in range(20)], np.random.default_rng(1)
    engine, items, stock = engine_of(own), np.arange(20), np.zeros(20, np.int64)
    asked = served = 0
    for t in range(250):
        stock += decide(engine, MONDAY + t, stock).order
        bulk = np.rint(18.0 * np.exp(rng.normal(0.0, 0.8, 20))) * (rng.random(20) < 0.03)
        demand = drawn(rng, 3.0, 1.0, 20) + bulk.astype(np.int64)
        sold = np.minimum(demand, stock)
        says = np.where(stock == 0, NOTHING, np.where(sold == stock, 1, EXACT)).astype(np.int8)
        engine.learn(MONDAY + t, items, says, stock.copy(), sold)
        stock -= sold
        if t >= 60:
            asked, served = asked + int(demand.sum()), served + int(sold.sum())
    assert served / asked == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("service", [None, 0.95])
def test_an_item_that_sold_nothing_for_a_year_is_ordered_again(service):
    """At once if the shelf has some units to show it, and after some weeks if it was cleared."""
    for is_cleared, within in ((False, 7), (True, 100)):
        shop = Shelf(engine_of([terms(20, Costs(0.0, 0.5, 3.0, 0.1), service=service, lead_time=1)]))
        for _ in range(60):
            shop.go_on(2.0)
        for _ in range(365):
            shop.go_on(1e-9)
        if is_cleared:
            shop.stock[:] = 0
            shop.line[:] = 0
        assert any(shop.go_on(2.0)[0][0] > 0 for _ in range(within))


FIXED = Costs(fixed=20.0, unit=1.0, lost_sale=3.0, holding=0.3)  # worth an order from about 3 a day on


def given_up(demand, lead_time=0):
    """A shop with an item that sold well, and then so little that it is not ordered any more."""
    shop = Shelf(engine_of([terms(30, FIXED, lead_time=lead_time)]))
    for _ in range(60):
        shop.go_on(8.0)
    for _ in range(90):
        shop.go_on(demand)
    assert decide(shop.engine, shop.day, 5).order[0] == 0
    return shop


@pytest.mark.parametrize("lead_time", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_an_item_that_was_given_up_is_tried_again(lead_time):
    shop = given_up(1.0, lead_time)
    days = [shop.go_on(8.0) for _ in range(250)]
    ordered = [t for t, (orders, _, _) in enumerate(days) if orders[0] > 0]
    assert ordered
    assert ordered[0] < 200
    assert sum(int(sold[0]) for _, _, sold in days) > 200  # and then it is kept on the shelf again


@pytest.mark.slow
def test_a_dead_item_is_not_ordered_again_and_again():
    shop = given_up(0.02)
    for _ in range(2):
        assert sum(int(shop.go_on(1e-9)[0][0] > 0) for _ in range(150)) <= 1
        assert shop.stock[0] <= 30
        shop.stock[:] = 0  # somebody takes the rest: it is tried once at most, and then still there


@pytest.mark.slow
def test_an_item_that_sells_little_is_tried_now_and_then():
    """Every trial costs its order. More than one in a month would cost more than it can find out."""
    shop = given_up(1.0)
    assert sum(int(shop.go_on(1.0)[0][0] > 0) for _ in range(240)) <= 8


def test_a_new_item_is_tried():
    shop = Shelf(engine_of([terms(30, FIXED)]))
    assert shop.go_on(8.0)[0][0] > 0


def test_hope_ends_with_the_first_sale():
    engine = engine_of([terms(30)])
    for t in range(40):
        learn(engine, MONDAY + t, 0, NOTHING, 0)
    assert engine.beliefs.unseen.tolist()[:1] == [40]
    learn(engine, MONDAY + 40, 2, on_sale=9)
    assert engine.beliefs.unseen.tolist()[:1] == [0]
    assert longs([decide(engine, MONDAY + 41, 30).order[0]]).tolist() == [0]
