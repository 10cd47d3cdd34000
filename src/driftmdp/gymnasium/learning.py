"""Run an agent in any environment with Discrete states and actions, and record what it learned from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from driftmdp.agents import Agent, BuiltinAgent, FixedPolicy, Optimist, Random
from driftmdp.callbacks import Callback, CallbackList
from driftmdp.display import facts, safely, sparkline
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.gymnasium.wrappers import ContinuingEnv, Reachable, space_of
from driftmdp.mdp import Space
from driftmdp.progress import Progress, as_progress, watched
from driftmdp.simulation.run import vacuous_advice
from driftmdp.simulation.setup import copy_agent
from driftmdp.validation import as_integer, warn

PROGRESS_SECONDS = 0.1  # between two updates of the progress shown


@dataclass(frozen=True, eq=False, repr=False)
class Learning:
    """The record of a run of ``learn``, and the trained agent.

    Attributes
    ----------
    agent
        The trained agent. ``learn(env, learning.agent, steps, fresh=False)`` continues with it.
    environment, seed
        The environment's id, or its class, and the seed.
    states, actions
        The states and the actions done in them, numbered as in the environment, shape (steps,).
    rewards
        The reward of each step.
    ended
        Whether the step was the last of an episode.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.gymnasium import Learning
    >>> Learning("agent", "Coin-v1", 7, np.zeros(4), np.zeros(4), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 0]))
    Learning(agent='str', environment='Coin-v1', seed=7, steps=4, episodes=1, average_reward=0.5)
    """

    agent: Any
    environment: str
    seed: int | None
    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]

    @property
    def mean_rewards(self) -> None:
        """None: the mean rewards of an environment are unknown."""

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.rewards.size

    @property
    def episode_ends(self) -> NDArray[np.int64]:
        """The times, from 1, of the last step of each whole episode."""
        return np.flatnonzero(self.ended) + 1

    @property
    def episode_lengths(self) -> NDArray[np.int64]:
        """The number of steps of each whole episode."""
        return np.diff(self.episode_ends, prepend=0)

    @property
    def episode_returns(self) -> NDArray[np.float64]:
        """The total reward of each whole episode."""
        sums = np.concatenate([[0.0], np.cumsum(self.rewards)])
        return np.diff(sums[self.episode_ends], prepend=0.0)

    def average_reward(self, window: int | None = None) -> float:
        """Return the mean reward per step, of all steps or of the last ``window``."""
        last = self.steps if window is None else as_integer(window, "window", 1, self.steps)
        return float(self.rewards[-last:].mean())

    def learning_curve(self, window: int) -> NDArray[np.float64]:
        """Return the mean reward per step of each whole block of ``window`` steps."""
        size = as_integer(window, "window", 1, self.steps)
        whole = self.steps // size
        return np.asarray(self.rewards[: whole * size].reshape(whole, size).mean(axis=1))

    @safely
    def _repr_html_(self) -> str:
        return facts(
            f"Learning of {type(self.agent).__name__} in {self.environment}",
            seed=None if self.seed is None else str(self.seed),
            steps=self.steps,
            episodes=self.episode_ends.size or None,
            total_reward=self.rewards.sum(),
            reward_per_step=self.average_reward(),
            reward_so_far=sparkline(np.cumsum(self.rewards), "the cumulative reward"),
        )

    def __repr__(self) -> str:
        what = f"agent={type(self.agent).__name__!r}, environment={self.environment!r}, seed={self.seed}"
        size = f"steps={self.steps}, episodes={self.episode_ends.size}"
        return f"Learning({what}, {size}, average_reward={self.average_reward():.4g})"


def learn(
    env: gymnasium.Env[Any, Any],
    agent: Agent | Callable[[Space], Agent],
    steps: int,
    progress: bool | Progress = True,
    seed: int | None = None,
    callbacks: Iterable[Callback] = (),
    fresh: bool = True,
) -> Learning:
    """Run a learning agent in an environment, and return the record with the trained agent.

    Agents maximise the average reward of a world without end. So when an episode terminates or is truncated, the
    agent observes that its last action led to the state in which the next episode starts. If the environment gives
    ``info["action_mask"]``, the nearest action that is not masked replaces a masked one. The agent observes the
    outcome as that of its own choice. Otherwise an optimist would try the masked action for ever.

    Parameters
    ----------
    env
        Any environment with Discrete observations and actions, wherever they count from.
    agent
        One of ``driftmdp.agents``, or any object with ``reset(rng)``, ``act(state)`` and ``observe(reward,
        next_state, action=None)``, or a function that makes one from a :class:`Space`, such as
        ``driftmdp.agents.Adaptive``. States and actions count from 0. Make it with the range of the environment's
        rewards. It is copied, never changed.
    steps
        The number of steps, over as many episodes as they take.
    progress
        Whether to show progress: True, False, or an object that reports it, see :mod:`driftmdp.progress`.
    seed
        For the environment's first ``reset`` and the agent. On problems of this package it gives the run of
        ``simulate``. With None the draws are new, except those of an agent that was made with its own seed.
    callbacks
        Called during the run. ``problem`` is the environment and ``run`` the :class:`Learning`.
    fresh
        Reset the agent first. With False it continues with what it has learned: ``learn(env, learning.agent, 1000,
        fresh=False)``.

    Returns
    -------
    Learning
        ``states``, ``actions``, ``rewards``, ``episode_ends``, and the trained ``agent``.

    Raises
    ------
    InvalidInputError
        If a space is not Discrete, or the agent does not fit the environment.

    Warns
    -----
    UserWarning
        If an agent that explores would learn in states where no agent decides, as the table ``P`` of toy-text
        environments shows. :class:`Reachable` leaves them out.
    VacuousPlansWarning
        If the agent's last plan was vacuous: it has learned nothing.

    Examples
    --------
    >>> import gymnasium
    >>> import driftmdp as dm
    >>> from driftmdp.gymnasium import Reachable, learn
    >>> env = Reachable(gymnasium.make("FrozenLake-v1", is_slippery=False))
    >>> learning = learn(env, dm.agents.Adaptive, steps=3000, progress=False, seed=7)
    >>> learning.average_reward(window=600)  # the shortest path takes 6 steps
    0.16...

    See Also
    --------
    Reachable : leaves out the states in which no agent decides. Use it for all agents that explore by optimism.
    """
    if isinstance(agent, gymnasium.Env):
        hint = "The arguments look swapped: write learn(env, agent, steps)."
        raise InvalidInputError(f"agent must have reset, act and observe; got the environment {agent!r}. {hint}")
    steps = as_integer(steps, "steps", minimum=1)
    seed = None if seed is None else as_integer(seed, "seed", minimum=0)
    space, callback_list, shown = space_of(env), CallbackList(callbacks), as_progress(progress, "steps")
    player = _player(agent, space, seed, fresh)
    _check_fit(player, space, steps)
    _warn_of_idle_states(player, env)
    callback_list.start(player, env, seed)
    states, actions = np.empty((2, steps), np.int64)
    learning = Learning(player, _name(env), seed, states, actions, np.empty(steps), np.zeros(steps, np.bool_))
    for _ in watched(_steps(learning, ContinuingEnv(env, seed), callback_list), steps, shown, PROGRESS_SECONDS):
        pass
    callback_list.end(learning)
    if isinstance(player, Optimist) and player.last_plan.vacuous:
        advice = vacuous_advice(player.parameters.get("scale", 1.0))
        warn(f"The last plan of {player.name} was {advice}", VacuousPlansWarning)
    return learning


def _warn_of_idle_states(player: Any, env: gymnasium.Env[Any, Any]) -> None:
    """Warn if an agent explores states in which no agent ever decides, where the table ``P`` shows them."""
    if not isinstance(player, BuiltinAgent) or isinstance(player, (FixedPolicy, Random)):
        return
    try:
        decided = Reachable(env).states
    except InvalidInputError:  # it has no table, or is Reachable already
        return
    idle = sorted({*range(player.space.n_states)} - {*decided.tolist()})
    if idle:
        which = f"{len(idle)} of the {player.space.n_states} states of {_name(env)}, such as {idle[0]},"
        why = f"are never decided in, and {player.name} would keep looking for a way there"
        warn(f"{which} {why}. Write learn(Reachable(env), ...).")


def _steps(learning: Learning, env: ContinuingEnv, callback_list: CallbackList) -> Iterator[int]:
    """Let the agent act, record each step, call the callbacks, and yield the time after each step."""
    player = learning.agent
    for i in range(learning.steps):
        learning.states[i] = env.state + env.first_state
        result = env.step(player.act(env.state))
        player.observe(result.reward, env.state)
        learning.actions[i] = result.action + env.first_action
        learning.rewards[i], learning.ended[i] = result.reward, result.ended
        callback_list.report(player, i + 1, learning)
        yield i + 1


def _player(agent: Any, space: Space, seed: int | None, fresh: bool) -> Any:
    """Return a copy of the agent, or a new agent, to play."""
    if isinstance(agent, type) or not isinstance(agent, Agent):
        agent, fresh = _new_agent(agent, space), True
    elif fresh and isinstance(agent, BuiltinAgent):
        agent = agent.copy()  # does not copy what a reset discards
    else:
        agent = copy_agent(agent)
    if fresh:
        has_own_seed = seed is None and isinstance(agent, BuiltinAgent)
        agent.reset(None if has_own_seed else np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1]))
    return agent


def _new_agent(maker: Any, space: Space) -> Any:
    if not callable(maker):
        hint = " Pass the class of driftmdp.agents, not its name." if isinstance(maker, str) else ""
        rule = "agent must have reset, act and observe, or be a function of a Space"
        raise InvalidInputError(f"{rule}; got {maker!r}.{hint}")
    try:
        made = maker(space)
    except TypeError as error:
        name = getattr(maker, "__name__", repr(maker))
        rule = f"agent must be an agent, or a function of a Space alone; {name} says: {error}"
        hint = f"Pass the other arguments: lambda space: {name}(space, ...)"
        raise InvalidInputError(f"{rule}. {hint}.") from error
    if not isinstance(made, Agent):
        raise InvalidInputError(f"agent must return an object with reset, act and observe; it returned {made!r}.")
    return made


def _check_fit(player: Any, space: Space, steps: int) -> None:
    """Raise if the agent was made for other states or actions, or for fewer steps."""
    if not isinstance(player, BuiltinAgent):
        return
    if not np.array_equal(player.space.n_actions, space.n_actions):
        rule = f"The agent must be made for the environment's states and actions, {space!r}"
        raise InvalidInputError(f"{rule}; got {player.space!r}. Make it with space_of(env).")
    if player.horizon is not None and player.t - 1 + steps > player.horizon:
        rule = f"steps must fit the agent's horizon of {player.horizon}, of which {player.t - 1} are done"
        raise InvalidInputError(f"{rule}; got {steps}. Make it with a larger horizon.")


def _name(env: gymnasium.Env[Any, Any]) -> str:
    """Return an environment's id, or the name of its class if it has none."""
    return type(env.unwrapped).__name__ if env.spec is None else env.spec.id
