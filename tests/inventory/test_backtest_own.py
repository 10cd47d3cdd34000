"""``driftmdp inventory backtest --own``: the first sentence says what was paid, and what would have been."""

import re
from datetime import date, timedelta

import numpy as np
import pytest

from driftmdp.inventory import Costs, read_own, read_sales
from driftmdp.inventory import backtest as run
from driftmdp.report.backtest import backtest_report, money_sentence
from driftmdp.report.backtest.money import paid_text

TERMS = ["--capacity", 40, "--fixed-cost", 5, "--unit-cost", 0, "--holding", 0.5]
COSTS = Costs(fixed=5, unit=0, lost_sale=4, holding=0.5)
DAYS = [date(2026, 1, 5) + timedelta(day) for day in range(100)]


@pytest.fixture
def shop(call, tmp_path):
    """The command in a folder with the sales of two items, and a wasteful owner's orders and stock."""
    units = np.random.default_rng(3).poisson(4, (2, 100)).tolist()
    by_day = [(day, sku, units[place][t]) for t, day in enumerate(DAYS) for place, sku in enumerate("AB")]
    texts = {
        "sales": ["date,sku,units", *(f"{day},{sku},{sold}" for day, sku, sold in by_day)],
        "wasteful": ["date,sku,stock", *(f"{day},{sku},39" for day, sku, _ in by_day)],
        "clever": ["date,sku,stock", *(f"{day},{sku},{there}" for day, sku, there in _foreseen(by_day))],
        "orders": ["date,sku,ordered", *(f"{day},{sku},3" for day, sku, _ in by_day)],
    }
    for name, rows in texts.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([*rows, ""]))
    return lambda *words: call("inventory", "backtest", "sales.csv", *TERMS, *words)


def _foreseen(by_day):
    """Yield the stock of somebody who knows the future, and orders for two days each time."""
    for place, (day, sku, sold) in enumerate(by_day):
        is_first = (day - DAYS[0]).days % 2 == 0
        yield day, sku, sold + by_day[place + 2][2] if is_first else sold


def number_in(pattern, text):
    return float(re.search(pattern, text).group(1).replace(",", ""))


def test_what_you_paid_is_the_first_line_of_command_and_page(shop, tmp_path):
    code, out, _ = shop("--lost-sale", 4, "--own", "wasteful.csv", "--picture", "A")
    assert code == 0
    first = out.splitlines()[0]
    found = run(read_sales(tmp_path / "sales.csv"), COSTS, 40, own=read_own(tmp_path / "wasteful.csv"))
    costs = dict(zip(found.rules, found.cost.sum(axis=1), strict=True))
    assert number_in(r"^In 40 days you paid about ([\d,.]+);", first) == pytest.approx(costs["own"], rel=0.005)
    told = number_in(r"; this would have cost about ([\d,.]+)\.$", first)  # more in stock than sold, each evening
    assert told == pytest.approx(costs["driftmdp"], rel=0.05)
    assert told < costs["own"]
    row = next(line for line in out.splitlines() if line.startswith("your own orders"))
    assert "100.0%" not in row
    page = (tmp_path / "out" / "backtest" / "sales" / "index.html").read_text()
    body = page[page.index("<header>") :]
    assert body.startswith(f'<header>\n<p class="headline">{first}</p>')


def test_a_shop_that_did_better_is_told_so(shop, tmp_path):
    code, out, _ = shop("--lost-sale", 4, "--own", "clever.csv")
    first = out.splitlines()[0]
    assert code == 0
    assert re.search(r"^In 40 days you paid about \d+; this would have cost about \d+ more\. What", first)
    page = (tmp_path / "out" / "backtest" / "sales" / "index.html").read_text()
    assert "<p>What customers wanted beyond the " in page[: page.index('class="bars"')]
    found = run(read_sales(tmp_path / "sales.csv"), COSTS, 40, own=read_own(tmp_path / "clever.csv"))
    sold_out = sum(each.sold_out for each in found.own)
    assert 40 <= sold_out < 80
    assert first.endswith(f"What customers wanted beyond the {sold_out} sold-out days of items is not in it.")


def test_a_service_target_says_what_is_served(shop):
    code, out, err = shop("--service", 0.9, "--own", "orders.csv")
    assert code == 0
    start = re.search(r"It starts with ([\d,]+ units?) of 2 items", err).group(1)
    assert f"worked out from your orders, and begins with {start}: a count" in out.splitlines()[0]
    assert re.search(
        r"It would have served \d+\.\d% of what you sold, and its lost sales are not", out.splitlines()[0]
    )


def test_without_own_orders_the_usual_rule_is_the_measure(shop):
    code, out, _ = shop("--lost-sale", 4)
    assert code == 0
    assert re.match("With driftmdp, these 2 items would have cost .* per day, .* than fitting a rule", out)
    assert "your own orders" not in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date,sku\n2026-01-05,A\n", "must have a column 'ordered' or 'stock'"),
        ("date,sku,ordered\n2026-01-05,A,x\n", "own.csv has 1 line that cannot be used: line 2"),
        ("date,sku,ordered\n2026-01-05,C,1\n", "must have items of the sales"),
        ("date,sku,ordered\n2026-01-05,A,1\n2026-01-05,A,1\n", "Use --duplicates sum or --duplicates last."),
        (None, "own.csv"),
    ],
)
def test_a_file_that_cannot_be_used_writes_nothing(shop, tmp_path, text, message):
    if text is not None:
        (tmp_path / "own.csv").write_text(text)
    code, out, err = shop("--lost-sale", 4, "--own", "own.csv")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("paid", "cost", "words"),
    [
        (12_412, 11_093, "12,400; this would have cost about 11,100."),
        (11_093, 12_412, "11,100; this would have cost about 1,300 more."),
        (1_234_567, 1_234_000, "1,230,000; this would have cost about as much."),
        (100_000, 99_900, "100,000; this would have cost about 99,900."),
        (100_000, 100_100, "100,000; this would have cost about 100 more."),
        (0.1234, 0.1, "0.123; this would have cost about 0.100."),
        (0, 0, "0; this would have cost about as much."),
        (0, 12.34, "0.0; this would have cost about 12.3 more."),
        (500, 0, "500; this would have cost about 0."),
    ],
)
def test_sums_are_round_but_never_hide_the_difference(paid, cost, words):
    assert paid_text(paid, cost, "1 day") == f"In 1 day you paid about {words}"


def test_only_scored_days_are_plain_in_the_figure_of_an_item(shop, tmp_path):
    text = (tmp_path / "orders.csv").read_text().splitlines()
    late = [line for line in text[1:] if line >= str(DAYS[80])]
    (tmp_path / "late.csv").write_text("\n".join([text[0], *late, ""]))
    found = run(read_sales(tmp_path / "sales.csv"), COSTS, 40, own=read_own(tmp_path / "late.csv"))
    assert found.trace("A").scored == 80
    report, _ = backtest_report(found)
    assert report.headline == money_sentence(found)
    assert report.headline.startswith("In 20 days you paid about ")
