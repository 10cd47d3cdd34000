"""RestartQ: its stages, restarts and defaults. tests/reference has its steps."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.agents import RestartQ
from driftmdp.agents.restart_q import tuned_restarts, usual_episode
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import random_problem

SPACE = dm.Space.uniform(2, 2)


def walk(agent, steps):
    for _ in range(steps):
        agent.act(0)
        agent.observe(0.5, 0)
    return agent


def test_stages_double_where_an_episode_is_one_step():
    """e_1 = 1 and e_{i+1} = floor((1 + 1/1) e_i): stages end after 1, 3, 7, ... visits."""
    agent = RestartQ(dm.Space.uniform(1, 1), 1000, restart_every=1000)
    assert agent.episode == 1
    ends = [t for t in range(1, 70) if walk(agent, 1).summary().updates > np.floor(np.log2(t))]
    assert ends == [1, 3, 7, 15, 31, 63]


def test_a_value_is_the_mean_of_its_stage_plus_the_bonus():
    agent = walk(RestartQ(dm.Space.uniform(1, 1), 1000, restart_every=1000, delta=2 / np.e, scale=0.01), 3)
    assert agent._arrays.values[0, 0] == pytest.approx(
        0.5 + 0.02 / np.sqrt(2)
    )  # H = iota = 1: both parts are equal


def test_after_a_restart_it_knows_nothing():
    problem = random_problem(5, 300, n_states=3)
    agent = RestartQ.for_problem(problem, episode=4, restart_every=5)
    fresh = agent.copy()
    walk(agent, 20)
    for name in ("cells", "values"):
        np.testing.assert_array_equal(getattr(agent._arrays, name), getattr(fresh._arrays, name))
    assert walk(agent, 25).summary().restarts == (21, 41)


def test_restarts_follow_the_variation():
    assert tuned_restarts(SPACE, 1000, 10, 0.0) == 100
    assert tuned_restarts(SPACE, 4000, 10, 1.0) == 40  # (T / SA)^(1/3) = 10 epochs of 400 episodes
    assert tuned_restarts(SPACE, 4000, 10, 1e9) == 1
    still = dm.problems.river_swim(horizon=500)
    assert dm.simulate(RestartQ.for_problem(still), still, seed=1).summary.restarts == ()


def test_epochs_and_variations_of_any_size():
    """Neither episodes times steps nor the variation squared may overflow."""
    agent = RestartQ(SPACE, 2**62, episode=4, restart_every=2**62, scale=0.01)  # 2^64 steps per epoch
    assert walk(agent, 40).summary().updates > 0
    problem = dm.problems.two_state(horizon=500)
    assert RestartQ.for_problem(problem, reward_range=(0.0, 1e-200)).restart_every == 1


def test_after_the_last_step_it_still_knows_what_it_learned():
    for every in (5, 10):  # an epoch ends with the last step
        agent = walk(RestartQ(SPACE, 20, episode=2, restart_every=every, scale=0.001), 20)
        assert min(reason.value for reason in agent.explain(0)) < 2.0


def test_the_usual_episode():
    assert usual_episode(dm.Space.uniform(1, 5), 10**6) == 1
    assert usual_episode(SPACE, 4 * 3**9) == 3
    assert usual_episode(SPACE, 1) == 1


def test_it_learns():
    problem = dm.problems.bandit(horizon=5000, drift="abrupt")
    regret = {
        kind: dm.simulate(kind.for_problem(problem, **given), problem, seed=1).dynamic_regret(problem)[-1]
        for kind, given in ((RestartQ, {"scale": 0.1}), (dm.agents.Random, {}))
    }
    assert regret[RestartQ] < 0.5 * regret[dm.agents.Random]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"episode": 0}, "episode must be at least 1; got 0"),
        ({"episode": 101}, "episode must be at most 100; got 101"),
        ({"restart_every": 0}, "restart_every must be at least 1; got 0"),
        ({"restart_every": 1.5}, "restart_every must be a whole number; got 1.5"),
        ({"delta": 0.0}, "delta must be at least 1e-300; got 0"),
        ({"delta": 1.5}, "delta must be at most 1; got 1.5"),
        ({"scale": -1.0}, "scale must be at least 0; got -1"),
        ({"reward_range": (1, 0)}, "reward_range must be two finite numbers"),
    ],
)
def test_bad_parameters_get_a_sentence(given, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        RestartQ(SPACE, **{"horizon": 100} | given)


def test_what_cannot_fit_is_refused():
    with pytest.raises(InvalidInputError, match="RestartQ with 1,000,000,000 values for every pair must fit"):
        RestartQ(dm.Space.uniform(1000, 100), 10**9, episode=10**9)
