"""Plain ways to the same answers, written as well as numpy and scipy allow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

import driftmdp as dm

__all__ = [
    "LeanLinearProgram",
    "Swept",
    "optimism_by_matrix",
    "optimism_by_state",
    "relative_value_iteration",
]


class LeanLinearProgram:
    """One HiGHS linear program per step, its sparse structure built once for all steps."""

    def __init__(self, drifting: dm.DriftingMdp) -> None:
        space = drifting.space
        n_pairs, n_states = space.n_pairs, space.n_states
        belongs = sp.csr_array(
            (np.ones(n_pairs), space.pair_states, np.arange(n_pairs + 1)), shape=(n_pairs, n_states)
        )
        total = sp.csr_array(np.ones((n_pairs, 1)))
        columns = [sp.csr_array(sp.hstack([belongs - a.transitions, total])) for a in drifting.anchors]
        pattern = sp.csr_array(np.any([matrix.toarray() != 0 for matrix in columns], axis=0))
        rows = np.repeat(np.arange(n_pairs), np.diff(pattern.indptr))
        self._drifting, self._pattern = drifting, pattern
        self._entries = np.stack([matrix.toarray()[rows, pattern.indices] for matrix in columns])
        self._right = np.append(np.zeros(n_states), 1.0)

    def gain(self, t: int, presolve: bool = True) -> float:
        """Return the optimal gain of step t."""
        anchors, weights = self._drifting.weights.row(t - 1)
        pattern = self._pattern
        balance = sp.csc_array(
            (weights @ self._entries[anchors], pattern.indices, pattern.indptr), shape=pattern.shape[::-1]
        )
        costs = -(weights @ self._drifting.anchor_rewards[anchors])
        program: dict[str, Any] = {"A_eq": balance, "b_eq": self._right, "options": {"presolve": presolve}}
        result = linprog(costs, method="highs", **program)
        if result.fun is None:
            raise RuntimeError(result.message)
        return -float(result.fun)


class Swept(NamedTuple):
    """The result of sweeps: gain, residual, number and seconds."""

    gain: float
    residual: float
    sweeps: int
    seconds: float


def relative_value_iteration(mdp: dm.Mdp, laziness: float, tolerance: float, seconds: float) -> Swept:
    """Sweep until the certified residual is within the tolerance or the time is up.

    Each step stays put with probability ``laziness``, which makes any chain aperiodic. With kappa = 1 - laziness,
    h = kappa u has T h - h equal to the change of u, so the residual is that of the MDP itself. All states must
    have the same number of actions.
    """
    kappa = 1.0 - laziness
    rewards, transitions, n_states = mdp.rewards, kappa * mdp.transitions, mdp.space.n_states
    values, sweeps, start = np.zeros(n_states), 0, time.perf_counter()
    while True:
        change = (rewards + transitions @ values).reshape(n_states, -1).max(axis=1) - kappa * values
        sweeps += 1
        low, high, spent = change.min(), change.max(), time.perf_counter() - start
        if high - low <= tolerance or spent > seconds:
            return Swept(float(low + high) / 2, float(high - low), sweeps, spent)
        values += change - change[0]


Floats = NDArray[np.float64]


def optimism_by_matrix(rewards: Floats, p_hat: Floats, radius: Floats, precision: float) -> Swept:
    """Return an optimistic plan by whole-matrix operations: the columns in the order of u, then cumulative sums.

    With the states from the least to the largest u and F the cumulative row, the optimistic row has the cumulative
    max(F - d/2, 0), and 1 at the last state. Its mean of u is u_last - sum_k F'(k) (u_(k+1) - u_k). One buffer
    serves all sweeps. All states must have the same actions.
    """
    half, buffer = radius[:, None] / 2, np.empty_like(p_hat)

    def means(values: Floats) -> Floats:
        order = np.argsort(values)
        ordered = values[order]
        np.take(p_hat, order, axis=1, out=buffer, mode="clip")  # "clip" takes without a copy of its own
        np.cumsum(buffer, axis=1, out=buffer)
        np.subtract(buffer, half, out=buffer)
        np.maximum(buffer, 0.0, out=buffer)
        best: Floats = ordered[-1] - buffer[:, :-1] @ np.diff(ordered)
        return best

    return _optimistic_sweeps(rewards, p_hat.shape[1], means, precision)


def optimism_by_state(rewards: Floats, p_hat: Floats, radius: Floats, precision: float) -> Swept:
    """Return an optimistic plan by taking mass away from one state after the other, for all pairs at once.

    It starts from the plain means and stops when no pair has mass left to move, so that it touches few columns
    where the radii are small.
    """
    columns = np.ascontiguousarray(p_hat.T)

    def means(values: Floats) -> Floats:
        order = np.argsort(values)
        best = order[-1]
        left = np.minimum(radius / 2, 1.0 - columns[best])
        mean: Floats = p_hat @ values + left * values[best]
        for state in order[:-1]:
            taken = np.minimum(left, columns[state])
            left -= taken
            mean -= taken * values[state]
            if not left.any():
                break
        return mean

    return _optimistic_sweeps(rewards, p_hat.shape[1], means, precision)


def _optimistic_sweeps(
    rewards: Floats, n_states: int, means: Callable[[Floats], Floats], precision: float
) -> Swept:
    values, sweeps, start = np.zeros(n_states), 0, time.perf_counter()
    while True:
        following = (rewards + means(values)).reshape(n_states, -1).max(axis=1)
        change = following - values
        sweeps += 1
        low, high = float(change.min()), float(change.max())
        if high - low <= precision:
            return Swept((low + high) / 2, high - low, sweeps, time.perf_counter() - start)
        values = following - following.min()
