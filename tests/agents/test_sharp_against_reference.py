"""The sharp stationary learners take the actions of their plain transcriptions, compiled and step by step."""

import pytest

import driftmdp as dm
from tests.agents.comparing import compare
from tests.agents.worlds import random_problem
from tests.reference.imed_rl import IMEDRL
from tests.reference.optimistic_q import OptimisticQ

NOISES = ("none", "bernoulli", "gaussian(0.2)", "anchor")


def problem_for(seed, horizon):
    return random_problem(seed, horizon, 1 if seed % 8 == 7 else None, NOISES[seed % len(NOISES)])


def compare_both(agent, oracle, problem, seed):
    """Compare the compiled run with the reference, and with the run step by step."""
    compiled = compare(agent, oracle, problem, seed)
    live = dm.simulate(agent, problem, seed, compiled=False)
    assert live.actions.tolist() == compiled.actions.tolist()
    assert live.rewards.tolist() == compiled.rewards.tolist()


@pytest.mark.parametrize("seed", range(100, 112))
def test_imed_rl(seed):
    problem = problem_for(seed, 120)
    counts = problem.space.n_actions.tolist()
    agent = dm.agents.IMEDRL.for_problem(problem)
    compare_both(agent, IMEDRL(counts, reward_range=problem.reward_range), problem, seed)


@pytest.mark.parametrize("scale", [1.0, 0.05, 0.0])
@pytest.mark.parametrize("discount", [None, 0.5, 0.9])
def test_optimistic_q(scale, discount):
    for seed in range(120, 128):
        problem = problem_for(seed, 300)
        given = {"delta": None if seed % 2 else 0.1, "span": (0.3, 1.0, 4.0)[seed % 3], "discount": discount}
        common = given | {"scale": scale, "reward_range": problem.reward_range}
        agent = dm.agents.OptimisticQ(problem.space, problem.horizon, **common)
        oracle = OptimisticQ(problem.space.n_actions.tolist(), problem.horizon, **common)
        compare_both(agent, oracle, problem, seed)
