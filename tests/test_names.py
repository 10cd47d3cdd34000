"""One name, one meaning: no class name twice in the package, and old public names lead to their successors."""

import ast
import importlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import driftmdp as dm

SOURCE = Path(dm.__file__).parent
RENAMED = {
    "driftmdp": {"Luck": "Draws"},
    "driftmdp.agents": {"Stage": "RunContext"},
    "driftmdp.callbacks": {"Audience": "CallbackList"},
    "driftmdp.engines": {"Outcome": "TaskOutcome"},
    "driftmdp.experiments": {"Cell": "PlannedCell", "Plan": "RunPlan"}
    | {
        name: f"driftmdp.suite.{name}"
        for name in ("Suite", "SuiteTask", "packaged_suite", "parse_suite", "run_suite", "write_tasks")
    },
    "driftmdp.inventory": {"Comparison": "SimulatedComparison", "book_csv": "events_csv"},
    "driftmdp.mdp": {"Luck": "Draws"},
    "driftmdp.problems.inventory": {
        name: f"driftmdp.problems.inventory.{home}.{name}"
        for name, home in {
            "LEAD_TIMES": "stock",
            "as_demand": "demand",
            "as_lead_time": "stock",
            "as_path": "paths",
        }.items()
    },
    "driftmdp.report": {"Built": "BuiltReport", "Written": "WrittenReport"},
    "driftmdp.report.leaderboard": {
        name: f"driftmdp.suite.{name}" for name in ("WrittenLeaderboard", "standing_rows", "write_leaderboard")
    },
    "driftmdp.simulation": {"pauses": "simulate_until"},
    "driftmdp.statements": {"Bench": "CheckContext"},
    "driftmdp.testing": {"Report": "CheckReport"},
}


def test_no_two_top_level_classes_have_one_name():
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("home", RENAMED)
def test_an_old_public_name_warns_and_leads_to_the_new(home):
    module = importlib.import_module(home)
    for old, new in RENAMED[home].items():
        place, _, name = new.rpartition(".")
        with pytest.warns(DeprecationWarning, match=f"{home}.{old} is now called {new}") as caught:
            assert getattr(module, old) is getattr(importlib.import_module(place or home), name)
        assert caught[0].filename == __file__


def test_an_unknown_name_is_an_attribute_error():
    for home in RENAMED:
        with pytest.raises(AttributeError, match="has no attribute 'Nobody'"):
            importlib.import_module(home).Nobody  # noqa: B018


def test_a_subclass_that_overrides_the_old_name_still_decides():
    class Still(dm.Problem):
        def luck(self, rng):
            return dm.Draws(*(np.zeros(self.horizon) for _ in range(3)))

    problem = dm.problems.two_state(horizon=3)
    still = Still(problem.drifting, reward_range=problem.reward_range)
    with pytest.warns(DeprecationWarning, match="draw_noise"):
        draws = still.draw_noise(np.random.default_rng(1))
    assert not np.any(draws)


def test_the_parameter_luck_is_now_draws():
    problem = dm.problems.two_state(horizon=3)
    draws = problem.draw_noise(np.random.default_rng(1))
    with pytest.warns(DeprecationWarning, match="luck is now called draws"):
        assert problem.sample(1, 0, 0, luck=draws) == problem.sample(1, 0, 0, draws)


def test_luck_is_now_draw_noise():
    problem = dm.problems.two_state(horizon=3)
    with pytest.warns(DeprecationWarning, match="draw_noise"):
        old = problem.luck(np.random.default_rng(1))
    assert np.array_equal(old, problem.draw_noise(np.random.default_rng(1)))
