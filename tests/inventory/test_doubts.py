"""Doubtful input: days, names and sales, each with what must be found and what must not."""

import io
import sys
from datetime import date

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Count, Doubt, ItemSettings, Shop, Sold, doubts
from driftmdp.inventory.doubts import FUTURE, GAP, NAME, UNITS, YEAR, ShopDays, doubtful_days
from driftmdp.inventory.misspellings import misspellings
from tests.inventory.shops import create, day, unchanged, work

TODAY = date(2026, 11, 18)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that can be set; it shows 2026-11-18."""

    class Clock(date):
        now = TODAY

        @classmethod
        def today(cls):
            return cls.now

    monkeypatch.setattr("driftmdp.inventory.shop.date", Clock)
    return Clock


def at(year, month, day):
    return date(year, month, day).toordinal()


def every(first, last, step=1):
    return list(range(first.toordinal(), last.toordinal() + 1, step))


def kinds(known, new, today=TODAY):
    """The kinds of doubts, and whether they must be confirmed."""
    shop = ShopDays(np.array(sorted(known), np.int64), today.toordinal())
    return {doubt.kind: doubt.must_confirm for doubt in doubtful_days(shop, np.array(sorted(new), np.int64))}


SUMMER = every(date(2026, 5, 1), date(2026, 11, 17))
WEEKS = every(date(2025, 1, 6), date(2026, 11, 16), 7)


@pytest.mark.parametrize(
    ("known", "new", "found"),
    [
        (SUMMER, [at(2026, 11, 18)], {}),
        (SUMMER, [at(2026, 11, 19)], {}),  # today, east of here
        (SUMMER, [at(2026, 11, 22)], {FUTURE: True}),
        (SUMMER, [at(2026, 12, 18)], {FUTURE: True}),  # a month too late
        (SUMMER, [at(2027, 11, 18)], {FUTURE: True}),
        (SUMMER, [at(2062, 11, 18)], {FUTURE: True}),
        (SUMMER, [at(2026, m, 11) for m in (10, 11, 12)], {FUTURE: True}),  # day and month swapped
        ([*SUMMER, at(2026, 12, 1)], [at(2026, 12, 2)], {}),  # ahead of the clock already
        ([*SUMMER, at(2026, 12, 1)], [at(2027, 1, 10)], {}),
        ([*SUMMER, at(2026, 12, 1)], [at(2027, 12, 2)], {FUTURE: True}),
        (WEEKS, [at(2026, 11, 23)], {}),
        (WEEKS, [at(2026, 11, 30)], {FUTURE: True}),
        ([at(2026, 11, 16)], [at(2026, 11, 23)], {}),  # the second week of a new shop
        ([at(2026, 11, 16)], [at(2026, 12, 23)], {FUTURE: True}),
        ([], [at(2026, 11, 18)], {}),
        ([], [at(2026, 11, 20)], {FUTURE: True}),
        ([], every(date(2026, 11, 16), date(2027, 2, 1), 7), {}),  # a history has its own span
        ([], every(date(1999, 1, 1), date(1999, 3, 1)), {}),
    ],
)
def test_days_in_the_future(known, new, found):
    assert kinds(known, new) == found


@pytest.mark.parametrize(
    ("known", "new", "found"),
    [
        (SUMMER, [at(2025, 11, 18)], {YEAR: True}),
        (
            SUMMER,
            [at(2016, 11, 18)],
            {
                YEAR: True,
            },
        ),
        (SUMMER, [at(2025, 11, 17)], {YEAR: True}),  # of a day that is recorded
        (SUMMER, [at(2026, 11, 18), at(2025, 11, 19)], {YEAR: True}),
        (SUMMER, [at(2026, 3, 1)], {}),  # a late day
        (SUMMER, every(date(2025, 11, 1), date(2025, 11, 30)), {}),  # a history that comes late
        (SUMMER, every(date(2024, 5, 1), date(2026, 4, 30)), {}),
        (SUMMER, [at(2020, 3, 1)], {GAP: False}),
        (SUMMER, [at(2026, 7, 1)], {}),
        (every(date(2025, 12, 1), date(2025, 12, 24)), [at(2026, 11, 18)], {}),  # a season that begins again
        (every(date(2025, 11, 10), date(2025, 11, 16)), [at(2026, 11, 18)], {YEAR: False}),  # a yearly fair
        (every(date(2020, 1, 1), date(2020, 2, 28)), [at(2021, 2, 28)], {YEAR: True}),  # whatever the clock shows
        (every(date(2020, 1, 1), date(2020, 2, 28)), [at(2020, 2, 29)], {}),
        (every(date(2020, 1, 1), date(2020, 2, 28)), [at(2020, 8, 1)], {}),
        (every(date(2020, 1, 1), date(2020, 2, 28)), [at(2022, 8, 1)], {GAP: False}),
        (every(date(2026, 12, 1), date(2026, 12, 31)), [at(2026, 1, 1)], {YEAR: True}),  # the new year, forgotten
        ([], [at(2020, 1, 1), at(2024, 1, 1)], {GAP: False}),
    ],
)
def test_years_that_are_off(known, new, found):
    assert kinds(known, new) == found


def test_days_that_are_there_are_no_doubts():
    assert kinds([*SUMMER, at(2062, 1, 1)], [at(2062, 1, 1), at(2026, 11, 17)]) == {}


def test_a_shop_that_walks_ahead_of_the_clock_is_never_asked(path, clock):
    clock.now = day(20)
    asked = []
    with create(path) as shop:
        for n in range(60):
            if n % 7 != 6:
                shop.decide([Count("A", 3)], day(n), confirm=lambda doubt: asked.append(doubt))
                shop.record([Sold("A", day(n), 1)], confirm=lambda doubt: asked.append(doubt))
    assert not asked


# ---- names

KNOWN = ["coffee", "green tea", "A-101", "0815", "85123A", "Mug red L", "rosé", "12O4", "Earl Grey 250g", "milk"]


@pytest.mark.parametrize(
    ("new", "right"),
    [
        ("cofee", "coffee"),
        ("coffees", "coffee"),
        ("Coffee", "coffee"),
        ("cofefe", "coffee"),
        ("greentea", "green tea"),
        ("green  tea", "green tea"),
        ("Green-Tea", "green tea"),
        ("green tee", None),  # a word of three letters
        ("greem tea", "green tea"),
        ("A101", "A-101"),
        ("A-1O1", "A-101"),
        ("A-l01", "A-101"),
        ("A-102", None),
        ("B-101", None),
        ("A-1011", None),
        ("815", "0815"),
        ("815.0", "0815"),
        ("00815", "0815"),
        ("816", None),
        ("85123B", None),
        ("85123a", "85123A"),
        ("Mug red M", None),
        ("Mug blue L", None),
        ("rose", "rosé"),
        ("1204", "12O4"),
        ("Earl Gray 250g", "Earl Grey 250g"),
        ("Earl Grey 500g", None),
        ("Earl Grey", None),
        ("mikl", "milk"),
        ("silk", "milk"),
        ("mlk", "milk"),
        ("mk", None),
        ("tea", None),
        ("=sum", None),
        ("茶", None),
    ],
)
def test_names_that_look_like_others(new, right):
    assert misspellings([new], KNOWN) == ({} if right is None else {new: right})


def test_a_catalogue_has_no_misspellings():
    many = [f"cofee{'x' * n}" for n in range(11)]
    assert misspellings(many, KNOWN) == {}
    assert misspellings(many[:10], KNOWN) == {"cofee": "coffee"}
    assert misspellings([], KNOWN) == misspellings(["cofee"], []) == {}
    assert misspellings([f"new {n}" for n in range(1001)], [f"{n}" for n in range(100_000)]) == {}


def test_a_new_name_like_another(shop):
    asked = []

    def confirm(doubt):
        asked.append(doubt)
        return False

    shop.record([Sold("coffee", day(n), 1, stock=3) for n in range(3)])
    unchanged(
        shop,
        lambda: shop.decide([Count("cofee", 3)], day(3), confirm=confirm),
        "perhaps coffee",
        "Nothing was done",
    )
    unchanged(shop, lambda: shop.record([Sold("cofee", day(3), 3, stock=3)], confirm=confirm), "perhaps coffee")
    sentence = "New, but like a name that the shop has: cofee (perhaps coffee)."
    assert asked[0] == asked[1] == Doubt(NAME, sentence, True, ("cofee",))
    wanted = [ItemSettings("cofee", {"pack": 2})]  # nobody gives settings to a misspelling
    assert len(shop.decide([Count("cofee", 2)], day(3), items=wanted, confirm=confirm).advice) == 1
    shop.record([Sold("coffe", day(3), 3, stock=3)])
    assert shop.skus == ("coffee", "cofee", "coffe")
    shop.record([Sold("coffe", day(4), 3, stock=3)], confirm=confirm)  # it is known now


def test_a_settled_name_is_no_misspelling(shop):
    shop.record([Sold("coffee", day(0), 1, stock=3)], items=[ItemSettings("cofee", {"pack": 2})])
    shop.decide([Count("cofee", 2)], day(1), confirm=lambda doubt: False)
    shop.rename("coffee", "espresso")
    shop.decide([Count("coffee", 2)], day(1), confirm=lambda doubt: False)


# ---- sales


def sold(sku, units, first=0):
    return [Sold(sku, day(first + n), each, 0, 10_000) for n, each in enumerate(units)]


@pytest.mark.parametrize(
    ("recorded", "new", "is_odd"),
    [
        ([7, 9, 8, 7, 9, 8, 7], [100], True),
        ([7, 9, 8, 7, 9, 8, 7], [90], False),
        ([7, 9, 8, 7], [100], False),  # too few days to tell
        ([], [7, 9, 8, 7, 100, 9, 8, 7], True),
        ([7, 9, 8], [7, 9, 8, 100, 7], True),
        ([7, 9, 8, 7, 9, 8, 7], [100, 100], False),  # a new season
        ([0, 0, 1, 0, 0, 0, 1, 0], [12], False),
        ([0, 0, 1, 0, 0, 0, 1, 0], [50], False),
        ([0, 0, 1, 0, 0, 0, 1, 0], [51], True),
        ([0] * 8, [60], True),
        ([0] * 8 + [100], [100], False),
    ],
)
def test_a_day_of_ten_times_any_other(shop, recorded, new, is_odd):
    if recorded:
        shop.record(sold("A", recorded))
    shop.record(sold("B", [3] * 20))
    found = shop.record(sold("A", new, len(recorded))).remarks
    assert any("More than 10 times any other day" in remark for remark in found) == is_odd
    assert shop.verify()


def test_a_large_day_that_is_withdrawn_or_corrected_is_no_measure(shop):
    shop.record(sold("A", [7, 9, 8, 7, 9, 8, 7, 900]))
    asked = []
    assert not shop.record(sold("A", [880], 8), confirm=lambda doubt: True).remarks  # the measure is 900
    shop.withdraw(day(8))
    shop.record(sold("A", [9], 7), correct=True)
    shop.record(sold("A", [880], 8), confirm=lambda doubt: asked.append(doubt) or True)
    assert [doubt.kind for doubt in asked] == [UNITS]
    assert (
        asked[0].sentence
        == f"More than 10 times any other day of the item: A on {day(8)} with 880, others up to 9."
    )
    assert shop.record(sold("A", [880], 8), confirm=lambda doubt: False).repeated == 1
    with Shop(shop._log.path) as again:
        assert again._states.demand.largest[0] == 880
        assert again.verify()


def test_all_doubts_of_a_command(shop):
    work(shop, 9, ("coffee", "tea"))
    found = []
    table = [*sold("coffee", [400], 9), *sold("cofee", [3], 9), *sold("tea", [3], -365 + 9)]
    shop.record(table, confirm=lambda doubt: found.append(doubt.kind) or True)
    assert found == [YEAR, NAME, UNITS]
    assert shop.verify()


# ---- the commands


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Answer questions at a terminal."""

    def answer(text):
        monkeypatch.setattr(sys, "stdin", Terminal(text))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    return answer


