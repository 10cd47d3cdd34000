"""Plain ways to the same answers, written as well as scipy allows."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

import driftmdp as dm

__all__ = ["LeanLinearProgram", "Swept", "relative_value_iteration"]


class LeanLinearProgram:
    """One HiGHS linear program a step, its sparse structure built once for all steps."""

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
    """How far sweeps came."""

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
