import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import NotCommunicatingError, NotConvergedError
from driftmdp.mdp.weights import Weights
from driftmdp.planning import drifting_gain, gain_path, optimal_gain, optimal_gains, policy_gain
from tests.strategies import drifting_mdps


@given(drifting_mdps())
def test_each_gain_is_that_of_its_mdp(world):
    gains = optimal_gains(world)
    assert gains.shape == (world.horizon,)
    np.testing.assert_allclose(
        gains, [optimal_gain(world.at(t)).gain for t in range(1, world.horizon + 1)], atol=1e-8
    )


@given(drifting_mdps(), st.sampled_from([1e-6, 1e-3, 0.1, 1.0]))
def test_a_tolerance_bounds_the_error(world, tolerance):
    path, exact = gain_path(world, tolerance), optimal_gains(world)
    assert (np.abs(path.gains - exact) <= tolerance + 1e-8).all()
    assert (np.abs(path.gains - exact) <= path.residuals / 2 + 1e-8).all()


@given(drifting_mdps())
def test_the_policies_attain_the_gains(world):
    path = gain_path(world)
    for t in range(1, world.horizon + 1):
        assert policy_gain(world.at(t), path.policy(t)).max() == pytest.approx(path.gains[t - 1], abs=1e-7)


@given(drifting_mdps(), st.sampled_from([1e-3, 0.1, 1.0]))
def test_with_a_tolerance_policies_still_earn_the_certified_lower_gain(world, tolerance):
    path = gain_path(world, tolerance)
    assert (path.residuals <= 2 * tolerance).all()
    for t in range(1, world.horizon + 1):
        earned = policy_gain(world.at(t), path.policy(t)).min()
        assert earned >= path.gains[t - 1] - path.residuals[t - 1] / 2 - 1e-9


@pytest.mark.parametrize("n_states", [20, 50])
def test_one_bias_certifies_many_steps_of_slow_drift(n_states):
    world = dm.problems.garnet(n_states=n_states, n_actions=3, horizon=3000, drift="slow").drifting
    path, exact = gain_path(world, tolerance=0.01), optimal_gains(world)
    assert (np.abs(path.gains - exact) <= path.residuals / 2 + 1e-9).all()
    assert path.residuals.max() <= 0.02
    assert len(path.policies) < 300


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 30))
def test_supports_are_compared_with_those_of_the_step_before(seed, n_anchors, horizon):
    rng = np.random.default_rng(seed)
    positive = rng.random((horizon, n_anchors)) < 0.7
    positive[np.arange(horizon), rng.integers(n_anchors, size=horizon)] = True
    weights = Weights.parse(positive / positive.sum(axis=1, keepdims=True), n_anchors, "weights", True)
    expected = [t for t in range(horizon) if t == 0 or (positive[t] != positive[t - 1]).any()]
    assert drifting_gain._support_changes(weights).tolist() == expected


def test_equal_steps_are_solved_once():
    problem = dm.problems.perils(tau=50, cycles=3)
    path = gain_path(problem.drifting)
    assert path.solved == 2
    assert path.gains.tolist() == [1.0] * 600


@pytest.mark.parametrize("n_states", [20, 50, 301])
def test_every_size_class_agrees_with_one_mdp_at_a_time(n_states):
    world = dm.problems.garnet(n_states=n_states, n_actions=3, horizon=30, drift="fast").drifting
    gains = optimal_gains(world)
    for t in (1, 7, 30):
        assert gains[t - 1] == pytest.approx(optimal_gain(world.at(t)).gain, abs=1e-8)


def test_anchors_need_not_communicate_but_steps_must():
    stay = dm.Mdp.from_dense([[0.0], [1.0]], [[[1, 0]], [[0, 1]]])
    swap = dm.Mdp.from_dense([[0.0], [1.0]], [[[0, 1]], [[1, 0]]])
    assert optimal_gains(dm.DriftingMdp([stay, swap], [[0.5, 0.5]]))[0] == pytest.approx(0.5)
    with pytest.raises(NotCommunicatingError, match="the MDP of t=2 must be communicating"):
        optimal_gains(dm.DriftingMdp([stay, swap], [[0.5, 0.5], [1.0, 0.0]]))


def test_constant_demand_needs_permission_for_transient_states():
    problem = dm.problems.inventory(capacity=4, horizon=3, zeta=0.0, demand={"law": "empirical", "tables": [0, 1]})
    with pytest.raises(NotCommunicatingError, match="allow_transient"):
        optimal_gains(problem.drifting)
    assert optimal_gains(problem.drifting, allow_transient=True).shape == (3,)


def test_an_unreachable_tolerance_names_the_step():
    world = dm.problems.garnet(n_states=5, horizon=4).drifting
    with pytest.raises(NotConvergedError, match="The optimal gain of the MDP of t="):
        optimal_gains(world, tolerance=0.0)
