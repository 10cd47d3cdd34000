"""Suppliers: their terms as events, and their items ordered together."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import (
    Advice,
    Costs,
    Count,
    ItemSettings,
    Shop,
    Sold,
    Supplier,
    explain_in_words,
    read_suppliers,
)
from driftmdp.inventory.supplier_orders import SupplierOrders
from driftmdp.report.order_list import file_names, order_page, write_order_lists

MONDAY = date(2026, 10, 5)
MILL = Supplier("Mill", {"order_days": "mon,thu", "lead_time": 2, "order_cost": 30.0})


def make_shop(folder, suppliers=(MILL,), n=4, days=60, name="shop.db"):
    shop = Shop.create(folder / name, Costs(1.0, 0.0, 5.0, 0.1), capacity=60)
    rng = np.random.default_rng(7)
    skus = [f"item {letter}" for letter in "ABCDEFGH"[:n]]
    first = MONDAY - timedelta(days)
    sold = [
        Sold(sku, first + timedelta(day), int(rng.poisson(1 + place)), in_stock=True)
        for day in range(days)
        for place, sku in enumerate(skus)
    ]
    items = [ItemSettings(sku, {"supplier": "Mill", "price": 2.0}) for sku in skus]
    shop.record(sold, items=items, suppliers=suppliers)
    return shop, skus


def orders(decision):
    return [advice.order for advice in decision.advice]


def test_items_have_their_suppliers_days_and_lead_time_unless_they_say_otherwise(tmp_path):
    shop, skus = make_shop(tmp_path)
    with shop:
        terms = shop.terms_of(skus[0])
        assert (terms.lead_time, str(terms.order_days), terms.shared_order.cost) == (2, "mon,thu", 30.0)
        shop.set_terms({"lead_time": 5}, [skus[0]], MONDAY)
        assert shop.terms_of(skus[0]).lead_time == 5
        assert shop.terms_of(skus[1]).lead_time == 2


def test_who_must_order_pulls_along_who_nearly_must(tmp_path):
    shop, skus = make_shop(tmp_path)
    with shop:
        alone = orders(shop.decide([Count(skus[0], 7)], MONDAY))
        pulled = orders(
            shop.decide(
                [Count(sku, stock) for sku, stock in zip(skus, (7, 0, 0, 0), strict=True)], MONDAY + timedelta(3)
            )
        )
    assert alone == [0]  # seven days of stock: not worth an order of 30 alone
    assert pulled[0] > 0
    assert all(pulled)


def test_explain_says_who_is_reason_enough_and_who_joins(tmp_path):
    shop, skus = make_shop(tmp_path)
    with shop:
        stocks = [Count(sku, stock) for sku, stock in zip(skus, (2, 0, 0, 60), strict=True)]
        found = orders(shop.decide(stocks, MONDAY))
        joins, causes, none = (shop.explain(skus[place]) for place in (0, 2, 3))
        texts = [explain_in_words(shop, skus[place]) for place in (0, 2, 3)]
    assert found[0] > 0
    assert found[2] > 0
    assert found[3] == 0
    assert (joins.alone, causes.alone, none.alone) == (0, causes.order, None)
    assert "Alone it would not be worth an order to Mill today. It joins that of other items." in texts[0]
    assert "It alone is worth an order to Mill today." in texts[1]
    assert "worth an order" not in texts[2]


def test_an_item_that_comes_later_in_the_morning_joins_for_its_own_cost(tmp_path):
    shop, skus = make_shop(tmp_path)
    with shop:
        first = orders(shop.decide([Count(sku, 0) for sku in skus[1:]], MONDAY))
        later = orders(shop.decide([Count(skus[0], 7)], MONDAY))
    assert all(first)
    assert later[0] > 0


def test_the_same_answer_twice_and_replay_to_the_bit(tmp_path):
    shop, skus = make_shop(tmp_path)
    counts = [Count(sku, 3) for sku in skus]
    with shop:
        first = shop.decide(counts, MONDAY)
        assert shop.decide(counts, MONDAY).advice == first.advice
        assert (
            shop.set_terms({}, first_day=MONDAY, suppliers=[Supplier("Mill", {"order_cost": 3.0})]).suppliers == 1
        )
        assert (
            shop.set_terms({}, first_day=MONDAY, suppliers=[Supplier("Mill", {"order_cost": 3.0})]).suppliers == 0
        )
        assert shop.verify()
    with Shop(tmp_path / "shop.db") as again:
        assert again.decide(counts, MONDAY).advice == first.advice
        assert again.terms_of(skus[0], MONDAY).shared_order.cost == 3.0
        assert again.terms_of(skus[0], MONDAY - timedelta(1)).shared_order.cost == 30.0
        assert "supplier Mill: order_cost 3.0" in [event.details for event in again.history()]


@pytest.mark.parametrize("least", [{"minimum_units": 90}, {"minimum_value": 180.0}])
def test_orders_reach_the_minimum_or_wait(tmp_path, least):
    shop, skus = make_shop(tmp_path, [Supplier("Mill", {"lead_time": 1, "order_cost": 1.0, **least})])
    placed = []
    with shop:
        for day in range(14):
            found = shop.decide([Count(sku, 2) for sku in skus], MONDAY + timedelta(day))
            placed.append(sum(orders(found)))
            shop.record([Sold(sku, found.day, 1, ordered=0) for sku in skus])
    assert any(placed)
    assert all(units == 0 or units >= 90 for units in placed)


def test_without_a_shared_cost_items_are_planned_as_without_a_supplier(tmp_path):
    own, skus = make_shop(tmp_path, [Supplier("Mill", {"lead_time": 0})])
    other, _ = make_shop(tmp_path, (), name="other.db")
    with own, other:
        found = [orders(shop.decide([Count(sku, 4) for sku in skus], MONDAY)) for shop in (own, other)]
    assert found[0] == found[1]


def test_one_item_alone_is_planned_with_the_whole_cost(tmp_path):
    one, skus = make_shop(tmp_path, [Supplier("Mill", {"order_cost": 20.0})], n=1)
    with one:
        alone = [orders(one.decide([Count(skus[0], stock)], MONDAY, correct=True)) for stock in (0, 2, 9)]
    plain = Shop.create(tmp_path / "plain.db", Costs(21.0, 0.0, 5.0, 0.1), capacity=60)
    with plain, Shop(tmp_path / "shop.db") as one:
        sales = one.sales_of(skus[0])
        plain.record(
            [
                Sold(skus[0], day, int(units), in_stock=True)
                for day, units in zip(sales.dates.tolist(), sales.units, strict=True)
            ]
        )
        assert alone == [orders(plain.decide([Count(skus[0], stock)], MONDAY, correct=True)) for stock in (0, 2, 9)]


@pytest.mark.parametrize("how", ["discontinued", "merged"])
def test_items_that_are_not_ordered_any_more_bear_nothing(tmp_path, how):
    """With them an item would seem cheap to order, and nobody would pay its order."""
    supplier = Supplier("Mill", {"order_cost": 60.0})
    shop, skus = make_shop(tmp_path, [supplier], n=8)
    with shop:
        sold = Sold("other", MONDAY - timedelta(1), 0, in_stock=True)
        shop.record([sold], items=[ItemSettings("other", {"supplier": "Elsewhere"})])
        if how == "merged":
            shop.set_terms({"supplier": "Mill"}, first_day=MONDAY - timedelta(90))  # also of items with no settings
            for sku in skus[1:]:
                shop.merge(sku, "other")
        else:
            shop.discontinue(skus[1:], MONDAY)
        shop.decide([Count(skus[0], 9)], MONDAY)
        assert fixed_costs(shop, MONDAY)[0] == pytest.approx(61.0)
        assert shop.verify()
    with Shop(tmp_path / "shop.db") as shop:
        shop.decide([Count(skus[0], 9)], MONDAY)
        assert fixed_costs(shop, MONDAY)[0] == pytest.approx(61.0)


def test_weekly_and_daily_items_of_a_supplier_bear_the_same_in_one_rhythm(tmp_path):
    with Shop.create(tmp_path / "shop.db", Costs(0.0, 0.0, 5.0, 0.1), capacity=None) as shop:
        first = MONDAY - timedelta(70)
        sold = [Sold("daily", first + timedelta(day), 3, in_stock=True) for day in range(70)]
        sold += [Sold("weekly", first + timedelta(7 * week), 21, in_stock=True) for week in range(10)]
        own = {"supplier": "Mill"}
        weekly = own | {"period": "week", "holding": 0.7, "lead_time": 0}
        items = [ItemSettings("daily", own), ItemSettings("weekly", weekly)]
        shop.record(sold, items=items, suppliers=[Supplier("Mill", {"order_cost": 60.0})])
        assert fixed_costs(shop, MONDAY).sum() == pytest.approx(60.0)
        assert fixed_costs(shop, MONDAY) == pytest.approx([30.0, 30.0], rel=0.1)


def fixed_costs(shop, day):
    """What an order of each item costs, with its share."""
    engine = shop._states.engine
    items = np.arange(len(engine.table))
    return SupplierOrders(engine.table, day.toordinal(), items, engine._mean_levels).fixed


def test_service_targets_are_kept_and_join(tmp_path):
    shop, skus = make_shop(tmp_path)
    with shop:
        shop.set_terms({"service": 0.95}, skus[:2], MONDAY)
        found = orders(
            shop.decide([Count(sku, stock) for sku, stock in zip(skus, (0, 30, 0, 0), strict=True)], MONDAY)
        )
    assert found[0] > 0
    assert found[1] == 0


def test_a_list_for_each_supplier_and_none_of_yesterday_stays(tmp_path):
    shop, skus = make_shop(tmp_path, [Supplier("Mill", {"order_cost": 1.0})])
    with shop:
        shop.decide([Count(sku, 0) for sku in skus], MONDAY)
        pages = write_order_lists(shop.orders_by_supplier(MONDAY), MONDAY, tmp_path / "orders.csv")
        assert pages == {"Mill": tmp_path / "orders-Mill.html"}
        assert "item A" in pages["Mill"].read_text()
        assert len((tmp_path / "orders-Mill.csv").read_text().splitlines()) == 1 + len(skus)
        later = shop.decide([Count(sku, 50) for sku in skus], MONDAY + timedelta(1))
        write_order_lists(shop.orders_by_supplier(later.day), later.day, tmp_path / "orders.csv")
    assert (tmp_path / "orders-Mill.csv").read_text().count("\n") == 1
    assert "Nothing to order" in pages["Mill"].read_text()


def test_lists_have_all_orders_of_the_day_whoever_is_asked_now(tmp_path):
    shop, skus = make_shop(tmp_path, [Supplier("Old", {"lead_time": 1})])
    with shop:
        first = shop.decide([Count(sku, 0) for sku in skus], MONDAY)
        again = shop.decide([Count(skus[0], 2)], MONDAY, correct=True)
        found = shop.orders_by_supplier(MONDAY)
        assert found == {"Mill": [*again.advice, *first.advice[1:]], "Old": []}
        shop.set_terms({"supplier": "Old"}, skus, MONDAY + timedelta(1))
        assert shop.orders_by_supplier(MONDAY) == found
        shop.decide([Count(skus[1], 0)], MONDAY + timedelta(1))
        later = shop.orders_by_supplier(MONDAY + timedelta(1))
    assert later["Mill"] == []
    assert [each.sku for each in later["Old"]] == [skus[1]]


def test_the_command_writes_lists_whole_and_empties_those_of_others(tmp_path, call):
    make_shop(tmp_path, [Supplier("Old", {"lead_time": 1})])[0].close()
    (tmp_path / "orders-Old.csv").write_text("yesterday's")
    for name, text in (("all", "sku,stock\nitem A,0\nitem B,0\n"), ("part", "sku,stock\nitem A,1\n")):
        (tmp_path / f"{name}.csv").write_text(text)
        code, _, err = call("inventory", "decide", "shop.db", f"{name}.csv", "--date", "2026-10-05", "--correct")
        assert code == 0
    assert (tmp_path / "orders-Mill.csv").read_text().count("item") == 2
    assert (tmp_path / "orders.csv").read_text().count("item") == 1
    assert (tmp_path / "orders-Old.csv").read_text().count("\n") == 1
    assert "Old" not in err  # it was not asked about


@pytest.mark.parametrize(
    ("least", "what"),
    [
        ({"minimum_units": 60}, "UNITS of the 60 units"),
        ({"minimum_value": 120.0}, "VALUE of the value of 120.00"),
        ({"minimum_units": 60, "minimum_value": 120.0}, "UNITS of the 60 units and VALUE of the value of 120.00"),
    ],
)
def test_a_minimum_that_corrections_break_is_remarked_on(tmp_path, least, what):
    shop, skus = make_shop(tmp_path, [Supplier("Mill", {"lead_time": 1, **least})])
    with shop:
        first = shop.decide([Count(sku, 0) for sku in skus], MONDAY)
        assert sum(orders(first)) >= 60
        assert not [each for each in first.remarks if "must have" in each]
        for sku in skus[1:]:
            last = shop.decide([Count(sku, 60)], MONDAY, correct=True)
        units = sum(each.order for each in shop.orders_by_supplier(MONDAY)["Mill"])
        again = shop.decide([Count(skus[1], 60)], MONDAY)
    assert 0 < units < 60
    amounts = what.replace("UNITS", str(units)).replace("VALUE", f"{2 * units:.2f}")
    remark = f"The order to Mill has {amounts} that it must have."
    assert remark in last.remarks
    assert remark in again.remarks


def test_a_minimum_that_the_shelves_never_reach_is_remarked_on_and_explained(tmp_path):
    shop, skus = make_shop(tmp_path, [Supplier("Mill", {"lead_time": 1, "minimum_units": 300})])
    with shop:
        together = shop.decide([Count(sku, 0) for sku in skus], MONDAY)
        assert not any(orders(together))
        (told,) = [each for each in together.remarks if "Mill" in each]
        worth = int(told.removeprefix("No order to Mill: what is worth ordering has ").split()[0])
        assert told.endswith(f" {worth} of the 300 units that an order must have.")
        assert 4 < worth <= 4 * 60
        reason = "No order now: what is worth ordering from Mill does not reach the minimum of an order."
        assert reason in explain_in_words(shop, skus[0])
        assert shop.decide([Count(sku, 0) for sku in skus], MONDAY).advice == together.advice
        one_by_one = [shop.decide([Count(sku, 0)], MONDAY + timedelta(1)) for sku in skus]
        assert all("No order to Mill: " in " ".join(each.remarks) for each in one_by_one)
        shop.record([Sold(sku, MONDAY + timedelta(1), 0) for sku in skus])
        alone = "No order now: alone it does not reach the minimum of an order to Mill."
        assert alone in explain_in_words(shop, skus[0])
        assert shop.verify()


def test_a_name_that_is_a_script_is_text_on_the_page():
    page = order_page("<script>alert(1)</script>", MONDAY, [])
    assert "<script>" not in page


def test_a_list_has_packs_and_a_value_only_where_there_are_some():
    plain, cased = (Advice(sku, MONDAY, 0, 0, 24, pack) for sku, pack in (("tea", 1), ("rice\u202e", 12)))
    pages = [order_page("Mill", MONDAY, each) for each in ([plain], [replace(plain, price=2.0), cased])]
    assert "packs" not in pages[0]
    assert "worth" not in pages[0]
    assert "2 items, 48 units, worth at least 48.00." in pages[1]
    assert '<td class="number">2</td>' in pages[1]
    assert "\u202e" not in pages[1]


def test_no_list_overwrites_another():
    names = file_names(["A", "A!", "A-2", "a", "a-2", "A-2-2"])
    assert len({name.lower() for name in names}) == 6


@pytest.mark.parametrize(
    "name", ["M\u00fchle & S\u00f6hne", "../../etc/passwd", "...", "\u6f22\u5b57", "=1+1", "CON/x", "-"]
)
def test_lists_of_odd_names_lie_beside_the_file(tmp_path, name):
    found = {name: [Advice("tea", MONDAY, 0, 0, 3, supplier=name)], f"{name}!": []}
    pages = write_order_lists(found, MONDAY, tmp_path / "orders.csv")
    assert len({page.name.lower() for page in pages.values()}) == 2
    assert {page.parent for page in pages.values()} == {tmp_path}
    assert len(list(tmp_path.iterdir())) == 4
    assert "Nothing to order" in pages[f"{name}!"].read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("supplier,lead_time\nMill,61\n", "line 2: lead_time must be at most 60; got 61"),
        ("supplier,order_days\nMill,moonday\n", "line 2: order_days must be weekdays"),
        ("supplier,order_cost\nMill,-1\n", "line 2: order_cost must be a finite number of at least 0"),
        ("supplier\nMill\nMill\n", "line 3: Mill stands on line 2 already"),
        ("supplier,order_cost\n", "it has none"),
        ("name,order_cost\nMill,3\n", "must have a column 'supplier'"),
    ],
)
def test_wrong_files_get_one_sentence(tmp_path, text, message):
    (tmp_path / "suppliers.csv").write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        read_suppliers(tmp_path / "suppliers.csv")


def test_terms_that_do_not_fit_the_items_are_refused(tmp_path):
    shop = Shop.create(tmp_path / "shop.db", Costs(), capacity=20, closed_days="sun")
    with shop:
        shop.decide([Count("A", 1)], MONDAY, items=[ItemSettings("A", {"supplier": "Mill"})])
        with pytest.raises(InvalidInputError, match="Mill, with A: order_days must have an open day"):
            shop.record([], suppliers=[Supplier("Bakery", {}), Supplier("Mill", {"order_days": "sun"})])
        with pytest.raises(InvalidInputError, match=f"Mill, with A, from {MONDAY}: order_days must have an open"):
            shop.set_terms({}, first_day=MONDAY, suppliers=[Supplier("Mill", {"order_days": "sun"})])
        assert shop.verify()
