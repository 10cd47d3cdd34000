from itertools import product
from math import exp

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.transport import REGIMES
from tests.problems.tables import rewards_of, transitions_of

GRID = {"rows": 2, "columns": 3, "horizon": 9}
PEOPLE = {"busy": 0.6, "quiet": 0.2, "reach": 1.5, "stray": 0.3, "base": 2.0, "rate": 3.0, "cost": 0.5}
CENTRES = [(1, 0), (1, 0), (1, 1)]  # of the regimes in a city of two rows and three columns
ZONES = [*product(range(2), range(3))]
WAYS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
STATES = [(z, k) for z, longest in zip(ZONES, (3, 2, 3, 3, 2, 3), strict=True) for k in range(longest)]


def apart(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def chances_of(regime):
    """Chances of a request by zone, and of a destination, from the words of the docstring."""
    traffic, centre = [*REGIMES.values()][regime], CENTRES[regime]
    far = max(apart(zone, centre) for zone in ZONES)
    near = {zone: exp(-apart(zone, centre) / 1.5) for zone in ZONES}
    remote = {zone: exp(-(far - apart(zone, centre)) / 1.5) for zone in ZONES}
    origins, destinations = (remote, near) if traffic.inbound else (near, remote)
    requests = {zone: traffic.demand * (0.2 + 0.4 * origins[zone]) for zone in ZONES}
    law = {zone: 0.3 / 6 + 0.7 * destinations[zone] / sum(destinations.values()) for zone in ZONES}
    return requests, law, traffic.tariff


def step(zone, left, action, requests, law, tariff):
    """The mean reward and the next state's law, by going through everything that can happen in a step."""
    following = dict.fromkeys(STATES, 0.0)
    if action == "ride":
        following[zone, left - 1] += 1.0
        return -0.5, [*following.values()]
    if action != "wait":
        following[(zone[0] + WAYS[action][0], zone[1] + WAYS[action][1]), 0] += 1.0
        return -0.5, [*following.values()]
    earned = 0.0
    following[zone, 0] += 1 - requests[zone]
    for goal in ZONES:
        steps = max(1, apart(zone, goal))
        earned += requests[zone] * law[goal] * (tariff * (2.0 + 3.0 * steps) - 0.5)
        following[goal, steps - 1] += requests[zone] * law[goal]
    return earned, [*following.values()]


@pytest.mark.parametrize("regime", range(3))
def test_anchors_are_what_can_happen_in_a_step(regime):
    mdp = dm.problems.transport(**GRID, **PEOPLE).drifting.anchor(regime)
    assert mdp.space.n_states == len(STATES)
    for state, (zone, left) in enumerate(STATES):
        ways = [way for way, (down, right) in WAYS.items() if (zone[0] + down, zone[1] + right) in ZONES]
        actions = ["ride"] if left else ["wait", *ways]
        assert mdp.space.action_names[state] == tuple(actions)
        expected = [step(zone, left, action, *chances_of(regime)) for action in actions]
        assert rewards_of(mdp)[state] == pytest.approx([earned for earned, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[state], [row for _, row in expected], atol=1e-12)


@pytest.mark.parametrize("regime", range(3))
def test_who_never_drives_empty_earns_the_renewal_reward(regime):
    """Zones of idleness have the law of destinations, and each is left after 1 / l(z) steps on average."""
    mdp = dm.problems.transport(**GRID, **PEOPLE).drifting.anchor(regime)
    requests, law, tariff = chances_of(regime)
    mean_steps = {z: sum(law[j] * max(1, apart(z, j)) for j in ZONES) for z in ZONES}
    earned = sum(law[z] * (tariff * (2 + 3 * mean_steps[z]) - 0.5 * mean_steps[z]) for z in ZONES)
    duration = sum(law[z] * (1 / requests[z] + mean_steps[z] - 1) for z in ZONES)
    gains = dm.planning.policy_gain(mdp, np.zeros(mdp.space.n_states, dtype=int))
    assert gains == pytest.approx(np.full(len(STATES), earned / duration), abs=1e-12)


def test_where_demand_is_equal_everywhere_waiting_is_optimal():
    world = dm.problems.transport(busy=0.3, quiet=0.3, stray=1.0, horizon=3)
    zones = [*product(range(3), range(3))]
    steps = np.mean([max(1, apart(z, j)) for z, j in product(zones, zones)])
    expected = (3 + (4 - 0.6) * steps) / (1 / 0.3 + steps - 1)
    assert dm.planning.optimal_gain(world.drifting.anchor(0)).gain == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("cost", [0.0, 2.0, 4.0, 6.0])
def test_between_two_zones_one_drives_iff_the_saved_waiting_is_worth_it(cost):
    """In the morning of two zones A2 is busy and A1 is where most rides go."""
    world = dm.problems.transport(1, 2, busy=0.8, quiet=0.2, stray=0.5, rate=4.0, cost=cost, horizon=3)
    near, far = 1.0, exp(-1.0)
    goes_to_cold = 0.25 + 0.5 * near / (near + far)
    fare, hot, cold = 7.0 - cost, 0.8, 0.2 + 0.6 * far
    waits = fare / ((1 - goes_to_cold) / hot + goes_to_cold / cold)
    drives = (fare - goes_to_cold * cost) / (1 / hot + goes_to_cold)
    best = dm.planning.optimal_gain(world.drifting.anchor(0))
    assert best.gain == pytest.approx(max(waits, drives), abs=1e-9)
    assert world.space.action_name(0, best.policy[0]) == ("east" if drives > waits else "wait")


def test_defaults_drift_and_the_best_changes_and_beats_random_play():
    problem = dm.problems.transport()
    assert min(problem.budget()) > 0
    best = {tuple(dm.planning.optimal_gain(anchor).policy) for anchor in problem.drifting.anchors}
    assert len(best) == 3
    counts, (low, high) = problem.space.n_actions, problem.reward_range
    cycle = [problem.drifting.at(t) for t in range(1, 1001, 50)]  # one of five equal cycles
    random = [dm.planning.policy_gain(mdp, np.repeat(1 / counts, counts))[0] for mdp in cycle]
    gap = dm.planning.optimal_gains(problem.drifting).mean() - np.mean(random)
    assert gap > 0.2 * (high - low)


@pytest.mark.parametrize(
    "extreme",
    [
        {"rows": 1, "columns": 2},
        {"rows": 1, "columns": 5, "quiet": 0.01, "busy": 1.0, "stray": 0.01, "reach": 0.1},
        {"busy": 0.01, "quiet": 0.01, "reach": 100.0, "base": 0.0, "rate": 0.01, "cost": 1000.0},
        {"busy": 1.0, "quiet": 1.0, "stray": 1.0, "noise": "none"},
    ],
)
def test_extremes_communicate_and_have_a_gain(extreme):
    problem = dm.problems.transport(**({**GRID, **extreme} | {"horizon": 3}))
    assert all(dm.planning.is_communicating(anchor) for anchor in problem.drifting.anchors)
    assert np.isfinite(dm.planning.optimal_gains(problem.drifting)).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"rows": 0}, "rows must be at least 1; got 0."),
        ({"columns": 27}, "columns must be at most 26; got 27."),
        ({"rows": 1, "columns": 1}, "rows x columns must be at least 2; got 1."),
        ({"quiet": 0}, "quiet must be at least 0.01; got 0."),
        ({"busy": 0.05}, "busy must be at least 0.1; got 0.05."),
        ({"busy": 1.5}, "busy must be at most 1; got 1.5."),
        ({"reach": 0}, "reach must be at least 0.1; got 0."),
        ({"stray": 2}, "stray must be at most 1; got 2."),
        ({"base": -1}, "base must be at least 0; got -1."),
        ({"rate": 0}, "rate must be at least 0.01; got 0."),
        ({"cost": -0.5}, "cost must be at least 0; got -0.5."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
        ({"changes": 0.5}, "changes must be a whole number; got 0.5."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.transport(**wrong)
    assert str(caught.value) == sentence
