"""The sections of a report: what was run, which arms BORL drew, how the problems drift, provenance."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import counted
from driftmdp.experiments import Results
from driftmdp.experiments.identity import shown
from driftmdp.experiments.schema import read_json
from driftmdp.report import tables
from driftmdp.report.content import Figure, Line, Section, Table, TableCell
from driftmdp.report.figures import draw_arms
from driftmdp.report.panels import Layout
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.report.text import table_row

SESSIONS_SHOWN = 20


def lead_section(layout: Layout, *remarks: str) -> Section:
    """Return what was run, what is missing, and some remarks."""
    results = layout.results
    paragraphs = [
        *results.manifest["spec"]["report"]["about"],
        f"{counted(len(results.runs), 'run')}: {counted(len(layout.panels), 'problem')}, "
        f"{counted(len(results.manifest['agents']), 'agent')} (one per choice of parameters), "
        f"{counted(len(results.manifest['seeds']), 'seed')}. Lines are means over seeds, bands are 95% bootstrap "
        "intervals. Agents with the same seed face the same random draws (common random numbers).",
        *tables.vacuous_agents(results),
    ]
    if results.n_missing:
        failed = f"; {len(results.failures):,} of them failed" if len(results.failures) else ""
        are = "is" if results.n_missing == 1 else "are"
        paragraphs.append(f"{counted(results.n_missing, 'run')} that the spec asks for {are} missing here{failed}.")
    return Section("lead", "What was run", [*paragraphs, *remarks, *_identical_lines(layout)])


def _identical_lines(layout: Layout) -> list[str]:
    """Return a sentence for every two agents of the first setting that did the same in every run."""
    setting, sentences = layout.settings[0], []
    for one, other in itertools.combinations(layout.lines, 2):
        pairs = [(layout.cell(setting, p, one), layout.cell(setting, p, other)) for p in layout.panels]
        both = [(layout.curves[a], layout.curves[b]) for a, b in pairs if a is not None and b is not None]
        if both and all(np.array_equal(a.rewards, b.rewards) for a, b in both):
            both_names = f"{one.label} and {other.label}"
            sentences.append(f"{both_names} did exactly the same: in the charts one line covers the other.")
    return sentences


def shares_of_draws(runs: Sequence[dict[str, Any]]) -> dict[str, tuple[list[str], NDArray[np.float64]]]:
    """Return for each part of a master's arms its values, and the share of seeds that drew each in each block.

    Parameters
    ----------
    runs
        The runs' summaries: ``names``, ``arms`` and ``chosen`` of each.

    Returns
    -------
    dict
        By name (``"window"``): the values as text, and shares of shape (values, blocks).

    Examples
    --------
    >>> from driftmdp.report.sections import shares_of_draws
    >>> shares = shares_of_draws([{"names": ["window"], "arms": [[1], [8]], "chosen": [0, 1, 1]}])
    >>> shares["window"][0], shares["window"][1].tolist()
    (['1', '8'], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    """
    shares = {}
    for part, name in enumerate(runs[0]["names"]):
        values = sorted({arm[part] for arm in runs[0]["arms"]})
        place = {value: number for number, value in enumerate(values)}
        counts = np.zeros((len(values), max(len(run["chosen"]) for run in runs)))
        for run in runs:
            for block, arm in enumerate(run["chosen"]):
                counts[place[run["arms"][arm][part]], block] += 1
        shares[name] = [f"{value:.3g}" for value in values], counts / len(runs)
    return shares


def arms_figures(layout: Layout) -> list[tuple[Figure, RenderedFigure]]:
    """Return a figure per agent of the first setting that draws arms block by block, such as BORL."""
    description = "Heat maps: blocks from left to right, values of the arms upwards; brighter is more often."
    figures = []
    for line in layout.lines:
        cells = {p.label: cell for p in layout.panels if (cell := layout.cell(layout.settings[0], p, line))}
        runs = {label: summaries for label, cell in cells.items() if (summaries := _runs_with_arms(layout, cell))}
        if runs:
            drawn = draw_arms({label: shares_of_draws(summaries) for label, summaries in runs.items()})
            caption = _caption(layout, line, next(iter(cells.values())), next(iter(runs.values()))[0])
            figures.append((Figure(f"arms-{line.id}", caption, description, drawn.svg), drawn))
    return figures


def _runs_with_arms(layout: Layout, cell: str) -> list[dict[str, Any]]:
    runs = [read_json(text) for text in layout.results.summaries(cell)]
    return runs if runs and isinstance(runs[0], dict) and runs[0].keys() >= {"names", "arms", "chosen"} else []


def _caption(layout: Layout, line: Line, cell: str, run: dict[str, Any]) -> str:
    varied = ", ".join(f"{key} = {shown(value)}" for key, value in layout.agent_of[cell]["varied"].items())
    name = f"{line.label} ({varied})" if varied else line.label
    caption = f"{name}: the share of seeds that drew each value in each block."
    if run.get("clipped"):
        caption += f" Its share of uniform draws, {run['formula_gamma']:.3g}, is clipped to {run['gamma']:.3g}"
        uniform = ": all arms are equally likely whatever was earned, so one seed draws the same in every problem."
        caption += uniform if run["gamma"] >= 1 else "."
    return caption


def drift_section(layout: Layout, drawing: RenderedFigure) -> Section:
    """Return the problems, and how the parts of each that change most change over time."""
    caption = "The mean reward and the transition probability that change most, and the optimal gain of every step"
    figure = Figure("drift", caption, "Lines over time, one column per problem.", drawing.svg)
    return Section("drift", "How the problems drift", [], [tables.problems_table(layout)], [figure])


def provenance_section(results: Results) -> Section:
    """Return versions, revision, seeds and digest, and when, where and how fast the runs were made."""
    manifest = results.manifest
    seeds, curve = manifest["seeds"], manifest["spec"]["curve"]
    consecutive = seeds == list(range(seeds[0], seeds[-1] + 1))
    facts = {
        "Experiment": manifest["name"],
        "Digest of all results": results.digest,
        "Seeds": f"{seeds[0]} to {seeds[-1]}" if consecutive else ", ".join(map(str, seeds)),
        "Curve": f"{counted(curve['points'], 'point')}, {curve['spacing']}",
        "Revision": manifest["revision"] or "not in a checkout",
        **{f"Version of {name}": version for name, version in manifest["versions"].items()},
    }
    rows = [table_row(key, str(value)) for key, value in facts.items()]
    shown_tables = [Table("provenance", "Where these results come from", ["What", "Value"], rows)]
    if results.sessions:
        shown_tables.append(_sessions_table(results.sessions[-SESSIONS_SHOWN:]))
    note = "The same spec with the same numerics version gives the same digest, whatever the number of workers."
    return Section("provenance", "Provenance", [note], shown_tables)


def _sessions_table(sessions: list[dict[str, Any]]) -> Table:
    rows = []
    for session in sessions:
        seconds, machine = float(session["seconds"]), session["machine"]
        duration, workers = TableCell(f"{seconds:.1f} s", seconds), f"{session['workers']} {session['engine']}"
        where = f"{machine['processor']}, {counted(machine['cores'], 'core')}"
        rows.append(table_row(session["began"], session["done"], session["failed"], duration, workers, where))
    columns = ["Began", "Runs", "Failed", "Time", "Workers", "Machine"]
    return Table("sessions", "When and where they were run", columns, rows)
