import numpy as np
import pytest

import driftmdp as dm
from tests.problems.tables import rewards_of, transitions_of
from tests.reference import diameter_by_enumeration, gain_by_enumeration

LENGTHS = range(3, 11)
FLOOD = {"right": 0.05, "left": 0.35}


def river(n, right=0.35, left=0.05):
    """The rewards and transitions of the docstring, state by state."""
    rewards = [[0.0, 0.0] for _ in range(n)]
    rewards[0][0], rewards[n - 1][1] = 0.005, 1.0
    transitions = []
    for s in range(n):
        swim_left, swim_right = [0.0] * n, [0.0] * n
        swim_left[max(s - 1, 0)] = 1.0
        if s == 0:
            swim_right[0], swim_right[1] = 0.4, 0.6
        elif s == n - 1:
            swim_right[s], swim_right[s - 1] = 0.6, 0.4
        else:
            swim_right[s + 1], swim_right[s - 1], swim_right[s] = right, left, 1 - right - left
        transitions.append([swim_left, swim_right])
    return rewards, transitions


def mass_of_the_right_bank(n, right=0.35, left=0.05):
    """Birth and death: pi(s + 1) / pi(s) = up(s) / down(s + 1) under "always right"."""
    up = [0.6] + [right] * (n - 2)
    down = [left] * (n - 2) + [0.4]
    masses = np.cumprod([1.0, *(u / d for u, d in zip(up, down, strict=True))])
    return masses[-1] / masses.sum()


@pytest.mark.parametrize("n", LENGTHS)
def test_the_river_is_that_of_the_docstring(n):
    mdp = dm.problems.river_swim(n, horizon=1).drifting.at(1)
    rewards, transitions = river(n)
    assert rewards_of(mdp) == rewards
    np.testing.assert_allclose(transitions_of(mdp), transitions, atol=1e-15)


@pytest.mark.parametrize("n", LENGTHS)
def test_the_gain_is_the_mass_of_the_right_bank(n):
    mdp = dm.problems.river_swim(n, horizon=1).drifting.at(1)
    assert dm.planning.optimal_gain(mdp).gain == pytest.approx(mass_of_the_right_bank(n), abs=1e-9)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_no_policy_beats_always_right(n):
    assert gain_by_enumeration(*river(n)).max() == pytest.approx(mass_of_the_right_bank(n), abs=1e-9)


@pytest.mark.parametrize("n", [3, 5])
def test_the_diameter_is_the_brute_force_one(n):
    mdp = dm.problems.river_swim(n, horizon=1).drifting.at(1)
    assert dm.planning.diameter(mdp) == pytest.approx(diameter_by_enumeration(river(n)[1]), rel=1e-9)


def test_the_stationary_river_never_moves():
    variation = dm.problems.river_swim(horizon=100).drifting.variation()
    assert (variation.reward, variation.transition) == (0.0, 0.0)


@pytest.mark.parametrize("n", [3, 6, 9])
def test_the_mirror_has_the_same_gain_as_the_river(n):
    problem = dm.problems.river_swim(n, horizon=8, drift="reversing", cycles=1)
    np.testing.assert_allclose(dm.planning.optimal_gains(problem.drifting), mass_of_the_right_bank(n), atol=1e-9)


def test_the_mirror_swaps_banks_and_directions():
    problem = dm.problems.river_swim(5, horizon=8, drift="reversing", cycles=1)
    rewards, transitions = river(5)
    mirror = problem.drifting.at(5)
    assert rewards_of(problem.drifting.at(4)) == rewards
    assert rewards_of(mirror) == [row[::-1] for row in rewards[::-1]]
    flipped = [[row[::-1] for row in rows[::-1]] for rows in transitions[::-1]]
    np.testing.assert_allclose(transitions_of(mirror), flipped, atol=1e-15)


def test_the_reversing_river_turns_two_times_a_cycle_less_one():
    problem = dm.problems.river_swim(horizon=60, drift="reversing", cycles=3)
    turns = np.flatnonzero(problem.drifting.variation().transition_steps)
    assert turns.tolist() == [9, 19, 29, 39, 49]


def test_the_drifting_river_swings_from_calm_to_flood_and_back():
    problem = dm.problems.river_swim(4, horizon=8, drift="drifting", cycles=1)
    np.testing.assert_allclose(transitions_of(problem.drifting.at(1)), river(4)[1], atol=1e-15)
    np.testing.assert_allclose(transitions_of(problem.drifting.at(5)), river(4, **FLOOD)[1], atol=1e-15)
    half = np.mean([river(4)[1], river(4, **FLOOD)[1]], axis=0)
    np.testing.assert_allclose(transitions_of(problem.drifting.at(3)), half, atol=1e-15)
    np.testing.assert_allclose(transitions_of(problem.drifting.at(7)), half, atol=1e-15)


@pytest.mark.parametrize("n", LENGTHS)
def test_the_gain_at_flood_is_the_better_of_both_banks(n):
    problem = dm.problems.river_swim(n, horizon=8, drift="drifting", cycles=1)
    expected = max(0.005, mass_of_the_right_bank(n, **FLOOD))
    assert dm.planning.optimal_gain(problem.drifting.at(5)).gain == pytest.approx(expected, abs=1e-9)


def test_it_is_best_to_stay_at_the_left_bank_at_flood():
    """The docstring's claim, for the default river."""
    problem = dm.problems.river_swim(horizon=8, drift="drifting", cycles=1)
    calm, flood = (dm.planning.optimal_gain(problem.drifting.at(t)) for t in (1, 5))
    assert calm.policy.tolist() == [1] * 6
    assert flood.policy[0] == 0
    assert flood.gain == pytest.approx(0.005, abs=1e-9)


@pytest.mark.parametrize("drift", ["stationary", "drifting", "reversing"])
def test_actions_are_named_and_rewards_lie_in_the_unit_interval(drift):
    problem = dm.problems.river_swim(horizon=10, drift=drift)
    assert problem.space.action_names == (("left", "right"),) * 6
    assert problem.reward_range == (0.0, 1.0)
