"""Connecting to a cluster of dask.distributed, or starting one of processes here, and watching its workers.

Each failure is one sentence: no answer, no worker, a worker with other versions, a lost scheduler.
"""

import contextlib
import functools
import logging
import os
import queue
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from driftmdp.engines.base import GUARD_HINT, WorkerDiedError, leave_if_rerun, safe_start
from driftmdp.engines.versions import difference, own_versions
from driftmdp.errors import DriftmdpError, InvalidInputError, MissingPackageError, install_hint
from driftmdp.validation import warn

CONNECT_SECONDS = 10.0  # for the scheduler to answer
CLOSE_SECONDS = 5.0
VERSIONS_SECONDS = 10.0  # for all workers to report their versions
FIRST_WORKER_SECONDS = 30.0
NO_WORKER_SECONDS = 60.0  # without any worker before a map gives up
SECONDS_BETWEEN_CHECKS = 1.0  # of who is there

LOCAL_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,  # after the first death a batch is run in isolation
    "distributed.scheduler.worker-saturation": 2.0,  # the next batch is there when one ends
    # dask's monitoring of itself takes 4% of a core in every process. With these settings it takes under 1%.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
}

ADDRESS = re.compile(r"(tcp|tls)://([^\s/:@]+|\[[0-9a-fA-F:.%]+\]):(?P<port>\d{1,5})")
CHECK_CLUSTER = "Check the cluster, then try again."


class ClusterLostError(DriftmdpError, ConnectionError):
    """The scheduler of a cluster does not answer, or all of its workers are gone."""


class VersionMismatchError(DriftmdpError, RuntimeError):
    """A worker has other versions than this process, so its numbers could differ."""


class ClusterWarning(UserWarning):
    """A cluster has no worker for now."""


def as_address(scheduler: Any) -> str | None:
    """Validate the address of a scheduler.

    Examples
    --------
    >>> from driftmdp.engines.cluster import as_address
    >>> as_address("tcp://10.0.0.7:8786")
    'tcp://10.0.0.7:8786'
    >>> as_address("10.0.0.7")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: scheduler must be an address such as tcp://host:8786; got '10.0.0.7'. ...
    """
    if scheduler is None:
        return None
    found = ADDRESS.fullmatch(scheduler) if isinstance(scheduler, str) else None
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise InvalidInputError(
            f"scheduler must be an address such as tcp://host:8786; got {scheduler!r}. `dask scheduler` prints it "
            "when it starts."
        )
    return str(scheduler)


def check_installed() -> None:
    """Refuse to continue without dask.distributed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            f"The engine 'dask' needs the package {error.name!r}, which is not installed. {install_hint('cluster')}"
        ) from None


class Cluster:
    """A connected cluster.

    Attributes
    ----------
    client
        The client of dask.distributed.
    threads
        How many tasks run at a time, at the last check.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.threads = 0
        self._last_check = self._last_worker = time.monotonic()

    def wait_for_worker(self) -> None:
        """Wait until there is a worker, and check the versions of all."""
        deadline = time.monotonic() + FIRST_WORKER_SECONDS
        if not self._count():
            limit = f"{FIRST_WORKER_SECONDS:g} s at most"
            warn(f"{self.name} has no worker yet; waiting for one, {limit}.", ClusterWarning)
        while not self._count():
            if time.monotonic() > deadline:
                raise ClusterLostError(
                    f"{self.name} must have a worker; none came in {FIRST_WORKER_SECONDS:g} s. Start one on each "
                    f"machine that should work: dask worker {self.address} --nthreads 1"
                )
            time.sleep(0.1)
        self._check_versions()

    def check(self) -> None:
        """Count the workers now and then; raise if there has been none for long."""
        now = time.monotonic()
        if now - self._last_check < SECONDS_BETWEEN_CHECKS:
            return
        self._last_check = now
        was = self.threads
        if self._count():
            return
        if was:
            self._last_worker = now
            limit = f"{NO_WORKER_SECONDS:g} s"
            warn(f"{self.name} has lost all its workers; waiting {limit} for others.", ClusterWarning)
        elif now - self._last_worker > NO_WORKER_SECONDS:
            raise ClusterLostError(
                f"{self.name} must have a worker; all have been gone for {NO_WORKER_SECONDS:g} s. If a task killed "
                f"them, start workers with a nanny, as dask does by default. {CHECK_CLUSTER}"
            )

    @property
    def address(self) -> str:
        """The scheduler's address."""
        return str(self.client.scheduler.address) if self.client.scheduler is not None else "tcp://..."

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        return f"The scheduler at {self.address}"

    def lost(self) -> ClusterLostError:
        """Return the error of a lost scheduler."""
        sentence = f"{self.name} must live until the end; the connection to it was lost."
        return ClusterLostError(f"{sentence} {CHECK_CLUSTER}")

    def refused(self, worker: str, differs: tuple[str, str, str]) -> VersionMismatchError:
        """Return the error of a worker with other versions."""
        name, ours, theirs = differs
        return VersionMismatchError(
            f"The worker at {worker} must have {name} {ours}, as here; got {theirs}. Bring that "
            "machine to the same versions (`make setup` in a clone at the same commit pins them), then start the "
            "worker again."
        )

    def _count(self) -> int:
        if self.client.status != "running":
            raise self.lost()
        try:
            self.threads = sum(self.client.nthreads().values())
        except OSError:
            raise self.lost() from None
        return self.threads

    def _check_versions(self) -> None:
        try:
            answers = _within(VERSIONS_SECONDS, lambda: self.client.run(own_versions, on_error="return"))
        except queue.Empty:  # each batch is checked too
            warn(f"A worker of {self.name} does not answer; going on without its versions.", ClusterWarning)
            return
        if isinstance(answers, Exception):
            raise self.lost() from None
        for worker, versions in answers.items():
            if isinstance(versions, OSError):  # gone by now; checked with its first batch if it returns
                continue
            if isinstance(versions, BaseException):
                versions = {"driftmdp": f"{type(versions).__name__}: {versions}"}
            differs = difference(own_versions(), versions)
            if differs is not None:
                raise self.refused(worker, differs)


