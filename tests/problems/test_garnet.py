import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from tests.problems.tables import rewards_of, transitions_of
from tests.reference import diameter_by_enumeration, gain_by_enumeration, transition_variation

DRIFTS = ["stationary", "slow", "fast", "abrupt", "reward-only", "transition-only"]


def bytes_of(problem):
    drifting = problem.drifting
    stacked = drifting.anchor_transitions
    arrays = (drifting.anchor_rewards, stacked.data, stacked.indices, drifting.weights.matrix.data)
    return [array.tobytes() for array in arrays]


@given(
    seed=st.integers(0, 10**6),
    n_states=st.integers(1, 9),
    n_actions=st.integers(1, 3),
    branching=st.integers(1, 3),
)
def test_every_anchor_communicates(seed, n_states, n_actions, branching):
    problem = dm.problems.garnet(n_states, n_actions, min(branching, n_states), horizon=4, seed=seed)
    assert all(dm.planning.is_communicating(anchor) for anchor in problem.drifting.anchors)


@given(seed=st.integers(0, 10**6), n_states=st.integers(1, 12), data=st.data())
def test_every_pair_has_exactly_as_many_successors_as_asked(seed, n_states, data):
    branching = data.draw(st.integers(1, n_states))
    problem = dm.problems.garnet(n_states, 2, branching, horizon=4, seed=seed)
    for anchor in problem.drifting.anchors:
        supports = (anchor.transitions.toarray() > 0).sum(axis=1)
        assert supports.tolist() == [branching] * (2 * n_states)


def test_large_garnets_too_have_the_branching_asked_for():
    anchor = dm.problems.garnet(501, 2, 3, horizon=2, drift="stationary").drifting.anchor(0)
    assert np.diff(anchor.transitions.indptr).tolist() == [3] * 1002
    assert dm.planning.is_communicating(anchor)


@given(seed=st.integers(0, 10**6), drift=st.sampled_from(DRIFTS), data=st.data())
def test_every_step_communicates(seed, drift, data):
    problem = dm.problems.garnet(5, 2, 1, horizon=30, drift=drift, seed=seed)
    t = data.draw(st.integers(1, 30))
    assert dm.planning.is_communicating(problem.drifting.at(t))


@pytest.mark.parametrize("t", [1, 4, 8])
def test_a_small_garnet_has_the_brute_force_gain_and_diameter(t):
    mdp = dm.problems.garnet(4, 2, 2, horizon=9, seed=5).drifting.at(t)
    gains = gain_by_enumeration(rewards_of(mdp), transitions_of(mdp))
    assert dm.planning.optimal_gain(mdp).gain == pytest.approx(gains.max(), abs=1e-8)
    brute = diameter_by_enumeration(transitions_of(mdp))
    assert dm.planning.diameter(mdp) == pytest.approx(brute, rel=1e-8)


def test_reward_only_drift_moves_rewards_and_no_transition():
    variation = dm.problems.garnet(drift="reward-only", horizon=300).drifting.variation()
    assert variation.transition == 0.0
    assert variation.reward > 1.0


def test_transition_only_drift_moves_transitions_and_no_reward():
    variation = dm.problems.garnet(drift="transition-only", horizon=300).drifting.variation()
    assert variation.reward == 0.0
    assert variation.transition > 1.0


def test_a_stationary_garnet_never_moves():
    variation = dm.problems.garnet(drift="stationary", horizon=50).drifting.variation()
    assert (variation.reward, variation.transition) == (0.0, 0.0)


def test_an_abrupt_garnet_moves_at_its_changes_only():
    problem = dm.problems.garnet(drift="abrupt", horizon=60, changes=5)
    moved = np.flatnonzero(problem.drifting.variation().transition_steps)
    assert moved.tolist() == [9, 19, 29, 39, 49]


@pytest.mark.parametrize(("drift", "rounds"), [("slow", 1), ("fast", 20)])
def test_drift_goes_straight_from_anchor_to_anchor(drift, rounds):
    """Every round passes the K anchors; a straight way varies by the distance of its ends."""
    problem = dm.problems.garnet(6, 2, 2, drift=drift, horizon=600, n_anchors=3)
    anchors = [transitions_of(anchor) for anchor in problem.drifting.anchors]
    once = transition_variation([*anchors, anchors[0]])
    expected = rounds * once - problem.drifting.variation().transition_steps[-1]  # the last step home is not taken
    assert problem.drifting.variation().transition == pytest.approx(expected, rel=1e-9)


def test_fast_is_faster_than_slow():
    slow, fast = (dm.problems.garnet(drift=drift, horizon=600).drifting.variation() for drift in ("slow", "fast"))
    assert fast.transition > 10 * slow.transition
    assert fast.reward > 10 * slow.reward


def test_cycles_replace_the_drifts_own_number():
    one, three = (dm.problems.garnet(horizon=3000, cycles=c).drifting.variation().transition for c in (1, 3))
    assert three == pytest.approx(3 * one, rel=0.01)


def test_as_many_rewards_vanish_as_asked():
    anchor = dm.problems.garnet(200, 10, 2, reward_sparsity=0.3, horizon=1, drift="stationary").drifting.anchor(0)
    share = float((anchor.rewards == 0).mean())
    assert share == pytest.approx(0.3, abs=5 * (0.3 * 0.7 / 2000) ** 0.5)


@pytest.mark.parametrize(("sparsity", "zeros"), [(0.0, 0), (1.0, 40)])
def test_sparsity_can_be_none_or_all(sparsity, zeros):
    anchor = dm.problems.garnet(20, 2, reward_sparsity=sparsity, horizon=1, drift="stationary").drifting.anchor(0)
    assert (anchor.rewards == 0).sum() == zeros


@pytest.mark.parametrize("drift", DRIFTS)
def test_the_same_seed_gives_the_same_bytes(drift):
    one, two = (dm.problems.garnet(horizon=40, drift=drift, seed=11) for _ in range(2))
    assert bytes_of(one) == bytes_of(two)


@pytest.mark.parametrize("drift", DRIFTS)
def test_another_seed_gives_another_garnet(drift):
    one, two = (dm.problems.garnet(horizon=40, drift=drift, seed=seed) for seed in (11, 12))
    assert bytes_of(one)[0] != bytes_of(two)[0]
    assert bytes_of(one)[1] != bytes_of(two)[1]


def test_making_one_leaves_numpys_global_randomness_alone():
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    dm.problems.garnet(horizon=5)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
