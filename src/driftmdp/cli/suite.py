"""``driftmdp suite``: the drift suite, from nothing to the leaderboard."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import Workers, resumable
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.suite import SuiteTask, packaged_suite, run_suite, standing_rows, write_leaderboard, write_tasks

SECONDS_BETWEEN_REMARKS = 5.0

OUT_HELP = "The folder of the results; by default out/suite, or out/suite-quick."
Out = Annotated[Path | None, typer.Option("--out", "-o", help=OUT_HELP, show_default=False)]
QUICK_HELP = "14 problems at T = 5000 on few seeds, a coarser yardstick: some minutes."
Quick = Annotated[bool, typer.Option("--quick", help=QUICK_HELP)]
ONLY_HELP = "Only problems whose folder's name fits, such as 'garnet-20-*'."
Only = Annotated[str | None, typer.Option(help=ONLY_HELP, show_default=False)]


def suite(quick: Quick = False, out: Out = None, workers: Workers = None, only: Only = None) -> None:
    """Run every agent on every problem of the drift suite, and write the leaderboard.

    The same command again does only what is missing. A new agent or problem runs only itself. The yardstick is
    SWUCRL2-CW with the window and scale that are best in hindsight.
    """
    whole = packaged_suite()
    tasks = whole.tasks(quick)
    chosen = [task for task in tasks if only is None or fnmatch.fnmatch(task.slug, only)]
    if not chosen:
        raise InvalidInputError(f"--only must fit a problem, such as {tasks[0].slug!r}; got {only!r}.")
    folder = out or Path("out/suite-quick" if quick else "out/suite")
    write_tasks(tasks, whole.name, folder)
    with resumable(folder):
        failures = run_suite(chosen, folder, workers, _SuiteProgress(chosen).watch)
    written = write_leaderboard(folder)
    header, rows = standing_rows(written.board)
    print(f"Regret over that of {written.board.yardstick}, on the reported family:\n")
    print_columns(rows, header, numbers=range(1, len(header)))
    print(f"\nThe page: {written.page}")
    if failures:
        first, runs = failures[0], counted(len(failures), "run")
        remark(f"{runs} FAILED; the first: {first.agent} in {first.problem}: {first.error}")
        raise typer.Exit(1)


class _SuiteProgress:
    """Reports now and then which problem runs. It guesses no time left, as finished runs would make it wrong."""

    def __init__(self, tasks: list[SuiteTask]) -> None:
        self._places = {task.slug: number for number, task in enumerate(tasks, start=1)}
        self._began = time.monotonic()
        self._last_remark = 0.0

    def watch(self, task: SuiteTask, seeds: str) -> _SuiteProgress:
        self._task, self._seeds = task, seeds
        return self

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Count the runs that are stored already."""
        for note in notes:
            remark(note)
        self._total, self._stored = total, kept

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Count a run."""
        self._stored += by
        now = time.monotonic()
        if now - self._last_remark >= SECONDS_BETWEEN_REMARKS:
            self._last_remark = now
            remark(
                f"problem {self._places[self._task.slug]} of {len(self._places)}, {self._task.label}, "
                f"T = {self._task.horizon:,}: {self._seeds}, {self._stored} of {counted(self._total, 'run')}; "
                f"{(now - self._began) / 60:.0f} min so far"
            )

    def end(self) -> None:
        """Report nothing more."""
