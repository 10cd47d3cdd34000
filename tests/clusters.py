"""Real clusters for tests: a scheduler and workers, each a process that is started by the command of the docs."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DASK = [sys.executable, "-m", "dask"]
START = 60  # seconds that a process may take to start on a busy machine


class RealCluster:
    """A scheduler on a port that the system chose, and workers of one thread without a nanny."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen] = []
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        self.address = json.loads(wait_for(lambda: self._file.exists() and self._file.read_text()))["address"]

    def add_workers(self, number: int = 1, *options: str) -> list[subprocess.Popen]:
        """Start workers, and wait until the scheduler knows them."""
        wanted = self.n_workers() + number
        added = [self.start_worker(*options) for _ in range(number)]
        wait_for(lambda: self.n_workers() >= wanted)
        return added

    def start_worker(self, *options: str) -> subprocess.Popen:
        """Start a worker, and wait for nothing."""
        words = ("worker", self.address, "--nthreads", "1", *options)
        self.workers.append(self._start(*words, *(() if "--nanny" in options else ("--no-nanny",))))
        return self.workers[-1]

    def n_workers(self) -> int:
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=START) as client:
            return len(client.nthreads())

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, *words: str) -> subprocess.Popen:
        command = [*DASK, *words, "--host", "127.0.0.1", "--no-dashboard"]
        if words[0] == "worker":
            command += ["--local-directory", str(self.folder)]
        with open(self.folder / "log.txt", "ab") as log:
            return subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": f"{ROOT}/src"}
            )


@contextlib.contextmanager
def real_cluster(folder: Path, workers: int = 2):
    """Start a cluster, and end all of it."""
    cluster = RealCluster(folder)
    try:
        cluster.add_workers(workers)
        yield cluster
    finally:
        cluster.close()


def wait_for(condition, seconds=START):
    """Return what the condition gives once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
