"""Mornings: the same answer twice, and what is odd about counts."""

from pathlib import Path

import pytest

from driftmdp.inventory import (
    Count,
    ItemSettings,
    Shop,
    Sold,
    explain_in_words,
)
from tests.inventory.shops import Oracle, create, day, lines, orders, unchanged, work

ROOT = Path(__file__).parents[2]


# ---- decide


def test_deciding_twice_gives_the_same_answer(path):
    counts = [Count(f"I{n}", n % 7) for n in range(20)]
    with create(path) as shop:
        work(shop, 6)
        first = shop.decide(counts, day(6))
        again = shop.decide(counts, day(6))
        assert (first.repeated, again.repeated) == (0, 20)
        assert first.advice == again.advice
        log = lines(shop)
    with Shop(path) as other:
        other_way = other.decide([Count("New", 2), *reversed(counts), Count("Newer", 3)], day(6))
        assert other_way.repeated == 20
        assert [a.sku for a in other_way.advice][:2] == ["New", "I19"]
        kept = orders(other_way)
        assert {sku: kept[sku] for sku in orders(first)} == orders(first)
        assert lines(other)[: len(log)] == log
        assert len(lines(other)) == len(log) + 2
        assert other.decide(counts[:3], day(6)).advice == first.advice[:3]


def test_an_answer_stays_even_when_its_day_is_over_or_corrected(shop):
    first = shop.decide([Count("A", 3)], day(0))
    shop.record([Sold("A", day(0), 9)])
    assert shop.decide([Count("A", 3)], day(0)).advice == first.advice
    work(shop, 3, first=1)
    shop.record([Sold("A", day(0), 1)], correct=True)
    assert shop.decide([Count("A", 3)], day(0)).advice == first.advice


def test_a_contradicting_count_is_refused_unless_it_corrects(shop):
    work(shop, 5)
    first = shop.decide([Count("A", 3), Count("B", 1)], day(5))
    unchanged(
        shop,
        lambda: shop.decide([Count("New", 1), Count("B", 1), Count("A", 4)], day(5)),
        "A was counted 3 on 2026-11-21 already",
        "Nothing was done",
        "--correct",
    )
    assert "New" not in shop.skus
    second = shop.decide([Count("A", 0), Count("B", 1)], day(5), correct=True)
    assert second.repeated == 1
    assert orders(second)["B"] == orders(first)["B"]
    assert orders(second)["A"][0] == 0
    assert shop.decide([Count("A", 0)], day(5)).advice == second.advice[:1]
    unchanged(shop, lambda: shop.decide([Count("A", 3)], day(5)), "A was counted 0")
    shop.record([Sold("A", day(5), 1)])
    assert [line[4] for line in lines(shop) if line[1:4] == ("sold", day(5), "A")] == [0]


def test_correcting_a_count_to_itself_changes_nothing(shop):
    first = shop.decide([Count("A", 3)], day(0))
    again = shop.decide([Count("A", 3)], day(0), correct=True)
    assert (again.advice, again.repeated) == (first.advice, 1)
    assert len(lines(shop)) == 1


def test_a_day_that_is_over_or_past_is_not_decided(shop):
    shop.decide([Count("A", 3)], day(2))
    shop.record([Sold("A", day(2), 1)])
    unchanged(shop, lambda: shop.decide([Count("A", 4)], day(2), correct=True), "the day is over")
    unchanged(shop, lambda: shop.decide([Count("A", 3)], day(1)), "has a later day in the records, 2026-11-18")
    both = [Count("New", 3), Count("A", 3)]
    unchanged(shop, lambda: shop.decide(both, day(1)), "check the date", "--correct")
    shop.record([Sold("C", day(4), 2, stock=5)])
    unchanged(shop, lambda: shop.decide([Count("C", 5)], day(4)), "the day is over")
    assert orders(shop.decide([Count("Old", 3)], day(1)))  # for a new item any day is the first


def test_the_packs_of_an_answer_stay_when_the_pack_changes(path):
    with create(path, pack=2) as shop:
        (first,) = shop.decide([Count("A", 0)], day(0)).advice
        (again,) = shop.decide([Count("A", 0)], day(0), items=[ItemSettings("A", {"pack": 5})]).advice
        assert again == first
        assert (first.pack, shop.terms_of("A").pack) == (2, 5)


def test_weeks_are_missed_on_mondays_only(path):
    with create(path) as shop:
        own = [ItemSettings("W", {"period": "week"})]
        shop.record([Sold("A", day(0), 1, stock=5), Sold("W", day(0), 1, stock=5)], items=own)
        assert shop.decide([Count("A", 4)], day(1)).remarks == ()
        shop.record([Sold("A", day(n), 0, stock=4) for n in range(1, 7)], correct=True)
        assert shop.decide([Count("A", 4)], day(7)).remarks == ("1 item of the shop was not counted: W.",)


