"""The backtest: its numbers are sums of what the rules do, in units, after 60 days or 26 weeks."""

from datetime import date

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import RULES, Costs, ItemSettings, Sales, Series, SpecialDay, backtest, lot_size
from driftmdp.inventory.ordering_rules import Yardsticks

COSTS = Costs(fixed=3, unit=0.2, lost_sale=5, holding=0.3)
MONDAY = np.datetime64("2025-12-29")
SINGLE = [rule for rule in RULES if rule not in ("driftmdp", "moving-average")]


def shop(n_items=3, n_days=130, seed=0, step=1):
    rng = np.random.default_rng(seed)
    dates = MONDAY + step * np.arange(n_days)
    return Sales(tuple(Series(f"item {i}", dates, rng.poisson(3 + 9 * i, n_days)) for i in range(n_items)))


def replayed(path, orders, scored=60):
    """Return cost, units sold and left of orders, by a plain simulation with a calendar of arrivals."""
    terms, step = path.terms, 7 if path.terms.period == "week" else 1
    costs, arriving, stock, lost = terms.costs, {}, 0, terms.costs.lost_sale if terms.service is None else 0.0
    paid = sold = left = 0
    for t, (day, demand, order) in enumerate(zip(path.days.tolist(), path.demand.tolist(), orders, strict=True)):
        due = [each for each in arriving if each <= day]
        stock += sum(arriving.pop(each) for each in due)
        position = stock + sum(arriving.values())
        assert order % terms.pack == 0
        assert order == 0 or order >= terms.minimum
        assert order == 0 or terms.order_days.may_order([day], terms.period)[0]
        assert terms.capacity is None or position + order <= terms.capacity
        if terms.lead_time == 0:
            stock += order
        elif order:
            arriving[day + step * terms.lead_time] = order
        if t >= scored:
            paid += costs.fixed * (order > 0) + costs.unit * order
            paid += lost * max(0, demand - stock) + costs.holding * max(0, stock - demand)
            sold, left = sold + min(demand, stock), left + max(0, stock - demand)
        stock = max(0, stock - demand)
    return paid, sold, left


def test_every_rule_orders_on_far_order_days():
    """Rules that are fitted to what they sold wait until they had something to sell."""
    found = backtest(shop(n_days=200), COSTS, None, order_days="every 30")
    assert (found.orders > 0).all()


@pytest.mark.parametrize(
    "terms",
    [
        {},
        {"lead_time": 1, "pack": 3},
        {"lead_time": 5, "pack": 2, "minimum": 5, "order_days": "mon,thu"},
        {"capacity": None, "lead_time": 2, "closed_days": "sun"},
        {"lead_time": 3, "order_days": "every 3"},
        {"service": 0.9, "capacity": None},
    ],
)
def test_every_number_is_a_sum_of_orders_that_the_terms_allow(terms):
    found = backtest(shop(), COSTS, **({"capacity": 60} | terms))
    assert found.rules == tuple(RULES)
    for item, path in enumerate(found.paths):
        traces = {rule: Yardsticks(path).follow(rule) for rule in SINGLE} | {"driftmdp": found.ours[item]}
        for rule, trace in traces.items():
            place = found.rules.index(rule)
            paid, sold, left = replayed(path, trace.orders.tolist())
            assert found.cost[place, item] == pytest.approx(paid)
            assert (found.sold[place, item], found.stock[place, item]) == (sold, left)
            assert found.orders_placed(rule, path.sku) == (trace.orders[60:] > 0).sum()
            assert found.cost_per_period(rule, path.sku).estimate == pytest.approx(paid / found.periods[item])
    assert found.cost_per_period("driftmdp").estimate == pytest.approx(found.cost[0].sum() / found.periods.sum())
    assert found.total_per_period("driftmdp") == pytest.approx((found.cost[0] / found.periods).sum())


