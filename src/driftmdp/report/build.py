"""From stored results to everything that a page shows."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import brief, counted
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import CellCurves, Results
from driftmdp.report import tables
from driftmdp.report.borl_section import arms_section
from driftmdp.report.claims import Claim
from driftmdp.report.claims_section import Judged, judge
from driftmdp.report.content import Band, Curve, Figure, Line, ReportContent, Section, Table
from driftmdp.report.figures import draw_curves, draw_drift
from driftmdp.report.provenance import provenance_section
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.report.view import View, view
from driftmdp.statistics import mean_interval
from driftmdp.validation import nearest_name

MOST_NUMBERS = 1_500_000  # in a page; beyond, curves are thinned
CURVE_RESAMPLES = 500  # for bands in a chart; tables have 2,000
CURVE_DIGITS = 7


@dataclass(frozen=True)
class Built:
    """A report, its drawings by the name of their files, and what a terminal shows: outcomes and claims."""

    report: ReportContent
    drawings: dict[str, RenderedFigure]
    outcomes: Table
    claims: list[Claim]

    __repr__ = brief


def build(results: Results, baseline: str | None = None) -> Built:
    """Return the report of some results.

    Parameters
    ----------
    results
        From ``driftmdp.experiments.load``.
    baseline
        The label of the agent that others are compared with; by default the spec's, or the first.

    Examples
    --------
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
    ['Collected, and missed', 'Who is better, and how sure that is', 'How the worlds drift', ...]
    """
    found = view(results)
    if not found.curves:
        failed = not results.failures.empty
        why = f"its runs failed: see {results.folder / 'failures.json'}" if failed else "it has none"
        raise InvalidInputError(f"{results.folder} must have runs to report on; {why}. Run its spec again.")
    base = _baseline(found, baseline)
    judged = judge(found)
    curves = _curves(found)
    first = found.settings[0]
    drawings = {what: draw_curves(found, first, curves, what) for what in ("reward", "regret")}
    drawings["drift"] = draw_drift(found)
    sections = [
        judged.section if isinstance(judged, Judged) else judged,
        Section("outcomes", "Collected, and missed", [], [tables.outcomes(found, s) for s in found.settings]),
        Section("comparisons", "Who is better, and how sure that is", [], _comparisons(found, base)),
        arms_section(found, drawings),
        _drift_section(found, drawings["drift"]),
        Section("agents", "The agents", [], [tables.agents_table(found, s) for s in found.settings]),
        provenance_section(results),
    ]
    static = Figure("static", f"Cumulative reward; {first.label}", "A line an agent.", drawings["reward"].svg)
    report = ReportContent(
        str(results.manifest["spec"]["report"]["title"] or results.manifest["name"]),
        _lead(found, judged),
        found.panels,
        found.lines,
        found.settings,
        curves,
        [section for section in sections if section is not None],
        static,
    )
    claims = judged.claims[0] if isinstance(judged, Judged) else []
    return Built(report, drawings, tables.outcomes(found, first), claims)


def _baseline(found: View, name: str | None) -> Line:
    wanted = name or found.results.manifest["spec"]["report"]["baseline"] or found.lines[0].label
    line = found.line(wanted) or next((line for line in found.lines if line.label.startswith(f"{wanted} (")), None)
    if line is None:
        known = [line.label for line in found.lines]
        raise InvalidInputError(
            f"baseline must be one of {', '.join(map(repr, known))}; got {wanted!r}.{nearest_name(wanted, known)}"
        )
    return line


def _lead(found: View, judged: Judged | Section | None) -> Section:
    results = found.results
    paragraphs = [
        *results.manifest["spec"]["report"]["about"],
        f"{counted(len(results.runs), 'run')}: {counted(len(found.panels), 'problem')}, "
        f"{counted(len(results.manifest['agents']), 'agent')} (one per choice of parameters), "
        f"{counted(len(results.manifest['seeds']), 'seed')}. Lines are means over seeds, bands are 95% "
        "bootstrap intervals. Agents with the same seed face the same luck.",
        *tables.vacuous_agents(results),
    ]
    if results.n_missing:
        failed = f"; {len(results.failures):,} of them failed" if len(results.failures) else ""
        are = "is" if results.n_missing == 1 else "are"
        missing = counted(results.n_missing, "run")
        paragraphs.append(f"{missing} that the spec asks for {are} missing here{failed}.")
    if isinstance(judged, Judged):
        paragraphs.append(judged.reason)
    paragraphs += _covered(found)
    return Section("lead", "What was run", paragraphs)


def _covered(found: View) -> list[str]:
    """Return a sentence for every two agents of the first setting that did the same in every run."""
    setting, said = found.settings[0], []
    for one, other in itertools.combinations(found.lines, 2):
        pairs = [(found.cell(setting, p, one), found.cell(setting, p, other)) for p in found.panels]
        both = [(a, b) for a, b in pairs if a is not None and b is not None]
        if both and all(np.array_equal(found.curves[a].rewards, found.curves[b].rewards) for a, b in both):
            said.append(
                f"{one.label} and {other.label} did exactly the same: in the charts one line covers the other."
            )
    return said


def _comparisons(found: View, base: Line) -> list[Table]:
    every: list[Table | None] = []
    for s in found.settings:
        every += [
            tables.ranking(found, s),
            tables.paired_differences(found, s, base),
            tables.slopes(found, s),
        ]
    return [table for table in every if table is not None]


def _drift_section(found: View, drawing: RenderedFigure) -> Section:
    caption = "The mean reward and the transition probability that move most, and the optimal gain of every step"
    figure = Figure("drift", caption, "Lines over time, a column for each problem.", drawing.svg)
    return Section("drift", "How the worlds drift", [], [tables.problems_table(found)], [figure])


def _curves(found: View) -> dict[str, Curve]:
    """Return the means and intervals of every cell that is shown."""
    shown = [panel for setting in found.settings for panel in setting.curves.values()]
    cells = list(dict.fromkeys(cell for panel in shown for cell in panel.values()))
    most = max(20, MOST_NUMBERS // (6 * len(cells)))
    with ThreadPoolExecutor() as pool:
        return dict(zip(cells, pool.map(lambda cell: _curve(found.curves[cell], most), cells), strict=True))


def _curve(curves: CellCurves, most: int) -> Curve:
    picked = np.unique(np.linspace(0, curves.t.size - 1, min(most, curves.t.size)).astype(int))
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
