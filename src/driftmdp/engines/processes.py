"""Processes: for functions in plain Python, which threads would not run side by side.

Each worker process is driven by one thread of the parent. The thread sends a few tasks in one message when the
worker is idle, and receives their outcomes one by one. So never does each side wait for the other to read. If the
worker dies, the first task without an outcome is the one that was running, and the rest go to a replacement.

Processes are spawned, never forked, because a fork copies locks that other threads hold. A worker ignores Ctrl-C
(the parent decides) and ends when its parent does.
"""

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
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from driftmdp.engines import base
from driftmdp.engines.base import Done, Outcomes, Todo, WorkerDiedError, failed, safe_start
from driftmdp.errors import InvalidInputError

_SPAWN = multiprocessing.get_context("spawn")
_GROUP_SECONDS = 0.005  # of work in one message: groups are small, so that long tasks never wait for each other
_MAX_STARTS = 3  # of a worker before the map gives up
_EXIT_SECONDS = 5.0  # that an idle worker has to end by itself
_READY, _BEGUN = b"ready", b"begun"  # after the start; after each group of tasks

Item = tuple[int, bytes]  # a task's index, and the task pickled


class ProcessEngine(base.LocalEngine):
    """An :class:`Engine` of processes. Function, tasks and values must be picklable.

    The processes live as long as one ``map``. If one dies, its task gets a :class:`WorkerDiedError`.

    Parameters
    ----------
    workers
        How many tasks run at a time, by default one per usable core.

    Examples
    --------
    >>> from driftmdp.engines import ProcessEngine
    >>> sorted(outcome.value for outcome in ProcessEngine(workers=1).map(abs, [-3, 1, -2]))
    [1, 2, 3]
    """

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Outcomes:
        """Yield the outcome of ``function(task)`` for every task, in the order in which they end.

        Raises
        ------
        InvalidInputError
            If the function cannot be pickled, or the script is not a file.
        WorkerDiedError
            If a worker cannot even be started.
        """
        base.leave_if_rerun()
        if getattr(sys.modules["__main__"], "__file__", None) == "<stdin>":
            raise InvalidInputError("The script must be a file, which worker processes run; got <stdin>. Save it.")
        try:
            pickled = pickle.dumps(function)
        except Exception as error:
            raise InvalidInputError(f"function must be importable from a module; got {function!r}.") from error
        pool = _WorkerPool(pickled)
        work = lambda todo, done: _Driver(pool, done).drive(todo)  # noqa: E731
        return base.run_in_threads(work, self.workers, tasks, interrupt=pool.stop)


class _StoppedError(Exception):
    """The map was ended early; the worker was killed on purpose."""


@dataclass
class _Worker:
    """A worker process and our end of its pipe."""

    process: SpawnProcess
    pipe: Connection

    def receive(self) -> bytes | None:
        """Return the next message, or None if the worker died."""
        try:
            return self.pipe.recv_bytes()
        except (EOFError, OSError):
            return None


