"""``driftmdp reproduce``: the paper's numerical section, from nothing to the page."""

from __future__ import annotations

import importlib
import threading
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import Workers, closing_line, do_runs
from driftmdp.cli.output import print_columns, remark
from driftmdp.experiments import parse_spec
from driftmdp.report import write_report
from driftmdp.report.paper.claims import VERDICTS

COLUMNS = (0, 1, 2, 4)  # problem, agent, mean reward, mean regret

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder of the results.")]


def _load_what_the_page_needs() -> None:
    """Import slow packages while the runs, which are compiled, leave time for it."""
    for name in ("duckdb", "pandas", "matplotlib.figure", "matplotlib.backends.backend_svg", "altair"):
        importlib.import_module(name)


def reproduce(out: Out = Path("out/reproduce"), workers: Workers = None) -> None:
    """Run the paper's numerical section and write its page.

    Prints the headline's table and what came of each sentence of the paper, then where the page is.
    """
    spec = parse_spec(
        resources.files("driftmdp.experiments").joinpath("paper.toml").read_text(encoding="utf-8"), "paper"
    )
    threading.Thread(target=_load_what_the_page_needs, daemon=True).start()
    session = do_runs(spec, out, workers, "auto", "paper")
    written = write_report(out)
    shown = written.built
    print(f"{shown.report.settings[0].label}: means over seeds [95% bootstrap interval]\n")
    rows = [[row[column].text for column in COLUMNS] for row in shown.outcomes.rows]
    print_columns(rows, [shown.outcomes.columns[column] for column in COLUMNS], numbers=[2, 3])
    print("\nWhat the paper says of it:")
    print_columns([[f"  {VERDICTS[claim.verdict]}", claim.sentence] for claim in shown.claims])
    remark(f"\n{closing_line(session)}")
    print(f"The page, with the reasons: {written.page}")
    if session.failures:
        raise typer.Exit(1)
