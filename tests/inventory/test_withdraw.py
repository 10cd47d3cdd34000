"""Taking back a day: the shop is then as if it had never been recorded, but for what was advised since."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.inventory import Count, Shop, Sold, history_csv
from tests.inventory.shops import MONDAY, Oracle, beliefs, create, day, orders, state, unchanged, work


def kinds(shop, sku):
    return [(event.kind, event.details) for event in shop.history(sku)]


def test_sales_that_are_withdrawn_are_not_learned_from(shop):
    oracle = Oracle()
    for n in range(40):
        stock, units = 9, (3 * n) % 7
        shop.record([Sold("A", day(n), units, 0, stock), Sold("B", day(n), 1, 0, 5)])
        oracle.daily_sales["A", day(n)] = stock, 0, units
        oracle.daily_sales["B", day(n)] = 5, 0, 1
    for n, skus in ((20, ["A"]), (39, None), (3, ["B", "A"])):
        taken = shop.withdraw(day(n), skus)
        assert (taken.sales, taken.advice) == (len(skus or "AB"), 0)
        for sku in skus or "AB":
            del oracle.daily_sales[sku, day(n)]
        assert oracle.agrees(shop)
        assert shop.verify()


def test_a_day_can_be_recorded_again(shop, tmp_path):
    work(shop, 9)
    shop.withdraw(day(4), ["A"])
    receipt = shop.record([Sold("A", day(4), 3, stock=7)])
    assert receipt.recorded == 1
    assert shop.verify()
    with create(tmp_path / "other.db") as other:
        work(other, 9)
        other.record([Sold("A", day(4), 3, stock=7)], correct=True)
        assert beliefs(other, "A") == beliefs(shop, "A")


def test_to_withdraw_again_changes_nothing(shop):
    work(shop, 3)
    assert shop.withdraw(day(2)).sales == 2
    before, n = state(shop), len(list(shop.history()))
    assert shop.withdraw(day(2)) == shop.withdraw(day(2), ["A"])
    taken = shop.withdraw(day(2))
    assert (taken.sales, taken.advice) == (0, 0)
    assert (state(shop), len(list(shop.history()))) == (before, n)


def test_advice_without_sales_is_withdrawn_with_its_order(path):
    with create(path, lead_time=2) as shop:
        work(shop, 5)
        first = shop.decide([Count("A", 0), Count("B", 0)], day(5))
        assert sum(advice.order for advice in first.advice) > 0
        coming = orders(shop.decide([Count("A", 0), Count("B", 0)], day(6)))
    with create(path.with_name("b.db"), lead_time=2) as shop:
        work(shop, 5)
        shop.decide([Count("A", 0), Count("B", 0)], day(5))
        assert shop.withdraw(day(5), ["A"]).advice == 1
        assert shop._states.last["day"][0] == day(4).toordinal()
        again = shop.decide([Count("A", 0), Count("B", 0)], day(6))
        assert shop.verify()
        assert orders(again)["A"][1] == coming["A"][1] - first.advice[0].order
        assert orders(again)["B"] == coming["B"]


def test_sales_go_first_and_advice_with_orders(shop):
    work(shop, 3)
    assert shop.withdraw(day(2), ["A"], orders=True).advice == 1
    assert kinds(shop, "A")[-1] == ("withdrawn", "sales and advice")
    taken = shop.withdraw(day(2), ["B"])
    assert (taken.sales, taken.advice) == (1, 0)
    last = shop._states.last
    assert last["day"].tolist()[:2] == [day(1).toordinal(), day(2).toordinal()]
    assert (last["sales"][1], last["evening"][1]) == (-1, -1)
    shop.record([Sold("B", day(2), 1)])  # from the count that stands
    taken = shop.withdraw(day(2), ["B"], orders=True)
    assert (taken.sales, taken.advice) == (1, 1)
    assert shop.verify()


def test_later_advice_stays(shop):
    work(shop, 5)
    before = shop.decide([Count("A", 2)], day(6))
    shop.withdraw(day(3))
    assert shop.decide([Count("A", 2)], day(6)).advice == before.advice
    assert shop.verify()


def test_the_last_day_is_that_of_the_log_up_to_then(path):
    """A replay sees later batches, but must not use them."""
    with create(path) as shop:
        work(shop, 3)
        shop.withdraw(day(2), orders=True)
        now = state(shop)
        assert shop._states.last["day"].tolist()[:2] == [day(1).toordinal()] * 2
        shop.decide([Count("A", 3)], day(2))
        shop.record([Sold("A", day(2), 1)])
        assert state(shop) != now
        assert shop.verify()
    with Shop(path) as shop:
        assert shop.verify()


def test_exported_sales_leave_it_out(shop):
    work(shop, 2)
    shop.withdraw(day(1), ["B"])
    lines = history_csv(shop.history()).splitlines()[1:]
    assert [line.split(",")[:2] for line in lines] == [
        [str(day(0)), "A"],
        [str(day(0)), "B"],
        [str(day(1)), "A"],
    ]
    assert len(shop.sales_of("B").units) == 1
    assert kinds(shop, "B")[-1] == ("withdrawn", "sales")
    assert shop.explain("B").advice.day == day(1)
    shop.withdraw(day(1), ["B"], orders=True)
    assert shop.explain("B").advice.day == day(0)


def test_what_is_not_there_is_refused(shop):
    unchanged(shop, lambda: shop.withdraw(day(0)), "no records of", str(MONDAY), kind=InvalidInputError)
    work(shop, 2)
    shop.record([Sold("C", day(0), 1, stock=2)])
    unchanged(shop, lambda: shop.withdraw(day(7)), "The shop has no records of")
    unchanged(shop, lambda: shop.withdraw(day(1), ["A", "C"]), "C has no records of")
    unchanged(shop, lambda: shop.withdraw(day(1), ["Z"]), "no item 'Z'", kind=UnknownNameError)


def test_the_command(shop, path, call):
    work(shop, 3)
    shop.close()
    where = "inventory", "withdraw", path, "--date", day(2)
    assert call(*where, "--sku", "A") == (0, "", f"{day(2)}: withdrew the sales of 1 item.\n")
    code, _, told = call(*where, "--orders")
    assert (code, told) == (0, f"{day(2)}: withdrew the sales of 1 item and the count and advice of 2 items.\n")
    assert call(*where) == (0, "", f"{day(2)}: nothing to withdraw.\n")
    code, _, told = call("inventory", "withdraw", path, "--date", day(5))
    assert (code, told.count("\n")) == (2, 1)
    assert "no records" in told
    assert "withdrawn" in call("inventory", "history", path, "A")[1]
    assert "withdrawn" in call("inventory", "export", path)[1]
    assert str(day(2)) not in call("inventory", "export", path, "--sales")[1]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["decide", "record", "withdraw", "orders"]), st.integers(0, 60), st.sampled_from("AB")
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(ACTS)
def test_any_order_of_commands_replays_to_the_bit(tmp_path_factory, acts):
    path = tmp_path_factory.mktemp("any") / "shop.db"
    oracle = Oracle()
    with create(path) as shop:
        for kind, n, sku in acts:
            try:
                if kind == "decide":
                    shop.decide([Count(sku, n % 5)], day(n), correct=True)
                elif kind == "record":
                    shop.record([Sold(sku, day(n), n % 4, 0, 5)], correct=True)
                    oracle.daily_sales[sku, day(n)] = 5, 0, n % 4
                else:
                    shop.withdraw(day(n), [sku], orders=kind == "orders")
                    oracle.daily_sales.pop((sku, day(n)), None)
            except (InvalidInputError, UnknownNameError):
                pass
        assert shop.verify()
        assert oracle.agrees(shop)


@pytest.mark.parametrize("n", [0, 5, 29])
def test_a_shop_of_weeks_withdraws_by_the_monday(path, n):
    with create(path, period="week") as shop:
        for week in range(30):
            shop.record([Sold("A", day(7 * week), week % 5, 0, 6)])
        assert shop.withdraw(day(7 * n)).sales == 1
        assert shop.verify()
        unchanged(shop, lambda: shop.withdraw(day(7 * n + 1)), "no records")
