"""Plans that plain sweeps reach slowly: long chains and the perils, cold, against a compiled dense kernel."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import driftmdp as dm
from benchmarks.dense_kernel import dense_sweeps
from benchmarks.estimates import Estimates, check, perils, ring_walk, river_swim
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import medians, timed

__all__ = ["run"]

PRECISION = 1e-3
CALLS = 20  # of our calls in a row


def run(quick: bool) -> list[Row]:
    """Return one row per instance. All are small, so quick means fewer repeats."""
    repeats, n_states, tau = 3 if quick else 11, 200, 1_000_000
    small = perils(25, 0.0).dense
    require(bool(np.allclose(small, _seen(25))), "the perils' estimates must be what the scripted learner sees.")
    return [
        _row(f"RiverSwim, S={n_states}, radius 0.05", river_swim(n_states, 0.05), 10, repeats),
        _row(f"walk on a ring, S={n_states}, radius 0.02", ring_walk(n_states, 0.02), 10, repeats),
        _row(f"the perils, tau={tau:,}, radius 0.0002", perils(tau, 2e-4), 100, repeats),
    ]


def _row(name: str, estimates: Estimates, must_reach: float, repeats: int) -> Row:
    plan, sweep = partial(estimates.plan, PRECISION), estimates.sweep(dense_sweeps, PRECISION)
    inserting = estimates.sweep(partial(dense_sweeps, by_insertion=True), PRECISION)
    ours, swept = plan(), sweep()
    check(name, ours, swept, PRECISION)
    check(name, ours, inserting(), PRECISION)
    seconds = medians(
        {"ours": timed(plan, CALLS), "dense": timed(sweep), "once": timed(plan), "inserting": timed(inserting)},
        repeats,
    )
    return Speed.against(
        f"plan, {name}",
        seconds["ours"],
        "dense plain-sweep kernel (numba)",
        seconds["dense"],
        must_reach,
        f"Precision {PRECISION:g}, cold start. Ours: {ours.method}, {ours.iterations} iterations, checks included, "
        f"mean of {CALLS} calls in a row, one call after the kernel's: {as_time(seconds['once'])}. "
        f"Kernel: {swept.sweeps:,} sweeps, {as_time(seconds['dense'] / swept.sweeps)} each. With insertion sort "
        f"instead of np.argsort: {as_time(seconds['inserting'])}",
    )


def _seen(tau: int) -> NDArray[np.float64]:
    """Return the empirical transitions of the scripted trajectory, by counting."""
    problem = dm.problems.perils(tau=tau)
    states, actions = problem.scripted_trajectory()
    pairs = problem.space.offsets[states[:-1]] + actions
    counts = sp.coo_array((np.ones(pairs.size), (pairs, states[1:])), shape=(4, 2)).toarray()
    seen: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
    return seen
