"""Draws through Problem.sample follow p_t and r_t, and the draws do not depend on what is done."""

import dataclasses
import functools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from tests.reference import count_moves

DRAWS = 20_000


def frozen_at(problem, t, noise=None, draws=DRAWS):
    """A problem whose every step is step t of another: the same anchors, one row of weights."""
    drifting = problem.drifting
    rows = drifting.weights.matrix[[t - 1] * draws]
    own = None if drifting.rewards_follow_transitions else drifting.reward_weights.matrix[[t - 1] * draws]
    world = dm.DriftingMdp(drifting.anchors, rows, own)
    return dm.Problem(world, noise=noise or problem.noise, reward_range=problem.reward_range)


def draw(problem, state, action, seed):
    draws = problem.draw_noise(np.random.default_rng(seed))
    return [problem.sample(t, state, action, draws) for t in range(1, problem.horizon + 1)]


# A problem, and a step, a state and an action at which several anchors count.
MIXTURES = {
    "garnet": lambda: (dm.problems.garnet(6, 2, 3, horizon=10, seed=3), 4, 2, 1),
    "two-state": lambda: (dm.problems.two_state(horizon=50), 7, 0, 1),
    "river": lambda: (dm.problems.river_swim(6, horizon=10, drift="drifting"), 2, 3, 1),
    "transport": lambda: (dm.problems.transport(2, 2, horizon=10), 2, 2, 0),
    "epidemic": lambda: (dm.problems.epidemic(6, 4, imports=0.1, horizon=10, cycles=1), 3, 2, 1),
    "choice": lambda: (dm.problems.choice(3, 2, horizon=10, cycles=1), 3, 4, 0),
    "wireless": lambda: (dm.problems.wireless(battery=5, horizon=10, cycles=1), 3, 10, 2),
    "healthcare": lambda: (dm.problems.healthcare(levels=3, horizon=10, cycles=1), 3, 4, 3),
    "lock": lambda: (dm.problems.combination_lock(horizon=10, drift="gradual"), 4, 0, 1),
    "lake": lambda: (dm.problems.frozen_lake(horizon=10, drift="slow"), 3, 10, 2),
    "bridge": lambda: (dm.problems.bridge(horizon=10, drift="gradual"), 4, 8, 2),
    "random": lambda: (dm.problems.random_mdp(3, 2, 3, horizon=10), 2, 1, 1),
    "queue": lambda: (dm.problems.queue(4, horizon=10, cycles=1), 4, 2, 3),
    "maintenance": lambda: (dm.problems.maintenance(4, horizon=10, cycles=1), 4, 2, 1),
    "inventory": lambda: (dm.problems.inventory(capacity=5, horizon=10, zeta=0.01), 3, 1, 4),
}


@functools.cache
def mixture(name):
    return MIXTURES[name]()


@pytest.mark.parametrize("name", MIXTURES)
def test_drawn_next_states_follow_the_mixture(name):
    problem, t, state, action = mixture(name)
    expected = problem.drifting.at(t).successors(state, action)
    samples = draw(frozen_at(problem, t), state, action, seed=17)
    counts = count_moves([(state, action, sample.next_state) for sample in samples])
    observed = np.array([counts.get((state, action, s), 0) for s in range(problem.space.n_states)])
    assert observed[expected == 0].sum() == 0
    seen = expected > 0
    assert seen.sum() > 1
    assert scipy.stats.chisquare(observed[seen], DRAWS * expected[seen]).pvalue > 1e-3


@pytest.mark.parametrize("name", MIXTURES)
def test_drawn_anchors_follow_the_weights(name):
    problem, t, state, action = mixture(name)
    expected = problem.drifting.weights.matrix.toarray()[t - 1]
    drawn = [sample.anchor for sample in draw(frozen_at(problem, t), state, action, seed=18)]
    observed = np.bincount(drawn, minlength=expected.size)
    assert observed[expected == 0].sum() == 0
    seen = expected > 0
    assert seen.sum() > 1
    assert scipy.stats.chisquare(observed[seen], DRAWS * expected[seen]).pvalue > 1e-3


def test_next_states_along_a_drift_follow_each_steps_own_mixture():
    """One problem, T draws, each from its p_t: the totals have mean sum_t p_t."""
    problem = dm.problems.two_state(horizon=DRAWS, v_p=2.0)
    weights = problem.drifting.weights.matrix.toarray()
    beta = weights @ [0.8, 0.2]
    moved = np.array([sample.next_state for sample in draw(problem, 0, 1, seed=19)])
    for half in (beta > 0.5, beta <= 0.5):
        error = (beta[half] * (1 - beta[half])).sum() ** 0.5
        assert abs(moved[half].sum() - beta[half].sum()) < 5 * error


