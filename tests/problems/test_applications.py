"""What the seven worlds of applications have in common: they drift as their words say, and a good policy pays."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.schedules import DRIFTS

APPLICATIONS = ("queue", "maintenance", "wireless", "healthcare", "epidemic", "choice", "transport")
ELSEWHERE = ("combination-lock", "random-mdp", "frozen-lake", "bridge")
CYCLES = {"slow": 1, "seasonal": 5, "fast": 20, "reward-only": 2, "transition-only": 2}


def random_gain(mdp):
    """The exact gain of uniformly random play: the stationary law of its chain, times its mean rewards."""
    offsets, size = mdp.space.offsets, mdp.space.n_states
    share = 1 / np.diff(offsets)
    chain = np.add.reduceat(mdp.transitions.toarray(), offsets[:-1]) * share[:, None]
    equations = np.vstack([chain.T - np.eye(size), np.ones(size)])
    law = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    return law @ (np.add.reduceat(mdp.rewards, offsets[:-1]) * share)


@pytest.mark.parametrize("name", [*APPLICATIONS, *ELSEWHERE])
def test_with_all_defaults_a_world_drifts_has_its_name_and_random_play_is_poor(name):
    problem = dm.problems.make(name)
    assert problem.name == f"{name}-v1"
    assert min(problem.budget()) > 1
    low, high = problem.reward_range
    best = dm.planning.optimal_gains(problem.drifting).mean()
    random = np.mean([random_gain(problem.drifting.at(t)) for t in range(1, problem.horizon + 1, 50)])
    assert best - random > 0.05 * (high - low)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_drift_moves_what_it_says_and_as_often(name, drift):
    moves = {"stationary": (False, False), "reward-only": (True, False), "transition-only": (False, True)}
    problem = dm.problems.make(name, drift=drift, horizon=600)
    assert tuple(budget > 0 for budget in problem.budget()) == moves.get(drift, (True, True))
    if drift in CYCLES:
        once = dm.problems.make(name, drift=drift, horizon=600 // CYCLES[drift], cycles=1)
        period = once.horizon
        for t in (1, period // 3, period):  # whole cycles repeat
            last = problem.horizon - period + t
            assert (problem.drifting.rewards_at(last) == problem.drifting.rewards_at(t)).all()
            np.testing.assert_allclose(problem.drifting.rewards_at(t), once.drifting.rewards_at(t), atol=1e-9)
    if drift == "abrupt":
        assert np.count_nonzero(np.diff(problem.drifting.weights.index)) == 5


@pytest.mark.parametrize("name", [*APPLICATIONS, *ELSEWHERE])
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"cycles": 1e308}, "cycles must be at most 1e+09; got 1e+308."),
        ({"changes": 2**62, "drift": "abrupt"}, "changes must be at most 1e+09; got 4.61169e+18."),
    ],
)
def test_no_number_of_cycles_or_changes_is_too_large_for_a_sentence(name, wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.make(name, **wrong)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: dm.problems.bridge(drift="gradual", cycles="x"), "cycles must be a finite number; got 'x'."),
        (lambda: dm.problems.combination_lock(drift="gradual", changes=-1), "changes must be at least 0; got -1."),
        (
            lambda: dm.problems.random_mdp(drift="stationary", n_anchors=None),
            "n_anchors must be a whole number; got None.",
        ),
    ],
)
def test_a_parameter_that_a_drift_does_not_use_is_checked_too(make, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        make()
    assert str(caught.value) == sentence


def test_a_parcel_larger_than_the_battery_fills_it():
    huge, full = (dm.problems.wireless(battery=3, parcel=parcel, horizon=9) for parcel in (2**63 - 1, 3))
    assert (huge.drifting.at(5).transitions != full.drifting.at(5).transitions).nnz == 0


def test_a_count_of_successes_alone_is_the_top_of_the_range():
    low, high = -0.3, 0.1
    assert low + (high - low) > high  # by rounding
    world = dm.DriftingMdp.stationary(dm.Mdp(dm.Space.uniform(1, 1), [high], [[1.0]]), 1)
    problem = dm.Problem(world, noise="binomial(10)", reward_range=(low, high))
    assert problem.sample(1, 0, 0, problem.draw_noise(np.random.default_rng(1))).reward == high
