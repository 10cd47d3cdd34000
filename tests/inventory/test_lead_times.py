"""Weeks, long lead times, open orders, order days and ends."""

from datetime import date, timedelta

import pytest

from driftmdp.inventory import Costs, Count, ItemSettings, Shop, Sold, explain_in_words
from tests.inventory.shops import CAPACITY, create, day, lines, orders, periods_learned, refused, unchanged


def week(n):
    return day(7 * n)


def ordered(shop, sku, when, units, stock=9, sold=1):
    """Decide and record a day with a given order."""
    shop.decide([Count(sku, stock)], when)
    shop.record([Sold(sku, when, sold, ordered=units)])


def coming(decision):
    return decision.advice[0].coming


# ---- open orders


@pytest.mark.parametrize("lead_time", [1, 2, 7, pytest.param(60, marks=pytest.mark.slow)])
def test_an_order_is_on_the_shelf_after_its_lead_time(path, lead_time):
    with create(path, lead_time, capacity=None) as shop:
        ordered(shop, "A", day(0), 5)
        stock = 8
        for n in range(1, lead_time + 2):
            stock += 5 * (n == lead_time)
            decision = shop.decide([Count("A", stock)], day(n))
            assert decision.remarks == ()
            assert coming(decision) == (5 if n < lead_time else 0)
            shop.record([Sold("A", day(n), 0, ordered=0)])
        assert shop.verify()


def test_orders_of_several_days_are_on_their_way_together(path):
    with create(path, lead_time=4, capacity=None) as shop:
        for n, units in enumerate((5, 7, 0, 2)):
            ordered(shop, "A", day(n), units, sold=0)
        decision = shop.decide([Count("A", 14)], day(4))  # 9 and the 5 of day 0
        assert decision.remarks == ()
        assert coming(decision) == 9
        assert [e.coming for e in shop.history("A") if e.kind == "decided"] == [0, 5, 12, 12, 9]


def test_what_a_count_says_of_arrivals_replaces_the_orders(path):
    with create(path, lead_time=3, capacity=None) as shop:
        ordered(shop, "A", day(0), 5)
        ordered(shop, "A", day(1), 7)
        assert coming(shop.decide([Count("A", 9, coming=(4, None))], day(2))) == 4 + 7
        shop.record([Sold("A", day(2), 0, ordered=1)])
        decision = shop.decide([Count("A", 13)], day(3))
        assert decision.remarks == ()  # 9 and the 4 that were said to come
        assert coming(decision) == 7 + 1
        shop.record([Sold("A", day(0), 1, ordered=50)], correct=True)  # its arrival was told by a later count
        shop.record([Sold("A", day(3), 0, ordered=0)])
        assert coming(shop.decide([Count("A", 20)], day(4))) == 1
        assert shop.verify()


def test_a_first_morning_may_bring_its_own_open_orders(path):
    with create(path, lead_time=3, capacity=None) as shop:
        shop.decide([Count("A", 2, coming=(3, 4))], day(0))
        shop.record([Sold("A", day(0), 1, ordered=5)])
        decision = shop.decide([Count("A", 4)], day(1))
        assert (decision.remarks, coming(decision)) == ((), 9)
    with Shop(path) as again:
        shop.close()
        assert coming(again.decide([Count("A", 4)], day(1))) == 9


def test_open_orders_do_not_depend_on_the_order_of_writing(path, tmp_path):
    with create(path, 3, capacity=None) as one, create(tmp_path / "other.db", 3, capacity=None) as other:
        for n in range(4):
            one.record([Sold("A", day(n), 1, ordered=n + 1, stock=5)])
        for n in (2, 0, 3, 1):
            other.record([Sold("A", day(n), 1, ordered=n + 1, stock=5)])
        found = [shop.decide([Count("A", 6)], day(4)) for shop in (one, other)]
        assert found[0].advice == found[1].advice
        assert found[0].remarks == found[1].remarks == ()  # 4 left, and the 2 of day 1
        assert coming(found[0]) == 3 + 4


