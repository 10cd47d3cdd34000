"""Deliveries that come late, short or in parts: what is told is the truth of what is on its way."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.inventory import Costs, Count, Delivery, ItemSettings, Shop, Sold, Supplier, events_csv
from driftmdp.inventory.deliveries import follow_orders, open_units
from driftmdp.inventory.delivery_ledger import ROW, DeliveryLedger
from driftmdp.inventory.lead_times import follow_companions, learned_lead_times
from tests.inventory.shops import create, day, lines, orders, state, unchanged
from tests.reference.deliveries import received

LEAD = 2


def order_daily(shop, days, units=4, skus=("A",), first=0):
    """Order so much on each of some days, whatever is advised."""
    for n in range(first, first + days):
        shop.decide([Count(sku, 9) for sku in skus], day(n))
        shop.record([Sold(sku, day(n), 1, ordered=units) for sku in skus])


def half_told(path, told):
    """A shop in which A and B were ordered on one day, and some deliveries told on the third."""
    with create(path, lead_time=LEAD, capacity=None) as shop:
        for sku, units in (("A", 8), ("B", 6)):
            shop.record([Sold(sku, day(0), 0, stock=5, ordered=units), Sold(sku, day(1), 0, stock=5, ordered=0)])
        shop.receive(told)
        shop.record([Sold(sku, day(2), 0, stock=11, ordered=0) for sku in "AB"])
    return Shop(path)


@pytest.mark.parametrize(
    ("told", "still_open"),
    [
        ([Delivery("A", day(2), 8)], {}),
        ([Delivery("A", day(2), 5)], {day(0): 3}),
        ([Delivery("A", day(2), 5, rest="cancelled"), Delivery("B", day(2), 6)], {}),
        ([Delivery("A", day(2), 5), Delivery("B", day(2), 2)], {day(0): 7}),
    ],
)
@pytest.mark.parametrize("into", ["A", "B"])
def test_merged_items_have_what_both_had_open(path, told, still_open, into):
    with half_told(path, told) as shop:
        shop.merge("B" if into == "A" else "A", into)
        assert on_its_way(shop, into, 3) == still_open
        assert shop.verify()


@pytest.fixture
def late(path):
    """A shop with a lead time, in which 4 units of A and B were ordered on each of five days."""
    with create(path, lead_time=LEAD, capacity=None) as shop:
        order_daily(shop, 5, skus=("A", "B"))
        yield shop


def on_its_way(shop, sku, n):
    """What is open of an item in the morning of day n, by order day."""
    states = shop._states
    item = np.array([states.numbers[sku]])
    found = follow_orders(states, item, day(n).toordinal())
    left = zip(found.promises.ordered_on.tolist(), found.promises.left.tolist(), strict=True)
    return {date.fromordinal(when): units for when, units in left if units}


def learned(shop, n):
    """What is learned of the first item's lead times in the morning of day n."""
    first = np.array([0])
    followed = follow_companions(shop._states, day(n).toordinal(), first)
    return learned_lead_times(shop._states, first, followed)[0]


def advice(shop, sku, n, stock=5):
    """Stock, what is coming, and the order."""
    return orders(shop.decide([Count(sku, stock)], day(n)))[sku]


def test_an_order_that_is_not_told_of_is_late_and_still_coming(late):
    assert advice(late, "A", 5)[1] == 4  # ordered on day 4; that of day 3 is on the shelf
    late.receive([Delivery("A", day(6), 0)])
    assert on_its_way(late, "A", 6) == {day(4): 4}
    assert on_its_way(late, "B", 6) == {}
    found = late.decide([Count("A", 5), Count("B", 5)], day(6))
    assert any(f"Overdue: A, 4 units ordered {day(4)}" in said for said in found.remarks)
    assert orders(found)["A"][1] > orders(found)["B"][1]