@pytest.fixture
def files(path, file, clock):
    clock.now = day(9)
    with create(path) as shop:
        work(shop, 8, ("coffee", "tea"))
    return path, file


DOUBTFUL = [
    (f"date,sku,units,stock\n{day(40)},tea,1,3\n", f"In the future: {day(40)}. The shop's last day is {day(7)}."),
    (f"date,sku,units,stock\n{day(8 - 364)},tea,1,3\n", "Is the year right?"),
    (f"date,sku,units,stock\n{day(8)},teas,1,3\n{day(8)},cofee,1,3\n", "cofee (perhaps coffee)."),
    (f"date,sku,units,stock\n{day(8)},Tea,1,3\n", "Tea (perhaps tea)."),
]


@pytest.mark.parametrize(("text", "said"), DOUBTFUL)
def test_without_a_terminal_likely_mistakes_are_refused(call, files, text, said):
    path, file = files
    words = "inventory", "record", path, file(text)
    code, _, told = call(*words)
    assert (code, told.count("\n")) == (2, 1)
    assert said in told
    assert told.endswith("Nothing was done; correct it, or add --yes if it is right.\n")
    with Shop(path) as shop:
        assert len(shop.skus) == 2
    code, _, told = call(*words, "--yes")
    assert code == 0
    assert said in told
    assert "recorded." in told
    code, _, told = call(*words)  # the same again
    assert code == 0
    assert "repeated." in told


