from itertools import product
from math import exp

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.planning import is_communicating, optimal_gain, optimal_gains, policy_gain
from driftmdp.problems.wireless import REGIMES
from tests.problems.tables import rewards_of, transitions_of

AIR = {"leave_good": 0.2, "leave_bad": 0.3, "harvest": 0.4, "good_loss": 0.3, "bad_loss": 2.0}


def scaled(chance, factor):
    odds = factor * chance / (1 - chance)
    return odds / (1 + odds)


def slot(units, good, spent, regime):
    """The chance to deliver and the next state's law, by going through everything that can happen in a slot."""
    delivered, following = 0.0, [0.0] * 12
    turns_bad, turns_good = scaled(0.2, regime.leave_good), scaled(0.3, regime.leave_bad)
    sunny = scaled(0.4, regime.harvest)
    for is_good, harvests in product((True, False), (True, False)):
        chance_good = 1 - turns_bad if good else turns_good
        chance = chance_good if is_good else 1 - chance_good
        chance *= sunny if harvests else 1 - sunny
        if spent > 0:
            delivered += chance * exp(-(0.3 if is_good else 2.0) * regime.loss / spent)
        after = min(5, units - spent + (2 if harvests else 0))
        following[6 * int(is_good) + after] += chance
    return delivered, following


@pytest.mark.parametrize("name", REGIMES)
def test_anchors_are_what_can_happen_in_a_slot(name):
    world = dm.problems.wireless(battery=5, high_power=3, parcel=2, **AIR, horizon=6)
    mdp = world.drifting.anchor([*REGIMES].index(name))
    for units, good in product(range(6), (False, True)):
        expected = [slot(units, good, spent, REGIMES[name]) for spent in (0, 1, 3) if spent <= units]
        state = 6 * int(good) + units
        assert rewards_of(mdp)[state] == pytest.approx([chance for chance, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[state], [law for _, law in expected], atol=1e-12)


def mean_success(regime, energy=1):
    """The stationary Gilbert-Elliott shares times the chances to get through."""
    turns_bad, turns_good = scaled(0.2, regime.leave_good), scaled(0.3, regime.leave_bad)
    good = turns_good / (turns_good + turns_bad)
    return good * exp(-0.3 * regime.loss / energy) + (1 - good) * exp(-2.0 * regime.loss / energy)


@pytest.mark.parametrize("name", REGIMES)
def test_always_sending_at_low_power_spends_exactly_the_energy_that_arrives(name):
    world = dm.problems.wireless(battery=4, high_power=9, parcel=1, **AIR, horizon=6)
    mdp = world.drifting.anchor([*REGIMES].index(name))
    gain = scaled(0.4, REGIMES[name].harvest) * mean_success(REGIMES[name])
    assert policy_gain(mdp, np.minimum(np.arange(10) % 5, 1)) == pytest.approx([gain] * 10, abs=1e-12)


@pytest.mark.parametrize("name", REGIMES)
def test_random_play_makes_the_battery_a_birth_death_chain(name):
    world = dm.problems.wireless(battery=4, high_power=9, parcel=1, **AIR, horizon=6)
    mdp = world.drifting.anchor([*REGIMES].index(name))
    sunny = scaled(0.4, REGIMES[name].harvest)
    up, down = [sunny] + [sunny / 2] * 3, (1 - sunny) / 2  # a coin decides between waiting and sending
    mass = np.cumprod([1.0] + [birth / down for birth in up])
    gain = (1 - mass[0] / mass.sum()) / 2 * mean_success(REGIMES[name])
    coin = 1 / mdp.space.n_actions[mdp.space.pair_states]
    assert policy_gain(mdp, coin) == pytest.approx([gain] * 10, abs=1e-12)


def test_where_the_channel_has_no_memory_low_power_is_optimal_and_pays_for_every_unit():
    air = AIR | {"leave_good": 0.7}  # leave_good + leave_bad = 1: the last slot says nothing
    world = dm.problems.wireless(battery=4, high_power=9, parcel=1, **air, drift="stationary", horizon=2)
    gain = 0.4 * (0.3 * exp(-0.3) + 0.7 * exp(-2.0))
    assert optimal_gain(world.drifting.at(1)).gain == pytest.approx(gain, abs=1e-9)


def test_with_all_defaults_it_drifts_and_the_optimum_beats_random_play_and_each_regime_has_its_policy():
    world = dm.problems.wireless()
    variation = world.drifting.variation()
    assert variation.reward > 1
    assert variation.transition > 1
    coin = 1 / world.space.n_actions[world.space.pair_states]
    random = [policy_gain(world.drifting.at(t), coin)[0] for t in range(1, 1000, 20)]  # one cycle
    assert optimal_gains(world.drifting).mean() - np.mean(random) > 0.1
    usual, crowded, faint = (optimal_gain(anchor).policy for anchor in world.drifting.anchors)
    assert (usual[19], crowded[19], faint[19]) == (1, 0, 2)  # 6 units, the last slot was good
    assert (usual[6], crowded[6], faint[6]) == (0, 1, 0)  # and bad


def test_more_energy_never_means_less_power():
    world = dm.problems.wireless(horizon=3)
    policies = [optimal_gain(anchor).policy for anchor in world.drifting.anchors]
    assert all((np.diff(policy.reshape(2, 13)) >= 0).all() for policy in policies)


@pytest.mark.parametrize(
    "extreme",
    [
        {"battery": 1, "parcel": 7},
        {"harvest": 0.99, "leave_good": 0.99, "leave_bad": 0.99},
        {"harvest": 0.01, "leave_good": 0.01, "leave_bad": 0.01, "battery": 3},
        {"good_loss": 0.0, "bad_loss": 0.0},
        {"good_loss": 100.0, "bad_loss": 100.0},
    ],
)
def test_extremes_communicate(extreme):
    world = dm.problems.wireless(**extreme, horizon=6)
    assert all(is_communicating(world.drifting.at(t)) for t in range(1, 7))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"battery": 0}, "battery must be at least 1; got 0."),
        ({"high_power": 1}, "high_power must be at least 2; got 1."),
        ({"parcel": 0.5}, "parcel must be a whole number; got 0.5."),
        ({"leave_good": 0}, "leave_good must be at least 0.01; got 0."),
        ({"leave_bad": 1}, "leave_bad must be at most 0.99; got 1."),
        ({"harvest": 1.5}, "harvest must be at most 0.99; got 1.5."),
        ({"good_loss": -1}, "good_loss must be at least 0; got -1."),
        ({"good_loss": 2, "bad_loss": 1}, "bad_loss must be at least 2; got 1."),
        ({"horizon": 0}, "horizon must be at least 1; got 0."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.wireless(**wrong)
    assert str(caught.value) == sentence
