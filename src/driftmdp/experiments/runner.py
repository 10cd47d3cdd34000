"""Running what a spec asks for and is not there yet; stopping anywhere loses only the runs in flight.

Runs are grouped in batches by their place in the spec, so that the files are the same whatever the number of
workers and wherever it was interrupted. A finished run goes into the journal at once; when the last of its batch is
done, the batch becomes a file.
"""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from driftmdp import engines
from driftmdp.display import brief
from driftmdp.engines import ClusterLostError, Engine, TaskOutcome, run_one
from driftmdp.engines.base import leave_if_rerun
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.experiments import provenance
from driftmdp.experiments.dry_run import check_values
from driftmdp.experiments.failures import Failure, failure_of, told
from driftmdp.experiments.identity import plain
from driftmdp.experiments.lock import FolderLock
from driftmdp.experiments.rows import problem_row, run_row
from driftmdp.experiments.run_plan import ProblemCell, RunKey, RunPlan, plan
from driftmdp.experiments.ship_code import carrying
from driftmdp.experiments.spec import Spec
from driftmdp.experiments.store import Store
from driftmdp.kernels import has_compiled_cache
from driftmdp.kernels.precompile import OPTIMAL_GAINS, compiling_in_background
from driftmdp.progress import Progress, as_progress

BATCH = 256


