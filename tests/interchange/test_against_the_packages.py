"""The real packages agree with us on the worlds that went through the door."""

import warnings

import gymnasium
import numpy as np
import pytest
import quantecon
import scipy.sparse as sp

import driftmdp as dm
from driftmdp import interchange
from driftmdp.errors import InvalidInputError
from tests.strategies import random_mdp, random_space

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pymdptoolbox 4.0b3 is older than Python's warnings of its escapes
    import mdptoolbox.example
    import mdptoolbox.mdp

DISCOUNT = 0.95


def some_mdp(seed):
    rng = np.random.default_rng(seed)
    return random_mdp(rng, random_space(rng, 6), branching=4)


def test_the_forest_of_pymdptoolbox():
    transitions, rewards = mdptoolbox.example.forest(S=5)
    mdp = interchange.from_mdptoolbox(transitions, rewards)
    plan = mdptoolbox.mdp.RelativeValueIteration(transitions, rewards)
    plan.run()
    assert dm.planning.optimal_gain(mdp).gain == pytest.approx(plan.average_reward, abs=0.02)  # its own precision
    sparse_p, sparse_r = mdptoolbox.example.forest(S=5, is_sparse=True)
    again = interchange.from_mdptoolbox(sparse_p, sparse_r)
    np.testing.assert_array_equal(again.rewards, mdp.rewards)
    np.testing.assert_allclose(again.transitions.toarray(), mdp.transitions.toarray())


@pytest.mark.parametrize("seed", range(3))
def test_pymdptoolbox_and_quantecon_find_the_same_values(seed):
    mdp = some_mdp(seed)
    policy = mdptoolbox.mdp.PolicyIteration(*interchange.to_mdptoolbox(mdp), DISCOUNT)
    policy.run()
    for form in ("pairs", "product"):
        found = interchange.to_quantecon(mdp, DISCOUNT, form).solve(method="policy_iteration")
        np.testing.assert_allclose(found.v, policy.V, atol=1e-8)


def test_quantecons_pairs_in_any_order_dense_or_sparse():
    rewards, states, actions = [5.0, 10.0, -1.0], [1, 0, 0], [0, 1, 0]
    rows = [[0.0, 1.0], [0.0, 1.0], [0.5, 0.5]]
    for q in (np.array(rows), sp.csr_matrix(rows)):
        ddp = quantecon.markov.DiscreteDP(rewards, q, DISCOUNT, states, actions)
        mdp = interchange.from_quantecon(ddp)
        assert mdp.rewards.tolist() == [-1.0, 10.0, 5.0]
        assert mdp.space.n_actions.tolist() == [2, 1]


