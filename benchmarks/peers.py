"""Other packages that solve average-reward MDPs, each behind the same two names.

Building a peer converts the model and may raise ImportError. Only its solve call is timed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import driftmdp as dm

__all__ = ["Answer", "Peer", "mdpsolver_peers", "mdptoolbox_peer"]


@dataclass(frozen=True)
class Answer:
    """The answer of a peer, with a gain only if it returns one."""

    seconds: float
    values: NDArray[np.float64]
    policy: NDArray[np.int64]
    gain: float | None
    iterations: int | None


@dataclass(frozen=True)
class Peer:
    """A package with a setting. ``solve(tolerance)`` starts cold, on a model that took ``building`` seconds."""

    name: str
    building: float
    solve: Callable[[float], Answer]

    @property
    def package(self) -> str:
        """The package's name alone."""
        return self.name.split()[0]


def mdptoolbox_peer(mdp: dm.Mdp, max_iter: int) -> Peer:
    """Return pymdptoolbox's relative value iteration, with a sparse matrix for each action."""
    from mdptoolbox.mdp import RelativeValueIteration

    n_states, n_actions = _shape(mdp)
    rewards = np.array(mdp.rewards).reshape(n_states, n_actions)
    transitions = [sp.csr_matrix(mdp.transitions[action::n_actions]) for action in range(n_actions)]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)  # its check of the input
        solver = RelativeValueIteration(transitions, rewards, max_iter=max_iter)
    building = time.perf_counter() - start

    def solve(tolerance: float) -> Answer:
        solver.epsilon, solver.V, solver.gain, solver.iter = tolerance, np.zeros(n_states), 0, 0
        start = time.perf_counter()
        solver.run()
        seconds = time.perf_counter() - start
        policy = np.array(solver.policy, np.int64)
        return Answer(seconds, np.array(solver.V), policy, float(solver.average_reward), int(solver.iter))

    return Peer("pymdptoolbox RelativeValueIteration", building, solve)


def mdpsolver_peers(mdp: dm.Mdp, settings: Sequence[Mapping[str, Any]], **common: Any) -> list[Peer]:
    """Return mdpsolver with the average criterion in several settings of its ``solve``, added to common ones."""
    import mdpsolver

    probabilities, columns = _nested(mdp, mdp.transitions.data), _nested(mdp, mdp.transitions.indices)
    rewards = np.array(mdp.rewards).reshape(_shape(mdp)).tolist()

    def build() -> Any:
        model = mdpsolver.model()  # a used model would start from its last values
        model.mdp(rewards=rewards, tranMatProbs=probabilities, tranMatColumns=columns)
        return model

    def solver(setting: Mapping[str, Any]) -> Callable[[float], Answer]:
        def solve(tolerance: float) -> Answer:
            model = build()
            start = time.perf_counter()
            model.solve(criterion="average", tolerance=tolerance, **setting, **common)
            seconds = time.perf_counter() - start
            policy = np.array(model.getPolicy(), np.int64)
            return Answer(seconds, np.array(model.getValueVector()), policy, None, None)

        return solve

    start = time.perf_counter()
    build()
    building = time.perf_counter() - start
    return [Peer(f"mdpsolver {_listed(setting)}", building, solver(setting)) for setting in settings]


def _listed(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in setting.items())


def _shape(mdp: dm.Mdp) -> tuple[int, int]:
    """Return S and A of an MDP whose states all have the same actions."""
    return mdp.space.n_states, int(mdp.space.n_actions[0])


def _nested(mdp: dm.Mdp, entries: NDArray[Any]) -> list[list[list[Any]]]:
    """Return the entries of the transition matrix as lists by state and action."""
    n_states, n_actions = _shape(mdp)
    pairs = [part.tolist() for part in np.split(entries, mdp.transitions.indptr[1:-1])]
    return [pairs[state * n_actions : (state + 1) * n_actions] for state in range(n_states)]
