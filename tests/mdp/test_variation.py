import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.strategies import drifting_mdps, random_mdp, random_space

NORMS = [1, 2, np.inf]


def by_definition(world: dm.DriftingMdp, reward_norm: float, transition_norm: float):
    """[CSZ20] eq:variation_budgets, with dense tables of every step."""
    rewards = np.array([world.at(t).rewards for t in range(1, world.horizon + 1)])
    tables = np.array([world.at(t).transitions.toarray() for t in range(1, world.horizon + 1)])
    reward_steps = [np.linalg.norm(step, reward_norm) for step in np.diff(rewards, axis=0)]
    transition_steps = [
        max(np.linalg.norm(row, transition_norm) for row in step) for step in np.diff(tables, axis=0)
    ]
    return reward_steps, transition_steps


@given(drifting_mdps(), st.sampled_from(NORMS), st.sampled_from(NORMS))
def test_variation_is_its_definition(world, reward_norm, transition_norm):
    found = world.variation(reward_norm, transition_norm)
    rewards, transitions = by_definition(world, reward_norm, transition_norm)
    np.testing.assert_allclose(found.reward_steps, rewards, atol=1e-12)
    np.testing.assert_allclose(found.transition_steps, transitions, atol=1e-12)
    assert found.reward == pytest.approx(sum(rewards), abs=1e-12)
    assert found.transition == pytest.approx(sum(transitions), abs=1e-12)


@given(drifting_mdps(), st.data())
def test_variation_adds_up_over_a_split(world, data):
    cut = data.draw(st.integers(1, world.horizon))
    whole, left, right = (w.variation() for w in (world, world.between(1, cut), world.between(cut, world.horizon)))
    assert whole.reward == pytest.approx(left.reward + right.reward, abs=1e-12)
    assert whole.transition == pytest.approx(left.transition + right.transition, abs=1e-12)


@given(drifting_mdps())
def test_variation_is_zero_exactly_where_nothing_changes(world):
    found = world.variation()
    for t in range(1, world.horizon):
        now, then = world.at(t), world.at(t + 1)
        same_rewards = np.allclose(now.rewards, then.rewards, atol=1e-12)
        same_rows = np.allclose(now.transitions.toarray(), then.transitions.toarray(), atol=1e-12)
        assert (found.reward_steps[t - 1] <= 1e-12) == same_rewards
        assert (found.transition_steps[t - 1] <= 1e-12) == same_rows


@given(st.integers(0, 1000), st.integers(1, 8))
def test_a_constant_world_has_no_variation(seed, horizon):
    rng = np.random.default_rng(seed)
    space = random_space(rng, 3)
    anchors = [random_mdp(rng, space, 3) for _ in range(3)]
    constant = np.repeat(rng.dirichlet(np.ones(3), 1), horizon, axis=0)
    found = dm.DriftingMdp(anchors, constant).variation()
    assert found.reward == found.transition == 0.0


def test_one_step_has_no_variation():
    found = dm.DriftingMdp.stationary(dm.Mdp(dm.Space([1]), [1], [[1]]), 1).variation()
    assert found.reward == found.transition == 0.0
    assert found.reward_steps.shape == found.transition_steps.shape == (0,)


def test_a_long_world_with_a_different_mdp_a_step_is_cheap():
    rng = np.random.default_rng(0)
    space = dm.Space.uniform(3, 2)
    mdps = [random_mdp(rng, space, 2) for _ in range(400)]
    world = dm.DriftingMdp.from_sequence(mdps)
    expected = max(np.abs(mdps[0].transitions.toarray() - mdps[1].transitions.toarray()).sum(axis=1))
    assert world.variation().transition_steps[0] == pytest.approx(expected)


def test_an_unknown_norm_is_refused():
    world = dm.DriftingMdp.stationary(dm.Mdp(dm.Space([1]), [1], [[1]]), 2)
    with pytest.raises(InvalidInputError, match="reward_norm must be 1, 2 or inf; got 3"):
        world.variation(reward_norm=3)


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_a_variation_that_would_be_infinite_gets_a_sentence(norm):
    ends = [dm.Mdp(dm.Space([1]), [reward], [[1.0]]) for reward in (-1.7e308, 1.7e308)]
    with pytest.raises(InvalidInputError, match="rewards must be smaller"):
        dm.DriftingMdp(ends, [0, 1]).variation(reward_norm=norm)
