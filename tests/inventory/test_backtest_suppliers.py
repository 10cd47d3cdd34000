"""A backtest with suppliers: what they cost, their minima, the lower bound, and the rows and files."""

import csv
import itertools
from dataclasses import replace

import numpy as np
import pytest

from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Costs, ItemSettings, OwnOrders, OwnSeries, Sales, Series, Supplier, backtest
from driftmdp.inventory.item_paths import item_path, period_costs
from driftmdp.inventory.joint_rules import finished, play
from driftmdp.inventory.lowest_cost import best_division, lowest_cost
from driftmdp.inventory.ordering_rules import ALONE, OURS, RULES, Yardsticks
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.supplier_charges import groups_of, supplier_charges
from driftmdp.inventory.supplier_minima import SupplierMinima
from driftmdp.inventory.terms import ItemTerms
from driftmdp.inventory.yardstick_play import YardstickRule
from driftmdp.kernels.ordering_arrays import OrderTerms
from driftmdp.kernels.yardstick_rules import DemandPath
from driftmdp.report.backtest import backtest_report, summary_rows, write_backtest

COSTS = Costs(fixed=1, unit=0.0, lost_sale=5, holding=0.1)
MONDAY = np.datetime64("2025-12-29")
SINGLE = [rule for rule in RULES if rule not in ("driftmdp", "moving-average")]
MILL = Supplier("Mill", {"order_days": "mon,thu", "lead_time": 2, "order_cost": 30.0})


def series(n_items=4, n_days=110, seed=0, first=0):
    rng = np.random.default_rng(seed)
    dates = MONDAY + first + np.arange(n_days)
    return tuple(Series(f"item {i}", dates, rng.poisson(1 + i, n_days)) for i in range(n_items))


def items(n=4, supplier="Mill"):
    return [ItemSettings(f"item {i}", {"supplier": supplier, "price": 2.0}) for i in range(n)]


@pytest.fixture(scope="module")
def found():
    return backtest(Sales(series(5)), COSTS, 60, items=items(), suppliers=[MILL])


def paths_of(*lengths, shared, capacity=60, **terms):
    """Items of one supplier that begin together."""
    found = ItemTerms(COSTS, capacity, supplier="Mill", shared_order=shared, **terms)
    return [
        item_path(replace(each, dates=each.dates[:n], units=each.units[:n]), found, SpecialDays())
        for each, n in zip(series(len(lengths), max(lengths)), lengths, strict=True)
    ]


# ---- what an order to a supplier costs


def test_an_order_costs_once_and_the_items_in_it_share_it():
    paths = paths_of(100, 100, 100, shared=SharedOrder(30.0))
    orders = [np.zeros(100, np.int64) for _ in paths]
    orders[0][70], orders[1][70], orders[2][80], orders[0][10] = 5, 1, 2, 9
    charges = supplier_charges(paths, orders)
    assert [float(each.sum()) for each in charges] == [15.0, 15.0, 30.0]  # not of the 10th day, before scoring
    assert charges[0][70] == charges[1][70] == 15.0
    assert charges[2][80] == 30.0


def test_an_item_that_is_not_scored_yet_neither_pays_nor_counts():
    early, late = paths_of(100, 100, shared=SharedOrder(30.0))
    late = replace(late, scored=80)
    orders = [np.zeros(100, np.int64) for _ in range(2)]
    orders[0][70] = orders[1][70] = 5
    assert [float(each.sum()) for each in supplier_charges([early, late], orders)] == [30.0, 0.0]


def test_the_cost_of_every_rule_has_what_its_orders_to_the_supplier_cost(found):
    group = groups_of(found.paths)[0]
    assert group == [0, 1, 2, 3]
    paths = [found.paths[item] for item in group]
    traces = {rule: [Yardsticks(path).follow(rule) for path in paths] for rule in SINGLE}
    traces[OURS] = [found.ours[item] for item in group]
    for rule, each in traces.items():
        place = found.rules.index(rule)
        placed = np.array([trace.orders[60:] > 0 for trace in each])
        assert found.charged[place, group].sum() == pytest.approx(30.0 * placed.any(axis=0).sum())
        own = sum(period_costs(path, trace)[60:].sum() for path, trace in zip(paths, each, strict=True))
        assert found.cost[place, group].sum() == pytest.approx(own + found.charged[place, group].sum())
        assert found.charged[place, 4] == 0.0  # the item of no supplier


