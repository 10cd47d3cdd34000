"""Joining a cluster at its scheduler's address, or making one of processes here, for as long as it is needed."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import queue
import signal
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from driftmdp.engines.base import GUARD, WorkerDiedError, leave_if_rerun, safe_start
from driftmdp.engines.cluster import Cluster, ClusterLostError

CONNECT_SECONDS = 10.0  # for the scheduler to answer
CLOSE_SECONDS = 5.0

LOCAL = {
    "distributed.scheduler.allowed-failures": 0,  # the first death is looked into in a shelter
    "distributed.scheduler.worker-saturation": 2.0,  # the next batch is there when one ends
    # dask's watching of itself takes 4% of a core in every process; so it takes under 1%.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
}


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

    client = object.__new__(Client)
    error = _connected(client, host)
    if error is not None:
        client.status = "closed"  # else what is half made waits 20 s for an answer when it is collected
        raise ClusterLostError(
            f"A scheduler must answer at {host}; it did not: {_first_line(error)} Is it running, and can this "
            "machine reach its port?"
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=CLOSE_SECONDS)


def _connected(client: Any, host: Any) -> Exception | None:
    """Connect a client; return what went wrong. dask's own time limit does not hold if something else answers."""
    answers: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def connect() -> None:
        try:
            client.__init__(host, timeout=CONNECT_SECONDS, set_as_default=False)
            answers.put(None)
        except Exception as error:
            answers.put(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dask's own of versions; ours is an error
        threading.Thread(target=connect, daemon=True).start()
        try:
            return answers.get(timeout=CONNECT_SECONDS + CLOSE_SECONDS)
        except queue.Empty:
            return TimeoutError(f"nothing that a scheduler would say in {CONNECT_SECONDS + CLOSE_SECONDS:g} s.")


@contextlib.contextmanager
def _local(workers: int) -> Iterator[Any]:
    """Make a cluster of processes here, one thread each, that only this process uses."""
    import dask
    from distributed import LocalCluster

    leave_if_rerun()
    try:
        with dask.config.set(LOCAL), safe_start():
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
        with safe_start():  # a worker may be started again
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