def test_parts_add_up_to_the_whole(late):
    late.receive([Delivery("A", day(6), 1)])
    late.receive([Delivery("A", day(7), 2)])
    assert on_its_way(late, "A", 8)[day(4)] == 1
    late.receive([Delivery("A", day(8), 1)])
    assert on_its_way(late, "A", 9) == {}
    assert late.verify()


def test_a_rest_that_is_cancelled_does_not_come(late):
    late.receive([Delivery("A", day(6), 3, rest="cancelled")])
    assert on_its_way(late, "A", 9) == {}
    late.decide([Count("A", 5)], day(7))
    assert late.explain("A").deliveries.short == 1


def test_a_named_order_is_filled_first(late):
    late.receive([Delivery("A", day(5), 0)])  # due: the order of day 3
    late.receive([Delivery("A", day(6), 4, ordered_on=day(4))])
    assert on_its_way(late, "A", 6) == {day(3): 4}


def test_an_expected_day_takes_the_place_of_the_promise(late):
    late.receive([Delivery("A", day(6), 0, expected=day(9))])
    found = late.decide([Count("A", 5)], day(7))
    assert not [said for said in found.remarks if "Overdue" in said]
    assert late.explain("A").coming[1] == 4
    assert late.explain("A").overdue == ()


def test_expected_stock_follows_from_what_was_received(late):
    late.receive([Delivery("A", day(5), 1), Delivery("B", day(5), 4)])
    late.decide([Count("A", 9), Count("B", 12)], day(5))
    expected = {
        event.sku: event.expected for event in late.history() if event.kind == "decided" and event.day == day(5)
    }
    assert expected == {"A": 8 + 1, "B": 8 + 4}


def test_more_than_is_open_is_taken_with_a_remark(late):
    receipt = late.receive([Delivery("A", day(6), 9)])
    assert f"More came than was open, and is taken as it is: A: 5 more on {day(6)}." in receipt.remarks
    late.decide([Count("A", 17)], day(6))
    event = [event for event in late.history("A") if event.kind == "decided"][-1]
    assert (
        event.expected == 8 + 9 + 4 - 0
    )  # the last evening, what came, and the order of day 3, which came on time


def test_telling_again_changes_nothing(late):
    told = [Delivery("A", day(6), 3), Delivery("B", day(6), 4)]
    assert late.receive(told).recorded == 2
    before = state(late), lines(late)
    assert late.receive(told).repeated == 2
    assert (state(late), lines(late)) == before
    unchanged(late, lambda: late.receive([Delivery("A", day(6), 2)]), "3 received", "--correct")
    assert late.receive([Delivery("A", day(6), 2)], correct=True).corrected == 1
    assert on_its_way(late, "A", 7) == {day(4): 2}


def test_withdrawn_deliveries_were_never_told(late, tmp_path):
    before, was = state(late), advice(late, "A", 6)
    late.withdraw(day(6), orders=True)
    before = state(late)
    late.receive([Delivery("A", day(6), 1), Delivery("A", day(7), 1)])
    assert late.withdraw(day(6), ["A"], deliveries=True).deliveries == 1
    assert late.withdraw(day(6), ["A"], deliveries=True).deliveries == 0
    assert on_its_way(late, "A", 7) == {day(4): 3}
    assert late.withdraw(day(7)).deliveries == 1  # nothing else is recorded of that day
    assert state(late) == before
    assert advice(late, "A", 6) == was
    assert late.verify()
    unchanged(late, lambda: late.withdraw(day(3), deliveries=True), "no deliveries of")


def test_history_and_export_show_it(late):
    late.receive([Delivery("A", day(6), 3, ordered_on=day(4), rest="cancelled"), Delivery("B", day(6), 0)])
    told = [event for event in late.history() if event.kind == "received"]
    assert [(event.sku, event.received, event.ordered_on) for event in told] == [("A", 3, day(4)), ("B", 0, None)]
    assert told[0].details == f"of the order of {day(4)}, the rest is cancelled"
    assert "received" in events_csv(late.history())


