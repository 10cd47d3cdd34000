"""Threads that share one live agent, or one agent and one problem to simulate: nothing breaks.

Four threads call everything that a built-in agent has, at random. Afterwards the agent must save, load and go on.
"""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import driftmdp as dm
from tests.fuzz.harness import answered
from tests.fuzz.valid_snapshots import large_problem, make, small_problem

THREADS = 4
CALLS = 250  # of each thread
METHODS = ("explain", "plan", "counts", "mean_rewards", "successor_counts", "beliefs", "summary", "indices")
ATTRIBUTES = ("t", "last_plan", "n_plans", "probabilities", "window")


def case(rng: np.random.Generator, folder: Path) -> None:
    """Share one agent of any kind, or what is simulated."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        (share_a_run if rng.random() < 0.25 else share_an_agent)(rng, folder)
    finally:
        sys.setswitchinterval(interval)


def share_an_agent(rng: np.random.Generator, folder: Path) -> None:
    """Let threads use one live agent. Its memory must stay consistent."""
    agent, problem = any_agent(rng)
    mdp = problem.drifting.at(1)
    in_threads([caller(agent, mdp, folder / f"{i}.npz", rng.integers(2**32)) for i in range(THREADS)])
    agent.save(folder / "after.npz")
    twin = dm.agents.load(folder / "after.npz")  # checks every index
    for _ in range(50):
        for one in (agent, twin):
            live_step(one, mdp, np.random.default_rng(1))


def share_a_run(rng: np.random.Generator, folder: Path) -> None:
    """Let threads simulate one agent on one new problem. The results must be those of one thread."""
    agent, problem = any_agent(rng)
    fresh = copy.deepcopy(problem)
    wanted = facts_of(agent, problem)
    found: list[list[Any]] = []
    in_threads([lambda: found.append(facts_of(agent, fresh))] * THREADS)
    for facts in found:
        for ours, theirs in zip(wanted, facts, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def facts_of(agent: dm.agents.BuiltinAgent, problem: dm.Problem) -> list[Any]:
    """Return what a run and its problem say, with what they work out when first asked."""
    run = dm.simulate(agent, problem, seed=3)
    variation = problem.drifting.variation()
    mdp = problem.drifting.at(2)
    return [
        run.states,
        run.actions,
        run.rewards,
        run.dynamic_regret(problem),
        *vars(variation).values(),
        mdp.rewards,
    ]


def any_agent(rng: np.random.Generator) -> tuple[dm.agents.BuiltinAgent, dm.Problem]:
    """Return an agent of any kind in a small space, or in one in which its memory grows."""
    kinds = list(dm.agents.builtin().values())
    kind = kinds[rng.integers(len(kinds))]
    problem = small_problem(kind, rng) if rng.random() < 0.5 else large_problem(kind, rng)
    print(kind.__name__, problem.space, flush=True)
    return make(kind, problem, rng), problem


def in_threads(tasks: list[Callable[[], Any]]) -> None:
    """Run tasks at the same time, and raise the first error of any of them."""
    errors: list[BaseException] = []
    gate = threading.Barrier(len(tasks))

    def run(task: Callable[[], Any]) -> None:
        try:
            gate.wait()
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def caller(agent: dm.agents.BuiltinAgent, mdp: dm.Mdp, path: Path, seed: int) -> Callable[[], None]:
    """Return a task that calls everything at random, mostly steps."""
    rng = np.random.default_rng(seed)

    def call() -> None:
        for _ in range(CALLS):
            one_of_many(agent, mdp, path, rng)

    return call


def one_of_many(agent: dm.agents.BuiltinAgent, mdp: dm.Mdp, path: Path, rng: np.random.Generator) -> None:
    """Make one call."""
    kind = rng.random()
    if kind < 0.8:
        live_step(agent, mdp, rng)
    elif kind < 0.9:
        name = METHODS[rng.integers(len(METHODS))]
        if hasattr(agent, name):
            state = [int(rng.integers(mdp.space.n_states))] if name == "explain" else []
            answered(lambda: getattr(agent, name)(*state))
    elif kind < 0.94:
        name = ATTRIBUTES[rng.integers(len(ATTRIBUTES))]
        if name != "last_plan" or getattr(agent, "n_plans", 0):
            answered(lambda: getattr(agent, name, None))
    elif kind < 0.96:
        answered(lambda: agent.save(path))
        dm.agents.load(path)
    elif kind < 0.98:
        live_step((pickled(agent), copy.deepcopy(agent))[rng.integers(2)], mdp, rng)
    elif kind < 0.99:
        live_step(agent.copy(), mdp, rng)
    else:
        answered(lambda: agent.reset(np.random.default_rng(int(rng.integers(1000)))))


def pickled(agent: dm.agents.BuiltinAgent) -> Any:
    """Return a copy by way of pickle, which does not know of the lock."""
    with agent.lock:
        return pickle.loads(pickle.dumps(agent))


def live_step(agent: dm.agents.BuiltinAgent, mdp: dm.Mdp, rng: np.random.Generator) -> None:
    """Act and observe as a thread that knows nothing of the others would."""
    state = int(rng.integers(mdp.space.n_states))
    action = answered(lambda: agent.act(state))
    if isinstance(action, int):
        row = mdp.transitions[[mdp.space.pair(state, action)]]
        answered(lambda: agent.observe(float(rng.random()), int(rng.choice(row.indices))))
