"""Nothing by halves: wrong input, errors in the middle, two shops at once."""

import contextlib
import math
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import (
    Count,
    Shop,
    Sold,
)
from tests.inventory.shops import (
    create,
    day,
    lines,
    refused,
    state,
    unchanged,
    work,
)

ROOT = Path(__file__).parents[2]


# ---- by halves


BAD_NUMBERS = [2.5, math.nan, math.inf, "3", True, 2**31, 10**30]
BAD_NAMES = ["", " B", "B\n", "\u00a0B", "B\x00", "B\x1b[31m", "\ud800", "B" * 201, 5, None]
BAD_DAYS = ["2026-11-18", None, 20261118]


@pytest.mark.parametrize(
    ("sku", "stock", "more"),
    [
        *(("B", number, {}) for number in [*BAD_NUMBERS, None]),
        *(("B", 3, {"coming": number}) for number in BAD_NUMBERS),
        *(("New", 3, {"pack": number}) for number in [*BAD_NUMBERS, 0]),
        *((name, 3, {}) for name in BAD_NAMES),
    ],
)
def test_what_no_count_in_a_file_could_say_python_cannot_say_either(path, sku, stock, more):
    # A defect once: what is told in Python is not checked at all; some of it is learned, some is a TypeError.
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
    # A defect once, as above.
    work(shop, 2)
    told = Sold("A", day(2), 1, stock=1)
    unchanged(shop, lambda: shop.record([told, Sold(sku, when, units, **more)], plenty=True))


NEGATIVE = """
import sys
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Count, Sold
from tests.inventory.shops import create, day, work
for case in ("stock=-1", "stock=-10**6", "stock=3, coming=-1", "stock=3, coming=-10**6", "stock=3, pack=-1"):
    for lead_time in (0, 2):
        with create(f"{sys.argv[1]}/{case}{lead_time}.db", lead_time) as shop:
            work(shop, 2)
            try:
                counts = [eval(f"Count('New' if 'pack' in case else 'B', {case})")]
                shop.decide(counts, day(2))
            except InvalidInputError:
                continue
            print("accepted", case, lead_time, flush=True)
for case in ("-1", "-10**6", "1, ordered=-1", "1, stock=-1", "1, stock=1, pack=-1"):
    with create(f"{sys.argv[1]}/{case}.db") as shop:
        work(shop, 2)
        try:
            shop.record([eval(f"Sold('New' if 'pack' in case else 'B', day(2), {case})")], plenty=True)
        except InvalidInputError:
            continue
        print("accepted", case, flush=True)
"""


def test_numbers_below_zero_are_refused_before_compiled_code_sees_them(tmp_path):
    # A defect once: Count("B", -1) with a lead time of 2 writes outside of arrays; the process dies or hangs.
    # Therefore a process of its own.
    words = [sys.executable, "-c", NEGATIVE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=20)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr[-300:]


@pytest.mark.parametrize("when", BAD_DAYS)
def test_a_day_is_a_date(shop, when):
    unchanged(shop, lambda: shop.decide([Count("A", 1)], when))


def test_a_moment_is_taken_for_its_day_or_refused(shop):
    # A defect once: a datetime, such as a Timestamp of pandas, is a ValueError of datetime.
    noon = datetime(2026, 11, 16, 12)
    with contextlib.suppress(InvalidInputError):
        shop.decide([Count("A", 3)], noon)
    with contextlib.suppress(InvalidInputError):
        shop.record([Sold("A", noon, 2, stock=3)])
    assert {line[2] for line in lines(shop)} <= {day(0)}
    assert shop.verify()


def test_the_largest_numbers_a_file_may_hold_are_still_added_up(shop):
    # A defect once: what is expected does not fit, and a sound file is an OverflowError.
    most = 2**31 - 1
    shop.record([Sold("A", day(0), 0, ordered=most, stock=most)])
    assert shop.decide([Count("A", most)], day(1)).advice[0].order == 0
    shop.record([Sold("A", day(1), most)])
    assert shop.verify()


@pytest.mark.parametrize("where", ["EventLog.append", "EventLog.save_snapshot", "LearnedDemand.learn"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_an_error_in_the_middle_leaves_everything_as_it_was(path, monkeypatch, where, error):
    from driftmdp.inventory.event_log import EventLog
    from driftmdp.inventory.learned_demand import LearnedDemand

    class_name, name = where.split(".")
    kind = {"EventLog": EventLog, "LearnedDemand": LearnedDemand}[class_name]
    real, calls = getattr(kind, name), []

    def fails(self, *words):
        calls.append(words)
        if len(calls) == (2 if name != "save_snapshot" else 1):
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
    # A defect once: while a history is read, the shop says that its database is broken, and forgets its items.
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
    # A defect once: what is only read is not brought up to date: verify is False, and lot_of does not know.
    with create(path) as one, Shop(path) as two:
        for n, look in enumerate(
            (
                lambda shop: len(list(shop.history())),
                lambda shop: shop.verify(),
                lambda shop: shop.skus,
                lambda shop: shop.explain("A").advice,
                lambda shop: shop.terms_of(shop.skus[-1]),
                lambda shop: shop.terms_of(two._states.skus[-1]),
            )
        ):
            work(two, 1, items=("A", f"New {n}"), first=n)
            assert look(one) == look(two)


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
