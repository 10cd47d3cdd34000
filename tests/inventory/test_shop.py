"""A shop from morning to evening: the same answer twice, the truth whenever it comes, and nothing by halves."""

import contextlib
import math
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.inventory import (
    Count,
    Shop,
    Sold,
    book_csv,
    explain_in_words,
    history_csv,
    lot_size,
    orders_csv,
    read_sold,
)
from tests.inventory.shops import CAPACITY, Oracle, beliefs, create, day, lines, orders, refused, state, work

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.db"


@pytest.fixture
def shop(path):
    with create(path) as made:
        yield made


def unchanged(shop, act, *said, kind=InvalidInputError):
    """An act is refused with a sentence; book and shelves stay as they were, and the shop still works."""
    before = state(shop), lines(shop), shop.skus
    with refused(*said, kind=kind):
        act()
    assert (state(shop), lines(shop), shop.skus) == before
    assert shop.verify()


# ---- mornings


def test_deciding_twice_gives_the_same_answer(path):
    counts = [Count(f"I{n}", n % 7) for n in range(20)]
    with create(path) as shop:
        work(shop, 6)
        first = shop.decide(counts, day(6))
        again = shop.decide(counts, day(6))
        assert (first.repeated, again.repeated) == (0, 20)
        assert first.advice == again.advice
        book = lines(shop)
    with Shop(path) as other:
        other_way = other.decide([Count("New", 2), *reversed(counts), Count("Newer", 3)], day(6))
        assert other_way.repeated == 20
        assert [a.sku for a in other_way.advice][:2] == ["New", "I19"]
        kept = orders(other_way)
        assert {sku: kept[sku] for sku in orders(first)} == orders(first)
        assert lines(other)[: len(book)] == book
        assert len(lines(other)) == len(book) + 2
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
    unchanged(shop, lambda: shop.decide([Count("A", 3)], day(1)), "has a later day in the book, 2026-11-18")
    both = [Count("New", 3), Count("A", 3)]
    unchanged(shop, lambda: shop.decide(both, day(1)), "check the date", "--correct")
    shop.record([Sold("C", day(4), 2, stock=5)])
    unchanged(shop, lambda: shop.decide([Count("C", 5)], day(4)), "the day is over")
    assert orders(shop.decide([Count("Old", 3)], day(1)))  # for a new item any day is the first


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
    # Finds a defect: without a lead time of 2 the column is not used, and then contradicts itself.
    with create(path, lead_time) as shop:
        first = shop.decide([Count("A", 3, coming=5)], day(0))
        again = shop.decide([Count("A", 3, coming=5)], day(0))
        assert (first.advice, again.repeated) == (again.advice, 1)


def test_what_is_odd_about_counts_is_told(path):
    with create(path) as shop:
        advised = orders(shop.decide([Count("A", 3), Count("B", 0), Count("C", 2)], day(0)))
        shop.record([Sold("A", day(0), 2), Sold("B", day(0), 99)])
        left = 3 + advised["A"][2] - 2
        told = shop.decide([Count("A", left + 1), Count("B", 0), Count("C", 5)], day(1)).remarks
        assert told == (
            f"1 count differs from the book, and the counts are taken for the truth: A: counted {left + 1}, "
            f"expected {left}.",
            "Sales are missing, and can still be recorded: C on 2026-11-16.",
        )
        assert shop.decide([Count("A", left + 1)], day(1)).remarks == ()
        shop.record([Sold("A", day(1), 0), Sold("B", day(1), 0), Sold("C", day(1), 0)])
        told = shop.decide([Count(sku, 0) for sku in "ABC"], day(5)).remarks
        assert "3 counts differ" in told[0]
        assert told[1] == (
            "Days that the book does not have; nothing to do if the shop was closed: 2026-11-18 to 2026-11-20 "
            "(3 items)."
        )
        explained = explain_in_words(shop, "A")
        assert "The book expected" in explained
        assert "the count was taken for the truth" in explained


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


