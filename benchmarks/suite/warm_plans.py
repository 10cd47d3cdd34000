"""Plans on slowly drifting estimates: started from the last plan's bias, and from zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import driftmdp as dm
from benchmarks.estimates import Estimates
from benchmarks.rows import Row, Speed, require
from benchmarks.timing import medians, timed
from driftmdp.planning import Optimistic

__all__ = ["run"]

PRECISION = 1e-3
MUST_REACH = 3.0


def run(quick: bool) -> list[Row]:
    """Return one row a world, with the ratio of iterations in the note."""
    plans, repeats = (40, 3) if quick else (200, 7)
    worlds = {
        "Garnet S=100 A=4": dm.problems.garnet(n_states=100, n_actions=4, drift="slow"),
        "RiverSwim S=50": dm.problems.river_swim(n_states=50, drift="drifting"),
    }
    return [_row(name, problem.drifting, plans, repeats) for name, problem in worlds.items()]


def _row(name: str, drifting: dm.DriftingMdp, plans: int, repeats: int) -> Row:
    times = np.linspace(1, drifting.horizon, 25 * plans, dtype=int)[:plans]
    sequence = [Estimates.around(drifting.at(int(t)), 0.05) for t in times]
    cold, warm = _cold(sequence), _warm(sequence)
    for one, other in zip(cold, warm, strict=True):
        apart = abs((one.gain - one.residual / 2) - (other.gain - other.residual / 2))
        agree = apart <= (one.residual + other.residual) / 2 + 1e-9
        require(agree and other.residual <= PRECISION, f"warm and cold plans of {name} must agree.")
    seconds = medians({"cold": timed(lambda: _cold(sequence)), "warm": timed(lambda: _warm(sequence))}, repeats)
    iterations = [sum(plan.iterations for plan in plans) for plans in (cold, warm)]
    work = iterations[0] / iterations[1]
    return Speed.against(
        f"{plans} plans on slowly drifting {name}, warm",
        seconds["warm"],
        "the same, cold",
        seconds["cold"],
        MUST_REACH,
        f"precision {PRECISION:g}, radius 0.05, {plans} times evenly spaced over a 25th of the horizon; iterations "
        f"a plan: cold {iterations[0] / plans:.1f}, warm {iterations[1] / plans:.1f}, {work:.1f}x less work "
        f"({'reached' if work > MUST_REACH else 'NOT reached'}); the times include the checks of the input",
    )


def _cold(sequence: Sequence[Estimates]) -> list[Optimistic]:
    return [estimates.plan(PRECISION) for estimates in sequence]


def _warm(sequence: Sequence[Estimates]) -> list[Optimistic]:
    """Plan each from the bias of the last; the first is cold, so it does not count for much."""
    plans = [sequence[0].plan(PRECISION)]
    for estimates in sequence[1:]:
        plans.append(estimates.plan(PRECISION, start=plans[-1].bias))
    return plans
