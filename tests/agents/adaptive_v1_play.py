"""Adaptive at play, live, beside its pseudo-code: what its tests share."""

import math

import numpy as np

import driftmdp as dm
from tests.agents.worlds import random_problem, world_draws
from tests.reference.adaptive import Adaptive as Reference

problems = dm.problems
PROBLEMS = {
    "two states": lambda: problems.two_state(horizon=300),
    "a river": lambda: problems.river_swim(n_states=4, horizon=300, drift="drifting", noise="bernoulli"),
    "slow": lambda: problems.garnet(4, 3, 2, horizon=300, drift="slow"),
    "abrupt": lambda: problems.garnet(4, 2, 3, horizon=300, drift="abrupt", changes=3, noise="bernoulli"),
    "a bandit": lambda: problems.bandit(4, horizon=300),
    "perils": problems.perils,
    "a shop": lambda: problems.inventory(capacity=3, horizon=300),
    "ragged": lambda: random_problem(5, 300, n_states=4, noise="gaussian(0.2)"),
    "one state": lambda: random_problem(2, 200, n_states=1),
    "more than 32 pairs": lambda: problems.garnet(14, 4, 3, horizon=110),
}


def adaptive(problem):
    return dm.agents.Adaptive.for_problem(problem)


def oracle_of(problem):
    return Reference(problem.space.n_actions.tolist(), problem.reward_range)


def known_pairs(agent):
    """What the agent holds of every known pair: r^, hoped, n, and p^ by next state."""
    known, past = agent._memory, agent._past
    found = {}
    for index in range(int(known.tally["n_slots"][0])):
        slot, pair = known.slots[index], past.pairs[index]
        chances, entry = {}, int(slot["head"])
        while entry >= 0:
            chances[int(known.entries[entry]["next_state"])] = float(past.chances[entry])
            entry = int(known.entries[entry]["link"])
        name = int(slot["state"]), int(slot["pair"] - agent.space.offsets[slot["state"]])
        found[name] = float(pair["mean"]), float(pair["hoped"]), float(pair["weight"]), chances
    return found


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


def assert_close(mine, theirs, tolerance):
    """Rows of numbers by name."""
    for name, row in mine.items():
        worst = np.abs(np.asarray(row) - np.asarray(theirs[name])).max(initial=0.0)
        assert worst <= tolerance, f"{name} differs by {worst}"


def assert_same(agent, oracle):
    """All that the two hold, to rounding; a variance as a difference of squares has half of the digits."""
    pairs, others = known_pairs(agent), oracle.pairs
    assert {x: set(chances) for x, (_, _, _, chances) in pairs.items()} == {
        x: set(others[x].chances) for x in others
    }
    assert list(pairs) == list(others)
    judged, facts, met, known = agent._judged, agent._plan.facts[0], oracle.met, list(oracle.bias)
    mine = {
        "pairs": [number for pair in pairs.values() for number in pair[:3]],
        "chances": [pair[3][after] for x, pair in pairs.items() for after in others[x].chances],
        "w": judged.transition_weights,
        "u": judged.reward_weights[met],
        "E": judged.reward_errors[met],
        "D": judged.drift,
        "noise": judged.noise[0],
    }
    theirs = {
        "pairs": [number for pair in others.values() for number in (pair.mean, pair.hoped, pair.size)],
        "chances": [chance for pair in others.values() for chance in pair.chances.values()],
        "w": oracle.w,
        "u": oracle.u[met],
        "E": oracle.errors[met],
        "D": oracle.drift,
        "noise": oracle.noise,
    }
    assert_close(mine, theirs, 1e-9)
    elsewhere = len(known) < oracle.n_states
    mine = {
        "h": [*agent._plan.bias[known], elsewhere and facts["elsewhere"]],
        "residual": facts["residual"],
        "facts": [facts[name] for name in ("top", "mean", "deviation", "reward_mean", "reward_spread")],
    }
    theirs = {
        "h": [*oracle.bias.values(), elsewhere and oracle.elsewhere],
        "residual": oracle.residual,
        "facts": [oracle.h_max, oracle.h_mean, oracle.h_sd, oracle.r_mean, oracle.r_sd],
    }
    assert_close(mine, theirs, 1e-6)
    assert agent._plan.touched[: facts["n_touched"]].tolist() == known
    assert (facts["sweeps"], facts["t"]) == (oracle.sweeps, oracle.t)


def state_of(agent):
    """Everything that it has learned, to compare."""
    return {name: array.tolist() for name, array in agent._state_arrays().items() if name != "judged_scratch"}


def assert_lawful(agent):
    for mean, hoped, size, chances in known_pairs(agent).values():
        assert math.isclose(sum(chances.values()), 1.0, abs_tol=1e-9)
        assert min(chances.values()) > 0
        assert -1e-12 <= mean <= 1 + 1e-12
        assert mean - 1e-12 <= hoped <= 1
        assert size > 0
    judged, facts = agent._judged, agent._plan.facts[0]
    for weights in (judged.transition_weights, *judged.reward_weights):
        assert math.isclose(weights.sum(), 1.0, abs_tol=1e-9)
        assert weights.min() > 0.003 / 11 - 1e-12
    assert (judged.reward_errors >= 0).all()
    assert judged.noise[0] >= 0
    assert (np.diff(judged.drift) >= 0).all()
    assert judged.drift[0] >= 0
    assert judged.drift[-1] <= 0.25
    values = agent._plan.bias[agent._plan.touched[: facts["n_touched"]]].tolist()
    if len(values) < agent.space.n_states:
        values.append(float(facts["elsewhere"]))
    assert min(values) == 0.0
    assert facts["top"] >= max(values) - 1e-12 or facts["planned"] < facts["t"]
