"""Dask: the same map over many machines, by batches. The cluster may lose workers on the way.

dask runs the batch of a worker that died again elsewhere. A batch that dask gives up, because every worker that
took it died, is run in isolation (:func:`driftmdp.engines.batches.run_isolated`). There the task that kills is
found, and the others get their outcomes. Every task is yielded exactly once, also if it was run twice.
"""

import contextlib
import pickle
import queue
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from driftmdp.engines.base import Outcomes, TaskOutcome, WorkerDiedError, all_from_bytes, as_workers, failed
from driftmdp.engines.batches import BatchSizer, Reply, TaskBatch, Traffic, run_batch
from driftmdp.engines.cluster import Cluster, VersionMismatchError, as_address, check_installed, connected
from driftmdp.engines.versions import own_versions
from driftmdp.errors import InvalidInputError

BATCHES_AHEAD = 3  # batches in flight per thread of the cluster
MAX_ISOLATIONS = 3  # of one batch: its worker may have died of something else
GATHER_SECONDS = 2.0  # for the outcomes of a finished batch, then twice as long; a dead worker's are done again


class DaskEngine:
    """An :class:`Engine` on a cluster of dask.distributed. Function, tasks and values must be picklable.

    It connects, or starts a cluster, when the first outcome is requested, and disconnects at the end of the
    ``map``.

    Parameters
    ----------
    workers
        How many processes to start here, by default one per usable core. Not given with a scheduler.
    scheduler
        Its address, such as ``tcp://host:8786``. By default a cluster of processes here.

    Attributes
    ----------
    workers
        How many tasks run at a time. With a scheduler it is 1 before the first outcome.
    traffic
        How many batches, and how many bytes, all maps have sent so far.

    Examples
    --------
    >>> from driftmdp.engines import DaskEngine
    >>> engine = DaskEngine(workers=1)
    >>> sorted(outcome.value for outcome in engine.map(abs, [-3, 1, -2]))  # doctest: +SKIP
    [1, 2, 3]
    """

    def __init__(self, workers: int | None = None, scheduler: str | None = None) -> None:
        self.scheduler = as_address(scheduler)
        if workers is not None and scheduler is not None:
            as_workers(workers)
            raise InvalidInputError(
                f"workers must not be given with a scheduler, which has its own; got {workers}. Leave it out."
            )
        self.workers = as_workers(workers) if scheduler is None else 1
        self.traffic = Traffic()
        check_installed()

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Outcomes:
        """Yield the outcome of ``function(task)`` for every task, in the order in which they end.

        Raises
        ------
        InvalidInputError
            If the function cannot be pickled.
        ClusterLostError
            If the scheduler does not answer or is lost, or no worker is there for a minute.
        VersionMismatchError
            If a worker has other versions than this process.
        """
        from distributed.protocol.pickle import dumps

        try:
            common = pickle.dumps((own_versions(), dumps(function)))
        except Exception as error:
            raise InvalidInputError(f"function must be picklable; got {function!r}.") from error
        return self._map(common, iter(tasks))

    def _map(self, common: bytes, tasks: Iterator[Any]) -> Outcomes:
        for first in tasks:  # without tasks there is nothing to connect for
            with connected(self.workers, self.scheduler) as cluster:
                self.workers = cluster.threads
                yield from _Mapping(cluster, common, chain([first], tasks), self.traffic).outcomes()


@dataclass
class _Flight:
    """A batch in flight: its future, the bytes that were sent, and the time limit for reading its outcomes."""

    future: Any
    batch: TaskBatch
    sent: int
    gather_seconds: float = GATHER_SECONDS


