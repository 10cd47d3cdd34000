import numpy as np
import pytest

import driftmdp as dm
from tests.problems.tables import mdp_of, rewards_of, transitions_of
from tests.reference import (
    diameter_by_enumeration,
    empirical_transitions,
    gain_by_enumeration,
    perils_instances,
    perils_trajectory,
)

TAUS = [2, 3, 10, 25]


def steps_of(problem):
    states, actions = problem.scripted_trajectory()
    return list(zip(states[:-1].tolist(), actions.tolist(), states[1:].tolist(), strict=True))


@pytest.mark.parametrize("tau", TAUS)
def test_the_world_is_p1_p2_p1_p2_for_tau_steps_each(tau):
    problem = dm.problems.perils(tau)
    first, second = perils_instances()
    expected = [first] * tau + [second] * tau + [first] * tau + [second] * tau
    assert problem.horizon == 4 * tau
    assert [transitions_of(problem.drifting.at(t)) for t in range(1, 4 * tau + 1)] == expected


@pytest.mark.parametrize("tau", [1, *TAUS])
def test_the_scripted_trajectory_is_the_proofs(tau):
    problem = dm.problems.perils(tau)
    states, actions = problem.scripted_trajectory()
    names = [problem.space.action_names[s][a] for s, a in zip(states[:-1], actions, strict=True)]
    assert names == ["a1"] * (tau + 1) + ["b2"] * (tau - 1) + ["b1"] * (tau + 1) + ["a2"] * (tau - 1)


@pytest.mark.parametrize("tau", [1, *TAUS])
def test_the_scripted_states_are_the_proofs(tau):
    states, _ = dm.problems.perils(tau).scripted_trajectory()
    assert (states[:-1] + 1).tolist() == [1] * (tau + 1) + [2] * (2 * tau) + [1] * (tau - 1)


@pytest.mark.parametrize("tau", TAUS)
def test_the_scripted_moves_are_those_walked_by_hand(tau):
    assert steps_of(dm.problems.perils(tau)) == perils_trajectory(tau)


def test_every_window_repeats_the_first():
    assert steps_of(dm.problems.perils(tau=4, cycles=3)) == 3 * perils_trajectory(4)


@pytest.mark.parametrize("tau", TAUS)
def test_the_empirical_mdp_is_the_proofs(tau):
    p_hat = empirical_transitions(steps_of(dm.problems.perils(tau)), [2, 2])
    stay, leave = tau / (tau + 1), 1 / (tau + 1)
    expected = [[[stay, leave], [1.0, 0.0]], [[leave, stay], [0.0, 1.0]]]
    np.testing.assert_allclose(p_hat, expected, atol=1e-15)


@pytest.mark.parametrize("tau", TAUS)
def test_the_empirical_mdp_has_diameter_tau_plus_one(tau):
    p_hat = empirical_transitions(steps_of(dm.problems.perils(tau)), [2, 2])
    assert diameter_by_enumeration(p_hat) == pytest.approx(tau + 1, rel=1e-12)
    assert dm.planning.diameter(mdp_of([[0, 0], [0, 0]], p_hat)) == pytest.approx(tau + 1, rel=1e-9)


def test_every_instance_has_diameter_one():
    problem = dm.problems.perils(tau=3)
    assert [diameter_by_enumeration(instance) for instance in perils_instances()] == [1.0, 1.0]
    np.testing.assert_allclose(dm.planning.diameters(problem.drifting), 1.0, rtol=1e-12)


@pytest.mark.parametrize("tau", TAUS)
def test_one_window_varies_by_six_however_long_it_is(tau):
    variation = dm.problems.perils(tau).drifting.variation()
    assert (variation.reward, variation.transition) == (0.0, 6.0)


def test_the_seam_between_windows_is_a_change_too():
    assert dm.problems.perils(tau=5, cycles=4).drifting.variation().transition == 2.0 * 15


def test_the_gain_is_one_at_every_step():
    problem = dm.problems.perils(tau=3)
    np.testing.assert_allclose(dm.planning.optimal_gains(problem.drifting), 1.0, atol=1e-9)
    for t in (1, 4):
        mdp = problem.drifting.at(t)
        np.testing.assert_allclose(gain_by_enumeration(rewards_of(mdp), transitions_of(mdp)), 1.0, atol=1e-12)


@pytest.mark.parametrize(("tau", "cycles"), [(1, 1), (5, 1), (7, 3)])
def test_the_best_total_reward_loses_one_step(tau, cycles):
    problem = dm.problems.perils(tau, cycles)
    assert dm.planning.best_total_reward(problem.drifting, problem.start) == problem.horizon - 1


@pytest.mark.parametrize("t", [0, 9])
def test_a_scripted_policy_outside_the_horizon_is_refused(t):
    with pytest.raises(dm.errors.InvalidInputError, match=r"^t must be at (least 1|most 8); got \d\.$"):
        dm.problems.perils(tau=2).scripted_policy(t)
