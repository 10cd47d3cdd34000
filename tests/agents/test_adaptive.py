"""Adaptive against its pseudo-code (tests/reference/adaptive.py), its guarantees, and what always holds of it."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from tests.agents.adaptive_play import (
    PROBLEMS,
    adaptive,
    assert_lawful,
    assert_same,
    oracle_of,
    play,
    random_steps,
)
from tests.agents.worlds import random_problem, world_draws
from tests.reference.adaptive import Adaptive as Reference

problems = dm.problems


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_does_what_the_pseudo_code_says(name):
    """Where the oracle would do otherwise, its values tie, to rounding; it follows the agent."""
    problem = PROBLEMS[name]()
    agent, oracle = adaptive(problem), oracle_of(problem)
    run = dm.simulate(agent, problem, seed=3)
    draws, state = world_draws(problem, 3), problem.start
    for t in range(1, problem.horizon + 1):
        action = agent.act(state)
        oracle.act(state)
        assert oracle.values[action] >= max(oracle.values) - 1e-6
        oracle.doing = state, action
        assert_same(agent, oracle)
        assert (run.states[t - 1], run.actions[t - 1], run.sweeps[t - 1]) == (state, action, oracle.sweeps)
        sample = problem.sample(t, state, action, draws)
        state = int(sample.next_state)
        agent.observe(float(sample.reward), state)
        oracle.observe(float(sample.reward), state)
    assert len(oracle.judged) > problem.horizon / 3


def test_surprises_are_as_in_the_pseudo_code():
    """After 260 steps without any error, one that is far larger than expected."""
    agent, oracle = dm.agents.Adaptive(dm.Space([1])), Reference([1])
    for t in range(300):
        oracle.act(0)
        oracle.doing = 0, agent.act(0)
        assert_same(agent, oracle)
        for learner in (agent, oracle):
            learner.observe(float(t >= 260), 0)


def test_ties_go_to_the_least_tried_and_then_to_the_lowest():
    agent, oracle = dm.agents.Adaptive(dm.Space([4])), Reference([4])
    for t in range(100):
        assert agent.act(0) == oracle.act(0) == t % 4
        for learner in (agent, oracle):
            learner.observe(1.0, 0)  # nothing can be hoped to be better


# The guarantees of docs/adaptive.md. ---------------------------------------------------------------------


@functools.cache
def judged():
    """The logarithms of q (n, 10) of one run, and of the mixture's (n,)."""
    problem = random_problem(4, 150, n_states=3)
    oracle = oracle_of(problem)
    play(oracle, problem, 1)
    q = np.array([said for _, said in oracle.judged])
    return np.log(q), np.log([weights @ said for weights, said in oracle.judged])


def price(memories):
    """What the right side of guarantee 1 adds to the loss of a sequence of memories."""
    switches = sum(a != b for a, b in itertools.pairwise(memories))
    stays = len(memories) - 1 - switches
    return math.log(10) + switches * math.log(10 / 0.003) + stays * math.log(1 / 0.997)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 120)), min_size=1, max_size=30))
def test_weights_lose_little_to_any_sequence_of_memories(stretches):
    said, mixed = judged()
    memories = [k for k, length in stretches for _ in range(length)]
    memories = (memories * len(said))[: len(said)]
    losses = -said[np.arange(len(said)), memories]
    assert -mixed.sum() <= losses.sum() + price(memories) + 1e-9
    n = len(said) // 2  # and at any time
    assert -mixed[:n].sum() <= losses[:n].sum() + price(memories[:n]) + 1e-9


def test_weights_lose_little_to_the_best_sequence_in_hindsight():
    said, mixed = judged()
    best = -said[0] + math.log(10)
    for row in said[1:]:
        best = np.minimum(best + math.log(1 / 0.997), best.min() + math.log(10 / 0.003)) - row
    assert -mixed.sum() <= best.min() + 1e-9
    assert -mixed.sum() < -said.sum(axis=0).min() + math.log(10) + len(said) * math.log(1 / 0.997)


