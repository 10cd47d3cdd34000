"""Processes: for functions in plain Python, which threads cannot run side by side.

Each worker process is driven by one thread of the parent: it sends a few tasks in one message when the worker is
idle, and receives their outcomes one by one. So neither side ever waits to be read while the other does too, and if
the worker dies, the first task without an outcome is the one that was running; the rest go to a replacement.

Processes are spawned, never forked: a fork copies locks that other threads hold. A worker ignores Ctrl-C (the
parent decides) and ends when its parent does.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from driftmdp.engines.base import (
    AHEAD,
    GUARD,
    HERE,
    NAMES,
    NO_GUARD,
    SAFE_PATH,
    Done,
    Outcomes,
    TaskOutcome,
    Todo,
    WorkerDiedError,
    as_workers,
    failed,
    how_it_ended,
    leave_if_rerun,
    run_one,
    safe_start,
    share_out,
)
from driftmdp.engines.pickling import portable, unpickled
from driftmdp.errors import InvalidInputError

_SPAWN = multiprocessing.get_context("spawn")

_GROUP_SECONDS = (
    0.005  # tasks are sent in groups of about so much work, so that long ones never wait for each other
)
_TRIES = 3  # starts of a worker before the map gives up
_GRACE = 5.0  # seconds that an idle worker has to end by itself
_READY, _BEGUN = b"ready", b"begun"  # after the start; after each group of tasks

Item = tuple[int, bytes]  # a task's index, and the task pickled


class ProcessEngine:
    """An :class:`Engine` of processes; function, tasks and values must be picklable.

    The processes live as long as one ``map``. One that dies in a task gives this task a :class:`WorkerDiedError`.

    Parameters
    ----------
    workers
        How many tasks run at a time; by default one for each usable core.

    Examples
    --------
    >>> sorted(outcome.value for outcome in ProcessEngine(workers=1).map(abs, [-3, 1, -2]))
    [1, 2, 3]
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = as_workers(workers)

    def __repr__(self) -> str:
        return f"ProcessEngine(workers={self.workers})"

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Outcomes:
        """Yield the outcome of ``function(task)`` for every task, in the order in which they end.

        Raises
        ------
        InvalidInputError
            If the function cannot be pickled, or the script is no file.
        WorkerDiedError
            If a worker cannot even be started.
        """
        leave_if_rerun()
        if getattr(sys.modules["__main__"], "__file__", None) == "<stdin>":
            raise InvalidInputError("The script must be a file, which worker processes run; got <stdin>. Save it.")
        try:
            pickled = pickle.dumps(function)
        except Exception as error:
            raise InvalidInputError(f"function must be importable from a module; got {function!r}.") from error
        nursery = _Nursery(pickled)
        return share_out(partial(_drive, nursery), self.workers, tasks, interrupt=nursery.stop)


class _StoppedError(Exception):
    """The map was ended early; the worker was killed on purpose."""


