"""NS-Gym's drifting environments [KLB25] as problems: their probability tables, read step by step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from driftmdp.errors import InvalidInputError
from driftmdp.interchange.toy_text import from_toy_text
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.validation import as_integer


def from_ns_gym(
    env: Any,
    horizon: int,
    noise: str = "none",
    reward_range: tuple[float, float] | None = None,
    seed: int | None = None,
) -> Problem:
    """Return the problem of a drifting environment of NS-Gym with finitely many states.

    The environment is reset once. Then its own schedulers and update functions run for ``horizon`` steps, and its
    table is read at each. Tables that are the same are stored once. An outcome that terminates leads to the start,
    and states in which no action is ever taken (holes, goals) are left out. The names of states are NS-Gym's
    numbers.

    NS-Gym's clock restarts with each Gymnasium episode, and unless ``persistent_params`` is set its world does too.
    Here there is one clock from 1 to the horizon, which never restarts.

    Parameters
    ----------
    env
        A new environment of NS-Gym around FrozenLake, CliffWalking or Bridge. It is not of use afterwards, because
        it was stepped.
    horizon
        T.
    noise
        Reward noise, such as ``bernoulli``.
    reward_range
        Bounds on every mean reward. By default the exact ones.
    seed
        Of the update functions that draw random numbers. A random scheduler of NS-Gym takes its own seed.

    Raises
    ------
    InvalidInputError
        If the environment has no table that changes, or its states are no whole numbers.

    Examples
    --------
    Anything with the same methods will do. This lake is a coin that turns:

    >>> from driftmdp.interchange import from_ns_gym
    >>> class TurningCoin:
    ...     tunable_params = {"P": "turn"}
    ...     def __init__(self):
    ...         self.unwrapped, self.t = self, 0
    ...     def reset(self, seed=None):
    ...         return {"state": 0}, {}
    ...     def step(self, action):
    ...         self.t += 1
    ...         heads = 0.5 if self.t < 3 else 0.9
    ...         toss = [(heads, 1, 1.0, True), (1 - heads, 0, 0.0, False)]
    ...         self.P = {0: {0: toss}, 1: {0: [(1.0, 1, 0.0, True)]}}
    >>> problem = from_ns_gym(TurningCoin(), horizon=4)
    >>> problem.drifting
    <DriftingMdp: 4 steps, 2 anchors, 1 state, 1 pair>
    >>> [problem.drifting.at(t).reward(0, 0) for t in (1, 2, 3, 4)]
    [0.5, 0.5, 0.9, 0.9]
    """
    if not isinstance(getattr(env, "tunable_params", None), Mapping):
        raise InvalidInputError(f"env must be an environment of NS-Gym; got {type(env).__name__}.")
    horizon = as_horizon(horizon)
    first = _first_state(env, None if seed is None else as_integer(seed, "seed", minimum=0))
    restart = getattr(env.unwrapped, "initial_state_distrib", first)
    worlds, index = _read_worlds(env, horizon, restart)
    states = _visited(worlds, first)
    drifting = DriftingMdp([_restricted(world, states) for world in worlds], index)
    start = int(np.flatnonzero(states == first)[0])
    return Problem(drifting, start=start, noise=noise, reward_range=reward_range)


def _first_state(env: Any, seed: int | None) -> int:
    state = np.asarray(env.reset(seed=seed)[0]["state"])
    if state.size != 1 or state.dtype.kind not in "iu":
        rule = "env must have states that are whole numbers, as FrozenLake, CliffWalking and Bridge of NS-Gym"
        raise InvalidInputError(f"{rule}; got {type(env).__name__}.")
    return int(state.item())


def _read_worlds(env: Any, horizon: int, restart: Any) -> tuple[list[Mdp], NDArray[np.int32]]:
    """Step the environment, and return each different world once and the world of each step."""
    found: dict[tuple[Any, ...], int] = {}
    worlds: list[Mdp] = []
    index = np.zeros(horizon, dtype=np.int32)
    for step in range(horizon):
        env.step(0)  # without resets, also from an end: only the clock and the table matter
        table = _table(env.unwrapped)
        key = tuple(tuple(lines) for actions in table.values() for lines in actions.values())
        if key not in found:
            found[key] = len(worlds)
            worlds.append(from_toy_text(table, start=restart))
        index[step] = found[key]
    return worlds, index


def _table(inside: Any) -> Mapping[int, Any]:
    """Return ``P[s][a]``. In NS-Gym's Bridge, P is the slip and the table has another name."""
    table = getattr(inside, "transition_matrix", None) or getattr(inside, "P", None)
    if not isinstance(table, Mapping):
        rule = "env must have a table P[s][a], as FrozenLake, CliffWalking and Bridge of NS-Gym"
        raise InvalidInputError(f"{rule}; got {type(inside).__name__}.")
    return table


def _visited(worlds: list[Mdp], start: int) -> NDArray[np.int64]:
    """Return the states that some policy can reach from the start at some step."""
    n_states = worlds[0].space.n_states
    moves = np.zeros((n_states, n_states), dtype=bool)
    for world in worlds:
        states = np.repeat(world.space.pair_states, np.diff(world.transitions.indptr))
        moves[states, world.transitions.indices] = True
    reached = breadth_first_order(moves, start, return_predecessors=False)
    return np.asarray(np.sort(reached), dtype=np.int64)


def _restricted(world: Mdp, states: NDArray[np.int64]) -> Mdp:
    """Return the world of some states, which no action leaves."""
    pairs = np.flatnonzero(np.isin(world.space.pair_states, states))
    space = Space(world.space.n_actions[states], [str(state) for state in states])
    return Mdp(space, world.rewards[pairs], world.transitions[pairs][:, states])
