"""Before a run: check that agent and problem fit, copy the agent, draw the world's random numbers."""

import copy
from typing import Any

import numpy as np

from driftmdp.agents import Adaptive, AdaptiveV1, Agent, BuiltinAgent, Optimist, RunContext
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.step_counter import StepCountingAgent
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import new_record
from driftmdp.mdp import Problem
from driftmdp.validation import LARGEST, as_integer, shown

# The resets of agents that draw nothing: to make them a generator would take longer than a short run.
WITHOUT_DRAWS = Adaptive.reset, AdaptiveV1.reset, Optimist.reset, StepCountingAgent.reset


def prepare_run(agent: Agent, problem: Problem, seed: int) -> tuple[Any, RunContext]:
    """Return a fresh copy of the agent and the context of a run, or raise if the two do not fit."""
    check_kinds(agent, problem, "simulate(agent, problem, seed)")
    if not isinstance(agent, BuiltinAgent | Agent):
        hint = " Use driftmdp.agents.Adaptive.for_problem(problem)." if isinstance(agent, str) else ""
        raise InvalidInputError(f"agent must have reset, act and observe; got {agent!r}.{hint}")
    seed = as_integer(seed, "seed", minimum=0)
    if isinstance(agent, BuiltinAgent):
        check_fit(agent, problem)
        player: Any = agent._fresh_copy(None if type(agent).reset in WITHOUT_DRAWS else _stream(seed, 1))
    else:
        player = copy_agent(agent)
        player.reset(_stream(seed, 1))
    draws = problem.draw_noise(_stream(seed, 0))
    return player, RunContext(problem, draws, new_record(problem.horizon, problem.start))


def _stream(seed: int, which: int) -> np.random.Generator:
    """Return a stream of ``SeedSequence(seed).spawn(2)``: 0 is the world's, 1 the agent's."""
    # What numpy makes of a seed and a spawn key, in half of its time.
    words = np.array((seed & 0xFFFFFFFF, seed >> 32, 0, 0, which), np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def check_kinds(agent: Any, problem: Problem, call: str, hint: str = "Use for_problem(problem).") -> None:
    """Raise if the arguments are swapped, or if the agent is a class; ``call`` shows how to write it."""
    if isinstance(agent, Problem):
        rule = "agent must have reset, act and observe"
        swapped = f"The arguments look swapped: write {call}."
        raise InvalidInputError(f"{rule}; got the problem {agent.name!r}. {swapped}")
    checked_problem(problem)
    if isinstance(agent, type):
        rule = "agent must be made from its class first"
        raise InvalidInputError(f"{rule}; got the class {agent.__name__}. {hint}")


def copy_agent(agent: Agent) -> Any:
    """Return a copy of the agent with all that it learned, or raise if it cannot be copied."""
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        raise InvalidInputError(
            f"agent must be copyable, so that a run does not change it; copy.deepcopy says: {error}. Give "
            f"{type(agent).__name__} a __deepcopy__."
        ) from None


def check_fit(agent: BuiltinAgent, problem: Problem) -> None:
    """Raise if an agent was made for another problem."""
    if not isinstance(agent, BuiltinAgent):
        raise InvalidInputError(f"agent must be one of driftmdp.agents; got {shown(agent)}.")
    checked_problem(problem)
    hint = f"Use {type(agent).__name__}.for_problem(problem, ...)"
    if agent.space is not problem.space and not np.array_equal(agent.space.n_actions, problem.space.n_actions):
        rule = f"The agent must be made for the problem's states and actions, {problem.space!r}"
        raise InvalidInputError(f"{rule}; it has {agent.space!r}. {hint}.")
    horizon = agent.horizon
    if horizon is not None and horizon < problem.horizon:
        rule = f"The agent's horizon must be at least the problem's, {problem.horizon}"
        raise InvalidInputError(f"{rule}; got {horizon}. {hint}.")
    low, high = problem.reward_range
    if max(abs(low), abs(high), problem.noise.sigma) > LARGEST:
        raise InvalidInputError(f"The problem's rewards must be at most {LARGEST:g} in size to learn from them.")
    for name in ("reward_range", "feedback_range"):
        bounds = getattr(agent, name, None)
        if bounds is not None and not (bounds[0] <= low and high <= bounds[1]):
            rule = f"The agent's {name} must contain the problem's, ({low:g}, {high:g})"
            if isinstance(agent, Optimist) and name == "reward_range":
                hint += ", or reward_range=None for raw rewards"
            raise InvalidInputError(f"{rule}; got ({bounds[0]:g}, {bounds[1]:g}). {hint}.")