def test_a_supplier_s_delivery_says_what_did_not_come(path):
    with create(path, lead_time=LEAD, capacity=None) as shop:
        items = [ItemSettings(sku, {"supplier": "Nord"}) for sku in "AB"]
        shop.record([Sold(sku, day(0), 1, stock=5) for sku in "ABC"], items=items, suppliers=[Supplier("Nord", {})])
        order_daily(shop, 3, skus="ABC", first=1)
        receipt = shop.receive([Delivery("A", day(3), 4)], supplier="Nord")
        assert receipt.recorded == 2
        assert on_its_way(shop, "B", 3) == {day(1): 4, day(2): 4}
        assert on_its_way(shop, "C", 3) == {}
        assert shop.receive([Delivery("A", day(3), 4)], supplier="Nord").repeated == 2
        assert shop.receive([], supplier="Nord", day=day(4)).recorded == 2
        unchanged(shop, lambda: shop.receive([Delivery("C", day(4), 1)], supplier="Nord"), "C has no supplier")
        unchanged(shop, lambda: shop.receive([], supplier="Sud"), "No item of the shop has", kind=UnknownNameError)


@pytest.mark.parametrize("arrived", [1, 4, 6])
def test_a_delivery_note_has_what_was_due_on_closed_days_or_in_its_week(path, arrived):
    """Day 7 is a Monday. What B ordered for the closed Sunday, or in weeks for this Monday, did not come."""
    daily, weekly = {"supplier": "Nord"}, {"supplier": "Nord", "period": "week", "lead_time": 1}
    items = [ItemSettings("A", daily), ItemSettings("B", daily), ItemSettings("W", weekly)]
    suppliers = [Supplier("Nord", {})]
    with create(path, lead_time=1, capacity=None, closed_days="sun") as shop:
        shop.record([Sold(sku, day(0), 1, stock=5) for sku in "ABW"], items=items, suppliers=suppliers)
        order_daily(shop, 5, skus="AB", units=0, first=1)
        shop.record([Sold("W", day(0), 1, stock=5, ordered=4)], correct=True)
        shop.record([Sold("W", day(7), 1, stock=5, ordered=4)])
        shop.record([Sold("B", day(5), 1, ordered=4)], correct=True)  # due on Sunday
        for _ in range(2):
            shop.receive([Delivery("A", day(7), 1)], supplier="Nord")
        assert on_its_way(shop, "B", 8) == {day(5): 4}
        shop.withdraw(day(7), ["W"], deliveries=True)
        assert on_its_way(shop, "W", 14) == {}
        for repeated in range(2):
            receipt = shop.receive([], supplier="Nord", day=day(7 + arrived))
            assert (receipt.recorded, receipt.repeated) == ((0, 2) if repeated else (2, 0))
        assert on_its_way(shop, "W", 14)[day(0)] == 4
        assert shop.verify()


def test_an_expected_day_far_away_is_clipped(late):
    """Earlier versions recorded it."""
    late.receive([Delivery("A", day(6), 1, expected=day(60))])
    late._states.deliveries.rows["expected"][late._states.deliveries.rows["expected"] > 0] = day(9000).toordinal()
    states = late._states
    coming, overdue = open_units(follow_orders(states, np.array([states.numbers["A"]]), day(7).toordinal()))
    assert (coming.sum(), coming.shape[1], overdue.sum()) == (3, 120, 0)


def test_five_beginners_mistakes(late, path):
    """Each has one clear sentence, and nothing is done."""
    mistakes = [
        (lambda: late.receive([Delivery("C", day(6), 1)]), "The shop has no item 'C'", UnknownNameError),
        (
            lambda: late.receive([Delivery("A", day(6), 1, ordered_on=day(-3))]),
            "must have an order of",
            InvalidInputError,
        ),
        (lambda: Delivery("A", day(6), 1, ordered_on=day(6)), "must be before", InvalidInputError),
        (lambda: Delivery("A", day(6), 1, expected=day(6)), "must be after", InvalidInputError),
        (lambda: Delivery("A", day(6), 1, rest="cancelled", expected=day(9)), "must be empty", InvalidInputError),
        (
            lambda: late.receive([Delivery("A", day(6), 1, expected=day(69))]),
            f"must be at most 62 days after {day(6)}",
            InvalidInputError,
        ),
    ]
    for act, said, kind in mistakes:
        unchanged(late, act, said, "Nothing was done", kind=kind)
    with create(path.with_name("now.db")) as shop:
        shop.record([Sold("A", day(0), 1, stock=5)])
        unchanged(shop, lambda: shop.receive([Delivery("A", day(1), 1)]), "must have a lead time", "`ordered`")


