"""The worlds of ``statisticalrl-environments``, as they are and as problems of this package.

The package pins old versions and draws with packages that its worlds do not need, so it is installed without
dependencies (``benchmarks/without-dependencies.txt``) and its renderers are left out. Worlds are built with the
parameters of its own registry, except for the grid: its smallest has 20 states, and ours is the same map with 7.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm

__all__ = ["WORLDS", "PeerWorld", "peer_world", "prepare_peer"]

PACKAGE = "statisticalrl_environments.MDPs_discrete"
RENDERERS = (
    "rendering.textRenderer",
    "rendering.networkxRenderer",
    "envs.GridWorld.rendering.textRenderer",
    "envs.GridWorld.rendering.pyplotRenderer",
)


@dataclass(frozen=True)
class PeerWorld:
    """A world of the peer, the same world as a problem of ours, and the best gain that it allows."""

    name: str
    environment: Any
    problem: dm.Problem
    gain: float


class _NoRenderer(ModuleType):
    """A module whose every name is None, in the place of a renderer."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def prepare_peer() -> None:
    """Let the peer's learners be imported: they use a name that NumPy 2 has dropped."""
    if not hasattr(np, "infty"):
        setattr(np, "infty", np.inf)  # noqa: B010, mypy knows that numpy has no such name


def _leave_out_renderers() -> None:
    for name in RENDERERS:
        package, _, module = f"{PACKAGE}.{name}".rpartition(".")
        setattr(importlib.import_module(package), module, _NoRenderer(module))
        sys.modules.setdefault(f"{package}.{module}", _NoRenderer(module))


def _river_swim() -> Any:
    return _class("RiverSwim", "RiverSwim")(6, 0.4, 0.05, rewardL=0.005, rewardR=1.0)


def _ergodic_river_swim() -> Any:
    return _class("RiverSwim", "ErgodicRiverSwim")(6, 0.4, 0.05, rewardL=0.005, rewardR=0.99, ergodic=0.001)


def _three_state() -> Any:
    return _class("ThreeStateMDP", "ThreeState")(delta=0.005)


def _random_small_sparse() -> Any:
    return _class("RandomMDP", "RandomMDP")(4, 4, 0.5, 0.08, 0.1, 0.1, 0.2, rewardStd=0.1, seed=2)


def _grid() -> Any:
    places = {"initialSingleStateDistribution": True, "start": [1, 1], "goal": [3, 3], "seed": 1}
    return _class("GridWorld.gridworld", "GridWorld")(5, 5, "2-room", **places)


WORLDS: dict[str, Callable[[], Any]] = {
    "river-swim-6": _river_swim,
    "ergo-river-swim-6": _ergodic_river_swim,
    "three-state": _three_state,
    "random-small-sparse": _random_small_sparse,
    "grid-2-room 5x5": _grid,
}


def peer_world(name: str, horizon: int) -> PeerWorld:
    """Return a world by its name in the peer's registry. Raises ImportError."""
    _leave_out_renderers()
    environment = WORLDS[name]()
    mdp = dm.Mdp.from_dense(*_tables(environment))
    start = int(np.argmax(environment.isd))
    if environment.isd[start] != 1:
        raise ValueError(f"{name} must start in one state; got {environment.isd}.")
    problem = dm.Problem(dm.DriftingMdp.stationary(mdp, horizon), start=start, reward_range=(0.0, 1.0), name=name)
    return PeerWorld(name, environment, problem, float(dm.planning.optimal_gains(problem.drifting)[0]))


def _tables(environment: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return its mean rewards and transitions.

    Its ``getTransition`` keeps only the last chance of a next state that is listed twice, as walls do, while its
    ``step`` draws from all. So the chances are summed here.
    """
    shape = environment.nS, environment.nA
    rewards, transitions = np.zeros(shape), np.zeros((*shape, environment.nS))
    for state, action in np.ndindex(*shape):
        rewards[state, action] = environment.R[state][action].mean()
        for chance, following, _ in environment.P[state][action]:
            transitions[state, action, following] += chance
    return rewards, transitions


def _class(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{PACKAGE}.envs.{module}"), name)