def test_terms_of_the_supplier_hold_for_all_rules(found):
    for path in found.paths[:4]:
        assert (path.terms.lead_time, str(path.terms.order_days)) == (2, "mon,thu")
        assert set((path.days[path.may_order] - 1) % 7) == {0, 3}
    assert found.paths[4].terms.lead_time == 0


def test_together_costs_less_than_each_alone(found):
    assert found.rules == (OURS, ALONE, *list(RULES)[1:])
    assert found.ratio(OURS, ALONE).estimate < 0.9


def test_the_plan_for_each_alone_is_ours_with_the_whole_cost_in_each_item(found):
    plain = [
        ItemSettings(each.sku, {"fixed_cost": 31.0, "lead_time": 2, "order_days": "mon,thu"}) for each in items()
    ]
    other = backtest(Sales(series(5)), COSTS, 60, rules=[OURS], items=plain)
    place = found.rules.index(ALONE)
    assert found.orders[place].tolist() == other.orders[0].tolist()
    assert found.sold[place].tolist() == other.sold[0].tolist()
    assert found.stock[place].tolist() == other.stock[0].tolist()


def test_without_a_shared_cost_there_is_nothing_new():
    days = Supplier("Mill", {"lead_time": 1})
    one = backtest(Sales(series()), COSTS, 60, items=items(), suppliers=[days])
    other = backtest(Sales(series()), COSTS, 60, lead_time=1)
    assert one.rules == tuple(RULES)
    assert one.lowest is None
    assert np.array_equal(one.cost, other.cost)


@pytest.mark.parametrize("how", [{"engine": "processes", "workers": 2}, {"workers": 3}])
def test_engines_and_workers_change_nothing(found, how):
    again = backtest(Sales(series(5)), COSTS, 60, items=items(), suppliers=[MILL], **how)
    for name in ("cost", "charged", "sold", "stock", "orders"):
        assert np.array_equal(getattr(again, name), getattr(found, name)), name
    assert again.lowest == found.lowest


# ---- minima


@pytest.mark.parametrize("rule", SINGLE)
@pytest.mark.parametrize("terms", [{}, {"lead_time": 2, "pack": 3}, {"closed_days": frozenset([6]), "minimum": 5}])
def test_yardsticks_day_by_day_do_what_their_kernels_do(rule, terms):
    paths = paths_of(110, 90, shared=SharedOrder(30.0), **terms)
    played = finished(play(YardstickRule(rule, paths), paths))
    for path, trace in zip(paths, played, strict=True):
        expected = Yardsticks(path).follow(rule)
        assert trace.orders.tolist() == expected.orders.tolist()
        assert trace.on_sale.tolist() == expected.on_sale.tolist()


@pytest.mark.parametrize("least", [{"minimum_units": 40}, {"minimum_value": 90.0}, {"minimum_units": 10}])
def test_every_order_of_every_rule_reaches_the_minimum(least):
    mill = Supplier("Mill", {"lead_time": 1, "order_cost": 2.0, **least})
    found = backtest(Sales(series()), COSTS, 60, items=items(), suppliers=[mill])
    paths = list(found.paths)
    for rule in (OURS, *SINGLE):
        traces = found.ours if rule == OURS else finished(play(YardstickRule(rule, paths), paths))
        daily = np.sum([trace.orders for trace in traces], axis=0)
        assert (daily > 0).any()
        assert (daily[daily > 0] >= least.get("minimum_units", 0)).all()
        assert (2.0 * daily[daily > 0] >= least.get("minimum_value", 0)).all()
        place = found.rules.index(rule)
        assert found.orders[place].sum() == sum(int((trace.orders[60:] > 0).sum()) for trace in traces)


