"""Build the report of stored results, and write it as a page with figures."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import CellCurves, Results, load
from driftmdp.report import sections, tables
from driftmdp.report.content import Band, Curve, Figure, Line, ReportContent, Section, Table
from driftmdp.report.figures import draw_curves, draw_drift
from driftmdp.report.page import write_page
from driftmdp.report.panels import Layout, layout_of
from driftmdp.report.paper.claims import Claim, judge_claims
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.statistics import mean_interval
from driftmdp.validation import nearest_name

MAX_NUMBERS_PER_PAGE = 1_500_000  # with more, curves are thinned
CURVE_RESAMPLES = 500  # for bands in a chart; tables have 2,000
CURVE_DIGITS = 7


@dataclass(frozen=True)
class BuiltReport:
    """A report before it is written.

    Attributes
    ----------
    report
        The content of the page.
    drawings
        The static figures, by file name.
    outcomes, claims
        The first setting's table of outcomes and its claims, which a terminal shows.
    """

    report: ReportContent
    drawings: dict[str, RenderedFigure]
    outcomes: Table
    claims: list[Claim]

    __repr__ = brief


@dataclass(frozen=True)
class WrittenReport:
    """The files of a written report, and what the page shows.

    Attributes
    ----------
    page, figures
        The files.
    n_missing
        How many runs were missing.
    built
        What the page shows.
    """

    page: Path
    figures: list[Path]
    n_missing: int
    built: BuiltReport


def write_report(folder: str | Path, to: str | Path | None = None, baseline: str | None = None) -> WrittenReport:
    """Write the page of a folder of results, and its figures as SVG and PNG.

    Parameters
    ----------
    folder
        The folder of the results.
    to
        The folder to write to; ``folder/report`` by default.
    baseline
        The label of the agent that others are compared with; the spec's by default.

    Returns
    -------
    WrittenReport
        The files.

    Examples
    --------
    >>> from driftmdp.report import write_report
    >>> import tempfile
    >>> from driftmdp.experiments import parse_spec, run
    >>> spec = parse_spec('''
    ... seeds = 2
    ... problems = [{name = "two-state", parameters = {horizon = 100}}]
    ... agents = [{name = "Random"}, {name = "Oracle"}]
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = run(spec, folder)
    ...     write_report(folder).page.name
    'index.html'
    """
    results = load(folder)
    built = build(results, baseline)
    target = Path(folder) / "report" if to is None else Path(to)
    page, figures = write_page(target, built.report, built.drawings)
    return WrittenReport(page, figures, results.n_missing, built)


def build(results: Results, baseline: str | None = None) -> BuiltReport:
    """Return the report of some results.

    Parameters
    ----------
    results
        From ``driftmdp.experiments.load``.
    baseline
        The label of the agent that others are compared with; by default the spec's, or the first.

    Examples
    --------
    >>> from driftmdp.report import build
    >>> import tempfile
    >>> from driftmdp.experiments import load, parse_spec, run
    >>> spec = parse_spec('''
    ... seeds = 2
    ... problems = [{name = "two-state", parameters = {horizon = 100}}]
    ... agents = [{name = "Random"}, {name = "Oracle"}]
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = run(spec, folder)
    ...     [section.title for section in build(load(folder)).report.sections]
    ['Reward and regret', 'Comparisons between agents', 'How the problems drift', 'The agents', 'Provenance']
    """
    layout = layout_of(results)
    if not layout.curves:
        failed = not results.failures.empty
        why = f"its runs failed: see {results.folder / 'failures.json'}" if failed else "it has none"
        raise InvalidInputError(f"{results.folder} must have runs to report on; {why}. Run its spec again.")
    base = _baseline(layout, baseline)
    judged = judge_claims(layout)
    settings = judged.best_first(layout.settings)
    layout = replace(layout, settings=settings)
    curves = _curves(layout)
    arms = sections.arms_figures(layout)
    drawings = {what: draw_curves(layout, settings[0], curves, what) for what in ("reward", "regret")}
    drawings["drift"] = draw_drift(layout)
    drawings |= {figure.id: drawn for figure, drawn in arms}
    outcomes = [tables.outcomes(layout, setting) for setting in settings]
    agents = [tables.agents_table(layout, setting) for setting in settings]
    shown = [
        judged.section(settings),
        Section("outcomes", "Reward and regret", [], outcomes),
        Section("comparisons", "Comparisons between agents", [], _comparisons(layout, base)),
        Section("arms", "Arms drawn per block", [], [], [figure for figure, _ in arms]) if arms else None,
        sections.drift_section(layout, drawings["drift"]),
        Section("agents", "The agents", [], agents),
        sections.provenance_section(results),
    ]
    report = ReportContent(
        str(results.manifest["spec"]["report"]["title"] or results.manifest["name"]),
        sections.lead_section(layout, *judged.reason(settings)),
        layout.panels,
        layout.lines,
        settings,
        curves,
        [section for section in shown if section is not None],
        Figure("static", f"Cumulative reward; {settings[0].label}", "One line per agent.", drawings["reward"].svg),
    )
    return BuiltReport(report, drawings, outcomes[0], judged.claims.get(settings[0].id, []))


def _baseline(layout: Layout, name: str | None) -> Line:
    labels = [line.label for line in layout.lines]
    wanted = name or layout.results.manifest["spec"]["report"]["baseline"] or labels[0]
    varied = (line for line in layout.lines if line.label.startswith(f"{wanted} ("))
    line = layout.line(wanted) or next(varied, None)
    if line is None:
        raise InvalidInputError(
            f"baseline must be one of {', '.join(map(repr, labels))}; got {wanted!r}.{nearest_name(wanted, labels)}"
        )
    return line


def _comparisons(layout: Layout, base: Line) -> list[Table]:
    found: list[Table | None] = []
    for setting in layout.settings:
        found += [tables.ranking(layout, setting), tables.paired_differences(layout, setting, base)]
        found.append(tables.slopes(layout, setting))
    return [table for table in found if table is not None]


def _curves(layout: Layout) -> dict[str, Curve]:
    """Return the means and intervals of every cell that is shown."""
    shown = [panel for setting in layout.settings for panel in setting.curves.values()]
    cells = list(dict.fromkeys(cell for panel in shown for cell in panel.values()))
    n_points = max(20, MAX_NUMBERS_PER_PAGE // (6 * len(cells)))
    with ThreadPoolExecutor() as pool:
        curves = pool.map(lambda cell: _curve(layout.curves[cell], n_points), cells)
        return dict(zip(cells, curves, strict=True))


def _curve(curves: CellCurves, n_points: int) -> Curve:
    picked = np.unique(np.linspace(0, curves.t.size - 1, min(n_points, curves.t.size)).astype(int))
    rewards, regrets = _band(curves.rewards[:, picked]), _band(curves.regrets[:, picked])
    return Curve(curves.t[picked].tolist(), rewards, regrets, len(curves.seeds))


def _band(values: NDArray[np.float64]) -> Band:
    found = mean_interval(values, resamples=CURVE_RESAMPLES)
    nothing: list[float | None] = [None] * values.shape[1]
    low, high = (nothing, nothing) if len(values) == 1 else (_rounded(found.low), _rounded(found.high))
    return Band(_rounded(found.estimate), low, high)


def _rounded(values: NDArray[np.float64]) -> list[Any]:
    """Return numbers with the digits that a chart can show, which keeps pages small."""
    return [float(f"{value:.{CURVE_DIGITS}g}") for value in values.tolist()]