def test_weeks_are_scored_after_26():
    found = backtest(shop(n_days=60, step=7), COSTS, None, 2, period="week")
    assert found.periods.tolist() == [34] * 3
    for item, path in enumerate(found.paths):
        assert found.cost[0, item] == pytest.approx(replayed(path, found.ours[item].orders.tolist(), 26)[0])
    with pytest.raises(InvalidInputError, match="item 0: A week is named by its Monday; got 2025-12-30, a Tuesday"):
        backtest(shop(n_days=60), COSTS, None, period="week")


def test_nothing_is_rounded():
    """Cases of 12 and an item that sells 2 a day: it is ordered, and nearly all of it is served."""
    rng = np.random.default_rng(1)
    sales = Sales((Series("A", MONDAY + np.arange(200), rng.poisson(2, 200)),))
    found = backtest(sales, Costs(1, 0, 5, 0.05), 60, pack=12)
    assert found.service_level("driftmdp") > 0.97
    assert found.demand[0] == sales.series[0].units[60:].sum()


def test_hindsight_is_the_cheapest_fixed_rule():
    found = backtest(shop(1), COSTS, 15, pack=3, rules=["hindsight"])
    path = found.paths[0]
    every = [_cost_of(path.demand, 3 * s, 3 * up) for up in range(1, 6) for s in range(up)]
    assert found.cost[0, 0] == pytest.approx(min(every))


def _cost_of(demands, s, up):
    stock, paid = 0, 0.0
    for t, demand in enumerate(demands.tolist()):
        order = (up - stock) // 3 * 3 if stock <= s else 0
        if t >= 60:
            paid += COSTS.true_cost(stock, order, demand)
        stock = max(0, stock + order - demand)
    return paid


@pytest.mark.slow
def test_hindsight_on_a_large_shelf_is_refined():
    """Levels up to 200 are tried on a grid, and the best is at most as dear as the best of all."""
    sales = Sales((Series("A", MONDAY + np.arange(150), np.random.default_rng(0).poisson(20, 150)),))
    found = backtest(sales, COSTS, 200, rules=["hindsight"])
    demands = found.paths[0].demand.tolist()

    def cost(s, up):
        stock, paid = 0, 0.0
        for t, demand in enumerate(demands):
            order = up - stock if stock <= s else 0
            paid += COSTS.true_cost(stock, order, demand) if t >= 60 else 0.0
            stock = max(0, stock + order - demand)
        return paid

    best = min(cost(s, up) for up in range(20, 100) for s in range(0, up, 1))
    assert found.cost[0, 0] == pytest.approx(best, rel=0.005)


@pytest.mark.parametrize("measure", ["units", "periods"])
def test_hindsight_and_ours_reach_a_service_target(measure):
    found = backtest(
        shop(2, 300), COSTS, None, 1, service=0.9, service_measure=measure, rules=["driftmdp", "hindsight"]
    )
    for rule in found.rules:
        assert found.service_level(rule) > 0.88
    assert found.cost[1].sum() > 0


def test_packs_may_be_chosen():
    sales = shop()
    found = backtest(sales, COSTS, 8, pack="auto", rules=["base-stock"])
    assert found.packs.tolist() == [lot_size(series.units, 8) for series in sales.series]
    assert [path.terms.capacity for path in found.paths] == (8 * found.packs).tolist()
    assert found.paths[2].terms.costs.lost_sale == pytest.approx(5 / found.packs[2])


def test_items_differ():
    items = [ItemSettings("item 1", {"pack": 6, "lead_time": 2, "capacity": "none"}, "items.csv, line 3")]
    found = backtest(shop(), COSTS, 60, items=items, rules=["driftmdp", "hindsight"])
    assert found.packs.tolist() == [1, 6, 1]
    assert found.cost[0, 1] == pytest.approx(replayed(found.paths[1], found.ours[1].orders.tolist())[0])
    with pytest.raises(InvalidInputError, match=r"items\.csv, line 3: pack must be at most the capacity of 4"):
        backtest(shop(), COSTS, 4, items=[ItemSettings("item 1", {"pack": 6}, "items.csv, line 3")])
    with pytest.raises(InvalidInputError, match="must have the same period; got item 2 by day and item 1 by week"):
        backtest(shop(), COSTS, 4, items=[ItemSettings("item 1", {"period": "week"})])


