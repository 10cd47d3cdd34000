"""The rules that every agent must keep."""

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from driftmdp.agents import Agent, BuiltinAgent, Plan, builtin
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem
from driftmdp.simulation import Run, simulate
from driftmdp.simulation.setup import check_kinds
from driftmdp.testing.checks import CheckReport, Skip, require, run_checks
from driftmdp.validation import quietly


@quietly()
def check_agent(agent: Agent | Callable[[Problem], Agent], problem: Problem, seed: int = 0) -> CheckReport:
    """Check that an agent keeps the rules, and return which ones were checked.

    - it has ``reset``, ``act`` and ``observe``;
    - every action exists;
    - the same seed gives the same run, whatever was run in between;
    - agents of this package: asking twice before an observation gives the same answer;
    - the problem is not changed, nor the agent that ``simulate`` was given;
    - a copy made by pickling in memory, as workers do, runs the same;
    - if it offers ``save(path)`` and a class method ``load(path)``: stopped and loaded at any time, it goes on
      as if never interrupted;
    - if it offers ``play``: the compiled run equals the step-by-step one.

    Parameters
    ----------
    agent
        The agent, or a function that makes one for a problem.
    problem
        The problem to run it on; a few hundred steps suffice.
    seed
        Of the runs.

    Raises
    ------
    CheckFailedError
        At the first rule that is broken; the sentence says which and where.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=50)
    >>> report = dm.testing.check_agent(dm.agents.Random(problem.space), problem)
    >>> len(report.checks), len(report.skipped)
    (8, 0)
    """
    check_kinds(agent, problem, "check_agent(agent, problem)", "Use for_problem(problem), or a function.")
    player: Any = agent if isinstance(agent, Agent) or not callable(agent) else agent(problem)
    subject = getattr(player, "name", type(player).__name__)
    checks = {
        "has reset, act and observe": _has_the_protocol,
        "every action exists": _acts_legally,
        "the same seed gives the same run": _is_repeatable,
        "asking twice gives the same answer": _asks_twice,
        "inputs are not changed": _changes_nothing,
        "a pickled copy runs the same": _survives_pickling,
        "a saved and loaded copy continues": _survives_saving,
        "compiled equals step by step": _compiled_equals_stepwise,
    }
    return run_checks(subject, checks, player, problem, seed)


def _has_the_protocol(agent: Any, problem: Problem, seed: int) -> None:
    for method in ("reset", "act", "observe"):
        require(callable(getattr(agent, method, None)), f"it has no method {method}.")


def _is_repeatable(agent: Any, problem: Problem, seed: int) -> None:
    first = simulate(agent, problem, seed)
    simulate(agent, problem, seed + 1)
    _same(first, simulate(agent, problem, seed), "the second run")


def _acts_legally(agent: Any, problem: Problem, seed: int) -> None:
    try:
        simulate(agent, problem, seed, compiled=False)
    except InvalidInputError as error:
        require("chose an action" not in str(error), str(error))
        raise
    run = simulate(agent, problem, seed)
    legal = (run.actions >= 0) & (run.actions < problem.space.n_actions[run.states])
    first = int(np.argmin(legal))
    require(bool(legal.all()), f"action {run.actions[first]} at t={first + 1} does not exist.")


def _asks_twice(agent: Any, problem: Problem, seed: int) -> None:
    if not isinstance(agent, BuiltinAgent):
        raise Skip("not required of an agent of your own")
    player = copy.deepcopy(agent)
    player.reset(np.random.default_rng(seed))
    for state in range(min(problem.space.n_states, 20)):
        answers = [player.act(state) for _ in range(4)]
        require(len(set(answers)) == 1, f"act({state}) gave {answers} without an observation between.")


def _changes_nothing(agent: Any, problem: Problem, seed: int) -> None:
    world: list[Any] = list(problem.drifting.world)
    before, copies = _frozen(agent), [np.array(array) for array in world]
    simulate(agent, problem, seed)
    same = all(np.array_equal(old, new) for old, new in zip(copies, world, strict=True))
    require(same, "it changed the problem's arrays.")
    unchanged = before is None or before == _frozen(agent)
    require(unchanged, "simulate changed the agent it was given, not only its copy.")


def _survives_pickling(agent: Any, problem: Problem, seed: int) -> None:
    frozen = _frozen(agent)
    if frozen is None:
        raise Skip("it cannot be pickled, so it cannot be sent to other processes")
    _same(simulate(agent, problem, seed), simulate(pickle.loads(frozen), problem, seed), "the pickled copy")


def _survives_saving(agent: Any, problem: Problem, seed: int) -> None:
    if not callable(getattr(agent, "save", None)) or not callable(getattr(type(agent), "load", None)):
        raise Skip("it has no method save(path) with a class method load(path)")
    if isinstance(agent, BuiltinAgent) and builtin().get(type(agent).__name__) is not type(agent):
        raise Skip("it is derived from an agent of this package, and load finds only those")
    whole = simulate(agent, problem, seed, compiled=False)
    every = 1 if problem.horizon <= 60 else 13  # odd: before act and before observe
    _same(whole, simulate(_Interrupted(agent, every), problem, seed, compiled=False), "the interrupted run")


def _compiled_equals_stepwise(agent: Any, problem: Problem, seed: int) -> None:
    if not hasattr(agent, "play"):
        raise Skip("it has no method play(context)")
    compiled, stepwise = simulate(agent, problem, seed), simulate(agent, problem, seed, compiled=False)
    _same(compiled, stepwise, "the step-by-step run")
    for field in ("sweeps", "vacuous"):
        same = np.array_equal(getattr(compiled, field), getattr(stepwise, field))
        require(same, f"the step-by-step run has other {field} of plans.")


class _Interrupted:
    """An agent that is saved, deleted and loaded every few calls, between act and observe too."""

    def __init__(self, agent: Any, every: int) -> None:
        self._agent, self._every, self._n_calls = agent, every, 0

    @property
    def n_plans(self) -> int:
        return getattr(self._agent, "n_plans", 0)

    @property
    def last_plan(self) -> Plan:
        return self._agent.last_plan  # type: ignore[no-any-return]

    def reset(self, rng: np.random.Generator) -> None:
        self._agent.reset(rng)

    def act(self, state: int) -> int:
        self._interrupt()
        return int(self._agent.act(state))

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        self._interrupt()
        self._agent.observe(reward, next_state, action)

    def _interrupt(self) -> None:
        self._n_calls += 1
        if self._n_calls % self._every == 0:
            with tempfile.TemporaryDirectory() as folder:
                self._agent.save(Path(folder) / "agent.npz")
                self._agent = type(self._agent).load(Path(folder) / "agent.npz")


def _frozen(agent: Any) -> bytes | None:
    try:
        return pickle.dumps(agent)
    except Exception:
        return None


def _same(one: Run, other: Run, name: str) -> None:
    for field in ("states", "actions", "rewards", "mean_rewards"):
        differ = np.flatnonzero(getattr(one, field) != getattr(other, field))
        require(differ.size == 0, f"{name} has other {field} from t={differ[0] + 1 if differ.size else 0} on.")
    require(one.episode_starts.tolist() == other.episode_starts.tolist(), f"{name} plans at other times.")
