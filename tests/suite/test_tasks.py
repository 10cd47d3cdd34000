"""The drift suite: what it has, and how it runs."""

import json
from collections import Counter

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.experiments import load, plan
from driftmdp.experiments.best_window import geometric_windows
from driftmdp.suite import packaged_suite, parse_suite, run_suite
from driftmdp.suite.runner import best_arm
from tests.suite.suites import TINY, tiny_suite

ARM = {"window": 4, "scale": 0.1}
HORIZONS = {5000, 20_000, 100_000}


@pytest.fixture(scope="module")
def tasks():
    return packaged_suite().tasks()


def test_the_suite_has_what_it_should(tasks):
    reported = [task for task in tasks if task.family == "reported"]
    at_5000 = Counter(task.group for task in reported if task.horizon == 5000)
    assert at_5000["two-state"] == 4
    assert at_5000["river-swim"] == 3
    assert at_5000["garnet"] == 30  # twelve of them with noisy rewards
    assert at_5000["bandit"] == 3
    assert {task.horizon for task in reported} == HORIZONS
    for task in reported:
        if "100 " in task.label:
            assert task.horizon <= 20_000
    assert {task.group for task in tasks if task.family == "tuning"} <= set(at_5000)
    assert all(task.seeds.fresh.count >= 20 and task.seeds.tuning.count == 5 for task in tasks)


def test_every_name_and_parameter_is_known_and_families_share_no_instance(tasks):
    ids = {"reported": set(), "tuning": set()}
    for task in tasks:
        if task.horizon == 5000:
            asked = plan(task.fresh_spec(ARM))
            ids[task.family].add(asked.problems[0].id)
    assert len(ids["tuning"]) > 20
    assert not ids["reported"] & ids["tuning"]


def test_tuning_tries_twelve_windows_and_five_scales(tasks):
    asked = plan(tasks[0].tuning_spec())
    assert len(asked.agents) == 60
    assert asked.n_runs == 300


@pytest.mark.parametrize("horizon", sorted(HORIZONS))
def test_windows_are_geometric_and_distinct(horizon):
    windows = np.array(geometric_windows(4, horizon, 12))
    assert windows.size == 12
    assert windows[[0, -1]].tolist() == [4, horizon]
    factors = windows[1:] / windows[:-1]
    assert factors.max() / factors.min() < 1.2


def test_seeds_of_the_yardsticks_choice_are_never_reported(tasks):
    tuning, fresh = tasks[0].tuning_spec().seed_list, tasks[0].fresh_spec(ARM).seed_list
    assert not set(tuning) & set(fresh)


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
        ("group =", "grup =", "Did you mean 'group'"),
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
    assert run_suite([task], tmp_path) == []
    runs = load(tmp_path / task.slug / "tuning").runs
    means = runs.groupby(["agent.window", "agent.scale"])["regret"].mean()
    won = best_arm(load(tmp_path / task.slug / "tuning"))
    assert means[won["window"], won["scale"]] == means.min()
    fresh = load(tmp_path / task.slug / "fresh")
    assert fresh.manifest["agents"][-1]["parameters"] == {"widening": 0} | won
    timing = tmp_path / task.slug / "timing.json"
    before = timing.read_bytes()
    assert set(json.loads(before)) == set(fresh.cells["agent"])
    assert run_suite([task], tmp_path) == []
    assert timing.read_bytes() == before
    assert load(tmp_path / task.slug / "fresh").sessions[-1]["done"] == 0


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
