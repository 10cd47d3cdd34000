"""The drift suite: what it has, and how it runs."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from driftmdp import problems
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import load, plan
from driftmdp.experiments.identity import labelled
from driftmdp.experiments.spec import Choice
from driftmdp.suite import packaged_suite, parse_suite, read_leaderboard, run_suite, write_tasks
from driftmdp.suite.runner import _SuiteRun, mean_regrets
from tests.suite.suites import TINY, tiny_suite

ARM = Choice(name="SWUCRL2CW", parameters={"window": 4, "scale": 0.1})
HORIZONS = {5000, 20_000, 100_000}
APPLICATIONS = {"epidemic", "transport", "wireless", "choice", "healthcare", "queue", "maintenance"}
SHORT = 50  # steps


@pytest.fixture(scope="module")
def tasks():
    return packaged_suite().tasks()


def test_the_suite_has_what_it_should(tasks):
    reported = [task for task in tasks if task.family == "reported"]
    groups = {family: {task.group for task in tasks if task.family == family} for family in ("reported", "tuning")}
    assert {task.horizon for task in reported} == HORIZONS
    assert groups["reported"] >= {"two-state", "garnet", "inventory", *APPLICATIONS, "elsewhere"}
    assert groups["tuning"] < groups["reported"]
    assert groups["reported"] - groups["tuning"] == {"epidemic", "transport", "healthcare", "elsewhere"}
    for group in groups["reported"]:
        labels = [task.label for task in reported if task.group == group]
        assert {label.endswith(", noisy") for label in labels} == {True, False}, group


def test_every_name_and_parameter_is_known_and_families_share_no_instance(tasks):
    ids = {"reported": set(), "tuning": set()}
    for task in tasks:
        if task.horizon == 5000:
            asked = plan(task.fresh_spec(ARM))
            ids[task.family].add(asked.problems[0].id)
    assert len(ids["tuning"]) > 20
    assert not ids["reported"] & ids["tuning"]


def test_labels_say_truly_what_is_noisy_and_what_stands_still():
    for block in packaged_suite().problems.reported + packaged_suite().problems.tuning:
        [(length, unit)] = block.length.items()
        for values in itertools.product(*block.grid.values()):
            varied = dict(zip(block.grid, values, strict=True))
            label = labelled(block.label, varied)
            problem = problems.make(block.name, **block.parameters | varied | {length: -(-SHORT // unit)})
            assert (problem.noise.kind != "none") == ("noisy" in label), label
            assert (sum(problem.budget()) == 0) == ("stationary" in label), label


def test_long_horizons_have_fewer_seeds_and_agents_with_a_limit_stay_away():
    for task in tiny_suite().tasks():
        is_long = task.horizon == 400
        assert [seeds.count for seeds in task.seeds.values()] == ([1, 1, 1] if is_long else [2, 2, 3])
        assert ("Posterior sampling" in [agent.label for agent in task.agents]) != is_long


def test_seeds_of_the_yardsticks_choice_are_never_reported(tasks):
    task = tasks[0]
    fresh, tuning = task.fresh_spec(ARM).seed_list, task.tuning_spec().seed_list
    finals = task.tuning_spec(part="finals").seed_list
    assert len({*fresh, *tuning, *finals}) == len(fresh) + len(tuning) + len(finals)


def test_quick_covers_every_group(tasks):
    quick = packaged_suite().tasks(quick=True)
    assert {task.group for task in quick} == {task.group for task in tasks}
    assert {task.horizon for task in quick} == {5000}
    assert all(task.family == "reported" for task in quick)


def test_agents_of_a_group_meet_it_only():
    labels = {task.slug: [agent.label for agent in task.agents] for task in tiny_suite().tasks()}
    assert "BORL raw" in labels["two-state-v-r-t-0-2-200"]
    assert "BORL raw" not in labels["bandit-200"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("length =", "lenght =", "Did you mean 'length'"),
        ("cycles = 20", "cycles = 30", "multiples of 30; got 200"),
        ('problems = ["Bandit"]', 'problems = ["Bandits"]', "labels of problems; got 'Bandits'"),
        ('label = "Perils"', 'label = "bandit"', "two would be kept in 'bandit-200'"),
    ],
)
def test_mistakes_are_named(old, new, message):
    def tasks():
        suite = parse_suite(TINY.replace(old, new))
        return suite.tasks() + suite.tasks(quick=True)

    with pytest.raises(InvalidInputError, match=message):
        tasks()


def test_the_winner_has_the_least_mean_regret_and_a_second_time_does_nothing(tmp_path):
    task = tiny_suite().tasks()[0]
    place = tmp_path / task.slug
    assert run_suite([task], tmp_path) == []
    runs = load(place / "tuning").runs
    means = runs.groupby("agent")["regret"].mean()
    assert mean_regrets(load(place / "tuning")) == pytest.approx(means.to_dict())
    won = json.loads((place / "yardstick.json").read_text("utf-8"))
    arms = {agent["label"]: agent for agent in load(place / "tuning").manifest["agents"]}
    finals = load(place / "finals").runs.groupby("agent")["regret"].mean()
    assert set(finals.index) == set(means.nsmallest(2).index)
    best = arms[finals.idxmin()]
    assert (won["agent"], won["parameters"]) == (best["name"], best["parameters"])
    fresh = load(place / "fresh")
    timing = (place / "timing.json").read_bytes()
    assert set(json.loads(timing)) == set(fresh.cells["agent"])
    files = {path: path.stat().st_mtime_ns for path in (place / "tuning").rglob("*")}
    assert run_suite([task], tmp_path) == []
    assert {path: path.stat().st_mtime_ns for path in (place / "tuning").rglob("*")} == files
    assert (place / "timing.json").read_bytes() == timing
    assert load(place / "fresh").sessions[-1]["done"] == 0


class Stop:
    """A progress that interrupts after some runs of the refinement."""

    def __init__(self, what):
        self.left = 3 if "round 2" in what else 10**9

    def begin(self, total, kept, notes):
        """Note nothing."""

    def advance(self, failed=False, by=1):
        self.left -= by
        if self.left == 0:
            raise KeyboardInterrupt

    def end(self):
        """Do nothing."""


def test_an_interrupted_search_goes_on_and_ends_the_same(tmp_path):
    task = tiny_suite().tasks()[0]
    run_suite([task], tmp_path / "whole", workers=1)
    with pytest.raises(KeyboardInterrupt):
        run_suite([task], tmp_path / "halved", workers=1, watch=lambda task, what: Stop(what))
    run_suite([task], tmp_path / "halved", workers=1)
    whole, halved = (load(tmp_path / name / task.slug / "tuning") for name in ("whole", "halved"))
    assert halved.digest == whole.digest
    assert [session["done"] for session in halved.sessions] == [14, 3, 0, len(whole.runs) - 17]
    chosen = [tmp_path / name / task.slug / "yardstick.json" for name in ("whole", "halved")]
    assert chosen[0].read_bytes() == chosen[1].read_bytes()


def test_an_agent_that_is_the_best_arm_stands_for_the_yardstick(tmp_path):
    optimist = TINY[TINY.index('name = "SWUCRL2CW"') : TINY.index('name = "PSRL"')]
    task = parse_suite(TINY.replace(optimist, "")).tasks()[0]
    write_tasks([task], "Tiny", tmp_path)
    run_suite([task], tmp_path)
    [contest] = read_leaderboard(tmp_path).contests
    assert (contest.arm, contest.on_edge) == ({"agent": "PSRL"}, False)
    np.testing.assert_array_equal(contest.regrets["Hindsight"], contest.regrets["Posterior sampling"])
    assert contest.microseconds["Hindsight"] == contest.microseconds["Posterior sampling"]
    assert read_leaderboard(tmp_path).n_missing == 0
    spelled = replace(
        task, agents=[Choice(name="SWUCRL2CW", parameters=ARM.parameters | {"ties": "least-visited"})]
    )
    assert len(plan(spelled.fresh_spec(ARM)).agents) == 1  # a default that is given changes nothing


def test_an_agent_that_fails_stops_nothing(tmp_path, monkeypatch):
    def fail(self, context):
        raise RuntimeError("boom")

    monkeypatch.setattr("driftmdp.agents.BORL.play", fail)
    task = next(task for task in tiny_suite().tasks() if task.timed and task.group == "two-state")
    failures = run_suite([task], tmp_path)
    assert {failure.agent for failure in failures} == {"BORL raw"}
    timed = json.loads((tmp_path / task.slug / "timing.json").read_text("utf-8"))
    assert timed
    assert "BORL raw" not in timed


@pytest.mark.parametrize(("microseconds", "engine"), [({}, "threads"), ({"Mine": 1e5}, "processes")])
def test_slow_agents_in_plain_python_run_in_processes(tmp_path, microseconds, engine):
    task = tiny_suite().tasks()[0]
    spec = task.fresh_spec(ARM)
    own = spec.model_copy(update={"agents": [*spec.agents, Choice(name="module:Mine", label="Mine")]})
    suite = _SuiteRun(tmp_path, None, None, "auto", None, microseconds=microseconds)
    assert suite._engine(task, own) == engine
    assert suite._engine(task, spec) == "threads"


@pytest.mark.slow  # a cluster starts three times
def test_a_cluster_gives_the_same(tmp_path):
    task = tiny_suite().tasks(quick=True)[0]
    for engine in ("threads", "dask"):
        run_suite([task], tmp_path / engine, workers=2, engine=engine)
    for part in ("tuning", "fresh"):
        here, there = (load(tmp_path / engine / task.slug / part) for engine in ("threads", "dask"))
        assert there.digest == here.digest
        assert there.sessions[0]["engine"] == "dask"
