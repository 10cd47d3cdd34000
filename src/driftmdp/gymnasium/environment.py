"""A problem as a gymnasium environment, with the same random draws as ``simulate``, and its id in the registry.

===========================  ===========================================================================
gymnasium                    here
===========================  ===========================================================================
observation, action          state and action, whole numbers from 0
``reset(seed=7)``            the draws of ``simulate(agent, problem, seed=7)``
``reset()``                  new draws from the environment's own generator
``truncated``                the horizon is reached. A problem never terminates
``info["action_mask"]``      1 for the actions that the state offers, 0 for the others
``info["t"]``                the steps done so far
``info["mean_reward"]``      r_t(s, a) of the step just done, from which dynamic regret follows
``info["illegal_action"]``   whether the action was not on offer and the nearest one was taken
===========================  ===========================================================================
"""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from driftmdp import kernels, problems
from driftmdp.agents.parameters import checked_problem
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Draws, Problem
from driftmdp.problems import ProblemEntry
from driftmdp.validation import as_integer, one_of

Info = dict[str, Any]
MAX_STATES_DRAWN = 20  # fit on a line
RESERVED_PARAMETERS = ("problem", "strict", "render_mode")  # of ProblemEnv itself


class ProblemEnv(gymnasium.Env[Any, Any]):
    """A problem as a ``gymnasium.Env`` with Discrete spaces. One episode lasts for the problem's horizon.

    Parameters
    ----------
    problem
        A problem, or the name of a registered one, which is made from ``parameters``.
    strict
        Raise if an action is not on offer in the state. By default the nearest action on offer is taken, and
        ``info["illegal_action"]`` is True.
    render_mode
        ``"ansi"``, for which ``render()`` returns a few lines of text, or None.
    **parameters
        Parameters of the named problem.

    Raises
    ------
    InvalidInputError
        If an argument is wrong, a step comes before ``reset`` or after the end, or an action is outside of the
        action space. With ``strict``, also if the state does not offer the action.

    Examples
    --------
    >>> from driftmdp.gymnasium import ProblemEnv
    >>> env = ProblemEnv("two-state-v1", horizon=1000)
    >>> env.observation_space, env.action_space
    (Discrete(2), Discrete(2))
    >>> state, info = env.reset(seed=7)
    >>> state, reward, terminated, truncated, info = env.step(1)
    >>> info["t"], truncated
    (1, False)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self, problem: Problem | str, strict: bool = False, render_mode: str | None = None, **parameters: Any
    ) -> None:
        self.problem = _as_problem(problem, parameters)
        self.strict = strict
        if render_mode is not None:
            one_of(render_mode, "render_mode", self.metadata["render_modes"])
        self.render_mode = render_mode
        self._n_actions = self.problem.space.n_actions
        self._width = int(self._n_actions.max())
        self.observation_space = Discrete(self.problem.space.n_states)
        self.action_space = Discrete(self._width)
        self._draws: Draws | None = None
        self._t, self._state = 0, self.problem.start
        self._last: tuple[int, int, float] | None = None

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[int, Info]:
        """Go back to the start. A seed gives the draws of ``simulate`` with that seed, None gives new draws."""
        super().reset(seed=seed)
        rng = self.np_random if seed is None else np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])
        self._draws = self.problem.draw_noise(rng)
        self._t, self._state, self._last = 0, self.problem.start, None
        return self._state, {"t": 0, "action_mask": self._mask()}

    def step(self, action: int) -> tuple[int, float, bool, bool, Info]:
        """Take an action. Returns the next state, the reward, False, whether it was the last step, and ``info``."""
        draws = self._draws_of_step()
        state, done = self._state, self._nearest_legal(action)
        reward, next_state, _ = self.problem.sample(self._t + 1, state, done, draws)
        pair = self.problem.space.pair(state, done)
        mean = kernels.world.mean_reward(self.problem.drifting.world, self._t, pair)
        self._t, self._state, self._last = self._t + 1, int(next_state), (state, done, float(reward))
        info = {"t": self._t, "action_mask": self._mask(), "mean_reward": float(mean)}
        info["illegal_action"] = done != int(action)
        return self._state, float(reward), False, self._t == self.problem.horizon, info

    def render(self) -> str | None:
        """Return the current state as text, or None without a render mode. Large worlds show only the state."""
        if self.render_mode is None:
            return None
        if self._draws is None:
            raise InvalidInputError("render must follow reset; call reset(seed=...) first.")
        return render_text(self.problem, self._t, self._state, self._last)

    def _draws_of_step(self) -> Draws:
        if self._draws is None:
            raise InvalidInputError("step must follow reset; call reset(seed=...) first.")
        if self._t == self.problem.horizon:
            rule = f"step must not follow the end of the {self.problem.horizon} steps"
            raise InvalidInputError(f"{rule}. Call reset() to start again.")
        return self._draws

    def _nearest_legal(self, action: int) -> int:
        """Return the action, or the nearest that the state offers. A state offers actions 0 .. width - 1."""
        width = int(self._n_actions[self._state])
        most = width if self.strict else self._width
        return min(as_integer(action, f"action of state {self._state}", 0, most - 1), width - 1)

    def _mask(self) -> NDArray[np.int8]:
        return np.asarray(np.arange(self._width) < self._n_actions[self._state], dtype=np.int8)


def _as_problem(problem: Problem | str, parameters: dict[str, Any]) -> Problem:
    if isinstance(problem, str):
        return problems.make(problem, **parameters)
    if parameters:
        names = ", ".join(parameters)
        raise InvalidInputError(f"parameters must come with the name of a problem; got {names} with a Problem.")
    return checked_problem(problem)


def render_text(problem: Problem, t: int, state: int, last: tuple[int, int, float] | None) -> str:
    """Return the time, the states with the current one in brackets, and the last step (state, action, reward).

    Examples
    --------
    >>> import driftmdp as dm
    >>> from driftmdp.gymnasium.environment import render_text
    >>> print(render_text(dm.problems.river_swim(horizon=100), 3, 1, (0, 1, 0.0)))
    river-swim-v1, 3 of 100 steps done
     0 [1] 2  3  4  5
    last: action right in state 0, reward 0
    """
    space = problem.space
    if space.n_states > MAX_STATES_DRAWN:
        name = space.state_name(state)
        states = f"state {name}, one of {space.n_states}; more than {MAX_STATES_DRAWN} are not drawn"
    else:
        names = (space.state_name(s) for s in range(space.n_states))
        states = "".join(f"[{name}]" if s == state else f" {name} " for s, name in enumerate(names)).rstrip()
    step = "last: none"
    if last is not None:
        was, action, reward = last
        name = space.action_name(was, action)
        step = f"last: action {name} in state {space.state_name(was)}, reward {reward:.6g}"
    return f"{problem.name}, {t} of {problem.horizon} steps done\n{states}\n{step}"


def env_id(name: str) -> str:
    """Return the gymnasium id of a registered problem.

    Examples
    --------
    >>> from driftmdp.gymnasium import env_id
    >>> env_id("two-state-v1")
    'driftmdp/TwoState-v1'
    """
    words, _, version = problems.describe(name).name.rpartition("-v")
    return f"driftmdp/{''.join(word.capitalize() for word in words.split('-'))}-v{version}"


def register_all() -> list[str]:
    """Register every problem with gymnasium, and return their ids.

    ``import driftmdp.gymnasium`` does this. Call it again after ``problems.register``.

    Returns
    -------
    list of str
        All ids, including those registered before.

    Raises
    ------
    InvalidInputError
        If two problems have one id, as ``two2-v1`` and ``two-2-v1``, or a parameter is called ``problem``,
        ``strict`` or ``render_mode``, as a parameter of the environment is. All other problems are registered.

    Examples
    --------
    >>> import gymnasium
    >>> from driftmdp.gymnasium import register_all
    >>> "driftmdp/TwoState-v1" in register_all()
    True
    >>> env = gymnasium.make("driftmdp/TwoState-v1", horizon=1000)
    >>> env.unwrapped.problem.horizon
    1000
    """
    entries = problems.list()
    errors = [error for entry in entries if (error := _register(entry))]
    if errors:
        raise InvalidInputError(errors[0])
    return [env_id(entry.name) for entry in entries]


def _register(entry: ProblemEntry) -> str | None:
    """Register a problem, or return why it cannot be registered."""
    key, instead = env_id(entry.name), "Rename it, or use ProblemEnv(problem); all others are registered."
    reserved = [parameter for parameter in RESERVED_PARAMETERS if parameter in entry.parameters]
    if reserved:
        return f"Parameters of {entry.name!r} must not be called {reserved[0]!r}, ProblemEnv's. {instead}"
    if key not in gymnasium.registry:
        gymnasium.register(
            key,
            entry_point="driftmdp.gymnasium.environment:ProblemEnv",
            kwargs={"problem": entry.name},
            order_enforce=False,  # the environment checks the order and truncates itself
            disable_env_checker=True,  # the tests run the full checker on every problem
        )
    owner = gymnasium.registry[key].kwargs.get("problem")
    if owner == entry.name:
        return None
    return f"{entry.name!r} must have a unique id; got {key!r}, the id of {owner!r}. {instead}"