class _Mapping:
    """One map: the batches in flight, and those to be sent again."""

    def __init__(self, cluster: Cluster, common: bytes, tasks: Iterator[Any], traffic: Traffic) -> None:
        self._cluster, self._common, self._traffic = cluster, common, traffic
        self._tasks = enumerate(tasks)
        self._again: deque[TaskBatch] = deque()
        self._failed: deque[TaskOutcome] = deque()
        self._in_flight: dict[str, _Flight] = {}
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._sizer = BatchSizer()
        self._name = f"driftmdp-{uuid.uuid4().hex}"
        self._sent = 0

    def outcomes(self) -> Outcomes:
        """Yield one outcome for every task."""
        try:
            while True:
                self._fill()
                if self._failed:
                    yield self._failed.popleft()
                elif self._in_flight:
                    self._cluster.check()
                    yield from self._next()
                else:
                    return
        finally:
            self._drop()

    def _fill(self) -> None:
        while len(self._in_flight) + len(self._failed) < max(self._cluster.threads, 1) * BATCHES_AHEAD:
            if (batch := self._next_batch()) is None:
                return
            self._send(batch)

    def _next_batch(self) -> TaskBatch | None:
        """Return what to send. Isolated batches never run beside others, which may kill their worker."""
        in_flight = {flight.batch.is_isolated for flight in self._in_flight.values()}
        if self._again:
            return None if (not self._again[0].is_isolated) in in_flight else self._again.popleft()
        items = [] if True in in_flight else list(islice(self._tasks, self._sizer.size))
        return TaskBatch(items) if items else None

    def _send(self, batch: TaskBatch) -> None:
        """Send a batch. A task that cannot be pickled fails alone."""
        import dask
        from distributed.protocol.pickle import dumps

        try:
            tasks = dumps([task for _, task in batch.items])
        except Exception as error:
            self._split(batch, error)
            return
        self._sent += 1
        self._traffic.batches += 1
        self._traffic.sent += len(self._common) + len(tasks)
        key = f"{self._name}-{self._sent}"
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # a task may be large
            call = (run_batch, self._common, tasks, batch.indices, batch.is_isolated)
            future = self._cluster.client.submit(*call, key=key, pure=False)
        self._in_flight[key] = _Flight(future, batch, len(tasks), GATHER_SECONDS)
        self._watch(key)

    def _watch(self, key: str) -> None:
        self._in_flight[key].future.add_done_callback(lambda _: self._done.put(key))

    def _next(self) -> Outcomes:
        """Yield the outcomes of the next batch that ends, if one does soon."""
        try:
            flight = self._in_flight[(key := self._done.get(timeout=0.5))]
        except queue.Empty:
            return
        try:
            reply = self._answer(flight)
        except TimeoutError:
            flight.gather_seconds *= 2
            self._watch(key)
            return
        del self._in_flight[key]
        batch = flight.batch
        if reply is None:
            return
        self._traffic.received += len(reply.outcomes)
        try:
            found = all_from_bytes(batch.indices, reply.outcomes)
        except Exception as error:  # a value that only the worker can read
            self._split(batch, error)
            return
        if not batch.is_isolated:
            self._sizer.learn([outcome.seconds for outcome in found], max(flight.sent, len(reply.outcomes)))
        yield from found

    def _answer(self, flight: _Flight) -> Reply | None:
        """Return the reply of a worker; None if the batch must be done again, in another way."""
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker

        try:
            reply: Reply = flight.future.result(timeout=flight.gather_seconds)
        except TimeoutError:
            raise
        except (CancelledError, OSError):
            raise self._cluster.lost() from None
        except KilledWorker as death:
            batch, worker = flight.batch, death.last_worker.address
            if batch.isolations < MAX_ISOLATIONS:
                self._again.append(TaskBatch(batch.items, batch.isolations + 1))
            else:
                reason = f"The workers of this task must outlive it; the last, {worker}, died."
                self._split(batch, WorkerDiedError(reason))
            return None
        except Exception as error:
            reply = Reply(broken=repr(error), worker="an unknown address")
        if reply.broken:
            raise VersionMismatchError(
                f"The worker at {reply.worker} must have this driftmdp; it could not take a batch: {reply.broken}. "
                "Install the same versions on every machine."
            )
        if reply.differs is not None:
            raise self._cluster.refused(reply.worker, reply.differs)
        if reply.unreadable:
            unreadable = RuntimeError(f"The task must be readable by a worker; got {reply.unreadable}.")
            self._split(flight.batch, unreadable)
            return None
        return reply

    def _split(self, batch: TaskBatch, error: Exception) -> None:
        """Do the halves of a batch. A single task gets the error."""
        if len(batch.items) > 1:
            self._again.extend(batch.halves())
        else:
            self._failed.append(failed(batch.items[0][0], error, 0.0))

    def _drop(self) -> None:
        """Cancel what has not begun, without waiting for what has."""
        in_flight = [flight.future for flight in self._in_flight.values()]
        self._in_flight.clear()
        if in_flight and self._cluster.client.status == "running":
            with contextlib.suppress(OSError):  # lost in this very moment
                self._cluster.client.cancel(in_flight)
