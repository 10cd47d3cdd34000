"""Writing a report: the page and its figures, each file whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from driftmdp.experiments import load
from driftmdp.experiments.store import writing
from driftmdp.files import write_whole
from driftmdp.report.build import Built, build
from driftmdp.report.page import render


@dataclass(frozen=True)
class WrittenReport:
    """What was written: the page and the figures; how many runs were missing; and what the page shows.

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
    built: Built


def write_report(folder: str | Path, to: str | Path | None = None, baseline: str | None = None) -> WrittenReport:
    """Write the page of a folder of results, and its figures as SVG and PNG.

    Parameters
    ----------
    folder
        Of results.
    to
        The folder to write to; ``folder/report`` by default.
    baseline
        The label of the agent that others are compared with; the spec's by default.

    Returns
    -------
    WrittenReport
        Where it all is.

    Examples
    --------
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
    page, drawn = target / "index.html", []
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        for name, drawing in built.drawings.items():
            for suffix, content in (("svg", drawing.svg.encode()), ("png", drawing.png)):
                write_whole(target / f"{name}.{suffix}", content)
                drawn.append(target / f"{name}.{suffix}")
        write_whole(page, render(built.report).encode())
    return WrittenReport(page, drawn, results.n_missing, built)
