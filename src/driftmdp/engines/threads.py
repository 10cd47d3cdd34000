"""Threads: for functions that release the interpreter's lock, as compiled kernels do."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from driftmdp.engines.base import Done, LocalEngine, Outcomes, Todo, run_in_threads, run_one


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
        return run_in_threads(partial(_work, function), self.workers, tasks)


def _work(function: Callable[[Any], Any], todo: Todo, done: Done) -> None:
    while (item := todo.get()) is not None:
        try:
            done.put(run_one(function, *item))
        except BaseException as error:
            done.put(error)
    todo.put(None)
