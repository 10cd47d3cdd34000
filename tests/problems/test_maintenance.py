import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.maintenance import REGIMES
from tests.problems.tables import rewards_of, transitions_of

SMALL = {"levels": 4, "wear": 0.3, "breakdown": 0.2, "quality": 0.9, "loss": 0.5, "horizon": 9}
CARE = {"repair_price": 0.5, "repaired": 0.7, "restores": 2, "installed": 0.4, "emergency": 0.25}


def period(level, action, factor):
    """The mean reward and the next state's law, by going through everything that can happen in a period."""
    good = 0.9 * (1 - 0.5 * factor.loss * level / 4)
    following = [0.0] * 5
    if action == "replace":
        ready = 0.4 * factor.installed * (0.25 if level == 4 else 1.0)
        following[0] += ready
        following[level] += 1 - ready
        return 0.0, following
    mends, price = (0.7, 0.5 * factor.repair_price) if action == "repair" else (0.0, 0.0)
    following[max(level - 2, 0)] += mends
    following[level] += (1 - mends) * price
    breaks, wears = 0.2 * factor.wear * level / 4, 0.3 * factor.wear
    for is_broken, is_worn in ((True, True), (True, False), (False, True), (False, False)):
        chance = (breaks if is_broken else 1 - breaks) * (wears if is_worn else 1 - wears)
        following[4 if is_broken else level + is_worn] += (1 - mends) * (1 - price) * chance
    return good * (1 - price), following


@pytest.mark.parametrize("regime", range(3))
def test_anchors_are_what_can_happen_in_a_period(regime):
    factor = [*REGIMES.values()][regime]
    mdp = dm.problems.maintenance(**SMALL, **CARE).drifting.anchor(regime)
    assert mdp.space.state_names == ("new", "wear 1", "wear 2", "wear 3", "failed")
    for level in range(5):
        expected = [period(level, action, factor) for action in mdp.space.action_names[level]]
        assert len(expected) == [2, 3, 3, 3, 1][level]
        assert rewards_of(mdp)[level] == pytest.approx([earned for earned, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[level], [law for _, law in expected], atol=1e-12)


def renewal_gain(limit, factor):
    """Good periods per period of a cycle from new to new, if the default machine is replaced at a level."""
    reached, good, length = 1.0, 0.0, 0.0  # reached: the chance to come to a level without a sudden failure
    for level in range(limit):
        breaks = 0.02 * factor.wear * level / 11
        leaves = breaks + (1 - breaks) * 0.45 * factor.wear
        good += reached / leaves * 0.95 * (1 - 0.6 * factor.loss * level / 11)
        length += reached / leaves
        reached *= 1 - breaks / leaves
    planned = 0.0 if limit == 11 else reached
    installed = 0.3 * factor.installed
    return good / (length + planned / installed + (1 - planned) / (installed * 0.5))


@pytest.mark.parametrize("regime", REGIMES)
def test_replacing_at_a_level_earns_its_renewal_reward_and_the_best_level_is_optimal(regime):
    factor = REGIMES[regime]
    anchor = dm.problems.maintenance(repaired=0.0).drifting.anchor([*REGIMES].index(regime))
    gains = [renewal_gain(limit, factor) for limit in range(1, 12)]
    for limit, gain in enumerate(gains, start=1):
        policy = [1] * limit + [0] * (12 - limit)
        policy[11] = 0
        assert dm.planning.policy_gain(anchor, policy) == pytest.approx(gain, abs=1e-12)
    best = dm.planning.optimal_gain(anchor, tolerance=1e-10)
    assert best.gain == pytest.approx(max(gains), abs=1e-9)
    limit = 1 + int(np.argmax(gains))
    assert best.policy.tolist() == [1] * limit + [0] * (12 - limit)  # a control limit [D63]


def test_the_kinds_of_work_want_other_care():
    problem = dm.problems.maintenance()
    policies = [dm.planning.optimal_gain(anchor).policy for anchor in problem.drifting.anchors]
    letters = ["".join("X.r"[action] for action in policy) for policy in policies]  # replace, run, repair
    assert letters == ["...rrXXXXXXX", ".rrrrrrXXXXX", "..........XX"]


def test_the_default_drifts_and_knowing_the_work_pays():
    problem = dm.problems.maintenance()
    assert problem.drifting.variation().reward > 1
    assert problem.drifting.variation().transition > 1
    best = dm.planning.optimal_gains(problem.drifting).mean()
    random = dm.simulate(dm.agents.Random(problem.space), problem, seed=1).mean_rewards.mean()
    usual = dm.agents.FixedPolicy(problem.space, dm.planning.optimal_gain(problem.drifting.anchor(0)).policy)
    fixed = dm.simulate(usual, problem, seed=1).mean_rewards.mean()
    assert best - random > 0.25
    assert best - fixed > 0.1 * (best - random)
    assert max(dm.planning.diameter(anchor) for anchor in problem.drifting.anchors) < 100


@pytest.mark.parametrize(
    "extreme",
    [
        {"levels": 1},
        {"wear": 0.5, "breakdown": 0.5, "loss": 0.6, "repair_price": 0.6, "installed": 0.6},
        {"wear": 0.01, "breakdown": 0.0, "installed": 0.01, "emergency": 0.01, "quality": 0.0},
        {"repaired": 1.0, "restores": 100},
        {"repair_price": 0.0, "wear": 0.5, "breakdown": 0.1, "repaired": 0.3},
    ],
)
def test_extremes_communicate_and_have_a_gain(extreme):
    problem = dm.problems.maintenance(**({"levels": 4, "horizon": 3} | extreme), noise="none")
    assert all(dm.planning.is_communicating(anchor) for anchor in problem.drifting.anchors)
    assert np.isfinite(dm.planning.optimal_gains(problem.drifting)).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"levels": 0}, "levels must be at least 1; got 0."),
        ({"quality": 1.1}, "quality must be at most 1; got 1.1."),
        ({"loss": 0.7}, "loss must be at most 0.6; got 0.7."),
        ({"wear": 0.0}, "wear must be at least 0.01; got 0."),
        ({"breakdown": -0.1}, "breakdown must be at least 0; got -0.1."),
        ({"repair_price": 1}, "repair_price must be at most 0.6; got 1."),
        ({"repaired": float("nan")}, "repaired must be a finite number; got nan."),
        ({"restores": 1.5}, "restores must be a whole number; got 1.5."),
        ({"installed": 0.7}, "installed must be at most 0.6; got 0.7."),
        ({"emergency": 0}, "emergency must be at least 0.01; got 0."),
        ({"changes": -1}, "changes must be at least 0; got -1."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.maintenance(**wrong)
    assert str(caught.value) == sentence
