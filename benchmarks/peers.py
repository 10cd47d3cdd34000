"""Other packages that solve average-reward MDPs, each behind the same two names.

Building a peer converts the model and may raise ImportError; only its solve call is timed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import driftmdp as dm

__all__ = ["Answer", "Peer", "mdpsolver_peer", "mdptoolbox_peer"]


@dataclass(frozen=True)
class Answer:
    """What a peer returned; a gain only if it names one."""

    seconds: float
    values: NDArray[np.float64]
    policy: NDArray[np.int64]
    gain: float | None
    iterations: int | None


@dataclass(frozen=True)
class Peer:
    """A package with a setting; ``solve(tolerance)`` starts cold."""

    name: str
    solve: Callable[[float], Answer]


def mdptoolbox_peer(mdp: dm.Mdp, max_iter: int) -> Peer:
    """Return pymdptoolbox's relative value iteration, with a sparse matrix for each action."""
    from mdptoolbox.mdp import RelativeValueIteration

    n_states, n_actions = _shape(mdp)
    rewards = np.array(mdp.rewards).reshape(n_states, n_actions)
    transitions = [sp.csr_matrix(mdp.transitions[action::n_actions]) for action in range(n_actions)]

    def solve(tolerance: float) -> Answer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)  # its check of the input
            solver = RelativeValueIteration(transitions, rewards, epsilon=tolerance, max_iter=max_iter)
        start = time.perf_counter()
        solver.run()
        seconds = time.perf_counter() - start
        policy = np.array(solver.policy, np.int64)
        return Answer(seconds, np.array(solver.V), policy, float(solver.average_reward), int(solver.iter))

    return Peer("pymdptoolbox RelativeValueIteration", solve)


def mdpsolver_peer(mdp: dm.Mdp, **setting: Any) -> Peer:
    """Return mdpsolver with the average criterion, a setting of its ``solve``, and no extra checks."""
    import mdpsolver

    probabilities, columns = _nested(mdp, mdp.transitions.data), _nested(mdp, mdp.transitions.indices)
    rewards = np.array(mdp.rewards).reshape(_shape(mdp)).tolist()
    chosen = {"criterion": "average", "postProcessing": False, "makeFinalCheck": False, **setting}

    def solve(tolerance: float) -> Answer:
        model = mdpsolver.model()  # a used model would start from its last values
        model.mdp(rewards=rewards, tranMatProbs=probabilities, tranMatColumns=columns)
        start = time.perf_counter()
        model.solve(tolerance=tolerance, **chosen)
        seconds = time.perf_counter() - start
        policy = np.array(model.getPolicy(), np.int64)
        return Answer(seconds, np.array(model.getValueVector()), policy, None, None)

    return Peer("mdpsolver " + ", ".join(f"{key}={value}" for key, value in setting.items()), solve)


def _shape(mdp: dm.Mdp) -> tuple[int, int]:
    """Return S and A of an MDP whose states all have the same actions."""
    return mdp.space.n_states, int(mdp.space.n_actions[0])


def _nested(mdp: dm.Mdp, entries: NDArray[Any]) -> list[list[list[Any]]]:
    """Return the entries of the transition matrix as lists by state and action."""
    n_states, n_actions = _shape(mdp)
    pairs = [part.tolist() for part in np.split(entries, mdp.transitions.indptr[1:-1])]
    return [pairs[state * n_actions : (state + 1) * n_actions] for state in range(n_states)]
