"""Plans on slowly drifting estimates: started from the last plan's bias, and from zero."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import driftmdp as dm
from benchmarks.estimates import Estimates
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import medians
from driftmdp import kernels
from driftmdp.kernels.plan_arrays import PlanWorkspace

__all__ = ["run"]

PRECISION = 1e-3
RADIUS = 0.05
MUST_REACH = 3.0


class Work(NamedTuple):
    """The cost of a sequence of plans, and the gains that they certify."""

    seconds: float
    iterations: int
    gains: list[float]


def run(quick: bool) -> list[Row]:
    """Return a row for each world and number of steps between plans. A plan at every step is the slow drift."""
    plans, repeats = (30, 3) if quick else (200, 7)
    worlds = {
        "Garnet S=100 A=4": dm.problems.garnet(n_states=100, n_actions=4, drift="slow"),
        "RiverSwim S=50": dm.problems.river_swim(n_states=50, drift="drifting"),
    }
    return [
        _row(name, problem.drifting, plans, every, repeats) for name, problem in worlds.items() for every in (1, 5)
    ]


def _row(name: str, drifting: dm.DriftingMdp, plans: int, every: int, repeats: int) -> Row:
    estimates = [Estimates.around(drifting.at(1 + every * plan), RADIUS) for plan in range(plans)]
    workspaces = [estimate.plan(PRECISION)._workspace for estimate in estimates]
    cold, warm = _work(workspaces, warm=False), _work(workspaces, warm=True)
    for one, other in zip(cold.gains, warm.gains, strict=True):
        require(abs(one - other) <= PRECISION, f"warm and cold gains of {name} must agree.")
    seconds = medians(
        {"cold": lambda: _work(workspaces, False).seconds, "warm": lambda: _work(workspaces, True).seconds}, repeats
    )
    ratio = seconds["cold"] / seconds["warm"]
    return Speed(
        f"a warm plan, drifting {name}, planned every {every} of {drifting.horizon} steps",
        f"{as_time(seconds['warm'] / plans)}, {warm.iterations / plans:.1f} iterations",
        f"cold: {as_time(seconds['cold'] / plans)}, {cold.iterations / plans:.1f} iterations",
        f"{ratio:.2g}x",
        f"> {MUST_REACH:g}x" if every == 1 else "-",
        ("yes" if ratio > MUST_REACH else "NO") if every == 1 else "-",
        f"method='fast', precision {PRECISION:g}, radius {RADIUS:g}, mean of {plans} plans. Only the iteration is "
        "timed, not the checks and the copy of its input",
    )


def _work(workspaces: Sequence[PlanWorkspace], warm: bool) -> Work:
    """Iterate on each problem from the last one's bias, or from zero. The first is cold, and counts."""
    n = workspaces[0].u.size
    last, seconds, iterations, gains = np.zeros(n), 0.0, 0, []
    for workspace in workspaces:
        workspace.u[:], workspace.order[:] = last if warm else 0.0, np.arange(n)
        start = time.perf_counter()
        low, high, count, _ = kernels.acceleration.accelerate(workspace, n, PRECISION, True)
        seconds += time.perf_counter() - start
        require(high - low <= PRECISION, f"a plan must reach {PRECISION:g}; got {high - low:.3g}.")
        iterations, last = iterations + count, workspace.u.copy()
        gains.append(high)
    return Work(seconds, iterations, gains)