def test_two_counts_of_one_item_are_refused_unless_they_agree(shop):
    unchanged(shop, lambda: shop.decide([Count("A", 3), Count("A", 4)], day(0)), "A must be counted once")
    assert len(shop.decide([Count("A", 3), Count("A", 3)], day(0)).advice) == 1


def test_no_counts_are_no_decision(shop):
    decision = shop.decide([], day(0))
    assert (decision.advice, decision.repeated, decision.remarks) == ([], 0, ())
    assert shop.record([]).recorded == 0
    assert lines(shop) == []


@pytest.mark.parametrize("lead_time", [0, 1])
def test_a_column_of_what_is_coming_does_not_spoil_the_second_asking(path, lead_time):
    # A defect once: without a lead time of 2 the column is not used, and then contradicts itself.
    with create(path, lead_time) as shop:
        first = shop.decide([Count("A", 3, coming=0)], day(0))
        again = shop.decide([Count("A", 3, coming=0)], day(0))
        assert (first.advice, again.repeated) == (again.advice, 1)
        said = f"coming_1 must be empty for A: with a lead time of {lead_time}, nothing is on its way; got 5"
        unchanged(shop, lambda: shop.decide([Count("A", 3, coming=5)], day(0)), said)


def test_what_is_odd_about_counts_is_told(path):
    with create(path) as shop:
        advised = orders(shop.decide([Count("A", 3), Count("B", 0), Count("C", 2)], day(0)))
        shop.record([Sold("A", day(0), 2), Sold("B", day(0), 99)])
        left = 3 + advised["A"][2] - 2
        told = shop.decide([Count("A", left + 1), Count("B", 0), Count("C", 5)], day(1)).remarks
        assert told == (
            f"1 count differs from the records, and the counts are taken as the truth: A: counted {left + 1}, "
            f"expected {left}.",
            "Sales are missing, and can still be recorded: C on 2026-11-16.",
        )
        assert shop.decide([Count("A", left + 1)], day(1)).remarks == ()
        shop.record([Sold("A", day(1), 0), Sold("B", day(1), 0), Sold("C", day(1), 0)])
        told = shop.decide([Count(sku, 0) for sku in "ABC"], day(5)).remarks
        assert "3 counts differ" in told[0]
        assert told[1] == (
            "Days without records; nothing to do if the shop was closed: 2026-11-18 to 2026-11-20 (3 items)."
        )
        explained = explain_in_words(shop, "A")
        assert "The records expected" in explained
        assert "the count was taken as the truth" in explained


def test_strict_refuses_counts_that_differ(shop):
    advised = orders(shop.decide([Count("A", 3)], day(0)))["A"][2]
    shop.record([Sold("A", day(0), 2)])
    right = 3 + advised - 2
    unchanged(
        shop,
        lambda: shop.decide([Count("A", right - 1), Count("New", 1)], day(1), strict=True),
        f"A: counted {right - 1}, expected {right}",
        "--strict",
    )
    assert shop.decide([Count("A", right)], day(1), strict=True).remarks == ()


def test_after_a_wrong_count_the_log_goes_on_from_the_count(shop):
    shop.decide([Count("A", 3)], day(0))
    shop.record([Sold("A", day(0), 2, ordered=6)])
    second = orders(shop.decide([Count("A", 5)], day(1)))["A"]
    shop.record([Sold("A", day(1), 1)])
    third = shop.decide([Count("A", second[0] + second[2] - 1)], day(2))
    assert third.remarks == ()


def test_remarks_are_sentences(shop):
    # A defect once: the remark on new items has no full stop.
    work(shop, 1)
    shop.decide([Count("A", 99), Count("Zzz", 1), Count("a", 1)], day(3))
    told = [
        *shop.decide([Count("A", 0), Count("Yyy", 1), *(Count(f"N{n}", 1) for n in range(9))], day(9)).remarks,
        *shop.record([Sold("A", day(9), 99), Sold("Xxx", day(9), 1)], plenty=True).remarks,
    ]
    assert len(told) > 4
    assert [remark for remark in told if not remark.endswith((".", "?"))] == []


# ---- lead times


def test_a_lead_time_of_one_day(path):
    with create(path, lead_time=1) as shop:
        order = orders(shop.decide([Count("A", 3)], day(0)))["A"]
        assert order[1] == 0
        shop.record([Sold("A", day(0), 3)])
        oracle = Oracle(lead_time=1)
        oracle.daily_sales["A", day(0)] = 3, order[2], 3  # the order was not there to be sold
        assert oracle.agrees(shop)
        assert shop.decide([Count("A", order[2])], day(1)).remarks == ()
        shop.record([Sold("A", day(1), 0, ordered=1)])
        told = shop.decide([Count("A", order[2] + 2)], day(2)).remarks
        assert f"expected {order[2] + 1}" in told[0]


