"""Playing a run: the compiled loop and the step loop, one behaviour, whole or in stretches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from driftmdp import kernels
from driftmdp.agents import Adaptive, Agent, Optimist, RunContext
from driftmdp.agents.base import ResumableAgent
from driftmdp.agents.sampler import Sampler
from driftmdp.callbacks import Callback, CallbackList
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.mdp import Problem
from driftmdp.simulation.run import Run, finished_run
from driftmdp.simulation.setup import ready
from driftmdp.validation import as_flag, as_integer, as_list, warn


def simulate(
    agent: Agent,
    problem: Problem,
    seed: int,
    compiled: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> Run:
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
    callbacks
        Are told how it goes, see :class:`~driftmdp.Callback`. The trajectory is the same; an agent whose compiled
        run cannot stop is played step by step.

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

    Warns
    -----
    VacuousPlansWarning
        If every plan was vacuous: the agent learned nothing. ``run.is_vacuous`` and ``print(run)`` say so too.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, seed=7)
    Run(agent='UCRL2', problem='two-state-v1', seed=7)
    """
    audience = CallbackList(callbacks)
    player, context = ready(agent, problem, seed)
    fast = _is_compiled(player, compiled, bool(audience))
    if audience:
        audience.start(player, problem, seed)
        for step in _stretches(player, context, fast, audience.times(problem.horizon)):
            audience.tell(player, step, context.record)
    else:
        _play_whole(player, context, fast)
    run = finished_run(agent, player, problem, seed, context.record)
    audience.end(run)
    if run.is_vacuous:
        warn(f"Every plan of {run.agent} was {run._advice}", VacuousPlansWarning)
    return run


def _is_compiled(player: Any, compiled: bool | None, watched: bool) -> bool:
    """Return whether to play in compiled code, or refuse what the agent cannot do."""
    compiled = None if compiled is None else as_flag(compiled, "compiled")
    can = can_stop(player) if watched else hasattr(player, "play")
    if compiled and not can:
        name = type(player).__name__
        why = "whose compiled run cannot stop for callbacks" if watched else "which has no method play(stage)"
        raise InvalidInputError(f"compiled must be False for {name}, {why}.")
    return can and compiled is not False


def can_stop(player: Any) -> bool:
    """Return whether the agent's compiled run is nothing but its rows; a subclass may have its own."""
    return isinstance(player, ResumableAgent) and type(player).play is ResumableAgent.play


def _play_whole(player: Any, context: RunContext, fast: bool) -> None:
    if fast:
        player.play(context)
    else:
        _step_rows(player, context, 0, context.problem.horizon)


def _stretches(player: Any, context: RunContext, fast: bool, times: Iterable[int]) -> Iterator[int]:
    """Play up to each of the times, and yield it."""
    played = 0
    for time in times:
        if fast:
            player._play_rows(context, played, time)
        else:
            _step_rows(player, context, played, time)
        played = time
        yield time


def simulate_until(agent: ResumableAgent, problem: Problem, seed: int, steps: Iterable[int]) -> Iterator[Any]:
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
    >>> [player.t for player in simulate_until(agent, problem, seed=7, steps=[1, 500])]
    [2, 501]
    """
    if not can_stop(agent):
        name = agent.__name__ if isinstance(agent, type) else type(agent).__name__
        raise InvalidInputError(
            f"agent must be one whose compiled run can stop, such as SWUCRL2CW.for_problem(problem); got {name}."
        )
    player, context = ready(agent, problem, seed)
    times = _increasing(steps, problem.horizon)
    return (player for _ in _stretches(player, context, True, times))


def _increasing(steps: Iterable[int], horizon: int) -> list[int]:
    listed = as_list(steps, "steps", "a list of times")
    times = [as_integer(step, f"steps[{i}]", 1, horizon) for i, step in enumerate(listed)]
    for i, (before, after) in enumerate(itertools.pairwise(times), start=1):
        if after <= before:
            raise InvalidInputError(f"steps must increase; got {after} after {before} at steps[{i}].")
    return times


def _step_rows(agent: Any, context: RunContext, first: int, last: int) -> None:
    """Do what a compiled run does in the rows ``first .. last - 1``, one step at a time."""
    record, draws = context.record, context.draws
    state, plans = int(record.states[first]), _plans_of(agent)
    for step in range(first, last):
        action = agent.act(state)
        pair = _legal_pair(agent, context.problem, step + 1, state, action)
        if _plans_of(agent) != plans:
            plans = _plans_of(agent)
            plan = getattr(agent, "__wrapped__", agent).last_plan
            record.sweeps[step], record.vacuous[step] = plan.sweeps, plan.vacuous
        now = draws.anchor[step], draws.successor[step], draws.noise[step]
        reward, next_state, _ = kernels.world.sample_step(context.world, step, pair, now, context.noise)
        agent.observe(reward, next_state)
        record.actions[step], record.rewards[step] = action, reward
        record.mean_rewards[step] = kernels.world.mean_reward(context.world, step, pair)
        record.states[step + 1] = state = next_state


def _plans_of(agent: Any) -> int:
    planner = getattr(agent, "__wrapped__", agent)
    return planner.n_plans if isinstance(planner, (Adaptive, Optimist, Sampler)) else 0


def _legal_pair(agent: Agent, problem: Problem, t: int, state: int, action: Any) -> int:
    try:
        return problem.space.pair(state, action)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{type(agent).__name__} chose an action that does not exist at t={t}: {error}"
        ) from None