@pytest.mark.parametrize(
    ("lead_time", "given", "said"),
    [
        (2, (1, 1, 1), "coming_2 must be empty for A: with a lead time of 2, the last is coming_1; got 1"),
        (0, (4,), "coming_1 must be empty for A: with a lead time of 0, nothing is on its way; got 4"),
    ],
)
def test_arrivals_after_the_lead_time_are_refused(path, lead_time, given, said):
    with create(path, lead_time) as shop:
        unchanged(shop, lambda: shop.decide([Count("A", 1, coming=given)], day(0)), said)
        shop.decide([Count("A", 1, coming=(0,) * 9)], day(0))


@pytest.mark.parametrize("lead_time", [1, 2])
def test_a_zero_behind_the_lead_time_does_not_hide_the_order_of_the_day(path, lead_time):
    with create(path, lead_time, capacity=None) as shop:
        shop.decide([Count("A", 9, coming=(0,) * lead_time)], day(0))
        shop.record([Sold("A", day(0), 4, ordered=6)])
        arrived = 6 if lead_time == 1 else 0
        decision = shop.decide([Count("A", 5 + arrived)], day(1))
        assert (decision.remarks, coming(decision)) == ((), 6 - arrived)


def test_a_changed_lead_time_leaves_orders_on_their_way(path):
    with create(path, lead_time=4, capacity=None) as shop:
        ordered(shop, "A", day(0), 5, sold=0)
        own = [ItemSettings("A", {"lead_time": 2})]
        assert coming(shop.decide([Count("A", 9)], day(1), items=own)) == 5  # it arrives later than a new order
        shop.record([Sold("A", day(1), 0, ordered=3)])
        shop.record([Sold("A", day(n), 0, stock=s, ordered=0) for n, s in ((2, 9), (3, 12))])
        assert shop.decide([Count("A", 17)], day(4)).remarks == ()
        assert shop.verify()


def test_a_long_forgotten_item_is_not_expected_to_have_anything(path):
    with create(path, lead_time=2) as shop:
        ordered(shop, "A", day(0), 5)
        told = shop.decide([Count("A", 1)], day(61)).remarks
        assert not [remark for remark in told if "differ" in remark]


# ---- weeks


def test_a_shop_by_the_week(path):
    with create(path, lead_time=2, capacity=None, period="week") as shop:
        shop.record([Sold("A", week(n), 3, in_stock=True) for n in range(4)])
        first = shop.decide([Count("A", 2, coming=6)], week(4))
        assert coming(first) == 6
        shop.record([Sold("A", week(4), 5, ordered=1)], demand=True)
        second = shop.decide([Count("A", 6)], week(5))
        assert (second.remarks, coming(second)) == ((), 1)
        gap = shop.decide([Count("A", 1)], week(8)).remarks
        assert any("2026-12-28" in remark and "(1 item)" in remark for remark in gap)
        assert shop.verify()


@pytest.mark.parametrize("n", range(1, 7))
def test_a_week_that_starts_on_another_day_is_refused_with_its_monday(path, n):
    with create(path, period="week") as shop:
        name = f"{day(n):%A}"
        sold = [Sold("A", day(n), 1, stock=4)]
        unchanged(shop, lambda: shop.record(sold), f"a {name}", "use 2026-11-16")
        unchanged(shop, lambda: shop.decide([Count("A", 1)], day(n)), f"a {name}", "use 2026-11-16")


def test_one_item_of_a_daily_shop_may_go_by_the_week(path):
    with create(path) as shop:
        own = [ItemSettings("W", {"period": "week", "lead_time": 1})]
        shop.record([Sold("D", day(1), 1, stock=4), Sold("W", day(0), 1, stock=4, ordered=2)], items=own)
        unchanged(shop, lambda: shop.decide([Count("D", 3), Count("W", 3)], day(2)), "W is ordered by the week")
        assert shop.decide([Count("D", 3), Count("W", 5)], day(7)).remarks[0].startswith("Days without records")


