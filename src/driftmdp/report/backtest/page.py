"""The page of a backtest, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftmdp.display import counted
from driftmdp.experiments.store import writing
from driftmdp.files import write_whole
from driftmdp.inventory import RULES, Backtest, Trace
from driftmdp.inventory.csv_io import csv_text
from driftmdp.inventory.sales_history import WARM_UP
from driftmdp.report.backtest.figures import FURTHEST, draw_item, draw_ratios, draw_totals, tallest
from driftmdp.report.backtest.names import printable, shown_name
from driftmdp.report.backtest.tables import item_rows, item_tables, total_table
from driftmdp.report.backtest.text import assumptions, findings, intervals, sight, title
from driftmdp.report.backtest.view import HINDSIGHT, item_ratios, losses, ours
from driftmdp.report.content import Figure, ReportContent, Section
from driftmdp.report.page import render
from driftmdp.report.rendered_figure import RenderedFigure

BIGGEST = 3  # items with the most demand that are drawn
COMPARED = (HINDSIGHT, "face-value")  # item by item


@dataclass(frozen=True)
class WrittenBacktest:
    """What was written: the page, the table of items, and the figures; and what the page shows.

    Attributes
    ----------
    page, table, figures
        The files.
    report
        What the page shows.
    """

    page: Path
    table: Path
    figures: list[Path]
    report: ReportContent


def write_backtest(
    backtest: Backtest,
    to: str | Path,
    pictures: Sequence[str] | None = None,
) -> WrittenBacktest:
    """Write the page of a backtest, its figures as SVG and PNG, and all numbers by item and rule as CSV.

    Parameters
    ----------
    backtest
        Its result.
    to
        The folder to write to, made if it is not there: ``index.html``, ``items.csv`` and the figures.
    pictures
        Items to draw day by day; by default the three with the most demand, and the one on which our agent
        loses most against the best fixed rule in hindsight.

    Returns
    -------
    WrittenBacktest
        Where it all is.

    Raises
    ------
    InvalidInputError
        If an item to draw was not scored; nothing is written then.
    StorageError
        If the folder cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from driftmdp.inventory import Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.random.default_rng(7).poisson(4, 120)),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_backtest(backtest(sales, Costs(), capacity=20), folder, pictures=[])
    >>> written.page.name, written.table.name, [path.name for path in written.figures]
    ('index.html', 'items.csv', ['totals.svg', 'totals.png', 'ratios.svg', 'ratios.png'])
    """
    report, drawings = backtest_report(backtest, pictures)
    content, table = render(report).encode(), csv_text(*item_rows(backtest)).encode()
    target, drawn = Path(to), []
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        for name, drawing in drawings.items():
            for suffix, picture in (("svg", drawing.svg.encode()), ("png", drawing.png)):
                drawn.append(target / f"{name}.{suffix}")
                write_whole(drawn[-1], picture)
        write_whole(target / "items.csv", table)
        write_whole(target / "index.html", content)
    return WrittenBacktest(target / "index.html", target / "items.csv", drawn, report)


def backtest_report(
    backtest: Backtest,
    pictures: Sequence[str] | None = None,
) -> tuple[ReportContent, dict[str, RenderedFigure]]:
    """Return what the page of a backtest shows, and its drawings by the names of their files.

    Parameters
    ----------
    backtest, pictures
        As in ``write_backtest``.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory import Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.random.default_rng(7).poisson(4, 120)),))
    >>> report, drawings = backtest_report(backtest(sales, Costs(), capacity=20))
    >>> report.title, list(drawings)
    ('Inventory backtest: 1 item, 60 days', ['totals', 'ratios', 'item-1'])
    """
    wanted = default_pictures(backtest) if pictures is None else list(dict.fromkeys(pictures))
    traces = {f"item-{place}": backtest.trace(sku) for place, sku in enumerate(wanted, start=1)}
    drawings = {"totals": draw_totals(backtest)}
    others = [rule for rule in COMPARED if rule in backtest.rules and item_ratios(backtest, rule).size]
    others = [rule for rule in others if rule != ours(backtest)]
    if others:
        drawings["ratios"] = draw_ratios(backtest, others)
    drawings |= {name: draw_item(trace, backtest.capacity) for name, trace in traces.items()}
    figures = [_totals_figure(backtest, drawings["totals"])]
    figures += [_ratios_figure(backtest, others, drawings["ratios"])] if others else []
    days = [_item_figure(name, trace, backtest.capacity, drawings[name]) for name, trace in traces.items()]
    return _report(backtest, figures, days), drawings


def default_pictures(backtest: Backtest) -> list[str]:
    """Return the items to draw: those with the most demand in units, and where we lose most to hindsight."""
    units = backtest.demand * backtest.lots
    items = [int(item) for item in np.argsort(-units, kind="stable")[:BIGGEST]]
    if HINDSIGHT in backtest.rules and (lost := losses(backtest)).max() > 0:
        items.append(int(np.argmax(lost)))
    return list(dict.fromkeys(backtest.skus[item] for item in items))


def _report(backtest: Backtest, figures: list[Figure], days: list[Figure]) -> ReportContent:
    paragraphs = [findings(backtest), assumptions(backtest), sight(backtest), intervals(backtest)]
    lead = Section("lead", "What was found", paragraphs, [total_table(backtest)], figures)
    tables = item_tables(backtest)
    sections = [Section("days", "Day by day", [_days_said()], [], days)] if days else []
    sections += [
        Section("cost", "Cost by item", [], [tables["cost"]]),
        Section("service", "Service by item", [], [tables["service"]]),
        Section("stock", "Stock by item", [], [tables["stock"]]),
        Section("orders", "Orders by item", [], [tables["orders"]]),
    ]
    if backtest.remarks:
        sections.append(Section("remarks", "Remarks", [printable(remark) for remark in backtest.remarks]))
    nothing = Figure("static", "", "", "<svg/>")
    return ReportContent(title(backtest), lead, [], [], [], {}, sections, nothing)


def _days_said() -> str:
    return (
        f"How {RULES['optimist']} went through the past. Its estimate is made each morning from its own "
        "sales, of demand up to the capacity (dashed). The time axis has only the days that the file has; the "
        f"first {WARM_UP}, shaded, are not scored."
    )


def _totals_figure(backtest: Backtest, drawing: RenderedFigure) -> Figure:
    caption = (
        "Left, what each rule cost, with 95% intervals; right, our cost over its, on the same items. Hollow: "
        "rules that see what no shop can see."
    )
    said = "; ".join(f"{RULES[rule]} {backtest.cost_per_day(rule).estimate:.2f}" for rule in backtest.rules)
    return Figure("totals", caption, f"Cost per item and day by rule: {said}.", drawing.svg)


def _ratios_figure(backtest: Backtest, others: list[str], drawing: RenderedFigure) -> Figure:
    found = {RULES[other]: item_ratios(backtest, other) for other in others}
    said = "; ".join(f"less than {rule} in {int((r < 1).sum())} of {r.size}" for rule, r in found.items())
    beyond = sum(int((ratios > FURTHEST).sum()) for ratios in found.values())
    caption = "Our cost over another rule's, a dot for each item; below 1 ours is less."
    if beyond:
        caption += f" Drawn as triangles at {FURTHEST:g}: {counted(beyond, 'ratio')} above it."
    return Figure("ratios", caption, f"By item, {RULES[ours(backtest)]} cost {said}.", drawing.svg)


def _item_figure(name: str, trace: Trace, capacity: int, drawing: RenderedFigure) -> Figure:
    beyond = int((trace.demand > tallest(trace, capacity)).sum())
    sku = shown_name(trace.sku)
    caption = f"{sku}: demand and our estimate of its mean; stock in the evening and levels ordered up to."
    description = (
        f"{sku}, {trace.dates.size} days from {trace.dates[0]} to {trace.dates[-1]}: mean demand "
        f"{trace.demand.mean():.2f} lots a day, mean estimate {trace.estimate.mean():.2f}, mean stock "
        f"{trace.stock.mean():.2f}, {int((trace.orders > 0).sum())} orders."
    )
    if beyond:
        caption += f" Triangles: {counted(beyond, 'day')} with more demand, up to {trace.demand.max():,} lots."
    return Figure(name, caption, description, drawing.svg)
