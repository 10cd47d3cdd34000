"""The tables of a backtest: totals, item by item, for a terminal and for a spreadsheet."""

from __future__ import annotations

import math
from collections.abc import Callable

from driftmdp.inventory import RULES, Backtest
from driftmdp.report.backtest.names import shown_name
from driftmdp.report.backtest.text import estimate_text, percent
from driftmdp.report.backtest.view import (
    HINDSIGHT,
    cost_ratio,
    followable,
    items_shown,
    ordered,
    ours,
    rival,
)
from driftmdp.report.content import Table, TableCell
from driftmdp.report.text import number
from driftmdp.statistics import Interval

NONE = TableCell(number(None))
SERVED = "Where nothing was asked for, all of it was served."


def summary_rows(backtest: Backtest) -> tuple[list[str], list[list[str]]]:
    """Return a short table of a backtest, for a terminal; our agent first.

    Parameters
    ----------
    backtest
        Its result. Where the rule ``hindsight`` was not tried there is no column of ratios.

    Returns
    -------
    tuple
        The header, and the rows as texts.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory import Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.random.default_rng(7).poisson(4, 120)),))
    >>> header, rows = summary_rows(backtest(sales, Costs(), capacity=20, rules=["hindsight", "optimist"]))
    >>> header[:3]
    ['rule', 'cost per item, day [95%]', 'over hindsight [95%]']
    >>> [row[0] for row in rows]
    ['InventoryOptimist', 'best fixed (s, S) in hindsight']
    """
    scored = HINDSIGHT in backtest.rules
    ratio = ["over hindsight [95%]"] if scored else []
    rows = []
    for rule in ordered(backtest):
        over = [_ratio_cell(backtest, rule, HINDSIGHT).text] if scored else []
        rows.append([RULES[rule], estimate_text(backtest.cost_per_day(rule)), *over, *_totals(backtest, rule)])
    return ["rule", "cost per item, day [95%]", *ratio, "served", "average stock", "orders"], rows


def _totals(backtest: Backtest, rule: str) -> list[str]:
    return [
        percent(backtest.service_level(rule)),
        _lots_cell(backtest.average_stock(rule)).text,
        f"{backtest.orders_placed(rule):,}",
    ]


def _ratio_cell(backtest: Backtest, rule: str, other: str) -> TableCell:
    """Return a ratio of costs; a rule's to itself is 1 and a dash stands where the other cost nothing."""
    if rule == other:
        return TableCell("1", 1.0)
    found = cost_ratio(backtest, rule, other)
    return NONE if found is None else _estimate_cell(found)


def _estimate_cell(found: Interval, kind: str = "") -> TableCell:
    return TableCell(estimate_text(found), float(found.estimate), kind)


def _percent_cell(share: float) -> TableCell:
    return TableCell(percent(share), share)


def _lots_cell(lots: float) -> TableCell:
    return TableCell(_aligned(lots), lots)


def _aligned(value: float) -> str:
    """Return a number with two places, so that columns line up, unless that would show nothing of it."""
    return f"{value:,.2f}" if value == 0 or abs(value) >= 0.1 else number(value, 3)


def _count_cell(count: int) -> TableCell:
    return TableCell(f"{count:,}", float(count))


def total_table(backtest: Backtest) -> Table:
    """Return every rule's totals; the cheapest rule that a shop could follow is marked."""
    us, scored = ours(backtest), HINDSIGHT in backtest.rules
    best = _cheapest(backtest)
    rows = []
    for rule in ordered(backtest):
        cost = backtest.cost_per_day(rule)
        rows.append(
            [
                TableCell(RULES[rule]),
                _estimate_cell(cost, "best" if followable(rule) and cost.estimate == best else ""),
                *([_ratio_cell(backtest, rule, HINDSIGHT)] if scored else []),
                _ratio_cell(backtest, us, rule),
                _percent_cell(backtest.service_level(rule)),
                _lots_cell(backtest.average_stock(rule)),
                _count_cell(backtest.orders_placed(rule)),
            ]
        )
    columns = [
        "Rule",
        "Cost per item, day",
        *(["Its cost over hindsight's"] if scored else []),
        "Our cost over its",
        "Demand served",
        "Average stock",
        "Orders",
    ]
    note = (
        f"Ours is {RULES[us]}. Stock in lots, in an evening; 95% intervals in brackets.{_overlap(backtest)} "
        "The least cost among rules that see only their own sales is marked."
    )
    return Table(
        "totals",
        "The scored days" if len(backtest.skus) == 1 else "All items together, on the scored days",
        columns,
        rows,
        "",
        note,
    )


def _overlap(backtest: Backtest) -> str:
    if len(backtest.skus) == 1:
        return ""
    return (
        " Items differ, so intervals of costs may overlap even where one rule is "
        "cheaper on nearly all items; ratios compare rules on the same items."
    )