def test_today_is_the_monday_of_this_week(path):
    with create(path, period="week") as shop:
        assert shop.today().weekday() == 0
        assert 0 <= (date.today() - shop.today()).days <= 7


# ---- order days and ends


@pytest.mark.parametrize(("capacity", "pack"), [(2, 1), (6, 6)])
def test_few_packs_and_a_long_lead_time_are_not_planned_on_a_huge_table(path, capacity, pack):
    with create(path, lead_time=60, capacity=capacity, pack=pack) as shop:
        shop.record([Sold("A", day(n), int(n % 20 == 0), in_stock=True) for n in range(60)])
        (advice,) = shop.decide([Count("A", 0)], day(60)).advice
        assert advice.method == "simulated"


def test_the_cost_counts_what_the_shelf_can_never_serve(path):
    with create(path, costs=Costs(fixed=0.0, unit=0.0, lost_sale=4.0, holding=0.5)) as shop:
        shop.record([Sold("A", day(n), 3 * CAPACITY, in_stock=True) for n in range(60)])
        (advice,) = shop.decide([Count("A", 0)], day(60)).advice
        assert (advice.method, advice.order) == ("exact", CAPACITY)
        assert advice.cost == pytest.approx(4.0 * 2 * CAPACITY, rel=0.1)


@pytest.mark.parametrize("every", [16, 30, 60, 366])
@pytest.mark.parametrize("more", [{}, {"service": 0.95}])
def test_an_order_lasts_until_a_next_order_day_that_is_far_away(path, every, more):
    costs = Costs(fixed=0.0, unit=0.0, lost_sale=100.0, holding=0.01)
    with create(
        path, lead_time=1, capacity=None, costs=costs, order_days=f"every {every} from {day(60)}", **more
    ) as shop:
        shop.record([Sold("A", day(n), 5, in_stock=True) for n in range(60)])
        order = shop.decide([Count("A", 0)], day(60)).advice[0].order
        assert 4.0 * every < order < 9.0 * every
        assert shop.decide([Count("A", 0)], day(61)).advice[0].order == 0


def test_no_order_on_other_days(path):
    with create(path, order_days="mon,thu") as shop:
        found = [shop.decide([Count("A", 0)], day(n)).advice[0] for n in range(5)]
        assert [advice.method == "not an order day" for advice in found] == [False, True, True, False, True]
        assert all(advice.order == 0 for advice in found if advice.method == "not an order day")


def test_another_end_for_a_decided_day_needs_a_correction(path):
    end = day(10)
    with create(path) as shop:
        first = shop.decide([Count("A", 3)], day(0), until=end)
        assert first.advice[0].until == end
        assert shop.decide([Count("A", 3)], day(0), until=end).advice == first.advice
        for other in (None, end + timedelta(1)):
            unchanged(shop, lambda other=other: shop.decide([Count("A", 3)], day(0), until=other), "--correct")
        assert shop.decide([Count("A", 3)], day(0), until=end + timedelta(1), correct=True).repeated == 0
        assert shop.verify()


def test_an_end_in_the_past_is_refused(path):
    with create(path) as shop:
        said = "must not be before 2026-11-17; got 2026-11-16"
        unchanged(shop, lambda: shop.decide([Count("A", 3)], day(1), until=day(0)), said)
        shop.decide([Count("A", 3)], day(1), until=day(1))


def test_what_would_arrive_too_late_is_not_ordered(path):
    with create(path, lead_time=2, period="week") as shop:
        (advice,) = shop.decide([Count("A", 0)], week(0), until=day(13)).advice
        assert (advice.order, advice.method) == (0, "too late")
        assert shop.decide([Count("A", 0)], week(1), until=day(21)).advice[0].method != "too late"


# ---- demand and in stock


