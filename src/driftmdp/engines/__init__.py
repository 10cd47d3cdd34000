"""A map over many tasks, by threads or processes; it knows nothing of MDPs.

>>> engine = make("threads", workers=2)
>>> sorted((outcome.index, outcome.value) for outcome in engine.map(abs, [-3, 1]))
[(0, 3), (1, 1)]
"""

from __future__ import annotations

from driftmdp.engines.base import Engine, Outcome, WorkerDiedError, run_one, usable_cores
from driftmdp.engines.processes import ProcessEngine
from driftmdp.engines.threads import ThreadEngine
from driftmdp.validation import one_of

__all__ = [
    "Engine",
    "Outcome",
    "ProcessEngine",
    "ThreadEngine",
    "WorkerDiedError",
    "make",
    "names",
    "run_one",
    "usable_cores",
]

_ENGINES: dict[str, type[ThreadEngine] | type[ProcessEngine]] = {
    "threads": ThreadEngine,
    "processes": ProcessEngine,
}


def names() -> tuple[str, ...]:
    """Return the names of all engines.

    Examples
    --------
    >>> names()
    ('threads', 'processes')
    """
    return tuple(_ENGINES)


def make(name: str = "threads", workers: int | None = None) -> Engine:
    """Return the engine of that name.

    Parameters
    ----------
    name
        "threads", for compiled code that releases the interpreter's lock; or "processes", for plain Python.
    workers
        How many tasks run at a time; by default one for each usable core.

    Raises
    ------
    InvalidInputError
        If there is no engine of that name, or the number of workers is not positive.

    Examples
    --------
    >>> make("threads", workers=3).workers
    3
    >>> make("thread")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: engine must be one of 'threads', ... Did you mean 'threads'?
    """
    return _ENGINES[one_of(name, "engine", _ENGINES)](workers)
