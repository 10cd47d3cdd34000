"""The cost of a task for each part of a cluster, measured on a real one: a scheduler and workers, each a process.

Each number is the difference between many tasks and few, divided by how many more they are. So it leaves out what
is paid once, such as connecting and the first small batches. The work of client and scheduler while they only wait
is measured and subtracted.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from typing import Any

import psutil

from benchmarks.real_cluster import RealCluster
from driftmdp import engines
from driftmdp.engines import DaskEngine

__all__ = ["Measured", "measured"]

IDLE_SECONDS = 3.0  # of watching a scheduler that has nothing to do


@dataclass(frozen=True)
class Measured:
    """The cost of a task on a real cluster, in seconds and bytes.

    Attributes
    ----------
    tasks, batches, cores
        The numbers beyond those with few tasks, and the number of cores.
    seconds
        Wall-clock time of all tasks.
    task_seconds
        Wall-clock time of a task on a worker.
    client_seconds
        Processor time of the client per task.
    scheduling_seconds
        Processor time of the scheduler per batch.
    task_bytes, result_bytes
        Sent and received by the client per task.
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


def measured(cluster: RealCluster, few: int, many: int, work: Callable[[str, int], float]) -> Measured:
    """Return the cost of a task of work that ends in a map on the cluster.

    ``work`` is given the scheduler's address and the number of tasks, and returns their seconds on the workers.
    """
    work(cluster.address, few)  # compiles
    scheduler = psutil.Process(cluster.scheduler.pid)
    idle, waiting = _idle_share(scheduler), _waiting_share(cluster.address)
    less, more = (_spent(cluster, tasks, work) for tasks in (few, many))
    spent = _Spent(*(b - a for a, b in zip(astuple(less), astuple(more), strict=True)))
    return Measured(
        tasks=many - few,
        batches=round(spent.batches),
        cores=len(cluster.workers),
        seconds=spent.seconds,
        task_seconds=spent.on_workers / (many - few),
        client_seconds=max(0.0, spent.client - waiting * spent.seconds) / (many - few),
        scheduling_seconds=max(0.0, spent.scheduler - idle * spent.seconds) / max(1.0, spent.batches),
        task_bytes=spent.sent / (many - few),
        result_bytes=spent.received / (many - few),
        scheduler_memory=scheduler.memory_info().rss,
        worker_memory=max(psutil.Process(worker.pid).memory_info().rss for worker in cluster.workers),
    )


@dataclass(frozen=True)
class _Spent:
    """Wall-clock seconds, seconds on workers, processor seconds, then batches and bytes."""

    seconds: float
    on_workers: float
    client: float
    scheduler: float
    batches: float
    sent: float
    received: float


def _spent(cluster: RealCluster, tasks: int, work: Callable[[str, int], float]) -> _Spent:
    process = psutil.Process(cluster.scheduler.pid)
    with _counting() as made:
        before = time.perf_counter(), _own_processor_time(), _processor_time(process)
        on_workers = work(cluster.address, tasks)
        after = time.perf_counter(), _own_processor_time(), _processor_time(process)
    seconds, client, scheduler = (b - a for a, b in zip(before, after, strict=True))
    batches, sent, received = (sum(parts) for parts in zip(*(astuple(one.traffic) for one in made), strict=True))
    return _Spent(seconds, on_workers, client, scheduler, batches, sent, received)


def _idle_share(process: psutil.Process) -> float:
    """Return the share of a core that a process takes with nothing to do."""
    before = _processor_time(process)
    time.sleep(IDLE_SECONDS)
    return (_processor_time(process) - before) / IDLE_SECONDS


def _waiting_share(scheduler: str) -> float:
    """Return the share of a core that a client takes while its tasks only sleep."""
    used = []
    for seconds in (0.1, 0.1 + IDLE_SECONDS):
        before = _own_processor_time()
        list(DaskEngine(scheduler=scheduler).map(time.sleep, [seconds]))
        used.append(_own_processor_time() - before)
    return max(0.0, used[1] - used[0]) / IDLE_SECONDS


def _processor_time(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


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


def _own_processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
