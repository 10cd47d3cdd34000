import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.strategies import drifting_mdps, random_mdp, random_space

ONE, TWO = (dm.Mdp(dm.Space.uniform(2, 1), [r, -r], [[p, 1 - p], [1 - p, p]]) for r, p in ((1.0, 0.9), (2.0, 0.2)))


def dense_weights(world: dm.DriftingMdp) -> np.ndarray:
    return world.weights.matrix.toarray()


@given(drifting_mdps())
def test_a_step_is_the_weighted_mean_of_the_anchors(world):
    weights, reward_weights = dense_weights(world), world.reward_weights.matrix.toarray()
    for t in range(1, world.horizon + 1):
        mdp = world.at(t)
        expected = sum(
            w * anchor.transitions.toarray() for w, anchor in zip(weights[t - 1], world.anchors, strict=True)
        )
        np.testing.assert_allclose(mdp.transitions.toarray(), expected, atol=1e-15)
        rewards = sum(w * anchor.rewards for w, anchor in zip(reward_weights[t - 1], world.anchors, strict=True))
        np.testing.assert_allclose(mdp.rewards, rewards, atol=1e-13)


@given(drifting_mdps())
def test_the_kernels_see_the_same_step(world):
    from driftmdp.kernels.world import model_at, model_buffers

    buffers = model_buffers(world.world)
    for t in range(1, world.horizon + 1):
        model = model_at(world.world, t - 1, buffers)
        matrix = np.zeros((world.space.n_pairs, world.space.n_states))
        for pair in range(world.space.n_pairs):
            for z in range(model.indptr[pair], model.indptr[pair + 1]):
                matrix[pair, model.indices[z]] += model.data[z]
        np.testing.assert_allclose(matrix, world.at(t).transitions.toarray(), atol=1e-15)
        np.testing.assert_allclose(model.rewards, world.at(t).rewards, atol=1e-13)


def test_weights_as_table_csr_and_index_are_the_same_world():
    index = np.array([0, 1, 1, 0])
    table = np.eye(2)[index]
    worlds = [dm.DriftingMdp([ONE, TWO], w) for w in (index, index.tolist(), table, sp.csr_array(table))]
    for world in worlds:
        assert [world.at(t).reward(0, 0) for t in range(1, 5)] == [1.0, 2.0, 2.0, 1.0]


def test_from_sequence_stores_each_object_once():
    world = dm.DriftingMdp.from_sequence([ONE, TWO, ONE, ONE])
    assert world.n_anchors == 2
    assert world.weights.index.tolist() == [0, 1, 0, 0]


def test_piecewise_changes_at_the_change_points():
    world = dm.DriftingMdp.piecewise([ONE, TWO, ONE], [3, 4], horizon=6)
    assert [world.at(t).reward(0, 0) for t in range(1, 7)] == [1, 1, 2, 1, 1, 1]
    assert dm.DriftingMdp.piecewise([ONE, TWO, ONE], [3, 4, 7]).horizon == 6


def test_stationary_never_changes():
    world = dm.DriftingMdp.stationary(ONE, 5)
    assert world.horizon == 5
    assert world.variation().reward == world.variation().transition == 0.0


@given(drifting_mdps(max_horizon=20))
def test_steps_of_one_group_are_equal_and_groups_differ(world):
    steps, group = world.distinct_steps()
    assert (np.diff(steps) > 0).all()
    rows = np.hstack([dense_weights(world), world.reward_weights.matrix.toarray()])
    assert np.array_equal(rows[steps][group], rows)
    assert len(np.unique(rows, axis=0)) == steps.size


def test_steps_that_share_a_projection_are_still_told_apart(monkeypatch):
    monkeypatch.setattr("driftmdp.mdp.weights.Weights.labels", lambda self: np.zeros(self.horizon, np.int64))
    for weights in ([0, 1, 0], [[1, 0], [0.5, 0.5], [1, 0]]):
        steps, group = dm.DriftingMdp([ONE, TWO], weights).distinct_steps()
        assert (steps.tolist(), group.tolist()) == ([0, 1], [0, 1, 0])


def test_whole_periods_repeat_exactly():
    assert dm.problems.garnet(n_states=5, drift="fast", horizon=5000).drifting.distinct_steps()[0].size == 250
    weekly = dm.problems.inventory(
        capacity=3, horizon=700, demand=dm.problems.Poisson(dm.problems.Seasonal(2, 1, 7))
    )
    assert weekly.drifting.distinct_steps()[0].size == 7


