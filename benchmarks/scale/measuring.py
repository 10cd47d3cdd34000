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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

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
    with _counting() as traffic:
        scheduler, client = sum(cluster.scheduler.cpu_times()[:2]), _own_processor_time()
        began = time.perf_counter()
        task_seconds = work(cluster.address)
        seconds = time.perf_counter() - began
        client = _own_processor_time() - client
        scheduler = sum(cluster.scheduler.cpu_times()[:2]) - scheduler
    return Measured(
        tasks=tasks,
        batches=traffic.batches,
        cores=len(cluster.workers),
        seconds=seconds,
        task_seconds=task_seconds / tasks,
        client_seconds=client / tasks,
        scheduling_seconds=scheduler / traffic.batches,
        task_bytes=traffic.sent / tasks,
        result_bytes=traffic.received / tasks,
        scheduler_memory=cluster.scheduler.memory_info().rss,
        worker_memory=max(worker.memory_info().rss for worker in cluster.workers),
    )


@dataclass
class _Traffic:
    """Batches that a client sent, and the bytes of what was in them and came back."""

    batches: int = 0
    sent: int = 0
    received: int = 0


@contextlib.contextmanager
def _counting() -> Iterator[_Traffic]:
    """Count what goes through every client of this process."""
    from distributed import Client, Future

    traffic, submit, result = _Traffic(), Client.submit, Future.result

    def counted_submit(self: Any, function: Any, *args: Any, **options: Any) -> Any:
        traffic.batches += 1
        traffic.sent += sum(len(arg) for arg in args if isinstance(arg, bytes))
        return submit(self, function, *args, **options)

    def counted_result(self: Any, timeout: Any = None) -> Any:
        reply = result(self, timeout)
        traffic.received += sum(map(len, reply.outcomes))
        return reply

    Client.submit, Future.result = counted_submit, counted_result
    try:
        yield traffic
    finally:
        Client.submit, Future.result = submit, result


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
