"""A spec on a real cluster: the same bytes as here, whatever dies on the way."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from benchmarks.real_cluster import ROOT, real_cluster

from driftmdp.engines import ClusterLostError
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import load, parse_spec, run
from tests.experiments.specs import SMALL, small
from tests.experiments.test_runner import FAILING, contents

LONGER = {"seeds": 80}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with real_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference") / "results"
    run(small(**LONGER), folder)
    return contents(folder)


class Trigger:
    """Does something once, after some runs; and notes what it is told."""

    def __init__(self, after, deed):
        self.after, self.deed, self.seen = after, deed, 0

    def begin(self, total, kept, notes):
        self.kept, self.notes = kept, notes

    def advance(self, failed):
        self.seen += 1
        if self.seen == self.after:
            self.deed()

    def end(self):
        pass


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, cluster, reference):
    victim = cluster.workers[0]
    trigger = Trigger(20, lambda: os.kill(victim.pid, signal.SIGKILL))
    session = run(small(**LONGER), tmp_path / "r", engine="dask", scheduler=cluster.address, progress=trigger)
    assert victim.wait() == -signal.SIGKILL
    assert (session.asked, session.done, session.kept, session.failures) == (640, 640, 0, [])
    assert trigger.seen == 640  # none was lost, none came twice
    assert contents(tmp_path / "r") == reference
    (facts,) = load(tmp_path / "r").sessions
    assert (facts["engine"], facts["workers"]) == ("dask", 2)


def test_own_code_travels_and_an_edit_is_seen(tmp_path, cluster):
    (tmp_path / "moody_travellers.py").write_text(FAILING + "from moody_helpers import VALUE\n")
    (tmp_path / "moody_helpers.py").write_text("VALUE = 1\n")
    text = SMALL.replace('name = "BORL"', 'name = "moody_travellers:Moody"')
    (tmp_path / "spec.toml").write_text(text)
    for edit in ("", "# edited\n"):
        with open(tmp_path / "moody_helpers.py", "a") as file:
            file.write(edit)
        out = tmp_path / f"results{len(edit)}"
        said = driftmdp("run", tmp_path / "spec.toml", "--out", out, "--scheduler", cluster.address)
        assert said.returncode == 1, said.stderr
        assert "RuntimeError: not today (moody_travellers.py, line 15)" in said.stderr
    run(parse_spec(text), tmp_path / "here", where=str(tmp_path / "spec.toml"))
    assert contents(out) == contents(tmp_path / "here")
    assert contents(out) != contents(tmp_path / "results0")
    for name in ("moody_travellers", "moody_helpers"):
        sys.modules.pop(name)


def driftmdp(*words):
    return subprocess.run(
        [sys.executable, "-m", "driftmdp", *words],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": f"{ROOT}/src"},
    )


def test_ctrl_c_keeps_what_is_finished(tmp_path, cluster, reference):
    def interrupt():
        raise KeyboardInterrupt

    for after in (7, 100):
        with pytest.raises(KeyboardInterrupt):
            run(
                small(**LONGER),
                tmp_path / "r",
                engine="dask",
                scheduler=cluster.address,
                progress=Trigger(after, interrupt),
            )
    assert len(load(tmp_path / "r").runs) == 107
    run(small(**LONGER), tmp_path / "r")
    assert contents(tmp_path / "r") == reference


def test_a_scheduler_killed_in_the_middle_leaves_a_store_that_resumes(tmp_path, cluster, reference):
    """The last test of this cluster."""
    trigger = Trigger(50, cluster.scheduler.kill)
    start = time.monotonic()
    with pytest.raises(ClusterLostError, match=r"the connection to it was lost\..* Finished runs are kept in"):
        run(small(**LONGER), tmp_path / "r", engine="dask", scheduler=cluster.address, progress=trigger)
    assert time.monotonic() - start < 30
    assert 50 <= trigger.seen < 640
    assert len(load(tmp_path / "r").runs) == trigger.seen
    session = run(small(**LONGER), tmp_path / "r", engine="threads")
    assert session.kept == trigger.seen
    assert contents(tmp_path / "r") == reference


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::driftmdp.engines.ClusterWarning")  # all workers may be dead at a time
def test_many_runs_under_random_deaths_of_all_kinds(tmp_path):
    """Workers are killed at random, the scheduler every now and then; each session goes on where the last ended."""
    draws, folder, kills = random.Random(20261116), tmp_path / "r", {"worker": 0, "scheduler": 0}
    many = small(seeds=1500)  # 12,000 runs
    for number in itertools.count():
        (tmp_path / f"cluster{number}").mkdir()
        with real_cluster(tmp_path / f"cluster{number}") as cluster:
            murderer = Murderer(cluster, draws, kills, spares_scheduler=number >= 3)
            try:
                session = run(many, folder, engine="dask", scheduler=cluster.address, progress=murderer)
                break
            except ClusterLostError:
                assert len(load(folder).runs) == murderer.kept + murderer.seen
    assert session.kept + session.done == 12_000
    assert session.failures == []
    assert kills["scheduler"] == 3
    assert kills["worker"] >= 8
    run(many, tmp_path / "whole", engine="processes")
    assert contents(folder) == contents(tmp_path / "whole")


class Murderer(Trigger):
    """Kills a worker every few hundred runs, and starts another; at the end the scheduler, unless it is spared."""

    def __init__(self, cluster, draws, kills, spares_scheduler):
        super().__init__(0, None)
        self.cluster, self.draws, self.kills, self.spares = cluster, draws, kills, spares_scheduler
        self.next, self.last = draws.randrange(50, 300), draws.randrange(1500, 3000)

    def advance(self, failed):
        self.seen += 1
        if self.seen == self.next:
            self.next += self.draws.randrange(200, 900)
            self.draws.choice(self.cluster.workers).kill()  # perhaps one that is dead already
            self.cluster.start_worker()
            self.kills["worker"] += 1
        if self.seen == self.last and not self.spares:
            self.cluster.scheduler.kill()
            self.kills["scheduler"] += 1


def test_a_scheduler_needs_dask(tmp_path):
    with pytest.raises(
        InvalidInputError, match="scheduler must be given with the engine 'dask' only; got engine 'thr"
    ):
        run(parse_spec(SMALL), tmp_path / "r", engine="threads", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(InvalidInputError, match="scheduler must be an address such as tcp://host:8786; got 'here'"):
        run(parse_spec(SMALL), tmp_path / "r", engine="auto", scheduler="here")
    assert not (tmp_path / "r").exists()
