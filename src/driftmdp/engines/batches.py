"""Tasks in groups, as they travel to workers of a cluster: how large, how they are run, and what is answered."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftmdp.engines.base import TaskOutcome, WorkerDiedError, failed, run_one
from driftmdp.engines.isolated import run_sheltered
from driftmdp.engines.pickling import portable_all, unpickled
from driftmdp.engines.versions import difference, own_facts

BATCH_SECONDS = 0.5  # of work in a batch: sending one costs some milliseconds
MOST_TASKS = 1000
MOST_BYTES = 4 * 2**20  # of tasks, or of outcomes, in one message
GROWTH = 8  # a batch is at most so many times larger than one that has been measured


@dataclass(frozen=True)
class TaskBatch:
    """Tasks with their indices; ``shelters`` is how often one was suspected of killing whoever runs it."""

    items: Sequence[tuple[int, Any]]
    shelters: int = 0

    @property
    def sheltered(self) -> bool:
        """Whether it is run in a process of its own."""
        return self.shelters > 0

    @property
    def indices(self) -> range:
        """The indices of the tasks, which stand in a row."""
        return range(self.items[0][0], self.items[0][0] + len(self.items))

    def halves(self) -> list[TaskBatch]:
        """Return the tasks as two batches, one if there is only one."""
        middle = (len(self.items) + 1) // 2
        parts = self.items[:middle], self.items[middle:]
        return [TaskBatch(part, self.shelters) for part in parts if part]


@dataclass
class BatchSizer:
    """How many tasks make a batch: as many as make half a second, by what the last batch took.

    Examples
    --------
    >>> pace = BatchSizer()
    >>> pace.learn([60.0], 100)  # the first run, which compiled
    >>> pace.size
    1
    >>> for _ in range(4):
    ...     pace.learn([0.001] * pace.size, 100)
    >>> pace.size
    500
    """

    size: int = 1

    def learn(self, seconds: Sequence[float], n_bytes: int) -> None:
        """Take what a batch took, task by task, and the bytes of its larger message."""
        n = len(seconds)
        # The longest is left out: it may have compiled for a minute, and the next ones will not.
        typical = (sum(seconds) - max(seconds)) / (n - 1) if n > 1 else seconds[0]
        wanted = min(BATCH_SECONDS / max(typical, 1e-6), MOST_BYTES * n / max(n_bytes, 1), n * GROWTH, MOST_TASKS)
        self.size = max(1, round(wanted))


@dataclass
class Traffic:
    """What went over the wire: batches, and bytes of tasks and of outcomes."""

    batches: int = 0
    sent: int = 0
    received: int = 0


@dataclass(frozen=True)
class Reply:
    """What a worker answers: outcomes, or why there are none.

    Attributes
    ----------
    outcomes
        Pickled, in the order of the tasks.
    differs
        The fact that differs from the client's: its name, the client's value, the worker's.
    worker
        Who answers, if something differs.
    unreadable
        What was raised by reading the tasks.
    broken
        What else was raised; the worker is of no use.
    """

    outcomes: bytes = b""
    differs: tuple[str, str, str] | None = None
    worker: str = ""
    unreadable: str = ""
    broken: str = ""


def run_batch(common: bytes, tasks: bytes, indices: range, sheltered: bool) -> Reply:
    """Be a worker: run the tasks of a batch, if this process computes with what the client does.

    ``common`` is what all batches of a map share: the client's facts, and the function, pickled. Nothing is raised:
    a client that cannot read a traceback would wait for ever.
    """
    try:
        return _run_batch(common, tasks, indices, sheltered)
    except BaseException as error:
        return Reply(broken=repr(error), worker=_address())


def _run_batch(common: bytes, tasks: bytes, indices: range, sheltered: bool) -> Reply:
    facts, function = _load_common(common)
    differs = difference(facts, own_facts())
    if differs is not None:
        return Reply(differs=differs, worker=_address())
    if sheltered:
        frames = run_sheltered(function, tasks, indices)
        return Reply(portable_all([unpickled(index, frame) for index, frame in zip(indices, frames, strict=True)]))
    try:
        found = pickle.loads(tasks)
    except Exception as error:
        return Reply(unreadable=repr(error))
    call = functools.partial(_call, function)
    return Reply(portable_all([_run(call, index, task) for index, task in zip(indices, found, strict=True)]))


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


_load_common: Callable[[bytes], tuple[Mapping[str, str], bytes]] = functools.lru_cache(maxsize=4)(pickle.loads)
_load_function: Callable[[bytes], Callable[[Any], Any]] = functools.lru_cache(maxsize=4)(pickle.loads)


def _call(function: bytes, task: Any) -> Any:
    return _load_function(function)(task)


def _run(call: Callable[[Any], Any], index: int, task: Any) -> TaskOutcome:
    """Run a task; one that would end the process ends only itself."""
    try:
        return run_one(call, index, task)
    except BaseException as error:
        return failed(index, WorkerDiedError(f"Task {index} must not end its process; it raised {error!r}."), 0.0)
