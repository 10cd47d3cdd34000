"""Adaptive, asked and told: small and odd worlds, jumps, and what it says of itself."""

import math
import warnings

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.adaptive_play import (
    PRIOR,
    PROBLEMS,
    adaptive,
    assert_lawful,
    known_pairs,
    play,
    played,
    random_steps,
    state_of,
)

# Small and odd worlds. -----------------------------------------------------------------------------------


def test_one_state_and_one_action():
    agent = dm.agents.Adaptive(dm.Space.uniform(1, 1))
    assert random_steps(agent, 300) == agent.act(0) == 0
    assert_lawful(agent)
    assert agent.counts().tolist() == [300]


def test_one_state_and_many_actions():
    agent = dm.agents.Adaptive(dm.Space.uniform(1, 100))
    for _ in range(600):
        action = agent.act(0)
        agent.observe(1.0 if action == 17 else 0.1, 0)
    agent.act(0)
    assert_lawful(agent)
    assert agent.counts().argmax() == 17


def test_many_states():
    agent = dm.agents.Adaptive(dm.Space.uniform(3000, 2))
    agent.act(random_steps(agent, 200))
    assert_lawful(agent)


def test_ties_go_to_the_least_tried_and_then_to_the_lowest():
    agent = dm.agents.Adaptive(dm.Space([4]))
    for t in range(100):
        assert agent.act(0) == t % 4
        agent.observe(1.0, 0)  # nothing can be hoped to be better


def test_a_range_of_one_point():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2), reward_range=(3.0, 3.0))
    agent.act(random_steps(agent, 50, reward=lambda rng: 3.0))
    assert_lawful(agent)


@pytest.mark.parametrize("reward", [5.0, -1e150])
def test_rewards_far_outside_of_the_range_are_clipped_and_warned_of_once(reward):
    agent, clipped = (dm.agents.Adaptive(dm.Space.uniform(2, 2)) for _ in range(2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        random_steps(agent, 100, reward=lambda rng: reward)
    assert len(caught) == 1
    assert "far outside reward_range (0, 1): Adaptive clips them" in str(caught[0].message)
    random_steps(clipped, 100, reward=lambda rng: min(1.0, max(0.0, reward)))
    assert state_of(agent) == state_of(clipped)


def test_wide_noise_on_both_sides_of_the_range_is_not_doubted():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        random_steps(agent, 100, reward=lambda rng: rng.choice([-0.5, 1.5]))


def test_a_reward_that_is_no_number_is_refused_and_changes_nothing():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
    agent.act(random_steps(agent, 30))
    before = state_of(agent)
    for reward in (math.nan, math.inf, -math.inf, 1e200, None, "1"):
        with pytest.raises(InvalidInputError, match="reward must be"):
            agent.observe(reward, 0)
    assert state_of(agent) == before
    agent.observe(np.float32(0.5), np.int8(0))
    assert agent.t == 32


def test_a_jump_is_no_transition():
    agent = dm.agents.Adaptive(dm.Space.uniform(3, 1))
    agent.act(0)
    agent.observe(0.5, 1)
    agent.act(2)  # not where it was led to
    agent.observe(0.5, 0)
    agent.act(1)
    assert {pair: list(chances) for pair, (_, _, _, chances) in known_pairs(agent).items()} == {
        (0, 0): [1],
        (2, 0): [0],
    }
    assert_lawful(agent)


def test_what_was_really_done_is_learned():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 3))
    advised = agent.act(0)
    agent.observe(0.7, 1, action=2)
    assert advised != 2
    assert agent.counts().tolist() == [0, 0, 1, 0, 0, 0]
    assert [reason.count for reason in agent.explain(0)] == [0, 0, 1]


@pytest.mark.parametrize("n_states", [3, 20])
def test_asking_twice_changes_nothing(n_states):
    once, twice = (dm.agents.Adaptive(dm.Space.uniform(n_states, 3)) for _ in range(2))
    rng, state = np.random.default_rng(3), 0
    for _ in range(100):
        action = once.act(state)
        assert [twice.act(np.int32(state)) for _ in range(3)] == [action] * 3
        assert state_of(once) == state_of(twice)
        reward, state = float(rng.random()), int(rng.integers(n_states))
        for agent in (once, twice):
            agent.observe(reward, state)


