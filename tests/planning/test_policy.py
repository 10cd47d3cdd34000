import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.planning import hitting_times, policy_gain, stationary_distributions
from driftmdp.problems.garnet import garnet_mdp
from tests.reference.gain import policy_gain as gain_in_the_long_run
from tests.strategies import random_mdp, random_space


@st.composite
def mdps_with_policies(draw):
    """Any MDP, mostly not communicating, and a policy, often multichain."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 6))
    space = random_space(rng, n)
    rows = np.zeros((space.n_pairs, n))
    for row in rows:
        chosen = rng.choice(n, int(rng.integers(1, min(n, 2) + 1)), replace=False)
        row[chosen] = rng.dirichlet(np.ones(chosen.size))
    return dm.Mdp(space, rng.normal(size=space.n_pairs), rows), rng.integers(0, space.n_actions)


def chain_of(mdp, policy):
    pairs = mdp.space.offsets[:-1] + policy
    return mdp.transitions.toarray()[pairs], mdp.rewards[pairs]


@given(mdps_with_policies())
def test_gain_is_the_long_run_average(case):
    mdp, policy = case
    chain, rewards = chain_of(mdp, policy)
    expected = gain_in_the_long_run(rewards[:, None], chain[:, None], np.zeros(len(chain), int))
    np.testing.assert_allclose(policy_gain(mdp, policy), expected, atol=1e-8)


@given(mdps_with_policies())
def test_stationary_distributions_are_stationary_and_disjoint(case):
    mdp, policy = case
    chain, _ = chain_of(mdp, policy)
    found = stationary_distributions(mdp, policy)
    np.testing.assert_allclose(found @ chain, found, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert ((found > 0).sum(axis=0) <= 1).all()


@given(mdps_with_policies(), st.data())
def test_hitting_times_solve_their_equation_or_are_infinite(case, data):
    mdp, policy = case
    target = data.draw(st.integers(0, mdp.space.n_states - 1))
    chain, _ = chain_of(mdp, policy)
    times = hitting_times(mdp, policy, target)
    assert times[target] == 0.0
    stopped = chain.copy()
    stopped[target] = np.eye(len(chain))[target]
    arrives = np.linalg.matrix_power(0.5 * (np.eye(len(chain)) + stopped), 2**40)[:, target]
    for s in range(len(chain)):
        if s == target:
            continue
        if np.isinf(times[s]):
            assert arrives[s] < 1 - 1e-9
        else:
            finite = chain[s] > 0
            assert times[s] == pytest.approx(1 + chain[s][finite] @ times[finite], rel=1e-8)


def test_a_random_policy_is_a_mixture():
    mdp = dm.problems.two_state(horizon=10).drifting.at(3)
    half = policy_gain(mdp, np.full(4, 0.5))
    chain = 0.5 * (chain_of(mdp, np.array([0, 0]))[0] + chain_of(mdp, np.array([1, 1]))[0])
    rewards = 0.5 * (mdp.rewards[[0, 2]] + mdp.rewards[[1, 3]])
    np.testing.assert_allclose(half, np.linalg.matrix_power(chain, 2**20) @ rewards, atol=1e-9)


def test_large_chains_are_solved_sparsely():
    mdp = garnet_mdp(600, 1, 3, 0.5, np.random.default_rng(0))
    distribution = stationary_distributions(mdp, np.zeros(600, int))
    np.testing.assert_allclose(distribution @ mdp.transitions, distribution, atol=1e-13)
    gains = policy_gain(mdp, np.zeros(600, int))
    np.testing.assert_allclose(gains, dm.planning.optimal_gain(mdp, allow_transient=True).gain, atol=1e-8)


def test_tiny_masses_are_relatively_exact():
    """Masses fall by 1/10 a state over 60 states: elimination without subtraction keeps every digit."""
    n = 60
    rows = np.zeros((n, 1, n))
    for s in range(n):
        rows[s, 0, max(0, s - 1)] += 10 / 11
        rows[s, 0, min(n - 1, s + 1)] += 1 / 11
    mdp = dm.Mdp.from_dense(np.zeros((n, 1)), rows)
    found = stationary_distributions(mdp, np.zeros(n, int))[0]
    np.testing.assert_allclose(found[1:] / found[:-1], 0.1, rtol=1e-12)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0, 2], r"policy\[s=1\] must be an action in 0 .. 1; got 2"),
        ([0], "policy must be whole numbers of shape"),
        ([0.5, 0.5, 0.9, 0.2], "policy must give each state a distribution over its actions"),
        ([0.5, 0.5], "policy must be whole numbers of shape"),
    ],
)
def test_a_wrong_policy_is_named(policy, message):
    mdp = dm.problems.perils(tau=1).drifting.at(1)
    with pytest.raises(InvalidInputError, match=message):
        policy_gain(mdp, policy)


def test_a_wrong_target_is_named():
    mdp = random_mdp(np.random.default_rng(0), dm.Space([1, 1]), 2)
    with pytest.raises(InvalidInputError, match="target must be at most 1; got 2"):
        hitting_times(mdp, [0, 0], 2)
