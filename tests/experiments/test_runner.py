import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.experiments import load, parse_spec, run
from driftmdp.experiments.run_plan import plan
from tests.experiments.specs import SMALL, small


def contents(folder: Path) -> dict[str, bytes]:
    """Return the truth: every file that results are made of."""
    files = [*(folder / "runs").iterdir(), *(folder / "problems").iterdir(), folder / "manifest.json"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference") / "results"
    run(small(seeds=80), folder, workers=1)
    return contents(folder)


@pytest.mark.parametrize(("engine", "workers"), [("threads", 2), ("threads", 5), ("processes", 2)])
def test_results_do_not_depend_on_workers_or_engine(tmp_path, reference, engine, workers):
    session = run(small(seeds=80), tmp_path / "r", workers=workers, engine=engine)
    assert (session.asked, session.done, session.kept, session.failures) == (640, 640, 0, [])
    assert contents(tmp_path / "r") == reference


def test_asking_again_does_nothing(tmp_path):
    run(small(), tmp_path / "r")
    before = contents(tmp_path / "r")
    session = run(small(), tmp_path / "r")
    assert (session.done, session.kept) == (0, 32)
    assert contents(tmp_path / "r") == before


def test_a_changed_spec_runs_only_what_is_new(tmp_path):
    run(small(), tmp_path / "r")
    assert run(small(seeds=6), tmp_path / "r").done == 16
    more = parse_spec(SMALL.replace('name = "BORL"', 'name = "UCRL2"'))
    session = run(more, tmp_path / "r")
    assert (session.done, session.kept) == (8, 24)
    runs = load(tmp_path / "r").runs
    assert set(runs["agent"]) == {"SWUCRL2-CW (scale=1)", "SWUCRL2-CW (scale=0.1)", "UCRL2", "Random"}
    assert len(runs) == 32
    assert run(small(seeds=6), tmp_path / "r").done == 0
    run(small(seeds=6), tmp_path / "other")
    assert load(tmp_path / "r").digest == load(tmp_path / "other").digest


class Stopper:
    """Presses Ctrl-C after some runs."""

    def __init__(self, after):
        self.after = after

    def begin(self, total, kept, notes):
        self.kept, self.notes = kept, notes

    def advance(self, failed):
        self.after -= 1
        if self.after == 0:
            raise KeyboardInterrupt

    def end(self):
        pass


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_ctrl_c_keeps_what_is_finished_and_the_rest_is_done_later(tmp_path, reference, engine):
    done = 0
    for after in (7, 260, 100) if engine == "threads" else (260,):
        stopper = Stopper(after)
        with pytest.raises(KeyboardInterrupt):
            run(small(seeds=80), tmp_path / "r", engine=engine, progress=stopper)
        assert stopper.kept == done
        done += after
        assert len(load(tmp_path / "r").runs) == done  # also those whose batch is not whole
    assert run(small(seeds=80), tmp_path / "r").done == 640 - done
    assert contents(tmp_path / "r") == reference


def test_a_torn_journal_is_cut_off_and_its_run_done_again(tmp_path, reference):
    with pytest.raises(KeyboardInterrupt):
        run(small(seeds=80), tmp_path / "r", progress=Stopper(30))
    journal = tmp_path / "r" / "journal"
    journal.write_bytes(journal.read_bytes()[:-5])
    assert len(load(tmp_path / "r").runs) == 29
    stopper = Stopper(1000)
    run(small(seeds=80), tmp_path / "r", progress=stopper)
    assert any("journal were not whole and are cut off" in note for note in stopper.notes)
    assert stopper.kept == 29
    assert contents(tmp_path / "r") == reference


def test_unfinished_runs_of_an_earlier_spec_are_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(small(seeds=80), tmp_path / "r", progress=Stopper(30))
    other = parse_spec(SMALL.replace('name = "BORL"', 'name = "UCRL2"').replace('"SWUCRL2CW"', '"SWUCRL"'))
    run(other, tmp_path / "r")
    assert run(small(seeds=80), tmp_path / "r").kept >= 30


KILLED = SMALL.replace("seeds = 4", "seeds = 80").replace("horizon = 120", "horizon = 6000")


@pytest.mark.parametrize("most", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_process_killed_at_random_moments_loses_only_what_was_in_flight(tmp_path, most):
    spec, folder = tmp_path / "spec.toml", tmp_path / "r"
    spec.write_text(KILLED)
    draws = random.Random(20261116)
    kills, kept = 0, []
    for _ in range(40):
        with subprocess.Popen(
            [sys.executable, "-m", "driftmdp", "run", spec, "--out", folder], stderr=subprocess.PIPE, text=True
        ) as process:
            before = progress_of(folder)
            while process.poll() is None and progress_of(folder) == before:
                time.sleep(0.01)
            time.sleep(draws.uniform(0, 0.12))
            if kills < most and process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            said = process.stderr.read()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, said
        kept.append(len(load(folder).runs) if (folder / "manifest.json").exists() else 0)
    assert kills >= 3
    assert kept == sorted(kept)  # nothing that was finished is lost
    assert kept[-1] > 0
    run(parse_spec(KILLED), tmp_path / "whole", where=str(spec))
    assert contents(folder) == contents(tmp_path / "whole")
    assert not (folder / "journal").exists()
    assert not list((folder / "runs").glob(".*"))


def progress_of(folder: Path) -> tuple[int, int]:
    journal = folder / "journal"
    batches = len(list((folder / "runs").glob("*.parquet"))) if folder.exists() else 0
    return batches, journal.stat().st_size if journal.exists() else 0


FAILING = '''
from driftmdp.agents import Random

class Moody:
    """Fails with odd seeds."""

    def __init__(self, problem, broken=True):
        self.broken = broken

    def reset(self, rng):
        self.sulks = self.broken and rng.random() < 0.5

    def act(self, state):
        if self.sulks:
            raise RuntimeError("not today")
        return 0

    def observe(self, reward, next_state, action=None):
        pass
'''


def test_a_failing_run_is_recorded_and_stops_nothing(tmp_path, monkeypatch):
    (tmp_path / "moody_agents.py").write_text(FAILING)
    spec = parse_spec(SMALL.replace('name = "BORL"', 'name = "moody_agents:Moody"'))
    for engine in ("threads", "processes"):
        session = run(spec, tmp_path / engine, engine=engine, where=str(tmp_path / "spec.toml"))
        assert 0 < len(session.failures) < 8
        assert session.done == 32 - len(session.failures)
        failures = load(tmp_path / engine).failures
        assert set(failures["error"]) == {"RuntimeError: not today (moody_agents.py, line 15)"}
        assert set(failures["agent"]) == {"moody_agents:Moody"}
        assert failures["traceback"].str.contains("raise RuntimeError").all()
        assert load(tmp_path / engine).n_missing == len(failures)
    assert contents(tmp_path / "threads") == contents(tmp_path / "processes")
    again = run(spec, tmp_path / "threads", where=str(tmp_path / "spec.toml"))
    assert (again.done, len(again.failures)) == (0, len(failures))  # failed runs are tried again
    sys.modules.pop("moody_agents")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("scale = [1.0, 0.1]", "scale = [-1.0]", "spec: agents[0], 'SWUCRL2-CW (scale=-1)', cannot be made for"),
        ("scale = [1.0, 0.1]", "scale = [-1.0]", "scale must be at least 0"),
        (
            "horizon = 120",
            'horizon = "long"',
            "spec: problems[0], 'V_r = T^0.2', cannot be made: horizon must",
        ),
        ('grid = { v_r = ["T^0.2", "T^0.5"] }', 'grid = { v_r = ["T^x"] }', "v_r must be a number or a power"),
        ('name = "BORL"', 'name = "UCB1"', "agents[1], 'UCB1', cannot be made for the problem 'V_r = T^0.2'"),
        ('name = "BORL"', 'name = "UCRL2"\nparameters = { reward_range = [0, 1] }', "must contain the problem's"),
        ('name = "BORL"', 'name = "UCRL2"\nparameters = { reward_range = "None" }', "'raw' (as they are)"),
        ('name = "BORL"', 'name = "broken_makers:Agent"', "ValueError: not me"),
        ('name = "two-state"\nlabel = "V_r = {v_r}"', 'name = "broken_makers:problem"', "must make a Problem"),
    ],
)
def test_a_wrong_value_is_found_before_anything_runs(tmp_path, monkeypatch, old, new, said):
    (tmp_path / "broken_makers.py").write_text(
        "class Agent:\n    def __init__(self, problem):\n        raise ValueError('not me')\n"
        "def problem(horizon=1, v_r=0):\n    return 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert old in SMALL
    with pytest.raises(InvalidInputError, match="cannot be made") as caught:
        run(parse_spec(SMALL.replace(old, new)), tmp_path / "r")
    assert said in str(caught.value)
    assert not (tmp_path / "r").exists()


def test_what_is_stored_is_what_simulate_gives(tmp_path):
    run(small(), tmp_path / "r")
    results = load(tmp_path / "r")
    problem = dm.problems.two_state(horizon=120, v_r="T^0.5")
    found = dm.simulate(dm.agents.SWUCRL2CW.for_problem(problem, scale=0.1), problem, seed=3)
    rows = results.runs.query("problem == 'V_r = T^0.5' and agent == 'SWUCRL2-CW (scale=0.1)' and seed == 3")
    (row,) = rows.to_dict("records")
    assert row["reward"] == np.cumsum(found.rewards)[-1]
    assert row["plans"] == found.plans
    curve = results.curves_by_cell()[row["cell"]]
    at = curve.t - 1
    assert curve.t.tolist() == [12, 24, 36, 48, 60, 72, 84, 96, 108, 120]
    np.testing.assert_array_equal(curve.rewards[3], np.cumsum(found.rewards)[at])
    np.testing.assert_allclose(curve.regrets[3], found.dynamic_regret(problem)[at], rtol=0, atol=1e-9)
    assert row["regret"] == curve.regrets[3, -1]
    tidy = results.curves.query("problem == 'V_r = T^0.5' and agent == 'SWUCRL2-CW (scale=0.1)' and seed == 3")
    np.testing.assert_array_equal(tidy["regret"], curve.regrets[3])
    np.testing.assert_array_equal(tidy["t"], curve.t)


GOLDEN = {
    "SWUCRL2CW": 114.593801,
    "BORL": 69.239903,
    "UCRL2": 41.361053,
    "UCRL2S": 2.987353,
    "Random": 144.557909,
    "Oracle": 346.030831,
}


def test_numbers_that_move_raise_the_numerics_version():
    """If this fails because an algorithm or a problem was changed on purpose, raise NUMERICS in _version.py."""
    problem = dm.problems.two_state(horizon=300)
    found = {}
    for name in GOLDEN:
        agent = dm.agents.builtin()[name]
        options = {"scale": 0.1} if name in {"SWUCRL2CW", "BORL", "UCRL2", "UCRL2S"} else {}
        found[name] = dm.simulate(agent.for_problem(problem, **options), problem, seed=11).total_reward
    assert found == pytest.approx(GOLDEN, abs=1e-6)


def test_a_default_that_is_written_out_runs_nothing_anew(tmp_path):
    run(small(), tmp_path / "r")
    written = SMALL.replace('name = "BORL"', 'name = "BORL"\nparameters = { mode = "paper", scale = 1 }')
    session = run(parse_spec(written.replace("horizon = 120", 'horizon = 120, v_p = "T^0.2"')), tmp_path / "r2")
    assert session.done == 32
    session = run(parse_spec(written), tmp_path / "r")
    assert (session.done, session.kept) == (0, 32)
    results = load(tmp_path / "r")
    assert len(results.runs) == 32
    assert results.n_missing == 0


BORL_ONLY = 'seeds = 1\nproblems = [{name = "two-state", parameters = {horizon = 300}}]\nagents = [{name = "BORL"}]'


def test_a_parameter_that_came_later_changes_no_stored_run(tmp_path):
    """BORL's arms are newer than stored results: what a run is, and all that is kept of it, stay as they were."""
    before = plan(parse_spec(BORL_ONLY)).agents[0].id
    assert before == "4bcb1bfc6f77d39f"
    run(parse_spec(BORL_ONLY), tmp_path / "r")
    assert load(tmp_path / "r").runs["parameters"].iloc[0] == (
        '{"horizon": 300, "reward_range": [-2.8, 3.2], "feedback_range": null, "master": "exp3p", "mode": "paper", '
        '"delta": null, "scale": 1, "planner": "paper", "ties": "least-visited", "seed": null}'
    )
    written = BORL_ONLY.replace('"BORL"', '"BORL", parameters = {arms = "corrected"}')
    session = run(parse_spec(written), tmp_path / "r")
    assert (session.done, session.kept) == (0, 1)
    printed = BORL_ONLY.replace('"BORL"', '"BORL", parameters = {arms = "printed"}')
    assert plan(parse_spec(printed)).agents[0].id != before
    assert run(parse_spec(printed), tmp_path / "r").done == 1
    assert json.loads(load(tmp_path / "r").runs["parameters"].iloc[0])["arms"] == "printed"


def test_a_folder_that_had_another_experiment_says_so(tmp_path):
    run(small(), tmp_path / "r")
    stopper = Stopper(1000)
    run(small(name="another"), tmp_path / "r", progress=stopper)
    assert stopper.notes == ["This folder had results of 'small'; they are kept, and found again by that spec."]


def test_results_that_were_there_keep_the_revision_that_made_them(tmp_path, monkeypatch):
    run(small(), tmp_path / "r")
    made = load(tmp_path / "r").manifest["revision"]
    monkeypatch.setattr("driftmdp.experiments.provenance.revision", lambda: "another")
    run(small(), tmp_path / "r")
    assert load(tmp_path / "r").manifest["revision"] == made
    run(small(seeds=5), tmp_path / "r")
    assert load(tmp_path / "r").manifest["revision"] == "another"
    assert [session["revision"] for session in load(tmp_path / "r").sessions] == [made, "another", "another"]


def test_a_problem_that_cannot_be_described_is_a_failure(tmp_path, monkeypatch):
    def broken(world):
        raise ArithmeticError("no drift")

    monkeypatch.setattr("driftmdp.experiments.execute.drift_summary", broken)
    session = run(small(), tmp_path / "r", workers=1)
    assert [failure.error.partition(" (")[0] for failure in session.failures] == ["ArithmeticError: no drift"] * 2
    monkeypatch.undo()
    with pytest.raises(StorageError, match="Run the same command again"):
        load(tmp_path / "r").curves_by_cell()
    assert run(small(), tmp_path / "r").failures == []
    assert len(load(tmp_path / "r").curves_by_cell()) == 8


def test_temporary_files_of_a_killed_process_are_removed(tmp_path):
    run(small(), tmp_path / "r")
    left = tmp_path / "r" / "runs" / ".batch.parquet.0123456789abcdef"
    left.write_bytes(b"half")
    run(small(), tmp_path / "r")
    assert not left.exists()
