"""What every engine shares, from the outcome of a task to the contract of ``map``, and the engine of threads."""

import contextlib
import contextvars
import functools
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol, TypeAlias

from driftmdp.errors import DriftmdpError
from driftmdp.validation import as_integer

GUARD_HINT = "Does the script start the map under `if __name__ == '__main__':`?"
NO_GUARD_EXIT_CODE = 77  # of a worker that found no guard in the script
PROCESS_NAMES = "driftmdp worker", "Dask Worker process"  # of processes that are started here

SAFE_PATH, SAFE_PATH_VALUE = "PYTHONSAFEPATH", "driftmdp"  # any text switches it on; this one says who did
TASKS_AHEAD = 8  # tasks per worker that may be taken before an outcome is, so that memory is bounded

# (index, task); None ends all threads and is put back
Todo: TypeAlias = "queue.SimpleQueue[tuple[int, Any] | None]"
Done: TypeAlias = "queue.SimpleQueue[TaskOutcome | BaseException]"  # an exception here ends the whole map


class WorkerDiedError(DriftmdpError, RuntimeError):
    """A worker process ended in the middle of a task: killed, out of memory, or by an exit of its own."""


@dataclass(frozen=True)
class TaskOutcome:
    """The outcome of one task.

    Attributes
    ----------
    index
        The position of the task among all tasks.
    value
        What the function returned. None if it raised.
    error
        What the function raised, without its frames. None if it returned.
    seconds
        How long the task ran.
    traceback
        The text of the traceback. Empty if it returned.

    Examples
    --------
    >>> from driftmdp.engines import run_one
    >>> run_one(abs, 3, -2).value
    2
    >>> run_one(abs, 4, "two").error
    TypeError("bad operand type for abs(): 'str'")
    """

    index: int
    value: Any
    error: Exception | None
    seconds: float
    traceback: str = ""


Outcomes: TypeAlias = Generator[TaskOutcome, None, None]


class Engine(Protocol):
    """A map over many tasks.

    Attributes
    ----------
    workers
        How many tasks run at a time.
    """

    workers: int

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Outcomes:
        """Yield the outcome of ``function(task)`` for every task, in the order in which they end.

        Nothing begins before the first outcome is requested. Tasks are taken lazily, a few per worker ahead of the
        outcomes. A task's ``Exception`` is kept in its outcome and never raised. When the iterator is closed, or
        the caller is interrupted, tasks that have not begun are dropped, and nothing is left running.
        """
        ...


class LocalEngine:
    """The base class of engines on this machine. It has the number of workers, by default one per usable core."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = as_workers(workers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(workers={self.workers})"


def usable_cores() -> int:
    """Return how many cores this process may use.

    Examples
    --------
    >>> from driftmdp.engines import usable_cores
    >>> usable_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def as_workers(workers: int | None) -> int:
    """Return the number of workers, by default one for each usable core."""
    return usable_cores() if workers is None else as_integer(workers, "workers", minimum=1)


def run_one(function: Callable[[Any], Any], index: int, task: Any) -> TaskOutcome:
    """Return the outcome of one task, run here and now.

    Examples
    --------
    >>> from driftmdp.engines import run_one
    >>> run_one(abs, 0, -3).value
    3
    """
    started = time.perf_counter()
    try:
        value = function(task)
    except Exception as error:
        return failed(index, error, time.perf_counter() - started)
    return TaskOutcome(index, value, None, time.perf_counter() - started)


def failed(index: int, error: Exception, seconds: float) -> TaskOutcome:
    """Return the outcome of a task that raised; the frames are dropped, since they keep arrays alive."""
    text = "".join(traceback.format_exception(error))
    return TaskOutcome(index, None, error.with_traceback(None), seconds, text)