def test_after_a_wrong_count_the_book_goes_on_from_the_count(shop):
    advised = orders(shop.decide([Count("A", 3)], day(0)))["A"][2]
    shop.record([Sold("A", day(0), 2)])
    second = orders(shop.decide([Count("A", 3 + advised - 5)], day(1)))["A"]
    shop.record([Sold("A", day(1), 1)])
    third = shop.decide([Count("A", second[0] + second[2] - 1)], day(2))
    assert third.remarks == ()


# ---- evenings


def test_recording_twice_is_harmless(path):
    with create(path) as shop:
        shop.decide([Count("A", 3), Count("B", 2)], day(0))
        sold = [Sold("A", day(0), 2), Sold("B", day(0), 1, ordered=4)]
        assert shop.record(sold).recorded == 2
        before = state(shop), lines(shop)
        for again in (sold, sold[:1], [Sold("B", day(0), 1)], [Sold("A", day(0), 2, stock=3)]):
            receipt = shop.record(again)
            assert (receipt.recorded, receipt.repeated) == (0, len(again))
        assert shop.record(sold, correct=True).corrected == 0
    with Shop(path) as other:
        assert other.record(sold).repeated == 2
        assert (state(other), lines(other)) == before


@pytest.mark.parametrize(
    "other",
    [
        Sold("A", day(0), 3),
        Sold("A", day(0), 2, ordered=0),
        Sold("A", day(0), 2, stock=4),
    ],
)
def test_a_contradiction_is_refused_and_nothing_of_its_file_is_written(shop, other):
    shop.decide([Count("A", 3), Count("B", 1)], day(0))
    shop.record([Sold("A", day(0), 2)])
    more = [Sold("B", day(0), 1), Sold("New", day(1), 1, stock=3), Sold("A", day(1), 1, stock=3)]
    for told in ([*more, other], [other, *more]):
        unchanged(shop, lambda told=told: shop.record(told), "A on 2026-11-16 is recorded with 2", "--correct")
    assert shop.record(more).recorded == 3


def test_two_wrong_one_evening_are_refused_unless_they_agree(shop):
    shop.decide([Count("A", 3)], day(0))
    unchanged(shop, lambda: shop.record([Sold("A", day(0), 1), Sold("A", day(0), 2)]), "must be told once")
    assert shop.record([Sold("A", day(0), 1), Sold("A", day(0), 1)]).recorded == 1


def test_nothing_is_learned_from_a_day_of_unknown_stock_unless_there_was_plenty(shop):
    unchanged(shop, lambda: shop.record([Sold("A", day(0), 2)]), "is not known", "A on 2026-11-16", "--plenty")
    shop.record([Sold("A", day(0), 2)], plenty=True)
    oracle = Oracle()
    oracle.evenings["A", day(0)] = None, None, 2
    assert oracle.agrees(shop, "A")
    # Finds a defect: an order that is not known is 0 when it is told again, and so contradicts itself.
    assert shop.record([Sold("A", day(0), 2)], plenty=True).repeated == 1
    assert shop.record([Sold("A", day(0), 2)]).repeated == 1
    shop.decide([Count("B", 1)], day(0))
    shop.record([Sold("B", day(0), 1)], plenty=True)  # what is known stays known
    assert [line[4] for line in lines(shop) if line[1] == "sold"] == [None, 1]
    shop.record([Sold("A", day(0), 2, stock=2)], correct=True)
    oracle.evenings["A", day(0)] = 2, 0, 2
    assert oracle.agrees(shop, "A")


def test_more_sold_than_was_there_is_told_and_taken_as_sold_out(shop):
    shop.decide([Count("A", 3)], day(0))
    receipt = shop.record([Sold("A", day(0), 9, ordered=2)])
    assert receipt.remarks == (
        "More was sold than was there, so a count was wrong; taken as sold out: A on 2026-11-16 sold 9 of 5.",
    )
    oracle = Oracle()
    oracle.evenings["A", day(0)] = 3, 2, 9
    assert oracle.agrees(shop, "A")


