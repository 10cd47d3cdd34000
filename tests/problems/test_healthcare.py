from itertools import product

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.planning import is_communicating, optimal_gain, optimal_gains, policy_gain
from driftmdp.problems.healthcare import REGIMES
from tests.problems.tables import rewards_of, transitions_of

DRUGS = {"drug_a": 0.3, "drug_b": 0.5, "reserve": 0.6, "burden_a": 0.1, "burden_b": 0.2, "burden_reserve": 0.4}
COURSE = {"natural": 0.1, "worsen": 0.2, "build": 0.3, "fade": 0.15, "discharge": 0.25}


def scaled(chance, factor):
    odds = factor * chance / (1 - chance)
    return odds / (1 + odds)


def day(condition, level, treatment, strain):
    """The chance of a good day and the next state's law, by going through everything that can happen in a day."""
    good, following = 0.0, [0.0] * 12
    works = [0, scaled(0.3, strain.drug_a), scaled(0.5, strain.drug_b), 0.6 * (3 - level) / 3][treatment]
    spoils = [0, 0.1, 0.2, 0.4][treatment]
    worsens = scaled(0.2, strain.worsen)
    level_moves = 0.3 if treatment == 3 else 0.15
    for nature, drug, worse, moves in product((True, False), repeat=4):
        chance = (0.1 if nature else 0.9) * (works if drug else 1 - works)
        chance *= (worsens if worse else 1 - worsens) * (level_moves if moves else 1 - level_moves)
        evening = condition
        if nature or drug:
            evening = max(condition - 1, 0)
        elif worse:
            evening = min(condition + 1, 3)
        good += chance * (1 - spoils) * [1.0, 0.6, 0.3, 0.0][evening]
        after = level
        if moves:
            after = min(level + 1, 2) if treatment == 3 else max(level - 1, 0)
        if evening > 0:
            following[3 * evening + after] += chance
        else:
            following[after] += chance * 0.75
            for newcomer, share in ((1, 0.5), (2, 0.35), (3, 0.15)):
                following[3 * newcomer + after] += chance * 0.25 * share
    return good, following


@pytest.mark.parametrize("name", REGIMES)
def test_anchors_are_what_can_happen_in_a_day(name):
    world = dm.problems.healthcare(levels=3, **DRUGS, **COURSE, horizon=6)
    mdp = world.drifting.anchor([*REGIMES].index(name))
    for condition, level in product(range(4), range(3)):
        expected = [day(condition, level, treatment, REGIMES[name]) for treatment in range(4)]
        state = 3 * condition + level
        assert rewards_of(mdp)[state] == pytest.approx([good for good, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[state], [law for _, law in expected], atol=1e-12)


@pytest.mark.parametrize(("drug", "effect", "burden"), [(0, 0.0, 0.0), (1, 0.3, 0.1), (2, 0.5, 0.2)])
def test_one_treatment_for_ever_earns_the_reward_of_a_stay_over_its_length(drug, effect, burden):
    """Who never gets worse needs 1 / i days for each condition, and then 1 / d evenings in which to go home."""
    world = dm.problems.healthcare(levels=1, **DRUGS, **COURSE | {"worsen": 0.0}, drift="stationary", horizon=2)
    improve, discharge = 1 - 0.9 * (1 - effect), 0.25
    comfort = [1.0, 0.6, 0.3, 0.0]
    days, good_days = 0.0, 0.0
    for condition, share in ((1, 0.5), (2, 0.35), (3, 0.15)):
        days += share * (condition / improve + 1 / discharge - 1)
        steps = [(1 / improve - 1) * comfort[c] + comfort[c - 1] for c in range(1, condition + 1)]
        good_days += share * (sum(steps) + 1 / discharge - 1)
    gain = (1 - burden) * good_days / days
    assert policy_gain(world.drifting.at(1), [drug] * 4) == pytest.approx([gain] * 4, abs=1e-12)


def test_the_level_under_the_reserve_drug_at_random_is_a_birth_death_chain():
    world = dm.problems.healthcare(levels=4, **DRUGS, **COURSE, horizon=6)
    mdp = world.drifting.anchor(0)
    coin = np.tile([0.5, 0.0, 0.0, 0.5], mdp.space.n_states)
    mass = (0.3 / 0.15) ** np.arange(4)  # build / fade at each level
    share = dm.planning.stationary_distributions(mdp, coin)[0].reshape(4, 4).sum(axis=0)
    assert share == pytest.approx(mass / mass.sum(), abs=1e-12)


def test_drugs_that_do_nothing_and_weigh_nothing_leave_nothing_to_decide():
    nothing = dict.fromkeys(DRUGS, 0.0)
    world = dm.problems.healthcare(levels=2, **nothing, drift="stationary", horizon=2)
    mdp = world.drifting.at(1)
    assert optimal_gain(mdp).gain == pytest.approx(policy_gain(mdp, [0] * 8)[0], abs=1e-9)


def test_with_all_defaults_it_drifts_and_the_optimum_beats_random_play_and_each_strain_has_its_policy():
    world = dm.problems.healthcare()
    variation = world.drifting.variation()
    assert variation.reward > 1
    assert variation.transition > 1
    random = [policy_gain(world.drifting.at(t), np.full(80, 0.25))[0] for t in range(1, 1000, 20)]  # one cycle
    assert optimal_gains(world.drifting).mean() - np.mean(random) > 0.1
    usual, resists_a, resists_b = (optimal_gain(anchor).policy.reshape(4, 5) for anchor in world.drifting.anchors)
    assert usual[:, 4].tolist() == [0, 1, 2, 2]  # well, mild, serious, critical, where the reserve drug is worn out
    assert resists_a[:, 4].tolist() == [0, 2, 2, 2]
    assert resists_b[:, 4].tolist() == [0, 1, 1, 1]
    assert (usual[2:, 0] == 3).all()


@pytest.mark.parametrize(
    "extreme",
    [
        {"levels": 1},
        {"drug_a": 1.0, "drug_b": 1.0, "reserve": 1.0, "worsen": 0.0},
        {"worsen": 1.0, "natural": 0.01, "discharge": 0.01},
        {"build": 1.0, "fade": 1.0, "natural": 0.99, "discharge": 0.99},
        {"burden_a": 1.0, "burden_b": 1.0, "burden_reserve": 1.0},
    ],
)
def test_extremes_communicate(extreme):
    world = dm.problems.healthcare(**extreme, horizon=6)
    assert all(is_communicating(world.drifting.at(t)) for t in range(1, 7))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"levels": 0}, "levels must be at least 1; got 0."),
        ({"drug_a": 1.2}, "drug_a must be at most 1; got 1.2."),
        ({"drug_b": "much"}, "drug_b must be a finite number; got 'much'."),
        ({"reserve": -0.1}, "reserve must be at least 0; got -0.1."),
        ({"burden_a": 2}, "burden_a must be at most 1; got 2."),
        ({"burden_b": 2}, "burden_b must be at most 1; got 2."),
        ({"burden_reserve": 2}, "burden_reserve must be at most 1; got 2."),
        ({"natural": 0}, "natural must be at least 0.01; got 0."),
        ({"worsen": 1.5}, "worsen must be at most 1; got 1.5."),
        ({"build": 0}, "build must be at least 0.01; got 0."),
        ({"fade": 0}, "fade must be at least 0.01; got 0."),
        ({"discharge": 1}, "discharge must be at most 0.99; got 1."),
        ({"changes": -1}, "changes must be at least 0; got -1."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.healthcare(**wrong)
    assert str(caught.value) == sentence
