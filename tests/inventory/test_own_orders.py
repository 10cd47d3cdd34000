"""What a shop's own orders cost: worked by hand, against the rules, and files that cannot be used."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Costs, ItemTerms, OwnOrders, OwnSeries, Sales, Series, backtest, read_own
from driftmdp.inventory.item_paths import item_path, period_costs
from driftmdp.inventory.own_replay import replay
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.report.backtest import summary_rows, write_backtest

COSTS = Costs(fixed=5, unit=1, lost_sale=9, holding=0.5)
MONDAY = np.datetime64("2026-01-05")
QUICK = ["driftmdp", "hindsight", "face-value"]


def path_of(units, lead_time=0, closed=frozenset(), first=MONDAY):
    terms = ItemTerms(COSTS, None, lead_time=lead_time, closed_days=closed)
    return item_path(Series("A", first + np.arange(len(units)), np.array(units)), terms, SpecialDays())


def own_of(days, ordered=None, stock=None):
    numbers = [None if values is None else np.array(values) for values in (ordered, stock)]
    return OwnSeries("A", MONDAY + np.array(days), *numbers)


def test_orders_only_by_hand():
    """The shelf is replayed, from the least stock that explains the sales.

    day      0   1   2   3   4
    sold     3   2   4   0   1
    ordered  0   6   0   2   0    on sale at once
    missing  3  -1   3   1   2    sold minus arrived, so far: the most is 3, the start
    on sale  3   6   4   2   2
    left     0   4   0   2   1
    cost     0  13   0   8   0.5  5 an order, 1 a unit, and 0.5 for each unit left
    """
    path = path_of([3, 2, 4, 0, 1])
    found = replay(path, own_of([1, 3], ordered=[6, 2]))
    assert found.start == 3
    assert found.trace.on_sale.tolist() == [3, 6, 4, 2, 2]
    assert period_costs(path, found.trace).tolist() == [0, 13, 0, 8, 0.5]


def test_orders_arrive_after_the_lead_time():
    """An order of day 0 is there on day 2: of 2 + 2 + 2 sold, 4 must have been there, and of 3 ordered 1 is left.

    day      0   1   2   3
    sold     2   2   2   0
    on sale  4   2   3   1
    cost     9   0   0.5 0.5     day 0: an order of 3 (8), and 2 left (1)
    """
    path = path_of([2, 2, 2, 0], lead_time=2)
    found = replay(path, own_of([0], ordered=[3]))
    assert (found.start, found.trace.on_sale.tolist()) == (4, [4, 2, 3, 1])
    assert period_costs(path, found.trace).tolist() == [9, 0, 0.5, 0.5]


def test_stock_only_by_hand():
    """Holding is stock minus sales, and a rise is an order. The first count is the start, not an order.

    day      0   1   2   3   4
    stock    5   3  10   8   3    in the morning
    sold     2   3   2   5   4    on day 4 one more than there was: a correction
    left     3   0   8   3   0
    rise     -   0  10   0   0    day 2: 10, where 0 was left
    cost   1.5   0  19 1.5   0
    """
    path = path_of([2, 3, 2, 5, 4])
    found = replay(path, own_of(range(5), stock=[5, 3, 10, 8, 3]))
    assert found.trace.orders.tolist() == [0, 0, 10, 0, 0]
    assert found.trace.on_sale.tolist() == [5, 3, 10, 8, 4]
    assert period_costs(path, found.trace).tolist() == [1.5, 0, 19, 1.5, 0]


def test_stock_and_orders_that_arrive_at_once():
    """The morning's order is on sale beside the stock. Where nobody counted, the shelf goes on.

    day      0   1   2   3
    stock    1   -   -   4    day 3: 2 were left by the replay, and 4 are found: no order
    ordered  4   0   3   0
    on sale  5   3   5   4
    sold     2   1   3   1
    """
    path = path_of([2, 1, 3, 1])
    found = replay(path, own_of([0, 2, 3], ordered=[4, 3, 0], stock=[1, -1, 4]))
    assert found.trace.on_sale.tolist() == [5, 3, 5, 4]
    assert found.trace.orders.tolist() == [4, 0, 3, 0]


def test_with_a_lead_time_the_stock_has_what_arrived():
    path = path_of([2, 1, 3], lead_time=1)
    found = replay(path, own_of([0, 1], ordered=[4, 0], stock=[3, 5]))
    assert found.trace.on_sale.tolist() == [3, 5, 4]


def test_an_order_on_a_closed_day_counts_on_the_next_open_one():
    """2026-01-10 is a Saturday. Open are days 0 to 4 and 7."""
    path = path_of([0] * 8, closed=frozenset({5, 6}))
    found = replay(path, own_of([5, 6], ordered=[2, 3]))
    assert path.days.size == 6
    assert found.trace.orders.tolist() == [0, 0, 0, 0, 0, 5]
    assert found.trace.on_sale.tolist() == [0, 0, 0, 0, 0, 5]


def test_what_arrived_before_the_sales_begin_is_no_stock_of_today():
    path = path_of([1, 1], lead_time=2)
    found = replay(path, own_of([-9, -2, 5], ordered=[50, 7, 3]))
    assert found.trace.on_sale.tolist() == [7, 6]
    assert found.trace.orders.tolist() == [0, 0]


@given(
    units=st.lists(st.integers(0, 9), min_size=1, max_size=30),
    orders=st.lists(st.integers(0, 9), min_size=30, max_size=30),
    lead_time=st.integers(0, 4),
)
def test_the_start_is_the_least_that_explains_the_sales(units, orders, lead_time):
    path = path_of(units, lead_time)
    found = replay(path, own_of(range(30), ordered=orders))
    left = found.trace.on_sale - path.demand
    assert (left >= 0).all()
    assert found.start == 0 or left.min() == 0
    assert found.trace.orders.tolist() == orders[: len(units)]


@given(
    units=st.lists(st.integers(0, 9), min_size=2, max_size=30),
    orders=st.lists(st.integers(0, 9), min_size=30, max_size=30),
)
def test_stock_gives_the_orders_back(units, orders):
    """Counts of what the orders would have left have the same orders in them, but for the first day's."""
    path = path_of(units)
    by_orders = replay(path, own_of(range(30), ordered=orders))
    by_stock = replay(path, own_of(range(len(units)), stock=by_orders.trace.on_sale))
    assert by_stock.trace.on_sale.tolist() == by_orders.trace.on_sale.tolist()
    assert by_stock.trace.orders.tolist()[1:] == by_orders.trace.orders.tolist()[1:]