class _WorkerPool:
    """Starts worker processes, and kills them all at once."""

    def __init__(self, function: bytes) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._processes: set[SpawnProcess] = set()
        self._stopped = False

    def start(self) -> _Worker:
        """Return a worker that is ready."""
        for _ in range(_MAX_STARTS):
            worker = self._launch()
            if worker.receive() == _READY:
                return worker
            reason = self.reap(worker)
            if worker.process.exitcode == base.NO_GUARD_EXIT_CODE:
                raise WorkerDiedError(
                    "Worker processes must be started under `if __name__ == '__main__':`, since each of them runs "
                    "the script up to there; got a call outside of it. Indent the call under that line."
                )
        often = f"{_MAX_STARTS} times. {base.GUARD_HINT}"
        raise WorkerDiedError(f"A worker process must start; it {reason} before its first task, {often}")

    def _launch(self) -> _Worker:
        ours, theirs = _SPAWN.Pipe()
        name = base.PROCESS_NAMES[0]
        process = _SPAWN.Process(target=_serve, args=(theirs, self._function), daemon=True, name=name)
        with self._lock:
            if self._stopped:
                raise _StoppedError
            with safe_start():
                process.start()
            self._processes.add(process)
        theirs.close()  # so that the pipe ends when the worker does
        return _Worker(process, ours)

    def reap(self, worker: _Worker) -> str:
        """End a worker and return the reason of its end; raise if the map was stopped."""
        worker.pipe.close()
        process = worker.process
        process.join(_EXIT_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        with self._lock:
            self._processes.discard(process)
            if self._stopped:
                raise _StoppedError
        return base.exit_reason(process.exitcode)

    def stop(self) -> None:
        """Kill every worker, and start no other."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()


class _Driver:
    """Runs groups of tasks on one worker process, which is replaced when it dies."""

    def __init__(self, pool: _WorkerPool, done: Done) -> None:
        self._pool, self._done = pool, done
        self._worker: _Worker | None = None
        self._group = 1

    def drive(self, todo: Todo) -> None:
        """Run tasks in this thread of the parent until there are no more."""
        _block_ctrl_c()
        try:
            while tasks := _take(todo, self._group):
                self._run(tasks)
            if self._worker is not None:
                self._pool.reap(self._worker)
        except _StoppedError:
            pass
        except WorkerDiedError as error:  # its message is complete, and this thread's frames add nothing
            self._done.put(error.with_traceback(None))
        except BaseException as error:
            self._done.put(error)

    def _run(self, tasks: list[tuple[int, Any]]) -> None:
        """Put one outcome for every task."""
        items = deque(self._pickled(tasks))
        while items:
            is_new = self._worker is None
            worker = self._worker = self._worker or self._pool.start()
            with contextlib.suppress(OSError):  # a dead worker is noticed when its answer is awaited
                worker.pipe.send_bytes(pickle.dumps(list(items), protocol=-1))
            started = time.perf_counter()
            has_begun = worker.receive() == _BEGUN
            while items and (message := worker.receive()) is not None:
                index, _ = items.popleft()
                outcome = base.from_bytes(index, message)
                self._group = max(1, min(base.TASKS_AHEAD // 2, int(_GROUP_SECONDS / max(outcome.seconds, 1e-6))))
                self._done.put(outcome)
                started = time.perf_counter()
            if items:
                self._worker = None
                reason = self._pool.reap(worker)
                if has_begun or is_new:  # otherwise it died while it was idle, and no task is to blame
                    index, _ = items.popleft()
                    error = WorkerDiedError(f"The worker process of task {index} must outlive it; it {reason}.")
                    self._done.put(failed(index, error, time.perf_counter() - started))

    def _pickled(self, tasks: list[tuple[int, Any]]) -> list[Item]:
        items = []
        for index, task in tasks:
            try:
                items.append((index, pickle.dumps(task, protocol=-1)))
            except Exception as error:
                self._done.put(failed(index, error, 0.0))
        return items


def _take(todo: Todo, limit: int) -> list[tuple[int, Any]]:
    """Return up to ``limit`` tasks, at least one unless all are taken."""
    tasks = []
    item = todo.get()
    with contextlib.suppress(queue.Empty):
        while item is not None:
            tasks.append(item)
            if len(tasks) == limit:
                return tasks
            item = todo.get_nowait()
        todo.put(None)
    return tasks


def _block_ctrl_c() -> None:
    """Block SIGINT in this thread, and so in the processes that it starts, from their first moment on."""
    if hasattr(signal, "pthread_sigmask"):
        with safe_start():
            resource_tracker.ensure_running()  # its own start would unblock the signal again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(pipe: Connection, function: bytes) -> None:
    """Run tasks from the pipe in a worker process, until the pipe ends."""
    if os.environ.get(base.SAFE_PATH) == base.SAFE_PATH_VALUE:  # not for processes that the user's code starts
        del os.environ[base.SAFE_PATH]
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
            pipe.send_bytes(base.to_bytes(base.run_one(call, index, task)))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


_load_once = lru_cache(maxsize=1)(pickle.loads)


def _call(function: bytes, task: bytes) -> Any:
    return _load_once(function)(pickle.loads(task))