def test_a_correction_leads_to_what_the_truth_from_the_start_had_led_to(path, tmp_path):
    truth = [(stock, sold) for stock, sold in zip((3, 0, 5, 2, 4, 1), (2, 4, 1, 3, 0, 5), strict=True)]
    with create(path) as wrong, create(tmp_path / "right.db") as right:
        for n, (stock, sold) in enumerate(truth):
            for shop, units in ((wrong, 1 if n in (0, 3, 5) else sold), (right, sold)):
                shop.decide([Count("A", stock), Count("B", 2)], day(n))
                shop.record([Sold("A", day(n), units, ordered=2), Sold("B", day(n), n % 3, ordered=1)])
        assert beliefs(wrong, "A") != beliefs(right, "A")
        for n in (3, 5, 0):
            assert wrong.record([Sold("A", day(n), truth[n][1])], correct=True).corrected == 1
        for sku in ("A", "B"):
            assert beliefs(wrong, sku) == beliefs(right, sku)
        assert wrong._desk.shelves.last[:2].tobytes() == right._desk.shelves.last[:2].tobytes()
        ask = [Count("A", 2), Count("B", 2)]
        assert orders(wrong.decide(ask, day(9))) == orders(right.decide(ask, day(9)))
        assert wrong.verify()
    with Shop(path) as again:
        assert again.verify()
        assert again.record([Sold("A", day(0), truth[0][1])]).repeated == 1


def test_corrections_can_be_corrected_back(shop):
    work(shop, 4)
    before = beliefs(shop, "A")
    was = next(line[7] for line in lines(shop) if line[1:4] == ("sold", day(1), "A"))
    shop.record([Sold("A", day(1), was + 2)], correct=True)
    assert beliefs(shop, "A") != before
    shop.record([Sold("A", day(1), was)], correct=True)
    assert beliefs(shop, "A") == before
    assert [line[7] for line in lines(shop) if line[1:4] == ("sold", day(1), "A")] == [was, was + 2, was]


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_a_late_record_teaches_what_it_had_taught_in_time(path, tmp_path, lead_time):
    evenings = [
        [Sold("A", day(n), (3 * n) % 5, ordered=n % 3), Sold("B", day(n), n % 2, ordered=1)] for n in range(6)
    ]
    with create(path, lead_time) as late, create(tmp_path / "in-order.db", lead_time) as in_order:
        for n in range(6):
            for shop in (late, in_order):
                shop.decide([Count("A", n % 4 + 1), Count("B", 3)], day(n))
            in_order.record(evenings[n])
        for n in (4, 1, 5, 0, 2, 3):
            late.record(evenings[n])
            assert late.verify()
        for sku in ("A", "B"):
            assert beliefs(late, sku) == beliefs(in_order, sku)


def test_all_days_in_one_file_in_any_order_teach_the_same(path, tmp_path):
    sold = [Sold(sku, day(n), n * len(sku) % 6, 4, n % 2) for n in range(8) for sku in ("A", "BB", "CCC")]
    with create(path) as one, create(tmp_path / "other.db") as other:
        one.record(sold)
        for line in [*sold[::3], *sold[2::3], *sold[1::3]]:
            other.record([line])
        for sku in one.skus:
            assert beliefs(one, sku) == beliefs(other, sku)
        assert one.verify()
        assert other.verify()


def test_what_was_really_ordered_is_learned_from(path, tmp_path):
    with create(path) as advised, create(tmp_path / "other.db") as nothing:
        order = orders(advised.decide([Count("A", 3)], day(0)))["A"][2]
        assert orders(nothing.decide([Count("A", 3)], day(0)))["A"][2] == order > 0
        advised.record([Sold("A", day(0), 3)])
        nothing.record([Sold("A", day(0), 3, ordered=0)])  # the shelf was emptied: demand may have been more
        oracle = Oracle()
        oracle.evenings["A", day(0)] = 3, order, 3
        assert oracle.agrees(advised, "A")
        oracle.evenings["A", day(0)] = 3, 0, 3
        assert oracle.agrees(nothing, "A")
        assert beliefs(advised, "A") != beliefs(nothing, "A")
        assert advised.decide([Count("A", order)], day(1)).remarks == ()
        assert nothing.decide([Count("A", 0)], day(1)).remarks == ()


# ---- lead times


