"""Adaptive: its guarantees, and what always holds of it. test_adaptive_against_reference.py has its pseudo-code."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import kernels
from driftmdp.kernels.adaptive_agent_arrays import AdaptiveParams, new_fading_memories, new_memory_weights
from driftmdp.simulation import simulate_until
from tests.agents.adaptive_play import (
    PRIOR,
    PROBLEMS,
    SHARE,
    adaptive,
    assert_finite,
    assert_lawful,
    fixed_problem,
    play,
    played,
    random_steps,
    state_of,
    values_of,
)

problems = dm.problems


# The guarantees of docs/adaptive.md. ---------------------------------------------------------------------


def losses(said):
    """The mixture's losses under logarithms of likelihoods (n, 11), and the weights that it ends with."""
    weights, row, mixed = new_memory_weights(AdaptiveParams(), 1), PRIOR.copy(), []
    for logs in said:
        best = logs.max()
        mixed.append(-best - math.log(row @ np.exp(logs - best)))
        weights.scratch[:] = logs
        kernels.fading_memory.multiply_weights(weights, row, SHARE)
        assert math.isclose(row.sum(), 1.0, abs_tol=1e-12)
        assert row[-1] >= 0.0027 - 1e-15
    return np.array(mixed)


def price(memories):
    """What the right side of guarantee 1 adds to the loss of a sequence of memories."""
    paid = math.log(1 / PRIOR[memories[0]])
    for before, after in itertools.pairwise(memories):
        paid += math.log(1 / (1 - SHARE)) if before == after else math.log(1 / (SHARE * PRIOR[after]))
    return paid