def test_the_item_whose_stock_would_last_shortest_is_added_to():
    paths = paths_of(100, 100, 100, shared=SharedOrder(minimum_units=12))
    minima, everyone = SupplierMinima(paths), np.arange(3)
    minima.learn(everyone, np.array([1, 2, 0]))
    may_order = np.ones(3, bool)
    found = minima.reach(everyone, np.zeros(3, np.int64), np.array([1, 0, 0]), may_order)
    assert found.tolist() == [4, 8, 0]
    assert minima.reach(everyone, np.array([0, 55, 55]), np.array([1, 0, 0]), may_order).tolist() == [12, 0, 0]
    assert minima.reach(everyone, np.array([52, 60, 60]), np.array([1, 0, 0]), may_order).tolist() == [0, 0, 0]
    assert minima.reach(everyone, np.zeros(3, np.int64), np.zeros(3, np.int64), may_order).tolist() == [0, 0, 0]
    only = minima.reach(everyone, np.zeros(3, np.int64), np.array([1, 0, 0]), np.array([True, False, False]))
    assert only.tolist() == [12, 0, 0]


# ---- the lower bound


def tried(path, scored, terms):
    """Return the least cost over all sequences of orders of which any may be free before scoring, by trying all."""
    choices = [order for order in range(terms.capacity + 1) if order % terms.pack == 0]
    choices = [order for order in choices if order == 0 or order >= terms.minimum]
    n = path.demand.size
    each = [choices if path.may_order[t] and t >= scored else [0] for t in range(n)]
    best = np.inf
    for start in range(terms.capacity + 1):
        for orders in itertools.product(*each[scored:]):
            stock, coming, cost = start, np.zeros(n + 1, np.int64), 0.0
            for t, order in enumerate(orders, start=scored):
                cost += terms.fixed * (order > 0) + terms.unit * order
                coming[min(path.arrival[t], n)] += order
                stock += coming[t]
                if stock > terms.capacity:
                    cost = np.inf
                cost += terms.lost * max(0, path.demand[t] - stock) + terms.holding * max(0, stock - path.demand[t])
                stock = max(0, stock - path.demand[t])
            best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_least_cost_in_hindsight_is_that_of_trying_everything(seed):
    rng = np.random.default_rng(seed)
    n, lead = 5, 0 if seed % 2 else 1
    demand = rng.integers(0, 4, n)
    may_order = rng.random(n) < 0.8
    path = DemandPath(demand, np.arange(n) + lead, np.full(n, n), may_order.astype(np.uint8))
    pack = int(rng.integers(1, 3))
    money = rng.uniform(0, 4), rng.uniform(0, 0.5), rng.uniform(1, 6), rng.uniform(0.1, 2)
    terms = OrderTerms(*money, 4, pack, int(rng.integers(0, 4)), lead)
    found = kernels.hindsight_orders.least_cost(path, 1, terms)
    free = lead == 1 and may_order[0]  # an order of period 0 arrives in period 1, and costs nothing
    expected = tried(path, 1, terms)
    assert found == pytest.approx(expected) if not free else found <= expected + 1e-9


def test_no_rule_costs_less_than_the_bound(found):
    assert 0 < found.lowest < found.cost.sum(axis=1).min()


def test_the_bound_of_one_item_has_the_whole_cost():
    together, alone = paths_of(100, shared=SharedOrder(30.0)), paths_of(100, shared=SharedOrder(0.0))
    costs = replace(alone[0].terms, costs=replace(COSTS, fixed=31.0))
    assert lowest_cost(together) == pytest.approx(lowest_cost([replace(alone[0], terms=costs)]))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_division_is_that_of_a_fine_search(seed):
    rng = np.random.default_rng(seed)
    shares = np.array([0.0, 1.0, 2.0, 3.0])
    costs = np.cumsum(np.sort(rng.uniform(0, 3, (3, 4)), axis=1)[:, ::-1], axis=1)
    grid = [split for split in itertools.product(range(4), repeat=3) if sum(split) == 3]
    best = max(sum(costs[i, part] for i, part in enumerate(split)) for split in grid)
    assert best_division(costs, shares) == pytest.approx(best)