def _within(seconds: float, function: Callable[[], Any]) -> Any:
    """Return what a function returns, or the exception that it raised; raise queue.Empty after a time limit."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def call() -> None:
        try:
            answers.put(function())
        except Exception as error:
            answers.put(error)

    threading.Thread(target=call, daemon=True).start()
    return answers.get(timeout=seconds)


@contextlib.contextmanager
def connected(workers: int, scheduler: str | None) -> Iterator[Cluster]:
    """Connect to a cluster, or start one here, for the duration of the block; its versions are checked."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_silent_logs())
        host = scheduler if scheduler is not None else stack.enter_context(_local_cluster(workers))
        cluster = Cluster(stack.enter_context(_client(host)))
        cluster.wait_for_worker()
        yield cluster


@contextlib.contextmanager
def _client(host: Any) -> Iterator[Any]:
    from distributed import Client

    client, limit = object.__new__(Client), CONNECT_SECONDS + CLOSE_SECONDS
    connect = functools.partial(client.__init__, host, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[misc]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dask's own of versions; ours is an error
        try:
            error = _within(limit, connect)  # dask's own time limit does not hold if something else answers
        except queue.Empty:
            error = TimeoutError(f"nothing that a scheduler would say in {limit:g} s.")
    if error is not None:
        client.status = "closed"  # otherwise a half-made client waits 20 s for an answer when it is collected
        raise ClusterLostError(
            f"A scheduler must answer at {host}; it did not: {_first_line(error)} Is it running, and can this "
            "machine reach its port?"
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=CLOSE_SECONDS)


@contextlib.contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start a cluster of processes here, one thread each, that only this process uses."""
    import dask
    from distributed import LocalCluster

    leave_if_rerun()
    try:
        with dask.config.set(LOCAL_SETTINGS), safe_start():
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                memory_limit=0,
            )
    except RuntimeError as error:
        raise WorkerDiedError(f"A worker process must start; {_first_line(error)} {GUARD_HINT}") from None
    try:
        with safe_start():  # a worker may be started again
            yield cluster
    finally:
        for nanny in cluster.workers.values():  # a task in the middle is not waited for
            nanny.auto_restart = False
            with contextlib.suppress(OSError, TypeError):  # it is gone, or was only just being started
                os.kill(nanny.pid, signal.SIGKILL)
        cluster.close(timeout=CLOSE_SECONDS)


@contextlib.contextmanager
def _silent_logs() -> Iterator[None]:
    """Silence dask's logs, because what matters is raised."""
    import distributed  # noqa: F401 - so that its loggers exist

    def refuse(record: logging.LogRecord) -> bool:  # one filter per map, as several may begin and end in any order
        return False

    names = ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]
    loggers = [logging.getLogger(name) for name in names]
    filtered = [*loggers, *(handler for log in loggers for handler in log.handlers)]
    for one in filtered:
        one.addFilter(refuse)
    try:
        yield
    finally:
        for one in filtered:
            one.removeFilter(refuse)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".") + "."
