"""Goods that spoil in a backtest: every unit is followed, waste is paid, and what a file cannot say is said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.inventory import Costs, ItemSettings, ItemTerms, OwnOrders, OwnSeries, Sales, Series, backtest
from driftmdp.inventory.aging_goods import AgingGoods
from driftmdp.inventory.item_paths import expiries, item_path, period_costs
from driftmdp.inventory.joint_rules import play
from driftmdp.inventory.ordering_rules import RULES, Yardsticks
from driftmdp.inventory.own_replay import replay
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.report.backtest import summary_rows, write_backtest

COSTS = Costs(fixed=2.0, unit=1.0, lost_sale=8.0, holding=0.1)
MONDAY = np.datetime64("2026-01-05")


def path_of(units, life, lead_time=0, closed=frozenset(), waste=2.0):
    terms = ItemTerms(COSTS, None, lead_time=lead_time, closed_days=closed, shelf_life=life, waste=waste)
    return item_path(Series("A", MONDAY + np.arange(len(units)), np.array(units)), terms, SpecialDays())


def follow(path, orders):
    """What is on sale, and what spoils until the shop opens again: every unit has its last day."""
    shelf, coming, found = [], [], []
    for t, (today, demand) in enumerate(zip(path.days.tolist(), path.demand.tolist(), strict=True)):
        shelf += [last for place, last in coming if place <= t]
        coming = [(place, last) for place, last in coming if place > t]
        first = today + path.terms.lead_time
        last = first + path.terms.shelf_life - 1
        if path.arrival[t] < path.days.size:  # what comes to a closed shop, and would spoil there, is sold once
            coming += [(int(path.arrival[t]), max(last, int(path.days[path.arrival[t]])))] * int(orders[t])
        shelf += [last for place, last in coming if place <= t]
        coming = [(place, last) for place, last in coming if place > t]
        shelf.sort()
        on_sale, shelf = len(shelf), shelf[demand:]
        reopens = path.days[t + 1] if t + 1 < path.days.size else today + 1
        kept = [last for last in shelf if last >= reopens]
        found.append((on_sale, len(shelf) - len(kept)))
        shelf = kept
    return np.array(found).T


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    life=st.integers(1, 9),
    lead_time=st.integers(0, 3),
    closed=st.sampled_from([frozenset(), frozenset([6]), frozenset([2, 5, 6])]),
    rule=st.sampled_from(["first-60", "base-stock", "face-value"]),
)
def test_every_rule_sells_the_oldest_first(seed, life, lead_time, closed, rule):
    path = path_of(np.random.default_rng(seed).poisson(2.0, 70), life, lead_time, closed)
    trace = Yardsticks(path, 30).follow(rule)
    on_sale, spoiled = follow(path, trace.orders)
    assert trace.on_sale.tolist() == on_sale.tolist()
    assert trace.spoiled.tolist() == spoiled.tolist()


class Scripted:
    """A joint rule whose orders are drawn beforehand, and which checks the ages that it is given."""

    def __init__(self, paths, rng):
        self.orders = [rng.integers(0, 5, path.days.size) for path in paths]
        self._paths, self._seen = paths, [0] * len(paths)
        self.ages = []

    def decide(self, day, items, stock, coming, ages):
        assert (ages.sum(axis=1) == np.where(self._lives(items) > 0, stock, 0)).all()
        assert (ages >= 0).all()
        found = [self.orders[item][self._seen[item]] for item in items.tolist()]
        for item in items.tolist():
            self._seen[item] += 1
        return np.array(found)

    def _lives(self, items):
        return np.array([self._paths[item].terms.shelf_life or 0 for item in items.tolist()])

    def learn(self, *sales):
        pass


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6), lead_time=st.integers(0, 3), closed=st.sampled_from([frozenset(), frozenset([6])])
)
def test_rules_that_play_together_age_as_those_alone(seed, lead_time, closed):
    rng = np.random.default_rng(seed)
    paths = [path_of(rng.poisson(2.0, 40), life, lead_time, closed) for life in (1, 3, 8)]
    paths.append(path_of(rng.poisson(2.0, 40), None, lead_time, closed))
    rule = Scripted(paths, rng)
    days = play(rule, paths)
    while True:
        try:
            next(days)
        except StopIteration as end:
            traces = end.value
            break
    for path, trace in zip(paths[:3], traces, strict=False):
        on_sale, spoiled = follow(path, trace.orders)
        assert trace.on_sale.tolist() == on_sale.tolist()
        assert trace.spoiled.tolist() == spoiled.tolist()
    assert not traces[3].spoiled.any()


def test_ages_by_hand():
    path = path_of([0] * 14, 3, closed=frozenset([6]))
    goods, place = AgingGoods([path]), np.array([0])
    item = np.array([0])
    for t in range(5):  # two units from Monday to Friday
        found = goods.ages(int(path.days[t]), item, place + t, np.array([2 * min(t, 2)]))
        assert found.tolist() == [[0, 0, 0], [0, 2, 0], [2, 2, 0], [2, 2, 0], [2, 2, 0]][t : t + 1]
        goods.order(place + t, np.array([2]))
        assert goods.sell(item, place + t, np.array([0])).tolist() == ([0] if t < 2 else [2])


def test_the_last_period_of_an_order():
    terms = ItemTerms(COSTS, None, lead_time=1, shelf_life=2)
    assert expiries(np.array([1, 2, 5, 6]), terms).tolist() == [1, 2, 4, 4]


def test_waste_is_paid_and_not_held():
    path = path_of([1, 1, 1], 1)
    trace = (
        Yardsticks(path, 0)
        .follow("first-60")
        ._replace(orders=np.array([3, 1, 0]), on_sale=np.array([3, 1, 0]), spoiled=np.array([2, 0, 0]))
    )
    assert period_costs(path, trace).tolist() == pytest.approx([2 + 3 + 2 * 2.0, 2 + 1, 8.0])


@pytest.fixture(scope="module")
def sales():
    rng = np.random.default_rng(3)
    return Sales(tuple(Series(f"I{i}", MONDAY + np.arange(110), rng.poisson(3, 110)) for i in range(3)))


def test_waste_is_shown_where_goods_spoil(sales, tmp_path):
    plain = backtest(sales, COSTS, 30, 1, workers=1)
    assert "spoiled" not in summary_rows(plain)[0]
    items = [ItemSettings("I0", {"shelf_life": 3, "waste": 1.0})]
    found = backtest(sales, COSTS, 30, 1, workers=1, items=items)
    header, rows = summary_rows(found)
    assert header[-1] == "spoiled"
    assert found.spoils
    assert all(row[-1] == f"{found.units_spoiled(rule, 'I0')}" for row, rule in zip(rows, found.rules, strict=True))
    assert found.units_spoiled("driftmdp", "I0") > 0
    assert found.units_spoiled("driftmdp", "I1") == 0
    for rule in RULES:  # the others' pasts are as they were, but for what they learn from each other
        if rule not in ("driftmdp", "moving-average"):
            assert found.cost_per_period(rule, "I2").estimate == plain.cost_per_period(rule, "I2").estimate
    written = write_backtest(found, tmp_path)
    assert "Units that spoiled" in written.page.read_text("utf-8")
    assert found.spoiled.sum(axis=1).tolist() == [found.units_spoiled(rule) for rule in found.rules]


def test_a_shelf_life_costs_and_a_long_one_hardly_does(sales):
    one, how = Sales(sales.series[:1]), {"rules": ["driftmdp", "hindsight"], "workers": 1, "waste": 1.0}
    costs = {
        life: backtest(one, COSTS, 30, 1, shelf_life=life, **how).cost.sum(axis=1).tolist()
        for life in (1, 3, 120, None)
    }
    assert costs[1] > costs[3] > costs[None]
    assert costs[120][1] == costs[None][1]
    assert costs[120][0] == pytest.approx(costs[None][0], rel=0.1)


def test_own_counts_show_what_spoiled_and_orders_alone_do_not():
    path = path_of([2, 2, 2, 2], 2)
    dates = MONDAY + np.arange(4)
    by_count = OwnSeries("A", dates, None, np.array([6, 3, 2, 4]))  # one was gone after the first day
    trace = replay(path, by_count).trace
    assert trace.spoiled.tolist() == [1, 0, 0, 0]
    assert trace.orders.tolist() == [0, 0, 1, 4]
    alone = replay(path, OwnSeries("A", dates, np.array([6, 0, 4, 0]), None)).trace
    assert not alone.spoiled.any()


def test_what_the_own_cost_does_not_know_is_said(sales):
    dates = MONDAY + np.arange(110)
    series = [OwnSeries(f"I{i}", dates, np.full(110, 3), np.full(110, 8) if i else None) for i in range(2)]
    own = OwnOrders(tuple(series))
    found = backtest(sales, COSTS, None, 1, rules=["driftmdp"], workers=1, shelf_life=3, own=own)
    text = " ".join(found.remarks)
    assert "What your counts lack beyond the sales" in text
    assert "What spoiled of 1 item is not known without counts" in text
