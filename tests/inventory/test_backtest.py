"""The backtest: its numbers are sums of what the rules do, in lots, from day 61."""

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import RULES, Costs, Sales, Series, backtest, in_lots, lot_size
from driftmdp.inventory.ordering_rules import RuleSet, day_costs

COSTS = Costs(fixed=3, unit=0.2, lost_sale=5, holding=0.3)


def shop(n_items=3, n_days=130, seed=0):
    rng = np.random.default_rng(seed)
    dates = np.datetime64("2026-01-01") + np.arange(n_days)
    return Sales(tuple(Series(f"item {i}", dates, rng.poisson(3 + 9 * i, n_days)) for i in range(n_items)))


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_every_number_is_a_sum_of_the_rule_s_days(lead_time):
    sales = shop()
    found = backtest(sales, COSTS, 8, lead_time)
    assert found.rules == tuple(RULES)
    for i, series in enumerate(sales.series):
        lot = lot_size(series.units, 8)
        path = in_lots(series.units, lot)
        assert found.lots[i] == lot
        assert np.percentile(series.units[:60], 95) / lot <= 0.6 * 8 + 1e-9
        assert lot == 1 or np.percentile(series.units[:60], 95) / (lot - 1) > 0.6 * 8
        for rule in found.rules:
            trace = RuleSet(COSTS, 8, lead_time).follow(rule, path, series.weekdays)
            kept = slice(60, None)
            place = found.rules.index(rule)
            assert found.cost[place, i] == pytest.approx(day_costs(found_shelf(lead_time), path, trace)[kept].sum())
            assert found.sold[place, i] == np.minimum(path, trace.on_sale)[kept].sum()
            assert found.orders_placed(rule, series.sku) == (trace.orders[kept] > 0).sum()
            assert found.cost_per_day(rule, series.sku).estimate == pytest.approx(
                found.cost[place, i] / found.days[i]
            )
    assert found.cost_per_day("optimist").estimate == pytest.approx(found.cost[0].sum() / found.days.sum())


def found_shelf(lead_time):
    return RuleSet(COSTS, 8, lead_time).shelf


def test_hindsight_is_the_cheapest_fixed_rule():
    sales = shop(1)
    found = backtest(sales, COSTS, 5)
    path = in_lots(sales.series[0].units, int(found.lots[0]))
    every = [_cost_of(path, s, up) for up in range(1, 6) for s in range(up)]
    assert found.cost[found.rules.index("hindsight"), 0] == pytest.approx(min(every))


def _cost_of(path, s, up):
    stock, paid = 0, 0.0
    for t, demand in enumerate(path.tolist()):
        order = up - stock if stock <= s else 0
        level = stock + order
        if t >= 60:
            paid += COSTS.true_cost(stock, order, demand)
        stock = max(0, level - demand)
    return paid


def test_workers_change_nothing():
    one, two = (backtest(shop(5), COSTS, 8, workers=n) for n in (1, 2))
    assert np.array_equal(one.cost, two.cost)
    assert one.skus == two.skus


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_engines_change_nothing(engine):
    here, there = (
        backtest(shop(n_items=12), Costs(), 20, rules=["optimist", "base-stock"], workers=2, engine=name)
        for name in ("threads", engine)
    )
    assert there.skus == here.skus
    for name in ("lots", "days", "cost", "sold", "stock", "orders", "demand"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    for ours, theirs in zip(here.blocks, there.blocks, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_costs_scale_and_ratios_do_not():
    once, thrice = (backtest(shop(2), Costs(3 * k, 0.2 * k, 5 * k, 0.3 * k), 8) for k in (1, 4))
    assert np.allclose(4 * once.cost, thrice.cost)


def test_short_items_are_left_out_by_name():
    long, short = shop(1).series[0], Series("new", np.array(["2026-01-01"], "datetime64[D]"), np.array([1]))
    found = backtest(Sales((long, short)), COSTS, 8)
    assert found.skus == ("item 0",)
    assert found.remarks == ("Left out, with 60 days or fewer: new.",)
    with pytest.raises(InvalidInputError, match="the longest has 1"):
        backtest(Sales((short,)), COSTS, 8)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rules": ["optimst"]}, "Did you mean 'optimist'"),
        ({"rules": []}, "rules must name at least one"),
        ({"capacity": 0}, "capacity must be at least 1"),
        ({"lead_time": 3}, "lead_time must be at most 2"),
        ({"lot": 0}, "lot must be at least 1"),
        ({"costs": 4}, "costs must be Costs"),
        ({"sales": Sales(())}, "sales must have at least one item"),
        ({"sales": Sales(shop(1).series * 2)}, "two have the same name"),
    ],
)
def test_wrong_input_is_answered_with_one_sentence(change, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        backtest(**({"sales": shop(1), "costs": COSTS, "capacity": 8} | change))


def test_a_trace_adds_up():
    found = backtest(shop(1), COSTS, 8)
    trace = found.trace("item 0")
    sold = np.minimum(trace.demand, np.maximum(trace.level, 0))
    assert (trace.stock == trace.level - sold).all()  # without a lead time everything ordered is there
    assert trace.estimate[-30:].mean() == pytest.approx(trace.demand.mean(), rel=0.25)
    with pytest.raises(InvalidInputError, match="Did you mean 'item 0'"):
        found.trace("item O")