def test_a_delivery_comes_before_the_first_order_is_known(late):
    """The order may be recorded later: the told units then belong to it."""
    late.receive([Delivery("A", day(9), 4)])
    assert late.verify()


def test_weeks_begin_with_the_monday_after_the_delivery(path):
    with create(path, lead_time=1, capacity=None, period="week") as shop:
        for week in range(3):
            shop.decide([Count("A", 9)], day(7 * week))
            shop.record([Sold("A", day(7 * week), 1, ordered=4)])
        shop.receive([Delivery("A", day(21), 3), Delivery("A", day(23), 1)])
        assert on_its_way(shop, "A", 21) == {day(14): 1}
        assert on_its_way(shop, "A", 28) == {}
        assert learned(shop, 28).mean_delay == pytest.approx(0.25)


def test_what_is_due_on_a_closed_day_is_on_time_on_the_next_open_one(path):
    with create(path, lead_time=1, capacity=None, closed_days="sun") as shop:
        order_daily(shop, 6)  # Monday to Saturday
        for n in range(1, 6):
            shop.receive([Delivery("A", day(n), 4)])
        shop.receive([Delivery("A", day(7), 4)])
        order_daily(shop, 1, first=7)
        assert shop.decide([Count("A", 9)], day(8)).remarks[-1].startswith("Overdue: A, 4")
        found = learned(shop, 7)
        assert (found.order_days, found.late, found.mean_delay) == (6, 0.0, 0.0)


def test_a_delivery_in_the_future_must_be_confirmed(late, path, file, call):
    delivered = file("date,sku,units\n2199-11-22,A,4\n")
    code, _, err = call("inventory", "receive", path, delivered)
    assert (code, "In the future: 2199-11-22" in err) == (2, True), err
    assert call("inventory", "receive", path, delivered, "--yes")[0] == 0


def test_merged_and_renamed_items_have_their_deliveries(late):
    late.receive([Delivery("A", day(6), 1), Delivery("A", day(7), 1), Delivery("B", day(6), 2)])
    late.rename("A", "tea")
    receipt = late.receive([Delivery("A", day(8), 1)])
    assert receipt.remarks[0] == "Taken under their present names: A as tea."
    assert on_its_way(late, "tea", 9) == {day(4): 1}
    late.merge("B", "tea")
    assert on_its_way(late, "tea", 9) == {day(4): 8 - 3 - 2}
    assert late.verify()


def test_the_command(late, path, file, call):
    late.close()
    delivered = file("date;sku;units;ordered_on;rest\n22.11.2026;A;3;20.11.2026;cancelled\n22.11.2026;B;0;;\n")
    code, _, told = call("inventory", "receive", path, delivered)
    assert (code, told.splitlines()[-1]) == (0, "2 recorded.")
    assert "dates as dd.mm.yyyy" in told
    assert f"Overdue: B, 4 units ordered {day(4)}" in told
    assert call("inventory", "receive", path, delivered)[2].splitlines()[-1] == "0 recorded, 2 repeated."
    assert "the rest is cancelled" in call("inventory", "history", path, "A")[1]
    told = call("inventory", "withdraw", path, "--date", day(6), "--deliveries", "--sku", "B")[2]
    assert told == f"{day(6)}: withdrew what was told of deliveries of 1 item.\n"


