"""NS-Gym's environments, moved by its own schedulers and update functions, are our registered worlds."""

import warnings

import gymnasium
import numpy as np
import pytest

import driftmdp as dm
from driftmdp.interchange import from_ns_gym
from driftmdp.problems.grids import slip_towards

HORIZON, CHANGES = 120, 3


def test_what_is_not_of_ns_gym_is_refused_with_one_sentence():
    with pytest.raises(
        dm.errors.InvalidInputError, match=r"env must be an environment of NS-Gym; got FrozenLakeEnv\."
    ):
        from_ns_gym(gymnasium.make("FrozenLake-v1").unwrapped, 10)


class Pole:
    """Looks like NS-Gym's CartPole: its state is four numbers."""

    def __init__(self):
        self.tunable_params = {"gravity": 9.8}

    def reset(self, seed=None):
        return {"state": np.zeros(4)}, {}


def test_states_that_are_no_numbers_and_a_wrong_seed_are_refused_with_one_sentence():
    with pytest.raises(dm.errors.InvalidInputError, match=r"env must have states that are whole .*; got Pole\."):
        from_ns_gym(Pole(), 10)
    with pytest.raises(dm.errors.InvalidInputError, match=r"seed must be a whole number; got 'x'\."):
        from_ns_gym(Pole(), 10, seed="x")


@pytest.fixture(scope="module")
def ns_gym():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ns_gym")


def lake(ns_gym, update, slip, name="4x4"):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, map_name=name)
    return ns_gym.wrappers.NSFrozenLakeWrapper(env, {"P": update}, initial_prob_dist=list(slip))


def assert_same(ours, theirs):
    """Check every table at every step, the start and the numbers of states and actions."""
    assert (ours.horizon, ours.start) == (theirs.horizon, theirs.start)
    for t in range(1, ours.horizon + 1):
        one, other = ours.drifting.at(t), theirs.drifting.at(t)
        np.testing.assert_allclose(one.rewards, other.rewards, atol=1e-14)
        np.testing.assert_allclose(one.transitions.toarray(), other.transitions.toarray(), atol=1e-14)


def test_abrupt_is_the_periodic_scheduler_with_a_cyclic_update(ns_gym):
    slips = [slip_towards(turn, 0.2) for turn in range(3)]
    when = ns_gym.schedulers.PeriodicScheduler(HORIZON // (CHANGES + 1))
    theirs = from_ns_gym(
        lake(ns_gym, ns_gym.update_functions.DistributionCyclicUpdate(when, slips), slips[0]), HORIZON
    )
    assert theirs.drifting.n_anchors == 3  # each different world once
    assert_same(dm.problems.frozen_lake(slip=0.2, horizon=HORIZON, drift="abrupt", changes=CHANGES), theirs)


def test_gradual_is_the_continuous_scheduler_with_linear_interpolation(ns_gym):
    first, last = slip_towards(0, 0.1), slip_towards(2, 0.1)
    when = ns_gym.schedulers.ContinuousScheduler()
    update = ns_gym.update_functions.DistributionLinearInterpolation(when, first, last, HORIZON)
    theirs = from_ns_gym(lake(ns_gym, update, first, "8x8"), HORIZON)
    assert_same(dm.problems.frozen_lake("8x8", horizon=HORIZON, drift="gradual"), theirs)


def test_the_bridge_drifts_in_its_halves(ns_gym):
    when = ns_gym.schedulers.ContinuousScheduler()
    calm, storm = slip_towards(0, 0.02), slip_towards(0, 0.5)
    linear = ns_gym.update_functions.DistributionLinearInterpolation
    halves = {"P_left": linear(when, storm, calm, HORIZON), "P_right": linear(when, calm, storm, HORIZON)}
    env = ns_gym.wrappers.NSBridgeWrapper(gymnasium.make("ns_gym/Bridge-v0"), halves)
    theirs = from_ns_gym(env, HORIZON, reward_range=(-1, 1))
    assert_same(dm.problems.bridge(horizon=HORIZON, drift="gradual"), theirs)


def test_a_cliff_that_grows_slippery_is_read_with_one_clock(ns_gym):
    """Each tenth step takes 0.01 from the intended move and shares it, and no fall sets the clock back."""
    update = ns_gym.update_functions.DistributionDecrementUpdate(ns_gym.schedulers.PeriodicScheduler(10), 0.01)
    cliff = ns_gym.wrappers.NSCliffWalkingWrapper(gymnasium.make("CliffWalking-v1"), {"P": update})
    problem = from_ns_gym(cliff, HORIZON)
    assert (problem.space.n_states, problem.drifting.n_anchors) == (37, HORIZON // 10)
    up_from_start = [problem.drifting.at(t).successors(36, 0)[24] for t in (1, 10, 11, HORIZON)]
    assert up_from_start == pytest.approx([0.99, 0.99, 0.98, 0.88])
