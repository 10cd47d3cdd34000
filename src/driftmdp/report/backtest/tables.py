"""The tables of a backtest: totals and per item, for the page, a terminal and a spreadsheet."""

import math
from collections.abc import Callable

from driftmdp.display import counted
from driftmdp.inventory import Backtest
from driftmdp.inventory.ordering_rules import TITLES
from driftmdp.inventory.supplier_charges import groups_of
from driftmdp.report.backtest.comparison import (
    HINDSIGHT,
    cost_by_item,
    cost_ratio,
    followable,
    items_shown,
    ordered,
    ours,
    rival,
    served,
)
from driftmdp.report.backtest.text import block_name, estimate_text, percent, shown_name
from driftmdp.report.content import Table, TableCell
from driftmdp.report.text import note, number, table_row
from driftmdp.statistics import Interval

LOWEST = "lower bound, all demand known"


def summary_rows(backtest: Backtest) -> tuple[list[str], list[list[str]]]:
    """Return a short table of a backtest for a terminal, ours first.

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
    >>> from driftmdp.report.backtest import summary_rows
    >>> import numpy as np
    >>> from driftmdp.inventory import Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.random.default_rng(7).poisson(4, 120)),))
    >>> header, rows = summary_rows(backtest(sales, Costs(), capacity=20, rules=["hindsight", "driftmdp"]))
    >>> header[:3]
    ['rule', 'cost per item, day [95%]', 'over hindsight [95%]']
    >>> [row[0] for row in rows]
    ['driftmdp', 'best fixed (s, S) in hindsight']
    """
    over_hindsight = ["over hindsight [95%]"] if HINDSIGHT in backtest.rules else []
    header = [
        "rule",
        f"cost per item, {backtest.terms.period} [95%]",
        *over_hindsight,
        "served",
        "average stock",
        "orders",
        *(["spoiled"] if backtest.spoils else []),
    ]
    return header, [[cell.text for cell in row] for row in _total_rows(backtest)]


def total_table(backtest: Backtest) -> Table:
    """Return every rule's totals; the cheapest rule that a shop could follow is marked."""
    us, several, period = ours(backtest), len(backtest.skus) > 1, backtest.terms.period
    hindsight = ["Its cost over hindsight's"] if HINDSIGHT in backtest.rules else []
    columns = ["Rule", f"Cost per item, {period}", *hindsight, "Our cost over its"]
    columns += ["Demand served", "Average stock", "Orders", *(["Units spoiled"] if backtest.spoils else [])]
    last = 4 if backtest.spoils else 3
    ratios = [_ratio_cell(backtest, us, rule) for rule in ordered(backtest)]
    if backtest.lowest is not None:
        ours_over = float(cost_by_item(backtest, us).sum()) / backtest.lowest if backtest.lowest > 0 else None
        ratios.append(TableCell(number(ours_over, 3), ours_over))
    rows = [[*row[:-last], ratio, *row[-last:]] for row, ratio in zip(_total_rows(backtest), ratios, strict=True)]
    overlap = note("backtest-overlap") if several else ""
    caption = f"All items together, on the scored {period}s" if several else f"The scored {period}s"
    return Table("totals", caption, columns, rows, "", note("backtest-totals", ours=TITLES[us], overlap=overlap))


def _total_rows(backtest: Backtest) -> list[list[TableCell]]:
    """Return each rule's name, cost, cost over hindsight's if that was tried, service, stock, orders and waste."""
    rows, costs = [], {rule: backtest.cost_per_period(rule) for rule in ordered(backtest)}
    for rule, cost in costs.items():
        over_hindsight = [_ratio_cell(backtest, rule, HINDSIGHT)] if HINDSIGHT in backtest.rules else []
        service, stock = _percent_cell(served(backtest, rule)), _two_places(backtest.average_stock(rule))
        marked = _estimate_cell(cost, _mark(rule, costs))
        counts = [backtest.orders_placed(rule), *([backtest.units_spoiled(rule)] if backtest.spoils else [])]
        rows.append(table_row(TITLES[rule], marked, *over_hindsight, service, stock, *counts))
    if backtest.lowest is not None:
        per_period = _two_places(backtest.lowest / float(backtest.periods.sum()))
        nothing = [number(None)] * (len(rows[0]) - 2)
        rows.append(table_row(LOWEST, per_period, *nothing))
    return rows


def _ratio_cell(backtest: Backtest, rule: str, other: str) -> TableCell:
    """Return a ratio of costs: 1 for a rule over itself, a dash where the other cost nothing."""
    if rule == other:
        return TableCell("1", 1.0)
    found = cost_ratio(backtest, rule, other)
    return TableCell(number(None)) if found is None else _estimate_cell(found)


def _estimate_cell(found: Interval, kind: str = "") -> TableCell:
    return TableCell(estimate_text(found), float(found.estimate), kind)


def _percent_cell(share: float | None) -> TableCell:
    return TableCell(number(None)) if share is None else TableCell(percent(share), share)


def _two_places(value: float, kind: str = "") -> TableCell:
    """Return a number with two places, so that columns line up, unless that would show it as 0."""
    text = f"{value:,.2f}" if value == 0 or abs(value) >= 0.1 else number(value, 3)
    return TableCell(text, float(value), kind)


def _mark(rule: str, costs: dict[str, Interval]) -> str:
    """Return ``"best"`` for the cheapest of the rules that a shop could follow."""
    fair = {each: cost.estimate for each, cost in costs.items() if followable(each)}
    return "best" if rule in fair and fair[rule] == min(fair.values()) else ""


