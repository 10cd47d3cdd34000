"""Goods that spoil in a shop: their ages follow every unit, counts are the truth, and what is wrong is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.inventory import (
    Costs,
    Count,
    Delivery,
    ItemSettings,
    Shop,
    Sold,
    explain_in_words,
    read_counts,
)
from driftmdp.inventory.ages import add_new, age, as_counted, sell_oldest, within_life
from driftmdp.kernels.arrays import Longs
from tests.inventory.shops import create, day, orders, refused, state
from tests.reference.perishables import sell_and_age

COSTS = Costs(fixed=0.0, unit=1.0, lost_sale=8.0, holding=0.1)


def ages_of(shop, sku, when):
    """The ages that the advice of a day was made with, as it is recorded."""
    found = [event.details for event in shop.history(sku) if event.kind == "decided" and event.day == when]
    return found[-1]


def as_text(units, life):
    """The same of units that can be sold in so many more periods each."""
    counts = [units.count(left) for left in range(1, life + 1)]
    return ", ".join(f"left_{left} {count}" for left, count in enumerate(counts, 1) if count) or None


@pytest.fixture
def shop(tmp_path):
    with create(tmp_path / "shop.db", costs=COSTS, capacity=None, shelf_life=3, waste=0.5) as found:
        yield found


# ---- the arithmetic of ages

AGES = st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=1, max_size=4)


@given(ages=AGES, data=st.data())
def test_units_are_neither_lost_nor_made(ages, data):
    there: Longs = np.array(ages, np.int64)
    n = len(there)
    lives, units, spoiled = (
        np.array(data.draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), np.int64)
        for low, high in ((1, 5), (0, 60), (0, 9))
    )
    there = within_life(there, lives)
    assert (there[np.arange(1, 6) > lives[:, None]] == 0).all()
    total = there.sum(axis=1)
    left = sell_oldest(there, units)
    assert (left >= 0).all()
    assert (left <= there).all()
    assert (left.sum(axis=1) == np.maximum(total - units, 0)).all()
    older, gone = age(left)
    assert (older.sum(axis=1) + gone == left.sum(axis=1)).all()
    assert (add_new(there, lives, units).sum(axis=1) == total + units).all()
    counted = as_counted(there, lives, units, spoiled)
    assert (counted.sum(axis=1) == units).all()
    assert (counted[np.arange(1, 6) > lives[:, None]] == 0).all()


@given(ages=AGES, units=st.integers(0, 60))
def test_the_oldest_are_sold_first(ages, units):
    there = np.array(ages, np.int64)
    left, (gone,) = sell_oldest(there, np.full(len(there), units)), [there]
    for row, before in zip(left, gone, strict=True):
        touched = np.flatnonzero(row != before)
        assert touched.size == 0 or (row[: touched[-1]] == 0).all()


# ---- the ages of a shop


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    life=st.integers(1, 5),
    lead_time=st.integers(0, 3),
    by_week=st.booleans(),
    has_gaps=st.booleans(),
)
def test_the_shop_follows_every_unit(tmp_path_factory, seed, life, lead_time, by_week, has_gaps):
    """A shop that sells its oldest first, throws away in time and counts well is never surprised."""
    rng, step = np.random.default_rng(seed), 7 if by_week else 1
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    more = {"period": "week" if by_week else "day", "shelf_life": life, "waste": 1.0}
    shelf, coming = [life] * 4, {}
    with create(path, costs=COSTS, capacity=None, lead_time=lead_time, **more) as shop:
        for t in range(14):
            if t > 0:
                shelf += [life] * coming.get(t, 0)
            if has_gaps and t > 0 and rng.random() < 0.3:  # closed, and nothing is recorded
                shelf, _, _ = sell_and_age(shelf, 0)
                continue
            when = day(step * t)
            decision = shop.decide([Count("A", len(shelf))], when)
            assert not any("differ" in remark for remark in decision.remarks)
            assert ages_of(shop, "A", when) == as_text(shelf, life)
            ordered = int(rng.integers(0, 5)) if rng.random() < 0.3 else decision.advice[0].order
            coming[t + lead_time] = ordered
            if lead_time == 0:
                shelf += [life] * ordered
            shelf, sold, _ = sell_and_age(shelf, int(rng.poisson(2)))
            shop.record([Sold("A", when, sold, ordered)])
        assert shop.verify()


def test_ages_of_the_file_are_used_and_followed(shop, tmp_path):
    (tmp_path / "stock.csv").write_text("sku,stock,left_1,left_2\nA,9,2,3\n")
    _, counts = read_counts(tmp_path / "stock.csv")
    assert counts == [Count("A", 9, left=(2, 3))]
    shop.decide(counts, day(0))
    assert ages_of(shop, "A", day(0)) == "left_1 2, left_2 3, left_3 4"
    shop.record([Sold("A", day(0), 1, ordered=0)])
    assert not shop.decide([Count("A", 7)], day(1)).remarks  # one was sold, and one is thrown away
    assert ages_of(shop, "A", day(1)) == "left_1 3, left_2 4"


def test_counts_are_the_truth_and_the_oldest_go_first(shop):
    shop.decide([Count("A", 9, left=(2, 3))], day(0))
    shop.record([Sold("A", day(0), 0, ordered=0)])
    decision = shop.decide([Count("A", 5)], day(1))
    assert "counted 5, expected 7" in decision.remarks[0]
    assert ages_of(shop, "A", day(1)) == "left_1 1, left_2 4"
    shop.decide([Count("A", 9)], day(1), correct=True)  # both that should have spoiled are there
    assert ages_of(shop, "A", day(1)) == "left_1 5, left_2 4"
    shop.decide([Count("A", 12)], day(1), correct=True)  # and three that nobody knows of
    assert ages_of(shop, "A", day(1)) == "left_1 5, left_2 4, left_3 3"


def test_goods_of_unknown_age_are_taken_as_new_and_said(shop):
    assert "not known" in shop.decide([Count("A", 4)], day(0)).remarks[0]
    assert ages_of(shop, "A", day(0)) == "left_3 4"
    assert not shop.decide([Count("B", 0), Count("C", 3, left=(1,))], day(0)).remarks[1:]


def test_missing_sales_do_not_make_goods_young(shop):
    shop.decide([Count("A", 9, left=(2, 3))], day(0))
    shop.decide([Count("A", 6)], day(1))
    assert ages_of(shop, "A", day(1)) == "left_1 2, left_2 4"


def test_sales_without_advice_are_followed(shop):
    shop.decide([Count("A", 9, left=(2, 3))], day(0))
    shop.record([Sold("A", day(0), 0, ordered=0)])
    shop.record([Sold("A", day(1), 4, ordered=0, stock=7)])
    assert not shop.decide([Count("A", 3)], day(2)).remarks
    assert ages_of(shop, "A", day(2)) == "left_1 3"


def test_what_spoils_before_the_order_comes_is_ordered_for(tmp_path):
    with create(tmp_path / "shop.db", 1, costs=COSTS, capacity=None, shelf_life=3) as shop:
        for n in range(9):
            shop.record([Sold(sku, day(n), 3, stock=9) for sku in "AB"])
        found = orders(shop.decide([Count("A", 8, left=(8,)), Count("B", 8)], day(9)))
    assert found["A"][2] > found["B"][2]


def test_the_same_question_has_the_same_answer(shop):
    first = shop.decide([Count("A", 5, left=(1, 2))], day(0))
    before = state(shop)
    for again in (Count("A", 5), Count("A", 5, left=(1, 2)), Count("A", 5, left=(1, 2, 2))):
        assert shop.decide([again], day(0)).advice == first.advice
    with refused("other ages", "--correct"):
        shop.decide([Count("A", 5, left=(2, 2))], day(0))
    assert state(shop) == before
    assert shop.decide([Count("A", 5, left=(2, 2))], day(0), correct=True).repeated == 0
    assert ages_of(shop, "A", day(0)) == "left_1 2, left_2 2, left_3 1"
    assert shop.verify()


def test_a_withdrawn_day_is_as_if_it_had_not_been(shop):
    shop.decide([Count("A", 9, left=(2, 3))], day(0))
    shop.record([Sold("A", day(0), 8, ordered=0)])
    shop.withdraw(day(0))
    shop.record([Sold("A", day(0), 1, ordered=0)])
    assert not shop.decide([Count("A", 7)], day(1)).remarks
    assert ages_of(shop, "A", day(1)) == "left_1 3, left_2 4"
    assert shop.verify()


def test_ages_that_cannot_be_are_refused(shop):
    with refused("left_1 to left_2 of A", "stock of 3", "got 4"):
        Count("A", 3, left=(2, 2))
    with refused("left_4 must be empty for A", "shelf life of 3, the last is left_3"):
        shop.decide([Count("A", 3, left=(0, 0, 0, 1))], day(0))
    shop.decide([Count("B", 1)], day(0), items=[ItemSettings("B", {"shelf_life": "none"})])
    with refused("left_1 must be empty for B", "it never spoils"):
        shop.decide([Count("B", 1, left=(1,))], day(1))


# ---- settings


def test_what_never_spoils_is_as_before_to_the_bit(tmp_path):
    found = []
    for name, life, own in (("plain", None, {}), ("none", 3, {"shelf_life": "none"})):
        with create(tmp_path / f"{name}.db", costs=COSTS, lead_time=1, shelf_life=life, waste=0.0) as shop:
            answers = []
            for n in range(9):
                items = [ItemSettings("A", own)] if own and n == 0 else []
                decision = shop.decide([Count("A", (3 * n) % 5)], day(n), items=items)
                answers.append([(a.order, a.cost, a.method) for a in decision.advice])
                shop.record([Sold("A", day(n), n % 4)])
            found.append((answers, shop._states.engine.as_bytes()))
    assert found[0] == found[1]


def test_a_life_that_changes(shop):
    shop.decide([Count("A", 9, left=(2, 3))], day(0))
    shop.record([Sold("A", day(0), 0, ordered=0)])
    shop.set_terms({"shelf_life": 5}, first_day=day(1))
    shop.decide([Count("A", 7)], day(1))
    assert ages_of(shop, "A", day(1)) == "left_1 3, left_2 4"  # what is there keeps its day
    shop.set_terms({"shelf_life": 1}, ["A"], first_day=day(2))
    shop.decide([Count("A", 4)], day(2))
    assert ages_of(shop, "A", day(2)) == "left_1 4"
    with refused("shelf_life"):
        shop.set_terms({"shelf_life": 0}, ["A"])
    assert shop.verify()


def test_the_ages_are_explained(shop):
    shop.decide([Count("A", 9, left=(2, 3))], day(0))
    reason = shop.explain("A")
    assert reason.ages == (2, 3, 4)
    assert reason.spoiled[0] > 0
    assert sum(reason.spoiled) <= 9 + reason.order
    text = explain_in_words(shop, "A")
    assert (
        "It can be sold for 3 days. Of the 9 on the shelf, 2 can be sold until 2026-11-16, 3 until 2026-11-17, 4"
        in text
    )
    assert "Expected to spoil" in text
    assert "At 1.5 per unit, with its price" in text
    shop.record([Sold("A", day(0), 1, ordered=0)])
    assert shop.explain("A").ages == (3, 4, 0)
    assert shop.explain("A").stock == 7


def test_for_a_service_target_what_spoils_first_does_not_count(tmp_path):
    costs = Costs(0.0, 1.0, 0.0, 0.1)
    with create(tmp_path / "s.db", 2, costs=costs, capacity=None, service=0.95, shelf_life=4) as shop:
        for n in range(20):
            shop.record([Sold(sku, day(n), 3, stock=9) for sku in "ABC"])
        counts = [Count("A", 40, left=(40,)), Count("B", 0), Count("C", 40)]
        found = {advice.sku: advice for advice in shop.decide(counts, day(20)).advice}
    assert found["A"].order == found["B"].order > found["C"].order
    assert found["A"].method == "for service"


def test_on_weeks_of_a_file(call, tmp_path):
    costs = ["--fixed-cost", 2, "--unit-cost", 1, "--lost-sale", 6, "--holding", 0.1, "--capacity", "none"]
    assert call("inventory", "init", "shop.db", *costs, "--shelf-life", 2, "--waste", 0.5)[0] == 0
    (tmp_path / "stock.csv").write_text("date,sku,stock,left_1\n2026-11-16,A,5,3\n")
    assert call("inventory", "decide", "shop.db", "stock.csv")[0] == 0
    code, out, _ = call("inventory", "explain", "shop.db", "A")
    assert code == 0
    assert "3 can be sold until 2026-11-16, 2 until 2026-11-17" in out
    code, _, told = call("inventory", "set", "shop.db", "--shelf-life", "none", "--from", "2026-11-17")
    assert code == 0, told
    with Shop(tmp_path / "shop.db") as shop:
        assert shop.terms_of("A", day(0)).shelf_life == 2
        assert shop.terms_of("A", day(1)).shelf_life is None
        assert shop.terms_of("A", day(1)).waste == 0.5
    code, _, told = call("inventory", "init", "other.db", *costs, "--shelf-life", 0)
    assert code != 0
    assert "1 to 366" in told


def test_ages_of_two_items_that_are_one_add_up(shop):
    shop.decide([Count("A", 5, left=(2, 3)), Count("B", 4, left=(1, 0, 3))], day(0))
    shop.merge("B", "A")
    shop.record([Sold("A", day(0), 1, ordered=0)])
    assert not shop.decide([Count("A", 6)], day(1)).remarks  # three could be sold on the first day only
    assert ages_of(shop, "A", day(1)) == "left_1 3, left_2 3"
    assert shop.verify()


def test_what_comes_late_is_new_when_it_comes(tmp_path):
    with create(tmp_path / "late.db", 1, costs=COSTS, capacity=None, shelf_life=3) as shop:
        shop.decide([Count("A", 4, left=(0, 4))], day(0))
        shop.record([Sold("A", day(0), 1, ordered=6)])
        shop.receive([Delivery("A", day(1), 0)])  # due on this day, and not there
        waiting = shop.decide([Count("A", 3)], day(1))
        assert not any("differ" in remark for remark in waiting.remarks)
        assert ages_of(shop, "A", day(1)) == "left_1 3"
        shop.record([Sold("A", day(1), 1, ordered=0)])
        shop.receive([Delivery("A", day(2), 6)])
        decision = shop.decide([Count("A", 6)], day(2))
        assert not any("differ" in remark for remark in decision.remarks)
        assert ages_of(shop, "A", day(2)) == "left_3 6"
        assert shop.verify()


def test_a_delivery_counts_beside_an_order_that_comes_at_once(tmp_path):
    with create(tmp_path / "late.db", 1, costs=COSTS, capacity=None, shelf_life=5) as shop:
        shop.decide([Count("A", 4, left=(0, 0, 4))], day(0))
        shop.record([Sold("A", day(0), 0, ordered=6)])
        shop.receive([Delivery("A", day(1), 6)])
        shop.set_terms({"lead_time": 0}, ["A"], day(1))
        shop.record([Sold("A", day(1), 0, stock=9, ordered=2)])  # one of ten is gone, an old one
        shop.decide([Count("A", 11)], day(2))
        assert ages_of(shop, "A", day(2)) == "left_1 3, left_4 8"
        assert shop.verify()


# ---- goods that keep longer than they stay


def orders_of_shop(path, life, mean, waste):
    """What items that sell alike order with a shelf life, by stocks of 0, 3, .. units."""
    rng = np.random.default_rng(3)
    costs = Costs(fixed=2.0, unit=1.0, lost_sale=5.0, holding=0.001)
    with create(path, costs=costs, capacity=None, shelf_life=life, waste=waste) as shop:
        names = [f"i{k}" for k in range(6)]
        for number in range(40):
            shop.record([Sold(name, day(number), int(rng.poisson(mean)), in_stock=True) for name in names])
        return [a.order for a in shop.decide([Count(name, 3 * k) for k, name in enumerate(names)], day(40)).advice]


def test_a_long_life_does_not_change_what_sells_fast(tmp_path):
    found = [orders_of_shop(tmp_path / f"{life}.db", life, 4.0, 1.0) for life in (None, 365)]
    assert found[0] == found[1]
    assert any(found[0])


def test_a_long_life_changes_what_sells_slowly(tmp_path):
    found = [orders_of_shop(tmp_path / f"{life}.db", life, 0.05, 1.0) for life in (None, 60)]
    assert found[0] != found[1]
    assert sum(found[1]) < sum(found[0])


def test_old_units_are_aged_however_long_new_ones_keep(tmp_path):
    costs = Costs(fixed=0.0, unit=1.0, lost_sale=8.0, holding=0.01)
    found = []
    for place in (0, 59):
        left = tuple(60 if k == place else 0 for k in range(60))
        with create(tmp_path / f"{place}.db", costs=costs, capacity=None, shelf_life=60, lead_time=1) as shop:
            for number in range(40):
                shop.record([Sold("a", day(number), 2 + number % 3, in_stock=True)])
            found.append(shop.decide([Count("a", 60, left=left)], day(40)).advice[0].order)
    assert found[0] > found[1] == 0
