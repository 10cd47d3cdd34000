"""``driftmdp reproduce``: the paper's numerical section, from nothing to the page."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.printing import print_columns, remark
from driftmdp.cli.running import closing_line, do_runs
from driftmdp.experiments import parse_spec
from driftmdp.report import write_report

__all__ = ["reproduce"]

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder of the results.")]
Workers = Annotated[
    int | None, typer.Option("--workers", "-w", min=1, help="Runs at a time. [default: one a core]")
]


def reproduce(out: Out = Path("out/reproduce"), workers: Workers = None) -> None:
    """Run the paper's numerical section and write its page.

    Prints the headline's table and what came of each sentence of the paper, then where the page is.
    """
    spec = parse_spec(
        resources.files("driftmdp.experiments").joinpath("paper.toml").read_text(encoding="utf-8"), "paper"
    )
    session = do_runs(spec, out, workers, "threads", "paper")
    written = write_report(out)
    for table in written.headline_tables:
        rows = [[cell.text for cell in row] for row in table.rows]
        print(table.caption)
        print_columns(rows, table.columns)
        print()
    remark(closing_line(session))
    print(f"The page: {written.page}")
    if session.failures:
        raise typer.Exit(1)