def test_closed_days_have_no_demand_and_lead_times_go_on():
    monday = MONDAY.astype(object).toordinal()
    calendar = [SpecialDay(monday + 70, "closed")]
    found = backtest(shop(), COSTS, 60, 2, closed_days="sun", calendar=calendar, rules=["driftmdp"])
    days = found.paths[0].days
    assert monday + 70 not in days
    assert (days % 7 != 0).all()
    assert found.paths[0].arrival[4:6].tolist() == [6, 6]  # of a Friday: on Sunday, so on Monday, as of a Saturday
    assert any("sold on closed days" in remark for remark in found.remarks)


def test_weekdays_without_lines_are_closed():
    dates = MONDAY + np.arange(140)
    dates = dates[(dates.astype(np.int64) + 3) % 7 != 5]
    sales = Sales((Series("A", dates, np.random.default_rng(0).poisson(4, dates.size)),))
    found = backtest(sales, COSTS, 20, rules=["driftmdp"])
    assert found.remarks == ("Closed on Saturdays, on which no item has a line.",)
    assert found.paths[0].terms.closed_days == {5}


def test_what_is_not_known_is_not_scored_as_lost():
    series = shop(1).series[0]
    in_stock = np.arange(130) % 3 > 0
    sold_out = np.arange(130) % 3 == 1
    units = np.where(in_stock, series.units, 0)
    partly = Sales((Series("A", series.dates, units, in_stock, sold_out),))
    found = backtest(partly, COSTS, 60, rules=["driftmdp", "moving-average", "hindsight"])
    assert found.remarks == (
        "44 days of items without stock: demand is not known, and is taken as 0.",
        "43 days of items sold out: demand was at least what was sold, and is taken as that.",
    )
    told = found.trace("A").estimate
    at_face_value = backtest(Sales((Series("A", series.dates, units),)), COSTS, 60, rules=["driftmdp"]).trace("A")
    assert told[-30:].mean() > 1.2 * at_face_value.estimate[-30:].mean()


def test_the_moving_average_is_the_contest_s():
    """Weekly, lead time 2: up to four weeks of the mean of 13 weeks without season, times the season."""
    rng = np.random.default_rng(3)
    dates = MONDAY + 7 * np.arange(120)
    weeks = np.array([date.astype(object).isocalendar()[1] for date in dates])
    demand = rng.poisson(20 * (1 + 0.5 * np.sin(weeks / 8.0)), (4, 120))
    sales = Sales(tuple(Series(str(i), dates, demand[i]) for i in range(4)))
    found = backtest(sales, Costs(0, 0, 1, 0.2), None, 2, period="week", rules=["moving-average"])
    from driftmdp.inventory.joint_rules import MovingAverageRule

    rule = MovingAverageRule(found.paths)
    items, day = np.arange(4), found.paths[0].days
    for t in range(100):
        rule.learn(int(day[t]), items, np.zeros(4, np.int8), np.full(4, 99), demand[:, t])
    means = demand[:, :100].mean(axis=0)
    season = np.ones(54)
    for week in range(1, 53):
        if (weeks[:100] == week).any():
            season[week] = means[weeks[:100] == week].mean() / means.mean()
    season[53] = season[52]
    base = (demand[:, 87:100] / season[weeks[87:100]]).mean(axis=1)
    up = np.floor(base * season[weeks[100:104]].sum() + 0.5)
    stock, coming = np.array([3, 0, 500, 9]), np.array([[1], [2], [3], [4]])
    orders = rule.decide(int(day[100]), items, stock, coming, np.zeros((4, 0), np.int64))
    assert orders.tolist() == np.maximum(0, up - stock - coming[:, 0]).tolist()


