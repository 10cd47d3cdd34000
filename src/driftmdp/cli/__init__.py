"""The command line: one file a command, which parses, calls and prints, and nothing else.

Data goes to standard output, everything else to standard error. The exit code is 0, 1 if something failed, 2 if the
command or its input was wrong, and 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

from driftmdp._version import __version__
from driftmdp.cli import check, figures, init, listing, report, reproduce, run, show, suite
from driftmdp.cli.inventory import inventory
from driftmdp.errors import DriftmdpError, InvalidInputError, UnknownNameError, one_line

__all__ = ["app", "run_cli"]

app = typer.Typer(
    name="driftmdp",
    help="Decisions in worlds that change while you learn them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("suite")(suite.suite)
app.command("check")(check.check)
app.command("figures")(figures.figures)
app.add_typer(inventory, name="inventory")
app.command("init")(init.init)
app.command("list")(listing.list_names)
app.command("show")(show.show)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"driftmdp {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error arose; anywhere on the line.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Run agents in drifting worlds, and look at the results."""


def run_cli() -> None:
    """Run the command; an error is one sentence, with a traceback only under ``--debug``."""
    debug = "--debug" in sys.argv
    try:
        try:
            app([word for word in sys.argv[1:] if word != "--debug"])
        finally:
            sys.stdout.flush()
    except DriftmdpError as error:
        if debug:
            traceback.print_exc()
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, InvalidInputError | UnknownNameError) else 1)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        what = one_line(str(error.filename or "The output"))
        print(f"error: {what} could not be used: {error.strerror}.", file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        print(
            f"error: Something went wrong that should not have: {type(error).__name__}: {one_line(str(error))}. "
            "`driftmdp --debug ...` shows where.",
            file=sys.stderr,
        )
        sys.exit(1)
