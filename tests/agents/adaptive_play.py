"""Adaptive at play, live and compiled, and what always holds of it: what its tests share."""

import math

import numpy as np

import driftmdp as dm
from driftmdp.simulation import simulate_until
from tests.agents.worlds import random_problem, world_draws

problems = dm.problems
NOT_LEARNED = "weights_scratch", "weights_fades", "rewards"  # working space, and what doubts the range live
PRIOR = np.array([0.1 / 10] * 10 + [0.9])
SHARE = 0.003
PROBLEMS = {
    "two states": lambda: problems.two_state(horizon=300),
    "abrupt": lambda: problems.garnet(4, 2, 3, horizon=300, drift="abrupt", changes=3, noise="bernoulli"),
    "a bandit": lambda: problems.bandit(4, horizon=300),
    "a shop": lambda: problems.inventory(capacity=3, horizon=300),
    "ragged": lambda: random_problem(5, 300, n_states=4, noise="gaussian(0.2)"),
    "one state": lambda: random_problem(2, 200, n_states=1),
    "beyond the first capacity": lambda: problems.garnet(14, 4, 3, horizon=300),
}


def adaptive(problem):
    return dm.agents.Adaptive.for_problem(problem)


def fixed_problem(rewards, transitions, horizon, noise="none", n_actions=1):
    """A world that does not change; rows are pairs."""
    space = dm.Space.uniform(len(transitions[0]), n_actions)
    return dm.Problem(dm.DriftingMdp([dm.Mdp(space, rewards, transitions)], np.ones((horizon, 1))), noise=noise)


def played(problem, seed=0, steps=None):
    """The agent after a compiled run."""
    (player,) = simulate_until(adaptive(problem), problem, seed, [steps or problem.horizon])
    return player


def play(agent, problem, seed, steps=None, after_act=lambda state, action: None, change=lambda reward: reward):
    """Live steps; `after_act` looks on, `change` is done to rewards. Return the states and actions."""
    draws, state, done = world_draws(problem, seed), problem.start, []
    for t in range(1, (steps or problem.horizon) + 1):
        action = agent.act(state)
        after_act(state, action)
        done.append((state, action))
        sample = problem.sample(t, state, action, draws)
        agent.observe(change(float(sample.reward)), int(sample.next_state))
        state = int(sample.next_state)
    return done


def random_steps(agent, steps, seed=0, reward=lambda rng: float(rng.random())):
    """Steps in a world without rhyme or reason; return the last state."""
    rng, state = np.random.default_rng(seed), 0
    for _ in range(steps):
        agent.act(state)
        state = int(rng.integers(agent.space.n_states))
        agent.observe(reward(rng), state)
    return state


def known_pairs(agent):
    """What the agent holds of every known pair: r^, hoped, worth, and p^ by next state."""
    known, past = agent._memory, agent._past
    found = {}
    for index in range(int(known.tally["n_slots"][0])):
        slot, pair = known.slots[index], past.pairs[index]
        chances, entry = {}, int(slot["head"])
        while entry >= 0:
            chances[int(known.entries[entry]["next_state"])] = float(past.chances[entry])
            entry = int(known.entries[entry]["link"])
        name = int(slot["state"]), int(slot["pair"] - agent.space.offsets[slot["state"]])
        found[name] = float(pair["mean"]), float(pair["hoped"]), float(pair["visits"]), chances
    return found


def state_of(agent):
    """Everything that it has learned, to compare."""
    return {name: array.tolist() for name, array in agent._state_arrays().items() if name not in NOT_LEARNED}


def values_of(agent):
    """The values of the states that it met."""
    plan = agent._plan
    return plan.bias[plan.met[: int(plan.facts["n_met"][0])]]


def assert_finite(agent):
    for name, array in agent._state_arrays().items():
        for field in array.dtype.names or [...]:
            assert np.isfinite(array[field]).all(), f"{field} of {name} is not finite"


def assert_lawful(agent):
    """What holds after every action."""
    assert_finite(agent)
    counts = agent.counts()
    for (state, action), (mean, hoped, worth, chances) in known_pairs(agent).items():
        assert math.isclose(sum(chances.values()), 1.0, abs_tol=1e-9)
        assert min(chances.values()) > 0
        assert -1e-12 <= mean <= 1 + 1e-12
        assert -1e-12 <= hoped <= 1
        assert 0 < worth <= counts[agent.space.pair(state, action)] + 1e-8
    weights = agent._weights
    for rows in (weights.rewards, weights.transitions):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-9)
        assert (rows >= SHARE * PRIOR - 1e-12).all()
    assert weights.noise[0] >= 0
    assert (np.diff(weights.drift) >= 0).all()
    assert weights.drift[0] >= 0
    assert weights.drift[-1] <= 0.25
    assert (np.diff(weights.value_drift) >= 0).all()
    assert weights.value_drift[0] >= 0
    assert values_of(agent).min(initial=0.0) == 0.0
