"""The sharp stationary learners take the actions of their plain transcriptions, compiled and step by step."""

import numpy as np
import pytest

import driftmdp as dm
from tests.agents.comparing import compare
from tests.agents.worlds import random_problem
from tests.reference.imed_rl import IMEDRL
from tests.reference.kl_ucrl import KLUCRL, WarmOptimist
from tests.reference.optimistic_q import OptimisticQ
from tests.reference.ucrl3 import UCRL3

NOISES = ("none", "bernoulli", "gaussian(0.2)", "anchor")


def problem_for(seed, horizon):
    return random_problem(seed, horizon, 1 if seed % 8 == 7 else None, NOISES[seed % len(NOISES)])


def compare_both(agent, oracle, problem, seed):
    """Compare the compiled run with the reference, and with the run step by step."""
    compiled = compare(agent, oracle, problem, seed)
    live = dm.simulate(agent, problem, seed, compiled=False)
    assert live.actions.tolist() == compiled.actions.tolist()
    assert live.rewards.tolist() == compiled.rewards.tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [UCRL3, KLUCRL, IMEDRL, OptimisticQ])
def test_jumps_and_other_actions_than_the_advised(kind, seed):
    play_beside(kind, dm.Space([2, 1, 3]), 150, seed, 0.05, checks=range(3, 149, 6))


@pytest.mark.parametrize("kind", [UCRL3, KLUCRL])
def test_many_visits(kind):
    """From some hundred visits on, the bounds of UCRL3 by peeling are the tighter ones."""
    play_beside(kind, dm.Space([2, 1]), 1200, seed=5, scale=0.3, checks=range(400, 1199, 100))


def test_many_values_of_rewards():
    """A law of rewards has 17 values for a while, and is then moved to a grid."""
    play_beside(IMEDRL, dm.Space([3]), 250, seed=7, scale=1.0, checks=range(60, 249))


@pytest.mark.parametrize("seed", range(3))
def test_the_index_of_the_authors(seed):
    play_beside(IMEDRL, dm.Space([2, 1, 3]), 150, seed, 1.0, range(3, 149, 6), index="authors")


def test_many_states():
    """Supports of UCRL3 grow where most states do not follow a pair."""
    play_beside(UCRL3, dm.Space.uniform(9, 1), 500, seed=6, scale=1.0, checks=range(20, 499, 20))


def play_beside(kind, space, horizon, seed, scale, checks, **more):
    """Step by step: what really happened is counted, and a state may come from nowhere."""
    rng, n = np.random.default_rng(seed), space.n_states
    given = more | ({} if kind is IMEDRL else {"delta": 0.1, "scale": scale})
    agent = getattr(dm.agents, kind.__name__)(space, *([] if kind is IMEDRL else [horizon]), **given)
    agent.reset()
    oracle = kind(space.n_actions.tolist(), horizon, **given)
    state = 0
    for t in range(horizon - 1):
        advised = agent.act(state)
        assert advised == oracle.act(state), f"first other action at t={t + 1}"
        taken = advised if rng.random() < 0.7 else int(rng.integers(space.n_actions[state]))
        reward, after = (state + taken) / (n + 1) * rng.random(), (state + taken + int(rng.random() < 0.2)) % n
        agent.observe(reward, after, action=taken)
        oracle.observe(reward, after, action=taken)
        state = after if rng.random() < 0.8 else int(rng.integers(n))
        if t in checks:
            check_reasons(agent, oracle)


def check_reasons(agent, oracle):
    """What an agent says of its actions is what the reference computes, in every state."""
    for state in range(agent.space.n_states):
        advised = oracle.act(state)
        assert agent.act(state) == advised
        said = agent.explain(state)
        reasons = said.actions if isinstance(oracle, WarmOptimist) else said
        if isinstance(oracle, WarmOptimist):
            assert [r.reward for r in reasons] == pytest.approx(oracle.rewards[state], abs=1e-9)
            promised = [value - oracle.bias[state] for value in oracle.values[state]]
            assert [r.value for r in reasons] == pytest.approx(promised, abs=1e-8)
        if isinstance(oracle, OptimisticQ):
            assert [r.estimate for r in reasons] == pytest.approx([oracle.q[state, r.action] for r in reasons])
            assert [r.value for r in reasons] == pytest.approx([oracle.least_q[state, r.action] for r in reasons])
        if isinstance(oracle, IMEDRL) and oracle.indices is not None:
            assert [r.index for r in reasons] == pytest.approx(oracle.indices, abs=1e-10)
            assert [r.action for r in reasons if r.planned] == oracle.skeleton(state)