def test_a_list_of_orders_is_a_delivery_file(late, path, file, call):
    """Everything came."""
    late.close()
    ordered = file(f"date,sku,order\n{day(4)},A,4\n{day(4)},B,0\n")
    columns = "--column", "units=order", "--column", "ordered_on=date"
    assert call("inventory", "receive", path, ordered, "--date", day(6), *columns)[2] == (
        f"Overdue: B, 4 units ordered {day(4)}. Record what arrived with `receive`.\n2 recorded.\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("date,sku,units\n2026-11-22,A,-3\n", "units must"),
        ("date,sku,units,rest\n2026-11-22,A,3,lost\n", "rest must be waits or cancelled; got 'lost'"),
        ("date,sku,units\n2026-11-22,A,3\n2026-11-22,A,1\n", "stands on line 2 already; add up"),
        ("sku,units\nA,3\n", "give it with --date"),
        ("date,sku,units\n", "must have lines below its header"),
    ],
)
def test_what_a_file_may_not_say(late, path, file, call, text, said):
    late.close()
    code, _, told = call("inventory", "receive", path, file(text))
    assert (code, told.count("\n")) == (2, 1)
    assert said in told


TOLD = st.lists(
    st.tuples(st.integers(3, 14), st.integers(1, 5), st.integers(0, 9), st.booleans(), st.booleans()), max_size=8
)


def as_lines(told):
    """Lines of A, one per day and order. An order is named by how many days ago it was."""
    found = {}
    for n, ago, units, is_named, is_cancelled in told:
        ordered_on = n - ago if is_named and 0 <= n - ago <= 9 else None
        found[n, ordered_on] = n, ordered_on, units, is_cancelled
    return list(found.values())


@settings(max_examples=60, deadline=None)
@given(TOLD, st.lists(st.integers(0, 6), min_size=10, max_size=10), st.randoms(use_true_random=False))
def test_the_order_of_telling_does_not_matter(tmp_path_factory, told, ordered, rng):
    """And what is open agrees with the reference, whatever is told."""
    told = as_lines(told)
    placed = [(n, n + LEAD, units) for n, units in enumerate(ordered) if units]
    told = [line for line in told if line[1] is None or ordered[line[1]]]
    ways = []
    for _ in range(2):
        path = tmp_path_factory.mktemp("any") / "shop.db"
        with create(path, lead_time=LEAD, capacity=None) as shop:
            shop.record([Sold("A", day(n), 1, stock=9, ordered=units) for n, units in enumerate(ordered)])
            for n, of, units, is_cancelled in told:
                rest = "cancelled" if is_cancelled else "waits"
                shop.receive([Delivery("A", day(n), units, None if of is None else day(of), rest)])
            assert shop.verify()
            ways.append((shop._states.deliveries.as_bytes(), on_its_way(shop, "A", 15)))
            if told:
                left, came, extra = received(placed, told, 15)
                assert ways[-1][1] == {day(when): units for (when, _), units in left.items()}
                cancelled = (
                    sum(units for *_, units in placed) - sum(left.values()) - sum(units for *_, units in came)
                )
                assert sum(units for *_, units in came) + extra == sum(line[2] for line in told)
                assert cancelled >= 0
            with Shop(path) as again:
                assert state(again) == state(shop)
        told = rng.sample(told, len(told))
    assert ways[0][1] == ways[1][1]


def test_a_shop_of_which_nothing_is_told_is_as_before(path, monkeypatch):
    """To the bit: nothing of what is new is looked at."""
    with create(path, lead_time=LEAD, capacity=30) as shop:
        order_daily(shop, 12)
        first = shop.decide([Count("A", 3)], day(12)).advice
    monkeypatch.setattr("driftmdp.inventory.decide.learned_hazards", lambda states, items, orders: None)
    monkeypatch.setattr("driftmdp.inventory.decide.Lateness", lambda hazards, overdue: None)
    with create(path.with_name("b.db"), lead_time=LEAD, capacity=30) as shop:
        order_daily(shop, 12)
        assert shop.decide([Count("A", 3)], day(12)).advice == first
        assert first[0].method == "exact"