def test_a_lead_time_of_one_day(path):
    with create(path, lead_time=1) as shop:
        order = orders(shop.decide([Count("A", 3)], day(0)))["A"]
        assert order[1] == 0
        shop.record([Sold("A", day(0), 3)])
        oracle = Oracle(lead_time=1)
        oracle.evenings["A", day(0)] = 3, order[2], 3  # the order was not there to be sold
        assert oracle.agrees(shop, "A")
        assert shop.decide([Count("A", order[2])], day(1)).remarks == ()
        shop.record([Sold("A", day(1), 0, ordered=1)])
        told = shop.decide([Count("A", order[2] + 2)], day(2)).remarks
        assert f"expected {order[2] + 1}" in told[0]


def test_a_lead_time_of_two_days_keeps_what_is_coming_in_the_book(path):
    with create(path, lead_time=2) as shop:
        first = orders(shop.decide([Count("A", 3)], day(0)))["A"]
        assert first[1] == 0
        shop.record([Sold("A", day(0), 2, ordered=5)])
        second = orders(shop.decide([Count("A", 1)], day(1)))["A"]
        assert second[1] == 5
        oracle = Oracle(lead_time=2)
        oracle.evenings["A", day(0)] = 3, 5, 2
        assert oracle.agrees(shop, "A")
        assert second[2] == oracle.order("A", day(1), 1, 5)
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
    # Finds a defect: the evening of day 0 comes after the morning of day 1, whose "coming" stays the advice.
    with create(path, lead_time=2) as shop:
        advised = orders(shop.decide([Count("A", 3)], day(0)))["A"][2]
        shop.decide([Count("A", 1)], day(1))
        shop.record([Sold("A", day(0), 2, ordered=advised - 2)])
        shop.record([Sold("A", day(1), 1)])
        assert shop.decide([Count("A", advised - 2)], day(2)).remarks == ()


def test_an_order_of_long_ago_is_not_coming_any_more(path):
    # Finds a defect: with a lead time of 2, an order of two weeks ago is still said to arrive tomorrow.
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
    # Finds a defect: the order of a day without stock is -1, "not known", and is added up as such.
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
        unchanged(shop, lambda: shop.decide(ask, day(2)), "has a later day in the book")
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
        oracle.evenings["A", day(300)] = 9, 0, 3
        for n in range(3):
            (advice,) = shop.decide([Count("A", n)], day(n), correct=n == 0).advice
            assert advice.order == oracle.order("A", day(n), n)
            shop.record([Sold("A", day(n), 2)])
            oracle.evenings["A", day(n)] = n, advice.order, 2
            assert oracle.agrees(shop, "A")
            assert shop.verify()


# ---- lots


def test_lots_are_rounded_and_orders_are_whole_lots(path):
    with create(path, lot=6) as shop:
        oracle = Oracle(lot=6)
        for n, (stock, sold) in enumerate([(3, 20), (2, 5), (60, 7), (13, 13), (0, 0), (8, 50), (29, 28)]):
            (advice,) = shop.decide([Count("A", stock)], day(n)).advice
            assert advice.order % 6 == 0
            assert advice.order == oracle.order("A", day(n), stock)
            shop.record([Sold("A", day(n), sold)])
            oracle.evenings["A", day(n)] = stock, advice.order, sold
            assert oracle.agrees(shop, "A")
        assert shop.lot_of("A") == 6
        assert f"{CAPACITY * 6}" in explain_in_words(shop, "A")


def test_a_lot_belongs_to_its_item(shop):
    shop.decide([Count("A", 5, lot=4), Count("B", 5)], day(0))
    assert (shop.lot_of("A"), shop.lot_of("B")) == (4, 1)
    unchanged(shop, lambda: shop.decide([Count("A", 5, lot=5)], day(0)), "A has 4 units in a lot; got 5")
    unchanged(shop, lambda: shop.record([Sold("A", day(0), 5, lot=5)]), "A has 4 units in a lot; got 5")
    unchanged(
        shop, lambda: shop.record([Sold("C", day(n), 5, lot=5 + n, stock=9) for n in range(2)]), "C has 5 units"
    )
    assert shop.decide([Count("A", 5, lot=4)], day(0)).repeated == 1


