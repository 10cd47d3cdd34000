"""The page of a backtest, and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftmdp.display import counted
from driftmdp.inventory import Backtest, Trace
from driftmdp.inventory.csv_io import csv_text
from driftmdp.inventory.ordering_rules import OURS, TITLES
from driftmdp.report.backtest import text
from driftmdp.report.backtest.bars import cost_bars
from driftmdp.report.backtest.comparison import HINDSIGHT, item_ratios, losses, ours
from driftmdp.report.backtest.figures import MAX_RATIO, demand_ceiling, draw_item, draw_ratios, draw_totals
from driftmdp.report.backtest.money import money_caveats, money_sentence
from driftmdp.report.backtest.tables import has_suppliers, item_rows, item_tables, supplier_table, total_table
from driftmdp.report.content import Figure, Fold, ReportContent, Section
from driftmdp.report.page import write_page
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.report.text import note

LARGEST_ITEMS_DRAWN = 3
COMPARED_PER_ITEM = (HINDSIGHT, "face-value")


@dataclass(frozen=True)
class WrittenBacktest:
    """The files of a written backtest, and what the page shows.

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


def write_backtest(backtest: Backtest, to: str | Path, pictures: Sequence[str] | None = None) -> WrittenBacktest:
    """Write the page of a backtest, its figures as SVG and PNG, and all numbers by item and rule as CSV.

    Parameters
    ----------
    backtest
        Its result.
    to
        The folder for ``index.html``, ``by-item.csv`` and the figures, which is made if needed.
    pictures
        Items to draw over time; by default the three with the most demand, and the one on which driftmdp
        loses most against the best fixed rule in hindsight.

    Returns
    -------
    WrittenBacktest
        The files.

    Raises
    ------
    InvalidInputError
        If an item to draw was not scored. Nothing is written then.
    StorageError
        If the folder cannot be written to.

    Examples
    --------
    >>> from driftmdp.report.backtest import write_backtest
    >>> import tempfile
    >>> import numpy as np
    >>> from driftmdp.inventory import Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.random.default_rng(7).poisson(4, 120)),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_backtest(backtest(sales, Costs(), capacity=20), folder, pictures=[])
    >>> written.page.name, written.table.name, [path.name for path in written.figures]
    ('index.html', 'by-item.csv', ['totals.svg', 'totals.png', 'ratios.svg', 'ratios.png'])
    """
    report, drawings = backtest_report(backtest, pictures)
    folder, table = Path(to), csv_text(*item_rows(backtest)).encode()
    page, figures = write_page(folder, report, drawings, {"by-item.csv": table})
    return WrittenBacktest(page, folder / "by-item.csv", figures, report)


