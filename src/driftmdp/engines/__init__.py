"""A map over many tasks, by threads, processes or a cluster. It knows nothing of MDPs.

>>> from driftmdp.engines import make
>>> engine = make("threads", workers=2)
>>> sorted((outcome.index, outcome.value) for outcome in engine.map(abs, [-3, 1]))
[(0, 3), (1, 1)]
"""

from driftmdp.deprecation import renamed
from driftmdp.engines.base import Engine, TaskOutcome, ThreadEngine, WorkerDiedError, run_one, usable_cores
from driftmdp.engines.cluster import ClusterLostError, ClusterWarning, VersionMismatchError
from driftmdp.engines.dask import DaskEngine
from driftmdp.engines.processes import ProcessEngine
from driftmdp.errors import InvalidInputError
from driftmdp.validation import one_of

__all__ = [
    "ClusterLostError",
    "ClusterWarning",
    "DaskEngine",
    "Engine",
    "ProcessEngine",
    "TaskOutcome",
    "ThreadEngine",
    "VersionMismatchError",
    "WorkerDiedError",
    "choose",
    "make",
    "names",
    "run_one",
    "usable_cores",
]

__getattr__ = renamed(__name__, Outcome="TaskOutcome")

_NAMES = ("threads", "processes", "dask")
MANY_TASKS = 5000  # with fewer, threads finish before processes have started


def choose(name: str, n_tasks: int, is_python: bool = False, scheduler: str | None = None) -> str:
    """Return the engine for "auto"; any other name is returned as it is.

    Examples
    --------
    >>> from driftmdp.engines import choose
    >>> choose("auto", 100), choose("auto", 100, is_python=True), choose("auto", 100, scheduler="tcp://host:8786")
    ('threads', 'processes', 'dask')
    """
    if one_of(name, "engine", ("auto", *_NAMES)) != "auto":
        return name
    if scheduler is not None:
        return "dask"
    return "processes" if is_python or n_tasks >= MANY_TASKS else "threads"  # threads share one interpreter


def names() -> tuple[str, ...]:
    """Return the names of all engines.

    Examples
    --------
    >>> from driftmdp.engines import names
    >>> names()
    ('threads', 'processes', 'dask')
    """
    return _NAMES


def make(name: str = "threads", workers: int | None = None, scheduler: str | None = None) -> Engine:
    """Return the engine of that name.

    Parameters
    ----------
    name
        "threads" for compiled code that releases the interpreter's lock, "processes" for plain Python, "dask" for
        many machines.
    workers
        How many tasks run at a time, by default one per usable core.
    scheduler
        For "dask": the address of a cluster's scheduler, such as ``tcp://host:8786``. By default a cluster here.

    Raises
    ------
    InvalidInputError
        If the name is no engine, the number of workers is not positive, or the address is malformed.
    MissingPackageError
        If the engine is "dask" and dask is not installed.

    Examples
    --------
    >>> from driftmdp.engines import make
    >>> make("threads", workers=3).workers
    3
    >>> make("thread")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: engine must be one of 'threads', ... Did you mean 'threads'?
    """
    if one_of(name, "engine", _NAMES) == "dask":
        return DaskEngine(workers, scheduler)
    if scheduler is not None:
        raise InvalidInputError(f"scheduler must be given with the engine 'dask' only; got engine {name!r}.")
    return ThreadEngine(workers) if name == "threads" else ProcessEngine(workers)
