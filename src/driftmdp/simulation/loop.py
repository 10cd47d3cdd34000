"""The loops that play a run, compiled or step by step, with one behaviour."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from driftmdp import kernels
from driftmdp.agents import Agent, RunContext
from driftmdp.agents.base import ResumableAgent
from driftmdp.callbacks import Callback, CallbackList
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.mdp import Problem
from driftmdp.simulation.run import Run, finished_run
from driftmdp.simulation.setup import ready
from driftmdp.validation import as_flag, as_integer, as_list, warn


def simulate(
    agent: Agent, problem: Problem, seed: int, compiled: bool | None = None, callbacks: Sequence[Callback] = ()
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
        Are called during the run, see :class:`~driftmdp.Callback`. The trajectory is the same. An agent whose
        compiled run cannot stop is played step by step.

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
    listeners = CallbackList(callbacks)
    player, context = ready(agent, problem, seed)
    fast = _is_compiled(player, compiled, bool(listeners))
    listeners.start(player, problem, seed)
    if fast and not listeners:
        player.play(context)
    else:
        for step in _play_up_to(player, context, fast, listeners.times(problem.horizon)):
            listeners.report(player, step, context.record)
    run = finished_run(agent, player, problem, seed, context.record)
    listeners.end(run)
    if run.is_vacuous:
        warn(f"Every plan of {run.agent} was {run._advice}", VacuousPlansWarning)
    return run


def _is_compiled(player: Any, compiled: bool | None, watched: bool) -> bool:
    """Return whether to play in compiled code, or raise if the agent cannot."""
    compiled = None if compiled is None else as_flag(compiled, "compiled")
    can = can_stop(player) if watched else hasattr(player, "play")
    if compiled and not can:
        name = type(player).__name__
        why = "whose compiled run cannot stop for callbacks" if watched else "which has no method play(context)"
        raise InvalidInputError(f"compiled must be False for {name}, {why}.")
    return can and compiled is not False


def can_stop(player: Any) -> bool:
    """Return whether the agent's compiled run can stop after any step; a subclass may override ``play``."""
    return isinstance(player, ResumableAgent) and type(player).play is ResumableAgent.play


def _play_up_to(player: Any, context: RunContext, fast: bool, times: Iterable[int]) -> Iterator[int]:
    """Play up to each of the times, and yield it."""
    played = 0
    for time in times:
        if fast:
            player._play_rows(context, played, time)
        else:
            _play_stepwise(player, context, played, time)
        yield (played := time)


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
    >>> from driftmdp.simulation import simulate_until
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> agent = dm.agents.UCRL2.for_problem(problem)
    >>> [player.t for player in simulate_until(agent, problem, seed=7, steps=[1, 500])]
    [2, 501]
    """
    if not can_stop(agent):
        name = agent.__name__ if isinstance(agent, type) else type(agent).__name__
        rule = "agent must be one whose compiled run can stop, such as SWUCRL2CW.for_problem(problem)"
        raise InvalidInputError(f"{rule}; got {name}.")
    player, context = ready(agent, problem, seed)
    times = _increasing(steps, problem.horizon)
    return (player for _ in _play_up_to(player, context, True, times))


def _increasing(steps: Iterable[int], horizon: int) -> list[int]:
    listed = as_list(steps, "steps", "a list of times")
    times = [as_integer(step, f"steps[{i}]", 1, horizon) for i, step in enumerate(listed)]
    for i, (before, after) in enumerate(itertools.pairwise(times), start=1):
        if after <= before:
            raise InvalidInputError(f"steps must increase; got {after} after {before} at steps[{i}].")
    return times


def _play_stepwise(agent: Any, context: RunContext, first: int, last: int) -> None:
    """Play the rows ``first .. last - 1`` of a record with ``act`` and ``observe``."""
    record, plans_made = context.record, _plan_counter(agent)
    plans = plans_made()
    for step in range(first, last):
        state = int(record.states[step])
        action = _legal_action(agent, context.problem, step + 1, state, agent.act(state))
        if plans_made() != plans:
            plans, plan = plans_made(), agent.last_plan
            record.sweeps[step], record.vacuous[step] = plan.sweeps, plan.vacuous
        agent.observe(*kernels.world.take_step(*context.inputs, record, step, action))


def _plan_counter(agent: Any) -> Callable[[], int]:
    """Return a function that counts the plans of an agent, 0 for one that is no ``PlanningAgent``."""
    plans = hasattr(type(agent), "n_plans") and hasattr(type(agent), "last_plan")
    return (lambda: agent.n_plans) if plans else (lambda: 0)


def _legal_action(agent: Agent, problem: Problem, t: int, state: int, action: Any) -> int:
    try:
        return problem.space.pair(state, action) - int(problem.space.offsets[state])
    except InvalidInputError as error:
        name = type(agent).__name__
        raise InvalidInputError(f"{name} chose an action that does not exist at t={t}: {error}") from None
