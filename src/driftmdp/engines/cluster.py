"""A cluster of dask.distributed: joined at its scheduler's address, or made of processes here; and looked after.

Whatever becomes of it is said in one sentence: nobody answers, no worker comes, a worker has other versions, the
scheduler is gone.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import multiprocessing
import os
import re
import signal
import time
import warnings
from collections.abc import Iterator
from typing import Any

from driftmdp.engines.base import WorkerDiedError
from driftmdp.engines.facts import difference, own_facts
from driftmdp.errors import DriftmdpError, InvalidInputError, MissingPackageError
from driftmdp.validation import warn

__all__ = ["Cluster", "ClusterLostError", "ClusterWarning", "VersionMismatchError", "as_address", "joined"]

CONNECT_SECONDS = 10.0  # for the scheduler to answer
WORKER_SECONDS = 30.0  # for the first worker to come
ALONE_SECONDS = 60.0  # without any worker before a map gives up
LOOK_SECONDS = 1.0  # between two looks at who is there
CLOSE_SECONDS = 5.0

ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://[^\s/:]+(:[^\s/:]+)*:\d{1,5}|(tcp|tls)://\[[0-9a-fA-F:.%]+\]:\d{1,5}")
LOCAL = {
    "distributed.scheduler.allowed-failures": 0,  # the first death is looked into in a shelter
    "distributed.scheduler.worker-saturation": 2.0,  # the next batch is there when one ends
    # dask's watching of itself takes 4% of a core in every process; so it takes under 1%.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
}
GUARD = "Does the script start the map under `if __name__ == '__main__':`?"
AGAIN = "What was finished is kept; see to the cluster, then run the same again."


class ClusterLostError(DriftmdpError, ConnectionError):
    """The scheduler of a cluster does not answer, or all of its workers are gone."""


class VersionMismatchError(DriftmdpError, RuntimeError):
    """A worker computes with other versions than this process, so its numbers could be others."""


class ClusterWarning(UserWarning):
    """A cluster has no worker for now."""


def as_address(scheduler: Any) -> str | None:
    """Return the address of a scheduler, or say what is wrong with it.

    Examples
    --------
    >>> as_address("tcp://10.0.0.7:8786")
    'tcp://10.0.0.7:8786'
    >>> as_address("10.0.0.7")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: scheduler must be an address such as tcp://host:8786; got '10.0.0.7'. ...
    """
    if scheduler is None:
        return None
    if not isinstance(scheduler, str) or not ADDRESS.fullmatch(scheduler):
        raise InvalidInputError(
            f"scheduler must be an address such as tcp://host:8786; got {scheduler!r}. `dask scheduler` prints it "
            "when it starts."
        )
    return scheduler


def check_installed() -> None:
    """Refuse to go on without dask.distributed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            f"The engine 'dask' needs the package {error.name!r}, which is not installed. "
            "Run: pip install 'driftmdp[cluster]'"
        ) from None


