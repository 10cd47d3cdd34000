"""The input of an optimistic plan: estimates with a radius, in the forms that our code and the yardsticks take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import driftmdp as dm
from benchmarks.chains import river
from benchmarks.rows import require
from benchmarks.yardsticks import Swept
from driftmdp.planning import Optimistic, extended_value_iteration
from driftmdp.problems.garnet import garnet_mdp

__all__ = ["Estimates", "dense_random", "perils", "ring_walk", "river_swim", "sparse_random"]

Floats = NDArray[np.float64]
Yardstick = Callable[[Floats, Floats, Floats, float], Swept]


@dataclass(frozen=True)
class Estimates:
    """Optimistic rewards, estimated transitions and their L1 radii, by pair."""

    space: dm.Space
    rewards: Floats
    p_hat: sp.csr_array | Floats
    radius: Floats

    @classmethod
    def around(cls, mdp: dm.Mdp, radius: float | Floats) -> Estimates:
        """Return estimates that are an MDP itself."""
        return cls(
            mdp.space, np.array(mdp.rewards), mdp.transitions, np.broadcast_to(radius, mdp.rewards.shape).copy()
        )

    def plan(self, precision: float, start: Floats | None = None, method: str = "fast") -> Optimistic:
        """Return our plan."""
        return extended_value_iteration(
            self.space, self.rewards, self.p_hat, self.radius, precision, start=start, method=method
        )

    @property
    def dense(self) -> Floats:
        """The estimated transitions as a table."""
        return self.p_hat.toarray() if isinstance(self.p_hat, sp.csr_array) else self.p_hat

    def sweep(self, yardstick: Yardstick, precision: float) -> Callable[[], Swept]:
        """Return a yardstick's plan as a call, its dense table built before."""
        dense = self.dense
        return lambda: yardstick(self.rewards, dense, self.radius, precision)


def check(what: str, ours: Optimistic, other: Swept, precision: float) -> None:
    """Fail unless both reached the precision and the intervals that they certify for the best gain overlap."""
    require(ours.residual <= precision, f"our plan of {what} must reach {precision:g}; got {ours.residual:.3g}.")
    require(other.residual <= precision, f"the yardstick's plan of {what} must reach {precision:g}.")
    apart = abs(ours.gain - ours.residual / 2 - other.gain)
    overlap = (ours.residual + other.residual) / 2 + 1e-9
    require(apart <= overlap, f"gains of {what} must agree; they are {apart:.3g} apart, allowed {overlap:.3g}.")


def dense_random(n_states: int, n_actions: int = 5) -> Estimates:
    """Return random estimates in which every state may follow every pair, with radii from 0.1 to 0.5."""
    rng = np.random.default_rng(0)
    n_pairs = n_states * n_actions
    p_hat = rng.dirichlet(np.ones(n_states), n_pairs)
    return Estimates(
        dm.Space.uniform(n_states, n_actions), rng.random(n_pairs), p_hat, rng.uniform(0.1, 0.5, n_pairs)
    )


def sparse_random(n_states: int, n_actions: int = 5, successors: int = 10) -> Estimates:
    """Return random estimates with few successors per pair, and radii from 0.1 to 0.5."""
    rng = np.random.default_rng(0)
    mdp = garnet_mdp(n_states, n_actions, successors, 0.0, rng)
    return Estimates.around(mdp, rng.uniform(0.1, 0.5, mdp.space.n_pairs))


def river_swim(n_states: int, radius: float) -> Estimates:
    """Return RiverSwim's own transitions as estimates."""
    return Estimates.around(river(n_states), radius)


def ring_walk(n_states: int, radius: float, success: float = 0.9) -> Estimates:
    """Return a ring walked in either direction, a step going wrong with probability 0.1. State 0 pays 1."""
    here = np.arange(n_states)
    steps = [_moves(here, (here + way) % n_states) for way in (1, -1)]
    p_hat = np.stack([success * steps[way] + (1 - success) * steps[1 - way] for way in (0, 1)], axis=1)
    rewards = np.zeros((n_states, 2))
    rewards[0] = 1.0
    table = sp.csr_array(p_hat.reshape(2 * n_states, n_states))
    return Estimates(dm.Space.uniform(n_states, 2), rewards.ravel(), table, np.full(2 * n_states, radius))


def perils(tau: int, radius: float) -> Estimates:
    """Return what the scripted learner of ``problems.perils(tau)`` has seen after one window.

    The transitions are nearly the identity. In a window of 4 tau steps a1 and b1 are played tau + 1 times and lead
    to the other state once, a2 and b2 are played tau - 1 times and never do. Being in state 2 pays 1.
    """
    leave = 1.0 / (tau + 1)
    p_hat = np.array([[1 - leave, leave], [1, 0], [leave, 1 - leave], [0, 1]])
    return Estimates(
        dm.Space.uniform(2, 2), np.array([0.0, 0.0, 1.0, 1.0]), sp.csr_array(p_hat), np.full(4, radius)
    )


def _moves(here: NDArray[np.int64], there: NDArray[np.int64]) -> Floats:
    table = np.zeros((here.size, here.size))
    table[here, there] = 1.0
    return table
