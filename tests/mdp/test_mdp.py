import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from driftmdp import DriftingMdp, Mdp, Space
from driftmdp.errors import InvalidInputError
from tests.strategies import random_mdp, random_space

SPACE = Space([2, 1])
ROWS = [[0.5, 0.5], [0, 1], [1, 0]]


def test_dense_and_sparse_input_give_the_same_mdp():
    dense = Mdp(SPACE, [1, 2, 3], ROWS)
    for form in (sp.csr_array, sp.csc_array, sp.coo_matrix, sp.lil_array):
        same = Mdp(SPACE, [1, 2, 3], form(np.array(ROWS, dtype=float)))
        assert (same.transitions != dense.transitions).nnz == 0


def test_duplicate_sparse_entries_are_summed_and_zeros_dropped():
    rows = sp.csr_array((np.array([0.25, 0.75, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1, 0]), np.array([0, 3, 4, 5])))
    mdp = Mdp(SPACE, [0, 0, 0], rows)
    assert mdp.successors(0, 0).tolist() == [1.0, 0.0]
    assert mdp.transitions.nnz == 3


def test_input_is_copied_and_output_read_only():
    rewards, rows = np.zeros(3), np.array(ROWS, dtype=float)
    mdp = Mdp(SPACE, rewards, rows)
    rewards[0], rows[0] = 9.0, 0.0
    assert mdp.reward(0, 0) == 0.0
    assert mdp.successors(0, 0).tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        mdp.rewards[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        mdp.transitions.data[0] = 1.0


def test_to_dense_and_back():
    rng = np.random.default_rng(3)
    mdp = random_mdp(rng, random_space(rng, 5), 3)
    rewards, transitions, available = mdp.to_dense()
    back = Mdp.from_dense(rewards, transitions, available)
    assert back.space == mdp.space
    assert np.array_equal(back.rewards, mdp.rewards)
    assert (back.transitions != mdp.transitions).nnz == 0


def test_a_dense_table_that_does_not_fit_into_memory_gets_a_sentence():
    n = 3 * 10**6
    ring = Mdp(
        Space.uniform(n, 1), np.zeros(n), sp.csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n))
    )
    with pytest.raises(InvalidInputError, match="A dense table of 3,000,000 states must fit into memory"):
        ring.to_dense()


def test_from_dense_numbers_available_actions_anew():
    mdp = Mdp.from_dense([[np.nan, 5], [1, 0]], [[[9, 9], [0, 1]], [[1, 0], [0, 1]]], [[False, True], [True, True]])
    assert mdp.space.n_actions.tolist() == [1, 2]
    assert mdp.reward(0, 0) == 5.0


def test_complex_rewards_are_refused():
    with pytest.raises(InvalidInputError, match="rewards must be numbers"):
        Mdp(SPACE, np.array([1j, 0, 0]), ROWS)


def test_pickles():
    mdp = Mdp(SPACE, [1, 2, 3], ROWS)
    copy = pickle.loads(pickle.dumps(mdp))
    assert np.array_equal(copy.rewards, mdp.rewards)
    assert copy.space == mdp.space
    assert (copy.transitions != mdp.transitions).nnz == 0


@pytest.mark.parametrize(
    ("rewards", "rows", "message"),
    [
        ([0, 0, 0], [[0.5, 0.482], [0, 1], [1, 0]], "transitions[s=0, a=0] must sum to 1; got 0.982."),
        ([0, 0, 0], [[1, 0], [0, 1], [1.0000001, 0]], "transitions[s=1, a=0] must sum to 1; got 1.0000001."),
        (
            [0, 0, 0],
            [[1.5, -0.5], [0, 1], [1, 0]],
            "transitions[s=0, a=0] must be finite and not negative; got -0.5 at state 1.",
        ),
        (
            [0, 0, 0],
            [[1, 0], [0, np.nan], [1, 0]],
            "transitions[s=0, a=1] must be finite and not negative; got nan at state 1.",
        ),
        ([0, np.nan, 0], ROWS, "rewards[s=0, a=1] must be finite; got nan."),
        ([0, 0, np.inf], ROWS, "rewards[s=1, a=0] must be finite; got inf."),
        ([0, 0], ROWS, "rewards must have shape (n_pairs,) = (3,); got (2,)."),
        ([[0, 0, 0]], ROWS, "rewards must have shape (n_pairs,) = (3,); got (1, 3)."),
        ("abc", ROWS, "rewards must be numbers of shape (n_pairs,) = (3,); got 'abc'."),
        ([0, 0, 0], ROWS[:2], "transitions must have shape (n_pairs, n_states) = (3, 2); got (2, 2)."),
        ([0, 0, 0], [[1, 0], [1]], "transitions must be a regular table of real numbers; got [[1, 0], [1]]."),
        (
            [0, 0, 0],
            [[[1, 0]]],
            "transitions must be a table with 2 axes, none empty; got shape (1, 1, 2). For an [S,",
        ),
        ([0, 0, 0], [[], [], []], "transitions must be a table with 2 axes, none empty; got shape (3, 0)."),
    ],
)
def test_wrong_input_gets_one_sentence(rewards, rows, message):
    with pytest.raises(InvalidInputError) as error:
        Mdp(SPACE, rewards, rows)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mdp([2, 1], [0, 0, 0], ROWS), "space must be a Space; got [2, 1]."),
        (lambda: Mdp.from_dense([[0, 0]], [[[1], [1], [1]]]), "transitions must have shape [S, A, S] = (1, 2, 1)"),
        (
            lambda: Mdp.from_dense([0, 0], [[[1]]]),
            "rewards must be a table with 2 axes, none empty; got shape (2,).",
        ),
        (
            lambda: Mdp.from_dense([[0]], [[[1]]], [[1]]),
            "available must be a boolean table of shape (1, 1); got int",
        ),
        (lambda: Mdp.from_dense([[0]], [[[1]]], [[False]]), "n_actions[s=0] must be at least 1; got 0."),
    ],
)
def test_wrong_construction_gets_one_sentence(make, message):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_row_may_miss_one_by_rounding_only():
    Mdp(Space([1]), [0], [[1 + 9e-10]])
    with pytest.raises(InvalidInputError):
        Mdp(Space([1]), [0], [[1 + 2e-9]])


@pytest.mark.parametrize("index", [-1, 10**6])
def test_sparse_indices_outside_the_table_are_refused(index):
    rows = sp.csr_array((np.ones(3), np.array([0, 1, 1]), np.arange(4)), shape=(3, 2))
    rows.indices[1] = index
    with pytest.raises(
        InvalidInputError, match="transitions must be a sound sparse matrix; its indices must lie in"
    ):
        Mdp(SPACE, [0, 0, 0], rows)


def test_one_of_a_thing_is_in_the_singular_in_its_repr():
    alone = Mdp(Space.uniform(1, 1), [0.5], [[1.0]])
    assert repr(alone) == "<Mdp: 1 state, 1 pair, 1 successor, rewards in [0.5, 0.5]>"
    still = DriftingMdp.stationary(alone, 1)
    assert repr(still) == "<DriftingMdp: 1 step, 1 anchor, 1 state, 1 pair>"
