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
from driftmdp.inventory import Costs, Count, Shop, Sold

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


SHOPS = [  # the last one by 9a48ee5, whose beliefs were learned by an earlier engine
    ("shop.db", "export.csv"),
    ("shop_in_lots.db", "export_in_lots.csv"),
    ("shop_in_units.db", "export_in_units.csv"),
]


@pytest.mark.parametrize(("name", "export"), SHOPS)
def test_a_shop_opens_with_all_that_it_had(name, export, tmp_path):
    shutil.copy(BEFORE / name, tmp_path / "shop.db")
    columns = ("stock", "coming", "expected", "advice", "ordered", "sales")
    with Shop(tmp_path / "shop.db") as shop:
        assert shop.verify()
        kept = [
            (
                e.kind,
                e.day.isoformat(),
                e.sku,
                *("" if (n := getattr(e, name)) is None else str(n) for name in columns),
            )
            for e in shop.history()
        ]
    written = [
        (e["kind"], e["date"], e["sku"].removeprefix("'"), *(e[name] for name in columns)) for e in _lines(export)
    ]
    assert kept == written


def test_a_shop_in_lots_goes_on_in_units(tmp_path):
    shutil.copy(BEFORE / "shop_in_lots.db", tmp_path / "shop.db")
    today, tomorrow = date(2026, 3, 7), date(2026, 3, 8)
    with Shop(tmp_path / "shop.db") as shop:
        nails, tea = (shop.terms_of(sku) for sku in ("Nails", "=Tea"))
        assert (nails.pack, nails.capacity, tea.pack, tea.capacity) == (7, 140, 12, 240)  # 20 lots
        assert nails.costs == Costs(4, 6 / 7, 12 / 7, 3 / 7)
        assert tea.costs == Costs(4, 0.5, 1.0, 0.25)
        again = shop.decide([Count("Nails", 45), Count("=Tea", 45)], today)  # decided by the earlier version
        assert [(a.stock, a.coming, a.order) for a in again.advice] == [(45, 49, 49), (45, 0, 0)]
        assert again.repeated == 2
        shop.record([Sold("Nails", today, 30), Sold("=Tea", today, 3)])
        decision = shop.decide([Count("Nails", 64), Count("=Tea", 42)], tomorrow)
        assert decision.remarks == ()  # 45 - 30 and the 49 ordered two days before
        for advice, terms in zip(decision.advice, (nails, tea), strict=True):
            assert advice.order % terms.pack == 0
            assert advice.stock + advice.coming + advice.order <= terms.capacity
        assert decision.advice[0].coming == 49
        with pytest.raises(InvalidInputError, match="60 days of sales"):
            shop.decide([Count("New", 1)], tomorrow)
        assert shop.verify()
    with Shop(tmp_path / "shop.db") as again:
        assert again.verify()


def _lines(name):
    with open(BEFORE / name, newline="") as file:
        return list(csv.DictReader(file))
