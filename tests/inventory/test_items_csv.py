"""items.csv and calendar.csv: what is read, and what is refused with its line."""

from datetime import date

import pytest

from driftmdp.inventory import Count, ItemSettings, Shop, Sold, SpecialDay, read_calendar, read_items
from tests.inventory.shops import create, day, lines, periods_learned, refused, state, unchanged

CHRISTMAS = date(2026, 12, 25).toordinal()


# ---- items.csv


def test_all_columns(file):
    header = "sku,capacity,fixed_cost,unit_cost,lost_sale,holding,pack,minimum,lead_time,order_days,period,group"
    (item,) = read_items(file(f'{header}\n=A,none,1,2,3,0.5,6,12,7,"Thu, mon",day,tea\n')).items
    assert item.sku == "=A"
    assert item.values == {
        "capacity": "none",
        "fixed_cost": 1.0,
        "unit_cost": 2.0,
        "lost_sale": 3.0,
        "holding": 0.5,
        "pack": 6,
        "minimum": 12,
        "lead_time": 7,
        "order_days": "mon,thu",
        "period": "day",
        "group": "tea",
    }
    assert item.source.endswith("line 2")


def test_a_lot_is_a_pack_and_any_column_may_be_the_group(file):
    found = read_items(file("sku,Lot,department,color\nA,6,30,red\nB,,31,\n"), group="department")
    assert [item.values for item in found.items] == [{"pack": 6, "group": "30"}, {"pack": None, "group": "31"}]
    assert found.remarks == ("Columns of file.csv that are not used: color.",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sku,pack\nA,0\n", "line 2: pack must be at least 1; got 0"),
        ("sku,capacity\nA,0\n", "line 2: capacity must be at least 1"),
        ("sku,capacity\nA,many\n", "line 2: capacity must be a whole number; got 'many'"),
        ("sku,lead_time\nA,61\n", "line 2: lead_time must be at most 60; got 61"),
        ("sku,order_days\nA,mon\nB,munday\n", "line 3: order_days must be weekdays such as mon,thu; got 'munday'"),
        ("sku,period\nA,month\n", "line 2: period must be day or week; got 'month'"),
        ("sku,service\nA,95\n", "line 2: service must lie between 0 and 1"),
        ("sku,service\nA,0\n", "line 2: service must lie between 0 and 1"),
        ("sku,service_measure\nA,days\n", "line 2: service_measure must be units or periods"),
        ("sku,service,lost_sale\nA,0.9,4\n", "line 2: service and lost_sale must not both be given"),
        ("sku,holding\nA,-1\n", "line 2: holding must be a finite number of at least 0"),
        ("sku,holding\nA,1.000\n", "line 2: holding must be a finite number of at least 0 with one meaning"),
        ("sku,pack\nA,1\nA,1\n", "line 3: A stands on line 2 already"),
        ("sku,pack,lot\nA,1,1\n", "must have one column 'pack'; it has"),
        ('sku,unit_cost\nA,"0,5"\nB,0.5\n', "line 2: unit_cost must have a decimal point, as 0.5 has; got '0,5'"),
        ("name,pack\nA,1\n", "must have a column 'sku'; its columns are name, pack. Name it so in the header."),
        ("sku,pack\n", "must have lines below its header"),
    ],
)
def test_mistakes_of_items_are_one_sentence_with_the_line(file, text, said):
    with refused(said):
        read_items(file(text))


def test_a_group_that_is_no_column_is_refused(file):
    with refused("must have a column 'departement'; its columns are sku, department. Did you mean 'department'?"):
        read_items(file("sku,department\nA,1\n"), group="departement")


def settings(sku, **values):
    return ItemSettings(sku, values, "items.csv, line 2")


