import numpy as np
import pandas as pd
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.experiments import load, parse_spec, run
from driftmdp.experiments.store import Store
from tests.experiments.specs import SMALL, small


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
    with pytest.raises(InvalidInputError, match="SQL over runs, curves, cells and problems"):
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


def many(folder, n_runs, points):
    """Write a store with many runs, made by copying those of a few."""
    import pyarrow as pa

    from driftmdp.experiments.rows import RUNS
    from driftmdp.experiments.runs import plan

    grid = ", ".join(str(0.1 + k / 1000) for k in range(n_runs // 50 // 2))
    text = SMALL.replace("seeds = 4", "seeds = 50").replace("points = 10", f"points = {points}")
    text = text.replace("scale = [1.0, 0.1]", f"scale = [{grid}]")
    text = text[: text.index('[[agents]]\nname = "BORL"')]
    asked = plan(parse_spec(text))
    run(parse_spec(text.replace("seeds = 50", "seeds = 1").replace(grid, "0.1")), folder)
    store, rng = Store(folder), np.random.default_rng(7)
    from driftmdp.experiments.runner import _chunks, _manifest

    for keys in _chunks(asked.runs(), 256):
        n = len(keys)
        curves = rng.normal(size=(n, points)).cumsum(axis=1)
        lists = pa.ListArray.from_arrays(np.arange(0, n * points + 1, points, np.int32), curves.ravel())
        columns = {
            "run": [key.id for key in keys],
            "cell": [key.cell.id for key in keys],
            "problem_id": [key.cell.problem.id for key in keys],
            "seed": [key.seed for key in keys],
            "horizon": np.full(n, 120),
            "reward": curves[:, -1],
            "mean_reward": curves[:, -1],
            "regret": curves[:, -1],
            "plans": np.full(n, 3),
            "vacuous_share": np.ones(n),
            "rewards": lists,
            "regrets": lists,
            "summary": [None] * n,
        }
        store._write_table("runs", keys[0].id.partition("#")[2], pa.table(columns, schema=RUNS))
    store.write_manifest(_manifest(asked))
    return asked


def test_many_runs_stay_usable(tmp_path):
    asked = many(tmp_path / "r", 100_000, points=10)
    assert asked.n_runs == 100_000
    results = load(tmp_path / "r")
    assert len(results.runs) >= 100_000 - 50
    means = results.query("SELECT agent, avg(regret) AS regret FROM runs GROUP BY agent")
    assert len(means) == 1000
    assert len(results.curves_by_cell()) == 2000
