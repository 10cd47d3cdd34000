"""What every engine shares: the outcome of a task, the promise of ``map``, and the loop behind it."""

from __future__ import annotations

import contextlib
import contextvars
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeAlias

from driftmdp.errors import DriftmdpError
from driftmdp.validation import as_integer

GUARD = "Does the script start the map under `if __name__ == '__main__':`?"
NO_GUARD = 77  # the exit code of a worker that found no guard in the script
NAMES = "driftmdp worker", "Dask Worker process"  # of processes that are started here

SAFE_PATH, HERE = "PYTHONSAFEPATH", "driftmdp"  # any text switches it on; this one says who did
AHEAD = 8  # tasks that may be taken per worker before an outcome is; so memory is bounded

Todo: TypeAlias = "queue.SimpleQueue[tuple[int, Any] | None]"  # (index, task); None, which is put back, ends all
Done: TypeAlias = "queue.SimpleQueue[TaskOutcome | BaseException]"  # an exception here ends the whole map


class WorkerDiedError(DriftmdpError, RuntimeError):
    """A worker process ended in the middle of a task: killed, out of memory, or by an exit of its own."""


@dataclass(frozen=True)
class TaskOutcome:
    """What became of one task.

    Attributes
    ----------
    index
        The position of the task among all tasks.
    value
        What the function returned; None if it raised.
    error
        What the function raised, without its frames; None if all is fine.
    seconds
        How long the task ran.
    traceback
        The text of the traceback; empty if all is fine.

    Examples
    --------
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

        Nothing begins before the first outcome is asked for. Tasks are taken lazily, a few per worker ahead of the
        outcomes. A task's ``Exception`` is kept in its outcome and never raised. When the iterator is closed, or
        the caller is interrupted, whatever has not begun is dropped, and nothing is left running afterwards.
        """
        ...


def usable_cores() -> int:
    """Return how many cores this process may use.

    Examples
    --------
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
    """End a worker process that is still running the script, at the line that starts workers.

    A spawned process runs its script first; without ``if __name__ == "__main__":`` it comes here again. It ends
    without a word, since the process that started it has the sentence for it.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False) and process.name.startswith(NAMES):
        os._exit(NO_GUARD)


@contextlib.contextmanager
def safe_start() -> Iterator[None]:
    """Let Python processes that start in this block import nothing from the current folder by themselves.

    multiprocessing starts them with ``python -c``, which looks there first. A moment later they are told where
    their parent imports from.
    """
    if SAFE_PATH in os.environ:
        yield
        return
    os.environ[SAFE_PATH] = HERE
    try:
        yield
    finally:
        os.environ.pop(SAFE_PATH, None)


def how_it_ended(code: int | None) -> str:
    """Return how a process ended, by its exit code.

    Examples
    --------
    >>> how_it_ended(5)
    'ended with exit code 5'
    """
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def share_out(
    work: Callable[[Todo, Done], None],
    workers: int,
    tasks: Iterable[Any],
    interrupt: Callable[[], None] | None = None,
) -> Outcomes:
    """Yield outcomes from up to ``workers`` threads that run ``work``, started as tasks come.

    ``work`` takes tasks from the first queue until it meets None, which it puts back for the others, and puts one
    outcome for each task on the second.
    ``interrupt`` is called before the threads are waited for if the map ends early.
    """
    todo: Todo = queue.SimpleQueue()
    done: Done = queue.SimpleQueue()
    threads: list[threading.Thread] = []
    numbered, waiting = enumerate(tasks), 0
    try:
        while True:
            for item in islice(numbered, workers * AHEAD - waiting):
                todo.put(item)
                waiting += 1
                if len(threads) < workers:
                    # In the caller's context, so that numpy's error state and quiet warnings hold in workers.
                    run = contextvars.copy_context().run
                    threads.append(threading.Thread(target=run, args=(work, todo, done), daemon=True))
                    threads[-1].start()
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
        _stop(threads, todo)


def _stop(threads: list[threading.Thread], todo: Todo) -> None:
    try:
        while True:
            todo.get_nowait()
    except queue.Empty:
        pass
    todo.put(None)
    for thread in threads:
        # Ctrl-C may have come while a thread was being started. One that is not alive by now will only meet None.
        if thread.is_alive():
            thread.join()
