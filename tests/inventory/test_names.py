"""Items that are renamed, merged, or not ordered any more."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.errors import DriftmdpError, InvalidInputError, UnknownNameError
from driftmdp.inventory import (
    Count,
    ItemSettings,
    Shop,
    Sold,
    SpecialDay,
    explain_in_words,
    history_csv,
    read_sold,
)
from driftmdp.inventory.joined_days import joined_decisions, joined_sales
from driftmdp.inventory.log_entries import DEMAND, UNKNOWN
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING
from tests.inventory.shops import Oracle, create, day, orders, periods_learned, state, unchanged, work


def engine(shop):
    return shop._states.engine.as_bytes()


# ---- rename


def test_a_renamed_item_is_as_if_it_always_had_the_name(path, tmp_path):
    with create(path) as shop, create(tmp_path / "other.db") as other:
        for each, name in ((shop, "A"), (other, "Z")):
            work(each, 20, (name, "B"))
            each.set_terms({"capacity": 8}, [name], day(5), [SpecialDay(day(9).toordinal(), "sale", name)])
        assert shop.rename("A", "Z")
        assert engine(shop) == engine(other)
        counts = [Count("Z", 1), Count("B", 2)]
        assert orders(shop.decide(counts, day(25))) == orders(other.decide(counts, day(25)))
        assert shop.skus == other.skus == ("Z", "B")
        assert shop.terms_of("Z", day(6)).capacity == 8
        assert history_csv(shop.history()) == history_csv(other.history())
        assert shop.verify()
    with Shop(path) as shop:
        assert shop.verify()
        assert shop.skus == ("Z", "B")


def test_the_old_name_still_stands_for_the_item(shop):
    work(shop, 3)
    shop.rename("A", "Z")
    decision = shop.decide([Count("A", 2), Count("B", 2)], day(3), items=[ItemSettings("A", {"pack": 2})])
    assert [advice.sku for advice in decision.advice] == ["Z", "B"]
    assert decision.remarks[0] == "Taken under their present names: A as Z."
    assert shop.decide([Count("Z", 2), Count("B", 2)], day(3)).repeated == 2
    receipt = shop.record([Sold("A", day(3), 1)], calendar=[SpecialDay(day(8).toordinal(), "sale", "A")])
    assert receipt.remarks == ("Taken under their present names: A as Z.",)
    assert shop.terms_of("A").pack == 2
    assert shop.explain("A").sku == "Z"
    assert explain_in_words(shop, "A").startswith("Z")
    assert shop.forecast(["A"]).skus == ("Z",)
    assert len(shop.sales_of("A").units) == 4
    assert list(shop.history("A")) == list(shop.history("Z"))
    shop.set_terms({"capacity": 5}, ["A"], day(2))
    assert shop.terms_of("Z", day(2)).capacity == 5
    assert shop.withdraw(day(3), ["A"]).sales == 1
    assert shop.discontinue(["A"]) == 1
    assert shop.verify()
    events = list(shop.history("Z"))
    assert [(e.kind, e.sku, e.details) for e in events if e.kind == "renamed"] == [("renamed", "Z", "was A")]
    assert {e.sku for e in events if e.kind in ("sold", "decided")} == {"Z"}


def test_a_file_with_both_names_adds_up(shop):
    work(shop, 2)
    shop.rename("A", "Z")
    both = [Sold("A", day(2), 2, stock=3), Sold("Z", day(2), 3, stock=4), Sold("B", day(2), 1, stock=2)]
    assert shop.record(both).recorded == 2
    assert [e.sales for e in shop.history("Z") if e.day == day(2)] == [5]
    assert [e.stock for e in shop.history("Z") if e.day == day(2)] == [7]
    assert shop.record(both).repeated == 2
    advice = shop.decide([Count("A", 2), Count("B", 1), Count("Z", 1)], day(3)).advice
    assert {each.sku: each.stock for each in advice} == {"Z": 3, "B": 1}
    assert shop.verify()


def test_renaming_again_and_back(shop):
    work(shop, 3)
    before = engine(shop)
    assert shop.rename("A", "Z")
    n = shop._log.number
    assert not shop.rename("A", "Z")
    assert not shop.rename("Z", "Z")
    assert shop._log.number == n
    assert shop.rename("Z", "Y")
    assert [shop.present_name(name) for name in "AZYB"] == ["Y", "Y", "Y", "B"]
    assert shop.rename("A", "A")
    assert shop.skus == ("A", "B")
    assert engine(shop) == before
    assert shop.verify()


def test_settings_and_special_days_that_waited_for_a_name(shop):
    shop.record([Sold("A", day(n), n % 5, 0, 9) for n in range(30)], items=[ItemSettings("Z", {"capacity": 3})])
    shop.set_terms({}, calendar=[SpecialDay(day(n).toordinal(), "sale", "Z", "", 3.0) for n in (4, 11)])
    shop.rename("A", "Z")
    assert shop.terms_of("Z").capacity == 10  # the item keeps its own
    assert shop.verify()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Q", "Z", "no item 'Q'"),
        ("A", "B", "B must be a name that no other item has. Nothing was done; if both are one item"),
        ("A", "B", "merge SHOP 'A' 'B'"),
        ("A", " Z", "without spaces around; got ' Z'"),
        ("A", "", "1 to 200 characters"),
        ("A", "C", "as D had it before"),
    ],
)
def test_mistakes_in_names(shop, old, new, said):
    work(shop, 2, ("A", "B", "C"))
    shop.rename("C", "D")
    unchanged(shop, lambda: shop.rename(old, new), said, kind=(InvalidInputError, UnknownNameError))


# ---- merge


def test_merged_days_add_up_and_are_learned_from(shop):
    oracle = Oracle()
    for n in range(40):
        mine = [Sold("A", day(n), (3 * n) % 7, 0, 9)] if n % 3 else []
        mine += [Sold("B", day(n), n % 3, 0, 5)] if n % 2 else []
        mine += [Sold("C", day(n), 1, 0, 6)]
        shop.record(mine)
        both = [(each.stock, 0, each.units) for each in mine if each.sku in "AB"]
        if both:
            oracle.daily_sales["B", day(n)] = tuple(map(sum, zip(*both, strict=True)))
        oracle.daily_sales["C", day(n)] = 6, 0, 1
    assert shop.merge("A", "B")
    assert shop.skus == ("C", "B")
    expected = oracle.engine(["B", "C"])
    for place, sku in enumerate(("B", "C")):
        item, at = shop._states.numbers[sku], day(50).toordinal()
        found = shop._states.engine.describe(at, item)
        assert found.periods == expected.describe(at, place).periods
        assert np.isclose(found.level, expected.describe(at, place).level, rtol=0.02)
    assert shop.verify()


def test_a_merged_typo_leaves_the_shop_as_without_it(path, tmp_path):
    """The usual case: a misspelt name for some days."""
    with create(path) as shop, create(tmp_path / "right.db") as right:
        for n in range(60):
            name = "coffe" if n in (50, 52) else "coffee"
            shop.record([Sold(name, day(n), n % 4, 0, 6), Sold("tea", day(n), 2, 0, 6)])
            right.record([Sold("coffee", day(n), n % 4, 0, 6), Sold("tea", day(n), 2, 0, 6)])
        assert shop.merge("coffe", "coffee")
        assert shop.skus == right.skus
        for sku in right.skus:
            found, expected = (each.forecast([sku], 3).mean for each in (shop, right))
            assert (found == expected).all()
            assert periods_learned(shop, sku) == periods_learned(right, sku)
        assert history_csv(shop.history()) == history_csv(right.history())
        assert shop.verify()
    with Shop(path) as shop:
        assert shop.verify()


def test_what_was_on_its_way_comes_to_the_other(path):
    with create(path, lead_time=3, capacity=50) as shop:
        work(shop, 9)
        shop.record([Sold("A", day(9), 1, 7, 2), Sold("B", day(9), 1, 5, 3)])  # 7 and 5 arrive on day 12
        before = shop.decide([Count("A", 1), Count("B", 2)], day(10))
        shop.record([Sold("A", day(10), 0), Sold("B", day(10), 1)])
        shop.merge("A", "B")
        assert shop.decide([Count("B", 3)], day(10)).advice[0].order == sum(a.order for a in before.advice)
        decision = shop.decide([Count("B", 2)], day(11))
        assert decision.advice[0].coming == sum(a.order for a in before.advice) + 12
        shop.record([Sold("B", day(11), 1)])
        assert not [r for r in shop.decide([Count("B", 13)], day(12)).remarks if "differ" in r]  # 1 + 12
        assert shop.verify()


def test_the_advice_of_a_morning_is_still_there_after_a_merge(shop):
    shop.decide([Count("A", 1), Count("B", 2)], day(0))
    before = shop.explain("A").advice
    shop.merge("B", "A")
    assert shop.explain("A").advice == before is not None


def test_later_days_stay_as_written(shop):
    """What is written of the joined item after the merge replaces what was joined."""
    work(shop, 4)
    shop.merge("A", "B")
    joined = [e.sales for e in shop.history("B") if e.kind == "sold" and e.day == day(2)]
    assert joined == [0, 1]
    shop.record([Sold("A", day(2), 3)], correct=True)
    sales = dict(zip(shop.sales_of("B").dates.tolist(), shop.sales_of("B").units.tolist(), strict=True))
    assert sales[day(2)] == 3
    assert sales[day(1)] == 2 + 3
    advice = shop.decide([Count("B", 4)], day(4)).advice
    shop.merge("B", "A")  # they are one: nothing
    assert shop.decide([Count("A", 4)], day(4)).advice == advice
    assert shop.withdraw(day(1), orders=True).sales == 1
    assert day(1) not in shop.sales_of("B").dates.tolist()
    shop.record([Sold("A", day(1), 2, stock=9)])
    assert shop.verify()


def test_merging_again_and_in_chains(path):
    with create(path) as shop:
        work(shop, 6, ("A", "B", "C"))
        shop.set_terms({"capacity": 4, "group": "G"}, ["A"])
        shop.set_terms({"capacity": 7}, ["B"], day(2))
        assert shop.merge("A", "B")
        assert not shop.merge("A", "B")
        assert shop.merge("B", "C")
        assert shop.skus == ("C",)
        assert shop.terms_of("A", day(3)).capacity == 10  # the settings of C hold
        assert [shop.present_name(name) for name in "ABC"] == ["C"] * 3
        total = {n: sum((2 * n + i) % 4 for i in range(3)) for n in range(6)}
        assert shop.sales_of("C").units.tolist() == list(total.values())
        assert shop.verify()
        missing = [r for r in shop.decide([Count("C", 3)], day(7)).remarks if "not counted" in r]
        assert not missing
        assert shop.rename("C", "A")  # the name of one that was merged
        assert shop.skus == ("A",)
        assert shop.sales_of("B").units.tolist() == list(total.values())
        now = state(shop)
        assert shop.verify()
    with Shop(path) as shop:
        assert state(shop) == now
        assert [shop.present_name(name) for name in "ABC"] == ["A"] * 3
        assert shop.set_terms({"capacity": 9}).changed == 1
        assert shop.verify()


def test_exported_sales_of_a_merged_shop_make_the_same_shop(shop, tmp_path, file):
    work(shop, 9)
    shop.record([Sold("A", day(9), 2, stock=2), Sold("B", day(10), 3, in_stock=True)])
    shop.merge("A", "B")
    with create(tmp_path / "new.db") as new:
        new.record(read_sold(file(history_csv(shop.history()))))
        assert new.skus == ("B",)
        assert new.sales_of("B").units.tolist() == shop.sales_of("B").units.tolist()
        found, expected = (
            each._states.engine.describe(day(30).toordinal(), n) for each, n in ((new, 0), (shop, 1))
        )
        assert found == expected


def test_what_cannot_be_merged(shop):
    work(shop, 2)
    shop.record([Sold("W", day(0), 1, stock=2)], items=[ItemSettings("W", {"period": "week"})])
    unchanged(shop, lambda: shop.merge("A", "W"), "must have the same period")
    unchanged(shop, lambda: shop.merge("A", "Q"), "no item 'Q'", kind=UnknownNameError)
    unchanged(shop, lambda: shop.merge("Q", "A"), "no item 'Q'", kind=UnknownNameError)
    assert not shop.merge("A", "A")


def sold(stock, ordered, sales, seen):
    return {"stock": stock, "ordered": ordered, "sales": sales, "seen": seen, "lead_time": 0}


@pytest.mark.parametrize(
    ("gone", "stays", "joined"),
    [
        (sold(5, 0, 5, AT_LEAST), sold(9, 2, 4, EXACT), sold(14, 2, 9, EXACT)),
        (sold(5, 0, 5, AT_LEAST), sold(4, 0, 4, AT_LEAST), sold(9, 0, 9, AT_LEAST)),
        (sold(0, 0, 0, NOTHING), sold(4, 0, 4, AT_LEAST), sold(4, 0, 4, AT_LEAST)),
        (sold(0, 0, 0, NOTHING), sold(0, 0, 0, NOTHING), sold(0, 0, 0, NOTHING)),
        (sold(UNKNOWN, UNKNOWN, 3, EXACT), sold(4, 1, 5, AT_LEAST), sold(UNKNOWN, 1, 8, EXACT)),
        (sold(2, 0, 9, DEMAND), sold(4, 0, 1, EXACT), sold(6, 0, 10, DEMAND)),
        (sold(2**31 - 1, 0, 9, EXACT), sold(4, 0, 1, EXACT), sold(2**31 - 1, 0, 10, EXACT)),
        (None, sold(4, 0, 1, EXACT), sold(4, 0, 1, EXACT)),
        (sold(4, 0, 1, EXACT), None, sold(4, 0, 1, EXACT)),
        (None, None, None),
    ],
)
def test_joined_sales(gone, stays, joined):
    assert joined_sales(gone, stays, None, None) == joined


def test_a_count_without_sales_counts_as_having_sold_none():
    decided = {"stock": 6, "coming": 0, "expected": UNKNOWN, "advice": 4}
    assert joined_sales(None, sold(4, 0, 1, EXACT), decided, None) == sold(10, 4, 1, EXACT)
    assert joined_sales(sold(4, UNKNOWN, 1, EXACT), None, None, decided) == sold(10, 4, 1, EXACT)
    assert joined_sales(None, None, decided, decided) is None


def test_joined_decisions():
    one = np.float32(1.25).view(np.int32).item()
    two = np.float32(2.5).view(np.int32).item()
    first = {"stock": 3, "coming": 4, "expected": 3, "advice": 2, "cost": one, "coming_1": 4, "given_1": UNKNOWN}
    second = {"stock": 1, "coming": 5, "expected": UNKNOWN, "advice": 0, "cost": one, "coming_1": 5, "given_1": 5}
    found = joined_decisions(first | {"until": 7}, second | {"until": UNKNOWN, "method": 1})
    assert found == {
        "stock": 4, "coming": 9, "expected": UNKNOWN, "advice": 2, "cost": two, "coming_1": 9, "given_1": 9,
        "until": UNKNOWN, "method": 1,
    }  # fmt: skip
    assert joined_decisions(first, None) == first
    assert joined_decisions(None, second) == second


# ---- discontinue


def test_a_discontinued_item_is_not_ordered_and_not_missed(path):
    with create(path, capacity=30) as shop:
        work(shop, 20)
        assert shop.discontinue(["A"], day(21)) == 1
        before = orders(shop.decide([Count("A", 0), Count("B", 0)], day(20)))
        assert before["A"][2] > 0
        decision = shop.decide([Count("A", 0), Count("B", 0)], day(21))
        assert orders(decision)["A"][2] == 0 < orders(decision)["B"][2]
        assert decision.advice[0].method == "discontinued"
        shop.record([Sold("A", day(21), 0), Sold("B", day(21), 1)])
        assert not [r for r in shop.decide([Count("B", 0)], day(22)).remarks if "not counted" in r]
        assert "not counted: B" in " ".join(shop.decide([Count("A", 0)], day(23)).remarks)
        assert "No order now: discontinued." in explain_in_words(shop, "A")
        shop.record([Sold("A", day(22), 2, stock=3)])  # what is left may be sold
        assert shop.verify()
        assert shop.discontinue(["A"], day(21)) == 0
        assert shop.discontinue(["A"], day(25), undo=True) == 1
        assert shop.discontinue(["A"], day(25), undo=True) == 0
        assert orders(shop.decide([Count("A", 0)], day(24), correct=True))["A"][2] == 0
        assert orders(shop.decide([Count("A", 0)], day(26)))["A"][2] > 0
        assert [e.details for e in shop.history("A") if e.kind == "terms"] == ["discontinued", "ordered again"]
        assert shop.verify()
    with Shop(path) as shop:
        assert shop.verify()


def test_a_discontinued_item_of_a_supplier_does_not_join(path):
    with create(path, capacity=30) as shop:
        shop.record(
            [Sold(sku, day(n), 3, 0, 9) for n in range(20) for sku in "AB"],
            items=[ItemSettings(sku, {"supplier": "S"}) for sku in "AB"],
        )
        shop.discontinue(["A"], day(20))
        decided = orders(shop.decide([Count("A", 0), Count("B", 0)], day(20)))
        assert decided["A"][2] == 0 < decided["B"][2]


def test_mistakes_of_discontinuing(shop):
    work(shop, 2)
    unchanged(shop, lambda: shop.discontinue(["Q"]), "no item 'Q'", kind=UnknownNameError)
    unchanged(shop, lambda: shop.discontinue(["A", "Q"]), "no item 'Q'", kind=UnknownNameError)
    unchanged(shop, lambda: shop.discontinue(["A"], "2026-11-18"), "must be a datetime.date")
    unchanged(shop, lambda: shop.discontinue(["A"], date(1500, 1, 1)), "from 1970 to 2199")
    assert shop.discontinue(["A"], undo=True) == 0


# ---- any order


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["decide", "record", "withdraw", "rename", "merge", "discontinue", "set"]),
        st.integers(0, 40),
        st.sampled_from("ABCDE"),
        st.sampled_from("ABCDE"),
    ),
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(ACTS)
def test_any_order_of_commands_replays_to_the_bit(tmp_path_factory, acts):
    path = tmp_path_factory.mktemp("any") / "shop.db"
    with create(path, lead_time=2) as shop:
        work(shop, 2, "ABC")
        for kind, n, sku, other in acts:
            try:
                if kind == "decide":
                    shop.decide([Count(sku, n % 5), Count(other, n % 3)], day(n), correct=True)
                elif kind == "record":
                    shop.record([Sold(sku, day(n), n % 4, 0, 5)], correct=True)
                elif kind == "withdraw":
                    shop.withdraw(day(n), orders=n % 3 == 0)
                elif kind == "rename":
                    shop.rename(sku, other)
                elif kind == "merge":
                    shop.merge(sku, other)
                elif kind == "discontinue":
                    shop.discontinue([sku], day(n), undo=n % 2 == 0)
                else:
                    shop.set_terms({"capacity": 5 + n, "group": f"G{n % 2}"}, [sku])
            except DriftmdpError as error:
                assert isinstance(error, (InvalidInputError, UnknownNameError))  # noqa: PT017
        assert shop.verify()
        sales = {sku: shop.sales_of(sku).units.tolist() for sku in shop.skus}
        assert len(set(shop.skus)) == len(shop.skus)
        now = state(shop)
    with Shop(path) as shop:
        assert state(shop) == now
        assert {sku: shop.sales_of(sku).units.tolist() for sku in shop.skus} == sales
        periods = history_csv(shop.history()).count("\n") - 1
        assert periods == sum(map(len, sales.values()))
        for sku in shop.skus:  # what is believed comes from the same days
            item = shop._states.numbers[sku]
            assert shop._states.demand.largest[item] == max(sales[sku], default=0)