@st.composite
def predictions(draw):
    """Logarithms of likelihoods: random, some so small that they underflow."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0.1, 1.0, 30.0, 900.0]))
    return -scale * rng.random((draw(st.integers(1, 200)), 11)) ** draw(st.sampled_from([1, 4]))


@settings(max_examples=30, deadline=None)
@given(predictions(), st.lists(st.tuples(st.integers(0, 10), st.integers(1, 60)), min_size=1, max_size=20))
def test_weights_lose_little_to_any_sequence_of_memories(said, stretches):
    memories = [k for k, length in stretches for _ in range(length)]
    memories = (memories * len(said))[: len(said)]
    assert losses(said).sum() <= -said[np.arange(len(said)), memories].sum() + price(memories) + 1e-6


@settings(max_examples=30, deadline=None)
@given(predictions())
def test_weights_lose_next_to_nothing_to_the_memory_of_everything(said):
    paid = math.log(1 / 0.9) + len(said) * math.log(1 / (1 - 0.0003))
    assert losses(said).sum() <= -said[:, -1].sum() + paid + 1e-6


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10**6), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(1e-3, 100.0))
def test_no_memory_is_surer_than_everything_of_a_pair_that_never_changed(count, share, fade, alpha):
    fading, weights = new_fading_memories(1, 1), new_memory_weights(AdaptiveParams(), 1)
    visits = fading.sums[0, 0, 0] = 1 + share * (count - 1)
    weights.fades[0] = fade
    kept, worth = kernels.fading_memory.weigh_older(fading, weights, 0, 0, float(count))
    assert 0 < kept <= 1
    assert worth <= count + 1e-8
    said = ((1 - kept) * fade * visits + kept * count) / (worth + alpha)
    assert said <= count / (count + alpha) * (1 + 1e-8)


def test_where_next_states_never_change_everything_is_trusted_for_ever():
    """A cycle with one way back, and rewards like coins."""
    ways = np.eye(4)[[1, 0, 2, 1, 3, 2, 0, 3]]
    agent = played(fixed_problem(np.linspace(0.2, 0.9, 8), ways, 3000, "bernoulli", n_actions=2))
    assert agent._weights.transitions[:, -1].min() >= 0.9 - 1e-9


def test_where_nothing_moves_everything_is_trusted_though_rewards_are_noisy():
    """Measured, not proved: weights at the ages that are judged most, on average over the second half."""
    rows = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = fixed_problem(rng.random(8), rng.dirichlet(np.ones(4), 8), 20_000, "bernoulli", n_actions=2)
        for agent in simulate_until(adaptive(problem), problem, seed, range(10_000, 20_001, 200)):
            summary = agent.summary()
            rows.append((summary["reward_weights"][-1], summary["transition_weights"][-1]))
    assert np.mean(rows, axis=0).min() > 0.9


@pytest.mark.parametrize(
    ("first", "n_states", "n_actions"), [(1.0, 1, 10), (0.99, 1, 10), (0.0, 3, 3), (0.99, 3, 3)]
)
def test_every_action_is_tried_however_good_the_first_was(first, n_states, n_actions):
    agent, state = dm.agents.Adaptive(dm.Space.uniform(n_states, n_actions)), 0
    for t in range(600):
        action = agent.act(state)
        state = t % n_states
        agent.observe(first if action == 0 else 0.0, state)
    assert agent.counts().min() > 0


def test_it_is_anytime():
    long, short = (problems.river_swim(horizon=horizon, noise="bernoulli") for horizon in (2000, 500))
    runs = [dm.simulate(adaptive(problem), long, seed=5) for problem in (long, short)]
    live = play(adaptive(short), long, 5, steps=500)
    for run in runs:
        assert list(zip(run.states.tolist(), run.actions.tolist(), strict=False))[:500] == live


@pytest.mark.parametrize(("name", "a", "b"), [("abrupt", 2.0, 0.0), ("a shop", 3.7, -11.3), ("ragged", 1e-3, 5.0)])
def test_units_do_not_matter(name, a, b):
    problem = PROBLEMS[name]()
    low, high = problem.reward_range
    other = dm.agents.Adaptive(problem.space, (a * low + b, a * high + b))
    assert play(other, problem, 2, change=lambda reward: a * reward + b) == play(adaptive(problem), problem, 2)


def test_a_step_has_bounded_work():
    """Few sweeps, and few pairs that are looked at beside those of the state."""
    problem = problems.garnet(30, 4, 5, horizon=600, noise="bernoulli")
    run = dm.simulate(adaptive(problem), problem, seed=0)
    assert 1 <= run.sweeps.min() <= run.sweeps.max() <= 10
    agent = played(problem)
    before = agent._past.pairs.copy()
    agent.act(0)
    assert 0 < np.count_nonzero(agent._past.pairs != before) <= 16 + 4


# Laws. ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_laws_hold_at_every_step_and_compiled_runs_are_the_same(name):
    problem = PROBLEMS[name]()
    agent, times = adaptive(problem), itertools.count(1)

    def look(state, action):
        assert agent.t == agent.last_plan.t == next(times)
        if agent.t % 7 == 1:
            assert_lawful(agent)

    done = play(agent, problem, 4, after_act=look)
    assert agent.n_plans == problem.horizon
    pairs = [problem.space.pair(state, action) for state, action in done]
    assert agent.counts().tolist() == np.bincount(pairs, minlength=problem.space.n_pairs).tolist()
    assert state_of(played(problem, 4)) == state_of(agent)


REWARDS = {
    "least": lambda rng: 0.0,
    "largest": lambda rng: 1.0,
    "constant": lambda rng: 0.3,
    "coins": lambda rng: float(rng.integers(2)),
    "tiny": lambda rng: 1e-160 * float(rng.random()),
    "rare": lambda rng: float(rng.random() < 0.002),
}


@pytest.mark.parametrize("name", REWARDS)
def test_laws_hold_after_many_steps_of_any_reward(name):
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
    agent.act(random_steps(agent, 1500, reward=REWARDS[name]))
    assert_lawful(agent)


def test_time_may_be_very_late():
    for late in (2**31 - 5, 2**61):
        agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
        state = random_steps(agent, 50)
        agent._plan.facts["t"] = late
        agent.act(state)
        assert_lawful(agent)
        agent.observe(0.5, 0)
        agent.act(random_steps(agent, 20))
        assert_lawful(agent)
        assert agent.t == late + 21


def push_your_luck(n, horizon):
    """Go on for a chance of more, or cash in. A start that is left for ever, a state that nothing leads to."""
    start, lost = n, n + 1
    rewards, transitions = np.zeros(2 * (n + 2)), np.zeros((2 * (n + 2), n + 2))
    for s in range(n):
        transitions[2 * s, 0], rewards[2 * s] = 1.0, (s / n) ** 2
        transitions[2 * s + 1, [min(s + 1, n - 1), 0]] = 0.8, 0.2
    transitions[2 * start :, 0] = 1.0
    rewards[2 * lost :] = 1.0
    problem = fixed_problem(rewards, transitions, horizon, "bernoulli", n_actions=2)
    return dm.Problem(problem.drifting, start=start, noise="bernoulli")


def test_states_left_for_ever_or_never_met_do_not_poison_the_values():
    problem = push_your_luck(6, 20_000)
    for agent in simulate_until(adaptive(problem), problem, 1, range(1000, 20_001, 1000)):
        assert_finite(agent)
        assert values_of(agent).max() < 20
    assert agent.counts()[-4:].tolist() in ([1, 0, 0, 0], [0, 1, 0, 0])
    assert not agent._plan.is_met[7]


def test_values_stay_bounded_where_classes_of_states_never_meet():
    """Two worlds in one, visited in turn by jumps: one pays everything, one nothing."""
    agent = dm.agents.Adaptive(dm.Space.uniform(4, 1))
    for t in range(3000):
        state = 2 * (t // 500 % 2) + t % 2
        agent.act(state)
        agent.observe(float(state < 2), state ^ 1)
        if t % 500 == 499:
            assert_finite(agent)
            assert values_of(agent).max() < 10 * t


def corridor(n, hidden, horizon):
    """A row of states to walk, waiting at its start pays a little. Beyond its end are states hardly met."""
    transitions = np.zeros((3 * (n + hidden), n + hidden))
    for s in range(n):
        transitions[3 * s + np.arange(3), [max(0, s - 1), min(n - 1, s + 1), s]] = 1.0
    transitions[3 * n - 2] = np.repeat([0.0, 0.998, 0.002 / hidden], [n - 1, 1, hidden])
    transitions[3 * n :, 0] = 1.0
    return fixed_problem(np.eye(1, len(transitions), 2)[0] * 0.3, transitions, horizon, n_actions=3)


def test_hopes_for_states_never_met_do_not_swing():
    """They depend on the gain, and the gain on them: compared with the gain of one sweep, no plan would be done."""
    problem = corridor(10, 3, 2000)
    sweeps = dm.simulate(adaptive(problem), problem, seed=3).sweeps
    assert sweeps[-500:].mean() < 2


def doors(horizon):
    """Two doors, to a room that pays 1 and one that pays 0.2. Slowly, each comes to lead where the other led."""
    ways = [np.array([[0, q, 1 - q], [0, 1 - q, q], *[[1, 0, 0]] * 4]) for q in (0.95, 0.05)]
    rewards = [0.0, 0.0, 1.0, 1.0, 0.2, 0.2]
    share = np.linspace(0, 1, horizon)
    worlds = [dm.Mdp(dm.Space.uniform(3, 2), rewards, way) for way in ways]
    return dm.Problem(dm.DriftingMdp(worlds, np.column_stack([1 - share, share])))


def test_a_neglected_door_is_tried_again_where_doors_were_seen_to_move():
    problem = doors(4000)
    regrets = []
    for value_drift in (1.0, 0.0):
        agent = adaptive(problem)
        agent._params = agent._params._replace(value_drift=value_drift)
        agent.reset()
        regrets.append(sum(dm.simulate(agent, problem, seed).dynamic_regret(problem)[-1] for seed in range(4)))
    assert regrets[0] < 0.6 * regrets[1]  # 170 and 627


def test_where_next_states_are_certain_their_values_do_not_move():
    agent = played(corridor(6, 2, 1500))
    judged = agent._weights.value_judged[:, 0] > 0
    assert judged.sum() > 3
    assert agent._weights.value_drift.max() < 1e-3