def test_workers_change_nothing():
    one, two = (backtest(shop(5), COSTS, 30, workers=n) for n in (1, 2))
    assert np.array_equal(one.cost, two.cost)
    assert one.skus == two.skus


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_engines_change_nothing(engine):
    here, there = (
        backtest(shop(n_items=8), Costs(), 20, rules=["driftmdp", "base-stock"], workers=2, engine=name)
        for name in ("threads", engine)
    )
    assert there.skus == here.skus
    for name in ("packs", "periods", "cost", "sold", "stock", "orders", "demand"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    for ours, theirs in zip(here.blocks, there.blocks, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_costs_scale_and_ratios_do_not():
    once, thrice = (backtest(shop(2), Costs(3 * k, 0.2 * k, 5 * k, 0.3 * k), 30) for k in (1, 4))
    assert np.allclose(4 * once.cost, thrice.cost)


def test_short_items_are_left_out_by_name():
    long, short = shop(1).series[0], Series("new", np.array(["2026-01-01"], "datetime64[D]"), np.array([1]))
    found = backtest(Sales((long, short)), COSTS, 8, rules=["base-stock"])
    assert found.skus == ("item 0",)
    assert found.remarks == ("Left out, with 60 days or fewer: new.",)
    with pytest.raises(InvalidInputError, match="the longest has 1"):
        backtest(Sales((short,)), COSTS, 8)


def test_weeks_that_are_taken_for_days_are_noticed():
    def mondays(weeks):
        return Sales((Series("A", np.datetime64("2026-01-05") + 7 * np.arange(weeks), np.arange(weeks) % 5),))

    with pytest.raises(InvalidInputError, match="All days are Mondays: sales by the week need --period week"):
        backtest(mondays(50), COSTS, 8)
    assert "Sales by the week need --period week." in backtest(mondays(80), COSTS, 8, rules=["base-stock"]).remarks


def test_settings_and_special_days_without_sales_are_told():
    calendar = [SpecialDay(date(2026, 1, 5).toordinal(), "promo", group="tea")]
    items = [ItemSettings("nowhere", {"pack": 2})]
    told = backtest(shop(1), COSTS, 8, rules=["base-stock"], items=items, calendar=calendar).remarks
    assert "Settings of items without sales are not used: nowhere." in told
    assert "Special days of what the shop does not have: group tea." in told


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rules": ["hindsigt"]}, "Did you mean 'hindsight'"),
        ({"rules": []}, "rules must name at least one"),
        ({"capacity": 0}, "capacity must be 1 to"),
        ({"lead_time": 61}, "lead_time must be at most 60"),
        ({"pack": 0}, "pack must be 1 to"),
        ({"pack": 9}, "pack must be at most the capacity of 8; got 9"),
        ({"pack": "auto", "capacity": None}, "pack must be a number where there is no capacity"),
        ({"minimum": 9}, "minimum must be at most the capacity of 8"),
        ({"order_days": "mon,thursdy"}, "perhaps thursday"),
        ({"order_days": "sun", "closed_days": "sun"}, "order_days must have an open day"),
        ({"period": "month"}, "period must be one of"),
        ({"service": 1.5}, "service must lie between 0 and 1"),
        ({"costs": 4}, "costs must be Costs"),
        ({"sales": Sales(())}, "sales must have at least one item"),
        ({"sales": Sales(shop(1).series * 2)}, "two have the same name"),
    ],
)
def test_wrong_input_is_answered_with_one_sentence(change, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        backtest(**({"sales": shop(1), "costs": COSTS, "capacity": 8} | change))


def test_a_trace_adds_up():
    found = backtest(shop(2), COSTS, 30, rules=["driftmdp"])
    trace = found.trace("item 0")
    sold = np.minimum(trace.demand, np.maximum(trace.level, 0))
    assert (trace.stock == trace.level - sold).all()  # without a lead time everything ordered is there
    assert trace.estimate[-30:].mean() == pytest.approx(trace.demand.mean(), rel=0.25)
    with pytest.raises(InvalidInputError, match="Did you mean 'item 0'"):
        found.trace("item 00")
    with pytest.raises(InvalidInputError, match="driftmdp must be among the rules"):
        backtest(shop(1), COSTS, 30, rules=["base-stock"]).trace("item 0")