class _Nursery:
    """Starts worker processes, and kills them all at once."""

    def __init__(self, function: bytes) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._processes: set[SpawnProcess] = set()
        self._stopped = False

    def start(self) -> _Worker:
        """Return a worker that is ready."""
        for _ in range(_TRIES):
            worker = self._launch()
            if worker.receive() == _READY:
                return worker
            how = self.reap(worker)
            if worker.process.exitcode == NO_GUARD:
                raise WorkerDiedError(
                    "Worker processes must be started under `if __name__ == '__main__':`, since each of them runs "
                    "the script up to there; got a call outside of it. Indent the call under that line."
                )
        raise WorkerDiedError(
            f"A worker process must start; it {how} before its first task, {_TRIES} times. {GUARD}"
        )

    def _launch(self) -> _Worker:
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=_serve, args=(theirs, self._function), daemon=True, name=NAMES[0])
        with self._lock:
            if self._stopped:
                raise _StoppedError
            with safe_start():
                process.start()
            self._processes.add(process)
        theirs.close()  # so that the pipe ends when the worker does
        return _Worker(process, ours)

    def reap(self, worker: _Worker) -> str:
        """Return how a worker ended, after its end; raise if that was on purpose."""
        worker.end()
        with self._lock:
            self._processes.discard(worker.process)
            if self._stopped:
                raise _StoppedError
        return how_it_ended(worker.process.exitcode)

    def stop(self) -> None:
        """Kill every worker and start none any more."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()


class _Worker:
    """A worker process and our end of its pipe."""

    def __init__(self, process: SpawnProcess, pipe: Connection) -> None:
        self.process = process
        self._pipe = pipe

    def send(self, items: list[Item]) -> None:
        """Send tasks to the idle worker; a dead one is noticed when its answer is awaited."""
        with contextlib.suppress(OSError):
            self._pipe.send_bytes(pickle.dumps(items, protocol=-1))

    def receive(self) -> bytes | None:
        """Return the next message, or None if the worker died."""
        try:
            return self._pipe.recv_bytes()
        except (EOFError, OSError):
            return None

    def end(self) -> None:
        """Let the worker end by itself, or else kill it."""
        self._pipe.close()
        self.process.join(_GRACE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class _Driver:
    """Runs groups of tasks on one worker process, which is replaced when it dies."""

    def __init__(self, nursery: _Nursery, done: Done) -> None:
        self.group = 1
        self._nursery = nursery
        self._done = done
        self._worker: _Worker | None = None

    def run(self, tasks: list[tuple[int, Any]]) -> None:
        """Put one outcome for every task."""
        items = deque(self._pickled(tasks))
        while items:
            fresh = self._worker is None
            worker = self._worker = self._worker or self._nursery.start()
            worker.send(list(items))
            started = time.perf_counter()
            begun = worker.receive() == _BEGUN
            while items and (message := worker.receive()) is not None:
                index, _ = items.popleft()
                self._finish(unpickled(index, message))
                started = time.perf_counter()
            if items:
                self._worker = None
                how = self._nursery.reap(worker)
                if begun or fresh:  # otherwise it died while it was idle, and no task is to blame
                    index, _ = items.popleft()
                    error = WorkerDiedError(f"The worker process of task {index} must outlive it; it {how}.")
                    self._done.put(failed(index, error, time.perf_counter() - started))

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._nursery.reap(self._worker)

    def _pickled(self, tasks: list[tuple[int, Any]]) -> list[Item]:
        items = []
        for index, task in tasks:
            try:
                items.append((index, pickle.dumps(task, protocol=-1)))
            except Exception as error:
                self._done.put(failed(index, error, 0.0))
        return items

    def _finish(self, outcome: TaskOutcome) -> None:
        self.group = max(1, min(AHEAD // 2, int(_GROUP_SECONDS / max(outcome.seconds, 1e-6))))
        self._done.put(outcome)


def _drive(nursery: _Nursery, todo: Todo, done: Done) -> None:
    """Be the parent's thread that drives one worker process."""
    _block_ctrl_c()
    driver = _Driver(nursery, done)
    try:
        while tasks := _take(todo, driver.group):
            driver.run(tasks)
        driver.close()
    except _StoppedError:
        pass
    except WorkerDiedError as error:  # it says all; where in this thread it was raised helps nobody
        done.put(error.with_traceback(None))
    except BaseException as error:
        done.put(error)


def _take(todo: Todo, limit: int) -> list[tuple[int, Any]]:
    """Return up to ``limit`` tasks, at least one unless all is done."""
    tasks = []
    item = todo.get()
    while item is not None:
        tasks.append(item)
        if len(tasks) == limit:
            return tasks
        try:
            item = todo.get_nowait()
        except queue.Empty:
            return tasks
    todo.put(None)
    return tasks


def _block_ctrl_c() -> None:
    """Block SIGINT in this thread, and so in the processes that it starts, from their first moment on."""
    if hasattr(signal, "pthread_sigmask"):
        with safe_start():
            resource_tracker.ensure_running()  # its own start would unblock the signal again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(pipe: Connection, function: bytes) -> None:
    """Be a worker process: run what comes through the pipe until it ends."""
    if os.environ.get(SAFE_PATH) == HERE:  # processes that the user's code starts are its own affair
        del os.environ[SAFE_PATH]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    call = partial(_call, function)
    pipe.send_bytes(_READY)
    while True:
        try:
            items: list[Item] = pickle.loads(pipe.recv_bytes())
        except EOFError:
            return
        pipe.send_bytes(_BEGUN)
        for index, task in items:
            pipe.send_bytes(portable(run_one(call, index, task)))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


_load_once = lru_cache(maxsize=1)(pickle.loads)


def _call(function: bytes, task: bytes) -> Any:
    return _load_once(function)(pickle.loads(task))