def test_a_lot_is_chosen_from_sixty_days(path):
    history = [Sold("A", day(n - 70), 40 + n % 30, lot=None) for n in range(70)]
    with create(path, lot="auto") as shop:
        unchanged(shop, lambda: shop.decide([Count("A", 5)], day(0)), "60 days of sales; got 0", "column lot")
        unchanged(shop, lambda: shop.record(history[:59], plenty=True), "60 days of sales; got 59")
        shop.record(list(reversed(history)), plenty=True)
        assert shop.lot_of("A") == lot_size([line.units for line in history], CAPACITY) > 1
        assert shop.decide([Count("B", 5, lot=3)], day(0)).advice[0].lot == 3
        assert shop.verify()


# ---- by halves


BAD_NUMBERS = [2.5, math.nan, math.inf, "3", True, 2**31, 10**30]
BAD_NAMES = ["", " B", "B\n", "\u00a0B", "B\x00", "B\x1b[31m", "\ud800", "B" * 201, 5, None]
BAD_DAYS = ["2026-11-18", None, 20261118]


@pytest.mark.parametrize(
    ("sku", "stock", "more"),
    [
        *(("B", number, {}) for number in [*BAD_NUMBERS, None]),
        *(("B", 3, {"coming": number}) for number in BAD_NUMBERS),
        *(("New", 3, {"lot": number}) for number in [*BAD_NUMBERS, 0]),
        *((name, 3, {}) for name in BAD_NAMES),
    ],
)
def test_what_no_count_in_a_file_could_say_python_cannot_say_either(path, sku, stock, more):
    # Finds a defect: what is told in Python is not checked at all; some of it is learned, some is a TypeError.
    with create(path, lead_time=2) as shop:
        work(shop, 2)
        unchanged(shop, lambda: shop.decide([Count("A", 1), Count(sku, stock, **more)], day(2)))


@pytest.mark.parametrize(
    ("sku", "when", "units", "more"),
    [
        *(("B", day(2), number, {}) for number in [*BAD_NUMBERS, None]),
        *(("B", day(2), 1, {"ordered": number}) for number in BAD_NUMBERS),
        *(("B", day(2), 1, {"stock": number}) for number in BAD_NUMBERS),
        *((name, day(2), 1, {}) for name in BAD_NAMES),
        *(("B", when, 1, {}) for when in BAD_DAYS),
    ],
)
def test_what_no_line_of_sales_could_say_python_cannot_say_either(shop, sku, when, units, more):
    # Finds a defect, as above.
    work(shop, 2)
    told = Sold("A", day(2), 1, stock=1)
    unchanged(shop, lambda: shop.record([told, Sold(sku, when, units, **more)], plenty=True))


NEGATIVE = """
import sys
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Count, Sold
from tests.inventory.shops import create, day, work
for case in ("stock=-1", "stock=-10**6", "stock=3, coming=-1", "stock=3, coming=-10**6", "stock=3, lot=-1"):
    for lead_time in (0, 2):
        with create(f"{sys.argv[1]}/{case}{lead_time}.db", lead_time) as shop:
            work(shop, 2)
            try:
                counts = [eval(f"Count('New' if 'lot' in case else 'B', {case})")]
                shop.decide(counts, day(2))
            except InvalidInputError:
                continue
            print("accepted", case, lead_time, flush=True)
for case in ("-1", "-10**6", "1, ordered=-1", "1, stock=-1", "1, stock=1, lot=-1"):
    with create(f"{sys.argv[1]}/{case}.db") as shop:
        work(shop, 2)
        try:
            shop.record([eval(f"Sold('New' if 'lot' in case else 'B', day(2), {case})")], plenty=True)
        except InvalidInputError:
            continue
        print("accepted", case, flush=True)
"""


def test_numbers_below_zero_are_refused_before_compiled_code_sees_them(tmp_path):
    # Finds a defect: Count("B", -1) with a lead time of 2 writes outside of arrays; the process dies or hangs.
    # Therefore a process of its own.
    words = [sys.executable, "-c", NEGATIVE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=20)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr[-300:]


@pytest.mark.parametrize("when", BAD_DAYS)
def test_a_day_is_a_date(shop, when):
    unchanged(shop, lambda: shop.decide([Count("A", 1)], when))


