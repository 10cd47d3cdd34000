"""The leaderboard: its numbers, its page, and the verdicts on our targets."""

import csv
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import suite_table, targets
from benchmarks.target_rules import GrowthTarget, RegretTarget, least_factor, within

from driftmdp.errors import StorageError
from driftmdp.experiments import load
from driftmdp.experiments.store import Store
from driftmdp.suite import Leaderboard, read_leaderboard, run_suite, standing_rows, write_leaderboard, write_tasks
from driftmdp.suite.standings import standings
from driftmdp.suite.tables import arm_kind_table, radii
from tests.suite.boards import contest
from tests.suite.suites import tiny_suite
from tests.wrapping import wrapped


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("suite")
    tasks = tiny_suite().tasks()
    write_tasks(tasks, "Tiny", where)
    run_suite(tasks, where)
    return where


def test_numbers_are_those_of_the_results(folder):
    board = read_leaderboard(folder)
    assert [c.slug for c in board.contests] == [task.slug for task in tiny_suite().tasks()]
    for c in board.contests:
        runs = load(folder / c.slug / "fresh").runs
        means = runs.groupby("agent")["regret"].mean()
        assert c.mean("Adaptive") == pytest.approx(means["Adaptive"])
        floor = 0.005 * c.horizon * c.span
        least = floor if means["Hindsight"] < floor else -np.inf
        expected = max(means["Adaptive"], least) / max(means["Hindsight"], floor)
        assert c.ratio("Adaptive").estimate == pytest.approx(expected)
        rivals = means.drop("Hindsight")
        assert c.ranks == {agent: int((rivals < mean).sum()) + 1 for agent, mean in rivals.items()}


def test_standings_are_over_the_reported_family(folder):
    board = read_leaderboard(folder)
    ours = next(one for one in standings(board) if one.agent == "Adaptive")
    reported = [c for c in board.contests if c.family == "reported"]
    ratios = [c.ratio("Adaptive").estimate for c in reported]
    assert ours.n == len(reported) == 3
    assert ours.median.estimate == np.median(ratios)
    assert ours.worst == max(ratios)
    assert ours.mean_rank == np.mean([c.ranks["Adaptive"] for c in reported])


def test_an_agent_is_shown_only_as_the_last_command_had_it(folder):
    path = folder / "suite.json"
    before = path.read_text("utf-8")
    asked = json.loads(before)
    asked["agents"]["UCRL2"] = "the digest of its code after a change"
    path.write_text(json.dumps(asked), "utf-8")
    board = read_leaderboard(folder)
    path.write_text(before, "utf-8")
    assert board.agents == [agent for agent in read_leaderboard(folder).agents if agent != "UCRL2"]
    assert board.n_missing == 0


def test_verdicts_on_our_targets_follow_the_rule(folder, capsys):
    board = read_leaderboard(folder)
    by_line = {target.line: target for target in targets.targets(board)}
    reported = board.family("reported")
    within = all(c.mean("Adaptive") <= 1.6 * c.mean("Hindsight") + 0.005 * c.horizon for c in reported)
    assert by_line["All: none above 1.6 x the yardstick + slack"].verdict == ("met so far" if within else "missed")
    median = np.median([c.ratio("Adaptive").estimate for c in reported if c.kind == "exact"])
    assert by_line["Drifting, no noise: median at most 0.7 x the yardstick"].verdict == (
        "met so far" if median <= 0.7 else "missed"
    )
    assert by_line["Stationary: at most 1.2 x PSRL + slack"].verdict == "not run"
    assert by_line["At most 10 states: at most 10 microseconds per step"].verdict != "not run"
    targets.main([str(folder)])
    printed = capsys.readouterr().out
    assert all(line in printed for line in by_line)
    assert "Bandit, T = 400" not in printed
    targets.main([str(folder), "--by-problem"])
    assert "Bandit, T = 400" in capsys.readouterr().out


def test_growth_is_compared_in_the_second_half(folder):
    board = read_leaderboard(folder)
    [(c, more)] = GrowthTarget("late", "UCRL2", 200).differences(board, "Adaptive")
    assert c.slug == "bandit-200"
    curves = load(folder / c.slug / "fresh").curves.set_index(["agent", "t", "seed"])["regret"].sort_index()
    gained = {agent: (curves[agent, 200] - curves[agent, 100]).mean() for agent in ("Adaptive", "UCRL2")}
    assert more.estimate == pytest.approx(gained["Adaptive"] - gained["UCRL2"])


def test_the_slack_decides_at_the_edge():
    assert within(contest(A=[85.0, 85.0], Hindsight=[100.0, 100.0]), "A", 0.8, "Hindsight")
    assert not within(contest(A=[85.1, 85.1], Hindsight=[100.0, 100.0]), "A", 0.8, "Hindsight")
    assert within(contest(A=[4.0, 4.0], Hindsight=[-1.0, -1.0]), "A", 0.8, "Hindsight")


def test_a_target_is_surely_missed_only_if_its_whole_interval_is_above():
    target = RegretTarget("", "Hindsight", 1.3, lambda c: True, "surely")
    assert target.is_met(contest(A=[100.0, 180.0], Hindsight=[100.0, 100.0]), "A")  # mean 140, limit 135
    assert not target.is_met(contest(A=[139.0, 141.0], Hindsight=[100.0, 100.0]), "A")
    assert least_factor(contest(A=[145.0], Hindsight=[100.0]), "A", "Hindsight", 5.0) == pytest.approx(1.4)
    assert least_factor(contest(A=[6.0], Hindsight=[-1.0]), "A", "Hindsight", 5.0) == np.inf