def test_with_a_service_target_there_is_no_bound():
    assert backtest(Sales(series()), COSTS, 60, service=0.9, items=items(), suppliers=[MILL]).lowest is None


# ---- rows, page, files


def test_the_table_has_a_row_for_each_alone_and_one_for_the_bound(found):
    header, rows = summary_rows(found)
    names = [row[0] for row in rows]
    assert names[:2] == ["driftmdp", "driftmdp, each item planned alone"]
    assert names[-1] == "lower bound, all demand known"
    assert {len(row) for row in rows} == {len(header)}
    assert float(rows[-1][1]) == pytest.approx(found.lowest / found.periods.sum(), abs=0.005)


def test_the_page_says_how_suppliers_are_charged(found, tmp_path):
    written = write_backtest(found, tmp_path, [])
    page = written.page.read_text()
    for text in (
        "once per period and under every rule",
        "must reach a minimum is filled up",
        "No rule can go below it",
    ):
        assert text in page
    with written.table.open() as file:
        rows = list(csv.DictReader(file))
    paid = sum(float(row["supplier_cost"]) for row in rows if row["rule"] == OURS)
    assert paid == pytest.approx(found.charged[0].sum())
    report, _ = backtest_report(found, [])
    table = next(section.tables[0] for section in report.sections if section.id == "suppliers")
    assert table.rows[0][0].text == "Mill"
    assert f"({round(found.charged[0].sum() / 30)} orders)" in table.rows[0][2].text


def test_own_orders_pay_the_supplier_too():
    sales = Sales(series())
    own = OwnOrders(tuple(OwnSeries(each.sku, each.dates, ordered=each.units) for each in sales.series))
    found = backtest(sales, COSTS, 60, rules=[OURS], items=items(), suppliers=[MILL], own=own)
    ordered = np.array([each.units for each in sales.series])[:, 60:]
    assert found.rules == (OURS, ALONE, "own")
    assert found.charged[-1].sum() == pytest.approx(30.0 * (ordered.sum(axis=0) > 0).sum())


def test_remarks_on_suppliers_that_do_not_match():
    others = [Supplier("Farm", {"order_cost": 3.0})]
    remarks = " ".join(
        backtest(Sales(series()), COSTS, 60, items=items(), suppliers=others, rules=["first-60"]).remarks
    )
    assert "Suppliers without an item that is sold are not used: Farm." in remarks
    assert "Suppliers that are not given: Mill. Their items have the shop's terms." in remarks


def test_terms_that_do_not_fit_are_refused_with_their_place():
    sunday = Supplier("Mill", {"order_days": "sun"}, "suppliers.csv, line 2")
    with pytest.raises(
        InvalidInputError, match=r"item 0 with suppliers\.csv, line 2: order_days must have an open day"
    ):
        backtest(Sales(series()), COSTS, 60, closed_days="sun", items=items(), suppliers=[sunday])


def test_the_command_reads_the_file(call, tmp_path):
    lines = [
        f"{day},{each.sku},{units}" for each in series() for day, units in zip(each.dates, each.units, strict=True)
    ]
    (tmp_path / "sales.csv").write_text("\n".join(["date,sku,units", *lines, ""]))
    (tmp_path / "items.csv").write_text("\n".join(["sku,supplier", *(f"item {i},Mill" for i in range(4)), ""]))
    (tmp_path / "suppliers.csv").write_text('supplier,order_days,order_cost,phone\nMill,"mon,thu",30,1\n')
    given = ["--capacity", 60, "--fixed-cost", 1, "--unit-cost", 0, "--lost-sale", 5, "--holding", 0.1]
    files = ["--items", "items.csv", "--suppliers", "suppliers.csv"]
    code, out, err = call("inventory", "backtest", "sales.csv", *given, *files)
    assert code == 0
    assert "driftmdp, each item planned alone" in out
    assert "lower bound, all demand known" in out
    assert "Columns of suppliers.csv that are not used: phone." in err
