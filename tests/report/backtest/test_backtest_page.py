"""The page of an inventory backtest: its numbers, its words, its files, and names that mean harm."""

import csv
import io
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.inventory import RULES, ItemSettings, Sales, Series, backtest
from driftmdp.inventory.cells import name_from_cell
from driftmdp.inventory.ordering_rules import TITLES
from driftmdp.problems.inventory import Costs
from driftmdp.report.backtest import backtest_report, summary_rows, write_backtest
from driftmdp.report.backtest.comparison import MAX_ITEMS_SHOWN, SEES, item_ratios, items_shown
from driftmdp.report.backtest.figures import month_ticks
from driftmdp.report.backtest.page import default_pictures
from driftmdp.report.backtest.text import MAX_NAME_LENGTH, comparison_text, shown_name
from driftmdp.report.page import render
from driftmdp.statistics import Interval

HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd|'/c calc'!A0",
    'a, "b"; <img src=x onerror=alert(2)>',
    "$x^2$ --> \\frac",
    "\x00\x1b[31m\u202e\u6f22",
    "a\r\nb",
    "L" * 400,
    "nothing sold",
]
PICTURES = [HOSTILE[0], HOSTILE[3], HOSTILE[4], HOSTILE[6]]
DATES = np.datetime64("2026-01-01") + np.arange(130)


def series(sku, mean, days=130, seed=0):
    return Series(sku, DATES[:days], np.random.default_rng(seed).poisson(mean, days).astype(np.int64))


def sales(names=HOSTILE):
    means = [0.0 if name == "nothing sold" else 2.0 + 3 * place for place, name in enumerate(names)]
    found = tuple(series(name, mean) for name, mean in zip(names, means, strict=True))
    return Sales(found, (f"A gap: {HOSTILE[0]}.",))


@pytest.fixture(scope="module")
def result():
    return backtest(sales(), Costs(), capacity=10, pack="auto")


@pytest.fixture(scope="module")
def written(result, tmp_path_factory):
    return write_backtest(result, tmp_path_factory.mktemp("backtest") / "new", PICTURES)


def tables(report):
    return {table.id: table for section in [report.lead, *report.sections] for table in section.tables}


def folded(report):
    return [paragraph for fold in report.lead.folds for paragraph in fold.paragraphs]


def values(table, column):
    place = table.columns.index(column)
    return [row[place].value for row in table.rows]


def test_the_tables_hold_the_numbers_of_the_backtest(result, written):
    found, labels = tables(written.report), [RULES[rule] for rule in result.rules]
    totals = found["totals"]
    assert [row[0].text for row in totals.rows] == labels
    assert values(totals, "Cost per item, day") == [result.cost_per_period(rule).estimate for rule in result.rules]
    ratios = [result.ratio("driftmdp", rule).estimate for rule in result.rules]
    assert values(totals, "Our cost over its") == ratios
    assert values(totals, "Orders") == [result.orders_placed(rule) for rule in result.rules]
    for rule, label in zip(result.rules, labels, strict=True):
        for id, of in {
            "cost": lambda rule, sku: result.cost_per_period(rule, sku).estimate,
            "service": result.service_level,
            "stock": result.average_stock,
            "orders": result.orders_placed,
        }.items():
            assert values(found[id], label) == [of(rule, sku) for sku in result.skus]
    assert values(found["cost"], "Units in a pack") == result.packs.tolist()


def test_the_cheapest_rule_that_a_shop_could_follow_is_marked(result, written):
    fair = [rule for rule in result.rules if SEES[rule] == "its own sales"]
    assert fair == ["driftmdp", "face-value", "base-stock", "moving-average"]
    for row, sku in zip(tables(written.report)["cost"].rows, result.skus, strict=True):
        costs = {rule: result.cost_per_period(rule, sku).estimate for rule in fair}
        best = {RULES[rule] for rule, cost in costs.items() if cost == min(costs.values())}
        columns = tables(written.report)["cost"].columns
        assert {column for column, cell in zip(columns, row, strict=True) if cell.kind == "best"} == best


def test_every_rule_says_what_it_sees():
    assert SEES.keys() == TITLES.keys()


def test_the_short_table_has_ours_first_whatever_the_order():
    found = backtest(sales(["A", "B"]), Costs(), capacity=10, rules=["base-stock", "hindsight", "driftmdp"])
    header, rows = summary_rows(found)
    assert [row[0] for row in rows] == [RULES[rule] for rule in ("driftmdp", "hindsight", "base-stock")]
    assert header[2] == "over hindsight [95%]"
    assert rows[0][2].startswith(f"{found.ratio('driftmdp', 'hindsight').estimate:.1f}")
    assert rows[1][2] == "1"


