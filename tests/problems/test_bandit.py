import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm


def sinusoidal_means(t, horizon, n_arms, cycles):
    return [0.5 + 0.3 * math.sin(2 * math.pi * (cycles * t / horizon + k / n_arms)) for k in range(n_arms)]


@given(
    n_arms=st.integers(1, 8),
    horizon=st.integers(1, 50),
    cycles=st.floats(0, 20),
    data=st.data(),
)
def test_sinusoidal_means_are_those_of_the_docstring(n_arms, horizon, cycles, data):
    t = data.draw(st.integers(1, horizon))
    problem = dm.problems.bandit(n_arms, horizon, "sinusoidal", cycles=cycles)
    expected = sinusoidal_means(t, horizon, n_arms, cycles)
    np.testing.assert_allclose(problem.drifting.rewards_at(t), expected, atol=1e-12)


@pytest.mark.parametrize("n_arms", [1, 2, 3, 7])
def test_sinusoidal_gains_are_the_largest_means(n_arms):
    problem = dm.problems.bandit(n_arms, horizon=200, cycles=3)
    expected = [max(sinusoidal_means(t, 200, n_arms, 3)) for t in range(1, 201)]
    np.testing.assert_allclose(dm.planning.optimal_gains(problem.drifting), expected, atol=1e-8)


def test_abrupt_means_move_on_by_one_arm_at_each_change():
    problem = dm.problems.bandit(n_arms=3, horizon=12, drift="abrupt", changes=3)
    means = [problem.drifting.rewards_at(t).round(12).tolist() for t in (3, 4, 6, 7, 9, 10)]
    first, second, third = [0.8, 0.5, 0.2], [0.2, 0.8, 0.5], [0.5, 0.2, 0.8]
    assert means == [first, second, second, third, third, first]


@pytest.mark.parametrize(("drift", "changes"), [("abrupt", 4), ("stationary", 4), ("abrupt", 0)])
def test_the_good_arm_has_mean_0_8(drift, changes):
    problem = dm.problems.bandit(n_arms=4, horizon=50, drift=drift, changes=changes)
    np.testing.assert_allclose(dm.planning.optimal_gains(problem.drifting), 0.8, atol=1e-9)


def test_abrupt_variation_is_0_6_a_change():
    variation = dm.problems.bandit(n_arms=2, horizon=60, drift="abrupt", changes=5).drifting.variation()
    assert variation.reward == pytest.approx(5 * 0.6)


def test_a_stationary_bandit_never_moves():
    assert dm.problems.bandit(horizon=60, drift="stationary").drifting.variation().reward == 0.0


def test_a_swing_varies_by_1_2_an_arm():
    """Each of one arm's full swings goes 0.6 down and 0.6 up."""
    variation = dm.problems.bandit(n_arms=1, horizon=4000, cycles=5).drifting.variation()
    assert variation.reward == pytest.approx(5 * 1.2, rel=0.01)


@pytest.mark.parametrize("drift", ["stationary", "sinusoidal", "abrupt"])
def test_there_is_one_state_whose_transitions_never_vary(drift):
    problem = dm.problems.bandit(n_arms=3, horizon=40, drift=drift)
    assert problem.space.n_states == 1
    assert problem.drifting.variation().transition == 0.0
    assert dm.planning.diameters(problem.drifting).tolist() == [0.0] * 40


def test_one_arm_leaves_nothing_to_choose():
    problem = dm.problems.bandit(n_arms=1, horizon=5, drift="abrupt")
    assert dm.planning.optimal_gains(problem.drifting).tolist() == pytest.approx([0.8] * 5)


def test_rewards_are_zero_or_one_by_default():
    problem = dm.problems.bandit(horizon=100)
    draws = problem.draw_noise(np.random.default_rng(2))
    rewards = [problem.sample(t, 0, t % 2, draws).reward for t in range(1, 101)]
    assert set(rewards) == {0.0, 1.0}