def test_what_came_on_time_and_whole_changes_nothing(path):
    """Told or not: the plan is the same, to the bit."""
    found = []
    for name in ("a.db", "b.db"):
        with create(path.with_name(name), lead_time=LEAD, capacity=30) as shop:
            order_daily(shop, 12)
            if name == "b.db":
                shop.receive([Delivery("A", day(n + LEAD), 4, ordered_on=day(n)) for n in range(9)])
                shop.receive([Delivery("A", day(n + LEAD), 4) for n in range(9, 11)])
            found.append(shop.decide([Count("A", 3)], day(12)).advice)
    assert found[0] == found[1]
    assert found[0][0].method == "exact"


def test_an_overdue_item_is_ordered_alike_alone_and_with_others(path):
    """Others with longer lead times have more on their way, and `explain` asks about one item."""
    found = []
    for name, skus in (("a.db", "A"), ("b.db", "AB")):
        with create(path.with_name(name), lead_time=LEAD, capacity=None, costs=Costs(1, 0, 9, 0.1)) as shop:
            order_daily(shop, 1, skus="AB")
            shop.set_terms({"lead_time": 7}, ["B"])
            order_daily(shop, 11, skus="AB", first=1)
            late = [Delivery("A", day(n + LEAD + 3 * (n % 2)), 4, ordered_on=day(n)) for n in range(7)]
            shop.receive([*late, Delivery("B", day(7), 0)])
            advised = shop.decide([Count(sku, 3) for sku in skus], day(12)).advice[0]
            reason = shop.explain("A")
            assert reason.overdue
            assert (reason.order, reason.cost) == (advised.order, pytest.approx(advised.cost))
            found.append(advised)
    assert found[0] == found[1]
    assert found[0].method == "simulated"


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_the_learned_mean_delay_converges(path, delay):
    rng = np.random.default_rng(delay)
    with create(path, lead_time=LEAD, capacity=None) as shop:
        order_daily(shop, 60)
        late = {n: int(rng.choice([0, delay])) for n in range(60)}
        came = [Delivery("A", day(n + LEAD + late[n]), 4, ordered_on=day(n)) for n in range(60)]
        shop.receive(came)
        found = learned(shop, 80)
        assert found.order_days == 60
        assert found.mean_delay == pytest.approx(np.mean(list(late.values())))
        assert found.late == pytest.approx(np.mean([each > 0 for each in late.values()]))


def test_few_late_deliveries_do_not_swing_what_is_believed(late):
    late.receive([Delivery("A", day(9), 4, ordered_on=day(4))])
    hazards = learned(late, 9).hazards
    assert 0.7 < hazards[4] < 1.0
    assert hazards[:4].tolist() == [0.0] * 4


def test_a_count_on_a_closed_weekend_s_eve_says_what_comes_once(path):
    """What is promised for the closed Sunday is due on Monday, also for what the count says of Monday."""
    with create(path, lead_time=3, capacity=None, closed_days="sun") as shop:
        order_daily(shop, 3)
        order_daily(shop, 1, units=11, first=3)
        shop.receive([Delivery("A", day(4), 4)])
        for n in (4, 5):
            shop.decide([Count("A", 9, (None, 11) if n == 5 else ())], day(n))
            shop.record([Sold("A", day(n), 1, ordered=0)])
        assert on_its_way(shop, "A", 7) == {day(2): 4, day(3): 11}
        found = shop.decide([Count("A", 9)], day(7))
        assert orders(found)["A"][1] == 4 + 11
        assert found.remarks[-1].count(" ordered ") == 2


def test_a_count_may_say_that_something_comes_on_the_closed_day_and_after_it(path):
    with create(path, lead_time=3, capacity=None, closed_days="sun") as shop:
        order_daily(shop, 5, units=0)
        shop.receive([Delivery("A", day(4), 0)])
        shop.decide([Count("A", 9, (5, 6))], day(5))
        shop.record([Sold("A", day(5), 1, ordered=0)])
        assert orders(shop.decide([Count("A", 9)], day(7)))["A"][1] == 11