def test_items_differ_from_the_shop_in_what_they_say(path):
    with create(path, lead_time=1) as shop:
        own = [settings("A", pack=4, lead_time=3, group="tea"), settings("Z", capacity="none")]
        shop.record([Sold("A", day(0), 1, stock=5), Sold("B", day(0), 1, stock=5)], items=own)
        assert (shop.terms_of("A").pack, shop.terms_of("A").lead_time, shop.terms_of("A").group) == (4, 3, "tea")
        assert (shop.terms_of("B").pack, shop.terms_of("B").lead_time) == (1, 1)
        assert shop.skus == ("A", "B")
        told = "Settings are kept for items that were never counted or sold: Z."
        assert told in shop.decide([Count("A", 4)], day(1), items=own).remarks
        shop.decide([Count("Z", 3)], day(1))  # its settings were kept until it was counted
        assert shop.terms_of("Z").capacity is None
        assert shop.verify()
    with Shop(path) as again:
        assert again.terms_of("A").pack == 4
        assert again.verify()


def test_giving_the_same_file_again_writes_nothing(path):
    own, special = [settings("A", pack=4)], [SpecialDay(CHRISTMAS, "closed")]
    with create(path) as shop:
        shop.record([Sold("A", day(0), 1, stock=5)], items=own, calendar=special)
        before = shop._log.number, state(shop)
        shop.record([Sold("A", day(0), 1, stock=5)], items=own, calendar=special)
        assert (shop._log.number, state(shop)) == before
        shop.record([], items=[settings("A", pack=None)])
        assert shop._log.number == before[0] + 1
        assert shop.terms_of("A").pack == 1
        assert shop.verify()


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (settings("A", pack=11), "items.csv, line 2: pack must be at most the capacity of 10; got 11"),
        (settings("A", capacity=5, minimum=6), "items.csv, line 2: minimum must be at most the capacity of 5"),
        (settings("A", period="week", order_days="mon"), "items.csv, line 2: order_days must be every n"),
        (
            settings("A", period="week", order_days="every 2 from 2026-01-06"),
            "items.csv, line 2: order_days must be counted from a Monday where a period is a week; got every 2",
        ),
    ],
)
def test_settings_that_do_not_fit_the_shop_are_refused_with_their_line(shop, own, said):
    sold = [Sold("A", day(0), 1, stock=5)]
    unchanged(shop, lambda: shop.record(sold, items=[own]), said)
    unchanged(shop, lambda: shop.decide([Count("A", 3)], day(0), items=[own]), said)


@pytest.mark.parametrize(
    ("sku", "values", "said"),
    [
        ("A", {"pck": 3}, "got 'pck'. Did you mean 'pack'?"),
        ("A", {"service": 0.9, "lost_sale": 3.0}, "must not have both service and lost_sale"),
        ("A", {"order_days": "wensday"}, "order_days must be weekdays such as mon,thu; got 'wensday'"),
        ("A", {"group": " tea"}, "group must be a name"),
        ("", {}, "sku must be a name"),
        (7, {}, "sku must be a name"),
    ],
)
def test_settings_made_in_python_are_checked_as_a_file_is(sku, values, said):
    with refused(said):
        ItemSettings(sku, values)


def test_what_is_refused_leaves_no_settings_behind(shop):
    shop.record([Sold("A", day(0), 1, stock=5)])
    act = lambda: shop.record([Sold("A", day(0), 2)], items=[settings("A", pack=4)])  # noqa: E731
    unchanged(shop, act, "is recorded with 1 sold")
    assert shop.terms_of("A").pack == 1


def test_an_item_with_records_keeps_its_period(shop):
    shop.record([Sold("A", day(0), 1, stock=5)])
    unchanged(shop, lambda: shop.record([], items=[settings("A", period="week")]), "A must keep its period, a day")


