import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.problems.inventory import Abrupt, Constant, RegimeSwitching, Seasonal, Trend
from driftmdp.problems.inventory.paths import as_path

NUMBERS = st.floats(-100, 100)


def test_a_constant_stays():
    assert Constant(3).values(4).tolist() == [3.0] * 4


@given(mean=NUMBERS, amplitude=NUMBERS, period=st.floats(0.5, 500), phase=NUMBERS)
def test_a_season_is_a_sine_in_t_counted_from_one(mean, amplitude, period, phase):
    values = Seasonal(mean, amplitude, period, phase).values(5)
    expected = [mean + amplitude * math.sin(2 * math.pi * t / period + phase) for t in range(1, 6)]
    np.testing.assert_allclose(values, expected, atol=1e-9)


@given(start=NUMBERS, end=NUMBERS, horizon=st.integers(2, 50))
def test_a_trend_is_a_straight_line_between_its_ends(start, end, horizon):
    values = Trend(start, end).values(horizon)
    assert (values[0], values[-1]) == (start, end)
    np.testing.assert_allclose(np.diff(values), (end - start) / (horizon - 1), atol=1e-9)


def test_a_trend_of_one_step_is_its_start():
    assert Trend(2.0, 9.0).values(1).tolist() == [2.0]


def test_an_abrupt_path_has_its_new_level_from_the_change_point_on():
    assert Abrupt([1, 5, 2], [3, 4]).values(6).tolist() == [1, 1, 5, 2, 2, 2]


def test_change_points_after_the_horizon_do_not_happen():
    assert Abrupt([1, 5], [10]).values(3).tolist() == [1, 1, 1]


def test_regimes_start_at_the_first_level_and_visit_only_levels():
    values = RegimeSwitching([4.0, 1.0, 9.0], stay=0.5, seed=1).values(200)
    assert values[0] == 4.0
    assert set(values.tolist()) == {1.0, 4.0, 9.0}


def test_regimes_depend_on_the_seed_alone():
    one, two, other = (RegimeSwitching([1, 2, 3], 0.7, seed).values(300).tolist() for seed in (5, 5, 6))
    assert one == two
    assert one != other


def test_regimes_stay_as_often_as_asked_and_else_choose_any_other_level():
    values = RegimeSwitching([0, 1, 2], stay=0.8, seed=7).values(30_000).astype(int)
    jumps = np.bincount((np.diff(values) + 3) % 3, minlength=3)
    assert scipy.stats.chisquare(jumps, jumps.sum() * np.array([0.8, 0.1, 0.1])).pvalue > 1e-3


@pytest.mark.parametrize(("stay", "expected"), [(1.0, [1.0, 1.0, 1.0, 1.0]), (0.0, [1.0, 2.0, 1.0, 2.0])])
def test_two_regimes_that_always_or_never_stay(stay, expected):
    assert RegimeSwitching([1, 2], stay).values(4).tolist() == expected


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ({"path": "constant", "value": 2}, Constant(2)),
        ({"path": "seasonal", "mean": 6, "amplitude": 4, "period": 9}, Seasonal(6, 4, 9)),
        ({"path": "trend", "start": 1, "end": 2}, Trend(1, 2)),
        ({"path": "abrupt", "levels": [1, 2], "change_points": [4]}, Abrupt([1, 2], [4])),
        ({"path": "regime-switching", "levels": [1, 2], "stay": 0.5}, RegimeSwitching([1, 2], 0.5)),
        (7, Constant(7)),
    ],
)
def test_a_table_or_a_number_stands_for_a_path(table, path):
    assert as_path(table, "mean") == path


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Constant(math.nan), "value must be a finite number; got nan."),
        (lambda: Seasonal(1, 1, 0), "period must be positive; got 0."),
        (lambda: Trend("a", 1), "start must be a finite number; got 'a'."),
        (
            lambda: Abrupt([1, 2], [5, 3]),
            "change_points must increase and be one fewer than levels; got 2 levels and [5, 3].",
        ),
        (
            lambda: Abrupt([1, 2, 3], [5, 3]),
            "change_points must increase and be one fewer than levels; got 3 levels and [5, 3].",
        ),
        (lambda: Abrupt([1, 2], [1]), "change_points must be at least 2; got 1."),
        (lambda: RegimeSwitching([1]), "levels must name at least two regimes; got [1.0]."),
        (lambda: RegimeSwitching([1, 2], stay=1.5), "stay must be at most 1; got 1.5."),
        (
            lambda: as_path({"path": "seasonl", "mean": 1}, "mean"),
            "mean['path'] must be one of 'constant', 'given', 'seasonal', 'trend', 'abrupt', 'regime-switching'; "
            "got 'seasonl'. Did you mean 'seasonal'?",
        ),
        (lambda: as_path("six", "mean"), "mean must be a finite number; got 'six'."),
    ],
)
def test_wrong_paths_are_answered_with_one_sentence(make, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        make()
    assert str(caught.value) == sentence


def test_a_table_with_an_unknown_parameter_names_it():
    with pytest.raises(dm.errors.InvalidInputError, match="amplitud"):
        as_path({"path": "seasonal", "mean": 1, "amplitud": 2, "period": 3}, "mean")


def test_a_forecast_is_taken_number_by_number():
    assert as_path([3.0, 1.0, 2.0], "mean").values(2).tolist() == [3.0, 1.0]
    assert as_path({"path": "given", "numbers": [1, 2]}, "mean").values(2).tolist() == [1.0, 2.0]


def test_a_forecast_must_cover_the_horizon():
    with pytest.raises(dm.errors.InvalidInputError, match="numbers must cover the horizon of 3 steps; got 2"):
        as_path([1.0, 2.0], "mean").values(3)


def test_a_longer_switching_path_begins_with_the_shorter():
    path = RegimeSwitching([1, 2, 3], stay=0.5, seed=4)
    assert path.values(50)[:20].tolist() == path.values(20).tolist()
