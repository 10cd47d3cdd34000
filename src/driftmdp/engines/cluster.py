"""A cluster of dask.distributed that was joined, and is looked after.

Whatever becomes of it is said in one sentence: nobody answers, no worker comes, a worker has other versions, the
scheduler is gone.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from typing import Any

from driftmdp.engines.versions import difference, own_facts
from driftmdp.errors import DriftmdpError, InvalidInputError, MissingPackageError, install_hint
from driftmdp.validation import warn

ANSWER_SECONDS = 10.0  # for all workers to tell their facts
WORKER_SECONDS = 30.0  # for the first worker to come
ALONE_SECONDS = 60.0  # without any worker before a map gives up
LOOK_SECONDS = 1.0  # between two looks at who is there

ADDRESS = re.compile(r"(tcp|tls)://([^\s/:@]+|\[[0-9a-fA-F:.%]+\]):(?P<port>\d{1,5})")
AGAIN = "See to the cluster, then try again."


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
    found = ADDRESS.fullmatch(scheduler) if isinstance(scheduler, str) else None
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise InvalidInputError(
            f"scheduler must be an address such as tcp://host:8786; got {scheduler!r}. `dask scheduler` prints it "
            "when it starts."
        )
    return str(scheduler)


def check_installed() -> None:
    """Refuse to go on without dask.distributed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            f"The engine 'dask' needs the package {error.name!r}, which is not installed. {install_hint('cluster')}"
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
        for worker, facts in self._all_facts().items():
            if isinstance(facts, OSError):  # it is gone by now; were it back, its first batch would tell
                continue
            if isinstance(facts, BaseException):
                facts = {"driftmdp": f"{type(facts).__name__}: {facts}"}
            differs = difference(own_facts(), facts)
            if differs is not None:
                raise self.refused(worker, differs)

    def _all_facts(self) -> dict[str, Any]:
        """Return the facts of every worker; none if they do not all answer soon, as each batch is checked too."""
        answers: queue.SimpleQueue[dict[str, Any] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self.client.run(own_facts, on_error="return"))
            except Exception as error:
                answers.put(error)

        threading.Thread(target=ask, daemon=True).start()
        try:
            found = answers.get(timeout=ANSWER_SECONDS)
        except queue.Empty:
            warn(f"A worker of {self.name} does not answer; going on without its word.", ClusterWarning)
            return {}
        if isinstance(found, Exception):
            raise self.lost() from None
        return found