def _cheapest(backtest: Backtest, sku: str | None = None) -> float:
    costs = [backtest.cost_per_day(rule, sku).estimate for rule in backtest.rules if followable(rule)]
    return min(costs, default=math.nan)


def item_tables(backtest: Backtest) -> dict[str, Table]:
    """Return the tables with a line for each item: ``cost``, ``service``, ``stock`` and ``orders``."""
    items = items_shown(backtest)
    rules = ordered(backtest)

    def by_rule(id: str, caption: str, cell: Callable[[str, str], TableCell], note: str = "") -> Table:
        rows = [
            [TableCell(shown_name(sku)), *(cell(rule, sku) for rule in rules)]
            for sku in (backtest.skus[item] for item in items)
        ]
        return Table(id, caption, ["Item", *(RULES[rule] for rule in rules)], rows, "", note)

    return {
        "cost": _cost_table(backtest, items),
        "service": by_rule(
            "service",
            "Share of the demand that was served",
            lambda rule, sku: _percent_cell(backtest.service_level(rule, sku)),
            SERVED,
        ),
        "stock": by_rule(
            "stock",
            "Lots left in an evening, on average",
            lambda rule, sku: _lots_cell(backtest.average_stock(rule, sku)),
        ),
        "orders": by_rule(
            "orders",
            "Orders placed on the scored days",
            lambda rule, sku: _count_cell(backtest.orders_placed(rule, sku)),
        ),
    }


def _cost_table(backtest: Backtest, items: list[int]) -> Table:
    us, rules = ours(backtest), ordered(backtest)
    rows = []
    for item in items:
        sku = backtest.skus[item]
        best = _cheapest(backtest, sku)
        cells = []
        for rule in rules:
            found = backtest.cost_per_day(rule, sku)
            kind = "best" if followable(rule) and found.estimate == best else ""
            cells.append(_estimate_cell(found, kind) if rule == us else _cost_cell(found, kind))
        rows.append(
            [
                TableCell(shown_name(sku)),
                _count_cell(int(backtest.lots[item])),
                _count_cell(int(backtest.days[item])),
                _lots_cell(float(backtest.demand[item] / backtest.days[item])),
                *cells,
            ]
        )
    columns = ["Item", "Units in a lot", "Days scored", "Demand per day", *(RULES[rule] for rule in rules)]
    note = (
        "Demand in lots. In brackets the 95% interval over fortnights. The least cost of an item among rules "
        f"that see only their own sales is marked.{_left_out(backtest, items)}"
    )
    return Table("cost", "Cost per day, item by item", columns, rows, "", note)


def _cost_cell(found: Interval, kind: str) -> TableCell:
    return TableCell(_aligned(found.estimate), float(found.estimate), kind)


def _left_out(backtest: Backtest, items: list[int]) -> str:
    if len(items) == len(backtest.skus):
        return ""
    other = rival(backtest)
    what = f"difference between {RULES[ours(backtest)]} and {RULES[other]}" if other else "cost"
    return (
        f" Of {len(backtest.skus):,} items these {len(items)} have the largest {what}, the largest first; "
        "all are in items.csv."
    )


def item_rows(backtest: Backtest) -> tuple[list[str], list[list[str | float | None]]]:
    """Return every number of every item and rule, for a spreadsheet; what there is not is None."""
    scored = HINDSIGHT in backtest.rules
    header = ["sku", "rule", "units_per_lot", "days", "demand", "demand_per_day", "cost", "cost_per_day"]
    header += ["cost_per_day_low", "cost_per_day_high", *(["cost_over_hindsight"] if scored else [])]
    header += ["sold", "service_level", "average_stock", "orders"]
    rules = ordered(backtest)
    rows = [_item_row(backtest, item, rule) for item in range(len(backtest.skus)) for rule in rules]
    return header, rows


def _item_row(backtest: Backtest, item: int, rule: str) -> list[str | float | None]:
    sku, place = backtest.skus[item], backtest.rules.index(rule)
    found, cost = backtest.cost_per_day(rule, sku), float(backtest.cost[place, item])
    days, demand = int(backtest.days[item]), int(backtest.demand[item])
    over: list[str | float | None] = []
    if HINDSIGHT in backtest.rules:
        least = float(backtest.cost[backtest.rules.index(HINDSIGHT), item])
        over = [cost / least if least > 0 else None]
    return [
        sku,
        rule,
        int(backtest.lots[item]),
        days,
        demand,
        demand / days,
        cost,
        float(found.estimate),
        *(None if math.isnan(end) else float(end) for end in (found.low, found.high)),
        *over,
        int(backtest.sold[place, item]),
        backtest.service_level(rule, sku),
        backtest.average_stock(rule, sku),
        backtest.orders_placed(rule, sku),
    ]
