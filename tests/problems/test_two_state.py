import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from tests.problems.tables import rewards_of, transitions_of
from tests.reference import (
    best_total,
    diameter_by_enumeration,
    gain_by_enumeration,
    reward_variation,
    transition_variation,
    two_state_rewards,
    two_state_transitions,
)

SPEEDS = st.floats(0.0, 100.0)


def cosines(horizon, v_r):
    return np.cos(5 * v_r * math.pi * np.arange(1, horizon + 1) / horizon)


def betas(horizon, v_p):
    return 0.5 + 0.3 * np.sin(5 * v_p * math.pi * np.arange(1, horizon + 1) / horizon)


@given(horizon=st.integers(1, 60), v_r=SPEEDS, v_p=SPEEDS, data=st.data())
def test_rewards_and_transitions_are_those_printed_in_section_8(horizon, v_r, v_p, data):
    t = data.draw(st.integers(1, horizon))
    mdp = dm.problems.two_state(horizon, v_r, v_p).drifting.at(t)
    np.testing.assert_allclose(rewards_of(mdp), two_state_rewards(t, horizon, v_r), atol=1e-12)
    np.testing.assert_allclose(transitions_of(mdp), two_state_transitions(t, horizon, v_p), atol=1e-12)


@pytest.mark.parametrize("t", [1, 2, 137, 2500, 4999, 5000])
def test_the_default_is_the_papers_low_variation(t):
    mdp = dm.problems.two_state().drifting.at(t)
    np.testing.assert_allclose(rewards_of(mdp), two_state_rewards(t, 5000, 5000**0.2), atol=1e-12)
    np.testing.assert_allclose(transitions_of(mdp), two_state_transitions(t, 5000, 5000**0.2), atol=1e-12)


def test_the_gain_is_that_of_the_better_place_to_stay():
    problem = dm.problems.two_state(horizon=400, v_r=7.0, v_p=3.0)
    c = cosines(400, 7.0)
    np.testing.assert_allclose(dm.planning.optimal_gains(problem.drifting), 0.2 + np.maximum(3 * c, -c), atol=1e-8)


@pytest.mark.parametrize("t", [1, 9, 23, 40])
def test_the_gain_is_the_best_of_all_policies(t):
    problem = dm.problems.two_state(horizon=40, v_r=2.0, v_p=1.0)
    gains = gain_by_enumeration(two_state_rewards(t, 40, 2.0), two_state_transitions(t, 40, 1.0))
    assert dm.planning.optimal_gain(problem.drifting.at(t)).gain == pytest.approx(gains.max(), abs=1e-8)
    assert np.ptp(gains) < 1e-8


def test_the_diameter_is_one_over_beta():
    problem = dm.problems.two_state(horizon=200, v_r=1.0, v_p=4.0)
    np.testing.assert_allclose(dm.planning.diameters(problem.drifting), 1 / betas(200, 4.0), rtol=1e-9)


def test_the_diameter_is_the_brute_force_one():
    problem = dm.problems.two_state(horizon=30, v_p=1.0)
    brute = diameter_by_enumeration(two_state_transitions(11, 30, 1.0))
    assert dm.planning.diameter(problem.drifting.at(11)) == pytest.approx(brute, rel=1e-9)


@given(horizon=st.integers(1, 40), v_r=SPEEDS, v_p=SPEEDS)
def test_the_variation_is_that_of_the_dense_tables(horizon, v_r, v_p):
    variation = dm.problems.two_state(horizon, v_r, v_p).drifting.variation()
    times = range(1, horizon + 1)
    b_r = reward_variation([two_state_rewards(t, horizon, v_r) for t in times])
    b_p = transition_variation([two_state_transitions(t, horizon, v_p) for t in times])
    assert variation.reward == pytest.approx(b_r, abs=1e-9)
    assert variation.transition == pytest.approx(b_p, abs=1e-9)


@pytest.mark.parametrize("exponent", [0.2, 0.5])
def test_the_budgets_are_near_30_v_r_and_6_v_p_not_the_printed_15_and_12(exponent):
    speed = 5000**exponent
    variation = dm.problems.two_state(v_r=speed, v_p=speed).drifting.variation()
    assert variation.reward == pytest.approx(30 * speed, rel=0.03)
    assert variation.transition == pytest.approx(6 * speed, rel=0.03)


def test_nothing_moves_without_speed():
    variation = dm.problems.two_state(horizon=50, v_r=0.0, v_p=0.0).drifting.variation()
    assert (variation.reward, variation.transition) == (0.0, 0.0)


def test_the_reward_range_is_what_the_cosine_can_reach():
    problem = dm.problems.two_state(horizon=5, v_r=1.0)  # c = -1 at t = 1 and c = 1 at t = 2
    assert problem.reward_range == (-2.8, 3.2)
    met = [problem.drifting.at(t).rewards for t in (1, 2)]
    assert (np.min(met), np.max(met)) == pytest.approx(problem.reward_range, abs=1e-12)


def test_the_best_total_reward_is_that_of_plain_backward_induction():
    problem = dm.problems.two_state(horizon=25, v_r=1.5, v_p=2.5)
    times = range(1, 26)
    expected = best_total(
        [two_state_rewards(t, 25, 1.5) for t in times], [two_state_transitions(t, 25, 2.5) for t in times], start=0
    )
    assert dm.planning.best_total_reward(problem.drifting, 0) == pytest.approx(expected, abs=1e-9)


def test_rewards_are_deterministic():
    problem = dm.problems.two_state(horizon=20)
    draws = problem.draw_noise(np.random.default_rng(3))
    for t in (1, 10, 20):
        assert problem.sample(t, 1, 0, draws).reward == pytest.approx(problem.drifting.at(t).reward(1, 0))


def test_a_power_of_t_that_no_float_holds_is_refused():
    with pytest.raises(ValueError, match="v_r must be a finite power of T; got 'T\\^9999'"):
        dm.problems.two_state(v_r="T^9999")