def test_a_moment_is_taken_for_its_day_or_refused(shop):
    # Finds a defect: a datetime, such as a Timestamp of pandas, is a ValueError of datetime.
    noon = datetime(2026, 11, 16, 12)
    with contextlib.suppress(InvalidInputError):
        shop.decide([Count("A", 3)], noon)
    with contextlib.suppress(InvalidInputError):
        shop.record([Sold("A", noon, 2, stock=3)])
    assert {line[2] for line in lines(shop)} <= {day(0)}
    assert shop.verify()


def test_the_largest_numbers_a_file_may_hold_are_still_added_up(shop):
    # Finds a defect: what is expected does not fit, and a sound file is an OverflowError.
    most = 2**31 - 1
    shop.record([Sold("A", day(0), 0, ordered=most, stock=most)])
    assert shop.decide([Count("A", most)], day(1)).advice[0].order == 0
    shop.record([Sold("A", day(1), most)])
    assert shop.verify()


@pytest.mark.parametrize("where", ["book.append", "book.keep_snapshot", "shelves.learn"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_an_error_in_the_middle_leaves_everything_as_it_was(path, monkeypatch, where, error):
    from driftmdp.inventory.book import Book
    from driftmdp.inventory.shelves import Shelves

    kind, name = {"book": Book, "shelves": Shelves}[where.split(".")[0]], where.split(".")[1]
    real, calls = getattr(kind, name), []

    def fails(self, *words):
        calls.append(words)
        if len(calls) == (2 if name != "keep_snapshot" else 1):
            raise error("in the middle")
        return real(self, *words)

    sold = [Sold(sku, day(n), 1, stock=2) for n in range(3, 6) for sku in ("A", "New")]
    with create(path) as shop:
        work(shop, 3)
        before = state(shop), lines(shop)
        with monkeypatch.context() as patch:
            patch.setattr(kind, name, fails)
            with pytest.raises(error):
                shop.record(sold)
        assert (state(shop), lines(shop)) == before
        assert shop.verify()
        assert shop.record(sold).recorded == 6
        assert shop.verify()
        assert state(shop) != before[0]


def test_reading_the_history_does_not_stop_the_work(shop):
    # Finds a defect: while a history is read, the shop says that its database is broken, and forgets its items.
    work(shop, 2)
    with contextlib.closing(shop.history()) as events:
        next(events)
        shop.decide([Count("A", 3)], day(2))
        assert shop.skus == ("A", "B")
        assert shop.verify()
        assert len(list(events)) >= 7


# ---- two at once


def test_two_shops_on_one_file_take_turns(path, tmp_path):
    with create(path) as one, Shop(path) as two, create(tmp_path / "alone.db") as alone:
        for n in range(6):
            first, second = (one, two) if n % 2 else (two, one)
            counts = [Count("A", n % 4), Count(f"New{n}", 2)]
            sold = [Sold("A", day(n), n % 3), Sold(f"New{n}", day(n), 1)]
            assert first.decide(counts, day(n)).advice == alone.decide(counts, day(n)).advice
            assert second.decide(counts, day(n)).repeated == 2
            assert second.record(sold).recorded == 2
            assert first.record(sold).repeated == 2
            alone.record(sold)
        assert state(one) == state(two) == state(alone)
        assert lines(one) == lines(two) == lines(alone)


def test_a_shop_sees_what_another_wrote(path):
    # Finds a defect: what is only read is not brought up to date: IndexError in history, and verify is False.
    with create(path) as one, Shop(path) as two:
        work(two, 2)
        assert len(list(one.history())) == 8
        assert one.verify()
        assert one.skus == two.skus
        assert one.explain("A").advice == two.explain("A").advice


def test_a_contradiction_between_two_shops_is_refused(path):
    with create(path) as one, Shop(path) as two:
        one.decide([Count("A", 3)], day(0))
        with refused("A was counted 3"):
            two.decide([Count("A", 4)], day(0))
        one.record([Sold("A", day(0), 2)])
        with refused("is recorded with 2 sold"):
            two.record([Sold("A", day(0), 3)])
        assert lines(one) == lines(two)
        assert len(lines(one)) == 2


# ---- words


def test_explaining_what_is_not_there_suggests_the_nearest(shop):
    work(shop, 1, items=("Milk 1l", "Bread"))
    for ask in (
        shop.explain,
        shop.lot_of,
        lambda sku: list(shop.history(sku)),
        lambda sku: explain_in_words(shop, sku),
    ):
        with refused("has no item 'Milk 2l'", "Did you mean 'Milk 1l'?", kind=UnknownNameError):
            ask("Milk 2l")


def test_explaining_works_at_every_hour(path):
    for lead_time in (0, 1, 2):
        with create(path.with_name(f"{lead_time}.db"), lead_time, lot=3) as shop:
            shop.decide([Count("A", 4)], day(0))
            assert "Advice for 2026-11-16" in explain_in_words(shop, "A")
            shop.record([Sold("A", day(0), 4)])
            assert "lots of 3 units" in explain_in_words(shop, "A")
            shop.record([Sold("B", day(0), 4)], plenty=True)
            assert "No advice was asked for yet." in explain_in_words(shop, "B")


def test_one_morning_is_told_once_and_the_next_by_its_date(path):
    with create(path, lot=6) as shop:
        shop.decide([Count("A", 13)], day(0))
        shop.record([Sold("A", day(0), 3)])
        assert "For 2026-11-17" in explain_in_words(shop, "A")
        shop.decide([Count("A", 13)], day(1))
        told = explain_in_words(shop, "A")
        assert "For 2026-11" not in told
        assert told.count("order ") >= 1
        assert "with 13 on the shelf" in told


def test_nobody_knows_the_shelf_after_a_history_without_stocks(path):
    # Finds a defect: an unknown stock is said to be 0, "by what the book expects".
    with create(path) as shop:
        shop.decide([Count("A", 13)], day(0))
        shop.record([Sold("A", day(0), 3)])
        shop.record([Sold("A", day(1), 3)], plenty=True)
        assert "with 0 on the shelf" not in explain_in_words(shop, "A")


def test_what_is_exported_can_be_recorded_elsewhere(path, tmp_path):
    with contextlib.ExitStack() as stack:
        shop = stack.enter_context(create(path, lot=2))
        other, third = (stack.enter_context(create(tmp_path / name)) for name in ("other.db", "third.db"))
        work(shop, 5, items=("=A", 'B,\n"C"'))
        shop.record([Sold("=A", day(n), 4) for n in (0, 3)], correct=True)
        shop.record([Sold("D", day(1), 4)], plenty=True)
        lots = {sku: shop.lot_of(sku) for sku in shop.skus}
        (tmp_path / "sales.csv").write_text(history_csv(shop.history(), lots))
        sold = read_sold(tmp_path / "sales.csv")
        other.record(sold, plenty=True)
        third.record([Sold(s.sku, s.day, s.units, s.ordered, s.stock) for s in sold], plenty=True)
        for sku in shop.skus:
            assert beliefs(shop, sku) == beliefs(other, sku) != beliefs(third, sku)
        assert book_csv(shop.history()).count("\n") > 20


def test_orders_can_be_recorded_with_what_was_ordered(shop, tmp_path):
    decision = shop.decide([Count("=A", 3), Count("B", 1)], day(0))
    text = orders_csv(decision.advice).replace("order,", "ordered,", 1)
    rows = [f"{line},{'units' if n == 0 else 1}" for n, line in enumerate(text.splitlines())]
    (tmp_path / "sales.csv").write_text("\n".join(rows))
    assert shop.record(read_sold(tmp_path / "sales.csv")).recorded == 2


# ---- any order of anything, beside a model in memory


class AnyDays(RuleBasedStateMachine):
    """Mornings and evenings of a few items, right and wrong, in any order; a dict of evenings knows better."""

    lead_time, lot, folder = 0, 1, None
    count = 0

    @initialize()
    def begin(self):
        AnyDays.count += 1
        self.path = self.folder / f"{type(self).__name__}-{self.lead_time}-{self.lot}-{AnyDays.count}.db"
        self.shop = create(self.path, self.lead_time, self.lot)
        self.oracle = Oracle(self.lead_time, self.lot)
        self.mornings, self.last, self.told = {}, {}, {}

    def teardown(self):
        if hasattr(self, "shop"):
            self.shop.close()

    items = st.sampled_from(["A", "=B", "C"])
    days = st.integers(0, 6)
    mostly = st.sampled_from([True, True, True, False])
    units = st.sampled_from([0, 1, 2, 12])

    @rule(sku=items, n=days, stock=units, correct=mostly)
    def decide(self, sku, n, stock, correct):
        when, key = day(n), (sku, day(n))
        known = self.mornings.get(key)
        allowed = known is not None and known[0] == stock
        anew = not allowed and (known is None or correct)
        anew = anew and key not in self.oracle.evenings and (correct or self.last.get(sku, when) <= when)
        try:
            (advice,) = self.shop.decide([Count(sku, stock)], when, correct=correct).advice
        except InvalidInputError:
            assert not allowed
            assert not anew
            return
        assert allowed or anew
        if allowed:
            assert advice.order == known[1]
        else:
            if self.lead_time < 2:
                assert advice.order == self.oracle.order(sku, when, stock)
            self.mornings[key] = stock, advice.order
            self.last[sku] = when

    @rule(
        sku=items,
        n=days,
        sold=units,
        stock=st.none() | units,
        ordered=st.none() | units,
        correct=mostly,
        plenty=mostly,
    )
    def record(self, sku, n, sold, stock, ordered, correct, plenty):
        key = sku, day(n)
        before = self.oracle.evenings.get(key)
        known = before or self.mornings.get(key)
        possible = known is not None or stock is not None or plenty
        there = known[0] if known is not None and stock is None else stock
        placed = known[1] if known is not None and ordered is None else ordered
        evening = there, placed if there is None else placed or 0, sold
        allowed = possible and (before in (None, evening) or correct)
        told = Sold(sku, day(n), sold, ordered, stock)
        try:
            receipt = self.shop.record([told], correct=correct, plenty=plenty)
        except InvalidInputError:
            assert not allowed
            return
        assert allowed
        expected = (before is None, before == evening, before not in (None, evening))
        assert (receipt.recorded, receipt.repeated, receipt.corrected) == expected
        self.oracle.evenings[key] = evening
        self.told[key] = told
        self.last[sku] = max(self.last.get(sku, day(n)), day(n))

    @precondition(lambda self: self.told)
    @rule(data=st.data(), plenty=st.booleans())
    def tell_again(self, data, plenty):
        """What was told last of an evening is known already, word by word."""
        told = self.told[data.draw(st.sampled_from(sorted(self.told)))]
        receipt = self.shop.record([told], plenty=plenty)
        assert (receipt.recorded, receipt.repeated, receipt.corrected) == (0, 1, 0)

    @rule(sku=items, n=days)
    def open_again(self, sku, n):
        """A file that contradicts itself is refused whole; then a new shop opens the same book."""
        wrong = [Sold("D", day(n), 1, stock=1), *(Sold(sku, day(n), k, stock=2) for k in (1, 2))]
        with pytest.raises(InvalidInputError):
            self.shop.record(wrong)
        self.shop.close()
        self.shop = Shop(self.path)

    @invariant()
    def agree(self):
        if hasattr(self, "shop"):
            assert self.shop.verify()
            assert set(self.shop.skus) == {sku for sku, _ in (*self.mornings, *self.oracle.evenings)}
            for sku in self.shop.skus:
                assert self.oracle.agrees(self.shop, sku)


QUICK = settings(max_examples=10, stateful_step_count=35, phases=[Phase.generate])  # to shrink is slow


@pytest.mark.parametrize(("lead_time", "lot"), [(0, 1), (0, 4), (1, 1), (2, 3)])
def test_any_order_of_anything_leads_to_what_the_evenings_say(tmp_path, lead_time, lot):
    AnyDays.lead_time, AnyDays.lot, AnyDays.folder = lead_time, lot, tmp_path
    run_state_machine_as_test(AnyDays, settings=QUICK)


@pytest.mark.slow
@pytest.mark.parametrize(("lead_time", "lot"), [(0, 1), (0, 4), (1, 1), (2, 3)])
def test_any_order_of_anything_at_length(tmp_path, lead_time, lot):
    AnyDays.lead_time, AnyDays.lot, AnyDays.folder = lead_time, lot, tmp_path
    run_state_machine_as_test(AnyDays, settings=settings(max_examples=100, stateful_step_count=60))