@pytest.mark.parametrize("own", [{"group": "tea"}, {"capacity": 40}])
def test_new_terms_are_learned_as_if_they_had_been_so_from_the_start(path, tmp_path, own):
    sold = [Sold(sku, day(n), (n + len(sku)) % 3, stock=5) for n in range(5) for sku in ("A", "BB")]
    with create(path) as one, create(tmp_path / "other.db") as other:
        one.record(sold)
        one.record([], items=[settings("A", **own)])
        other.record(sold, items=[settings("A", **own)])
        assert one._states.engine.as_bytes() == other._states.engine.as_bytes()
        assert one.verify()


# ---- calendar.csv


def test_special_days(file):
    found = read_calendar(file("date,name,sku,factor\n2026-12-25,Closed,,\n2026-12-01,promo,A,1.5\n"))
    assert found == (SpecialDay(CHRISTMAS, "closed"), SpecialDay(CHRISTMAS - 24, "promo", "A", factor=1.5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "date,name,factor\n2026-12-25,a,0\n",
            "line 2: factor must be above 0, and a day without demand has the name",
        ),
        ("date,name,factor\n2026-12-25,a,-1\n", "line 2: factor must be a number above 0, such as 2 or 0.5; got"),
        ("date,name,factor\n2026-12-25,a,x\n", "line 2: factor must be a number above 0"),
        ("date,name\n25.13.2026,a\n", "line 2: date must be year-month-day"),
        ("date,name\n2026-12-25,\n", "line 2: name must be a name"),
        ("date,name\n2026-12-25,a\n2026-12-25,a\n", "line 3: a stands on line 2 already, for the same day"),
        ("date,name,sku,group\n2026-12-25,a,A,tea\n", "line 2: sku and group must not both be given"),
        ("date,name,factor\n2026-12-25,closed,2\n", "line 2: factor must be empty on a day that is closed"),
        ("date\n2026-12-25\n", "must have a column 'name'"),
        ("date,name\n", "must have lines below its header"),
    ],
)
def test_mistakes_of_a_calendar_are_one_sentence_with_the_line(file, text, said):
    with refused(said):
        read_calendar(file(text))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (SpecialDay(CHRISTMAS, "a", factor=0.0), "factor must be above 0"),
        (SpecialDay(CHRISTMAS, "a", factor=-1.0), "factor must be above 0"),
        (SpecialDay(CHRISTMAS, "a", factor=float("nan")), "factor must be a finite number"),
        (SpecialDay(CHRISTMAS, "closed", factor=2.0), "None on a day that is closed"),
        (SpecialDay(CHRISTMAS, ""), "A special day must have a name"),
        (SpecialDay(CHRISTMAS, "a", "A", "tea"), "a sku or a group or neither"),
        (SpecialDay(date(2026, 12, 25), "a"), "day of a special day must be a whole number"),
        (SpecialDay(25, "a"), "day of a special day must be"),
        ((CHRISTMAS, "a"), "calendar must have lines SpecialDay"),
    ],
)
def test_special_days_made_in_python_are_checked_as_a_file_is(shop, line, said):
    unchanged(shop, lambda: shop.record([Sold("A", day(0), 1, stock=5)], calendar=[line]), said)


def test_nothing_is_ordered_or_learned_when_the_shop_is_closed(path):
    with create(path, closed_days="sun") as shop:
        shop.decide([Count("A", 0)], day(0), calendar=[SpecialDay(day(1).toordinal(), "closed")])
        shop.record([Sold("A", day(0), 0)])
        before = periods_learned(shop, "A")
        for n in (1, 6):
            (advice,) = shop.decide([Count("A", 0)], day(n)).advice
            assert (advice.order, advice.method) == (0, "closed")
            shop.record([Sold("A", day(n), 0, stock=5)], correct=True)
        assert periods_learned(shop, "A") == before
        receipt = shop.record([Sold("A", day(13), 2, stock=5)])
        assert receipt.remarks == ("Sold on days on which the shop is closed, and learned from: A on 2026-11-29.",)
        assert periods_learned(shop, "A") == before + 1
        assert shop.verify()


