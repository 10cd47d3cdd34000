"""What every engine promises."""

import itertools
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from benchmarks.real_cluster import real_cluster

from driftmdp import engines
from driftmdp.engines import TaskOutcome, base, batches, dask
from driftmdp.errors import InvalidInputError, NotConvergedError
from tests.engines import functions

ENGINES = [("threads", 1), ("threads", 3), ("processes", 2), ("dask", 2)]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Yield the address of a real scheduler with two separately started workers."""
    with real_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster.address


@pytest.fixture(params=ENGINES, ids=lambda param: f"{param[0]}-{param[1]}")
def engine(request):
    return make(request, *request.param)


def make(request, name, workers):
    if name == "dask":
        return engines.make(name, scheduler=request.getfixturevalue("address"))
    return engines.make(name, workers)


@pytest.fixture(autouse=True)
def _leaves_nothing_behind(request):
    if "address" in request.fixturenames or "dask" in request.node.name:
        request.getfixturevalue("address")
    before = n_threads()
    yield
    assert n_threads() == before
    assert not multiprocessing.active_children()


def n_threads():
    """Return how many threads there are, but for two idle ones that dask keeps for ever once it was used."""
    return sum(not thread.name.startswith("Dask-") for thread in threading.enumerate())


def collect(engine, function, tasks):
    outcomes = sorted(engine.map(function, tasks), key=lambda outcome: outcome.index)
    assert [outcome.index for outcome in outcomes] == list(range(len(outcomes)))
    return outcomes


def test_every_task_gets_its_outcome(engine):
    outcomes = collect(engine, functions.square, range(60))
    assert [outcome.value for outcome in outcomes] == [task * task for task in range(60)]
    assert all(outcome.error is None and outcome.traceback == "" for outcome in outcomes)
    assert all(outcome.seconds >= 0 for outcome in outcomes)


def test_errors_are_kept_and_stop_nothing(engine):
    outcomes = collect(engine, functions.fail_on_odd, range(20))
    for task, outcome in enumerate(outcomes):
        if task % 2 == 0:
            assert outcome.value == task
            assert outcome.error is None
        else:
            assert outcome.value is None
            assert isinstance(outcome.error, ValueError)
            assert str(outcome.error) == f"odd: {task}"
            assert outcome.error.__traceback__ is None
            assert "in fail_on_odd" in outcome.traceback


def test_any_error_arrives(engine):
    typed, *others = collect(engine, functions.raise_awkward, ["typed", "unpicklable", "unreadable"])
    assert isinstance(typed.error, NotConvergedError)
    assert typed.error.best == 7
    for outcome in others:
        assert isinstance(outcome.error, RuntimeError) != isinstance(engine, engines.ThreadEngine)
        assert re.search("Un(picklable|readable)Error", repr(outcome.error))
        assert "in raise_awkward" in outcome.traceback


@pytest.mark.parametrize("tasks", [[], iter(()), (None for _ in ())])
def test_no_tasks(engine, tasks):
    assert list(engine.map(functions.square, tasks)) == []


def test_fewer_tasks_than_workers(engine):
    assert [outcome.value for outcome in collect(engine, functions.square, [5])] == [25]


def test_tasks_are_taken_lazily_and_closing_ends_all(engine):
    taken = []

    def endless():
        for task in itertools.count():
            taken.append(task)
            yield task

    outcomes = engine.map(functions.square, endless())
    assert taken == []
    for seen in range(1, 101):
        assert next(outcomes).error is None
        assert len(taken) - seen < most_ahead(engine)
    outcomes.close()
    assert list(outcomes) == []


def most_ahead(engine):
    if isinstance(engine, engines.DaskEngine):
        return (engine.workers * dask.BATCHES_AHEAD + 1) * batches.MAX_BATCH_TASKS
    return engine.workers * base.TASKS_AHEAD + 1


def test_a_loop_that_fails_ends_all(engine):
    def consume():
        for outcome in engine.map(functions.square, itertools.count()):
            if outcome.index == 20:
                raise KeyError("the consumer's own")

    with pytest.raises(KeyError, match="the consumer's own"):
        consume()


def test_tasks_that_cannot_be_made_are_the_callers_error(engine):
    def broken():
        yield 1
        raise KeyError("no more tasks")

    with pytest.raises(KeyError, match="no more tasks"):
        list(engine.map(functions.square, broken()))


def test_never_asked_never_begun(engine):
    before = n_threads()
    outcomes = engine.map(functions.square, range(10))
    assert n_threads() == before
    outcomes.close()
    assert list(outcomes) == []


def test_two_maps_at_a_time(engine):
    first, second = engine.map(functions.square, range(9)), engine.map(functions.fail_on_odd, range(9))
    pairs = list(zip(first, second, strict=True))
    assert {outcome.value for outcome, _ in pairs} == {task * task for task in range(9)}
    assert sum(outcome.error is not None for _, outcome in pairs) == 4
    assert list(first) == list(second) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", engines.names())
def test_ctrl_c_leaves_nothing_running(name):
    command = [sys.executable, "-m", "tests.engines.functions", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as script:
        running = [script.stdout.readline().split() for _ in range(2)]
        os.killpg(script.pid, signal.SIGINT)  # as a terminal does: parent and workers alike
        output = script.stdout.read()
    assert script.returncode == 0
    assert output.splitlines()[-1] == "interrupted 0 0"
    if name != "threads":
        assert not any(is_alive(int(pid)) for _, pid in running)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("name", engines.names())
def test_quick_tasks_do_not_wait_for_a_slow_one(request, name, tmp_path):
    signal_file = tmp_path / "go"
    outcomes = make(request, name, 2).map(functions.wait_for, [signal_file, None, None])
    assert {next(outcomes).index for _ in range(2)} == {1, 2}
    signal_file.touch()
    assert [outcome.index for outcome in outcomes] == [0]


def test_threads_share_the_callers_context():
    with np.errstate(divide="raise"):
        outcomes = collect(engines.make("threads", 2), lambda task: np.float64(1) / np.zeros(1), range(4))
    assert all(isinstance(outcome.error, FloatingPointError) for outcome in outcomes)


def test_ctrl_c_waits_for_a_thread_that_is_being_started():
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append("interrupt"))
    try:
        with base.interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            came.append("end of the block")
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == ["end of the block", "interrupt"]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_no_exception_ends_a_map_of_threads(workers):
    with pytest.raises(SystemExit):
        list(engines.make("threads", workers).map(functions.leave_on_odd, range(8)))


def test_the_default_is_one_worker_for_each_usable_core():
    assert engines.make().workers == engines.usable_cores() >= 1
    assert isinstance(engines.make(), engines.ThreadEngine)


@pytest.mark.parametrize("name", engines.names())
@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "two"])
def test_workers_must_be_a_positive_whole_number(name, workers):
    with pytest.raises(InvalidInputError, match=r"^workers must be"):
        engines.make(name, workers)


def test_an_unknown_engine_names_the_nearest():
    with pytest.raises(InvalidInputError, match=r"got 'proceses'\. Did you mean 'processes'"):
        engines.make("proceses")


def test_an_outcome_is_a_plain_frozen_value():
    assert TaskOutcome(1, 2, None, 0.5) == TaskOutcome(1, 2, None, 0.5, "")