def test_demand_may_exceed_the_shelf_and_leaves_nothing(path):
    with create(path, lead_time=1) as shop:
        ordered(shop, "A", day(0), 0, stock=3, sold=0)
        shop.decide([Count("A", 3)], day(1))
        assert shop.record([Sold("A", day(1), 8, ordered=2)], demand=True).remarks == ()
        assert shop.decide([Count("A", 2)], day(2)).remarks == ()
        assert [e.seen for e in shop.history("A") if e.kind == "sold"] == ["exact", "demand"]
        unchanged(shop, lambda: shop.record([Sold("A", day(1), 8)]), "8 asked for", "got 8 sold", "--correct")
        assert shop.record([Sold("A", day(1), 8)], demand=True).repeated == 1


def test_what_in_stock_says(path):
    with create(path) as shop:
        shop.record([Sold("A", day(0), 2, in_stock=True), Sold("A", day(1), 0, in_stock=False)])
        before = periods_learned(shop, "A")
        shop.record([Sold("A", day(2), 0, in_stock=False), Sold("A", day(3), 0, stock=0, ordered=0)])
        assert periods_learned(shop, "A") == before == 1  # neither says anything of demand
        shop.record([Sold("A", day(4), 3, stock=3, in_stock=True), Sold("A", day(5), 0, stock=3, in_stock=False)])
        seen = [e.seen for e in shop.history() if e.kind == "sold"]
        assert seen == ["exact", "nothing", "nothing", "nothing", "at least", "nothing"]
        for n, line in enumerate([Sold("A", day(0), 2), Sold("A", day(1), 0), Sold("A", day(0), 2, in_stock=True)]):
            assert shop.record([line]).repeated == 1, n
        with refused("not in stock"):
            Sold("A", day(0), 2, in_stock=False)


def test_stock_outs_in_a_file_are_refused_with_their_line_if_something_was_sold(file):
    from driftmdp.inventory import read_sold

    text = "date,sku,units,in_stock\n2026-11-16,A,0,no\n2026-11-17,A,2,0\n2026-11-18,A,1,maybe\n"
    said = "line 3: units must be 0 where in_stock is 0; got 2", "line 4: in_stock must be 1 or 0, yes or no"
    with refused(*said):
        read_sold(file(text))
    found = read_sold(file("date,sku,units,in_stock\n2026-11-16,A,0,no\n2026-11-17,A,2,TRUE\n2026-11-18,A,1,\n"))
    assert [line.in_stock for line in found] == [False, True, None]


def test_orders_are_shown_with_all_that_is_coming(path):
    with create(path, lead_time=3, capacity=None) as shop:
        found = orders(shop.decide([Count("A", 2, coming=(3, 4))], day(0)))
        assert found["A"][:2] == (2, 7)
        assert len(lines(shop)) == 1


def test_the_explanation_ends_with_the_last_day_that_counts(path):
    with create(path, lead_time=2) as shop:
        shop.decide([Count("A", 0)], day(0), until=day(2))
        assert f"for the 3 days until {day(2)}, the last day that counts" in explain_in_words(shop, "A")
        shop.decide([Count("B", 0)], day(1), until=day(9))
        assert "for the 3 days until the next order can be on the shelf" in explain_in_words(shop, "B")


def test_what_was_ordered_with_a_longer_lead_time_is_still_on_its_way(path):
    with create(path, lead_time=6, capacity=None) as shop:
        for n in range(6):
            shop.decide([Count("A", 9)], day(n))
            shop.record([Sold("A", day(n), 0, ordered=4)])
        before = orders(shop.decide([Count("A", 9)], day(6)))["A"]
        assert before[1] == 20
    with Shop(path) as shop:
        shop.set_terms({"lead_time": 2}, first_day=day(6))
        stock, coming, order = orders(shop.decide([Count("A", 8)], day(6), correct=True))["A"]
        assert (stock, coming, order) == (8, 20, 0)
        assert shop.verify()