def test_reset_forgets_everything():
    agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
    new = state_of(agent)
    random_steps(agent, 60)
    agent.reset()
    assert state_of(agent) == new


# What it says of itself. ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["abrupt", "a bandit", "a shop", "beyond the first capacity"])
def test_it_explains_what_it_does(name):
    problem = PROBLEMS[name]()
    agent, last, (low, high) = adaptive(problem), {}, problem.reward_range

    def look(state, action):
        reasons = agent.explain(state)
        assert [reason.action for reason in reasons] == list(range(problem.space.n_actions[state]))
        best = max(reason.value for reason in reasons)
        ties = [reason for reason in reasons if reason.value >= best - 1e-9 * (high - low)]
        assert min(ties, key=lambda reason: (reason.count, reason.action)).action == action
        for reason in reasons:
            assert reason.count == agent.counts()[problem.space.pair(state, reason.action)]
            assert reason.age == (agent.t - last[state, reason.action] if reason.count else 0)
            assert low - 1e-9 <= reason.hoped_reward <= high + 1e-9
            assert 0 <= reason.worth <= reason.count + 1e-8
            assert math.isnan(reason.reward) if reason.count == 0 else low - 1e-9 <= reason.reward <= high + 1e-9
        last[state, action] = agent.t

    play(agent, problem, 6, after_act=look)


def test_before_it_began_there_is_nothing_to_explain():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2), (0.0, 10.0))
    assert all(math.isnan(reason.value) and reason.hoped_reward == 10 for reason in agent.explain(1))
    assert str(agent.explain(1)).splitlines()[0] == "action 0: promises nan, never tried"
    with pytest.raises(InvalidInputError, match="There is no plan yet"):
        _ = agent.last_plan
    summary = agent.summary()
    assert summary["transition_weights"] == summary["reward_weights"] == pytest.approx(PRIOR)
    assert summary["reward_memory"] == summary["transition_memory"] == summary["age"] == 1
    assert summary["rewards_move"] == 0


def test_its_summary_agrees_with_its_weights():
    problem = PROBLEMS["abrupt"]()
    agent = played(problem, 7)
    summary, weights = agent.summary(), agent._weights
    usual = int(weights.judged[:, 0].argmax())
    assert set(summary) == {
        *("age", "reward_memory", "transition_memory", "rewards_move", "reward_weights", "transition_weights")
    }
    assert summary["age"] == 2**usual
    reach = np.log([*(min(4 * 3.0 ** (k - 1), problem.horizon) for k in range(10)), problem.horizon])
    for name in ("reward", "transition"):
        row = getattr(weights, f"{name}s")[usual]
        assert summary[f"{name}_weights"] == row.tolist()
        assert math.isclose(summary[f"{name}_memory"], math.exp(row @ reach), rel_tol=1e-9)
    low, high = problem.reward_range
    assert math.isclose(summary["rewards_move"], (high - low) * math.sqrt(weights.drift[usual]))
    assert dm.simulate(adaptive(problem), problem, seed=7).summary == summary


def test_the_range_is_not_doubted_after_a_compiled_run_within_it():
    space = dm.Space.uniform(2, 2)
    world = dm.Mdp(space, [100.2, 100.4, 100.6, 100.8], [[0.5, 0.5]] * 4)
    problem = dm.Problem(dm.DriftingMdp([world], np.ones((50, 1))))
    (player,) = dm.simulation.simulate_until(dm.agents.Adaptive(space, (100.0, 101.0)), problem, seed=1, steps=[40])
    player.act(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        player.observe(101.01, 1)


def test_the_last_plan_is_one_that_was_made():
    agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
    agent._params = agent._params._replace(every=4)  # as with very many known transitions
    random_steps(agent, 10)
    assert agent.n_plans == 2
    assert agent.last_plan.t == 8
    assert agent.last_plan.sweeps >= 1
