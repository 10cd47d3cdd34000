"""Files that version 0.1 wrote before its modules were renamed: they open, and what follows from them is the same.

``written_before/`` holds a store, snapshots and a shop that revision 2111fc6 made, with what it said next.
"""

import csv
import json
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Count, Shop

BEFORE = Path(__file__).parent / "written_before"
DIGEST = "7c5acbc905f363ab"
ORDER = ["problem", "agent", "seed", "t"]
EXPECTED = json.loads((BEFORE / "snapshots" / "expected.json").read_text())


def test_a_store_opens_and_has_the_same_digest():
    results = dm.experiments.load(BEFORE / "store")
    assert results.digest == DIGEST
    assert len(results.runs) == 24
    assert results.n_missing == 0


def test_nothing_is_run_again_in_a_copy_by_the_numerics_that_made_it(tmp_path, monkeypatch):
    monkeypatch.setattr("driftmdp.experiments.run_plan.NUMERICS", 1)
    shutil.copytree(BEFORE / "store", tmp_path / "store")
    session = dm.experiments.run(dm.experiments.read_spec(BEFORE / "spec.toml"), tmp_path / "store")
    assert session.done == 0


def test_other_numerics_run_all_again_beside_it_and_first_editions_give_the_same_numbers(tmp_path):
    shutil.copytree(BEFORE / "store", tmp_path / "store")
    written = (BEFORE / "spec.toml").read_text()
    spec = written.replace('name = "Adaptive"', 'name = "AdaptiveV1"\nlabel = "Adaptive"')
    session = dm.experiments.run(dm.experiments.parse_spec(spec), tmp_path / "store")
    assert (session.done, session.kept) == (24, 0)
    assert all((tmp_path / "store" / "runs" / file.name).exists() for file in (BEFORE / "store" / "runs").iterdir())
    before, now = (dm.experiments.load(folder) for folder in (BEFORE / "store", tmp_path / "store"))
    for table in ("runs", "curves"):
        pd.testing.assert_frame_equal(
            _numbers(getattr(now, table)), _numbers(getattr(before, table)), check_exact=True
        )


def _numbers(table):
    """Return the rows of a table in the order of their labels, without what identifies a run."""
    kept = table.drop(columns=["run", "cell", "problem_id", "agent_id"], errors="ignore")
    return kept.sort_values([name for name in ORDER if name in kept]).reset_index(drop=True)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_snapshot_goes_on_as_before(name):
    problems = {
        "exp3": lambda: dm.problems.bandit(horizon=200),
        "inventory_optimist": lambda: dm.problems.inventory(horizon=200, capacity=6),
    }
    problem = problems.get(name, lambda: dm.problems.two_state(horizon=200))()
    agent, draws = (
        dm.agents.load(BEFORE / "snapshots" / f"{name}.npz"),
        problem.draw_noise(np.random.default_rng(6)),
    )
    assert type(agent).__name__ == "AdaptiveV1" or name != "adaptive"
    state, actions = EXPECTED[name]["state"], []
    for t in range(121, problem.horizon + 1):
        actions.append(agent.act(state))
        step = problem.sample(t, state, actions[-1], draws)
        agent.observe(step.reward, step.next_state)
        state = step.next_state
    assert actions == EXPECTED[name]["actions"]


@pytest.mark.parametrize("field", ["t", "start", "tau", "phase", "n_reasons", "n_touched"])
def test_a_wrong_clock_of_an_old_snapshot_never_reaches_compiled_code(field, tmp_path):
    with np.load(BEFORE / "snapshots" / "swucrl2cw.npz") as file:
        arrays = dict(file)
    arrays["state/clock"][field] = -7
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "damaged.npz")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_snapshot_that_is_saved_again_has_todays_version_and_all_that_was_learned(name, tmp_path):
    agent = dm.agents.load(BEFORE / "snapshots" / f"{name}.npz")
    agent.save(tmp_path / "again.npz")
    again = dm.agents.load(tmp_path / "again.npz")
    arrays, expected = again._state_arrays(), agent._state_arrays()
    assert arrays.keys() == expected.keys()
    for key, array in expected.items():
        np.testing.assert_array_equal(arrays[key], array)
    if hasattr(agent, "last_plan"):
        assert again.last_plan == agent.last_plan
        assert 1 <= agent.last_plan.t <= 120


def test_a_shop_opens_and_orders_as_before(tmp_path):
    shutil.copy(BEFORE / "shop.db", tmp_path / "shop.db")
    orders = _lines("orders.csv")
    with Shop(tmp_path / "shop.db") as shop:
        assert shop.verify()
        kept = [(event.day.isoformat(), event.sku, event.sales) for event in shop.history() if event.kind == "sold"]
        counts = [Count(line["sku"], int(line["stock"])) for line in orders]
        decision = shop.decide(counts, date.fromisoformat(orders[0]["date"]))
    exported = [line for line in _lines("export.csv") if line["kind"] == "sold"]
    assert kept == [(line["date"], line["sku"], int(line["sales"])) for line in exported]
    assert [(line.sku, line.order) for line in decision.advice] == [(o["sku"], int(o["order"])) for o in orders]


def _lines(name):
    with open(BEFORE / name, newline="") as file:
        return list(csv.DictReader(file))