def test_without_a_terminal_large_sales_are_taken_with_a_remark(call, files):
    path, file = files
    text = f"date,sku,units,stock\n{day(8)},tea,400,500\n"
    code, _, told = call("inventory", "record", path, file(text))
    assert code == 0
    assert f"line 2: tea on {day(8)} with 400, others up to 3." in told


def test_at_a_terminal_one_is_asked(call, files, terminal):
    path, file = files
    text = f"date,sku,units,stock\n{day(8)},tea,400,500\n"
    words = "inventory", "record", path, file(text)
    for answer in ("n\n", "\n", "", "what\n"):
        terminal(answer)
        code, _, told = call(*words)
        assert code == 2
        assert "with 400, others up to 3.\nTake it? [y/N] " in told
        assert told.endswith("Nothing was done; correct the input.\n")
    with Shop(path) as shop:
        assert shop.verify()
        assert shop._log.days[-1] == str(day(7))
    terminal("y\n")
    code, _, told = call(*words)
    assert code == 0
    assert told.count("with 400") == 1
    assert told.endswith("1 recorded.\n")


def test_decide_asks_too(call, files, terminal):
    path, file = files
    words = "inventory", "decide", path, file("sku,stock\ntea,3\ncofee,2\n"), "-o", "-"
    code, out, told = call(*words, "--date", day(300))
    assert (code, out) == (2, "")
    assert "In the future" in told
    code, out, told = call(*words, "--date", day(8))
    assert (code, out) == (2, "")
    assert "cofee (perhaps coffee)" in told
    terminal("yes\n")
    code, out, told = call(*words, "--date", day(8))
    assert code == 0
    assert "cofee,1" in out or "cofee," in out
    code, _, told = call(*words, "--date", day(300), "-y")
    assert code == 0
    assert "In the future" in told


def test_a_shop_of_no_days_asks_the_clock(call, path, file, clock):
    clock.now = day(0)
    create(path).close()
    counts = file("sku,stock\ntea,3\n")
    assert call("inventory", "decide", path, counts, "--date", day(30))[0] == 2
    assert call("inventory", "decide", path, counts, "--date", day(1))[0] == 0


def test_a_doubt_that_is_not_confirmed_refuses():
    with pytest.raises(InvalidInputError, match=r"^Odd\. Nothing was done; correct the input\.$"):
        doubts.confirm_all([Doubt(UNITS, "Odd.", False)], lambda doubt: False)
    doubts.confirm_all([Doubt(UNITS, "Odd.", True)], None)
