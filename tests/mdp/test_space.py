import pickle

import numpy as np
import pytest

from driftmdp import Space
from driftmdp.errors import InvalidInputError


def test_pairs_are_numbered_state_after_state():
    space = Space([2, 1, 3])
    pairs = [space.pair(s, a) for s in range(3) for a in range(space.n_actions[s])]
    assert pairs == list(range(space.n_pairs)) == list(range(6))
    assert [space.state_and_action(p) for p in pairs] == [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (2, 2)]
    assert space.pair_states.tolist() == [0, 0, 1, 2, 2, 2]
    assert space.mean_actions == 2.0


def test_uniform_is_the_regular_case():
    assert Space.uniform(3, 2) == Space([2, 2, 2])
    assert repr(Space.uniform(3, 2)) == "Space.uniform(3, 2)"
    assert repr(Space([1, 2])) == "<Space: 2 states, 1 to 2 actions, 3 pairs>"


def test_names_are_per_state_or_shared():
    shared = Space([2, 1], ["up", "down"], ["go", "stay"])
    assert shared.action_names == (("go", "stay"), ("go",))
    assert Space([2, 1], action_names=[["a1", "a2"], ["b1"]]).action_names == (("a1", "a2"), ("b1",))
    assert shared != Space([2, 1])


def test_arrays_are_read_only():
    space = Space([2, 1])
    with pytest.raises(ValueError, match="read-only"):
        space.offsets[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        space.n_actions[0] = 1


def test_the_given_array_is_copied():
    given = np.array([2, 1])
    space = Space(given)
    given[0] = 7
    assert space.n_pairs == 3


def test_pickles_and_hashes():
    space = Space([2, 1], ["x", "y"])
    copy = pickle.loads(pickle.dumps(space))
    assert copy == space
    assert hash(copy) == hash(space)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Space([]), "n_actions must list at least one state's number of actions; got []"),
        (lambda: Space(3), "n_actions must list at least one state's number of actions; got 3"),
        (lambda: Space([1.5]), "n_actions must be whole numbers; got [1.5]."),
        (lambda: Space([2, 0]), "n_actions[s=1] must be at least 1; got 0."),
        (lambda: Space.uniform(0, 2), "n_states must be at least 1; got 0."),
        (lambda: Space.uniform(2, -1), "n_actions must be at least 1; got -1."),
        (lambda: Space.uniform(True, 1), "n_states must be a whole number; got True."),
        (lambda: Space([1, 1], ["only one"]), "state_names must have 2 names, one per state; got ['only one']."),
        (lambda: Space([2], action_names=[["a"]]), "action_names[s=0] must have 2 names; got ['a']."),
        (lambda: Space([2, 1]).pair(2, 0), "state must be at most 1; got 2."),
        (lambda: Space([2, 1]).pair(1, 1), "action of state 1 must be at most 0; got 1."),
        (lambda: Space([2, 1]).state_and_action(3), "pair must be at most 2; got 3."),
        (lambda: Space([2**30, 2**30]), "n_actions must sum to less than 2^31; got 2147483648."),
    ],
)
def test_wrong_input_gets_one_sentence(make, message):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Space.uniform(4, 2**62),
        lambda: Space.uniform(10**9, 10**9),
        lambda: Space.uniform(2**62, 1),
        lambda: Space.uniform(2**31, 1),
        lambda: Space([2**31]),
        lambda: Space([2**30, 2**30]),
        lambda: Space([2**62] * 4),
        lambda: Space(np.array([2**63 + 1, 1], np.uint64)),
    ],
)
def test_sizes_beyond_what_kernels_count_are_refused_before_anything_is_made(make):
    with pytest.raises(InvalidInputError, match="n_actions must sum to less than 2"):
        make()
