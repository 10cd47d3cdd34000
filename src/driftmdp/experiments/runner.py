"""Run the runs that a spec asks for and a folder lacks. Stopping at any moment loses only the runs in flight.

Runs are grouped in batches by their place in the spec. So the files are the same whatever the number of workers,
and wherever it was interrupted. A finished run goes into the journal at once. When the last run of a batch is
finished, the batch becomes a file.
"""

import contextlib
import datetime
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from driftmdp import engines
from driftmdp.display import brief
from driftmdp.engines import ClusterLostError, Engine, TaskOutcome
from driftmdp.engines.base import leave_if_rerun
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.experiments import provenance
from driftmdp.experiments.execute import check_values, execute_run, problem_record
from driftmdp.experiments.identity import plain
from driftmdp.experiments.run_plan import ProblemCell, RunKey, RunPlan, plan
from driftmdp.experiments.schema import run_table
from driftmdp.experiments.spec import Spec
from driftmdp.experiments.store import Store, folder_lock
from driftmdp.experiments.user_code import place_in_user_code, with_user_code
from driftmdp.progress import Progress, as_progress

BATCH_RUNS = 256


@dataclass(frozen=True)
class Failure:
    """A run that raised an error; or, with seed -1, a problem whose facts could not be computed.

    Attributes
    ----------
    run
        Its id.
    problem, agent, seed
        Labels of the problem and the agent, and the seed.
    error, traceback
        What was raised, in one line and with all frames.
    """

    run: str
    problem: str
    agent: str
    seed: int
    error: str
    traceback: str = field(repr=False)

    @property
    def is_run(self) -> bool:
        """Whether it is a run that failed."""
        return self.seed >= 0


@dataclass(frozen=True)
class Session:
    """The outcome of a call of ``run``.

    Attributes
    ----------
    folder
        Where the results are.
    asked, kept, done
        How many runs the spec asks for, were stored before, and were done now.
    failures
        The runs that failed.
    seconds, compute_seconds
        Elapsed time, and time spent in runs over all workers.
    """

    folder: Path
    asked: int
    kept: int
    done: int
    failures: list[Failure]
    seconds: float
    compute_seconds: float

    __repr__ = brief


def run(
    spec: Spec,
    out: str | Path,
    workers: int | None = None,
    engine: str = "threads",
    progress: Progress | bool | None = None,
    where: str = "spec",
    scheduler: str | None = None,
) -> Session:
    """Run what a spec asks for and a folder does not have yet.

    Parameters
    ----------
    spec
        From ``read_spec`` or ``parse_spec``.
    out
        The folder of the results. It is made, or continued.
    workers
        How many runs at a time, by default one per core. The results are the same.
    engine
        ``"threads"``, ``"processes"`` for agents in plain Python and for thousands of runs, ``"dask"`` for a
        cluster, or ``"auto"`` to choose. With processes a script needs ``if __name__ == "__main__":``.
    progress
        True shows a progress bar in a terminal or a notebook. An object with ``begin``, ``advance`` and ``end``
        gets these calls. None and False are silent.
    where
        The file of the spec, for errors and for the user's own modules beside it.
    scheduler
        For ``"dask"``: the address of a cluster, such as ``tcp://host:8786``. By default one of processes here.

    Returns
    -------
    Session
        The outcome. A failed run is in ``failures`` and stops nothing. The next call tries it again.

    Raises
    ------
    InvalidInputError
        If a name or a value of the spec is wrong.
    StorageError
        If the folder is full, locked, or damaged.
    ClusterLostError
        If a cluster does not answer or is lost. Finished runs are kept.
    VersionMismatchError
        If a worker of a cluster has other versions.

    Examples
    --------
    >>> from driftmdp.experiments import run
    >>> import tempfile
    >>> from driftmdp.experiments import load, parse_spec
    >>> spec = parse_spec('''
    ... seeds = 2
    ... problems = [{name = "two-state", parameters = {horizon = 100}}]
    ... agents = [{name = "Random"}]
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(run(spec, folder).done, run(spec, folder).done, len(load(folder).runs))
    2 0 2
    """
    if not isinstance(spec, Spec):
        raise InvalidInputError(f"spec must be a Spec; got {spec!r}. Use read_spec(path) or parse_spec(text).")
    asked, watcher = plan(spec, where), as_progress(progress)
    likely = engines.choose(engine, 0, scheduler=scheduler)
    if engine != "threads":
        leave_if_rerun()  # before a folder is found in use
    # A wrong number of workers, or a wrong address, is found before anything is made.
    engines.make(likely, workers, scheduler)
    is_new = not Path(out).exists()
    if is_new:
        check_values(asked.cells, asked.places)  # before a folder is made
    store = Store.create(Path(out))
    with folder_lock(store.folder):
        return _Execution(asked, store, watcher, is_new).execute(engine, workers, scheduler)