def test_ratios_to_next_to_nothing_are_not_absurd():
    tiny = contest(A=[9.0, 11.0], B=[-4.0, 2.0], Hindsight=[-1.0, 1.0])
    assert tiny.ratio("A").estimate == pytest.approx(2.0)
    assert tiny.ratio("B").estimate == tiny.ratio("Hindsight").estimate == 1.0
    below = contest(A=[-40.0, -60.0], Hindsight=[100.0, 100.0])
    assert below.ratio("A").estimate == pytest.approx(-0.5)


def test_ratios_are_paired_by_the_seeds_that_both_have():
    both = contest(A=[10.0, 20.0, 30.0], Hindsight=[20.0, 40.0])
    assert both.ratio("A").estimate == pytest.approx(0.5)


def test_the_page_is_whole(folder):
    written = write_leaderboard(folder)
    page = written.page.read_text(encoding="utf-8")
    for word in ("undefined", "nan", "None"):
        assert f">{word}<" not in page
    for section in ("standings", "figures", "steps", "comparisons", "map", "contests-reported", "contests-tuning"):
        assert f'id="section-{section}"' in page
    for table in (
        "losses-0",
        "standing-reported",
        "ranks",
        "against-0",
        "times",
        "arm-kinds",
        "arms",
        "provenance",
    ):
        assert f'id="table-{table}"' in page
    shown = [radii(written.board, agent) for agent in ("unknown", "Adaptive", "UCRL2")]
    assert shown == ["none", "scaled x 0.1", "theory"]
    told = replace(written.board, results=[])
    told.choices["A"] = {"name": "SWUCRL2CW", "parameters": {"scale": 0.3, "budgets": "exact"}}
    told.choices["B"] = {"name": "VariationAwareUCRL", "parameters": {}}
    assert [radii(told, agent) for agent in "AB"] == ["scaled x 0.3, told", "theory, told"]
    assert "Constants of our agents were chosen on the tuning family only" in page
    assert {path.name for path in written.figures} >= {"spread.svg", "profiles.png", "times.svg"}
    rows = list(csv.DictReader(written.table.read_text("utf-8").splitlines()))
    assert len(rows) == sum(len(c.regrets) for c in written.board.contests)
    header, shown = standing_rows(written.board)
    assert all(len(row) == len(header) for row in shown)


def test_the_table_of_the_documentation_is_wrapped_and_whole(folder, tmp_path):
    assert suite_table.main([str(folder), "--docs", str(tmp_path)]) == 0
    text = (tmp_path / "suite-table.md").read_text("utf-8")
    assert wrapped(text) == text
    for heading in ("All agents", "With and without noise", "Mean rank by group", "Where Adaptive loses", "Every"):
        assert f"### {heading}" in text
    for image in re.findall(r"\]\((.*png)\)", text):
        assert (tmp_path / image).exists()


def change(path, **facts):
    """Change some facts of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | facts), "utf-8")


def test_what_an_interrupted_or_older_suite_left_is_not_shown(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    slugs = [c.slug for c in read_leaderboard(folder).contests]
    (tmp_path / slugs[0] / "yardstick.json").unlink()  # the first edition had none
    change(tmp_path / slugs[1] / "yardstick.json", parameters={"window": 3})  # searched again, not run again
    store = Store.open(tmp_path / slugs[2] / "fresh")
    store.write_manifest(store.manifest() | {"seeds": [0, 1, 99]})  # asked for, and not run yet
    asked = json.loads((tmp_path / "suite.json").read_text("utf-8"))
    change(tmp_path / "suite.json", tasks=[task | {"stationary": True} for task in asked["tasks"]])
    assert [c.slug for c in read_leaderboard(tmp_path).contests] == slugs[3:]
    change(tmp_path / "suite.json", tasks=[{"slug": slugs[3]}])
    with pytest.raises(StorageError, match="must be a folder that `driftmdp suite` wrote"):
        read_leaderboard(tmp_path)


def test_ends_of_the_grid_are_counted():
    ends = [
        replace(contest(f"c{k}", A=[1, 2], Hindsight=[1, 2]), arm={"agent": "X", "scale": 1e-6}) for k in (1, 2)
    ]
    [row] = arm_kind_table(Leaderboard("Made up", "Hindsight", ends, ["A", "Hindsight"], 2, [])).rows
    assert [cell.value for cell in row[1:]] == [2, 1, 2, 2, 0]


def test_what_is_not_finished_is_said(folder, tmp_path):
    tasks = tiny_suite().tasks()
    write_tasks(tasks, "Tiny", tmp_path)
    with pytest.raises(StorageError, match="no finished problem"):
        write_leaderboard(tmp_path)
    run_suite(tasks[:1], tmp_path)
    assert "3 of 4 problems and horizons are not run yet" in write_leaderboard(tmp_path).page.read_text("utf-8")
    with pytest.raises(StorageError, match=r"no suite\.json"):
        write_leaderboard(tmp_path / "elsewhere")
