import math
import re

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.experiments import load, parse_spec, run
from driftmdp.experiments.schema import read_json
from driftmdp.report import write_report
from driftmdp.report.figures import readable_length
from driftmdp.report.panels import layout_of
from driftmdp.report.tables import vacuous_agents
from driftmdp.report.text import interval_text, number
from driftmdp.simulation.run import VACUOUS_ADVICE
from driftmdp.statistics import mean_interval, median_interval
from tests.experiments.specs import SMALL
from tests.report.stores import HORIZONS, HOSTILE, built_blank, made


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    text = SMALL.replace("seeds = 4", "seeds = 8").replace('baseline = "Random"', 'split = ["scale"]')
    return load(made(tmp_path_factory.mktemp("results") / "r", text))


@pytest.fixture(scope="module")
def built(results):
    return built_blank(results)


def table(built, name):
    found = [t for section in built.report.sections for t in section.tables if t.id == name]
    assert len(found) == 1
    return found[0]


def test_panels_lines_and_settings(built):
    report = built.report
    assert [panel.label for panel in report.panels] == ["V_r = T^0.2", "V_r = T^0.5"]
    assert [line.label for line in report.lines] == ["SWUCRL2-CW", "BORL", "Random"]
    assert [setting.label for setting in report.settings] == ["scale = 1", "scale = 0.1"]
    first, second = (setting.curves["p0"] for setting in report.settings)
    assert first["a0"] != second["a0"]  # SWUCRL2-CW differs by scale
    assert first["a1"] == second["a1"]  # BORL has none, and is shown in both


def test_every_number_of_the_outcomes_is_the_store_s(built, results):
    runs = results.runs
    for setting, scale in (("s0", 1.0), ("s1", 0.1)):
        rows = table(built, f"outcomes-{setting}").rows
        assert len(rows) == 6
        assert table(built, f"outcomes-{setting}").caption.endswith("8 seeds")
        for problem, agent, reward, reward_median, regret, regret_median in rows:
            label = f"SWUCRL2-CW (scale={scale:g})" if agent.text == "SWUCRL2-CW" else agent.text
            own = runs[(runs["problem"] == problem.text) & (runs["agent"] == label)]
            assert len(own) == 8
            assert reward.value == pytest.approx(mean_interval(own["reward"]).estimate, rel=1e-12)
            assert reward_median.value == median_interval(own["reward"]).estimate
            assert regret.value == pytest.approx(own["regret"].mean(), rel=1e-12)
            assert regret_median.value == own["regret"].median()
            assert regret.text == interval_text(mean_interval(own["regret"]))