@pytest.mark.parametrize("noise", ["none", "anchor", "bernoulli", "gaussian(0.3)"])
@pytest.mark.parametrize("name", ["garnet", "river", "inventory"])
def test_mean_drawn_rewards_are_r_t_whatever_the_noise(name, noise):
    problem, t, state, action = mixture(name)
    rewards = np.array([s.reward for s in draw(frozen_at(problem, t, noise), state, action, seed=20)])
    error = rewards.std() / DRAWS**0.5
    assert rewards.mean() == pytest.approx(problem.drifting.at(t).reward(state, action), abs=5 * error + 1e-12)


@pytest.mark.parametrize("noise", ["none", "bernoulli", "gaussian(0.3)"])
def test_mean_drawn_rewards_are_r_t_where_rewards_move_on_their_own(noise):
    problem, t, state, action = mixture("two-state")
    rewards = np.array([s.reward for s in draw(frozen_at(problem, t, noise), state, action, seed=21)])
    error = rewards.std() / DRAWS**0.5
    assert rewards.mean() == pytest.approx(problem.drifting.at(t).reward(state, action), abs=5 * error + 1e-12)


def test_noise_none_emits_the_mean_itself():
    problem, t, state, action = mixture("garnet")
    samples = draw(frozen_at(problem, t, "none", draws=50), state, action, seed=22)
    assert {s.reward for s in samples} == {samples[0].reward}
    assert samples[0].reward == pytest.approx(problem.drifting.at(t).reward(state, action), abs=1e-15)


def test_noise_anchor_emits_the_drawn_anchors_reward():
    problem, t, state, action = mixture("inventory")
    own = problem.drifting.anchor_rewards[:, problem.space.pair(state, action)]
    samples = draw(frozen_at(problem, t, draws=300), state, action, seed=23)
    assert [s.reward for s in samples] == [own[s.anchor] for s in samples]
    assert len({s.anchor for s in samples}) > 3


def test_noise_bernoulli_emits_the_ends_of_the_range():
    problem, t, state, action = mixture("two-state")
    samples = draw(frozen_at(problem, t, "bernoulli", draws=300), state, action, seed=24)
    assert {s.reward for s in samples} == set(problem.reward_range)


def test_noise_gaussian_is_normal_with_the_deviation_asked_for():
    problem, t, state, action = mixture("garnet")
    samples = draw(frozen_at(problem, t, "gaussian(0.3)"), state, action, seed=25)
    errors = np.array([s.reward for s in samples]) - problem.drifting.at(t).reward(state, action)
    assert scipy.stats.kstest(errors, "norm", args=(0, 0.3)).pvalue > 1e-3


@pytest.mark.parametrize("name", MIXTURES)
def test_the_drawn_anchor_does_not_depend_on_state_or_action(name):
    problem = mixture(name)[0]
    draws = problem.draw_noise(np.random.default_rng(26))
    pairs = [problem.space.state_and_action(pair) for pair in range(problem.space.n_pairs)]
    for t in range(1, problem.horizon + 1):
        assert len({problem.sample(t, s, a, draws).anchor for s, a in pairs}) == 1


@given(seed=st.integers(0, 2**32 - 1), actions=st.lists(st.integers(0, 1), min_size=10, max_size=10))
def test_agents_with_the_same_draws_use_the_same_numbers_whatever_they_do(seed, actions):
    problem = mixture("garnet")[0]
    draws = problem.draw_noise(np.random.default_rng(seed))
    before = [numbers.copy() for numbers in draws]
    alone = [problem.sample(t, 0, 0, draws) for t in range(1, 11)]
    state = 0
    for t, action in enumerate(actions, start=1):
        state = problem.sample(t, state, action, draws).next_state
    assert [problem.sample(t, 0, 0, draws) for t in range(1, 11)] == alone
    assert all((now == then).all() for now, then in zip(draws, before, strict=True))


def test_draws_are_one_number_of_each_kind_a_step_and_depend_on_the_seed_alone():
    problem = mixture("garnet")[0]
    one, two, other = (problem.draw_noise(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert [numbers.shape for numbers in one] == [(10,)] * 3
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert not any((a == b).any() for a, b in zip(one[:2], other[:2], strict=True))


def test_noise_does_not_change_where_the_world_goes():
    problem, *_ = mixture("garnet")
    walks = []
    for noise in ("none", "anchor", "bernoulli", "gaussian(1)"):
        noisy = dataclasses.replace(problem, noise=noise)
        walks.append([(s.next_state, s.anchor) for s in draw(noisy, 1, 1, seed=27)])
    assert walks[1:] == walks[:-1]


@pytest.mark.parametrize(("uniform", "next_state"), [(0.0, 0), (0.25, 0), (0.75, 1), (1 - 2**-53, 1)])
def test_a_uniform_number_falls_on_the_successor_whose_share_it_is_in(uniform, next_state):
    mdp = dm.Mdp(dm.Space.uniform(2, 1), [0, 0], [[0.5, 0.5], [0.5, 0.5]])
    problem = dm.Problem(dm.DriftingMdp.stationary(mdp, 1))
    draws = dm.Draws(np.array([0.5]), np.array([uniform]), np.array([0.5]))
    assert problem.sample(1, 0, 0, draws).next_state == next_state