@dataclass
class _Batch:
    """Runs that become one file together: those that are missing, and the rows of those that are finished."""

    keys: list[RunKey]
    rows: dict[str, bytes] = field(default_factory=dict)
    failed: int = 0

    @property
    def is_complete(self) -> bool:
        return len(self.rows) + self.failed == len(self.keys)


class _Execution:
    """One session on a folder that is locked."""

    def __init__(self, asked: RunPlan, store: Store, progress: Progress, is_checked: bool) -> None:
        self.asked, self.store, self.progress, self.is_checked = asked, store, progress, is_checked
        self.failures: list[Failure] = []
        self.done = 0
        self.spent: dict[str, list[float]] = {}  # cell -> [runs, seconds]

    def execute(self, engine: str, workers: int | None, scheduler: str | None) -> Session:
        began, start = datetime.datetime.now(datetime.UTC), time.perf_counter()
        self.store.remove_temporary_files()
        kept = self._find_batches(self.store.stored_runs())
        todo = [key for batch in self.batches for key in batch.keys if key.digest not in batch.rows]
        is_python = any(":" in key.cell.agent.name for key in todo)
        self.engine_name = engines.choose(engine, len(todo), is_python, scheduler)
        self.engine: Engine = engines.make(self.engine_name, workers, scheduler)
        if not self.is_checked:
            check_values({key.cell.id: key.cell for key in todo}.values(), self.asked.places)
        last = self.store.last_manifest()
        notes = self._notes(last.get("name"))
        # A session that runs nothing leaves the versions that made the results.
        made_by = {} if todo else {key: last[key] for key in ("versions", "revision") if key in last}
        self.store.write_manifest(manifest_of(self.asked) | made_by)
        self.progress.begin(self.asked.n_runs, kept, notes)
        try:
            self._run_all(todo)
        except ClusterLostError as error:
            raise ClusterLostError(f"{error} Finished runs are kept in {self.store.folder}.") from error
        finally:
            self.progress.end()
            self.store.journal.close()
            seconds = time.perf_counter() - start
            with contextlib.suppress(DriftmdpError):  # a full disk has been reported already
                self._write_failures()
                self.store.add_session(self._session_facts(began, seconds))
        compute = sum(spent for _, spent in self.spent.values())
        return Session(self.store.folder, self.asked.n_runs, kept, self.done, self.failures, seconds, compute)

    def _find_batches(self, stored: set[str]) -> int:
        """Find the batches that lack runs, with their rows in the journal; return how many runs are finished."""
        journal = {run: row for run, row in self.store.journal_rows().items() if run not in stored}
        self.batches: list[_Batch] = []
        kept, runs = 0, self.asked.runs()
        while keys := list(itertools.islice(runs, BATCH_RUNS)):
            missing = [key for key in keys if key.digest not in stored]
            rows = {key.digest: journal.pop(key.digest) for key in missing if key.digest in journal}
            kept += len(keys) - len(missing) + len(rows)
            if missing:
                self.batches.append(_Batch(missing, rows))
        if journal:  # runs of an earlier spec are kept in a file of their own
            self.store.write_runs(run_table([journal[run] for run in sorted(journal)]))
        self._rewrite_journal()
        return kept

    def _notes(self, last_name: str | None) -> list[str]:
        """Return what the user should know before the runs begin."""
        notes = []
        if self.store.torn:
            notes.append(
                f"The last {self.store.torn} bytes of {self.store.journal.path} were not whole and are cut off; "
                "their runs are done again."
            )
        if last_name not in {None, self.asked.spec.name}:
            notes.append(f"This folder had results of {last_name!r}; they are kept, and found again by that spec.")
        return notes

    def _rewrite_journal(self) -> None:
        self.store.replace_journal([row for batch in self.batches for row in batch.rows.values()])

    def _run_all(self, todo: list[RunKey]) -> None:
        batch_of = {key.digest: batch for batch in self.batches for key in batch.keys}
        for batch in [batch for batch in self.batches if batch.is_complete]:
            self._write_batch(batch)
        tasks = list(_with_problems(todo, self.asked.problems, self.store.stored_problems()))
        outcomes = self.engine.map(self._function(), tasks)
        with contextlib.closing(outcomes):
            for outcome in outcomes:
                task = tasks[outcome.index]
                if isinstance(task, ProblemCell):
                    self._store_problem(task, outcome)
                    continue
                batch = batch_of[task.digest]
                self._store_run(task, outcome, batch)
                if batch.is_complete:
                    self._write_batch(batch)

    def _function(self) -> Callable[[Any], Any]:
        """Return the function that executes a task; for other machines, with the user's own code."""
        if self.engine_name != "dask":
            return _execute
        names = {cell.problem.name for cell in self.asked.cells} | {cell.agent.name for cell in self.asked.cells}
        return with_user_code(_execute, [name for name in names if ":" in name])

    def _store_problem(self, cell: ProblemCell, outcome: TaskOutcome) -> None:
        if outcome.error is None:
            self.store.write_problem(outcome.value)
        else:
            error = _error_text(outcome)
            self.failures.append(Failure(cell.slug, cell.label, "", -1, error, outcome.traceback))

    def _store_run(self, key: RunKey, outcome: TaskOutcome, batch: _Batch) -> None:
        cell = key.cell
        spent = self.spent.setdefault(cell.id, [0, 0.0])
        spent[0], spent[1] = spent[0] + 1, spent[1] + outcome.seconds
        if outcome.error is None:
            self.store.append(outcome.value)
            batch.rows[key.digest] = outcome.value
            self.done += 1
        else:
            batch.failed += 1
            labels, error = (cell.problem.label, cell.agent.label), _error_text(outcome)
            self.failures.append(Failure(key.id, *labels, key.seed, error, outcome.traceback))
        self.progress.advance(outcome.error is not None)

    def _write_batch(self, batch: _Batch) -> None:
        """Make a file of a complete batch, then remove its rows from the journal."""
        if batch.rows:
            rows = [batch.rows[key.digest] for key in batch.keys if key.digest in batch.rows]
            self.store.write_runs(run_table(rows))
        self.batches.remove(batch)
        self._rewrite_journal()
        if batch.failed:
            self._write_failures()

    def _write_failures(self) -> None:
        self.store.write_json("failures.json", [asdict(failure) for failure in self.failures])

    def _session_facts(self, began: datetime.datetime, seconds: float) -> dict[str, Any]:
        return {
            "began": began.isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "done": self.done,
            "failed": len(self.failures),
            "engine": self.engine_name,
            "workers": self.engine.workers,
            "machine": provenance.machine(),
            "versions": provenance.versions(),
            "revision": provenance.revision(),
            "cells": {cell: [int(n), round(spent, 4)] for cell, (n, spent) in self.spent.items()},
        }