def test_nothing_public_can_be_written_to():
    mixed, named = dm.DriftingMdp([ONE, TWO], [[0.5, 0.5]]), dm.DriftingMdp([ONE, TWO], [0])
    shop = dm.problems.inventory(capacity=2, horizon=3)
    arrays = [
        mixed.anchor_transitions.data,
        mixed.anchor_rewards,
        mixed.weights.matrix.data,
        mixed.weights.row(0)[1],
        named.weights.index,
        shop.expected_demand,
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_between_is_the_part_of_the_world():
    rng = np.random.default_rng(0)
    space = random_space(rng, 3)
    anchors = [random_mdp(rng, space, 2) for _ in range(3)]
    world = dm.DriftingMdp(anchors, rng.dirichlet(np.ones(3), 10), rng.normal(size=(10, 3)))
    part = world.between(4, 8)
    assert part.horizon == 5
    for t in range(1, 6):
        assert np.array_equal(part.at(t).rewards, world.at(t + 3).rewards)
        assert np.array_equal(part.at(t).transitions.toarray(), world.at(t + 3).transitions.toarray())


def test_pickles_without_what_can_be_made_again():
    world = dm.DriftingMdp([ONE, TWO], [[0.5, 0.5], [1, 0]])
    _ = world.world
    copy = pickle.loads(pickle.dumps(world))
    assert "world" not in copy.__dict__
    assert np.array_equal(copy.at(1).transitions.toarray(), world.at(1).transitions.toarray())
    follows = pickle.loads(pickle.dumps(dm.DriftingMdp([ONE], [0])))
    assert follows.rewards_follow_transitions


def test_at_does_not_hand_out_what_the_world_is_made_of():
    world = dm.DriftingMdp([ONE, TWO], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        world.at(1).transitions.data[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        world.at(1).rewards[0] = 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dm.DriftingMdp([], [0]), "anchors must hold at least one Mdp; got none."),
        (lambda: dm.DriftingMdp(None, [0]), "anchors must be a list of Mdp; got None."),
        (lambda: dm.DriftingMdp.from_sequence(ONE), "anchors must be a list of Mdp; got one Mdp."),
        (lambda: dm.DriftingMdp.piecewise([], [], horizon=5), "anchors must hold at least one Mdp; got none."),
        (
            lambda: dm.DriftingMdp.piecewise([ONE, TWO], 3, horizon=5),
            "change_points must be a list of steps; got 3.",
        ),
        (lambda: dm.DriftingMdp(ONE, [0]), "anchors must be a list of Mdp; got one Mdp."),
        (lambda: dm.DriftingMdp([ONE, "x"], [0]), "anchors[1] must be an Mdp; got 'x'."),
        (
            lambda: dm.DriftingMdp([ONE, dm.Mdp(dm.Space([1]), [0], [[1]])], [0]),
            "anchors[1] must have the states and actions of anchors[0], Space.uniform(2, 1)",
        ),
        (lambda: dm.DriftingMdp([ONE, TWO], [[0.5, 0.5], [0.5, 0.4]]), "weights[t=2] must sum to 1; got 0.9."),
        (
            lambda: dm.DriftingMdp([ONE, TWO], [[1.5, -0.5]]),
            "weights[t=1] must be finite and not negative; got -0.5 at anchor 1.",
        ),
        (
            lambda: dm.DriftingMdp([ONE, TWO], [[np.nan, 1.0]]),
            "weights[t=1] must be finite and not negative; got nan at anchor 0.",
        ),
        (lambda: dm.DriftingMdp([ONE, TWO], [[1.0], [1.0]]), "weights must have shape (T, K) with K = 2 anchors"),
        (lambda: dm.DriftingMdp([ONE, TWO], [0, 2]), "weights[t=2] must name one of the anchors 0 .. 1; got 2."),
        (lambda: dm.DriftingMdp([ONE, TWO], []), "weights must"),
        (
            lambda: dm.DriftingMdp([ONE, TWO], [0.5, 0.5]),
            "weights must be a (T, K) table of numbers, or the anchor",
        ),
        (lambda: dm.DriftingMdp([ONE, TWO], [[1, 0], [1]]), "weights must be a regular table"),
        (lambda: dm.DriftingMdp([ONE, TWO], "ab"), "weights must be a (T, K) table of numbers, or the anchor"),
        (
            lambda: dm.DriftingMdp([ONE, TWO], [0, 1], [[1.0, 0.0]]),
            "reward_weights must cover the 2 steps of weights; got 1.",
        ),
        (lambda: dm.DriftingMdp([ONE, TWO], [0], [[np.inf, 0]]), "reward_weights[t=1] must be finite; got inf."),
        (lambda: dm.DriftingMdp.from_sequence([]), "anchors must hold at least one Mdp; got none."),
        (lambda: dm.DriftingMdp.stationary(ONE, 0), "horizon must be at least 1; got 0."),
        (
            lambda: dm.DriftingMdp.piecewise([ONE, TWO], [5]),
            "change_points must be 1 with a horizon, or 2 without one",
        ),
        (lambda: dm.DriftingMdp.piecewise([ONE, TWO], [9], horizon=5), "change_points must increase and lie in"),
        (lambda: dm.DriftingMdp.stationary(ONE, 3).at(0), "t must be at least 1; got 0."),
        (lambda: dm.DriftingMdp.stationary(ONE, 3).at(4), "t must be at most 3; got 4."),
        (lambda: dm.DriftingMdp.stationary(ONE, 3).between(3, 2), "last must be at least 3; got 2."),
    ],
)
def test_wrong_input_gets_one_sentence(make, message):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert str(error.value).startswith(message)
