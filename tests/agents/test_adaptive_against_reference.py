"""Adaptive live, compiled, and its pseudo-code (tests/reference): the same actions at every step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from tests.agents.worlds import random_problem, world_draws
from tests.reference.adaptive import ReferenceAdaptive

problems = dm.problems
PROBLEMS = {
    "two states": lambda: problems.two_state(horizon=600),
    "a river": lambda: problems.river_swim(n_states=5, horizon=250, drift="drifting", noise="bernoulli"),
    "a noisy garnet": lambda: problems.garnet(6, 3, 3, horizon=250, drift="abrupt", changes=3, noise="bernoulli"),
    "a bandit": lambda: problems.bandit(4, horizon=250, noise="bernoulli"),
    "ragged": lambda: random_problem(5, 200, n_states=4, noise="gaussian(0.2)"),
    "states never met": lambda: problems.garnet(12, 2, 2, horizon=40),
}


def pair_of_agents(space, reward_range):
    return dm.agents.Adaptive(space, reward_range), ReferenceAdaptive(space, reward_range)


def agree(agent, oracle, state):
    """Let both act. False where they differ, which only a tie to rounding excuses."""
    action, other = agent.act(state), oracle.act(state)
    if action != other:
        values = oracle.values(state)
        assert abs(values[action] - values[other]) < 1e-7, f"t={oracle.t}: {action} instead of {other} of {values}"
    return action == other


def assert_same_actions(problem, seed):
    """Compare up to the first tie to rounding, live. Return how many steps that was."""
    agent, oracle = pair_of_agents(problem.space, problem.reward_range)
    run = dm.simulate(dm.agents.Adaptive.for_problem(problem), problem, seed)
    draws, state = world_draws(problem, seed), problem.start
    for t in range(1, problem.horizon + 1):
        same = agree(agent, oracle, state)
        action = agent.act(state)
        assert (run.states[t - 1], run.actions[t - 1]) == (state, action), f"t={t}: compiled differs from live"
        if not same:
            return t - 1
        sample = problem.sample(t, state, action, draws)
        state = int(sample.next_state)
        for learner in (agent, oracle):
            learner.observe(float(sample.reward), state)
    assert agent.t == oracle.t == problem.horizon + 1
    return problem.horizon


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_does_what_the_pseudo_code_says(name):
    problem = PROBLEMS[name]()
    assert assert_same_actions(problem, seed=3) >= problem.horizon / 4  # ties to rounding are rare


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from(["none", "bernoulli", "gaussian(0.2)", "anchor"]))
def test_it_does_so_in_any_small_world(seed, noise):
    assert_same_actions(random_problem(seed, 80, noise=noise), seed)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**16))
def test_it_does_so_after_jumps_and_actions_that_it_did_not_advise(seed):
    """Steps without rhyme or reason. Some decisions are asked for and not taken."""
    rng = np.random.default_rng(seed)
    space = dm.Space(rng.integers(1, 4, 4))
    agent, oracle = pair_of_agents(space, (-1.0, 3.0))
    for _ in range(80):
        state = int(rng.integers(4))
        for asked in (int(rng.integers(4)), state, state):  # whatever was asked before, and twice
            if not agree(agent, oracle, asked):
                return
        override = int(rng.integers(space.n_actions[state])) if rng.random() < 0.5 else None
        step = float(np.clip(rng.normal(1.0, 0.7), -1.0, 3.0)), int(rng.integers(3))  # the last is never led to
        for learner in (agent, oracle):
            learner.observe(*step, override)
    assert agent.t == oracle.t == 81


def test_it_does_so_when_something_is_tried_again_after_long():
    """A drifting reward, and pairs of many ages: the same actions, for the same weights, drift and doubts."""
    agent, oracle = pair_of_agents(dm.Space([3, 1]), (0.0, 1.0))
    for t in range(400):
        state = int(t % 50 == 49)
        if not agree(agent, oracle, state):
            break
        action = oracle.act(state)
        reward = 0.5 + 0.4 * np.sin(t / (10 + 30 * action)) if state == 0 else 0.2
        for learner in (agent, oracle):
            learner.observe(float(reward), int(t % 50 == 48))
    assert oracle.t > 100
    assert oracle.drift.max() > 0


def test_it_does_so_where_next_states_drift():
    """Which of three actions leads to the state that pays changes: the same ratings, for the same value drift."""
    agent, oracle = pair_of_agents(dm.Space([3, 1, 1]), (0.0, 1.0))
    rng, state, doubted = np.random.default_rng(2), 0, 0
    for t in range(600):
        if not agree(agent, oracle, state):
            break
        action, reward = oracle.act(state), float(state == 1)
        rated = [reason.value for reason in agent.explain(state)]
        assert np.diff(rated) == pytest.approx(np.diff(oracle.values(state)), abs=1e-7)
        doubted += any(pair.values_moved > 0.01 for pair in oracle.pairs.values())
        luck = 0.9 if action == t // 80 % 3 else 0.1
        state = 0 if state else 1 if rng.random() < luck else 2
        for learner in (agent, oracle):
            learner.observe(reward, state)
    assert oracle.t > 400
    assert oracle.value_drift.max() > 0
    assert doubted > 50
