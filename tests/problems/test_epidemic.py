from itertools import product
from math import exp

import numpy as np
import pytest

import driftmdp as dm
from tests.problems.tables import rewards_of, transitions_of

SMALL = {"groups": 4, "levels": 3, "contagion": 0.9, "imports": 0.1, "recovery": 0.3, "horizon": 6}
FACTORS = [(1.0, 1.0, 1.0), (2.0, 1.25, 0.6), (0.5, 0.75, 1.6)]  # of contagion, harm and burden
SHARES = [0.0, 0.4, 0.7, 1.0]  # none, mild, strict, lockdown


def week(infected, share, contagion, harm, burden):
    """The mean reward and the next state's law, by going through what can happen to each of four groups."""
    following = [0.0] * 4
    infected_from_inside = 1 - exp(-contagion * (1 - 0.5 * share) * infected / 4)
    for fates in product((True, False), repeat=4):  # who is ill after the week
        chance = 1.0
        for group, ill in enumerate(fates):
            stays_well = (1 - infected_from_inside) * 0.9
            falls_ill = 0.7 if group < infected else 1 - stays_well
            chance *= falls_ill if ill else 1 - falls_ill
        following[min(sum(fates), 3)] += chance
    return (1 - harm * (infected / 3) ** 2) * (1 - burden * share**2), following


@pytest.mark.parametrize("regime", range(3))
def test_anchors_are_what_can_happen_in_a_week(regime):
    contagion, harm, burden = FACTORS[regime]
    mdp = dm.problems.epidemic(**SMALL, strength=0.5, harm=0.6, burden=0.4).drifting.anchor(regime)
    for infected in range(4):
        weeks = [week(infected, share, 0.9 * contagion, 0.6 * harm, 0.4 * burden) for share in SHARES]
        assert rewards_of(mdp)[infected] == pytest.approx([normal for normal, _ in weeks], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[infected], [law for _, law in weeks], atol=1e-12)


def share_of_normal_weeks(groups, imports, recovery, harm):
    """Closed form without contagion: groups are independent, each ill a share z / (z + v) of the time."""
    ill = imports / (imports + recovery)
    second_moment = (ill * (1 - ill) / groups) + ill**2
    return 1 - harm * second_moment


def test_without_contagion_the_optimal_gain_is_that_of_independent_groups():
    world = dm.problems.epidemic(12, 12, contagion=0.0, imports=0.2, recovery=0.3, drift="stationary", horizon=1)
    found = dm.planning.optimal_gain(world.drifting.anchor(0))
    assert found.policy.tolist() == [0] * 13
    assert found.gain == pytest.approx(share_of_normal_weeks(12, 0.2, 0.3, harm=0.8), abs=1e-9)


def test_a_lockdown_without_any_contacts_makes_groups_independent():
    world = dm.problems.epidemic(12, 12, imports=0.2, recovery=0.3, strength=1.0, burden=0.5, horizon=1)
    gain = dm.planning.policy_gain(world.drifting.anchor(0), [3] * 13)
    assert gain == pytest.approx((1 - 0.5) * share_of_normal_weeks(12, 0.2, 0.3, harm=0.8), abs=1e-9)


def test_measures_rise_with_the_level_and_are_strictest_under_the_variant():
    anchors = dm.problems.epidemic(horizon=1).drifting.anchors
    usual, variant, summer = (dm.planning.optimal_gain(anchor).policy for anchor in anchors)
    assert all((np.diff(policy) >= 0).all() for policy in (usual, variant, summer))
    assert (variant >= usual).all()
    assert (usual >= summer).all()
    assert [policy[2] for policy in (usual, variant, summer)] == [1, 3, 0]


@pytest.mark.parametrize(
    "extreme",
    [
        {"groups": 1, "levels": 1},
        {"groups": 100, "levels": 100, "recovery": 0.95, "imports": 0.001, "contagion": 0},
        {"groups": 100, "levels": 1, "recovery": 0.05, "imports": 0.5, "contagion": 5, "strength": 0},
    ],
)
def test_extremes_communicate_and_have_a_gain(extreme):
    drifting = dm.problems.epidemic(**extreme, horizon=3, cycles=1).drifting
    assert all(dm.planning.is_communicating(anchor) for anchor in drifting.anchors)
    assert np.isfinite(dm.planning.optimal_gains(drifting)).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"groups": 101}, "groups must be at most 100; got 101."),
        ({"levels": 41}, "levels must be at most 40; got 41."),
        ({"levels": 0}, "levels must be at least 1; got 0."),
        ({"contagion": -1}, "contagion must be at least 0; got -1."),
        ({"contagion": 6}, "contagion must be at most 5; got 6."),
        ({"imports": 0}, "imports must be at least 0.001; got 0."),
        ({"recovery": 1}, "recovery must be at most 0.95; got 1."),
        ({"strength": 1.5}, "strength must be at most 1; got 1.5."),
        ({"harm": 0.9}, "harm must be at most 0.8; got 0.9."),
        ({"burden": 0.7}, "burden must be at most 0.6; got 0.7."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
        ({"changes": 0.5}, "changes must be a whole number; got 0.5."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.epidemic(**wrong)
    assert str(caught.value) == sentence
