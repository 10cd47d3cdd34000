"""Which window is best: what is chosen, on which seeds, and what is said of it."""

import dataclasses

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.experiments import best_window
from driftmdp.statistics import mean_interval, sign_flip_test

PROBLEM = dm.problems.two_state(horizon=400)
WINDOWS, SEEDS = [400, 8, 30], 8


@pytest.fixture(scope="module")
def found():
    return best_window(PROBLEM, WINDOWS, scale=0.1, seeds=SEEDS)


def regrets(agent, seeds):
    return [dm.simulate(agent, PROBLEM, seed).dynamic_regret(PROBLEM)[-1] for seed in seeds]


def test_scores_are_of_seeds_on_which_nothing_was_chosen(found):
    agents = [dm.agents.SWUCRL2CW.for_problem(PROBLEM, window=window, scale=0.1) for window in sorted(WINDOWS)]
    theory = dm.agents.SWUCRL2CW.for_problem(PROBLEM, scale=0.1)
    chosen_on = [np.mean(regrets(agent, range(SEEDS, 2 * SEEDS))) for agent in agents]
    assert found.best == sorted(WINDOWS)[int(np.argmin(chosen_on))]
    assert [score.window for score in found.scores] == [*sorted(WINDOWS), theory.window, None]
    assert [score.name for score in found.scores[-2:]] == [f"theorem-1: window {theory.window}", "Adaptive"]
    for score, agent in zip(found.scores, [*agents, theory, dm.agents.Adaptive.for_problem(PROBLEM)], strict=True):
        expected = mean_interval(regrets(agent, range(SEEDS)))
        assert [score.regret, score.low, score.high] == pytest.approx(
            [expected.estimate, expected.low, expected.high]
        )


def test_tests_are_paired_by_seed_and_corrected(found):
    best = [row for row in found.windows if row.window == found.best]
    assert np.isnan(best[0].p_value)
    one, other = (dm.agents.SWUCRL2CW.for_problem(PROBLEM, window=w, scale=0.1) for w in (found.best, 400))
    alone = sign_flip_test(np.subtract(regrets(other, range(SEEDS)), regrets(one, range(SEEDS))))
    [row] = [row for row in found.windows if row.window == 400]
    assert alone <= row.p_value <= 4 * alone
    assert found.best in found.tied
    assert set(found.tied) == {row.window for row in found.windows if not row.p_value < 0.05}


def test_it_shows_itself(found):
    text = str(found)
    assert text.startswith("two-state-v1, T = 400: SWUCRL2-CW, radii x 0.1, 8 seeds\n")
    assert f"Best, chosen on 8 other seeds: window {found.best}." in text
    assert len(text.splitlines()) == 8
    assert repr(found) == f"BestWindow(problem='two-state-v1', scale=0.1, best={found.best}, tied={found.tied})"
    assert found._repr_html_().count("<tr>") == 7
    assert found.to_frame()["regret"].tolist() == [score.regret for score in found.scores]


def test_the_engine_changes_nothing(found):
    again = best_window(PROBLEM, WINDOWS, seeds=SEEDS, engine="processes", workers=2)
    np.testing.assert_equal(again.scores, found.scores)


def test_the_engine_may_be_chosen(found):
    np.testing.assert_equal(best_window(PROBLEM, WINDOWS, seeds=SEEDS, engine="auto").scores, found.scores)


def test_what_is_said_where_nothing_is_tied(found):
    rows = [row._replace(p_value=0.01) for row in found.scores]
    all_differ = dataclasses.replace(found, scores=tuple(rows))
    assert str(all_differ).endswith(f"window {found.best}. All other windows of the grid differ from it.")
    alone = dataclasses.replace(found, best=8, scores=found.scores[:1] + found.scores[-2:])
    assert str(alone).splitlines()[-1] == "Only window 8 was tried."


def test_windows_are_geometric_by_default_and_end_with_the_horizon():
    found = best_window(PROBLEM, seeds=2, widening=0.0)
    windows = [row.window for row in found.windows]
    assert windows[0] == 4
    assert windows[-1] == 400
    assert len(windows) == 12
    assert found.tied == tuple(windows)  # two seeds tell nothing apart


@pytest.mark.filterwarnings("default::driftmdp.errors.VacuousPlansWarning")
def test_if_every_plan_is_vacuous_it_is_said():
    with pytest.warns(VacuousPlansWarning, match="Every plan was vacuous: theory's radii") as said:
        found = best_window(PROBLEM, [5, 10], scale=1.0, seeds=2)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert found.is_vacuous
    assert str(found).splitlines()[-1].startswith("vacuous: theory's radii exclude nothing")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"problem": PROBLEM.drifting}, "problem must be a Problem; got <DriftingMdp"),
        ({"problem": "two-state-v1"}, r"got 'two-state-v1'. Write driftmdp.problems.make\('two-state-v1'\)"),
        ({"windows": []}, "windows must hold at least one; got none"),
        ({"windows": 47}, "windows must be a list of whole numbers; got 47"),
        ({"windows": [10, 0]}, r"windows\[1\] must be at least 1; got 0"),
        ({"windows": [401]}, r"windows\[0\] must be at most 400; got 401"),
        ({"windows": ["ten"]}, r"windows\[0\] must be a whole number; got 'ten'"),
        ({"seeds": 1}, "seeds must be at least 2; got 1"),
        ({"scale": 0}, "scale must be positive; got 0"),
        ({"widening": -1}, "widening must be at least 0; got -1"),
        ({"engine": "thread"}, "engine must be one of"),
        ({"workers": 0}, "workers must be at least 1"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        best_window(**{"problem": PROBLEM, "windows": [10], "seeds": 2} | arguments)
