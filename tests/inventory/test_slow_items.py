"""What slow, rare, new and ended items get, in a shop and in a backtest."""

from datetime import date, timedelta

import numpy as np
import pytest
from benchmarks.slow_items import DAYS, HISTORY, draw_demand, run

from driftmdp.inventory import Costs, Count, ItemSettings, Sales, Series, Shop, Sold, SpecialDay, backtest

MONDAY = date(2026, 1, 5)
DATES = np.datetime64("2024-01-01") + np.arange(730)
CHRISTMAS = [357, 723]  # places of the days among DATES


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """What the items of a made-up shop got in half a year, and their demand."""
    demand = draw_demand(1)
    return run(demand, tmp_path_factory.mktemp("slow")), demand


# ---- in a shop


def test_one_sale_a_quarter_is_kept_in_ones_and_never_grows(half):
    found, demand = half[0]["one a quarter"], half[1]["one a quarter"]
    assert found.sold == demand[HISTORY:].sum() == 2
    assert 1 <= found.first <= 2  # an order costs as much as 100 days of a unit
    assert found.most <= 2
    assert found.ordered <= found.sold + 2


def test_one_sale_a_quarter_that_is_dear_to_keep_is_not_kept(half):
    assert half[0]["one a quarter, dear to keep"].ordered == 0


def test_what_never_sold_is_not_ordered(half):
    assert half[0]["never sold"].ordered == 0


def test_an_item_that_ended_is_tried_once_at_most(half):
    """Its shelf is empty. One order is a fair try, as the sales of two months are all that speaks against it."""
    found = half[0]["ended two months ago"]
    assert found.ordered == found.first <= 0.5 * half[0]["ends today"].first
    assert half[0]["ends today"].ordered == half[0]["ends today"].first  # nobody could know: one order, and no more


def test_a_gift_two_weeks_ago_raises_orders_for_a_while_and_not_at_all_from_the_calendar(half):
    usual, gift = half[0]["one a day"], half[0]["given away"]
    assert half[0]["given away, in the calendar"].first == pytest.approx(usual.first, abs=2)
    assert usual.first <= gift.first <= 2 * usual.first
    assert gift.ordered == pytest.approx(usual.ordered, rel=0.1)


def test_a_new_item_gets_an_order_like_that_of_its_like(half):
    found = half[0]
    assert 0.5 * found["one a day"].first <= found["new"].first <= 2 * found["one a day"].first
    assert found["new"].ordered == pytest.approx(found["one a day"].ordered, rel=0.15)


@pytest.fixture
def shop(tmp_path):
    """A shop with a slow and a fast group, each of three items."""
    rng = np.random.default_rng(5)
    levels = {f"{group} {i}": level for group, level in (("slow", 0.1), ("fast", 8.0)) for i in range(3)}
    items = [ItemSettings(sku, {"group": sku.split()[0]}) for sku in levels]
    items += [ItemSettings(f"new {group}", {"group": group, "lead_time": 2}) for group in ("slow", "fast")]
    with Shop.create(tmp_path / "shop.db", Costs(2.0, 0.0, 5.0, 0.05), None) as made:
        first = MONDAY - timedelta(200)
        sold = [
            Sold(sku, first + timedelta(day), int(rng.poisson(level)), in_stock=True)
            for day in range(200)
            for sku, level in levels.items()
        ]
        made.record(sold, items=items)
        yield made, list(levels)


def test_an_item_that_starts_next_week_is_ordered_when_it_is_counted_by_the_level_of_its_group(shop):
    made, known = shop
    today = made.decide([Count(sku, 0) for sku in known], MONDAY)
    assert [advice.sku for advice in today.advice] == known  # its settings alone are no reason to order
    assert not any("not counted" in remark for remark in today.remarks)
    later = made.decide([Count("new slow", 0), Count("new fast", 0)], MONDAY + timedelta(5))
    slow, fast = (advice.order for advice in later.advice)
    assert 0 <= slow <= 5
    assert 20 <= fast <= 100
    assert made.explain("new fast").level == pytest.approx(8.0, rel=0.2)
    assert made.explain("new fast").periods == 0


def test_an_item_that_is_closed_until_it_starts_is_ordered_for_its_start(shop):
    """Days before the start as closed days of this item: counted every morning, ordered when there is use for it."""
    made, _ = shop
    closed = [SpecialDay((MONDAY + timedelta(day)).toordinal(), "closed", sku="new fast") for day in range(7)]
    found = [
        made.decide([Count("new fast", 0)], MONDAY + timedelta(day), calendar=closed).advice[0].order
        for day in (0, 7)
    ]
    assert found[0] == 0
    assert found[1] > 0


# ---- in a backtest


def usual(seed=0):
    rng = np.random.default_rng(seed)
    return [Series(f"usual {i}", DATES, rng.poisson(0.3 + 0.7 * i, DATES.size)) for i in range(6)]


def played(extra, calendar=()):
    costs = Costs(2.0, 0.0, 5.0, 0.05)
    return backtest(
        Sales((*usual(), extra)), costs, None, lead_time=2, rules=["driftmdp", "face-value"], calendar=calendar
    )


def test_one_sale_a_quarter_in_a_backtest_never_grows():
    units = np.zeros(DATES.size, np.int64)
    units[40::91] = 1
    found = played(Series("slow", DATES, units))
    trace = found.trace("slow")
    assert trace.level.max() <= 3
    assert trace.orders[365:].sum() <= units[365:].sum() + 2


def test_orders_of_an_ended_item_stop_within_a_week_in_a_backtest():
    units = np.random.default_rng(3).poisson(3.0, DATES.size)
    units[400:] = 0
    trace = played(Series("ended", DATES, units)).trace("ended")
    assert trace.orders[390:400].sum() > 0
    assert not trace.orders[410:].any()
    assert trace.orders[400:].sum() <= 2 * trace.level[300:400].max()
    assert trace.estimate[430] < 0.7
    assert trace.estimate[500] < 0.1


@pytest.fixture(scope="module")
def gifts():
    """An item of one sale a day, without gifts, with 200 on two days, and with these days in the calendar."""
    even = np.random.default_rng(1).poisson(1.0, DATES.size)
    gift = even.copy()
    gift[CHRISTMAS] = 200
    first = date(2024, 1, 1).toordinal()
    calendar = [SpecialDay(first + day, "Christmas") for day in CHRISTMAS]
    paths = [("even", even, ()), ("gift", gift, ()), ("gift", gift, calendar)]
    return [played(Series(sku, DATES, units), lines) for sku, units, lines in paths]


def test_a_day_of_gifts_hardly_moves_later_orders(gifts):
    even, gift, known = (found.traces([found.skus[-1]])[0] for found in gifts)
    after = slice(CHRISTMAS[0] + 1, CHRISTMAS[0] + 31)
    assert gift.estimate[after].max() <= 1.5 * even.estimate[after].max()
    assert gift.level[after].max() <= 2 * even.level[after].max()
    assert gift.estimate[500] == pytest.approx(even.estimate[500], rel=0.1)
    assert known.estimate[after] == pytest.approx(even.estimate[after], rel=0.05)


def test_a_day_of_gifts_leaves_the_season_of_others(gifts):
    for sku in gifts[0].skus[:-1]:
        even, gift = (found.trace(sku).estimate[365:] for found in gifts[:2])
        assert gift == pytest.approx(even, rel=0.06)


def test_the_half_year_is_as_long_as_the_tests_say():
    assert (HISTORY, DAYS) == (728, 182)
