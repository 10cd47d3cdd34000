"""Every bandit takes the actions of its plain transcription in tests/reference, with the same draws."""

import numpy as np
import pytest

import driftmdp as dm
from tests.agents.comparing import compare
from tests.agents.worlds import agent_rng, random_problem
from tests.reference import bandits as reference

T = 200
NOISES = ("none", "bernoulli", "gaussian(0.2)", "anchor")


def problems():
    """Yield bandits of 1 to 4 arms, with every kind of noise and rewards of any size and sign."""
    for seed in range(8):
        yield seed, random_problem(seed, T, 1, NOISES[seed % 4])
    yield 8, dm.problems.bandit(n_arms=5, horizon=T)
    yield 9, dm.problems.bandit(n_arms=7, horizon=T, drift="abrupt")


def check(agent, oracle, problem, seed, **options):
    common = {"reward_range": problem.reward_range}
    counts = problem.space.n_actions.tolist()
    return compare(agent, oracle(counts, T, **common, **options), problem, seed)


def test_ucb1():
    for seed, problem in problems():
        check(dm.agents.UCB1.for_problem(problem), reference.UCB1, problem, seed)


@pytest.mark.parametrize("window", [1, 7, 50, T, pytest.param(T + 50, marks=pytest.mark.slow)])
def test_sw_ucb(window):
    for seed, problem in problems():
        xi = (0.6, 0.1, 2.0)[seed % 3]
        agent = dm.agents.SWUCB.for_problem(problem, window=window, xi=xi)
        check(agent, reference.SWUCB, problem, seed, window=window, xi=xi)


@pytest.mark.parametrize("discount", [1.0, 0.99, pytest.param(0.9, marks=pytest.mark.slow), 0.3])
def test_d_ucb(discount):
    for seed, problem in problems():
        xi = (0.6, 0.1, 2.0)[seed % 3]
        agent = dm.agents.DUCB.for_problem(problem, discount=discount, xi=xi)
        check(agent, reference.DUCB, problem, seed, discount=discount, xi=xi)


@pytest.mark.parametrize("gamma", [None, 0.01, 0.3, 1.0])
def test_exp3(gamma):
    for seed, problem in problems():
        agent = dm.agents.EXP3.for_problem(problem, gamma=gamma)
        used = reference.exp3_gamma(problem.space.n_pairs, T) if gamma is None else gamma
        check(agent, reference.Exp3, problem, seed, gamma=used, rng=agent_rng(seed))


@pytest.mark.parametrize("changes", [None, 0, 5])
@pytest.mark.parametrize("sharing", [None, 0.0, 0.1, 1.0])
def test_exp3_s(changes, sharing):
    for seed, problem in problems():
        agent = dm.agents.EXP3S.for_problem(problem, changes=changes, sharing=sharing)
        gamma, alpha = reference.exp3s_parameters(problem.space.n_pairs, T, changes)
        used = {"gamma": gamma, "sharing": alpha if sharing is None else sharing}
        check(agent, reference.Exp3S, problem, seed, rng=agent_rng(seed), **used)


@pytest.mark.parametrize("batch", [None, 1, 10, T])
def test_rexp3(batch):
    for seed, problem in problems():
        parameters = {} if batch is None else {"batch": batch}
        agent = dm.agents.Rexp3.for_problem(problem, **parameters)
        n_arms = problem.space.n_pairs
        span = np.ptp(problem.reward_range) or 1.0
        variation = problem.drifting.variation().reward / span
        length = reference.rexp3_parameters(n_arms, T, variation)[0] if batch is None else batch
        assert agent.batch == length
        gamma = reference.exp3_gamma(n_arms, length)
        check(agent, reference.Rexp3, problem, seed, batch=length, gamma=gamma, rng=agent_rng(seed))


@pytest.mark.parametrize("mode", ["paper", "bounded"])
def test_exp3_p(mode):
    for seed, problem in problems():
        n_arms = problem.space.n_pairs
        agent = dm.agents.EXP3P.for_problem(problem, mode=mode)
        root = np.sqrt(np.log(n_arms) / (n_arms * T))
        used = {"alpha": 0.95 * root, "beta": root, "gamma": 1.05 * n_arms * root}
        run = check(agent, reference.Exp3P, problem, seed, rng=agent_rng(seed), **used)
        assert not run.summary.clipped


@pytest.mark.parametrize("horizon", [T, 40, 5, 1])
def test_bob(horizon):
    for seed in range(6):
        problem = random_problem(seed, horizon, 1, NOISES[seed % 4])
        agent = dm.agents.BOB.for_problem(problem)
        plan = dm.agents.BOB.schedule(problem.space, horizon)
        oracle = reference.BOB(
            problem.space.n_actions.tolist(),
            horizon,
            block_length=plan.block_length,
            windows=list(plan.windows),
            gamma=min(1.0, plan.gamma),
            xi=0.6,
            rng=agent_rng(seed),
            reward_range=problem.reward_range,
        )
        summary = compare(agent, oracle, problem, seed).summary
        assert summary.chosen.tolist() == oracle.chosen
        np.testing.assert_allclose(summary.feedback, oracle.block_rewards, rtol=0, atol=1e-12)
        np.testing.assert_allclose(summary.probabilities, oracle.probabilities_by_block, rtol=0, atol=1e-12)
