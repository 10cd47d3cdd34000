"""AdaptiveV1 at play, live, beside its pseudo-code: what its tests share."""

import numpy as np

import driftmdp as dm
from tests.reference.adaptive_v1 import AdaptiveV1 as Reference

problems = dm.problems
PROBLEMS = {
    "abrupt": lambda: problems.garnet(4, 2, 3, horizon=300, drift="abrupt", changes=3, noise="bernoulli"),
    "a shop": lambda: problems.inventory(capacity=3, horizon=300),
    "more than 32 pairs": lambda: problems.garnet(14, 4, 3, horizon=110),
}


def adaptive(problem):
    return dm.agents.AdaptiveV1.for_problem(problem)


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
