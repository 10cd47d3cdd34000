"""Real clusters, for tests and measurements: a scheduler and workers, each a process started as the docs say."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

__all__ = ["ROOT", "RealCluster", "real_cluster", "wait_for"]

Found = TypeVar("Found")

ROOT = Path(__file__).parents[1]
DASK = [sys.executable, "-m", "dask"]
START = 60.0  # seconds that a process may take to start on a busy machine


class RealCluster:
    """A scheduler on a port that the system chose, and workers of one thread without a nanny."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        self.address = json.loads(wait_for(lambda: self._file.read_text() if self._file.exists() else ""))[
            "address"
        ]

    def add_workers(self, number: int = 1, *options: str) -> list[subprocess.Popen[bytes]]:
        """Start workers, and wait until the scheduler knows them."""
        wanted = self.n_workers() + number
        added = [self.start_worker(*options) for _ in range(number)]
        wait_for(lambda: self.n_workers() >= wanted)
        return added

    def start_worker(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a worker without waiting for it."""
        words = ("worker", self.address, "--nthreads", "1", *options)
        self.workers.append(self._start(*words, *(() if "--nanny" in options else ("--no-nanny",))))
        return self.workers[-1]

    def n_workers(self) -> int:
        """Return how many workers the scheduler knows."""
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=START) as client:
            return len(client.nthreads())

    def close(self) -> None:
        """End all of it at once."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [*DASK, *words, "--host", "127.0.0.1", "--no-dashboard"]
        if words[0] == "worker":
            command += ["--local-directory", str(self.folder)]
        with open(self.folder / "log.txt", "ab") as log:
            return subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": f"{ROOT}/src"}
            )


@contextlib.contextmanager
def real_cluster(folder: Path, workers: int = 2) -> Iterator[RealCluster]:
    """Start a cluster, and end all of it."""
    cluster = RealCluster(folder)
    try:
        cluster.add_workers(workers)
        yield cluster
    finally:
        cluster.close()


def wait_for(condition: Callable[[], Found], seconds: float = START) -> Found:
    """Return the value of the condition once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"The condition must become true within {seconds:g} s. It did not.")
        time.sleep(0.02)
    return found
