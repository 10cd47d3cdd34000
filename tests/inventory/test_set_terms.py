"""Settings that change from a day on: advice, learning, replay, and what does not fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.cli.inventory.changes import SETTING_HELP
from driftmdp.errors import DriftmdpError, InvalidInputError, UnknownNameError
from driftmdp.inventory import Costs, Count, ItemSettings, Shop, ShopTerms, Sold, SpecialDay
from driftmdp.inventory.change_terms import SHOP_SETTINGS
from driftmdp.inventory.items_csv import COLUMNS
from driftmdp.inventory.terms_timeline import TermsTimeline
from tests.inventory.shops import create, day, orders, state, unchanged, work


def at(n):
    return day(n).toordinal()


def test_the_last_written_event_whose_day_has_come_counts():
    timeline = TermsTimeline(ShopTerms(Costs(), 10))
    timeline.add("A", at(5), {"capacity": 30})
    timeline.add("A", at(2), {"capacity": 20, "pack": 2})
    timeline.add("", at(3), {"capacity": 40})
    found = [timeline.terms_on("A", at(n)).capacity for n in (1, 2, 4, 5)]
    assert found == [10, 20, 20, 20]  # written last
    assert [timeline.terms_on("B", at(n)).capacity for n in (2, 3)] == [10, 40]
    timeline.add("A", at(6), {"capacity": None})
    assert [timeline.terms_on("A", at(n)).capacity for n in (5, 6)] == [20, 40]
    assert timeline.terms_on("A", at(6)).pack == 2
    assert timeline.terms_on("B", at(3)) is timeline.terms_on("C", at(9))


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "capacity": st.sampled_from([8, 20, "none"]),
        "pack": st.sampled_from([1, 2]),
        "lead_time": st.integers(0, 3),
        "lost_sale": st.sampled_from([1.0, 4.0]),
    },
)
EVENTS = st.lists(st.tuples(st.sampled_from(["", "A", "B"]), st.integers(0, 9), SETTINGS), max_size=8)


@given(EVENTS, st.integers(0, 12))
def test_the_timeline_is_a_fold_over_the_events(events, n):
    timeline, shop, own = TermsTimeline(ShopTerms(Costs(), 10)), {}, {}
    for name, first, values in events:
        timeline.add(name, at(first), values)
        if first <= n:
            (shop if name == "" else own.setdefault(name, {})).update(values)
    for sku in "AB":
        assert timeline.terms_on(sku, at(n)) == ShopTerms(Costs(), 10).changed(shop).for_item(own.get(sku, {}))
    assert timeline.copy().as_json() == timeline.as_json()


def test_advice_is_by_the_terms_of_its_day(path):
    with create(path, capacity=20) as shop:
        work(shop, 20)
        change = shop.set_terms({"capacity": 2}, ["A"], day(25))
        assert (change.changed, change.special_days) == (1, 0)
        before, after = (orders(shop.decide([Count("A", 0), Count("B", 0)], day(n))) for n in (24, 25))
        assert before["A"][2] > 2 >= after["A"][2]
        assert shop.terms_of("A", day(24)).capacity == 20
        assert shop.terms_of("A", day(25)).capacity == 2
        assert shop.terms_of("B", day(25)).capacity == 20
        assert shop.verify()
        assert shop.explain("A").terms.capacity == 2
    with Shop(path) as shop:
        assert orders(shop.decide([Count("A", 0), Count("B", 0)], day(25))) == after


def test_a_change_from_the_first_day_equals_a_shop_made_so(tmp_path):
    """Live, by replay, and made so: the same beliefs."""
    with create(tmp_path / "a.db", capacity=6) as changed, create(tmp_path / "b.db", capacity=9) as made:
        for shop in (changed, made):
            for n in range(30):
                shop.record([Sold("A", day(n), n % 7, 0, 6), Sold("B", day(n), n % 3, 0, 4)])
        early = changed._states.engine.as_bytes()
        changed.set_terms({"capacity": 9}, first_day=day(0))
        assert changed._states.engine.as_bytes() == made._states.engine.as_bytes() != early
        assert changed.verify()


def test_learning_uses_the_capacity_of_each_day(tmp_path):
    """Whether the change was written before or after the sales, from then on they say the same."""
    with create(tmp_path / "a.db", capacity=6) as first, create(tmp_path / "b.db", capacity=6) as later:
        for shop in (first, later):
            shop.record([Sold("A", day(n), n % 7, 0, 6) for n in range(15)])
        first.set_terms({"capacity": 12}, ["A"], day(15))
        for shop in (first, later):
            for n in range(15, 50):
                shop.record([Sold("A", day(n), n % 7, 0, 6)])
        assert first._states.engine.as_bytes() != later._states.engine.as_bytes()
        later.set_terms({"capacity": 12}, ["A"], day(15))
        assert first._states.engine.as_bytes() == later._states.engine.as_bytes()
        first.record([Sold("A", day(3), 6, 0, 6)], correct=True)
        later.record([Sold("A", day(3), 6, 0, 6)], correct=True)
        assert first._states.engine.as_bytes() == later._states.engine.as_bytes()
        assert first.verify()
        assert later.verify()


def test_to_set_the_same_again_changes_nothing(shop):
    work(shop, 2)
    assert shop.set_terms({"pack": 2, "capacity": 8}, ["A", "B"], day(1)).changed == 2
    before = state(shop), len(list(shop.history()))
    assert shop.set_terms({"pack": 2, "capacity": 8}, ["A", "B"], day(1)).changed == 0
    assert shop.set_terms({"pack": 2}, ["A"], day(5)).changed == 0
    assert (state(shop), len(list(shop.history()))) == before
    assert [(e.kind, e.day, e.details) for e in shop.history("A")][-1] == ("terms", day(1), "pack 2, capacity 8")


def test_the_shops_terms_and_back_to_them(shop):
    work(shop, 2)
    shop.set_terms({"capacity": 4}, ["A"], day(1))
    shop.set_terms({"capacity": 7, "closed_days": "sun", "lead_time": 2}, first_day=day(3))
    terms = shop.terms_of("B", day(3))
    assert (terms.capacity, terms.lead_time, terms.closed_days) == (7, 2, frozenset([6]))
    assert shop.terms_of("A", day(3)).capacity == 4
    shop.set_terms({"capacity": None}, ["A"], day(5))
    assert [shop.terms_of("A", day(n)).capacity for n in (4, 5)] == [4, 7]
    work(shop, 3, first=3)
    assert shop.verify()


def test_settings_of_items_csv_hold_from_the_beginning(shop):
    work(shop, 2)
    shop.set_terms({"capacity": 5}, ["A"], day(3))
    shop.record([Sold("A", day(2), 1, stock=3)], items=[ItemSettings("A", {"capacity": 8, "minimum": 2})])
    assert [shop.terms_of("A", day(n)).capacity for n in (0, 4)] == [8, 8]
    assert shop.verify()


def test_a_group_holds_for_the_whole_past(shop):
    work(shop, 10)
    shop.set_terms({"group": "G", "pack": 2}, ["A"])
    assert shop.terms_of("A", day(0)).group == "G"
    assert shop.terms_of("A", day(0)).pack == 1
    unchanged(shop, lambda: shop.set_terms({"group": "H"}, ["A"], day(3)), "group must hold for the whole past")
    assert shop.verify()


def test_what_does_not_fit_is_refused(shop):
    work(shop, 2)
    shop.set_terms({"pack": 6}, ["A"], day(9))
    unchanged(shop, lambda: shop.set_terms({"capacity": 5}, first_day=day(3)), "A, from", str(day(9)), "pack")
    unchanged(shop, lambda: shop.set_terms({"capacity": 5}, ["A"], day(3)), "pack must be at most")
    unchanged(shop, lambda: shop.set_terms({"colour": 5}, ["A"]), "colour")
    unchanged(shop, lambda: shop.set_terms({"colour": 5}), "colour")
    unchanged(shop, lambda: shop.set_terms({"group": "G"}), "group")
    unchanged(shop, lambda: shop.set_terms({"capacity": None}), "capacity of the shop must have a value")
    unchanged(shop, lambda: shop.set_terms({"period": "week"}, ["A"]), "keep its period")
    unchanged(shop, lambda: shop.set_terms({"order_days": "someday"}), "order_days must")
    unchanged(shop, lambda: shop.set_terms({"service": 0.9, "lost_sale": 3.0}), "both")
    unchanged(shop, lambda: shop.set_terms({"pack": 2}, ["Z"]), "no item 'Z'", kind=UnknownNameError)


def test_a_special_day_is_taken_back(shop, tmp_path):
    with create(tmp_path / "other.db") as other:
        for each in (shop, other):
            work(each, 10)
        lines = [SpecialDay(at(3), "closed"), SpecialDay(at(4), "sale", "A")]
        assert shop.set_terms({}, calendar=lines).special_days == 2
        assert shop.set_terms({}, calendar=lines).special_days == 0
        assert shop.set_terms({}, ["A"], forgotten=[day(3)]).special_days == 0
        assert shop.set_terms({}, forgotten=[day(3), day(4)]).special_days == 2
        assert shop.set_terms({}, forgotten=[day(3)]).special_days == 0
        assert shop._states.engine.as_bytes() == other._states.engine.as_bytes()
        assert "taken back" in [*shop.history("A")][-1].details
        assert shop.verify()


def test_each_option_says_what_it_means():
    assert SETTING_HELP.keys() == (COLUMNS | SHOP_SETTINGS).keys()
    assert len({*SETTING_HELP.values()}) == len(SETTING_HELP)


def test_the_command(shop, path, call, file):
    work(shop, 2)
    shop.close()
    words = "inventory", "set", path, "--from", day(1)
    assert call(*words, "--sku", "A", "--capacity", "8") == (0, "", f"From {day(1)}: capacity 8 for 1 item.\n")
    assert call(*words, "--sku", "A", "--capacity", "8") == (0, "", "The settings are so already.\n")
    assert call(*words, "--unit-cost", "2.5", "--closed-days", "sun")[2] == (
        f"From {day(1)}: unit_cost 2.5, closed_days sun for the shop.\n"
    )
    assert call(*words, "--sku", "A", "--capacity", "shop")[0] == 0
    calendar = file("date,name\n2026-12-25,closed\n")
    assert call("inventory", "set", path, "--calendar", calendar)[2] == "1 special day changed.\n"
    assert call("inventory", "set", path, "--forget-day", "2026-12-25")[2] == "1 special day changed.\n"
    for wrong in (
        ["--capacity", "1.000"],
        ["--order-days", "x"],
        [],
        ["--sku", "Q", "--pack", "2"],
        ["--pack", "shop"],
    ):
        code, _, told = call(*words, *wrong)
        assert (code, told.count("\n")) == (2, 1), told
    with Shop(path) as shop:
        assert shop.verify()


ACTS = st.lists(
    st.tuples(st.sampled_from(["decide", "record", "withdraw", "set", "items"]), st.integers(0, 50), EVENTS),
    max_size=15,
)


@settings(max_examples=25, deadline=None)
@given(ACTS)
def test_any_order_of_commands_replays_to_the_bit(tmp_path_factory, acts):
    path = tmp_path_factory.mktemp("any") / "shop.db"
    with create(path) as shop:
        work(shop, 2)
        for kind, n, events in acts:
            sku = "AB"[n % 2]
            try:
                if kind == "decide":
                    shop.decide([Count(sku, n % 5)], day(n), correct=True)
                elif kind == "record":
                    shop.record([Sold(sku, day(n), n % 4, 0, 5)], correct=True)
                elif kind == "withdraw":
                    shop.withdraw(day(n), orders=n % 3 == 0)
                elif kind == "items":
                    rows = {name: ItemSettings(name, values) for name, _, values in events if name}
                    shop.record([], items=rows.values())
                else:
                    for name, first, values in events:
                        shop.set_terms(values, [name] if name else [], day(first))
            except DriftmdpError as error:
                assert isinstance(error, (InvalidInputError, UnknownNameError))  # noqa: PT017
        assert shop.verify()
        counts = [Count("A", 1), Count("B", 2)]
        advice = shop.decide(counts, day(60)).advice
    with Shop(path) as shop:
        assert shop.decide(counts, day(60)).advice == advice
        assert shop.verify()


@pytest.mark.parametrize("n", [0, 30])
def test_old_settings_stay_the_first(path, n):
    with create(path, capacity=7) as shop:
        work(shop, 1)
        assert shop.terms.capacity == 7
        shop.set_terms({"capacity": 9}, first_day=day(n))
        assert shop.terms.capacity == 7