def shop(n_items=3, n_days=130, seed=1):
    rng = np.random.default_rng(seed)
    dates = MONDAY + np.arange(n_days)
    return Sales(tuple(Series(f"item {i}", dates, rng.poisson(3 + 2 * i, n_days)) for i in range(n_items)))


@pytest.mark.parametrize("lead_time", [0, 2])
def test_the_orders_of_a_rule_cost_what_the_rule_costs(lead_time):
    """Sales that our rule served in full, and its own orders as the shop's: the same cost, item by item."""
    dear = Costs(fixed=1, unit=0.1, lost_sale=500, holding=0.01)
    first = backtest(shop(), dear, None, lead_time, rules=["driftmdp"])
    served = [np.minimum(path.demand, trace.on_sale) for path, trace in zip(first.paths, first.ours, strict=True)]
    parts = zip(first.series, served, strict=True)
    sales = Sales(tuple(Series(each.sku, each.dates, units) for each, units in parts))
    again = backtest(sales, dear, None, lead_time, rules=["driftmdp"])
    assert (again.sold == again.demand).all()
    traces = zip(again.series, again.ours, strict=True)
    own = OwnOrders(tuple(OwnSeries(each.sku, each.dates, trace.orders) for each, trace in traces))
    both = backtest(sales, dear, None, lead_time, rules=["driftmdp"], own=own)
    assert both.rules == ("driftmdp", "own")
    for name in ("cost", "sold", "stock", "orders"):
        mine, theirs = getattr(both, name)
        assert mine.tolist() == theirs.tolist()
    ratio = both.ratio("own", "driftmdp")
    assert (ratio.estimate, ratio.low, ratio.high) == (1, 1, 1)


