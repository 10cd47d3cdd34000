"""Every built-in agent, in spaces beyond every first size, saved now and then: it goes on as if never interrupted.

An agent is saved at a few steps and every copy plays on to the end. To save and load at *every* step is no such
test: each load gives the memory space for one step more, so that it never runs out.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np

import driftmdp as dm
from tests.agents.worlds import problem_for, random_problem, world_draws

STEPS = 260


def case(rng: np.random.Generator, folder: Path) -> None:
    """Try every agent once."""
    for name, kind in dm.agents.builtin().items():
        print(name, flush=True)  # the last line before a crash
        problem = large_problem(kind, rng)
        agent = make(kind, problem, rng)
        try:
            goes_on(agent, problem, rng, folder / "agent.npz")
        except Exception as error:
            error.add_note(f"{agent!r} on {problem!r}")
            raise


def small_problem(kind: type[dm.agents.BuiltinAgent], rng: np.random.Generator) -> dm.Problem:
    """Return a problem of a few states and actions."""
    if kind.only_for:
        return problem_for(kind, 400)
    return random_problem(int(rng.integers(1000)), 400)


def large_problem(kind: type[dm.agents.BuiltinAgent], rng: np.random.Generator) -> dm.Problem:
    """Return a problem with more pairs, states and steps than an agent has space for at first."""
    horizon = STEPS + int(rng.integers(1, 100))
    if kind.only_for == "inventory":
        return dm.problems.inventory(capacity=int(rng.integers(33, 80)), horizon=horizon)
    if kind.only_for == "bandits":
        return dm.problems.bandit(n_arms=int(rng.choice([33, 40, 64, 65, 200])), horizon=horizon)
    return random_problem(int(rng.integers(1000)), horizon, n_states=int(rng.integers(33, 80)))


def make(
    kind: type[dm.agents.BuiltinAgent], problem: dm.Problem, rng: np.random.Generator
) -> dm.agents.BuiltinAgent:
    """Return an agent whose window, if it has one, is beyond the first size too."""
    known = inspect.signature(kind).parameters
    choices: dict[str, Any] = {"scale": 0.1, "window": 2 * int(rng.integers(17, STEPS // 2)), "seed": 1}
    parameters = {name: value for name, value in choices.items() if name in known and rng.random() < 0.8}
    if kind is dm.agents.Optimist:
        parts = dm.agents
        memory = [parts.Everything(), parts.SlidingWindow(50), parts.SinceRestart([1, 90], 40)][rng.integers(3)]
        parameters |= {"memory": memory, "confidence": parts.BernsteinRadii(scale=0.1)}
    return kind.for_problem(problem, **parameters)


def goes_on(agent: dm.agents.BuiltinAgent, problem: dm.Problem, rng: np.random.Generator, path: Path) -> None:
    """Save at a few steps, and compare every agent loaded with the one that was never interrupted."""
    draws, state, played = world_draws(problem, 1), problem.start, []
    agent.reset(np.random.default_rng(1))
    saved = sorted({1, 2, int(rng.integers(3, 40)), int(rng.integers(40, STEPS))})
    loaded: list[tuple[int, int, dm.agents.BuiltinAgent]] = []
    for t in range(1, STEPS + 1):
        if t in saved:
            agent.save(path)
            loaded.append((t, state, dm.agents.load(path)))
        state = step(agent, problem, draws, t, state, played)
    for first, start, fresh in loaded:
        state, again = start, []
        for t in range(first, STEPS + 1):
            state = step(fresh, problem, draws, t, state, again)
        assert again == played[first - 1 :], f"saved at t={first}, it went another way"


def step(
    agent: dm.agents.BuiltinAgent, problem: dm.Problem, draws: dm.Luck, t: int, state: int, played: list[Any]
) -> int:
    """Take a step, note it, and return the next state."""
    action = agent.act(state)
    sample = problem.sample(t, state, action, draws)
    agent.observe(sample.reward, sample.next_state)
    played.append((state, action))
    return sample.next_state
