"""Small problems to compare agents on: ragged actions, one state, every kind of noise."""

from __future__ import annotations

import numpy as np

import driftmdp as dm
from tests.strategies import random_mdp, random_space


def random_problem(seed: int, horizon: int, n_states: int | None = None, noise: str = "none") -> dm.Problem:
    """Return a drifting problem with ragged actions; rewards are of any size and sign."""
    rng = np.random.default_rng(seed)
    space = random_space(rng, n_states or int(rng.integers(1, 5)))
    anchors = [random_mdp(rng, space, 3) for _ in range(3)]
    phase = 2 * np.pi * np.arange(horizon)[:, None] / horizon + rng.random(3) * 6
    weights = 1.0 + np.sin(phase)
    drifting = dm.DriftingMdp(anchors, weights / weights.sum(axis=1, keepdims=True))
    return dm.Problem(drifting, start=int(rng.integers(space.n_states)), noise=noise, name=f"random {seed}")


def problem_for(agent: type[dm.agents.BuiltinAgent], horizon: int) -> dm.Problem:
    """Return a small problem that an agent of this package is made for."""
    if agent.only_for == "inventory":
        return dm.problems.inventory(capacity=4, horizon=horizon)
    return random_problem(3, horizon, n_states=1 if agent.only_for == "bandits" else None)


def world_draws(problem: dm.Problem, seed: int) -> dm.Luck:
    """Return the luck that ``simulate`` draws for a seed."""
    return problem.draw_noise(np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0]))


def agent_rng(seed: int) -> np.random.Generator:
    """Return the stream that ``simulate`` gives the agent for a seed."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
