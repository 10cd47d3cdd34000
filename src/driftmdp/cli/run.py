"""``driftmdp run``: run a spec."""

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import Engine, Scheduler, Workers, closing_line, do_runs
from driftmdp.cli.output import print_columns, remark
from driftmdp.experiments import load, read_spec
from driftmdp.report.tables import outcome_rows, vacuous_agents

SPEC_HELP = "A TOML file; `driftmdp init` writes an example."
SpecFile = Annotated[Path, typer.Argument(help=SPEC_HELP, show_default=False)]
OUT_HELP = "The folder of the results; by default out/SPEC."
Out = Annotated[Path | None, typer.Option("--out", "-o", help=OUT_HELP, show_default=False)]


def run(
    spec: SpecFile, out: Out = None, workers: Workers = None, engine: Engine = "auto", scheduler: Scheduler = None
) -> None:
    """Run problems x agents x seeds, and keep the results.

    The same command again does only what is missing. A changed spec runs only what is new. The number of workers
    and machines changes nothing in the results. A run that fails is noted and stops nothing else.
    """
    asked = read_spec(spec)
    folder = out or Path("out") / spec.stem
    session = do_runs(asked, folder, workers, engine, str(spec), scheduler)
    results = load(folder)
    header, rows = outcome_rows(results)
    print_columns(rows, header, numbers=range(2, len(header)))
    for sentence in vacuous_agents(results):
        remark(sentence)
    remark(closing_line(session))
    if session.failures:
        raise typer.Exit(1)
    remark(f"Look at them: driftmdp report {folder}")
