"""Periods, order days, and the terms of shops and items."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.inventory import Costs, ItemTerms, OrderDays, ShopTerms, SpecialDay
from driftmdp.inventory.periods import check_period, parse_weekdays, period_of
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import merged
from tests.inventory.shops import refused

MONDAY = date(2026, 11, 16).toordinal()
WEEK = MONDAY + np.arange(7)


# ---- order days


@pytest.mark.parametrize(
    ("text", "period", "expected"),
    [
        ("mon,thu", "day", [1, 0, 0, 1, 0, 0, 0]),
        ("Monday; THURSDAY", "day", [1, 0, 0, 1, 0, 0, 0]),
        ("every 1", "day", [1] * 7),
        ("every 2 from 2026-11-17", "day", [0, 1, 0, 1, 0, 1, 0]),
        ("every 7", "day", [1, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_order_days(text, period, expected):
    days = OrderDays.parse(text)
    assert days.may_order(WEEK, period).astype(int).tolist() == expected
    assert OrderDays.parse(str(days)) == days


def test_every_second_week_counts_from_its_start():
    mondays = MONDAY + 7 * np.arange(4)
    assert OrderDays.parse("every 2 from 2026-11-23").may_order(mondays, "week").tolist() == [False, True] * 2
    assert OrderDays.parse("every 2 from 2027-11-22").may_order(mondays, "week").tolist() == [False, True] * 2
    first = OrderDays.parse("every 2").may_order(mondays, "week").tolist()
    assert first == OrderDays.parse("every 2 from 1970-01-05").may_order(mondays, "week").tolist()


@given(st.integers(1, 366), st.integers(719163, 803533), st.sampled_from(["day", "week"]))
def test_the_next_order_day_is_the_first_after_today(n, day, period):
    day, days, step = period_of(day, period), OrderDays(every=n), 7 if period == "week" else 1
    wait = SpecialDays().next_order("A", ItemTerms(Costs(), None, period=period, order_days=days), day)
    assert days.may_order(day + step * wait, period)
    assert not days.may_order(day + step * np.arange(1, wait), period).any()


def test_the_next_order_day_is_open():
    terms = ItemTerms(Costs(), None, order_days=OrderDays.parse("mon,sun"), closed_days=parse_weekdays("sun"))
    assert SpecialDays().next_order("A", terms, MONDAY) == 7
    assert SpecialDays([SpecialDay(MONDAY + 7, "closed", "A")]).next_order("A", terms, MONDAY) == 14


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mon,thr", "got 'thr' (perhaps thu)"),
        ("Munday", "got 'Munday' (perhaps monday)"),
        ("xyz", "be weekdays such as mon,thu; got 'xyz'"),
        ("every 0", "every n from 1 to 366"),
        ("every two", "every n from 1 to 366"),
        ("every 2 from 16.11.2026", "every n from 1 to 366"),
        ("", "be weekdays"),
    ],
)
def test_unknown_order_days_are_answered_with_the_nearest(text, said):
    with pytest.raises(ValueError, match="be ") as caught:
        OrderDays.parse(text)
    assert said in str(caught.value)


def test_a_week_is_named_by_its_monday():
    check_period(MONDAY, "week")
    check_period(MONDAY + 1, "day")
    with refused("got 2026-11-17, a Tuesday", "Use 2026-11-16"):
        check_period(MONDAY + 1, "week")
    assert [period_of(day, "week") for day in WEEK.tolist()] == [MONDAY] * 7


# ---- closed days


def test_a_shop_is_closed_on_weekdays_and_on_days_of_its_calendar():
    terms = ItemTerms(Costs(), None, closed_days=parse_weekdays("sun"))
    calendar = SpecialDays([SpecialDay(MONDAY + 2, "closed"), SpecialDay(MONDAY + 3, "closed", sku="B")])
    assert calendar.is_open("A", terms, WEEK).astype(int).tolist() == [1, 1, 0, 1, 1, 1, 0]
    assert calendar.is_open("B", terms, WEEK).astype(int).tolist() == [1, 1, 0, 0, 1, 1, 0]


def test_a_week_is_closed_if_all_of_its_days_are():
    terms = ItemTerms(Costs(), None, period="week")
    days = [SpecialDay(int(day), "closed") for day in WEEK]
    assert SpecialDays(days[:6]).is_open("A", terms, [MONDAY, MONDAY + 7]).tolist() == [True, True]
    assert SpecialDays(days).is_open("A", terms, [MONDAY, MONDAY + 7]).tolist() == [False, True]


def test_of_two_lines_for_one_day_the_last_counts():
    calendar = SpecialDays([SpecialDay(5, "sale", factor=2.0)]).with_lines([SpecialDay(5, "sale", factor=3.0)])
    assert [line.factor for line in calendar.lines] == [3.0]
    assert calendar.of_item("A", "")[0].name == "sale"


# ---- terms


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"pack": 24}, "pack must be at most the capacity of 20; got 24"),
        ({"minimum": 21}, "minimum must be at most the capacity of 20; got 21"),
        ({"pack": 6, "minimum": 19}, "got 19, which is 24 in packs of 6"),
        ({"pack": 0}, "pack must be 1 to 2147483647; got 0"),
        ({"capacity": 0}, "capacity must be 1 to"),
        ({"lead_time": 61}, "lead_time must be at most 60; got 61"),
        ({"lead_time": -1}, "lead_time must be at least 0"),
        ({"period": "month"}, "period must be one of 'day', 'week'"),
        ({"period": "week", "order_days": OrderDays.parse("mon")}, "order_days must be every n"),
        ({"period": "week", "order_days": OrderDays.parse("every 2 from 2026-01-06")}, "Use 2026-01-05"),
        ({"period": "week", "closed_days": frozenset([6])}, "closed_days must be left out"),
        ({"order_days": OrderDays.parse("sun"), "closed_days": frozenset([6])}, "order_days must have an open day"),
        ({"order_days": OrderDays.parse("every 14 from 2026-01-04"), "closed_days": frozenset([6])}, "an open day"),
        ({"service": 1.0}, "service must lie between 0 and 1"),
        ({"service": 0.95, "service_measure": "days"}, "service_measure must be one of"),
        ({"costs": None}, "costs must be Costs"),
    ],
)
def test_terms_that_do_not_fit_together_are_one_sentence(terms, said):
    with refused(said):
        ShopTerms(**{"costs": Costs(), "capacity": 20} | terms)


def test_an_item_has_the_shop_s_terms_but_for_its_own():
    shop = ShopTerms(Costs(1, 2, 3, 4), 20, pack=2, lead_time=3, order_days=OrderDays.parse("mon"))
    assert shop.for_item({}) == ItemTerms(Costs(1, 2, 3, 4), 20, 2, 0, 3, order_days=OrderDays.parse("mon"))
    own = {"capacity": "none", "holding": 9, "pack": 5, "group": "tea", "order_days": "every 2", "service": 0.9}
    found = shop.for_item(own)
    assert (found.capacity, found.costs, found.pack, found.group) == (None, Costs(1, 2, 3, 9), 5, "tea")
    assert (found.order_days.every, found.service, found.lead_time) == (2, 0.9, 3)


def test_one_of_service_and_lost_sale_counts():
    shop = ShopTerms(Costs(), 20, service=0.95)
    assert shop.for_item({}).service == 0.95
    assert shop.for_item({"lost_sale": 7.0}).service is None
    assert merged({"service": 0.9}, {"lost_sale": 7.0}) == {"lost_sale": 7.0}
    assert merged({"lost_sale": 7.0}, {"service": 0.9}) == {"service": 0.9}


def test_an_empty_cell_takes_a_setting_back():
    assert merged({"pack": 6, "group": "tea"}, {"pack": None}) == {"group": "tea"}


def test_settings_of_a_shop_survive_json():
    shop = ShopTerms(Costs(), None, 6, 12, 7, order_days=OrderDays.parse("mon,thu"), closed_days=frozenset([6]))
    assert ShopTerms.from_json(shop.as_json()) == shop
    auto = ShopTerms(Costs(), 20, "auto")
    assert ShopTerms.from_json(auto.as_json()) == auto


def test_a_shop_made_before_had_lots():
    shop = ShopTerms.from_json(
        {"costs": {"fixed": 4, "unit": 6, "lost_sale": 12, "holding": 3}, "capacity": 20, "lead_time": 1, "lot": 12}
    )
    terms = shop.for_item({})
    assert (terms.pack, terms.capacity, terms.lead_time) == (12, 240, 1)
    assert terms.costs == Costs(4, 0.5, 1.0, 0.25)
    assert shop.for_item({"pack": 6}).capacity == 120