def item_tables(backtest: Backtest) -> list[Table]:
    """Return the tables with one row per item: ``cost``, ``service``, ``stock``, ``orders``, and ``spoiled``."""
    items, rules = items_shown(backtest), ordered(backtest)
    skus = [backtest.skus[item] for item in items]

    def by_rule(id: str, caption: str, cell: Callable[[str, str], TableCell | int], note_text: str = "") -> Table:
        rows = [table_row(shown_name(sku), *(cell(rule, sku) for rule in rules)) for sku in skus]
        return Table(id, caption, ["Item", *(TITLES[rule] for rule in rules)], rows, "", note_text)

    return [
        _cost_table(backtest, items),
        by_rule(
            "service",
            "Share of the demand that was served",
            lambda rule, sku: _percent_cell(served(backtest, rule, sku)),
            "An item without demand counts as fully served." + (note("backtest-own") if backtest.own else ""),
        ),
        by_rule(
            "stock",
            "Units left in the evening, on average",
            lambda rule, sku: _two_places(backtest.average_stock(rule, sku)),
        ),
        by_rule("orders", f"Orders placed on the scored {backtest.terms.period}s", backtest.orders_placed),
        *([by_rule("spoiled", "Units that spoiled", backtest.units_spoiled)] if backtest.spoils else []),
    ]


def _cost_table(backtest: Backtest, items: list[int]) -> Table:
    us, rules, rows = ours(backtest), ordered(backtest), []
    for item in items:
        sku, pack, periods = backtest.skus[item], int(backtest.packs[item]), int(backtest.periods[item])
        costs, cells = {rule: backtest.cost_per_period(rule, sku) for rule in rules}, []
        for rule, cost in costs.items():
            kind = _mark(rule, costs)
            cells.append(_estimate_cell(cost, kind) if rule == us else _two_places(cost.estimate, kind))
        rows.append(table_row(shown_name(sku), pack, periods, _two_places(backtest.demand[item] / periods), *cells))
    period = backtest.terms.period
    columns = [
        "Item",
        "Units in a pack",
        f"{period.capitalize()}s scored",
        f"Demand per {period}",
        *(TITLES[rule] for rule in rules),
    ]
    text = note("backtest-cost", block=block_name(period, plural=True))
    if len(items) < len(backtest.skus):
        other = rival(backtest)
        what = f"difference between {TITLES[us]} and {TITLES[other]}" if other else "cost"
        text += note("backtest-cut", n_items=len(backtest.skus), n_shown=len(items), what=what)
    return Table("cost", f"Cost per {period}, per item", columns, rows, "", text)


def has_suppliers(backtest: Backtest) -> bool:
    """Return whether items of a supplier share something."""
    return any(not path.terms.shared_order.is_alone for path in backtest.paths)


def supplier_table(backtest: Backtest) -> Table:
    """Return what orders to each supplier cost under each rule, whatever was in them, and how many there were."""
    rules, rows = ordered(backtest), []
    for group in groups_of(backtest.paths):
        terms = backtest.paths[group[0]].terms
        if not terms.shared_order.is_alone:
            cells: list[TableCell | int] = []
            for rule in rules:
                place, cost = backtest.rules.index(rule), terms.shared_order.cost
                paid = float(backtest.cost[place, group].sum())
                orders = round(float(backtest.charged[place, group].sum()) / cost) if cost > 0 else None
                text = number(paid, 4) if orders is None else f"{number(paid, 4)} ({counted(orders, 'order')})"
                cells.append(TableCell(text, paid))
            rows.append(table_row(shown_name(terms.supplier), len(group), *cells))
    columns = ["Supplier", "Items", *(TITLES[rule] for rule in rules)]
    caption = "Cost of each supplier's items, with the orders placed there"
    return Table("suppliers", caption, columns, rows, "", note("backtest-suppliers"))


def item_rows(backtest: Backtest) -> tuple[list[str], list[list[str | float | None]]]:
    """Return every number of every item and rule, for a spreadsheet; a missing number is None."""
    scored = HINDSIGHT in backtest.rules
    header = ["sku", "rule", "units_per_pack", "periods", "demand", "demand_per_period", "cost"]
    header += [
        "cost_per_period",
        "cost_per_period_low",
        "cost_per_period_high",
        *(["cost_over_hindsight"] if scored else []),
    ]
    header += ["sold", "service_level", "average_stock", "orders", *(["spoiled"] if backtest.spoils else [])]
    header += ["supplier_cost"] if has_suppliers(backtest) else []
    rules = ordered(backtest)
    rows = [_item_row(backtest, item, rule) for item in range(len(backtest.skus)) for rule in rules]
    return header, rows


def _item_row(backtest: Backtest, item: int, rule: str) -> list[str | float | None]:
    sku, cost = backtest.skus[item], float(cost_by_item(backtest, rule)[item])
    found, sold = backtest.cost_per_period(rule, sku), backtest.sold[backtest.rules.index(rule), item]
    periods, demand = int(backtest.periods[item]), int(backtest.demand[item])
    row: list[str | float | None] = [sku, rule, int(backtest.packs[item]), periods, demand]
    row += [demand / periods, cost]
    row += [float(found.estimate), *(None if math.isnan(end) else float(end) for end in (found.low, found.high))]
    if HINDSIGHT in backtest.rules:
        least = float(cost_by_item(backtest, HINDSIGHT)[item])
        row.append(cost / least if least > 0 else None)
    return [
        *row,
        int(sold),
        served(backtest, rule, sku),
        backtest.average_stock(rule, sku),
        backtest.orders_placed(rule, sku),
        *([backtest.units_spoiled(rule, sku)] if backtest.spoils else []),
        *([float(backtest.charged[backtest.rules.index(rule), item])] if has_suppliers(backtest) else []),
    ]
