"""Common parts of ``run``, ``reproduce`` and ``suite``: options, progress, clean stops, and a closing line."""

import contextlib
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from driftmdp.cli.output import remark
from driftmdp.display import counted
from driftmdp.errors import one_line
from driftmdp.experiments import Session, Spec
from driftmdp.experiments import run as run_spec
from driftmdp.progress import make_progress

WORKERS_HELP = "Runs at a time; by default one per core."
Workers = Annotated[int | None, typer.Option("--workers", "-w", min=1, help=WORKERS_HELP, show_default=False)]
Engine = Annotated[str, typer.Option(help="auto, threads, processes, or dask: a cluster.")]
SCHEDULER_HELP = "For dask: the address of a cluster, such as tcp://host:8786; by default one is made here."
Scheduler = Annotated[str | None, typer.Option(help=SCHEDULER_HELP, show_default=False)]


def do_runs(
    spec: Spec, out: Path, workers: int | None, engine: str, where: str, scheduler: str | None = None
) -> Session:
    """Run a spec. Ctrl-C or SIGTERM stops it between runs."""
    with saying_warnings(), resumable(out):
        return run_spec(spec, out, workers, engine, make_progress(), where, scheduler)


@contextlib.contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Stop cleanly, and say that the same command continues from there."""
    try:
        with stopping_cleanly("Stopping; runs in flight are not kept. Interrupt again to stop at once."):
            yield
    except KeyboardInterrupt:
        remark(f"Stopped. Finished runs are kept in {out}; the same command continues from there.")
        raise typer.Exit(130) from None


def closing_line(session: Session) -> str:
    """Return the outcome of a session in one line, failures first."""
    kept = f", {session.kept:,} {'was' if session.kept == 1 else 'were'} there" if session.kept else ""
    if not session.failures:
        return f"{counted(session.done, 'run')} done{kept}, none failed; results in {session.folder}"
    runs = [failure for failure in session.failures if failure.is_run]
    first = (runs or session.failures)[0]
    who = f"{first.agent} in {first.problem}, seed {first.seed}" if runs else f"the facts of {first.problem}"
    return one_line(
        f"{len(runs):,} of {counted(session.asked, 'run')} FAILED, {session.done:,} done{kept}; the first: {who}: "
        f"{first.error} (all of them: {session.folder / 'failures.json'})"
    )


@contextlib.contextmanager
def saying_warnings() -> Iterator[None]:
    """Print warnings as remarks, without the place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: remark(one_line(str(message)))
        yield


@contextlib.contextmanager
def stopping_cleanly(message: str) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM print a message and raise KeyboardInterrupt. A second one ends the process at once."""

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        remark(message)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
