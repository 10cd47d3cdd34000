from math import exp, floor

import numpy as np
import pytest

import driftmdp as dm
from tests.problems.tables import rewards_of, transitions_of

SMALL = {"n_prices": 3, "steps": 2, "lowest": 0.2, "adaptation": 0.3, "horizon": 6}
LEVELS = [0.2, 0.4, 0.6, 0.8, 1.0]  # of the reference price. Prices are 0.2, 0.6 and 1
CUSTOMERS = [  # taste, sensitivity, discount, surcharge, and the moves upwards and downwards
    (3.0, 5.0, 1.0, 2.0, 0.3, 0.3),
    (3.0, 6.5, 5.0, 0.4, 0.6, 0.15),
    (2.5, 2.5, 0.5, 2.0, 0.15, 0.6),
]


def customer(level, shown, taste, sensitivity, discount, surcharge, upwards, downwards):
    """The mean reward and the next state's law, for the reference price and the price at two levels."""
    reference, price = LEVELS[level], LEVELS[shown]
    pull = discount * (reference - price) if price < reference else -surcharge * (price - reference)
    weights = [exp(taste - sensitivity * price + pull), exp(0.5), exp(0.0)]  # ours, the rival's, nothing
    mean = level + (upwards if shown > level else downwards) * (shown - level)
    following = [0.0] * 5
    below = floor(mean + 1e-9)
    following[below] += 1 - (mean - below)
    if mean - below > 1e-9:
        following[below + 1] += mean - below
    return price * weights[0] / sum(weights), following


@pytest.mark.parametrize("regime", range(3))
def test_anchors_are_what_can_happen_with_a_customer(regime):
    usual = {"taste": 3.0, "sensitivity": 5.0, "discount": 1.0, "surcharge": 2.0, "rival": 0.5}
    mdp = dm.problems.choice(**SMALL, **usual).drifting.anchor(regime)
    for level in range(5):
        outcomes = [customer(level, shown, *CUSTOMERS[regime]) for shown in (0, 2, 4)]
        assert rewards_of(mdp)[level] == pytest.approx([revenue for revenue, _ in outcomes], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[level], [law for _, law in outcomes], atol=1e-11)


def revenue_of_one_price(price, taste, sensitivity):
    """Closed form of one price for ever: the reference has become the price."""
    utility = exp(taste - sensitivity * price)
    return price * utility / (utility + 2)


PRICES = np.linspace(0.2, 1.0, 6)


@pytest.mark.parametrize(("regime", "taste", "sensitivity"), [(0, 5.0, 6.0), (1, 5.0, 7.8), (2, 4.5, 3.0)])
def test_one_price_for_ever_earns_the_price_times_its_logit(regime, taste, sensitivity):
    mdp = dm.problems.choice(horizon=1).drifting.anchor(regime)
    for action, price in enumerate(PRICES):
        gains = dm.planning.policy_gain(mdp, [action] * 16)
        assert gains == pytest.approx([revenue_of_one_price(price, taste, sensitivity)] * 16, abs=1e-9)


def test_loss_averse_customers_get_one_price_and_bargain_hunters_a_cycle():
    """[PW07]: prices converge where surcharges weigh more than discounts, and cycle where they weigh less."""
    anchors = dm.problems.choice(horizon=1).drifting.anchors
    gains = [dm.planning.optimal_gain(anchor).gain for anchor in anchors]
    one_price = [
        max(revenue_of_one_price(price, *market) for price in PRICES)
        for market in ((5.0, 6.0), (5.0, 7.8), (4.5, 3.0))
    ]
    assert gains[0] == pytest.approx(one_price[0], abs=1e-9)
    assert gains[2] == pytest.approx(one_price[2], abs=1e-9)
    assert gains[1] > 1.4 * one_price[1]


def test_the_mean_reference_price_follows_exponential_smoothing():
    chain = transitions_of(dm.problems.choice(horizon=1).drifting.anchor(0))
    law = np.eye(16)[15]
    for step in range(1, 6):
        law = np.array([row[2] for row in chain]).T @ law  # price 2 is at level 6
        assert law @ np.arange(16) == pytest.approx(6 + (15 - 6) * 0.8**step, abs=1e-9)


@pytest.mark.parametrize(
    "extreme",
    [
        {"n_prices": 2, "steps": 1},
        {"n_prices": 2, "steps": 100, "adaptation": 0.01},
        {"n_prices": 3, "steps": 2, "adaptation": 0.5, "taste": -10, "sensitivity": 20, "rival": 10},
        {"taste": 10, "discount": 10, "sensitivity": 0, "surcharge": 0, "rival": -10},
    ],
)
def test_extremes_communicate_and_have_a_gain(extreme):
    drifting = dm.problems.choice(**extreme, horizon=3, cycles=1).drifting
    assert all(dm.planning.is_communicating(anchor) for anchor in drifting.anchors)
    assert np.isfinite(dm.planning.optimal_gains(drifting)).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"n_prices": 1}, "n_prices must be at least 2; got 1."),
        ({"steps": 0}, "steps must be at least 1; got 0."),
        ({"steps": 6}, "steps must be at most 5; got 6."),
        ({"lowest": 1}, "lowest must be at most 0.99; got 1."),
        ({"taste": 11}, "taste must be at most 10; got 11."),
        ({"sensitivity": -1}, "sensitivity must be at least 0; got -1."),
        ({"discount": 11}, "discount must be at most 10; got 11."),
        ({"surcharge": 21}, "surcharge must be at most 20; got 21."),
        ({"rival": float("inf")}, "rival must be a finite number; got inf."),
        ({"adaptation": 0.6}, "adaptation must be at most 0.5; got 0.6."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
        ({"changes": 0.5}, "changes must be a whole number; got 0.5."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.choice(**wrong)
    assert str(caught.value) == sentence
