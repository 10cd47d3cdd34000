"""Let an agent learn in any environment with Discrete states and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gymnasium
import numpy as np

from driftmdp.agents import Agent, BuiltinAgent, FixedPolicy, Optimist, Random
from driftmdp.callbacks import Callback, CallbackList
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.gymnasium.continuing_env import ContinuingEnv, space_of
from driftmdp.gymnasium.reachable import Reachable
from driftmdp.gymnasium.trajectory import Learning, Trajectory, name_of
from driftmdp.mdp import Space
from driftmdp.progress import Progress, as_progress, watched
from driftmdp.simulation.run import vacuous_advice
from driftmdp.simulation.setup import copied
from driftmdp.validation import as_integer, warn

SHOWN_EVERY = 0.1  # seconds between two words of progress


def learn(
    env: gymnasium.Env[Any, Any],
    agent: Agent | Callable[[Space], Agent],
    steps: int,
    progress: bool | Progress = True,
    seed: int | None = None,
    callbacks: Iterable[Callback] = (),
    fresh: bool = True,
) -> Learning:
    """Let an agent learn in an environment, and return what happened with the agent that has learned.

    Agents here maximise the average reward of a world without end: when an episode ends, terminated or truncated,
    the agent is told that its last action led to the state in which the next episode starts. Where the environment
    gives ``info["action_mask"]``, it is never handed a masked action: the nearest that is left is done instead, and
    the agent learns that its choice has that effect. (Told that it did something else, an optimist would try the
    masked action for ever.)

    Parameters
    ----------
    env
        Any environment with Discrete observations and actions, wherever they count from.
    agent
        One of ``driftmdp.agents``, or any object with ``reset(rng)``, ``act(state)`` and ``observe(reward,
        next_state, action=None)``; or what makes one from a :class:`Space`, such as ``driftmdp.agents.Adaptive``.
        States and actions count from 0. Make it with the range of the environment's rewards. It is copied, never
        changed.
    steps
        How many steps, over as many episodes as they take.
    progress
        Show how far it is: True, False, or an object that is told, see :mod:`driftmdp.progress`.
    seed
        For the environment's first ``reset`` and the agent; on our own problems the run of ``simulate``. With
        None the environment's luck is fresh, and so is the agent's, unless it was made with a seed of its own.
    callbacks
        Told of the run while it lasts; ``problem`` is the environment and ``run`` the :class:`Learning`.
    fresh
        Reset the agent first. With False it goes on with what it knows: ``learn(env, learning.agent, 1000,
        fresh=False)``.

    Returns
    -------
    Learning
        ``states``, ``actions``, ``rewards``, ``episode_ends``, and the trained ``agent``.

    Raises
    ------
    InvalidInputError
        If a space is not Discrete, or agent and environment do not fit.

    Warns
    -----
    UserWarning
        If an agent that explores is to learn where nobody decides in some states, as the table ``P`` of toy-text
        environments shows; :class:`Reachable` leaves them out.
    VacuousPlansWarning
        If the agent's last plan was vacuous: it has learned nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> from driftmdp.gymnasium import Reachable
    >>> env = Reachable(gymnasium.make("FrozenLake-v1", is_slippery=False))
    >>> learning = learn(env, dm.agents.Adaptive, steps=3000, progress=False, seed=7)
    >>> learning.average_reward(window=600)  # the shortest way takes 6 steps
    0.16...

    See Also
    --------
    Reachable : leaves out the states in which nobody decides; do that for all agents that explore by optimism.
    """
    if isinstance(agent, gymnasium.Env):
        raise InvalidInputError(
            f"agent must have reset, act and observe; got the environment {agent!r}. The arguments look swapped: "
            "write learn(env, agent, steps)."
        )
    steps = as_integer(steps, "steps", minimum=1)
    seed = None if seed is None else as_integer(seed, "seed", minimum=0)
    space, audience, shown = space_of(env), CallbackList(callbacks), as_progress(progress, "steps")
    player = _player(agent, space, seed, fresh)
    _check_fit(player, space, steps)
    _warn_of_idle_states(player, env)
    audience.start(player, env, seed)
    trail = Trajectory.of(steps)
    for _ in watched(_walked(player, ContinuingEnv(env, seed), trail, audience), steps, shown, SHOWN_EVERY):
        pass
    learning = Learning(player, name_of(env), seed, *trail)
    audience.end(learning)
    if isinstance(player, Optimist) and player.last_plan.vacuous:
        advice = vacuous_advice(player.parameters.get("scale", 1.0))
        warn(f"The last plan of {player.name} was {advice}", VacuousPlansWarning)
    return learning


def _warn_of_idle_states(player: Any, env: gymnasium.Env[Any, Any]) -> None:
    """Warn an agent that explores of states in which nobody ever decides, where the table ``P`` shows them."""
    if not isinstance(player, BuiltinAgent) or isinstance(player, (FixedPolicy, Random)):
        return
    try:
        decided = Reachable(env).states
    except InvalidInputError:  # it has no table, or is Reachable already
        return
    idle = sorted({*range(player.space.n_states)} - {*decided.tolist()})
    if idle:
        warn(
            f"{len(idle)} of the {player.space.n_states} states of {name_of(env)} are never decided in "
            f"(state {idle[0]}, for example); {player.name} would go on looking for a way there. Write "
            "learn(Reachable(env), ...)."
        )


def _walked(player: Any, walk: ContinuingEnv, trail: Trajectory, audience: CallbackList) -> Iterator[int]:
    """Let the player walk, write it down, tell of it, and yield the time after each step."""
    for i in range(trail.actions.size):
        trail.states[i] = walk.state + walk.first_state
        pace = walk.step(player.act(walk.state))
        player.observe(pace.reward, walk.state)
        trail.actions[i] = pace.action + walk.first_action
        trail.rewards[i], trail.ended[i] = pace.reward, pace.ended
        audience.report(player, i + 1, trail)
        yield i + 1


def _player(agent: Any, space: Space, seed: int | None, fresh: bool) -> Any:
    """Return a copy of the agent, or a new one, that may be changed."""
    if isinstance(agent, type) or not isinstance(agent, Agent):
        agent, fresh = _made(agent, space), True
    elif fresh and isinstance(agent, BuiltinAgent):
        agent = agent.copy()  # spares the copy of what is forgotten anyway
    else:
        agent = copied(agent)
    if fresh:
        keeps_its_own = seed is None and isinstance(agent, BuiltinAgent)
        agent.reset(None if keeps_its_own else np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1]))
    return agent


def _made(maker: Any, space: Space) -> Any:
    if not callable(maker):
        hint = " Give what has this name in driftmdp.agents, not its name." if isinstance(maker, str) else ""
        raise InvalidInputError(
            f"agent must have reset, act and observe, or make one from a Space; got {maker!r}.{hint}"
        )
    try:
        made = maker(space)
    except TypeError as error:
        name = getattr(maker, "__name__", repr(maker))
        raise InvalidInputError(
            f"agent must be made, or made from a Space alone; {name} says: {error}. Give it the rest: "
            f"lambda space: {name}(space, ...)."
        ) from error
    if not isinstance(made, Agent):
        raise InvalidInputError(f"agent must make what has reset, act and observe; it made {made!r}.")
    return made


def _check_fit(player: Any, space: Space, steps: int) -> None:
    """Refuse an agent that was made for other states, actions, or fewer steps."""
    if not isinstance(player, BuiltinAgent):
        return
    if not np.array_equal(player.space.n_actions, space.n_actions):
        raise InvalidInputError(
            f"The agent must be made for the environment's states and actions, {space!r}; it has {player.space!r}. "
            "Make it with space_of(env)."
        )
    if player.horizon is not None and player.t - 1 + steps > player.horizon:
        raise InvalidInputError(
            f"steps must fit the agent's horizon of {player.horizon}, of which {player.t - 1} are done; got "
            f"{steps}. Make it with a larger horizon."
        )
