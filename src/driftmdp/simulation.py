"""One agent against one problem: the compiled loop and the step loop, one behaviour."""

from __future__ import annotations

import copy
import itertools
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents import Adaptive, Agent, BuiltinAgent, Optimist, Stage
from driftmdp.agents.base import RowByRow, checked_problem
from driftmdp.agents.sampler import Sampler
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Luck, Record
from driftmdp.mdp import DriftingMdp, Problem
from driftmdp.planning import optimal_gains
from driftmdp.validation import LARGEST, as_integer, as_vector, warn

__all__ = ["Run", "check_fit", "pauses", "simulate"]


@dataclass(frozen=True, eq=False)
class Run:
    """What happened.

    Attributes
    ----------
    agent, parameters
        The agent's name and what it was made from; its ``scale``, for example.
    problem, seed
        The problem's name, and the seed of the run.
    states
        s_1 .. s_T, shape (T,).
    actions
        The action taken in each.
    rewards
        What was received.
    mean_rewards
        r_t(s_t, a_t), which dynamic regret is made of.
    final_state
        s_{T+1}.
    episode_starts
        The times, from 1, at which a plan was made; empty for agents that do not plan.
    sweeps
        How many sweeps each of those plans took.
    vacuous
        Whether every radius of the plan was vacuous: nothing that was remembered mattered.
    summary
        What the agent has to say of its choices, if it has a method ``summary()``: of BORL and BOB the arms, their
        probabilities and those chosen, of EXP3 and its kin the parameters in force.
    """

    agent: str
    parameters: Mapping[str, Any] = field(repr=False)
    problem: str
    seed: int
    states: NDArray[np.int32] = field(repr=False)
    actions: NDArray[np.int32] = field(repr=False)
    rewards: NDArray[np.float64] = field(repr=False)
    mean_rewards: NDArray[np.float64] = field(repr=False)
    final_state: int = field(repr=False)
    episode_starts: NDArray[np.int64] = field(repr=False)
    sweeps: NDArray[np.int32] = field(repr=False)
    vacuous: NDArray[np.bool_] = field(repr=False)
    summary: Any = field(default=None, repr=False)

    @property
    def horizon(self) -> int:
        """The number of steps, T."""
        return self.actions.size

    @property
    def plans(self) -> int:
        """How many plans were made."""
        return self.episode_starts.size

    @property
    def vacuous_share(self) -> float:
        """The share of plans in which every radius was vacuous; NaN if there were no plans."""
        return float(self.vacuous.mean()) if self.plans else float("nan")

    @property
    def total_reward(self) -> float:
        """The sum of the rewards received."""
        return float(self.rewards.sum())

    def dynamic_regret(self, problem: Problem, gains: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the cumulative dynamic regret, sum of rho*_q - r_q(s_q, a_q) for q <= t, shape (T,).

        Parameters
        ----------
        problem
            The problem of the run.
        gains
            rho*_t, if you have them; otherwise they are solved for exactly, once for each problem.

        Examples
        --------
        >>> import driftmdp as dm
        >>> problem = dm.problems.two_state(horizon=1000)
        >>> run = dm.simulate(dm.agents.Random(problem.space), problem, seed=7)
        >>> bool(run.dynamic_regret(problem)[-1] > 500)
        True
        """
        if problem.horizon != self.horizon or problem.name != self.problem:
            raise InvalidInputError(
                f"problem must be the one of the run, {self.problem!r} with {self.horizon} steps; got "
                f"{problem.name!r} with {problem.horizon}."
            )
        best = _gains_of(problem.drifting) if gains is None else as_vector(gains, "gains", self.horizon)
        return np.cumsum(best - self.mean_rewards)


_known_gains: weakref.WeakKeyDictionary[DriftingMdp, NDArray[np.float64]] = weakref.WeakKeyDictionary()


def _gains_of(drifting: DriftingMdp) -> NDArray[np.float64]:
    if drifting not in _known_gains:
        _known_gains[drifting] = optimal_gains(drifting, allow_transient=True)
    return _known_gains[drifting]


def simulate(agent: Agent, problem: Problem, seed: int, compiled: bool | None = None) -> Run:
    """Run an agent on a problem and return what happened.

    The agent is copied and reset, never changed. The seed makes two independent streams, one for the world and one
    for the agent; step t of the world uses the same random numbers whatever the agent does.

    Parameters
    ----------
    agent
        One of ``driftmdp.agents``, or any object with ``reset(rng)``, ``act(state)`` and ``observe(reward,
        next_state, action=None)``.
    problem
        The world, its start and its noise.
    seed
        A whole number.
    compiled
        Run in compiled code; by default where the agent can. The trajectory is the same.

    Returns
    -------
    Run
        ``states``, ``actions``, ``rewards``, ``mean_rewards``, ``episode_starts``, facts of each plan, and
        ``dynamic_regret(problem)``.

    Raises
    ------
    InvalidInputError
        If agent and problem do not fit: other states or actions, a shorter horizon, a smaller reward range; or if
        the agent chooses an action that does not exist.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, seed=7)
    Run(agent='UCRL2', problem='two-state-v1', seed=7)
    """
    player, stage = _ready(agent, problem, seed)
    can = hasattr(player, "play")
    if compiled and not can:
        raise InvalidInputError(
            f"compiled must be False for {type(agent).__name__}, which has no method play(stage)."
        )
    if can and compiled is not False:
        player.play(stage)
    else:
        _step_loop(player, stage)
    return _run(agent, problem, seed, stage.record, _summary_of(player))


def pauses(agent: RowByRow, problem: Problem, seed: int, steps: Iterable[int]) -> Iterator[Any]:
    """Play the run that ``simulate`` would play, and yield the agent after each of the given steps.

    It is the same agent each time: look at it, or keep its ``beliefs()``, before going on.

    Parameters
    ----------
    agent, problem, seed
        As for ``simulate``; the agent must be one whose compiled run can stop, as those of optimists and upper
        confidence bounds can.
    steps
        Increasing times t, from 1 to the horizon.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> agent = dm.agents.UCRL2.for_problem(problem)
    >>> [player.t for player in pauses(agent, problem, seed=7, steps=[1, 500])]
    [2, 501]
    """
    if not isinstance(agent, RowByRow):
        name = agent.__name__ if isinstance(agent, type) else type(agent).__name__
        raise InvalidInputError(
            f"agent must be one whose compiled run can stop, such as SWUCRL2CW.for_problem(problem); got {name}."
        )
    player, stage = _ready(agent, problem, seed)
    return _paused(player, stage, _increasing(steps, problem.horizon))


def _paused(player: Any, stage: Stage, steps: list[int]) -> Iterator[Any]:
    played = 0
    for step in steps:
        player._play_rows(stage, played, step)
        played = step
        yield player


def _increasing(steps: Iterable[int], horizon: int) -> list[int]:
    if isinstance(steps, str) or not isinstance(steps, Iterable):
        raise InvalidInputError(f"steps must be a list of times; got {steps!r}.")
    times = [as_integer(step, f"steps[{i}]", 1, horizon) for i, step in enumerate(steps)]
    for i, (before, after) in enumerate(itertools.pairwise(times), start=1):
        if after <= before:
            raise InvalidInputError(f"steps must increase; got {after} after {before} at steps[{i}].")
    return times


def _ready(agent: Agent, problem: Problem, seed: int) -> tuple[Any, Stage]:
    """Return a fresh copy of the agent and the stage of a run, or refuse what does not fit."""
    checked_problem(problem)
    if isinstance(agent, type):
        raise InvalidInputError(
            f"agent must be made from its class first; got the class {agent.__name__}. Use for_problem(problem)."
        )
    if not isinstance(agent, Agent):
        raise InvalidInputError(f"agent must have reset, act and observe; got {agent!r}.")
    seed = as_integer(seed, "seed", minimum=0)
    if isinstance(agent, BuiltinAgent):
        check_fit(agent, problem)
    world_stream, agent_stream = np.random.SeedSequence(seed).spawn(2)
    player = _fresh(agent, np.random.default_rng(agent_stream))
    luck = Luck(*problem.luck(np.random.default_rng(world_stream)))
    return player, Stage(problem, luck, _new_record(problem))


def _fresh(agent: Agent, rng: np.random.Generator) -> Any:
    """Return a copy of the agent, reset."""
    if isinstance(agent, BuiltinAgent):
        return agent._twin(rng)
    try:
        twin = copy.deepcopy(agent)
    except Exception as error:
        raise InvalidInputError(
            f"agent must be copyable, so that simulate does not change it; copy.deepcopy says: {error}. Give "
            f"{type(agent).__name__} a __deepcopy__."
        ) from None
    twin.reset(rng)
    return twin


def _summary_of(player: Any) -> Any:
    agent = getattr(player, "__wrapped__", player)
    try:
        summary = getattr(agent, "summary", None)
        return summary() if callable(summary) else None
    except Exception as error:  # the run itself is whole
        name = type(agent).__name__
        warn(f"summary() of {name} must work without arguments; it failed: {error}. Run.summary is None.")
        return None


def _step_loop(agent: Agent, stage: Stage) -> None:
    """Do what a compiled run does, one step at a time."""
    record, luck = stage.record, stage.luck
    state, plans = stage.problem.start, 0
    for step in range(stage.problem.horizon):
        action = agent.act(state)
        pair = _legal_pair(agent, stage.problem, step + 1, state, action)
        planner = getattr(agent, "__wrapped__", agent)
        if isinstance(planner, (Adaptive, Optimist, Sampler)) and planner.n_plans != plans:
            plans = planner.n_plans
            record.sweeps[step], record.vacuous[step] = planner.last_plan.sweeps, planner.last_plan.vacuous
        now = luck.anchor[step], luck.successor[step], luck.noise[step]
        reward, next_state, _ = kernels.world.sample_step(stage.world, step, pair, now, stage.noise)
        agent.observe(reward, next_state)
        record.actions[step], record.rewards[step] = action, reward
        record.mean_rewards[step] = kernels.world.mean_reward(stage.world, step, pair)
        record.states[step + 1] = state = next_state


def _legal_pair(agent: Agent, problem: Problem, t: int, state: int, action: Any) -> int:
    try:
        return problem.space.pair(state, action)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{type(agent).__name__} chose an action that does not exist at t={t}: {error}"
        ) from None


def check_fit(agent: BuiltinAgent, problem: Problem) -> None:
    """Refuse an agent that was made for another problem."""
    if not np.array_equal(agent.space.n_actions, problem.space.n_actions):
        raise InvalidInputError(
            f"The agent must be made for the problem's states and actions, {problem.space!r}; it has "
            f"{agent.space!r}. "
            f"Use {type(agent).__name__}.for_problem(problem, ...)."
        )
    horizon = agent.horizon
    if horizon is not None and horizon < problem.horizon:
        raise InvalidInputError(
            f"The agent's horizon must be at least the problem's, {problem.horizon}; got {horizon}. "
            f"Use {type(agent).__name__}.for_problem(problem, ...)."
        )
    low, high = problem.reward_range
    if max(abs(low), abs(high), problem.noise.sigma) > LARGEST:
        raise InvalidInputError(f"The problem's rewards must be at most {LARGEST:g} in size to learn from them.")
    for name in ("reward_range", "feedback_range"):
        bounds = getattr(agent, name, None)
        if bounds is not None and not (bounds[0] <= low and high <= bounds[1]):
            raw = ", or reward_range=None for raw rewards" if isinstance(agent, Optimist) else ""
            raise InvalidInputError(
                f"The agent's {name} must contain the problem's, ({low:g}, {high:g}); got ({bounds[0]:g}, "
                f"{bounds[1]:g}). Use {type(agent).__name__}.for_problem(problem, ...)"
                f"{raw if name == 'reward_range' else ''}."
            )


def _new_record(problem: Problem) -> Record:
    n = problem.horizon
    states = np.empty(n + 1, np.int32)
    states[0] = problem.start
    return Record(
        states, np.empty(n, np.int32), np.empty(n), np.empty(n), np.zeros(n, np.int32), np.zeros(n, np.bool_)
    )


def _run(agent: Agent, problem: Problem, seed: int, record: Record, summary: Any) -> Run:
    planned = np.flatnonzero(record.sweeps)
    name, parameters = type(agent).__name__, {}
    if isinstance(agent, BuiltinAgent):
        name, parameters = agent.name, agent.parameters
    return Run(
        agent=name,
        parameters=parameters,
        problem=problem.name,
        seed=seed,
        states=record.states[:-1],
        actions=record.actions,
        rewards=record.rewards,
        mean_rewards=record.mean_rewards,
        final_state=int(record.states[-1]),
        episode_starts=planned + 1,
        sweeps=record.sweeps[planned],
        vacuous=record.vacuous[planned],
        summary=summary,
    )
