"""``driftmdp suite``: the drift suite, from nothing to the leaderboard."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from driftmdp import engines
from driftmdp.cli.execution import Engine, Scheduler, Workers, resumable, saying_warnings
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError, one_line
from driftmdp.suite import SuiteTask, packaged_suite, run_suite, standing_rows, write_leaderboard, write_tasks
from driftmdp.suite.rehearsal import check_agents
from driftmdp.validation import nearest_name

SECONDS_BETWEEN_REMARKS = 5.0

OUT_HELP = "The folder of the results; by default out/suite, or out/suite-quick."
Out = Annotated[Path | None, typer.Option("--out", "-o", help=OUT_HELP, show_default=False)]
QUICK_HELP = "Some problems at one horizon, on few seeds, with a coarser yardstick: about three minutes."
Quick = Annotated[bool, typer.Option("--quick", help=QUICK_HELP)]
ONLY_HELP = "Only problems whose folder's name fits, such as 'garnet-20-*'; may be repeated, or have commas."
Only = Annotated[list[str] | None, typer.Option(help=ONLY_HELP, show_default=False)]
AGENT_HELP = "An agent that joins, such as 'my_agents:Mine(alpha=0.1)' or 'UCRL2(scale=0.3)'; may be repeated."
OwnAgents = Annotated[list[str] | None, typer.Option("--agent", help=AGENT_HELP, show_default=False)]


def suite(
    quick: Quick = False,
    out: Out = None,
    workers: Workers = None,
    only: Only = None,
    agent: OwnAgents = None,
    engine: Engine = "auto",
    scheduler: Scheduler = None,
) -> None:
    """Run every agent on every problem of the drift suite, and write the leaderboard.

    The same command again does only what is missing. A new agent or problem runs only itself. The yardstick is the
    best in hindsight of several agents with many windows and scales.
    """
    whole = packaged_suite()
    with saying_warnings():
        tasks = whole.tasks(quick, agent or [])
    chosen = _fitting(tasks, only or [], [task.slug for task in whole.tasks()] if quick else [])
    folder = out or Path("out/suite-quick" if quick else "out/suite")
    _check_folder(folder)
    # A wrong engine is refused before there is a folder.
    engines.make(engines.choose(engine, 0, scheduler=scheduler), workers, scheduler)
    if agent:
        check_agents(chosen[0])
    write_tasks(tasks, whole.name, folder)
    remark(_opening(chosen, folder))
    with saying_warnings(), resumable(folder):
        failures = run_suite(chosen, folder, workers, _SuiteProgress(chosen).watch, engine, scheduler)
    write_tasks(tasks, whole.name, folder)  # a second command that was refused listed its own agents
    written = write_leaderboard(folder)
    header, rows = standing_rows(written.board)
    yardstick = f"{written.board.yardstick}, the best in hindsight of each reported problem"
    print(f"Regret over that of {yardstick}; less is better:\n")
    print_columns(rows, header, numbers=range(1, len(header)))
    print(f"\nThe page: {written.page}")
    if failures:
        first, runs = failures[0], counted(len(failures), "run")
        where = f"(all of them: {folder / '*' / 'fresh' / 'failures.json'})"
        remark(one_line(f"{runs} FAILED; the first: {first.agent} in {first.problem}: {first.error} {where}"))
        raise typer.Exit(1)


def _check_folder(folder: Path) -> None:
    """Refuse a file, and a folder below one, before anything is run."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise InvalidInputError(
                f"--out must be a folder, new or of this command; got {folder}. {place} is a file."
            )


def _fitting(tasks: list[SuiteTask], patterns: list[str], whole: list[str]) -> list[SuiteTask]:
    """Return the tasks whose slug fits any of the patterns, which may have commas; without patterns, all.

    ``whole`` has the slugs that are there without ``--quick``.
    """
    slugs = [task.slug for task in tasks]
    globs = [glob.strip().lower() for pattern in patterns for glob in pattern.split(",")]
    for glob in globs:
        if not fnmatch.filter(slugs, glob):
            advice = _near(glob, slugs)
            if fnmatch.filter(whole, glob):
                advice = f" It fits problems of the whole suite. Leave out --quick, or choose others.{advice}"
            raise InvalidInputError(f"--only must fit the folder of a problem; got {glob!r}.{advice}")
    return [task for task in tasks if not globs or any(fnmatch.fnmatch(task.slug, glob) for glob in globs)]


def _near(glob: str, slugs: list[str]) -> str:
    """Return a name that begins alike, or is similar, or any."""
    stem = glob.partition("-")[0].strip("*")
    alike = [slug for slug in slugs if stem and slug.startswith(stem)]
    if alike:
        return f" There is {alike[0]!r}, for example."
    return nearest_name(glob.replace("*", ""), slugs) or f" There is {slugs[0]!r}, for example."


def _opening(tasks: list[SuiteTask], folder: Path) -> str:
    """Return how much there is to do, and where it goes."""
    agents = {agent.label or agent.name for task in tasks for agent in task.agents}
    size = f"{counted(len(tasks), 'problem')} and {counted(len(agents), 'agent')}"
    runs = sum(task.n_runs for task in tasks)
    return f"{size}, about {runs:,} runs, go into {folder}; what it has already is not run again."


class _SuiteProgress:
    """Reports now and then which problem runs. It guesses no time left, as finished runs would make it wrong."""

    def __init__(self, tasks: list[SuiteTask]) -> None:
        self._places = {task.slug: number for number, task in enumerate(tasks, start=1)}
        self._began = time.monotonic()
        self._last_remark = 0.0
        self._failed = 0

    def watch(self, task: SuiteTask, what: str) -> _SuiteProgress:
        self._task, self._what = task, what
        return self

    def begin(self, total: int, kept: int, notes: Sequence[str]) -> None:
        """Count the runs that are stored already."""
        for note in notes:
            remark(note)
        self._total, self._stored = total, kept

    def advance(self, failed: bool = False, by: int = 1) -> None:
        """Count a run."""
        self._stored += by
        self._failed += by if failed else 0
        now = time.monotonic()
        if now - self._last_remark >= SECONDS_BETWEEN_REMARKS:
            self._last_remark = now
            remark(
                f"problem {self._places[self._task.slug]} of {len(self._places)}, {self._task.label}, "
                f"T = {self._task.horizon:,}: {self._what}, {self._stored} of {counted(self._total, 'run')}; "
                f"{(now - self._began) / 60:.0f} min so far{f', {self._failed:,} FAILED' if self._failed else ''}"
            )

    def end(self) -> None:
        """Report nothing more."""
