import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.formulas import bernstein_radii, jaksch_radii, paper_radii

TWO = dm.Space.uniform(2, 2)
RAGGED = dm.Space([4, 3, 2, 1])  # inventory with capacity 3: S = 4, ten pairs
DELTAS = st.floats(1e-9, 1.0)


def test_the_papers_radii_by_hand():
    """S = A = 2, T = 5000, delta = 1/T: the logarithm is ln(4 * 5000^2) = ln 10^8."""
    log = 8 * math.log(10)
    reward, transition = paper_radii([0, 1, 4, 100], TWO, 5000)
    np.testing.assert_allclose(reward, [2 * math.sqrt(2 * log / n) for n in (1, 1, 4, 100)])
    np.testing.assert_allclose(transition, [2 * math.sqrt(4 * log / n) for n in (1, 1, 4, 100)])


@pytest.mark.parametrize(("visits", "small"), [(147, False), (148, True)])
def test_the_reward_radius_falls_below_one_at_148_visits(visits, small):
    assert (paper_radii([visits], TWO, 5000).reward[0] < 1) == small


@pytest.mark.parametrize(("visits", "small"), [(73, False), (74, True)])
def test_the_transition_radius_falls_below_two_at_74_visits(visits, small):
    assert (paper_radii([visits], TWO, 5000).transition[0] < 2) == small


def test_sa_counts_the_pairs_where_actions_differ_by_state():
    reward, transition = paper_radii([9], RAGGED, horizon=100, delta=0.5)
    log = math.log(10 * 100 / 0.5)
    assert reward[0] == pytest.approx(2 * math.sqrt(2 * log / 9))
    assert transition[0] == pytest.approx(2 * math.sqrt(2 * 4 * log / 9))


def test_jakschs_radii_by_hand():
    reward, transition = jaksch_radii([0, 7], TWO, t=10, delta=0.05)
    np.testing.assert_allclose(reward, [math.sqrt(7 * math.log(1600) / (2 * n)) for n in (1, 7)])
    np.testing.assert_allclose(transition, [math.sqrt(28 * math.log(800) / n) for n in (1, 7)])


def test_jakschs_radii_take_pairs_per_state_for_a():
    transition = jaksch_radii([1], RAGGED, t=10, delta=0.05).transition
    assert transition[0] == pytest.approx(math.sqrt(14 * 4 * math.log(2 * 2.5 * 10 / 0.05)))


def test_bernsteins_radii_by_hand():
    """L = ln(6 SA N / delta) = ln(6 * 4 * 8 / 0.1) for eight visits."""
    reward, transition = bernstein_radii(
        [8, 0, 1, 1], [0.25, 0, 0, 0], [[0.5, 0.5], [0, 0], [1, 0], [0, 1]], TWO, 0.1
    )
    log, one = math.log(1920), math.log(240)
    assert reward[0] == pytest.approx(2 * math.sqrt(0.25 * log / 8) + 6 * log / 8)
    assert transition[0] == pytest.approx([2 * math.sqrt(0.25 * log / 8) + 6 * log / 8] * 2)
    np.testing.assert_allclose(reward[1:], 6 * one)
    np.testing.assert_allclose(transition[1:], 6 * one)


@given(count=st.integers(1, 10**6), horizon=st.integers(1, 10**7), delta=DELTAS)
def test_four_times_the_visits_halve_the_papers_radii(count, horizon, delta):
    reward, transition = paper_radii([count, 4 * count], RAGGED, horizon, delta)
    assert reward[1] == pytest.approx(reward[0] / 2)
    assert transition[1] == pytest.approx(transition[0] / 2)


@given(count=st.integers(1, 10**6), horizon=st.integers(1, 10**7), n_states=st.integers(1, 50))
def test_the_papers_transition_radius_is_root_s_times_the_reward_radius(count, horizon, n_states):
    reward, transition = paper_radii([count], dm.Space.uniform(n_states, 3), horizon, 0.1)
    assert transition[0] == pytest.approx(math.sqrt(n_states) * reward[0])


@given(count=st.integers(0, 10**6), horizon=st.integers(2, 10**6))
def test_delta_is_one_over_t_by_default(count, horizon):
    assert paper_radii([count], TWO, horizon) == paper_radii([count], TWO, horizon, 1 / horizon)


@given(count=st.integers(0, 1000), low=st.floats(1e-9, 0.5))
def test_more_confidence_costs_wider_radii(count, low):
    sure, unsure = (
        (*paper_radii([count], TWO, 100, delta), *jaksch_radii([count], TWO, 100, delta))
        for delta in (low, 2 * low)
    )
    assert all(wide[0] > narrow[0] for wide, narrow in zip(sure, unsure, strict=True))


@given(count=st.integers(0, 10**5), p=st.floats(0, 1), delta=DELTAS)
def test_bernsteins_radius_is_least_where_nothing_is_random(count, p, delta):
    space = dm.Space.uniform(2, 1)
    radius = bernstein_radii([count, count], [0, 0], [[p, 1 - p], [1, 0]], space, delta).transition
    assert radius[0, 0] >= radius[1, 0] - 1e-12
    assert radius[0, 0] == pytest.approx(radius[0, 1])


@pytest.mark.parametrize("counts", [[-1], [float("nan")]])
def test_counts_that_are_no_counts_are_refused(counts):
    with pytest.raises(dm.errors.InvalidInputError, match=r"^counts must not be negative or missing\.$"):
        paper_radii(counts, TWO, 10)


@pytest.mark.parametrize(
    ("delta", "sentence"),
    [
        (0.0, "delta must be positive; got 0. The paper's choice is 1/T."),
        (1.5, "delta must be at most 1; got 1.5."),
        (-0.1, "delta must be at least 0; got -0.1."),
    ],
)
def test_a_delta_that_is_no_probability_is_refused(delta, sentence):
    for radii in (
        lambda: paper_radii([1], TWO, 10, delta),
        lambda: jaksch_radii([1], TWO, 10, delta),
        lambda: bernstein_radii([1], [0], [[1, 0]], TWO, delta),
    ):
        with pytest.raises(dm.errors.InvalidInputError) as caught:
            radii()
        assert str(caught.value) == sentence


def test_the_counts_given_are_left_as_they_were():
    counts = np.array([0.0, 3.0])
    paper_radii(counts, TWO, 10)
    assert counts.tolist() == [0.0, 3.0]


@pytest.mark.parametrize("horizon", [0, -5])
def test_a_horizon_that_is_none_is_refused(horizon):
    with pytest.raises(dm.errors.InvalidInputError, match=r"^horizon must be at least 1; got "):
        paper_radii([1], TWO, horizon)


def test_a_time_before_the_first_is_refused():
    with pytest.raises(dm.errors.InvalidInputError, match=r"^t must be at least 1; got 0\.$"):
        jaksch_radii([1], TWO, t=0, delta=0.1)
