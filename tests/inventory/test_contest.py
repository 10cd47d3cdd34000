"""A contest with the ordinary commands: weeks, a lead time of two, a last week, and demand shown whole."""

import csv
import io

import numpy as np
import pytest

from driftmdp.inventory import Costs, Shop, read_counts, read_items, read_sold
from tests.inventory.shops import day

INIT = [
    "--period",
    "week",
    "--lead-time",
    2,
    "--fixed-cost",
    0,
    "--unit-cost",
    0,
    "--lost-sale",
    1,
    "--holding",
    0.2,
]
SKUS = [f"{store}-{product}" for store in range(3) for product in (124, 126)]
END = day(7 * 19)


def week(n):
    return day(7 * n)


@pytest.fixture
def files(tmp_path):
    """A history with stock-outs, items, and the state of the first morning."""
    rng = np.random.default_rng(7)
    lines = ["date,sku,units,in_stock"]
    for sku in SKUS:
        for n in range(12):
            in_stock = int(rng.random() < 0.9)
            lines.append(f"{week(n)},{sku},{rng.poisson(4) if in_stock else 0},{in_stock}")
    (tmp_path / "history.csv").write_text("\n".join(lines))
    (tmp_path / "items.csv").write_text("sku,store,department\n" + "".join(f"{sku},{sku[0]},30\n" for sku in SKUS))
    (tmp_path / "stock.csv").write_text("sku,stock,coming_1\n" + "".join(f"{sku},5,3\n" for sku in SKUS))
    return tmp_path


def sales(n):
    lines = [f"{week(n)},{sku},{2 + n % 3 + place}" for place, sku in enumerate(SKUS)]
    return "\n".join(["date,sku,units", *lines])


def orders(text):
    return {row["sku"]: row for row in csv.DictReader(io.StringIO(text))}


def test_eight_weeks(call, files):
    def done(*words):
        code, out, err = call("inventory", *words)
        assert code == 0, err
        return out, err

    done("init", "shop.db", *INIT, "--capacity", "none")
    _, err = done("record", "shop.db", "history.csv", "--items", "items.csv", "--group", "department")
    assert "72 recorded." in err
    assert "Columns of items.csv that are not used: store." in err
    stock, coming = dict.fromkeys(SKUS, 5), dict.fromkeys(SKUS, 3)
    for n in range(12, 20):
        _, err = done("decide", "shop.db", "stock.csv", "--date", week(n), "--until", END, "-o", "orders.csv")
        assert "differ" not in err
        found = orders((files / "orders.csv").read_text())
        assert list(next(iter(found.values())))[:3] == ["date", "sku", "order"]
        assert {sku: int(row["coming"]) for sku, row in found.items()} == coming
        if n > 17:
            assert {row["method"] for row in found.values()} == {"too late"}
        (files / "sales.csv").write_text(sales(n))
        done("record", "shop.db", "sales.csv", "--demand")
        for place, sku in enumerate(SKUS):
            stock[sku] = max(0, stock[sku] - (2 + n % 3 + place)) + coming[sku]
            coming[sku] = int(found[sku]["order"])
        (files / "stock.csv").write_text("sku,stock\n" + "".join(f"{sku},{stock[sku]}\n" for sku in SKUS))
    with Shop(files / "shop.db") as shop:
        assert shop.verify()
        assert {shop.terms_of(sku).group for sku in SKUS} == {"30"}


def test_the_same_from_python(call, files):
    call("inventory", "init", "shop.db", *INIT, "--capacity", "none")
    call("inventory", "record", "shop.db", "history.csv", "--items", "items.csv", "--group", "department")
    words = ["--date", week(12), "--until", END, "-o", "-"]
    _, out, _ = call("inventory", "decide", "shop.db", "stock.csv", *words)
    with Shop.create(files / "other.db", Costs(0, 0, 1, 0.2), None, 2, period="week") as shop:
        shop.record(read_sold(files / "history.csv"), items=read_items(files / "items.csv", "department").items)
        _, counts = read_counts(files / "stock.csv")
        decision = shop.decide(counts, week(12), until=END)
    assert {sku: int(row["order"]) for sku, row in orders(out).items()} == {a.sku: a.order for a in decision.advice}