def test_files_are_whole_and_their_names_safe(written):
    names = sorted(path.name for path in written.page.parent.iterdir())
    stems = ["totals", "ratios", *(f"item-{place + 1}" for place in range(len(PICTURES)))]
    drawn = [f"{stem}.{kind}" for stem in stems for kind in ("svg", "png")]
    assert names == sorted([*drawn, "by-item.csv", "index.html"])
    assert written.page.read_text(encoding="utf-8") == render(written.report)
    for path in written.figures:
        if path.suffix == ".svg":
            ElementTree.fromstring(path.read_text(encoding="utf-8"))  # a name could make it no XML


def test_names_are_text_and_short(written):
    page = written.page.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert not {"\x00", "\x1b", "\u202e"} & set(page)
    assert "L" * (MAX_NAME_LENGTH + 1) not in page
    assert shown_name("L" * 400 + "1") != shown_name("L" * 400 + "2")


def test_every_number_is_in_the_spreadsheet(result, written):
    rows = list(csv.DictReader(io.StringIO(written.table.read_bytes().decode(), newline="")))
    assert [(name_from_cell(row["sku"]), row["rule"]) for row in rows] == [
        (sku, rule) for sku in HOSTILE for rule in result.rules
    ]
    for row in rows:
        sku, rule = name_from_cell(row["sku"]), row["rule"]
        assert not row["sku"].startswith(("=", "+", "-", "@"))
        found = result.cost_per_period(rule, sku)
        told = [float(row[f"cost_per_period{end}"]) for end in ("", "_low", "_high")]
        assert told == [found.estimate, found.low, found.high]
        assert float(row["service_level"]) == result.service_level(rule, sku)
        assert int(row["orders"]) == result.orders_placed(rule, sku)
    assert all(float(row["cost_over_hindsight"]) == 1 for row in rows if row["rule"] == "hindsight")


def test_what_was_found_is_said_with_its_interval(result, written):
    found, assumed, sight, _ = folded(written.report)
    for other in result.rules[1:]:
        assert f"{comparison_text(result.ratio('driftmdp', other))} the {RULES[other]}" in found
    assert "holds 10 packs; an order arrives at once" in assumed
    assert f"Orders are whole packs of 1 to {result.packs.max()} units, by item." in assumed
    total = f"{result.total_per_period('driftmdp'):.2f}"
    headline = written.report.headline
    assert headline.startswith(f"With driftmdp, these 8 items would have cost {total} per day, ")
    assert "than fitting a rule to sales every morning" in headline
    page = written.page.read_text(encoding="utf-8")
    assert page.index(headline) < page.index("<h1>")
    assert all(RULES[rule] in sight for rule in ("hindsight", "first-60", "uncensored"))
    assert written.report.sections[-1].paragraphs == list(result.remarks)
    assert written.report.title == "Inventory backtest: 8 items, 560 item-days"


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        ((1.0, 1.0, 1.0), "exactly as much as"),
        ((0.9, 0.8, 0.95), "10.0% less [5.0% to 20.0%] than"),
        ((1.5, math.nan, math.nan), "50.0% more than"),
        ((1.5, 0.5, math.inf), "50.0% more [50.0% less to without bound more; too close to call] than"),
    ],
)
def test_ratios_in_words(ratio, words):
    assert comparison_text(Interval(*ratio, 0.95)) == words


def test_default_pictures_are_large_items_and_our_worst(result):
    found = default_pictures(result)
    units = dict(zip(result.skus, result.demand.tolist(), strict=True))
    assert found[:3] == sorted(units, key=lambda sku: -units[sku])[:3]
    lost = (result.cost[0] - result.cost[1]) / result.periods
    assert found[-1] == result.skus[int(np.argmax(lost))]


def test_ratios_by_item_are_sorted_and_defined(result):
    ratios = item_ratios(result, "hindsight")
    assert ratios.tolist() == sorted((result.cost[0] / result.cost[1]).tolist())


@pytest.mark.parametrize(
    ("costs", "days", "rules"),
    [
        (Costs(), 61, tuple(RULES)),
        (Costs(), 130, ("face-value", "driftmdp")),
        (Costs(0, 0, 0, 0), 61, tuple(RULES)),
    ],
    ids=["one day", "without hindsight", "free"],
)
def test_one_item_without_demand(costs, days, rules):
    found = backtest(Sales((series("A", 0.0, days),)), costs, capacity=5, rules=rules)
    report, drawings = backtest_report(found)
    header, rows = summary_rows(found)
    assert "item-1" in drawings
    assert len(rows) == len(rules)
    assert ("over hindsight [95%]" in header) == ("hindsight" in rules)
    assert "no demand" in folded(report)[0]
    cells = [cell for table in tables(report).values() for row in table.rows for cell in row]
    assert "nan" not in " ".join([report.headline, *folded(report), *(cell.text for cell in cells)])
    assert render(report)


