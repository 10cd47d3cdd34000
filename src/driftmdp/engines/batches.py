"""Batches of tasks for workers of a cluster: their size, how a worker runs them, and its reply.

A batch whose worker died is run again in isolation: in a child process of a worker. The child writes each outcome
as soon as it is there. So if it dies, the first task without an outcome killed it, and the rest run in another
child.
"""

from __future__ import annotations

import functools
import io
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from driftmdp.engines.base import TaskOutcome, WorkerDiedError, all_to_bytes, exit_reason, failed, run_one, to_bytes
from driftmdp.engines.versions import difference, own_versions

BATCH_SECONDS = 0.5  # of work in a batch: sending one costs some milliseconds
MAX_BATCH_TASKS = 1000
MAX_MESSAGE_BYTES = 4 * 2**20  # of tasks, or of outcomes
MAX_GROWTH = 8  # the most by which a batch is larger than the one measured before, as a factor


@dataclass(frozen=True)
class TaskBatch:
    """Consecutive tasks with their indices, and how often they were run in isolation."""

    items: Sequence[tuple[int, Any]]
    isolations: int = 0

    @property
    def is_isolated(self) -> bool:
        """Whether it is run in a process of its own."""
        return self.isolations > 0

    @property
    def indices(self) -> range:
        """The indices of the tasks."""
        return range(self.items[0][0], self.items[0][0] + len(self.items))

    def halves(self) -> list[TaskBatch]:
        """Return the tasks as two batches, or as one if there is only one task."""
        middle = (len(self.items) + 1) // 2
        parts = self.items[:middle], self.items[middle:]
        return [TaskBatch(part, self.isolations) for part in parts if part]


@dataclass
class BatchSizer:
    """The number of tasks per batch: about half a second of work, as measured on the last batch.

    Examples
    --------
    >>> from driftmdp.engines.batches import BatchSizer
    >>> sizer = BatchSizer()
    >>> sizer.learn([60.0], 100)  # the first run, which compiled
    >>> sizer.size
    1
    >>> for _ in range(4):
    ...     sizer.learn([0.001] * sizer.size, 100)
    >>> sizer.size
    500
    """

    size: int = 1

    def learn(self, seconds: Sequence[float], n_bytes: int) -> None:
        """Learn from the seconds of each task of a batch, and from the bytes of its larger message."""
        n = len(seconds)
        # The longest is left out: it may have compiled, and the next ones will not.
        typical = (sum(seconds) - max(seconds)) / (n - 1) if n > 1 else seconds[0]
        wanted = min(
            BATCH_SECONDS / max(typical, 1e-6),
            MAX_MESSAGE_BYTES * n / max(n_bytes, 1),
            n * MAX_GROWTH,
            MAX_BATCH_TASKS,
        )
        self.size = max(1, round(wanted))


@dataclass
class Traffic:
    """The number of batches, and the bytes of tasks and of outcomes, sent over the network."""

    batches: int = 0
    sent: int = 0
    received: int = 0


@dataclass(frozen=True)
class Reply:
    """The answer of a worker: outcomes, or why there are none.

    Attributes
    ----------
    outcomes
        Pickled, in the order of the tasks.
    differs
        The first version that differs from the client's: its name, the client's value, the worker's.
    worker
        The address of the worker, if a version differs.
    unreadable
        The error of reading the tasks.
    broken
        Any other error, after which the worker cannot be used.
    """

    outcomes: bytes = b""
    differs: tuple[str, str, str] | None = None
    worker: str = ""
    unreadable: str = ""
    broken: str = ""


def run_batch(common: bytes, tasks: bytes, indices: range, is_isolated: bool) -> Reply:
    """Run the tasks of a batch in a worker, if it has the client's versions.

    ``common`` is shared by all batches of a map: the client's versions and the function, pickled. Nothing is
    raised, because a client that cannot read a traceback would wait for ever.
    """
    try:
        return _run_batch(common, tasks, indices, is_isolated)
    except BaseException as error:
        return Reply(broken=repr(error), worker=_address())


def _run_batch(common: bytes, tasks: bytes, indices: range, is_isolated: bool) -> Reply:
    versions, function = _load_cached(common)
    differs = difference(versions, own_versions())
    if differs is not None:
        return Reply(differs=differs, worker=_address())
    if is_isolated:
        return Reply(pickle.dumps(run_isolated(function, tasks, indices)))
    try:
        found = pickle.loads(tasks)
    except Exception as error:
        return Reply(unreadable=repr(error))
    call = functools.partial(_call, function)
    return Reply(all_to_bytes([_run_one(call, index, task) for index, task in zip(indices, found, strict=True)]))


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


_load_cached: Callable[[bytes], Any] = functools.lru_cache(maxsize=8)(pickle.loads)


def _call(function: bytes, task: Any) -> Any:
    return _load_cached(function)(task)


def _run_one(call: Callable[[Any], Any], index: int, task: Any) -> TaskOutcome:
    """Run a task. If it would end the process, it fails instead."""
    try:
        return run_one(call, index, task)
    except BaseException as error:
        return failed(index, WorkerDiedError(f"Task {index} must not end its process; it raised {error!r}."), 0.0)


def run_isolated(function: bytes, tasks: bytes, indices: Sequence[int]) -> list[bytes]:
    """Return the pickled outcomes of pickled tasks, a :class:`WorkerDiedError` for each that ends its process.

    Examples
    --------
    >>> import pickle
    >>> from driftmdp.engines.batches import run_isolated
    >>> from driftmdp.engines.base import from_bytes
    >>> [outcome] = run_isolated(pickle.dumps(abs), pickle.dumps([-3]), [0])
    >>> from_bytes(0, outcome).value
    3
    """
    command = [sys.executable, "-P", "-c", "from driftmdp.engines.batches import serve; serve()"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    outcomes: list[bytes] = []
    while len(outcomes) < len(indices):
        message = pickle.dumps((function, tasks, list(indices), len(outcomes)))
        child = subprocess.run(command, input=message, stdout=subprocess.PIPE, env=environment, check=False)
        outcomes += _complete_pickles(child.stdout)
        if len(outcomes) < len(indices):
            index, reason = indices[len(outcomes)], exit_reason(child.returncode)
            error = WorkerDiedError(f"The worker process of task {index} must outlive it; it {reason}.")
            outcomes.append(to_bytes(failed(index, error, 0.0)))
    return outcomes


def _complete_pickles(content: bytes) -> list[bytes]:
    """Return what was pickled one after the other; the last may be cut off."""
    stream, found = io.BytesIO(content), []
    while True:
        try:
            found.append(pickle.load(stream))
        except (EOFError, pickle.UnpicklingError):
            return found


def serve() -> None:
    """Run the tasks of standard input in the child process, from a given task on."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as pipe:
        os.dup2(2, 1)  # what a task prints is no outcome
        function, tasks, indices, start = pickle.load(sys.stdin.buffer)
        call = pickle.loads(function)
        for index, task in list(zip(indices, pickle.loads(tasks), strict=True))[start:]:
            pickle.dump(to_bytes(run_one(call, index, task)), pipe)
            pipe.flush()


def _end_with_parent(parent: int) -> None:
    """End this process soon after the worker that started it, because nobody would read the outcome."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