@pytest.mark.parametrize("scale", [1.0, 0.3, 0.05])
@pytest.mark.parametrize("seed", range(80, 88))
def test_ucrl3(seed, scale):
    problem = problem_for(seed, 120)
    common = {"reward_range": problem.reward_range, "scale": scale, "delta": None if seed % 2 else 0.05}
    common["certainty"] = (0.0, 0.5, 0.99)[seed % 3]
    agent = dm.agents.UCRL3(problem.space, problem.horizon, **common)
    compare_both(agent, UCRL3(problem.space.n_actions.tolist(), problem.horizon, **common), problem, seed)


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("seed", range(90, 98))
def test_kl_ucrl(seed, scale):
    problem = problem_for(seed, 120)
    bounds = None if seed % 3 == 0 else problem.reward_range
    common = {"reward_range": bounds, "scale": scale, "delta": None if seed % 2 else 0.05}
    agent = dm.agents.KLUCRL(problem.space, problem.horizon, **common)
    compare_both(agent, KLUCRL(problem.space.n_actions.tolist(), problem.horizon, **common), problem, seed)


def cycle(n_states, horizon):
    """Return a world of two deterministic cycles: plain sweeps swing, so plans are damped."""
    states = np.arange(n_states)
    transitions = np.zeros((n_states, 2, n_states))
    transitions[states, 0, (states + 1) % n_states] = transitions[states, 1, (states - 1) % n_states] = 1
    mdp = dm.Mdp.from_dense(np.column_stack([0.2 * states, np.full(n_states, 0.1)]), transitions)
    return dm.Problem(dm.DriftingMdp.stationary(mdp, horizon), start=0, reward_range=(0.0, 1.0))


@pytest.mark.parametrize("kind", [UCRL3, KLUCRL])
def test_long_plans(kind):
    """Some take more than 100 sweeps: they are damped, and supports of UCRL3 only grow."""
    worlds = [(cycle(3, 300), 0.01), (cycle(4, 300), 0.1), (dm.problems.river_swim(n_states=6, horizon=800), 1.0)]
    most = 0
    for problem, scale in worlds:
        common = {"reward_range": problem.reward_range, "scale": scale, "delta": 0.05}
        oracle = kind(problem.space.n_actions.tolist(), problem.horizon, **common)
        compare_both(
            getattr(dm.agents, kind.__name__)(problem.space, problem.horizon, **common), oracle, problem, 3
        )
        most = max(most, *oracle.sweeps)
    assert most > 100


@pytest.mark.parametrize("index", ["paper", "authors"])
@pytest.mark.parametrize("seed", range(100, 109))
def test_imed_rl(seed, index):
    problem = problem_for(seed, 120)
    counts = problem.space.n_actions.tolist()
    agent = dm.agents.IMEDRL.for_problem(problem, index=index)
    compare_both(agent, IMEDRL(counts, reward_range=problem.reward_range, index=index), problem, seed)


@pytest.mark.parametrize("scale", [1.0, 0.05, 0.0])
@pytest.mark.parametrize("discount", [None, 0.5, 0.9])
def test_optimistic_q(scale, discount):
    for seed in range(120, 124):
        problem = problem_for(seed, 300)
        given = {"delta": None if seed % 2 else 0.1, "span": (0.3, 1.0, 4.0)[seed % 3], "discount": discount}
        common = given | {"scale": scale, "reward_range": problem.reward_range}
        agent = dm.agents.OptimisticQ(problem.space, problem.horizon, **common)
        oracle = OptimisticQ(problem.space.n_actions.tolist(), problem.horizon, **common)
        compare_both(agent, oracle, problem, seed)