def weekly(sales, units=60, first=0, last=None):
    """Return orders of every seventh day."""
    return OwnOrders(
        tuple(
            OwnSeries(each.sku, each.dates[first:last:7], np.full(each.dates[first:last:7].size, units))
            for each in sales.series
        )
    )


def test_own_orders_change_no_rule():
    sales = shop(n_days=127)  # whose last day is an order day
    alone = backtest(sales, COSTS, 80, rules=QUICK)
    both = backtest(sales, COSTS, 80, rules=QUICK, own=weekly(sales))
    assert both.cost[:-1].tolist() == alone.cost.tolist()
    assert both.periods.tolist() == [67] * 3
    assert both.scored_periods() == 67
    assert both.cost_per_period("own", "item 1").low <= both.cost_per_period("own", "item 1").estimate


def test_all_are_scored_only_where_own_orders_are_known():
    sales = shop(n_days=200)
    found = backtest(sales, COSTS, 80, rules=QUICK, own=weekly(sales, first=98, last=180))
    assert found.periods.tolist() == [176 - 98] * 3
    text = " ".join(found.remarks)
    assert "Sales after 2026-06-29, the last day of own, are left out." in text
    assert "Scored from 2026-04-13 on, the first day of your own orders." in text
    ours = found.ours[0].orders[98:]
    assert found.orders_placed("driftmdp", "item 0") == (ours > 0).sum()


def test_items_of_one_file_only_are_named():
    sales = shop()
    own = weekly(sales)
    other = OwnSeries("unsold", own.series[0].dates, own.series[0].ordered)
    found = backtest(sales, COSTS, 80, rules=QUICK, own=OwnOrders((*own.series[1:], other)))
    assert found.skus == ("item 1", "item 2")
    assert "Left out, without a line in own: item 0." in found.remarks
    assert "Not used, as own has them but the sales do not: unsold." in found.remarks


def test_what_is_not_known_is_said():
    sales = shop()
    dates = sales.series[0].dates
    stock = OwnOrders(
        tuple(
            OwnSeries(each.sku, dates, stock=np.maximum(each.units - (each.units > 5), 0)) for each in sales.series
        )
    )
    text = " ".join(backtest(sales, COSTS, 6, rules=["face-value"], own=stock).remarks)
    sold_out = sum(int((each.units[60:] >= 0).sum()) for each in sales.series)
    over = sum(int((each.units[60:] > 5).sum()) for each in sales.series)
    assert f"Your own shelf ended {sold_out} days of items empty." in text
    assert f"More was sold than you had on {over} days of items." in text
    assert "Orders of 3 items are not in own: every rise of the stock is taken for one" in text
    assert "You had more than the capacity on" in text
    few = weekly(sales, units=1)
    text = " ".join(backtest(sales, COSTS, 80, rules=["face-value"], own=few).remarks)
    start = sum(int(each.units[:127].sum()) for each in sales.series)
    assert "of 3 items in all, the least that explains the sales." in text
    assert "If own lacks orders, your own cost is overstated" in text
    assert start > 0


def test_weeks_and_chosen_packs():
    dates = MONDAY + 7 * np.arange(60)
    sales = Sales((Series("A", dates, np.full(60, 30)),))
    own = OwnOrders((OwnSeries("A", dates, np.full(60, 40)),))
    found = backtest(sales, COSTS, 20, pack="auto", period="week", rules=["face-value"], own=own)
    pack = int(found.packs[0])
    assert pack > 1
    left = 10 * np.arange(27, 61)  # 10 more each week, from the first on
    expected = 34 * (5 + 40 * 1 / pack) + 0.5 / pack * left.sum()
    assert found.cost[1, 0] == pytest.approx(expected)
    shifted = OwnOrders((OwnSeries("A", dates + 2, np.full(60, 40)),), source="own.csv")
    with pytest.raises(InvalidInputError, match=r"own.csv, A: A week is named by its Monday; got 2026-01-07"):
        backtest(sales, COSTS, 20, pack="auto", period="week", rules=["face-value"], own=shifted)