@pytest.mark.parametrize("first", [1.0, 0.99, 0.5, 0.0])
@pytest.mark.parametrize("n_states", [1, 3])
def test_every_action_is_tried_however_good_the_first_was(first, n_states):
    agent, state = dm.agents.Adaptive(dm.Space.uniform(n_states, 3)), 0
    for t in range(600):
        action = agent.act(state)
        state = t % n_states
        agent.observe(first if action == 0 else 0.0, state)
    assert agent.counts().min() > 0


def test_every_action_is_tried_in_a_garnet():
    problem = problems.garnet(4, 4, 2, horizon=3000, drift="slow")
    run = dm.simulate(adaptive(problem), problem, seed=1)
    pairs = set(zip(run.states.tolist(), run.actions.tolist(), strict=False))
    assert {(s, a) for s in {s for s, _ in pairs} for a in range(4)} <= pairs


@pytest.mark.parametrize("noise", ["none", "bernoulli"])
def test_it_is_anytime(noise):
    long = problems.river_swim(horizon=2000, noise=noise)
    short = problems.river_swim(horizon=500, noise=noise)
    agent = adaptive(long)
    whole = play(agent, long, 5)
    assert play(adaptive(short), long, 5, steps=500) == whole[:500]
    run = dm.simulate(adaptive(long), long, seed=5)
    assert list(zip(run.states.tolist(), run.actions.tolist(), strict=False))[:500] == whole[:500]


@pytest.mark.parametrize("name", ["two states", "abrupt", "a bandit", "a shop"])
@pytest.mark.parametrize(("a", "b"), [(2.0, 0.0), (3.7, -11.3), (1e-3, 5.0)])
def test_units_do_not_matter(name, a, b):
    problem = PROBLEMS[name]()
    low, high = problem.reward_range
    other = dm.agents.Adaptive(problem.space, (a * low + b, a * high + b))
    assert play(other, problem, 2, change=lambda reward: a * reward + b) == play(adaptive(problem), problem, 2)


def test_a_step_has_bounded_work():
    problem = problems.garnet(30, 4, 5, horizon=1500, noise="bernoulli")
    run = dm.simulate(adaptive(problem), problem, seed=0)
    assert 1 <= run.sweeps.min() <= run.sweeps.max() <= 10


# Laws. ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two states", "abrupt", "a bandit", "a shop", "ragged", "more than 32 pairs"])
def test_laws_hold_at_every_step(name):
    problem = PROBLEMS[name]()
    agent, times = adaptive(problem), itertools.count(1)

    def look(state, action):
        assert agent.t == next(times)
        assert agent.last_plan.t == agent.t
        assert_lawful(agent)

    done = play(agent, problem, 4, after_act=look)
    assert agent.t == problem.horizon + 1
    assert agent.n_plans == problem.horizon
    assert agent.counts().sum() == problem.horizon
    pairs = [problem.space.pair(state, action) for state, action in done]
    assert agent.counts().tolist() == np.bincount(pairs, minlength=problem.space.n_pairs).tolist()


@pytest.mark.parametrize(
    "reward", [lambda rng: 0.0, lambda rng: 1.0, lambda rng: 0.3, lambda rng: float(rng.integers(2)), None]
)
def test_laws_hold_after_many_steps_of_any_reward(reward):
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
    state = random_steps(agent, 2000, reward=reward or (lambda rng: 1e-160 * float(rng.random())))
    agent.act(state)
    assert_lawful(agent)


def test_time_may_be_very_late():
    for late in (2**31 - 5, 2**40, 2**61):
        agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
        state = random_steps(agent, 50)
        agent._plan.facts["t"] = late
        agent.act(state)
        assert_lawful(agent)
        agent.observe(0.5, 0)
        random_steps(agent, 20)
        agent.act(0)
        assert_lawful(agent)
        assert agent.t == late + 21


def test_a_far_state_that_bad_luck_hid_is_met_in_the_end():
    """Twelve tries did not lead from the last state but one to the last; with doubt by visits alone it gave up."""
    problem = problems.river_swim(n_states=6, horizon=5000)
    run = dm.simulate(adaptive(problem), problem, seed=232)
    assert run.dynamic_regret(problem)[-1] < 400