def test_many_items_are_cut_to_those_that_differ_most():
    names = [f"item {place}" for place in range(MAX_ITEMS_SHOWN + 5)]
    found = backtest(sales(names), Costs(), capacity=5, rules=["driftmdp", "face-value"])
    shown = items_shown(found)
    lost = np.abs(found.cost[0] - found.cost[1]) / found.periods
    assert lost[shown].tolist() == sorted(lost.tolist(), reverse=True)[:MAX_ITEMS_SHOWN]
    table = tables(backtest_report(found, [])[0])["cost"]
    assert [row[0].text for row in table.rows] == [names[item] for item in shown]
    assert "Of 205 items these 200" in table.note


def test_an_unknown_picture_and_a_file_for_a_folder_are_refused(result, tmp_path):
    with pytest.raises(InvalidInputError, match="must be one of the 8 items"):
        write_backtest(result, tmp_path / "none", ["no such item"])
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageError, match="could not be written to"):
        write_backtest(result, tmp_path / "file", [])


def test_time_is_labelled_at_most_twelve_times():
    days, labels = month_ticks(np.datetime64("2020-01-15") + np.arange(2000))
    assert (days[0], labels[0]) == (0, "2020-01")
    assert len(days) <= 12


def test_it_opens_and_a_phone_does_not_scroll_sideways(tab, written):
    tab.viewport(360, 700, mobile=True)
    tab.open(written.page, scripts=False)
    assert tab.evaluate("document.querySelectorAll('script').length") == 0
    assert tab.evaluate("[...document.images].every((image) => image.naturalWidth > 0)") is True
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_phone_shows_the_sentence_and_one_whole_picture_first(tab, written):
    tab.viewport(360, 700, mobile=True)
    tab.open(written.page, scripts=False)
    parts = "document.querySelectorAll('.headline, .bars, details, .table, img')"
    order = f"[...{parts}].map((part) => part.className || part.tagName)"
    assert tab.evaluate(order)[:3] == ["headline", "bars", "DETAILS"]
    assert tab.evaluate("[...document.querySelectorAll('details')].some((fold) => fold.open)") is False
    within = "[...document.querySelectorAll('.bars *')].every((e) => e.getBoundingClientRect().right <= 360)"
    assert tab.evaluate(within) is True


def test_bars_are_as_long_as_costs(result, written):
    (chart,) = written.report.lead.bars
    costs = dict(zip((RULES[rule] for rule in result.rules), result.cost.sum(axis=1).tolist(), strict=True))
    assert {bar.label: bar.share for bar in chart.bars} == pytest.approx(
        {label: cost / max(costs.values()) for label, cost in costs.items()}
    )
    kinds = [bar.kind for bar in chart.bars]
    assert kinds == ["ours", "", "", "", "pale", "pale", "pale"]
    assert "What 8 items would have cost in 70 days" in chart.caption


def test_weeks_service_and_items_of_their_own_are_said():
    dates = np.datetime64("2024-01-01") + 7 * np.arange(60)
    units = np.random.default_rng(0).poisson(5, (2, 60))
    items = [ItemSettings("B", {"pack": 6})]
    found = backtest(
        Sales(tuple(Series(sku, dates, row) for sku, row in zip("AB", units, strict=True))),
        Costs(1, 0, 0, 0.1),
        None,
        2,
        period="week",
        order_days="every 2",
        service=0.95,
        items=items,
        rules=["driftmdp", "hindsight"],
    )
    report, drawings = backtest_report(found)
    first, assumed, sight, _ = folded(report)
    assert "sought on a grid" in sight
    assert report.headline.startswith("With driftmdp, these 2 items would have cost ")
    assert first.startswith("Against rules that see what no shop can see")
    assert "95.0% of demand should be served" in assumed
    assert "may hold any number; an order arrives 2 weeks later" in assumed
    assert "(every 2). Some items have terms of their own." in assumed
    assert "The first 26 weeks" in assumed
    assert report.title == "Inventory backtest: 2 items, 68 item-weeks"
    assert "item-1" in drawings
    assert summary_rows(found)[0][1] == "cost per item, week [95%]"


def test_without_our_rule_no_item_is_drawn():
    found = backtest(sales(["A"]), Costs(), capacity=10, rules=["face-value", "base-stock"])
    report, drawings = backtest_report(found)
    assert list(drawings) == ["totals"]
    assert report.headline.startswith("With rolling (s, S), sales at face value, this item would have cost")
