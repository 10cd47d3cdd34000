"""The lock against its story, told again in plain Python, and against the return of an episode in closed form."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.combination_lock import REGIMES

SMALL = {"length": 4, "n_actions": 3, "success": 0.9, "low_prize": 0.3, "consolation": 0.2, "horizon": 8}


def told(name, action, right, rich, opened):
    """One step of SMALL as the story tells it: {next state: chance} and the mean reward."""
    comfort = 0.2 / 4
    if name == "start":
        lock = opened if action == 0 else 1 - opened
        return {f"lock {lock}, step 2": 0.9, f"lock {1 - lock}, step 2": 0.1}, 0.0
    place, step = name.split(", step ")
    step = int(step)
    if place == "sink":
        return {"start" if step == 4 else f"sink, step {step + 1}": 1.0}, comfort
    if step == 4:
        return {"start": 1.0}, 1.0 if place == f"lock {rich}" else 0.3
    if action != right[name]:
        return {f"sink, step {step + 1}": 1.0}, comfort
    return {f"{place}, step {step + 1}": 0.9, f"sink, step {step + 1}": 0.1}, 0.1 * comfort


def right_actions(mdp):
    """Read off the actions that turn a dial, which the seed selects."""
    names = mdp.space.state_names
    dials = [name for name in names if name[:4] == "lock" and name[-1] in "23"]
    ahead = {name: names.index(f"{name[:-1]}{int(name[-1]) + 1}") for name in dials}
    turning = {n: [a for a in range(3) if mdp.successors(names.index(n), a)[ahead[n]] > 0] for n in dials}
    assert all(len(actions) == 1 for actions in turning.values())
    return {name: actions[0] for name, actions in turning.items()}


def test_every_pair_of_every_regime_does_what_the_story_tells():
    problem = dm.problems.combination_lock(**SMALL)
    names, right = problem.space.state_names, right_actions(problem.drifting.anchor(0))
    for anchor, (rich, opened) in zip(problem.drifting.anchors, [(0, 0), (1, 0), (1, 1), (0, 1)], strict=True):
        for state, name in enumerate(names):
            for action in range(3):
                chances, reward = told(name, action, right, rich, opened)
                assert anchor.successors(state, action) == pytest.approx([chances.get(n, 0.0) for n in names])
                assert anchor.reward(state, action) == pytest.approx(reward)


@pytest.mark.parametrize(("length", "success"), [(3, 0.9), (5, 0.98), (9, 1.0)])
def test_the_optimal_gain_is_an_episodes_return_in_closed_form(length, success):
    """The prize with the chance of all dials, what the sink pays otherwise, and a slip at the door."""
    problem = dm.problems.combination_lock(length, success=success, horizon=1, drift="stationary")
    comfort, dials = 0.125 / length, range(length - 2)
    slips = sum(success**k * (1 - success) * comfort * (length - 1 - k) for k in dials)
    good, poor = (success ** (length - 2) * prize + slips for prize in (1.0, 0.25))
    best = (success * good + (1 - success) * poor) / length
    assert dm.planning.optimal_gain(problem.drifting.at(1)).gain == pytest.approx(best, abs=1e-9)


def test_abrupt_swaps_the_prizes_every_thousand_of_five_thousand_episodes():
    drifting = dm.problems.combination_lock(horizon=25_000, drift="abrupt", changes=4).drifting
    variation, ends = drifting.variation(), [drifting.space.pair(7, 0), drifting.space.pair(8, 0)]
    assert variation.transition == 0.0
    assert (np.flatnonzero(variation.reward_steps) + 1).tolist() == [5000, 10_000, 15_000, 20_000]
    assert [drifting.rewards_at(t)[ends].tolist() for t in (1, 5001, 25_000)] == [[1, 0.25], [0.25, 1], [1, 0.25]]


def test_gradual_turns_the_doors_linearly_and_moves_no_reward():
    drifting = dm.problems.combination_lock(horizon=11, drift="gradual").drifting
    first_lock = [drifting.at(t).successors(0, 0)[1] for t in range(1, 12)]
    assert first_lock == pytest.approx(np.linspace(0.98, 0.02, 11))
    assert drifting.variation().reward == 0.0


def test_the_default_lock_drifts_and_changes_the_best_door():
    problem = dm.problems.combination_lock()
    variation = problem.drifting.variation()
    assert min(variation.reward, variation.transition) > 1
    optima = [dm.planning.optimal_gain(anchor) for anchor in problem.drifting.anchors]
    assert len(optima) == len(REGIMES)
    assert [int(optimum.policy[0]) for optimum in optima] == [0, 1, 0, 1]
    oracle = dm.planning.optimal_gains(problem.drifting).mean()
    random = dm.simulate(dm.agents.Random(problem.space), problem, seed=0).mean_rewards.mean()
    assert oracle > random + 0.1


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"length": 2}, "length must be at least 3; got 2."),
        ({"n_actions": 1}, "n_actions must be at least 2; got 1."),
        ({"success": 0}, "success must be at least 0.05; got 0."),
        ({"low_prize": 2}, "low_prize must be at most 1; got 2."),
        ({"consolation": -1}, "consolation must be at least 0; got -1."),
        ({"seed": -1}, "seed must be at least 0; got -1."),
        ({"drift": "gradual", "horizon": 0}, "horizon must be at least 1; got 0."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
    ],
)
def test_a_bad_value_is_answered_with_one_sentence(parameters, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.combination_lock(**parameters)
    assert str(caught.value) == sentence
