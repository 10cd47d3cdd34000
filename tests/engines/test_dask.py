"""What only a cluster can do wrong: lose workers or its scheduler, differ in versions, not be there."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from benchmarks.real_cluster import real_cluster, wait_for

from driftmdp import engines
from driftmdp.engines import (
    ClusterLostError,
    ClusterWarning,
    DaskEngine,
    VersionMismatchError,
    WorkerDiedError,
    cluster,
    dask,
)
from driftmdp.engines.batches import MAX_BATCH_TASKS, MAX_MESSAGE_BYTES, BatchSizer, TaskBatch, run_isolated
from driftmdp.errors import DriftmdpError, InvalidInputError, MissingPackageError
from tests.engines import functions
from tests.engines.test_conformance import collect

OTHER_NUMPY = """
from driftmdp.engines import versions
versions.version = lambda package, found=versions.version: "0.9" if package == "numpy" else found(package)
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Yield a cluster of which tests may kill the workers: each begins with two."""
    with real_cluster(tmp_path_factory.mktemp("cluster"), workers=0) as started:
        yield started


@pytest.fixture
def two(real):
    real.workers = [worker for worker in real.workers if worker.poll() is None]
    wait_for(lambda: real.n_workers() == len(real.workers))
    real.add_workers(2 - len(real.workers))
    return real


def test_no_worker_is_said_and_waited_for(real, monkeypatch):
    """The first test of this cluster."""
    monkeypatch.setattr(cluster, "FIRST_WORKER_SECONDS", 0.3)
    with (
        pytest.warns(ClusterWarning, match=r"has no worker yet; waiting for one, 0\.3 s at most"),
        pytest.raises(ClusterLostError, match=rf"none came in 0\.3 s\. Start one .* dask worker {real.address}"),
    ):
        list(DaskEngine(scheduler=real.address).map(abs, [1]))


def test_a_worker_that_dies_has_its_batch_done_again(two):
    outcomes = DaskEngine(scheduler=two.address).map(functions.nap, [0.02] * 100)
    found = [next(outcomes) for _ in range(10)]
    os.kill(two.workers[0].pid, signal.SIGKILL)
    found += outcomes
    assert sorted(outcome.index for outcome in found) == list(range(100))
    assert all(outcome.error is None for outcome in found)


def test_what_has_not_begun_is_cancelled(two):
    from distributed import Client

    outcomes = DaskEngine(scheduler=two.address).map(functions.nap, itertools.repeat(0.05))
    assert next(outcomes).error is None
    outcomes.close()
    with Client(two.address, set_as_default=False) as client:
        wait_for(lambda: not any(client.processing().values()))
        assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_a_late_worker_with_other_versions_is_refused(two, tmp_path):
    outcomes = DaskEngine(scheduler=two.address).map(functions.nap, itertools.repeat(0.05))
    next(outcomes)
    (late,) = two.add_workers(1, "--preload", str(preloaded(tmp_path)))
    with pytest.raises(VersionMismatchError, match=r"^The worker at tcp://127\S+ must have numpy .*; got 0\.9"):
        for _ in outcomes:
            pass
    with pytest.raises(VersionMismatchError, match="Bring that machine to the same versions"):  # at the start
        list(DaskEngine(scheduler=two.address).map(abs, [1]))
    late.kill()
    late.wait()


def preloaded(folder):
    script = folder / "other_numpy.py"
    script.write_text(OTHER_NUMPY)
    return script


def test_all_workers_gone_is_said_and_waited_for(two, monkeypatch):
    monkeypatch.setattr(cluster, "NO_WORKER_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "SECONDS_BETWEEN_CHECKS", 0.1)
    monkeypatch.setattr(dask, "GATHER_SECONDS", 1.0)
    outcomes = DaskEngine(scheduler=two.address).map(functions.nap, itertools.repeat(0.02))
    next(outcomes)
    for worker in two.workers:
        worker.kill()
        worker.wait()
    with (
        pytest.warns(ClusterWarning, match="has lost all its workers; waiting 1 s for others"),
        pytest.raises(ClusterLostError, match=r"all have been gone for 1 s\..*then try again"),
    ):
        for _ in outcomes:
            pass


def test_a_lost_scheduler_is_said_soon(real):
    """The last test of this cluster."""
    real.add_workers(1)
    outcomes = DaskEngine(scheduler=real.address).map(functions.nap, itertools.repeat(0.02))
    next(outcomes)
    real.scheduler.kill()
    start = time.monotonic()
    with pytest.raises(ClusterLostError, match="the connection to it was lost") as caught:
        for _ in outcomes:
            pass
    assert time.monotonic() - start < 10
    assert isinstance(caught.value, DriftmdpError)
    assert isinstance(caught.value, ConnectionError)


@pytest.mark.slow
def test_a_killer_is_found_on_a_real_cluster_with_nannies(tmp_path):
    with real_cluster(tmp_path, workers=0) as nursed:
        nursed.add_workers(2, "--nanny")
        outcomes = collect(DaskEngine(scheduler=nursed.address), functions.kill_on_three, range(300))
        nursed.scheduler.terminate()
        nursed.scheduler.wait()  # nannies and their workers end with it
        for worker in nursed.workers:
            worker.wait()
    assert [outcome.index for outcome in outcomes if outcome.error is not None] == [3]
    assert isinstance(outcomes[3].error, WorkerDiedError)


def test_large_tasks_and_values_pass(engine):
    outcomes = collect(engine, functions.large, [bytes(12 * 2**20), *[bytes(2**20)] * 10])
    assert [len(outcome.value) for outcome in outcomes] == [12 * 2**20, *[2**20] * 10]


@pytest.fixture(scope="module")
def engine():
    return engines.make("dask", 2)


def test_a_killer_is_found_on_a_cluster_made_here(engine):
    outcomes = collect(engine, functions.kill_on_three, range(300))
    assert [outcome.value for outcome in outcomes] == [task if task != 3 else None for task in range(300)]
    assert isinstance(outcomes[3].error, WorkerDiedError)
    assert str(outcomes[3].error) == "The worker process of task 3 must outlive it; it was killed by SIGKILL."


@pytest.mark.filterwarnings("ignore::driftmdp.engines.ClusterWarning")  # both workers may die at once
def test_many_killers_and_nobody_else_is_blamed(engine):
    outcomes = collect(engine, functions.kill_on_thirds, range(5))
    assert [outcome.index for outcome in outcomes if outcome.error is not None] == [0, 3]
    assert all("was killed by SIGKILL" in str(outcomes[index].error) for index in (0, 3))


def test_values_that_cannot_be_pickled_fail_alone(engine):
    outcomes = collect(engine, functions.rude_on_two, range(6))
    assert [outcome.value for outcome in outcomes] == [0, 1, None, 3, None, 5]
    assert "must be picklable" in str(outcomes[2].error)


def test_what_cannot_travel_fails_alone(engine):
    tasks = [1, functions.Unreadable(), 2, functions.Unpicklable(), 3]
    outcomes = collect(engine, functions.identity, tasks * 3)
    assert [outcome.value for outcome in outcomes] == [1, None, 2, None, 3] * 3
    assert "not here" in str(outcomes[1].error)
    assert "not even here" in str(outcomes[3].error)
    [outcome] = [outcomes[1]]
    assert isinstance(outcome.error, RuntimeError)


def test_isolation_finds_the_task_that_kills():
    import pickle

    found = [
        pickle.loads(outcome)
        for outcome in run_isolated(
            pickle.dumps(functions.exit_on_three), pickle.dumps([1, 3, 3, 5]), [7, 8, 9, 10]
        )
    ]
    assert [(outcome.index, outcome.value) for outcome in found] == [(7, 1), (8, None), (9, None), (10, 5)]
    assert str(found[1].error) == "The worker process of task 8 must outlive it; it ended with exit code 5."


@pytest.mark.parametrize(
    "address",
    [
        "",
        "host",
        "host:8786",
        "tcp://host",
        "tcp://:8786",
        "http://host:1",
        "tcp://a b:1",
        "tcp://a:b:80",
        "tcp://a:70000",
        "ucx://a:1",
        8786,
    ],
)
def test_a_malformed_address_is_refused(address):
    with pytest.raises(InvalidInputError, match=r"^scheduler must be an address such as tcp://host:8786; got"):
        DaskEngine(scheduler=address)


@pytest.mark.parametrize("address", ["tcp://10.0.0.7:8786", "tls://node.example:1", "tcp://[::1]:8786"])
def test_an_address_is_taken(address):
    assert DaskEngine(scheduler=address).scheduler == address


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ClusterLostError, match=rf"^A scheduler must answer at {address}; it did not"):
            list(DaskEngine(scheduler=address).map(abs, [1]))


def test_something_else_answers(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(cluster, "CLOSE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterLostError, match=rf"^A scheduler must answer at {address}; it did not"):
            list(DaskEngine(scheduler=address).map(abs, [1]))


def test_workers_are_the_schedulers_matter():
    with pytest.raises(InvalidInputError, match="workers must not be given with a scheduler"):
        engines.make("dask", 2, "tcp://127.0.0.1:1")
    with pytest.raises(InvalidInputError, match="scheduler must be given with the engine 'dask' only"):
        engines.make("processes", 2, "tcp://127.0.0.1:1")


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[cluster\]'"):
        engines.make("dask")


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from driftmdp import engines\nprint(list(engines.make('dask', 1).map(abs, [1, 2])))\n")
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert found.returncode == 1
    assert "WorkerDiedError: A worker process must start; Nanny failed to start." in found.stderr
    assert "if __name__ == '__main__':" in found.stderr
    assert found.stderr.count("Traceback") == 1, "the workers must not say anything"


def test_batches_are_half_a_second_long():
    sizer = BatchSizer()
    sizer.learn([70.0], 100)  # compiled
    assert sizer.size == 1
    sizes = []
    for _ in range(5):
        sizer.learn([1e-5] * sizer.size, 100 * sizer.size)
        sizes.append(sizer.size)
    assert sizes == [8, 64, 512, MAX_BATCH_TASKS, MAX_BATCH_TASKS]
    sizer.learn([60.0, *[0.001] * 999], 100_000)  # one of them compiled
    assert sizer.size == 500
    sizer.learn([2.0] * 500, 1000)
    assert sizer.size == 1
    sizer.learn([0.0] * 100, 100 * 2**20)
    assert sizer.size == MAX_MESSAGE_BYTES // 2**20
    assert [len(half.items) for half in TaskBatch([(0, 0), (1, 1), (2, 2)]).halves()] == [2, 1]
