"""What a task costs each part of a cluster, measured on a real one: a scheduler and workers, each a process."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import psutil

from driftmdp import engines
from driftmdp.engines import DaskEngine

__all__ = ["Measured", "RealCluster", "measured", "real_cluster"]

START_SECONDS = 60.0


@dataclass(frozen=True)
class Measured:
    """What many tasks on a real cluster took; seconds and bytes.

    Attributes
    ----------
    tasks, batches, cores
        How many there were.
    seconds
        By the clock, from the first task's start to the last stored result.
    task_seconds
        Of a task on a worker, by the clock.
    client_seconds
        Processor time of the client for a task.
    scheduling_seconds
        Processor time of the scheduler for a batch.
    task_bytes, result_bytes
        That the client sent and received for a task.
    scheduler_memory, worker_memory
        Resident at the end, of the scheduler and of a worker.
    """

    tasks: int
    batches: int
    cores: int
    seconds: float
    task_seconds: float
    client_seconds: float
    scheduling_seconds: float
    task_bytes: float
    result_bytes: float
    scheduler_memory: int
    worker_memory: int


@dataclass(frozen=True)
class RealCluster:
    """A scheduler's address, and its process and those of its workers."""

    address: str
    scheduler: psutil.Process
    workers: list[psutil.Process]


@contextlib.contextmanager
def real_cluster(workers: int) -> Iterator[RealCluster]:
    """Start a scheduler and workers of one thread as the docs say, on this machine; end them with the block."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = Path(folder, "scheduler.json")
        scheduler = stack.enter_context(_dask(folder, "scheduler", "--port", "0", "--scheduler-file", str(file)))
        _wait_for(file.exists)
        address = json.loads(file.read_text())["address"]
        started = [
            stack.enter_context(_dask(folder, "worker", address, "--nthreads", "1", "--no-nanny"))
            for _ in range(workers)
        ]
        _wait_for(lambda: _n_workers(address) == workers)
        yield RealCluster(address, scheduler, started)


def measured(cluster: RealCluster, tasks: int, work: Callable[[str], float]) -> Measured:
    """Return what work costs that ends in a map on the cluster.

    ``work`` is given the scheduler's address, does that many tasks, and returns what they took on the workers.
    """
    with _counting() as made:
        scheduler, client = sum(cluster.scheduler.cpu_times()[:2]), _own_processor_time()
        began = time.perf_counter()
        task_seconds = work(cluster.address)
        seconds = time.perf_counter() - began
        client = _own_processor_time() - client
        scheduler = sum(cluster.scheduler.cpu_times()[:2]) - scheduler
    batches, sent, received = (sum(parts) for parts in zip(*(astuple(one.traffic) for one in made), strict=True))
    return Measured(
        tasks=tasks,
        batches=batches,
        cores=len(cluster.workers),
        seconds=seconds,
        task_seconds=task_seconds / tasks,
        client_seconds=client / tasks,
        scheduling_seconds=scheduler / batches,
        task_bytes=sent / tasks,
        result_bytes=received / tasks,
        scheduler_memory=cluster.scheduler.memory_info().rss,
        worker_memory=max(worker.memory_info().rss for worker in cluster.workers),
    )


@contextlib.contextmanager
def _counting() -> Iterator[list[DaskEngine]]:
    """Collect the engines that are made, which count what they move."""
    make, made = engines.make, []

    def make_and_keep(*arguments: Any) -> engines.Engine:
        engine = make(*arguments)
        if isinstance(engine, DaskEngine):
            made.append(engine)
        return engine

    setattr(engines, "make", make_and_keep)  # noqa: B010 - the type checker knows what it was
    try:
        yield made
    finally:
        setattr(engines, "make", make)  # noqa: B010


@contextlib.contextmanager
def _dask(folder: str, *words: str) -> Iterator[psutil.Process]:
    command = [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1", "--no-dashboard"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    with open(Path(folder, "log.txt"), "ab") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()


def _n_workers(address: str) -> int:
    from distributed import Client

    with Client(address, set_as_default=False, timeout=START_SECONDS) as client:
        return len(client.nthreads())


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("A cluster must start within a minute; it did not.")
        time.sleep(0.05)


def _own_processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
