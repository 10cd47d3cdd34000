"""A cluster as a queueing network: its bottleneck, and from how many workers on.

A client makes a batch of tasks, the scheduler hands it out, and a worker's core does its tasks. The scheduler and
the client's link carry the results back, and the client stores them. Client, scheduler and link each do one thing
at a time. Cores work in parallel. A client has a limited number of batches in flight. A worker may die in a batch,
which is then done again, from its start, by another.

The events are simulated one by one, because a formula for the mean hides what matters here: how many batches must
be in flight, and how much of the ends of a job is waiting. Of a long job the beginning and the end are simulated,
and the middle goes on at the rate that was reached.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

MOST_BATCHES = 60_000  # simulated at most. The rest goes on at the rate of the second half

__all__ = ["Cluster", "Job", "Outlook", "simulate_cluster"]


@dataclass(frozen=True)
class Job:
    """Many tasks of one kind, and the cost of one for each part, in seconds and bytes.

    Attributes
    ----------
    tasks, batch
        Number of tasks, and number sent together.
    task_seconds
        On a worker's core.
    making_seconds, taking_seconds
        At the client: before it is sent, and from its result to the stored file.
    scheduling_seconds
        At the scheduler, for a whole batch.
    task_bytes, result_bytes
        Over the client's link.
    """

    tasks: int
    batch: int
    task_seconds: float
    making_seconds: float
    taking_seconds: float
    scheduling_seconds: float
    task_bytes: float
    result_bytes: float

    @property
    def core_seconds(self) -> float:
        """What all tasks take on one core."""
        return self.tasks * self.task_seconds


@dataclass(frozen=True)
class Cluster:
    """The machines of a cluster.

    Attributes
    ----------
    cores
        Number of cores that do tasks, over all machines.
    clients
        Commands that run in parallel, each on its share of the job, with its own link.
    start_seconds
        Until a new worker does its first task: started, connected, compiled.
    link_bytes
        Bytes per second of a client's link.
    ahead
        Batches that a client has in flight, per core.
    life_seconds
        Mean lifetime of a worker's core.
    """

    cores: int
    clients: int = 1
    start_seconds: float = 0.0
    link_bytes: float = 1.25e8  # 1 Gbit/s
    ahead: int = 3
    life_seconds: float = float("inf")


@dataclass(frozen=True)
class Outlook:
    """The result of a simulated job.

    Attributes
    ----------
    seconds
        From its start to the last stored result.
    busy
        The share of that time in which each part worked: cores, client, scheduler, link.
    bottleneck
        The part that worked most of the time.
    deaths
        Workers that died in a batch.
    """

    seconds: float
    busy: dict[str, float]
    bottleneck: str
    deaths: int


class _Station:
    """Servers of one kind with one queue, first come first served."""

    def __init__(self, servers: int, free_at: float = 0.0) -> None:
        self._free = [free_at] * servers  # all alike, so it is a heap already
        self.servers, self.worked = servers, 0.0

    def serve(self, now: float, seconds: float, away: float = 0.0) -> float:
        """Return when a piece of work that comes now is done. ``away`` is the server's absence after it."""
        done = max(now, self._free[0]) + seconds
        heapq.heapreplace(self._free, done + away)
        self.worked += seconds
        return done


def simulate_cluster(job: Job, cluster: Cluster, seed: int = 0) -> Outlook:
    """Return how long a job takes on a cluster, and which part limits it.

    Examples
    --------
    >>> job = Job(tasks=10_000, batch=100, task_seconds=0.01, making_seconds=0.0, taking_seconds=1e-4,
    ...           scheduling_seconds=1e-3, task_bytes=100, result_bytes=1000)
    >>> simulate_cluster(job, Cluster(cores=2)).bottleneck
    'cores'
    >>> simulate_cluster(job, Cluster(cores=1000)).bottleneck
    'client'
    """
    simulated = MOST_BATCHES * job.batch
    if job.tasks <= simulated:
        return _simulated(job, cluster, seed)
    half, whole = (_simulated(replace(job, tasks=n), cluster, seed) for n in (simulated // 2, simulated))
    seconds = whole.seconds + (job.tasks - simulated) * (whole.seconds - half.seconds) / (simulated // 2)
    ratio = job.tasks / simulated
    busy = {name: share * ratio * whole.seconds / seconds for name, share in whole.busy.items()}
    return Outlook(seconds, busy, max(busy, key=lambda name: busy[name]), round(ratio * whole.deaths))


def _simulated(job: Job, cluster: Cluster, seed: int) -> Outlook:
    n_batches = -(-job.tasks // job.batch)
    rng = np.random.default_rng(seed)
    client, link = _Station(cluster.clients), _Station(cluster.clients)
    scheduler, cores = _Station(1), _Station(cluster.cores, cluster.start_seconds)
    work = job.batch * job.task_seconds
    lost = -np.expm1(-work / cluster.life_seconds)  # the chance that the worker of a batch dies in it

    def make(now: float) -> tuple[float, str]:
        made = client.serve(now, job.batch * job.making_seconds)
        return link.serve(made, job.batch * job.task_bytes / cluster.link_bytes), "scheduled"

    under_way = min(n_batches, cluster.ahead * cluster.cores)
    events = [(*make(0.0), number) for number in range(under_way)]
    heapq.heapify(events)
    begun, now, deaths = under_way, 0.0, 0
    while events:
        now, stage, number = heapq.heappop(events)
        if stage == "scheduled":
            at = scheduler.serve(now, job.scheduling_seconds / 2)
            if lost and rng.random() < lost:
                deaths += 1
                then = cores.serve(at, work * rng.random(), away=cluster.start_seconds), "scheduled"
            else:
                then = cores.serve(at, work), "done"
        elif stage == "done":
            at = scheduler.serve(now, job.scheduling_seconds / 2)
            then = link.serve(at, job.batch * job.result_bytes / cluster.link_bytes), "arrived"
        elif stage == "arrived":
            then = client.serve(now, job.batch * job.taking_seconds), "stored"
        elif begun < n_batches:
            then, number, begun = make(now), begun, begun + 1
        else:
            continue
        heapq.heappush(events, (*then, number))
    parts = {"cores": cores, "client": client, "scheduler": scheduler, "link": link}
    busy = {name: part.worked / (part.servers * now) for name, part in parts.items()}
    return Outlook(now, busy, max(busy, key=lambda name: busy[name]), deaths)
