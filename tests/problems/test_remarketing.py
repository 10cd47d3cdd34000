import math
from itertools import product

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.remarketing import MARKETS
from tests.problems.tables import rewards_of, transitions_of

SMALL = {"capacity": 7, "batch": 2, "n_batches": 2, "horizon": 9, "demand": 1.5, "arrivals": 0.8}
PRICES = {"margin": 3.0, "price_impact": 0.25, "listing_fee": 0.1, "holding": 0.02}


def poisson(mean, most):
    """Pr(X = 0), ..., Pr(X >= most)."""
    masses = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(most)]
    return [*masses, 1 - sum(masses)]


def day(cars, listed, demand, arrivals, margin, shelf):
    """The mean reward and the next state's law, by going through everything that can happen in a day."""
    profit, following = 0.0, [0.0] * (SMALL["capacity"] + 1)
    cut = math.ceil(arrivals + 4 * math.sqrt(arrivals) + 2)
    wanted_law, arrived_law = poisson(demand, 30), poisson(arrivals, cut)
    for (wanted, chance), (arrived, other) in product(enumerate(wanted_law), enumerate(arrived_law)):
        sold = min(wanted, listed)
        price = margin - margin * shelf["price_impact"] * listed / demand
        paid = shelf["listing_fee"] * listed + shelf["holding"] * (cars - sold)
        profit += chance * other * (price * sold - paid)
        following[min(cars - sold + arrived, SMALL["capacity"])] += chance * other
    return profit, following


@pytest.mark.parametrize("market", range(3))
def test_anchors_are_what_can_happen_in_a_day(market):
    factor = [*MARKETS.values()][market]
    mdp = dm.problems.remarketing(**SMALL, **PRICES).drifting.anchor(market)
    means = (1.5 * factor.demand, 0.8 * factor.arrivals, 3.0 * factor.margin)
    for cars in range(SMALL["capacity"] + 1):
        listings = [0, *(min(2 * k, cars) for k in range(1, min(2, math.ceil(cars / 2)) + 1))]
        expected = [day(cars, listed, *means, PRICES) for listed in listings]
        assert rewards_of(mdp)[cars] == pytest.approx([profit for profit, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[cars], [law for _, law in expected], atol=1e-12)


def test_the_last_batch_is_what_is_left():
    space = dm.problems.remarketing(**SMALL).space
    assert [names[-1] for names in space.action_names[:6]] == [f"list {n}" for n in (0, 1, 2, 3, 4, 4)]
    assert space.n_actions.tolist() == [1, 2, 2, 3, 3, 3, 3, 3]


@pytest.mark.parametrize("drift", ["stationary", "seasonal", "abrupt"])
def test_every_step_communicates_and_stays_in_the_exact_range(drift):
    problem = dm.problems.remarketing(**SMALL, drift=drift, cycles=1)
    means = [problem.drifting.rewards_at(t) for t in range(1, 10)]
    assert problem.reward_range == pytest.approx((np.min(means), np.max(means)), abs=1e-12)
    assert all(dm.planning.is_communicating(problem.drifting.at(t)) for t in range(1, 10))


def test_the_default_has_a_hundred_states_and_few_successors_and_drift_matters():
    drifting = dm.problems.remarketing(horizon=3, cycles=1).drifting
    assert drifting.space.n_states == 101
    assert max(np.diff(anchor.transitions.indptr).max() for anchor in drifting.anchors) == 40
    assert all(dm.planning.is_communicating(anchor) for anchor in drifting.anchors)
    best = [dm.planning.optimal_gain(drifting.at(t)).policy[50] for t in (1, 2, 3)]
    assert best == [2, 1, 3]


@pytest.mark.parametrize("sizes", [(1,), (2, 9), (3, 4, 99)])
def test_the_smallest_lots_have_a_gain(sizes):
    problem = dm.problems.remarketing(*sizes, horizon=4)
    assert np.isfinite(dm.planning.optimal_gains(problem.drifting)).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"capacity": 0}, "capacity must be at least 1; got 0."),
        ({"batch": 0}, "batch must be at least 1; got 0."),
        ({"arrivals": 0}, "arrivals must be at least 0.01; got 0."),
        ({"demand": 501}, "demand must be at most 500; got 501."),
        ({"holding": -1}, "holding must be at least 0; got -1."),
        ({"horizon": 0}, "horizon must be at least 1; got 0."),
        (
            {"drift": "season"},
            "drift must be one of 'stationary', 'seasonal', 'abrupt'; got 'season'. Did you mean 'seasonal'?",
        ),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.remarketing(**wrong)
    assert str(caught.value) == sentence