def test_a_supplier_is_known_by_its_name_on_any_day(path):
    with create(path, lead_time=LEAD, capacity=None) as shop:
        order_daily(shop, 3)
        shop.set_terms({"supplier": "Nord"}, ["A"], day(4))
        with Shop(path) as opened:
            opened.receive([Delivery("A", day(4), 4)], supplier="Nord")
        shop.set_terms({"supplier": "Sud"}, ["A"], day(5))
        shop.receive([Delivery("A", day(5), 0)], supplier="Nord")  # ordered there before
        with pytest.raises(UnknownNameError, match=r"has the supplier 'Nrd'\. Did you mean 'Nord'"):
            shop.receive([], supplier="Nrd", day=day(5))


def test_what_was_ordered_with_a_lead_time_can_be_told_without_one(late):
    late.receive([Delivery("A", day(5), 0)])
    late.set_terms({"lead_time": 0}, ["A"], day(5))
    late.receive([Delivery("A", day(6), 8)])
    assert on_its_way(late, "A", 7) == {}
    late.record([Sold("A", day(6), 1, stock=9, ordered=3)])
    with pytest.raises(InvalidInputError, match="must have an order"):
        late.receive([Delivery("A", day(7), 3, ordered_on=day(6))])


def test_orders_that_are_followed_with_others_are_as_alone(late):
    late.receive([Delivery("A", day(6), 9), Delivery("B", day(5), 3), Delivery("B", day(7), 2)])
    states, when = late._states, day(8).toordinal()
    both = follow_orders(states, np.arange(2), when)
    for item in range(2):
        alone, mine = follow_orders(states, np.array([item]), when), both.of(np.array([item, 7]))
        assert alone.items.tolist() == mine.items.tolist() == [item]
        for one, other in zip(
            (*alone.promises, *alone.parts, alone.due), (*mine.promises, *mine.parts, mine.due), strict=True
        ):
            assert one.tolist() == other.tolist()


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(0, 3), st.integers(-1, 1), st.integers(0, 9)),
    max_size=12,
)


@given(st.lists(ROWS, max_size=6))
def test_rows_of_deliveries_are_in_order_however_they_are_added(batches):
    ledger, last = DeliveryLedger(1), {}
    for batch in batches:
        rows = np.zeros(len(batch), ROW)
        for place, (item, when, what, key, units) in enumerate(batch):
            rows[place] = item, when, what, key, units, -1, -1
            last[item, when, what, key] = units
        ledger._new.append(rows)
        assert [tuple(row)[:5] for row in ledger.rows.tolist()] == [(*key, last[key]) for key in sorted(last)]


def test_a_named_order_is_found_beside_what_a_count_said(path):
    with create(path, lead_time=LEAD, capacity=None) as shop:
        shop.decide([Count("A", 4, coming=(6,))], day(0))
        shop.record([Sold("A", day(0), 1, ordered=16)])
        shop.receive([Delivery("A", day(1), 6)])
        shop.record([Sold("A", day(1), 1, stock=9, ordered=0)])
        assert not any("More" in said for said in shop.receive([Delivery("A", day(2), 16, day(0))]).remarks)
        assert on_its_way(shop, "A", 2) == {}


def test_a_named_order_that_a_count_confirmed_is_found(path):
    with create(path, lead_time=LEAD, capacity=None) as shop:
        shop.record([Sold("A", day(0), 1, stock=9, ordered=7)])
        shop.decide([Count("A", 8, coming=(7,))], day(1))
        shop.record([Sold("A", day(1), 1, ordered=0)])
        assert not any("More" in said for said in shop.receive([Delivery("A", day(2), 7, day(0))]).remarks)
        assert on_its_way(shop, "A", 3) == {}
        shop.decide([Count("A", 14)], day(2))
        assert shop.explain("A").deliveries.short == 0