def test_special_days_of_unknown_items_and_groups_are_told(shop):
    names = ("A", ""), ("", "tea"), ("a", ""), ("", "coffee"), ("", "")
    special = [SpecialDay(CHRISTMAS, "promo", sku, group) for sku, group in names]
    receipt = shop.record([Sold("A", day(0), 1, stock=5)], items=[settings("A", group="tea")], calendar=special)
    assert receipt.remarks == ("Special days of what the shop does not have: a; group coffee.",)


def test_closed_days_are_no_days_without_records(path):
    with create(path, closed_days="sat,sun") as shop:
        shop.record([Sold("A", day(4), 1, stock=5)])
        assert shop.decide([Count("A", 4)], day(7)).remarks == ()
        assert len(lines(shop)) == 2


def test_a_calendar_that_comes_later_is_learned_as_if_it_had_come_first(path, tmp_path):
    sold = [Sold("A", day(n), n % 3, stock=5) for n in range(6)]
    special = [SpecialDay(day(3).toordinal(), "closed"), SpecialDay(day(4).toordinal(), "sale")]
    with create(path) as one, create(tmp_path / "other.db") as other:
        one.record(sold)
        one.record([], calendar=special)
        other.record(sold, calendar=special)
        assert one._states.engine.as_bytes() == other._states.engine.as_bytes()
        assert one.verify()


# ---- in the history


def test_the_history_has_settings_and_special_days(path):
    first = [settings("A", pack=4, group="tea", capacity=None), settings("B", lead_time=2)]
    monday = day(0).toordinal()
    special = [
        SpecialDay(monday, "closed"),
        SpecialDay(monday + 1, "promo", "A", factor=1.5),
        SpecialDay(monday + 2, "promo", group="tea"),
        SpecialDay(monday + 2, "promo", "B", factor=2.0),
    ]
    with create(path) as shop:
        shop.record([Sold("A", day(4), 1, stock=5), Sold("B", day(4), 1, stock=5)], items=first, calendar=special)
        shop.record([], items=[settings("A", pack=None, minimum=3, group="tea")])
        found = [(e.kind, e.day, e.sku, e.details) for e in shop.history("A")]
        assert found == [
            ("items", None, "A", "pack 4, group tea"),
            ("calendar", day(0), "", "closed"),
            ("calendar", day(1), "A", "promo, factor 1.5"),
            ("calendar", day(2), "", "promo of group tea, factor learned"),
            ("sold", day(4), "A", None),
            ("items", None, "A", "pack as the shop, minimum 3"),
        ]
        assert [e.sku for e in shop.history() if e.kind == "items"] == ["A", "B", "A"]
        assert len([e for e in shop.history() if e.kind == "calendar"]) == 4


def test_the_command_shows_settings_and_special_days(call, tmp_path):
    (tmp_path / "items.csv").write_text("sku,pack\nA,4\n")
    (tmp_path / "calendar.csv").write_text("date,name\n2026-11-18,promo\n")
    (tmp_path / "sales.csv").write_text("date,sku,units,stock\n2026-11-16,A,1,5\n")
    create(tmp_path / "shop.db").close()
    files = "--items", "items.csv", "--calendar", "calendar.csv"
    assert call("inventory", "record", "shop.db", "sales.csv", *files)[0] == 0
    code, out, err = call("inventory", "history", "shop.db", "A")
    assert (code, err) == (0, "")
    words = [line.split() for line in out.splitlines()]
    assert words[0][-1] == "details"
    assert (words[1][0], words[1][-2:]) == ("items", ["pack", "4"])
    assert (words[2][:2], words[2][-3:]) == (["2026-11-18", "calendar"], ["promo,", "factor", "learned"])
    assert words[3][:2] == ["2026-11-16", "sold"]
    assert 'calendar,2026-11-18,,,,,,,,,,,,"promo, factor learned"' in call("inventory", "export", "shop.db")[1]
