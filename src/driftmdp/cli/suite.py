"""``driftmdp suite``: the drift suite, from nothing to the leaderboard."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import Workers, stopping_politely
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import SuiteTask, packaged_suite, run_suite, write_tasks
from driftmdp.report.leaderboard import standing_rows, write_leaderboard

EVERY_SECONDS = 5.0

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="The folder of the results; by default out/suite, or out/suite-quick.",
        show_default=False,
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="14 problems at T = 5000 on few seeds, a coarser yardstick: some minutes.")
]
Only = Annotated[
    str | None,
    typer.Option(help="Only problems whose folder's name fits, such as 'garnet-20-*'.", show_default=False),
]


def suite(quick: Quick = False, out: Out = None, workers: Workers = None, only: Only = None) -> None:
    """Run every agent on every problem of the drift suite, and write the leaderboard.

    The same command again does only what is missing; a new agent or problem runs only itself. The yardstick is
    SWUCRL2-CW with the window and scale that are best in hindsight.
    """
    whole = packaged_suite()
    tasks = whole.tasks(quick)
    chosen = [task for task in tasks if only is None or fnmatch.fnmatch(task.slug, only)]
    if not chosen:
        raise InvalidInputError(f"--only must fit a problem, such as {tasks[0].slug!r}; got {only!r}.")
    folder = out or Path("out/suite-quick" if quick else "out/suite")
    write_tasks(tasks, whole.name, folder)
    try:
        with stopping_politely("Stopping; the runs in flight are not kept. Once more to stop at once."):
            failures = run_suite(chosen, folder, workers, _Course(chosen).watch)
    except KeyboardInterrupt:
        remark(f"Stopped. What was finished is kept in {folder}; the same command goes on from there.")
        raise typer.Exit(130) from None
    written = write_leaderboard(folder)
    header, rows = standing_rows(written.board)
    print(f"Regret over that of {written.board.yardstick}, on the reported family:\n")
    print_columns(rows, header, numbers=range(1, len(header)))
    print("\nWhat was promised of Adaptive:")
    print_columns([[f"  {one.verdict}", one.line, one.measured] for one in written.promises])
    print(f"\nThe page: {written.page}")
    if failures:
        first = failures[0]
        remark(
            f"{counted(len(failures), 'run')} FAILED; the first: {first.agent} in {first.problem}: {first.error}"
        )
        raise typer.Exit(1)


class _Course:
    """Says now and then which problem it is; what is there already makes any guess of the time left a bad one."""

    def __init__(self, tasks: list[SuiteTask]) -> None:
        self._places = {task.slug: number for number, task in enumerate(tasks, start=1)}
        self._began = time.monotonic()
        self._told = 0.0

    def watch(self, task: SuiteTask, what: str) -> _Course:
        self._task, self._what = task, what
        return self

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Count what is there already."""
        for note in notes:
            remark(note)
        self._total, self._there = total, kept

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Count a run."""
        self._there += by
        now = time.monotonic()
        if now - self._told >= EVERY_SECONDS:
            self._told = now
            remark(
                f"problem {self._places[self._task.slug]} of {len(self._places)}, {self._task.label}, "
                f"T = {self._task.horizon:,}: {self._what}, {self._there} of {counted(self._total, 'run')}; "
                f"{(now - self._began) / 60:.0f} min so far"
            )

    def end(self) -> None:
        """Say nothing more."""
