"""``driftmdp report``: one page of a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.output import remark
from driftmdp.display import counted
from driftmdp.report import write_report

Folder = Annotated[Path, typer.Argument(help="A folder that `driftmdp run` wrote.", show_default=False)]
Baseline = Annotated[
    str | None,
    typer.Option(
        help="The agent that others are compared with; by default the spec's, or the first.", show_default=False
    ),
]
To = Annotated[
    Path | None, typer.Option("--to", help="Where to write; by default FOLDER/report.", show_default=False)
]


def report(folder: Folder, baseline: Baseline = None, to: To = None) -> None:
    """Write a page that opens anywhere, offline, with figures as PNG and SVG beside it.

    Prints where the page is.
    """
    written = write_report(folder, to, baseline)
    if written.n_missing:
        are = "is" if written.n_missing == 1 else "are"
        remark(f"{counted(written.n_missing, 'run')} of the spec {are} not there; the page says so.")
    print(written.page)