def _execute(task: ProblemCell | RunKey) -> pa.RecordBatch | bytes:
    return problem_record(task) if isinstance(task, ProblemCell) else execute_run(task)


def _with_problems(
    todo: list[RunKey], problems: list[ProblemCell], stored: set[str]
) -> Iterator[ProblemCell | RunKey]:
    """Yield each problem that is not stored yet before its runs, so that it is made once."""
    missing = {cell.id: cell for cell in problems if cell.id not in stored}
    for key in todo:
        if key.cell.problem.id in missing:
            yield missing.pop(key.cell.problem.id)
        yield key
    yield from missing.values()


def _error_text(outcome: TaskOutcome) -> str:
    """Return the error of a task, and its place in the user's code."""
    return f"{type(outcome.error).__name__}: {outcome.error}{place_in_user_code(outcome.traceback)}"


def manifest_of(asked: RunPlan) -> dict[str, Any]:
    """Return the manifest of a folder with the results of a plan."""
    return {
        "name": asked.spec.name,
        "spec": plain(asked.spec.model_dump()),
        "seeds": asked.spec.seed_list,
        "problems": [plain(asdict(cell)) for cell in asked.problems],
        "agents": [plain(asdict(cell)) for cell in asked.agents],
        "cells": [[cell.id, cell.problem.id, cell.agent.id] for cell in asked.cells],
        "versions": provenance.versions(),
        "revision": provenance.revision(),
    }
