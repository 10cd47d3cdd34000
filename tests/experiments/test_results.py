import numpy as np
import pandas as pd
import pytest
from benchmarks.made_store import make_store

from driftmdp.errors import InvalidInputError
from driftmdp.experiments import load, parse_spec, run
from tests.experiments.specs import small


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results [with] odd 'name'") / "r"
    run(small(), folder)
    return load(folder)


def test_runs_are_a_tidy_table(results):
    runs = results.runs
    assert len(runs) == 32
    assert {"problem", "agent", "seed", "reward", "regret", "plans", "vacuous_share"} <= set(runs.columns)
    assert runs["agent.scale"].dropna().unique().tolist() == [1.0, 0.1]
    assert runs["problem.v_r"].unique().tolist() == ["T^0.2", "T^0.5"]
    assert runs["seed"].tolist() == [0, 1, 2, 3] * 8
    assert not runs.duplicated(["problem", "agent", "seed"]).any()


def test_curves_are_a_tidy_table(results):
    assert len(results.curves) == 32 * 10
    last = results.curves.groupby(["problem", "agent", "seed"], sort=False).last().reset_index()
    pd.testing.assert_series_equal(last["regret"], results.runs["regret"])
    pd.testing.assert_series_equal(last["reward"], results.runs["reward"])


def test_questions_in_sql(results):
    found = results.query(
        "SELECT agent, count(*) AS n, avg(regret) AS regret FROM runs GROUP BY agent ORDER BY agent"
    )
    expected = results.runs.groupby("agent")["regret"].mean()
    assert found["n"].tolist() == [8, 8, 8, 8]
    np.testing.assert_allclose(found["regret"], expected[found["agent"]])
    assert results.query("SELECT max(t) AS t FROM curves")["t"].tolist() == [120]
    assert results.query("SELECT b_r > 0 AS moves FROM problems")["moves"].all()
    with pytest.raises(InvalidInputError, match="SQL over runs, curves, cells, problems and summaries"):
        results.query("SELECT nonsense FROM nowhere")


def test_problems_say_how_they_drift(results):
    row = results.problems.iloc[0]
    assert row["drift_reward_name"] == "r(s2, a2)"
    assert row["drift_transition_name"] == "p(s2 | s1, a2)"
    t = np.asarray(row["drift_t"])
    np.testing.assert_allclose(row["drift_reward"], 0.2 - 3 * np.cos(5 * 120**0.2 * np.pi * t / 120))
    np.testing.assert_allclose(row["drift_transition"], 0.5 + 0.3 * np.sin(5 * 120**0.2 * np.pi * t / 120))
    np.testing.assert_allclose(row["optimum"][-1], np.sum(row["drift_gain"]))


def test_every_registered_problem_can_be_run_and_says_how_it_drifts(tmp_path):
    names = ["bandit", "garnet", "inventory", "perils", "river-swim", "two-state"]
    problems = "\n".join(f'[[problems]]\nname = "{name}"' for name in names)
    spec = parse_spec(f'seeds = 1\n{problems}\n[[agents]]\nname = "Random"')
    assert not run(spec, tmp_path / "r").failures
    found = load(tmp_path / "r").problems
    assert len(found) == 6
    assert found["drift_transition"].map(lambda course: min(course) >= 0 and max(course) <= 1 + 1e-9).all()


def test_the_digest_tells_results_apart(results, tmp_path):
    run(small(), tmp_path / "same", workers=2)
    run(small(seeds=[4, 5, 6, 7]), tmp_path / "other")
    assert load(tmp_path / "same").digest == results.digest
    assert load(tmp_path / "other").digest != results.digest


def test_many_runs_stay_usable(tmp_path):
    asked = make_store(tmp_path, 40_000, points=10)
    assert asked.n_runs == 40_000
    results = load(tmp_path)
    assert len(results.runs) == 40_000
    assert results.n_missing == 0
    means = results.query("SELECT agent, avg(regret) AS regret FROM runs GROUP BY agent")
    assert len(means) == 800
    curves = results.curves_by_cell()
    assert len(curves) == 800
    assert all(found.seeds.tolist() == list(range(50)) for found in curves.values())
