"""A problem as an environment: the same world, the same luck, in gymnasium's words.

===========================  ===========================================================================
gymnasium                    here
===========================  ===========================================================================
observation, action          state and action, whole numbers from 0
``reset(seed=7)``            the draws of ``simulate(agent, problem, seed=7)``
``reset()``                  fresh luck from the environment's own generator
``truncated``                the horizon is reached; a problem never terminates
``info["action_mask"]``      1 for the actions that the state offers, 0 for the others
``info["t"]``                the steps done so far
``info["mean_reward"]``      r_t(s, a) of the step just done, which dynamic regret is made of
``info["illegal_action"]``   whether the action was not on offer, and the nearest one was taken instead
===========================  ===========================================================================
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from driftmdp import kernels, problems
from driftmdp.agents.base import checked_problem
from driftmdp.errors import InvalidInputError
from driftmdp.gymnasium.rendering import picture
from driftmdp.mdp import Draws, Problem
from driftmdp.validation import as_integer, one_of


class ProblemEnv(gymnasium.Env[Any, Any]):
    """A problem as a ``gymnasium.Env`` with Discrete spaces, one episode of which is the problem's horizon.

    Parameters
    ----------
    problem
        A problem, or the name of a registered one, which is then made from ``parameters``.
    strict
        Raise where an action is not on offer in the state; by default the nearest that is on offer is taken and
        ``info["illegal_action"]`` is True.
    render_mode
        ``"ansi"`` for ``render()``, which returns a few lines of text; or None.
    **parameters
        Those of the named problem.

    Raises
    ------
    InvalidInputError
        If an argument is wrong, at a step before ``reset`` or after the end, for an action outside of the action
        space and, if ``strict``, for one that the state does not offer.

    Examples
    --------
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
        self.problem = _made(problem, parameters)
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

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Go back to the start; with a seed the luck of ``simulate`` with that seed, without one fresh luck."""
        super().reset(seed=seed)
        rng = self.np_random if seed is None else np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])
        self._draws = self.problem.draw_noise(rng)
        self._t, self._state, self._last = 0, self.problem.start, None
        return self._state, {"t": 0, "action_mask": self._mask()}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Take an action; return the next state, the reward, False, whether it was the last step, and ``info``."""
        draws = self._draws_of_step()
        state, done = self._state, self._legal(action)
        reward, next_state, _ = self.problem.sample(self._t + 1, state, done, draws)
        pair = self.problem.space.pair(state, done)
        mean = kernels.world.mean_reward(self.problem.drifting.world, self._t, pair)
        self._t, self._state, self._last = self._t + 1, int(next_state), (state, done, float(reward))
        info = {
            "t": self._t,
            "action_mask": self._mask(),
            "mean_reward": float(mean),
            "illegal_action": done != int(action),
        }
        return self._state, float(reward), False, self._t == self.problem.horizon, info

    def render(self) -> str | None:
        """Return where the world is, as text, or None without a render mode; large worlds show the state only."""
        if self.render_mode is None:
            return None
        if self._draws is None:
            raise InvalidInputError("render must follow reset; call reset(seed=...) first.")
        return picture(self.problem, self._t, self._state, self._last)

    def _draws_of_step(self) -> Draws:
        if self._draws is None:
            raise InvalidInputError("step must follow reset; call reset(seed=...) first.")
        if self._t == self.problem.horizon:
            raise InvalidInputError(
                f"step must not follow the end of the {self.problem.horizon} steps. Call reset() to begin anew."
            )
        return self._draws

    def _legal(self, action: int) -> int:
        """Return the action, or the nearest that the state offers: its actions are the first ones."""
        width = int(self._n_actions[self._state])
        most = width if self.strict else self._width
        return min(as_integer(action, f"action of state {self._state}", 0, most - 1), width - 1)

    def _mask(self) -> NDArray[np.int8]:
        return np.asarray(np.arange(self._width) < self._n_actions[self._state], dtype=np.int8)


def _made(problem: Problem | str, parameters: dict[str, Any]) -> Problem:
    if isinstance(problem, str):
        return problems.make(problem, **parameters)
    if parameters:
        raise InvalidInputError(
            f"parameters must come with the name of a problem; got {', '.join(parameters)} with a made one."
        )
    return checked_problem(problem)