def leave_if_rerun() -> None:
    """End a worker process that runs the script again, up to the line that starts workers.

    A spawned process runs its script first. Without ``if __name__ == "__main__":`` it comes here again. It ends
    silently, because the process that started it reports the error.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False) and process.name.startswith(PROCESS_NAMES):
        os._exit(NO_GUARD_EXIT_CODE)


@contextlib.contextmanager
def safe_start() -> Iterator[None]:
    """Keep Python processes that start in this block from importing modules of the current folder.

    multiprocessing starts them with ``python -c``, which searches that folder first. A moment later they get their
    parent's import path.
    """
    if SAFE_PATH in os.environ:
        yield
        return
    os.environ[SAFE_PATH] = SAFE_PATH_VALUE
    try:
        yield
    finally:
        os.environ.pop(SAFE_PATH, None)


def exit_reason(code: int | None) -> str:
    """Return how a process ended, by its exit code.

    Examples
    --------
    >>> from driftmdp.engines.base import exit_reason
    >>> exit_reason(5)
    'ended with exit code 5'
    """
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def run_in_threads(
    work: Callable[[Todo, Done], None],
    workers: int,
    tasks: Iterable[Any],
    interrupt: Callable[[], None] | None = None,
) -> Outcomes:
    """Yield outcomes from up to ``workers`` threads that run ``work``, started as tasks come.

    ``work`` takes tasks from the first queue until it finds None, which it puts back for the others. It puts one
    outcome per task on the second. If the map ends early, ``interrupt`` is called before the threads are joined.
    """
    todo: Todo = queue.SimpleQueue()
    done: Done = queue.SimpleQueue()
    threads: list[threading.Thread] = []
    numbered, waiting = enumerate(tasks), 0
    try:
        while True:
            for item in islice(numbered, workers * TASKS_AHEAD - waiting):
                todo.put(item)
                waiting += 1
                if len(threads) < workers:
                    # In the caller's context, so that numpy's error state and quiet warnings hold in workers.
                    run = contextvars.copy_context().run
                    thread = threading.Thread(target=run, args=(work, todo, done), daemon=True)
                    with interrupts_wait():
                        thread.start()
                        threads.append(thread)
            if not waiting:
                return
            outcome = done.get()
            waiting -= 1
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    except BaseException:
        if interrupt is not None:
            interrupt()
        raise
    finally:
        with contextlib.suppress(queue.Empty):
            while True:
                todo.get_nowait()
        todo.put(None)
        for thread in threads:
            thread.join()


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C wait for the end of this block, where Python cannot be interrupted safely.

    Python's own ``Thread.start`` is such a place. An interrupt in its locks ends as "release unlocked lock".
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # nothing can interrupt it
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


class ThreadEngine(LocalEngine):
    """An :class:`Engine` of threads. One worker runs in the calling thread.

    A task that raises something other than an ``Exception``, such as ``SystemExit``, ends the map, which raises it.

    Parameters
    ----------
    workers
        How many tasks run at a time, by default one per usable core.

    Examples
    --------
    >>> from driftmdp.engines import ThreadEngine
    >>> sorted(outcome.value for outcome in ThreadEngine(workers=2).map(abs, [-3, 1, -2]))
    [1, 2, 3]
    """

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Outcomes:
        """Yield the outcome of ``function(task)`` for every task, in the order in which they end."""
        if self.workers == 1:
            return (run_one(function, index, task) for index, task in enumerate(tasks))
        return run_in_threads(functools.partial(_work, function), self.workers, tasks)


def _work(function: Callable[[Any], Any], todo: Todo, done: Done) -> None:
    while (item := todo.get()) is not None:
        try:
            done.put(run_one(function, *item))
        except BaseException as error:
            done.put(error)
    todo.put(None)


def to_bytes(outcome: TaskOutcome) -> bytes:
    """Return the outcome pickled. A value that cannot be pickled becomes a RuntimeError that names it.

    Examples
    --------
    >>> from driftmdp.engines import TaskOutcome
    >>> from driftmdp.engines.base import from_bytes, to_bytes
    >>> from_bytes(0, to_bytes(TaskOutcome(0, 3, None, 0.5))).value
    3
    """
    try:
        return pickle.dumps(_with_picklable_error(outcome), protocol=-1)
    except BaseException as error:  # an error of pickling a value is a failure of its task
        reason = RuntimeError(f"The value of task {outcome.index} must be picklable; got {error!r}.")
        return pickle.dumps(failed(outcome.index, reason, outcome.seconds))


def all_to_bytes(outcomes: Sequence[TaskOutcome]) -> bytes:
    """Return outcomes pickled together, which is smaller and faster; one by one if a value cannot be pickled.

    Examples
    --------
    >>> from driftmdp.engines import TaskOutcome
    >>> from driftmdp.engines.base import all_from_bytes, all_to_bytes
    >>> [outcome.value for outcome in all_from_bytes(range(1), all_to_bytes([TaskOutcome(0, 3, None, 0.5)]))]
    [3]
    """
    try:
        return pickle.dumps([_with_picklable_error(outcome) for outcome in outcomes], protocol=-1)
    except BaseException:  # the other values must still arrive
        return pickle.dumps([to_bytes(outcome) for outcome in outcomes], protocol=-1)


def all_from_bytes(indices: range, message: bytes) -> list[TaskOutcome]:
    """Return the outcomes that were pickled together or one by one."""
    found = pickle.loads(message)
    return [
        from_bytes(index, one) if isinstance(one, bytes) else one for index, one in zip(indices, found, strict=True)
    ]


def from_bytes(index: int, message: bytes) -> TaskOutcome:
    """Return the outcome that was pickled. One that cannot be read is a failure of its task.

    Examples
    --------
    >>> from driftmdp.engines.base import from_bytes
    >>> from_bytes(4, b"no pickle").error
    UnpicklingError(...)
    """
    try:
        outcome: TaskOutcome = pickle.loads(message)
    except Exception as error:
        return failed(index, error, 0.0)
    return outcome


def _with_picklable_error(outcome: TaskOutcome) -> TaskOutcome:
    try:
        pickle.loads(pickle.dumps(outcome.error))  # some errors can be pickled but not read again
    except BaseException:
        return replace(outcome, error=RuntimeError(repr(outcome.error)))
    return outcome