@dataclass(frozen=True)
class Session:
    """What a call of ``run`` did.

    Attributes
    ----------
    folder
        Where the results are.
    asked, kept, done
        How many runs the spec asks for, were there before, and were done now.
    failures
        Those that failed.
    seconds, compute_seconds
        By the clock, and spent in runs over all workers.
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
        The folder of the results; it is made, or gone on with.
    workers
        How many runs at a time; by default one a core. The results are the same.
    engine
        ``"threads"``; ``"processes"``, for agents in plain Python and for thousands of runs (a script then needs
        ``if __name__ == "__main__":``); ``"dask"``, for a cluster; or ``"auto"`` to choose.
    progress
        True shows how it goes, in a terminal or a notebook; an object with ``begin``, ``advance`` and ``end`` is
        told; None and False are silent.
    where
        The file of the spec, for errors and for modules of one's own beside it.
    scheduler
        For ``"dask"``: the address of a cluster, such as ``tcp://host:8786``; by default one of processes here.

    Returns
    -------
    Session
        What was done; a run that failed is in ``failures`` and stops nothing. Asking again tries it again.

    Raises
    ------
    InvalidInputError
        If a name or a value of the spec is wrong.
    StorageError
        If the folder is full, locked, or damaged.
    ClusterLostError
        If a cluster does not answer or is lost; what was finished is kept.
    VersionMismatchError
        If a worker of a cluster has other versions.

    Examples
    --------
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
    with FolderLock(store.folder):
        return _Running(asked, store, watcher, is_new).go(engine, workers, scheduler)


@dataclass
class _Batch:
    """Runs that become one file together: those still to come, and the rows that are there."""

    keys: list[RunKey]
    rows: dict[str, bytes] = field(default_factory=dict)
    failed: int = 0

    @property
    def is_whole(self) -> bool:
        return len(self.rows) + self.failed == len(self.keys)


class _Running:
    """One session on a folder that is locked."""

    def __init__(self, asked: RunPlan, store: Store, progress: Progress, is_rehearsed: bool) -> None:
        self.asked, self.store, self.progress, self.is_rehearsed = asked, store, progress, is_rehearsed
        self.failures: list[Failure] = []
        self.done = 0
        self.spent: dict[str, list[float]] = {}  # cell -> [runs, seconds]

    def go(self, engine: str, workers: int | None, scheduler: str | None) -> Session:
        began, start = datetime.datetime.now(datetime.UTC), time.perf_counter()
        self.store.sweep()
        known = self.store.known_runs()
        batches, kept = self._batches(known)
        todo = [key for batch in batches for key in batch.keys if key.digest not in batch.rows]
        is_own = any(":" in key.cell.agent.name for key in todo)
        self.engine_name = engines.choose(engine, len(todo), is_own, scheduler)
        self.engine: Engine = engines.make(self.engine_name, workers, scheduler)
        self.is_elsewhere = bool(todo) and scheduler is not None
        self.must_compile = bool(todo) and not self.is_elsewhere and not has_compiled_cache()
        if not self.is_rehearsed:
            check_values({key.cell.id: key.cell for key in todo}.values(), self.asked.places)
        notes = self._notes()
        self.store.write_manifest(manifest_of(self.asked) | ({} if todo else self.store.last_source()))
        self.progress.begin(self.asked.n_runs, kept, notes)
        try:
            self._work(batches, todo)
        except ClusterLostError as error:
            raise ClusterLostError(f"{error} What was finished is kept in {self.store.folder}.") from error
        finally:
            self.progress.end()
            self.store.journal.close()
            seconds = time.perf_counter() - start
            with contextlib.suppress(DriftmdpError):  # a full disk has been told of already
                self._write_failures()
                self.store.add_session(self._facts(began, seconds))
        compute = sum(spent for _, spent in self.spent.values())
        return Session(self.store.folder, self.asked.n_runs, kept, self.done, self.failures, seconds, compute)

    def _batches(self, known: set[str]) -> tuple[list[_Batch], int]:
        """Return the batches that lack runs, with what the journal has of them, and how many runs were there."""
        unsealed = {key: row for key, row in self.store.unsealed().items() if key not in known}
        batches, kept = [], 0
        for keys in _chunks(self.asked.runs(), BATCH):
            missing = [key for key in keys if key.digest not in known]
            rows = {key.digest: unsealed.pop(key.digest) for key in missing if key.digest in unsealed}
            kept += len(keys) - len(missing) + len(rows)
            if missing:
                batches.append(_Batch(missing, rows))
        if unsealed:  # runs of an earlier spec: kept, in a file of their own
            self.store.write_batch([unsealed[key] for key in sorted(unsealed)])
        self._rewrite_journal(batches)
        return batches, kept

    def _notes(self) -> list[str]:
        """Return what the user should know before it begins."""
        notes = []
        if self.store.torn:
            notes.append(
                f"The last {self.store.torn} bytes of {self.store.journal.path} were not whole and are cut off; "
                "their runs are done again."
            )
        before = self.store.last_name()
        if before not in {None, self.asked.spec.name}:
            notes.append(f"This folder had results of {before!r}; they are kept, and found again by that spec.")
        if self.must_compile:
            notes.append("Compiling for the first time on this machine: a minute or two. Later runs start at once.")
        if self.is_elsewhere:
            notes.append("A worker that has never run this driftmdp compiles first: a minute or two.")
        return notes

    def _rewrite_journal(self, batches: list[_Batch]) -> None:
        self.store.keep_unsealed([row for batch in batches for row in batch.rows.values()])

    def _work(self, batches: list[_Batch], todo: list[RunKey]) -> None:
        home = {key.digest: batch for batch in batches for key in batch.keys}
        if self.must_compile:
            first = todo.pop(0)
            with compiling_in_background(OPTIMAL_GAINS):
                self._take(first, run_one(_do, 0, first), home[first.digest])
        for batch in [batch for batch in batches if batch.is_whole]:
            self._seal(batch, batches)
        tasks = list(_with_problems(todo, self.asked.problems, self.store.known_problems()))
        outcomes = self.engine.map(self._function(), tasks)
        with contextlib.closing(outcomes):
            for outcome in outcomes:
                task = tasks[outcome.index]
                if isinstance(task, ProblemCell):
                    self._take_problem(task, outcome)
                    continue
                batch = home[task.digest]
                self._take(task, outcome, batch)
                if batch.is_whole:
                    self._seal(batch, batches)

    def _function(self) -> Callable[[Any], Any]:
        """Return what does a task; to other machines it brings the user's own code."""
        if self.engine_name != "dask":
            return _do
        names = [cell.name for cell in self.asked.problems] + [cell.name for cell in self.asked.agents]
        return carrying(_do, [name for name in names if ":" in name])

    def _take_problem(self, cell: ProblemCell, outcome: TaskOutcome) -> None:
        if outcome.error is None:
            self.store.write_problem(outcome.value)
        else:
            self.failures.append(Failure(cell.slug, cell.label, "", -1, told(outcome), outcome.traceback))

    def _take(self, key: RunKey, outcome: TaskOutcome, batch: _Batch) -> None:
        spent = self.spent.setdefault(key.cell.id, [0, 0.0])
        spent[0], spent[1] = spent[0] + 1, spent[1] + outcome.seconds
        if outcome.error is None:
            self.store.append(outcome.value)
            batch.rows[key.digest] = outcome.value
            self.done += 1
        else:
            batch.failed += 1
            self.failures.append(failure_of(key, outcome))
        self.progress.advance(outcome.error is not None)

    def _seal(self, batch: _Batch, batches: list[_Batch]) -> None:
        """Make a file of a whole batch, then let the journal forget its rows."""
        if batch.rows:
            self.store.write_batch([batch.rows[key.digest] for key in batch.keys if key.digest in batch.rows])
        batches.remove(batch)
        self._rewrite_journal(batches)
        if batch.failed:
            self._write_failures()

    def _write_failures(self) -> None:
        self.store.write_json("failures.json", [asdict(failure) for failure in self.failures])

    def _facts(self, began: datetime.datetime, seconds: float) -> dict[str, Any]:
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


def _do(task: ProblemCell | RunKey) -> pa.RecordBatch | bytes:
    """Do one task; it knows nothing of where it runs."""
    return problem_row(task) if isinstance(task, ProblemCell) else run_row(task)


def _with_problems(
    todo: list[RunKey], problems: list[ProblemCell], known: set[str]
) -> Iterator[ProblemCell | RunKey]:
    """Yield each problem that is not kept yet before its runs, so that its world is made once."""
    missing = {cell.id: cell for cell in problems if cell.id not in known}
    for key in todo:
        if key.cell.problem.id in missing:
            yield missing.pop(key.cell.problem.id)
        yield key
    yield from missing.values()


def _chunks(keys: Iterator[RunKey], size: int) -> Iterator[list[RunKey]]:
    chunk: list[RunKey] = []
    for key in keys:
        chunk.append(key)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def manifest_of(asked: RunPlan) -> dict[str, Any]:
    """Return what a folder says of the spec that it has results of."""
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
