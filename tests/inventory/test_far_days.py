"""Days that are mistakes: refused where they can be told from a day of a shop, and otherwise never in the way."""

from datetime import date

import pytest

from driftmdp.inventory import Count, Shop, Sold, explain_in_words, lines
from tests.inventory.shops import day, refused, unchanged

FAR = date(2199, 12, 31)


@pytest.mark.parametrize("far", [date.max, date(2200, 1, 1), date(1969, 12, 31), date.min])
def test_a_day_that_no_shop_has_is_refused(shop, far):
    said = "day must be a datetime.date from 1970 to 2199"
    with refused(said):
        Sold("A", far, 1)
    unchanged(shop, lambda: shop.decide([Count("A", 1)], far), said)


def test_a_day_long_after_the_others_is_remarked_on(shop):
    shop.record([Sold("A", day(-300), 1, stock=9)])
    assert shop.record([Sold("A", day(0), 1, stock=9)]).remarks == ()
    (remark,) = shop.record([Sold("A", day(-800), 1, stock=9)]).remarks
    assert remark == f"More than a year from the day before or after: {day(-800)}."
    (remark,) = shop.record([Sold("A", FAR, 1, stock=9)]).remarks
    assert remark == f"In the future: 2199-12-31. The shop's last day is {day(0)}."


@pytest.mark.parametrize("last", [FAR, date.max])
def test_a_far_day_in_the_log_stops_nothing_for_ever(path, shop, last, monkeypatch):
    # A defect once: 9999-12-31 is taken without remark, and `explain` ends with a ValueError.
    with monkeypatch.context() as patch:
        patch.setattr(lines, "YEARS", range(1, 10_000))  # as in earlier versions
        shop.record([Sold("A", last, 4, stock=9)])
    with Shop(path) as again:
        assert again.verify()
        assert "A\n" in explain_in_words(again, "A")
        with refused(f"A has a later day in the records, {last}", "--correct"):
            again.decide([Count("A", 1)], day(0))
        again.decide([Count("A", 1)], day(0), correct=True)
        for n in range(1, 4):  # and then as if nothing had been
            again.record([Sold("A", day(n - 1), 1)])
            again.decide([Count("A", 1)], day(n))
            assert f"Advice for {day(n)}" in explain_in_words(again, "A")
        assert again.verify()