def test_rewards_of_pymdptoolbox_in_all_shapes():
    p = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
    by_next = np.array([[[0.0, 2.0], [9.0, 3.0]], [[5.0, 9.0], [7.0, 9.0]]])
    wanted = [1.0, 5.0, 3.0, 7.0]
    sparse = [sp.csr_matrix(matrix) for matrix in by_next]
    for rewards in (by_next, sparse, [[1.0, 5.0], [3.0, 7.0]]):
        assert interchange.from_mdptoolbox(p, rewards).rewards.tolist() == wanted
    assert interchange.from_mdptoolbox(p, [1.0, 2.0]).rewards.tolist() == [1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize(("name", "best"), [("FrozenLake-v1", 11 / 612), ("CliffWalking-v1", -1.0)])
def test_toy_text_worlds_that_begin_again(name, best):
    env = gymnasium.make(name).unwrapped
    mdp = interchange.from_toy_text(env.P, start=env.initial_state_distrib)
    assert dm.planning.optimal_gain(mdp, allow_transient=True).gain == pytest.approx(best, abs=1e-9)


def test_toy_text_ends_keep_themselves_without_a_start():
    env = gymnasium.make("Taxi-v4").unwrapped
    mdp = interchange.from_toy_text(env.P)
    delivered = env.encode(0, 0, 0, 0)
    assert mdp.successors(delivered, 0)[delivered] == 1.0
    assert mdp.rewards[mdp.space.pair(delivered, 0)] == 0.0
    again = interchange.from_toy_text(env.P, start=env.initial_state_distrib)
    drop = again.successors(env.encode(0, 0, 4, 0), 5)
    np.testing.assert_allclose(drop, env.initial_state_distrib)
    assert again.reward(env.encode(0, 0, 4, 0), 5) == 20.0


def test_toy_text_rewards_are_means():
    mdp = interchange.from_toy_text([[[(0.25, 0, 4.0, False), (0.75, 0, 0.0, False)]]])
    assert mdp.rewards.tolist() == [1.0]


def test_a_start_may_be_a_number_without_axes_and_ends_need_no_outcomes():
    coin = {0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    assert interchange.from_toy_text(coin, start=np.array(0)).successors(0, 0).tolist() == [1.0, 0.0]
    assert interchange.from_toy_text({0: coin[0], 1: {0: []}}).successors(1, 0).tolist() == [0.0, 1.0]


def test_rewards_of_what_never_follows_do_not_count():
    rewards = np.array([[[1.0, -np.inf], [np.nan, 2.0]]])
    assert interchange.from_mdptoolbox(np.eye(2)[None], rewards).rewards.tolist() == [1.0, 2.0]


RENUMBERED = [[[0, 0], [0, 1]], [[0.5, 0], [0, 1]]]  # action 1 of state 0 becomes 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: interchange.from_toy_text({0: {0: [(1.0, 3, 0.0, False)]}}),
            "next state at P.0..0. must be at most 0",
        ),
        (lambda: interchange.from_toy_text({0: {0: [(1.0, 0)]}}), "must be a list of .probability, next state"),
        (lambda: interchange.from_toy_text({1: {0: []}}), "P must have the states 0 .. 0"),
        (lambda: interchange.from_toy_text({0: {3: []}}), r"P\[0\]\[3\] must have at least one outcome"),
        (lambda: interchange.from_toy_text({}), "P must have at least one state"),
        (lambda: interchange.from_toy_text({0: {0: [(0.5, 0, 0, False)]}}), "must sum to 1; got 0.5"),
        (lambda: interchange.from_toy_text([[[(1.0, 0, 0, False)]]], start=[0.5]), "start must be a state or a"),
        (lambda: interchange.from_mdptoolbox(np.ones((2, 2)), [1, 2]), "transitions must have shape .A, S, S."),
        (lambda: interchange.from_mdptoolbox(np.eye(2)[None], [1, 2, 3]), "rewards must have shape .S, A."),
        (lambda: interchange.from_scipy([], [1]), "matrices must have at least one action"),
        (lambda: interchange.from_scipy([np.eye(2), np.eye(3)], [1, 2]), "matrices.1. must be 2 x 2"),
        (lambda: interchange.from_scipy([np.diag([1, 0])], [1, 2]), "State 1 must have at least one action"),
        (lambda: interchange.from_scipy([sp.eye_array(1) * 1j], [1]), r"matrices\[0\] must be real numbers"),
        (lambda: interchange.from_scipy([[[1 + 0j]]], [1]), r"matrices\[0\] must be real"),
        (lambda: interchange.from_scipy([[[1]]], np.array([1j])), "rewards must be real numbers; got compl"),
        (lambda: interchange.from_scipy(RENUMBERED, [1, 2]), r"matrices\[1\], row 0, must sum to 1; got 0.5"),
        (lambda: interchange.from_scipy([[[-1.0]]], [1]), r"matrices\[0\], row 0, must be finite and not"),
        (lambda: interchange.from_scipy([[[1.0]]], [np.nan]), r"rewards\[0, 0\] must be finite; got nan"),
        (
            lambda: interchange.from_mdptoolbox(np.array([np.eye(2), np.eye(2) / 2]), [1, 2]),
            r"transitions\[1\], row 0, must sum to 1; got 0.5",
        ),
        (lambda: interchange.to_quantecon(some_mdp(0), 1.0), "beta must be below 1"),
        (lambda: interchange.from_quantecon(3), "ddp must be a quantecon DiscreteDP"),
        (lambda: interchange.to_scipy(3), "mdp must be an Mdp"),
        (lambda: interchange.to_quantecon(some_mdp(0), 0.9, "pair"), "Did you mean 'pairs'"),
    ],
)
def test_wrong_tables_get_a_sentence(call, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        call()