def test_a_lead_time_of_two_days_keeps_what_is_coming_in_the_log(path):
    with create(path, lead_time=2) as shop:
        first = orders(shop.decide([Count("A", 3)], day(0)))["A"]
        assert first[1] == 0
        shop.record([Sold("A", day(0), 2, ordered=5)])
        second = orders(shop.decide([Count("A", 1)], day(1)))["A"]
        assert second[1] == 5
        oracle = Oracle(lead_time=2)
        oracle.daily_sales["A", day(0)] = 3, 5, 2
        assert oracle.agrees(shop)
        assert second[2] == oracle.order(shop, "A", day(1), 1, 5)
        assert shop.decide([Count("A", 1, coming=5)], day(1)).repeated == 1
        unchanged(shop, lambda: shop.decide([Count("A", 1, coming=4)], day(1)), "with 5 coming; got 1 and 4")
        shop.record([Sold("A", day(1), 1, ordered=7)])
        third = shop.decide([Count("A", 5)], day(2))
        assert third.remarks == ()
        assert orders(third)["A"][1] == 7
        corrected = shop.decide([Count("A", 6, coming=2)], day(2), correct=True)
        assert orders(corrected)["A"][:2] == (6, 2)
        assert orders(shop.decide([Count("A", 4)], day(2), correct=True))["A"][:2] == (4, 2)


def test_what_was_really_ordered_is_coming_even_if_it_is_told_after_the_next_morning(path):
    # A defect once: the evening of day 0 comes after the morning of day 1, whose "coming" stays the advice.
    with create(path, lead_time=2) as shop:
        advised = orders(shop.decide([Count("A", 3)], day(0)))["A"][2]
        shop.decide([Count("A", 1)], day(1))
        shop.record([Sold("A", day(0), 2, ordered=advised + 2)])
        shop.record([Sold("A", day(1), 1)])
        assert shop.decide([Count("A", advised + 2)], day(2)).remarks == ()


def test_an_order_of_long_ago_is_not_coming_any_more(path):
    # A defect once: with a lead time of 2, an order of two weeks ago is still said to arrive tomorrow.
    with create(path, lead_time=2) as shop:
        shop.decide([Count("A", 0)], day(0))
        shop.record([Sold("A", day(0), 0, ordered=9)])
        assert orders(shop.decide([Count("A", 2)], day(14)))["A"][1] == 0


def test_a_day_without_a_morning_still_brings_what_was_ordered(path):
    with create(path, lead_time=2) as shop:
        shop.decide([Count("A", 4)], day(0))
        shop.record([Sold("A", day(0), 1, ordered=3)])
        shop.record([Sold("A", day(1), 1, stock=3, ordered=2)])
        third = shop.decide([Count("A", 5)], day(2))
        assert third.remarks == ()
        assert orders(third)["A"][1] == 2


def test_an_order_that_nobody_knows_is_not_missing_from_the_shelf(path):
    # A defect once: the order of a day without stock is -1, "not known", and is added up as such.
    with create(path, lead_time=2) as shop:
        shop.record([Sold("A", day(0), 3)], plenty=True)
        shop.record([Sold("A", day(1), 1, stock=5)])
        assert not [told for told in shop.decide([Count("A", 4)], day(2)).remarks if "differ" in told]


# ---- wrong days


def test_a_morning_of_a_wrong_day_can_be_left_behind(path):
    with create(path) as shop:
        work(shop, 2)
        shop.decide([Count("A", 3), Count("B", 1)], day(300))
        ask = [Count("A", 2), Count("B", 4)]
        unchanged(shop, lambda: shop.decide(ask, day(2)), "has a later day in the records")
        first = shop.decide(ask, day(2), correct=True)
        assert shop.decide(ask, day(2)).advice == first.advice
        shop.record([Sold("A", day(2), 1), Sold("B", day(2), 1)])
        work(shop, 3, first=3)
        assert shop.verify()
        assert shop.decide([Count("A", 1)], day(300), correct=True).advice[0].stock == 1
        assert shop.verify()
    with Shop(path) as again:
        assert again.verify()


def test_an_evening_of_a_wrong_day_does_not_stop_the_shop(path):
    with create(path) as shop:
        oracle = Oracle()
        shop.record([Sold("A", day(300), 3, stock=9)])
        oracle.daily_sales["A", day(300)] = 9, 0, 3
        for n in range(3):
            (advice,) = shop.decide([Count("A", n)], day(n), correct=n == 0).advice
            assert advice.order == oracle.order(shop, "A", day(n), n)
            shop.record([Sold("A", day(n), 2)])
            oracle.daily_sales["A", day(n)] = n, advice.order, 2
            assert oracle.agrees(shop)
            assert shop.verify()


def test_costs_with_which_no_order_pays_are_said(path):
    with create(path) as shop:
        own = [ItemSettings("dear", {"unit_cost": 3.0, "lost_sale": 2.0}), ItemSettings("served", {"service": 0.9})]
        counts = [Count(sku, 0) for sku in ("dear", "served", "usual")]
        decision = shop.decide(counts, day(0), items=own)
        (said,) = [remark for remark in decision.remarks if "pays" in remark]
        assert "dear: 3 a unit, 2 a lost sale" in said
        assert orders(decision)["dear"] == (0, 0, 0)
        assert "usual" not in said
        assert "served" not in said