def test_files_are_read(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("Date;SKU;Ordered;Stock;note\n2026-01-06;A;;3;x\n2026-01-05;A;4;;\n2026-01-05;B;;1;\n")
    a, b = read_own(file).series
    assert (a.sku, a.dates.astype(str).tolist()) == ("A", ["2026-01-05", "2026-01-06"])
    assert (a.ordered.tolist(), a.stock.tolist()) == ([4, 0], [-1, 3])
    assert (b.sku, b.ordered, b.stock.tolist()) == ("B", None, [1])


def test_two_lines_for_one_day(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("date,sku,ordered\n2026-01-05,A,4\n2026-01-05,A,3\n")
    with pytest.raises(InvalidInputError, match=r"line 3: A on 2026-01-05 stands .* --duplicates sum"):
        read_own(file)
    for choice, units, said in (("sum", 7, "added up"), ("last", 3, "of which the last counts")):
        found = read_own(file, duplicates=choice)
        assert found.series[0].ordered.tolist() == [units]
        assert f"1 duplicate line of {file}, {said}" in found.remarks[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date,sku,ordered\n2026-01-05,A,-4\n", "line 2: ordered must not be negative; got -4"),
        ("date,sku,stock\n2026-01-05,A,1.5\n", "line 2: stock must be a whole number; got '1.5'"),
        ("date,sku,ordered\n5 Jan,A,4\n", "line 2: date must be year-month-day"),
        ("date,sku,ordered\n2026-01-05,,4\n", "line 2: sku must be a name"),
        ("date,sku,cost\n2026-01-05,A,4\n", "must have a column 'ordered' or 'stock'; .* it has cost. Name it so"),
        ("date,ordered\n2026-01-05,4\n", "must have a column 'sku'"),
        ("date,sku,ordered\n", "must have lines below its header"),
        ("", "is empty"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path, text, message):
    file = tmp_path / "own.csv"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        read_own(file)


@pytest.mark.parametrize(
    ("dates", "sku", "message"),
    [
        (MONDAY - 400 + np.arange(3), "item 0", "must have days of the sales, which begin on 2026-01-05"),
        (MONDAY + 400 + np.arange(3), "item 0", "sales must go on after 2027-02-09"),
        (MONDAY + np.arange(3), "item O", "must have items of the sales, and it has none of them; got item O"),
    ],
)
def test_orders_of_other_days_and_items_are_refused(dates, sku, message):
    own = OwnOrders((OwnSeries(sku, dates, np.ones(3, np.int64)),), source="own.csv")
    with pytest.raises(InvalidInputError, match=message):
        backtest(shop(), COSTS, 80, rules=["face-value"], own=own)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"ordered": np.array([1])},
        {"ordered": np.array([1, -1])},
        {"stock": np.array([1, -2])},
    ],
)
def test_series_that_contradict_themselves_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"A must have|of A must have"):
        OwnSeries("A", MONDAY + np.arange(2), **wrong)
    with pytest.raises(InvalidInputError, match="each after the one before"):
        OwnSeries("A", MONDAY - np.arange(2), np.array([1, 1]))


def test_tables_and_page_have_a_row_of_your_own(tmp_path):
    sales = shop()
    found = backtest(sales, COSTS, 80, rules=QUICK, own=weekly(sales))
    header, rows = summary_rows(found)
    assert (rows[-1][0], rows[-1][header.index("served")]) == ("your own orders", "\N{EN DASH}")
    written = write_backtest(found, tmp_path, pictures=[])
    assert "your own orders" in written.page.read_text()
    lines = list(csv.DictReader(written.table.read_text().splitlines()))
    assert [line["service_level"] for line in lines if line["rule"] == "own"] == [""] * 3
    assert all(line["service_level"] for line in lines if line["rule"] != "own")
    page = {table.id: table for part in (written.report.lead, *written.report.sections) for table in part.tables}
    assert [row[-1].text for row in page["service"].rows] == ["\N{EN DASH}"] * 3
    assert "than your own orders" in written.report.lead.folds[0].paragraphs[0]
    assert written.report.lead.bars[0].bars[0].kind == "own"
