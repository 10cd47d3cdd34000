"""The command line. A command parses its options, calls the library and prints, and does nothing else.

Data goes to standard output, everything else to standard error. The exit code is 0 on success, 1 if something
failed, 2 if the command or its input was wrong, and 130 after Ctrl-C.
"""

import os
import sys
import traceback
from typing import Annotated

import typer

from driftmdp._version import __version__
from driftmdp.cli import catalogue, check, report, run, suite, warm
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
app.command("reproduce")(report.reproduce)
app.command("suite")(suite.suite)
app.command("check")(check.check)
app.command("figures")(report.figures)
app.add_typer(inventory, name="inventory")
app.command("init")(catalogue.init)
app.command("list")(catalogue.list_names)
app.command("show")(catalogue.show)
app.command("warm")(warm.warm)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"driftmdp {__version__}")
        raise typer.Exit


Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; valid after any command.")]
VERSION_OPTION = typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
Version = Annotated[bool, VERSION_OPTION]


@app.callback()
def options(debug: Debug = False, version: Version = False) -> None:
    """Run agents in drifting worlds, and report the results."""


def run_cli() -> None:
    """Run the command. An error is one sentence, with a traceback only under ``--debug``."""
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
    except BrokenPipeError:  # the reader of our output, such as `head`, has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = "The output" if error.filename is None else str(error.filename)
        print(one_line(f"error: {where} could not be used: {error.strerror or error}."), file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        text = one_line(f"error: Something went wrong unexpectedly: {type(error).__name__}: {error}. ")
        print(f"{text}`driftmdp --debug ...` shows where.", file=sys.stderr)
        sys.exit(1)
