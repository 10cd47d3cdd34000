"""Worlds with known answers, and the Bellman step that certifies the values of any solver."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.problems.garnet import garnet_mdp

__all__ = ["certified_interval", "ring", "river", "sparse_random", "symmetric_walk"]


def sparse_random(n_states: int) -> dm.Mdp:
    """Return a random MDP with 5 actions and 5 successors per pair."""
    return garnet_mdp(n_states, n_actions=5, branching=5, reward_sparsity=0.5, rng=np.random.default_rng(0))


def river(n_states: int) -> dm.Mdp:
    """Return RiverSwim."""
    return dm.problems.river_swim(n_states=n_states).drifting.at(1)


def ring(n_states: int, stay: float = 0.0) -> dm.Mdp:
    """Return a ring walked in one direction: each round pays 1 by action 0 and 1/2 by action 1.

    The optimal gain is (1 - stay) / n_states. With ``stay`` = 0 the chain has period ``n_states``.
    """
    step = _circulant(n_states, {0: stay, 1: 1.0 - stay} if stay else {1: 1.0})
    rewards = np.zeros((n_states, 2))
    rewards[0] = np.array([1.0, 0.5]) * (1.0 - stay)
    return dm.Mdp(dm.Space.uniform(n_states, 2), rewards.ravel(), sp.kron(step, np.ones((2, 1)), format="csr"))


def symmetric_walk(n_states: int) -> dm.Mdp:
    """Return the walk on a ring that goes either way with probability 1/2. There is only one action."""
    walk = _circulant(n_states, {-1: 0.5, 1: 0.5})
    return dm.Mdp(dm.Space.uniform(n_states, 1), np.zeros(n_states), walk)


def certified_interval(mdp: dm.Mdp, values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and largest entry of T h - h, which enclose the optimal gain for any values h."""
    backups = mdp.rewards + mdp.transitions @ values
    change = np.maximum.reduceat(backups, mdp.space.offsets[:-1]) - values
    return float(change.min()), float(change.max())


def _circulant(n_states: int, moves: dict[int, float]) -> sp.csr_array:
    here = np.arange(n_states)
    rows, columns = np.tile(here, len(moves)), np.concatenate([(here + move) % n_states for move in moves])
    return sp.csr_array((np.repeat(list(moves.values()), n_states), (rows, columns)), shape=(n_states, n_states))