class Cluster:
    """A cluster that was joined.

    Attributes
    ----------
    client
        The client of dask.distributed.
    threads
        How many tasks run at a time; as of the last look.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.threads = 0
        self._looked = self._peopled = time.monotonic()  # when there was last a look, and anybody

    def wait_for_worker(self) -> None:
        """Wait until there is a worker, and check all that are there."""
        deadline = time.monotonic() + WORKER_SECONDS
        if not self._count():
            warn(f"{self.name} has no worker yet; waiting for one, {WORKER_SECONDS:g} s at most.", ClusterWarning)
        while not self._count():
            if time.monotonic() > deadline:
                raise ClusterLostError(
                    f"{self.name} must have a worker; none came in {WORKER_SECONDS:g} s. Start one on each "
                    f"machine that should work: dask worker {self.address} --nthreads 1"
                )
            time.sleep(0.1)
        self._check_versions()

    def look(self) -> None:
        """Look who is there, now and then; raise if nobody has been for long."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        was = self.threads
        if self._count():
            return
        if was:
            self._peopled = now
            warn(f"{self.name} has lost all its workers; waiting {ALONE_SECONDS:g} s for others.", ClusterWarning)
        elif now - self._peopled > ALONE_SECONDS:
            raise ClusterLostError(
                f"{self.name} must have a worker; all have been gone for {ALONE_SECONDS:g} s. If a task killed "
                f"them, start workers with a nanny, as dask does by default. {AGAIN}"
            )

    @property
    def address(self) -> str:
        """The scheduler's address."""
        return str(self.client.scheduler.address) if self.client.scheduler is not None else "tcp://..."

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        return f"The scheduler at {self.address}"

    def lost(self) -> ClusterLostError:
        """Return the error that says that the scheduler is gone."""
        return ClusterLostError(f"{self.name} must live until the end; the connection to it was lost. {AGAIN}")

    def refused(self, worker: str, differs: tuple[str, str, str]) -> VersionMismatchError:
        """Return the error that says what a worker has that we have not."""
        name, ours, theirs = differs
        return VersionMismatchError(
            f"The worker at {worker} must have {name} {ours}, as here; got {theirs}. Install the same versions on "
            "every machine (`pip freeze` here, `pip install -r` there), then start that worker again."
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
        for worker, facts in self.client.run(own_facts, on_error="return").items():
            if isinstance(facts, OSError):  # it is gone by now; were it back, its first batch would tell
                continue
            if isinstance(facts, BaseException):
                facts = {"driftmdp": f"{type(facts).__name__}: {facts}"}
            differs = difference(own_facts(), facts)
            if differs is not None:
                raise self.refused(worker, differs)


@contextlib.contextmanager
def joined(workers: int, scheduler: str | None) -> Iterator[Cluster]:
    """Join a cluster, or make one here, for as long as the block lasts; its versions are checked."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        host = scheduler if scheduler is not None else stack.enter_context(_local(workers))
        cluster = Cluster(stack.enter_context(_client(host)))
        cluster.wait_for_worker()
        yield cluster


@contextlib.contextmanager
def _client(host: Any) -> Iterator[Any]:
    from distributed import Client

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # dask's own of versions; ours is an error
            client = Client(host, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise ClusterLostError(
            f"A scheduler must answer at {host}; it did not: {_first_line(error)} Is it running, and can this "
            "machine reach its port?"
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=CLOSE_SECONDS)


@contextlib.contextmanager
def _local(workers: int) -> Iterator[Any]:
    """Make a cluster of processes here, one thread each, that only this process uses."""
    import dask
    from distributed import LocalCluster

    if getattr(multiprocessing.current_process(), "_inheriting", False):  # a child that runs the script again
        raise WorkerDiedError(f"A worker process must start; it ran the script instead. {GUARD}")
    try:
        with dask.config.set(LOCAL):
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
        raise WorkerDiedError(f"A worker process must start; {_first_line(error)} {GUARD}") from None
    try:
        yield cluster
    finally:
        for nanny in cluster.workers.values():  # a task in the middle is not waited for
            nanny.auto_restart = False
            with contextlib.suppress(OSError, TypeError):  # it is gone, or was only just being started
                os.kill(nanny.pid, signal.SIGKILL)
        cluster.close(timeout=CLOSE_SECONDS)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let dask's logs be still: what matters is raised."""
    import distributed  # noqa: F401 - so that its loggers are there

    names = ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]
    loggers = [logging.getLogger(name) for name in names]
    speakers = [*loggers, *(handler for log in loggers for handler in log.handlers)]
    silence = functools.partial(_refuse)  # a filter of our own, as several maps may begin and end in any order
    for speaker in speakers:
        speaker.addFilter(silence)
    try:
        yield
    finally:
        for speaker in speakers:
            speaker.removeFilter(silence)


def _refuse(record: logging.LogRecord) -> bool:
    return False


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".") + "."
