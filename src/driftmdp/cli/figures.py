"""``driftmdp figures``: the paper's figures, drawn from what is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.output import remark
from driftmdp.errors import InvalidInputError
from driftmdp.report import write_figures
from driftmdp.report.paper import EXAMPLES, FIGURES

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help=f"Of {', '.join(FIGURES)}, all of them by default; or {' or '.join(EXAMPLES)}.",
        metavar="[NAME]...",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")]


def figures(names: Names = None, out: Out = Path("out/figures")) -> None:
    """Draw the paper's figures from runs and formulas, as PNG and SVG.

    Prints where they are. All of them take half a minute.
    """
    if out.is_file():
        raise InvalidInputError(f"--out must be a folder; {out} is a file.")
    written = write_figures(out, names or None)
    for path in written:
        print(path)
    drawn = len(written) // 2
    remark(f"{drawn} figure{'s' if drawn != 1 else ''}, as PNG and SVG, in {out}")
