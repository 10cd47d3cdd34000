"""``driftmdp report``, ``driftmdp figures`` and ``driftmdp reproduce``: pages and figures."""

import importlib
import threading
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import Workers, closing_line, do_runs
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import parse_spec
from driftmdp.report import write_figures, write_report
from driftmdp.report.paper import EXAMPLES, FIGURES
from driftmdp.report.paper.claims import VERDICTS

Folder = Annotated[Path, typer.Argument(help="A folder that `driftmdp run` wrote.", show_default=False)]
BASELINE_HELP = "The agent that others are compared with; by default the spec's, or the first."
Baseline = Annotated[str | None, typer.Option(help=BASELINE_HELP, show_default=False)]
TO_HELP = "The folder to write to; by default FOLDER/report."
To = Annotated[Path | None, typer.Option("--to", help=TO_HELP, show_default=False)]
NAMES_HELP = (
    f"Any of {', '.join(FIGURES)}, which are all drawn by default; or {' or '.join(EXAMPLES)}; or any problem of "
    "`driftmdp list problems` that has a horizon and at most 150 states, without its version."
)
Names = Annotated[list[str] | None, typer.Argument(help=NAMES_HELP, metavar="[NAME]...", show_default=False)]
FigureFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")]
ResultsFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder of the results.")]


def report(folder: Folder, baseline: Baseline = None, to: To = None) -> None:
    """Write a self-contained page, with its figures beside it as PNG and SVG.

    Prints the path of the page.
    """
    written = write_report(folder, to, baseline)
    if written.n_missing:
        are = "is" if written.n_missing == 1 else "are"
        remark(f"{counted(written.n_missing, 'run')} of the spec {are} missing; the page says so.")
    print(written.page)


def figures(names: Names = None, out: FigureFolder = Path("out/figures")) -> None:
    """Draw the paper's figures, or pictures of problems, from runs and formulas, as PNG and SVG.

    Prints their paths. All of the paper's take half a minute.
    """
    if out.is_file():
        raise InvalidInputError(f"--out must be a folder; {out} is a file.")
    written = write_figures(out, names or None)
    for path in written:
        print(path)
    remark(f"{counted(len(written) // 2, 'figure')}, as PNG and SVG, in {out}")


def reproduce(out: ResultsFolder = Path("out/reproduce"), workers: Workers = None) -> None:
    """Run the paper's numerical section and write its page.

    Prints the table of outcomes, the verdict on each claim of the paper, and the path of the page.
    """
    source = resources.files("driftmdp.experiments").joinpath("paper.toml").read_text(encoding="utf-8")
    threading.Thread(target=_import_slow_packages, daemon=True).start()
    session = do_runs(parse_spec(source, "paper"), out, workers, "auto", "paper")
    written = write_report(out)
    built, columns = written.built, (0, 1, 2, 4)  # problem, agent, mean reward, mean regret
    print(f"{built.report.settings[0].label}: means over seeds [95% bootstrap interval]\n")
    rows = [[row[column].text for column in columns] for row in built.outcomes.rows]
    print_columns(rows, [built.outcomes.columns[column] for column in columns], numbers=[2, 3])
    print("\nClaims of the paper:")
    print_columns([[f"  {VERDICTS[claim.verdict]}", claim.sentence] for claim in built.claims])
    remark(f"\n{closing_line(session)}")
    print(f"The page, with the reasons: {written.page}")
    if session.failures:
        raise typer.Exit(1)


def _import_slow_packages() -> None:
    """Import what the page needs while the compiled runs leave time for it."""
    for name in ("duckdb", "pandas", "matplotlib.figure", "matplotlib.backends.backend_svg", "altair"):
        importlib.import_module(name)