def backtest_report(
    backtest: Backtest, pictures: Sequence[str] | None = None
) -> tuple[ReportContent, dict[str, RenderedFigure]]:
    """Return the content of a backtest's page, and its figures by file name.

    Parameters
    ----------
    backtest, pictures
        As in ``write_backtest``.

    Examples
    --------
    >>> from driftmdp.report.backtest import backtest_report
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
    traces = {f"item-{place}": trace for place, trace in enumerate(backtest.traces(wanted), start=1)}
    drawings = {"totals": draw_totals(backtest)}
    tried = [rule for rule in COMPARED_PER_ITEM if rule in backtest.rules and rule != ours(backtest)]
    others = [rule for rule in tried if item_ratios(backtest, rule).size]
    if others:
        drawings["ratios"] = draw_ratios(backtest, others)
    drawings |= {name: draw_item(trace, backtest.terms.period) for name, trace in traces.items()}
    figures = [_totals_figure(backtest, drawings["totals"])]
    figures += [_ratios_figure(backtest, others, drawings["ratios"])] if others else []
    period = backtest.terms.period
    days = [_item_figure(name, trace, period, drawings[name]) for name, trace in traces.items()]
    unknown = " ".join(money_caveats(backtest))
    lead = Section(
        "lead", "What was found", [unknown] if unknown else [], bars=[cost_bars(backtest)], folds=_folds(backtest)
    )
    rules = Section("rules", "All rules", [], [total_table(backtest)], figures)
    explained = note("backtest-days", agent=TITLES[OURS], period=period)
    by_day = Section("days", f"{period.capitalize()} by {period}", [explained], [], days)
    sections = [rules]
    if has_suppliers(backtest):
        sections.append(Section("suppliers", "Suppliers", [], [supplier_table(backtest)]))
    sections += [by_day] if days else []
    for table in item_tables(backtest):
        sections.append(Section(table.id, f"{table.id.capitalize()} per item", [], [table]))
    if backtest.remarks:
        sections.append(Section("remarks", "Remarks", [text.printable(remark) for remark in backtest.remarks]))
    return ReportContent(
        text.title(backtest), lead, [], [], [], {}, sections, headline=money_sentence(backtest)
    ), drawings


def _folds(backtest: Backtest) -> list[Fold]:
    """Return what the first sentence rests on, for who wants to know."""
    return [
        Fold("Against every rule", [text.findings(backtest)]),
        Fold("What is assumed", [text.assumptions(backtest)]),
        Fold("What each rule sees", [text.information(backtest)]),
        Fold("What the intervals say", [text.interval_note(backtest)]),
    ]


def default_pictures(backtest: Backtest) -> list[str]:
    """Return the items to draw: those with the most demand, and our largest loss against hindsight."""
    if not backtest.ours:
        return []
    items = [int(item) for item in np.argsort(-backtest.demand, kind="stable")[:LARGEST_ITEMS_DRAWN]]
    if HINDSIGHT in backtest.rules and (lost := losses(backtest)).max() > 0:
        items.append(int(np.argmax(lost)))
    return list(dict.fromkeys(backtest.skus[item] for item in items))


def _totals_figure(backtest: Backtest, drawing: RenderedFigure) -> Figure:
    caption = (
        "Left, what each rule cost, with 95% intervals; right, our cost over its, on the same items. Hollow: "
        "rules that see what no shop can see."
    )
    costs = "; ".join(f"{TITLES[rule]} {backtest.cost_per_period(rule).estimate:.2f}" for rule in backtest.rules)
    return Figure("totals", caption, f"Cost per item and {backtest.terms.period} by rule: {costs}.", drawing.svg)


def _ratios_figure(backtest: Backtest, others: list[str], drawing: RenderedFigure) -> Figure:
    found = {TITLES[other]: item_ratios(backtest, other) for other in others}
    counts = "; ".join(f"less than {rule} in {int((r < 1).sum())} of {r.size}" for rule, r in found.items())
    beyond = sum(int((ratios > MAX_RATIO).sum()) for ratios in found.values())
    caption = "Our cost over another rule's, one dot per item; below 1 ours is less."
    if beyond:
        caption += f" Drawn as triangles at {MAX_RATIO:g}: {counted(beyond, 'ratio')} above it."
    return Figure("ratios", caption, f"By item, {TITLES[ours(backtest)]} cost {counts}.", drawing.svg)


def _item_figure(name: str, trace: Trace, period: str, drawing: RenderedFigure) -> Figure:
    beyond = int((trace.demand > demand_ceiling(trace)).sum())
    sku = text.shown_name(trace.sku)
    caption = (
        f"{sku}: demand and our estimate of its mean; stock in the evening and levels ordered up to, in units."
    )
    description = (
        f"{sku}, {counted(trace.dates.size, period)} from {trace.dates[0]} to {trace.dates[-1]}: mean demand "
        f"{trace.demand.mean():.2f} units per {period}, mean estimate {trace.estimate.mean():.2f}, mean stock "
        f"{trace.stock.mean():.2f}, {counted(int((trace.orders > 0).sum()), 'order')}."
    )
    if beyond:
        caption += f" Triangles: {counted(beyond, period)} with more demand, up to {trace.demand.max():,} units."
    return Figure(name, caption, description, drawing.svg)