@pytest.mark.parametrize(
    ("content", "words", "said"),
    [
        (
            "sku,stock,coming_3\nA,1,2\n",
            [],
            "stock.csv, line 2: coming_3 must be empty for A: with a lead time of 2",
        ),
        (
            "sku,stock,coming,coming_1\nA,1,2,2\n",
            [],
            "must have one column 'coming_1'; it has 'coming_1' and 'coming'",
        ),
        ("sku,stock\nA,1\n", ["--date", "2026-11-17"], "stock.csv, line 2: A is ordered by the week"),
        ("sku,stock\nA,1\n", ["--until", "2026-11-15"], "must not be before 2026-11-16; got 2026-11-15"),
        ("sku,stock\nA,1\n", ["--until", "soon"], "--until must be year-month-day"),
        ("sku,stock\nA,1\n", ["--group", "department"], "--group names a column of --items"),
        ("sku,stock\nA,1\n", ["--items", "no.csv"], "no.csv must be a CSV file that can be read"),
        ("sku,stock\nA,1\n", ["--calendar", "no.csv"], "no.csv must be a CSV file that can be read"),
    ],
)
def test_mistakes_of_a_morning(call, tmp_path, content, words, said):
    call("inventory", "init", "shop.db", *INIT, "--capacity", "none")
    (tmp_path / "stock.csv").write_text(content)
    code, out, err = call("inventory", "decide", "shop.db", "stock.csv", "--date", "2026-11-16", *words)
    assert (code, out) == (2, "")
    assert said in err
    with Shop(tmp_path / "shop.db") as shop:
        assert shop._log.number == 0


COSTS = ["--fixed-cost", 1, "--unit-cost", 1, "--holding", 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--capacity", 20, "--lost-sale", 1, "--service", 0.9], "Exactly one of --lost-sale and --service"),
        (["--capacity", 20], "Exactly one of --lost-sale and --service must be given; got neither"),
        (["--capacity", 20, "--service", 1], "service must lie between 0 and 1, as 0.95 does; got 1"),
        (["--capacity", 20, "--service", 95], "service must lie between 0 and 1"),
        (["--capacity", 20, "--lost-sale", 1, "--pack", 24], "pack must be at most the capacity of 20; got 24"),
        (["--capacity", 20, "--lost-sale", 1, "--minimum", 24], "minimum must be at most the capacity of 20"),
        (["--capacity", "lots", "--lost-sale", 1], "--capacity must be none or a whole number"),
        (["--capacity", 20, "--lost-sale", 1, "--period", "month"], "period must be one of 'day', 'week'"),
        (
            ["--capacity", 20, "--lost-sale", 1, "--order-days", "mon,thr"],
            "order_days must be weekdays such as mon,thu",
        ),
        (["--capacity", 20, "--lost-sale", 1, "--order-days", "mon,thr"], "got 'thr' (perhaps thu)."),
        (["--capacity", 20, "--lost-sale", 1, "--period", "week", "--order-days", "mon"], "must be every n"),
        (
            ["--capacity", 20, "--lost-sale", 1, "--period", "week", "--closed-days", "sun"],
            "closed_days must be left",
        ),
        (["--capacity", 20, "--lost-sale", 1, "--closed-days", "mon,tue,wed,thu,fri,sat,sun"], "leave a day open"),
        (["--capacity", 20, "--lost-sale", 1, "--lead-time", 61], "--lead-time"),
    ],
)
def test_mistakes_of_a_new_shop(call, tmp_path, words, said):
    code, out, err = call("inventory", "init", "shop.db", *COSTS, *words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.replace("│", " ").split())
    assert not (tmp_path / "shop.db").exists()


def test_a_week_that_starts_on_a_tuesday_is_refused_with_its_line(call, tmp_path):
    call("inventory", "init", "shop.db", *INIT, "--capacity", "none")
    (tmp_path / "sales.csv").write_text("date,sku,units,in_stock\n2026-11-16,A,1,1\n2026-11-24,A,1,1\n")
    code, _, err = call("inventory", "record", "shop.db", "sales.csv")
    assert code == 2
    assert err == (
        "error: sales.csv, line 3: A is sold by the week, which is named by its Monday; got 2026-11-24, a Tuesday. "
        "Nothing was done; use 2026-11-23.\n"
    )
