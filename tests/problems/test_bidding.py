from itertools import product
from math import comb

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.bidding import AUDIENCES
from tests.problems.tables import rewards_of, transitions_of

SMALL = {"budget": 3, "exposures": 2, "n_bids": 2, "period": 5.0, "horizon": 9}
PEOPLE = {"competition": 0.4, "uncontested": 0.1, "clicks": 0.8, "fatigue": 0.2, "recovery": 0.3}


def block(left, shown, bid, q, clicks):
    """The mean reward and the next state's law, by going through everything that can happen in a block."""
    earned, following = 0.0, [0.0] * 12
    rivals = [(m, 0.9 * comb(2, m) * q**m * (1 - q) ** (2 - m)) for m in range(3)] + [(-1, 0.1)]
    for (rival, chance), forgets, refills in product(rivals, (True, False), (True, False)):
        chance = chance * (0.3 if forgets else 0.7) * (0.2 if refills else 0.8)
        if bid > max(rival, 0):
            after, seen = left - bid, min(shown + 1, 2)
            earned += chance * clicks * 0.8**shown
        else:
            after, seen = left, max(shown - 1, 0) if forgets else shown
        following[(3 if refills else after) * 3 + seen] += chance
    return earned, following


@pytest.mark.parametrize("audience", range(3))
def test_anchors_are_what_can_happen_in_a_block(audience):
    factor = [*AUDIENCES.values()][audience]
    mdp = dm.problems.bidding(**SMALL, **PEOPLE).drifting.anchor(audience)
    odds = factor.odds * 0.4 / 0.6
    for left, shown in product(range(4), range(3)):
        expected = [
            block(left, shown, bid, odds / (1 + odds), 0.8 * factor.clicks) for bid in range(min(left, 2) + 1)
        ]
        state = left * 3 + shown
        assert rewards_of(mdp)[state] == pytest.approx([earned for earned, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[state], [law for _, law in expected], atol=1e-12)


def test_no_bid_is_above_what_is_left():
    problem = dm.problems.bidding(**SMALL)
    assert problem.space.n_actions.tolist() == [1] * 3 + [2] * 3 + [3] * 6
    assert problem.space.action_names[3] == ("no bid", "bid 1")
    assert problem.space.state_names[problem.start] == "3 left, 0 shown"


@pytest.mark.parametrize("drift", ["stationary", "seasonal", "abrupt"])
def test_every_step_communicates_and_stays_in_the_exact_range(drift):
    problem = dm.problems.bidding(**SMALL, drift=drift, cycles=1)
    means = [problem.drifting.rewards_at(t) for t in range(1, 10)]
    assert problem.reward_range == pytest.approx((0.0, np.max(means)), abs=1e-12)
    assert all(dm.planning.is_communicating(problem.drifting.at(t)) for t in range(1, 10))


def test_the_default_has_a_hundred_states_and_few_successors_and_drift_matters():
    problem = dm.problems.bidding(horizon=3, cycles=1)
    drifting = problem.drifting
    assert drifting.space.n_states == 125
    assert max(np.diff(anchor.transitions.indptr).max() for anchor in drifting.anchors) == 6
    assert all(dm.planning.is_communicating(anchor) for anchor in drifting.anchors)
    best = [dm.planning.optimal_gain(drifting.at(t)).policy[problem.start] for t in (1, 2, 3)]
    assert best == [3, 1, 4]


@pytest.mark.parametrize(
    "extreme",
    [
        {"budget": 1, "exposures": 0, "n_bids": 1},
        {"n_bids": 30, "budget": 2},
        {"competition": 1.0},
        {"competition": 0.0},
        {"uncontested": 1.0, "recovery": 1.0, "period": 2},
        {"fatigue": 1.0},
    ],
)
def test_extremes_communicate_and_have_a_gain(extreme):
    problem = dm.problems.bidding(**({**SMALL, **extreme} | {"horizon": 3}))
    assert all(dm.planning.is_communicating(anchor) for anchor in problem.drifting.anchors)
    assert np.isfinite(dm.planning.optimal_gains(problem.drifting)).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"budget": 0}, "budget must be at least 1; got 0."),
        ({"exposures": -1}, "exposures must be at least 0; got -1."),
        ({"n_bids": 0}, "n_bids must be at least 1; got 0."),
        ({"period": 1}, "period must be at least 2; got 1."),
        ({"recovery": 0}, "recovery must be at least 0.01; got 0."),
        ({"competition": 1.5}, "competition must be at most 1; got 1.5."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
        ({"changes": 0.5}, "changes must be a whole number; got 0.5."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.bidding(**wrong)
    assert str(caught.value) == sentence
