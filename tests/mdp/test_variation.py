import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import kernels
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


def one_row_at_a_time(combinations, anchors, n_pairs: int, order: float) -> list[float]:
    """The largest norm of each combination, its entries added in the order in which they are met."""
    norms = []
    for row in combinations:
        largest = 0.0
        for pair in range(n_pairs):
            total: dict[int, float] = {}
            for k in np.flatnonzero(row):
                for s in np.flatnonzero(anchors[k][pair]):
                    total[s] = total.get(s, 0.0) + row[k] * anchors[k][pair, s]
            norm = 0.0
            for change in total.values():  # not sum(), which rounds only once
                size = abs(change)
                norm = max(norm, size) if order == np.inf else norm + size**order
            largest = max(largest, np.sqrt(norm) if order == 2 else norm)
        norms.append(largest)
    return norms


@given(st.integers(0, 2**32 - 1), st.sampled_from(NORMS), st.sampled_from([1, 3, 64, 150]))
@settings(max_examples=20)
def test_rows_that_are_summed_together_have_the_bits_of_each_alone(seed, order, n_rows):
    rng = np.random.default_rng(seed)
    space, n_anchors = random_space(rng, 4), 4
    anchors = [random_mdp(rng, space, 3).transitions for _ in range(n_anchors)]
    combinations = rng.normal(size=(n_rows, n_anchors))
    # Runs of rows with the same anchors, some of them with none.
    combinations *= np.repeat(rng.random((n_rows, n_anchors)) < 0.6, rng.integers(1, 100, n_rows), axis=0)[:n_rows]
    rows, stacked = sp.csr_array(combinations), sp.csr_array(sp.vstack(anchors))
    norms = np.empty(n_rows)
    parts = [(matrix.indptr, matrix.indices, matrix.data) for matrix in (rows, stacked)]
    kernels.world.combination_norms(*parts, space.n_pairs, space.n_states, float(order), norms)
    tables = [anchor.toarray() for anchor in anchors]
    assert norms.tolist() == one_row_at_a_time(combinations, tables, space.n_pairs, order)


def test_a_row_too_long_for_several_at_once_has_the_same_norm():
    rng = np.random.default_rng(0)
    n_pairs = 3
    anchors = rng.dirichlet(np.ones(50_000), (2, n_pairs))
    combinations = rng.normal(size=(5, 2))
    rows, stacked = sp.csr_array(combinations), sp.csr_array(anchors.reshape(2 * n_pairs, -1))
    norms = np.empty(5)
    parts = [(matrix.indptr, matrix.indices, matrix.data) for matrix in (rows, stacked)]
    kernels.world.combination_norms(*parts, n_pairs, 50_000, 1.0, norms)
    expected = [max(np.abs(c @ anchors[:, pair]).sum() for pair in range(n_pairs)) for c in combinations]
    np.testing.assert_allclose(norms, expected, rtol=1e-12)


def test_weights_of_rewards_whose_difference_overflows_get_a_sentence():
    ends = [dm.Mdp(dm.Space([1]), [reward], [[1.0]]) for reward in (-1.0, 1.0)]
    world = dm.DriftingMdp(ends, [0, 1, 0], [[0.5e308, 0.0], [0.0, 0.5e308], [-0.9e308, 0.9e308 / 2]])
    with pytest.raises(InvalidInputError, match="rewards must be smaller"):
        world.variation()