def test_curves_are_means_and_intervals_of_the_store(built, results):
    cells = results.curves_by_cell()
    assert set(built.report.curves) == set(cells)
    for cell, curve in built.report.curves.items():
        stored = cells[cell]
        assert curve.t == stored.t.tolist()
        np.testing.assert_allclose(curve.reward.mean, stored.rewards.mean(axis=0), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(curve.regret.mean, stored.regrets.mean(axis=0), rtol=1e-6, atol=1e-6)
        low, high = np.array(curve.regret.low, float), np.array(curve.regret.high, float)
        assert (low <= np.array(curve.regret.mean) + 1e-6).all()
        assert (high >= np.array(curve.regret.mean) - 1e-6).all()


def test_paired_differences_are_by_seed_against_the_baseline(built, results):
    rows = table(built, "paired-s0").rows
    assert [row[1].text for row in rows] == ["BORL", "Random"] * 2  # the first agent is the baseline
    wide = results.runs.pivot_table(index=["problem", "seed"], columns="agent", values="regret")
    for problem, agent, _, less, p, finding in rows:
        own = wide.loc[problem.text]
        expected = (own["SWUCRL2-CW (scale=1)"] - own[agent.text]).mean()
        assert less.value == pytest.approx(expected)
        assert 0 < p.value <= 1
        assert finding.text in {"less regret", "more regret", "none shown"}


def test_ranks_order_the_means(built, results):
    rows = table(built, "ranking-s0").rows
    regrets = results.runs.groupby(["problem", "agent"])["regret"].mean()
    for column, problem in ((2, "V_r = T^0.2"), (3, "V_r = T^0.5")):
        of = {row[0].text: row[column].value for row in rows}
        names = {"SWUCRL2-CW": "SWUCRL2-CW (scale=1)"}
        by_regret = sorted(of, key=lambda agent: regrets[problem, names.get(agent, agent)])
        assert [of[agent] for agent in by_regret] == [1, 2, 3]


def test_a_baseline_may_be_chosen_and_must_exist(results):
    assert "than Random" in table(built_blank(results, "Random"), "paired-s0").caption
    with pytest.raises(InvalidInputError, match="Did you mean 'Random'"):
        built_blank(results, "Randm")


def test_where_all_runs_failed_it_is_said_where_to_look(tmp_path, monkeypatch):
    (tmp_path / "never_agents.py").write_text(
        "class Never:\n"
        "    def __init__(self, problem): pass\n"
        "    def reset(self, rng): raise RuntimeError('no')\n"
        "    def act(self, state): return 0\n"
        "    def observe(self, reward, next_state, action=None): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run(parse_spec(ALONE.replace("UCB1", "never_agents:Never")), tmp_path / "r")
    with pytest.raises(InvalidInputError, match=r"runs to report on; its runs failed: see .*r/failures.json\."):
        built_blank(load(tmp_path / "r"))


def test_slopes_where_there_are_several_horizons(tmp_path):
    built = built_blank(load(made(tmp_path / "r", HORIZONS)))
    rows = table(built, "slopes-s0").rows
    assert [row[1].text for row in rows] == ["Random", "UCRL2"]
    assert rows[0][2].text == "200, 400, 800"
    assert rows[0][3].value == pytest.approx(1.0, abs=0.15)  # random play regrets in proportion


def test_one_seed_has_no_interval_and_still_a_page(tmp_path):
    text = SMALL.replace("seeds = 4", "seeds = 1").replace("horizon = 120", "horizon = 1")
    folder = made(tmp_path / "r", text)
    built = built_blank(load(folder))
    curve = next(iter(built.report.curves.values()))
    assert curve.regret.low == [None]
    assert "[–, –]" in table(built, "outcomes-s0").rows[0][2].text  # noqa: RUF001
    assert write_report(folder).page.stat().st_size > 10_000


ALONE = """
seeds = 1
[[problems]]
name = "bandit"
parameters = { n_arms = 2, horizon = 50 }
[[agents]]
name = "UCB1"
"""


def test_one_of_a_thing_is_in_the_singular(tmp_path):
    results = load(made(tmp_path / "r", ALONE))
    built = built_blank(results)
    assert built.report.lead.paragraphs[0].startswith(
        "1 run: 1 problem, 1 agent (one per choice of parameters), 1 seed. "
    )
    assert table(built, "outcomes-s0").caption.endswith(", 1 seed")
    assert table(built, "problems").rows[0][2].text == "1 state, 2 pairs"
    assert repr(results).endswith("1 problem, 1 agent, 1 seed>")


OWN = """
class Cautious:
    def __init__(self, problem, optimism=0.5, seed=None):
        self.space = problem.space

    def reset(self, rng):
        pass

    def act(self, state):
        return 0

    def observe(self, reward, next_state, action=None):
        pass
"""
OWN_SPEC = """
seeds = 2
[[problems]]
name = "two-state"
parameters = { horizon = 20 }
[[agents]]
name = "cautious_agents:Cautious"
label = "mine"
parameters = { optimism = 0.25 }
[[agents]]
name = "cautious_agents:Cautious"
label = "mine as it is"
[[agents]]
name = "Random"
"""


def test_parameters_of_an_own_agent_are_what_the_spec_gave(tmp_path, monkeypatch):
    (tmp_path / "cautious_agents.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    run(parse_spec(OWN_SPEC), tmp_path / "r", where=str(tmp_path / "spec.toml"))
    rows = table(built_blank(load(tmp_path / "r")), "agents-s0").rows
    assert [[cell.text for cell in row[:3]] for row in rows] == [
        ["mine", "cautious_agents:Cautious", "optimism = 0.25"],
        ["mine as it is", "cautious_agents:Cautious", "its defaults"],
        ["Random", "Random", "none"],
    ]


def test_vacuous_plans_are_said_once_at_the_top(built, results):
    (sentence,) = vacuous_agents(results)
    assert sentence == f"All plans, or nearly all, of SWUCRL2-CW (scale=1), BORL were {VACUOUS_ADVICE}"
    assert built.report.lead.paragraphs.count(sentence) == 1


def test_problems_are_named_where_plans_are_vacuous_in_some_only(tmp_path):
    text = HORIZONS.replace("[200, 400, 800]", "[100, 20000]").replace("scale = 0.1", "scale = 1")
    (sentence,) = vacuous_agents(load(made(tmp_path / "r", text.replace("seeds = 6", "seeds = 1"))))
    assert sentence.startswith("All plans, or nearly all, of UCRL2 in T = 100 were vacuous: ")


def test_nothing_is_said_where_radii_exclude_something(tmp_path):
    assert vacuous_agents(load(made(tmp_path / "r", HORIZONS))) == []


def test_missing_and_failed_runs_are_said(tmp_path):
    folder = tmp_path / "r"
    run(parse_spec(SMALL), folder)
    for file in (folder / "runs").glob("*.parquet"):
        file.unlink()
    with pytest.raises(InvalidInputError, match="it has none"):
        built_blank(load(folder))
    run(parse_spec(SMALL.replace("seeds = 4", "seeds = 2")), folder)
    run_manifest_only(folder)
    assert any(
        "16 runs that the spec asks for are missing" in text
        for text in built_blank(load(folder)).report.lead.paragraphs
    )


def run_manifest_only(folder):
    """Write the manifest of four seeds where two were run."""
    from driftmdp.experiments import plan
    from driftmdp.experiments.runner import manifest_of
    from driftmdp.experiments.store import Store

    Store(folder).write_manifest(manifest_of(plan(parse_spec(SMALL))))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_report(made(tmp_path_factory.mktemp("written") / "r", HOSTILE))


def test_files_are_written_whole_and_the_same_again(written, tmp_path):
    folder = written.page.parents[1]
    before = {path.name: path.read_bytes() for path in written.figures}
    assert {path.suffix for path in written.figures} == {".png", ".svg"}
    assert {name.partition(".")[0] for name in before} == {"reward", "regret", "drift", "arms-a1"}
    again = write_report(folder, tmp_path / "elsewhere")
    assert {path.name: path.read_bytes() for path in again.figures} == before
    assert again.page.read_bytes() == written.page.read_bytes()
    assert not [*folder.rglob("report/.*"), *tmp_path.rglob("*/.*")]


def test_names_in_figures_are_text(written):
    for path in written.figures:
        if path.suffix == ".svg":
            assert "<script" not in path.read_text()
            assert "<b>" not in re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.DOTALL)


def test_a_layout_without_split_has_a_line_for_each_point_of_a_grid(tmp_path):
    found = layout_of(load(made(tmp_path / "r", SMALL)))
    assert [line.label for line in found.lines] == [
        "SWUCRL2-CW (scale=1)",
        "SWUCRL2-CW (scale=0.1)",
        "BORL",
        "Random",
    ]
    assert [setting.label for setting in found.settings] == ["all"]


def test_a_series_is_cut_where_its_swings_would_merge():
    t = np.arange(5000.0)
    assert readable_length(t) == 5000
    assert readable_length(np.zeros(10)) == 10
    assert 14 * 28 < readable_length(np.cos(2 * np.pi * t / 28)) < 16 * 28


NUMBERS = {math.nan: "–", math.inf: "∞", 1e-9: "1.000e-09", 1e140: "1.000e+140", -1234.56: "-1,235", 100.0: "100"}  # noqa: RUF001


@pytest.mark.parametrize(("value", "text"), NUMBERS.items())
def test_numbers_for_people(value, text):
    assert number(value) == text


@pytest.mark.parametrize("text", ["", "x", "[]", "[" * 100_000])
def test_parameters_that_are_no_json_are_a_sentence(text):
    with pytest.raises(StorageError, match="A stored run must have its parameters and its summary as JSON"):
        read_json(text, dict)
