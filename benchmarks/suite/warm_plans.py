"""Plans on slowly drifting estimates: started from the last plan's bias, and from zero."""

from __future__ import annotations

from collections.abc import Sequence

import driftmdp as dm
from benchmarks.estimates import Estimates
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import medians, timed
from driftmdp.planning import Optimistic

__all__ = ["run"]

PRECISION = 1e-3
RADIUS = 0.05
MUST_REACH = 3.0


def run(quick: bool) -> list[Row]:
    """Return a row for each world and number of steps between plans."""
    plans, repeats = (30, 3) if quick else (200, 7)
    worlds = {
        "Garnet S=100 A=4": dm.problems.garnet(n_states=100, n_actions=4, drift="slow"),
        "RiverSwim S=50": dm.problems.river_swim(n_states=50, drift="drifting"),
    }
    return [
        _row(name, problem.drifting, plans, every, repeats) for name, problem in worlds.items() for every in (1, 5)
    ]


def _row(name: str, drifting: dm.DriftingMdp, plans: int, every: int, repeats: int) -> Row:
    sequence = [Estimates.around(drifting.at(1 + every * plan), RADIUS) for plan in range(plans)]
    cold, warm = _cold(sequence), _warm(sequence)
    _check(name, cold, warm)
    seconds = medians({"cold": timed(lambda: _cold(sequence)), "warm": timed(lambda: _warm(sequence))}, repeats)
    work = {key: sum(plan.iterations for plan in made) for key, made in (("cold", cold), ("warm", warm))}
    less_time, less_work = seconds["cold"] / seconds["warm"], work["cold"] / work["warm"]
    return Speed(
        f"a warm plan, drifting {name}, planned every {every} of {drifting.horizon} steps",
        f"{as_time(seconds['warm'] / plans)}, {work['warm'] / plans:.1f} iterations",
        f"cold: {as_time(seconds['cold'] / plans)}, {work['cold'] / plans:.1f} iterations",
        f"{less_time:.2g}x time, {less_work:.2g}x iterations",
        f"> {MUST_REACH:g}x in both",
        "yes" if min(less_time, less_work) > MUST_REACH else "NO",
        f"method='fast', precision {PRECISION:g}, radius {RADIUS:g}, mean of {plans} plans; the time includes the "
        "checks of the input, which an agent's plan does not make",
    )


def _cold(sequence: Sequence[Estimates]) -> list[Optimistic]:
    return [estimates.plan(PRECISION) for estimates in sequence]


def _warm(sequence: Sequence[Estimates]) -> list[Optimistic]:
    """Plan each from the bias of the last; the first is cold, and counts."""
    plans = [sequence[0].plan(PRECISION)]
    for estimates in sequence[1:]:
        plans.append(estimates.plan(PRECISION, start=plans[-1].bias))
    return plans


def _check(name: str, cold: Sequence[Optimistic], warm: Sequence[Optimistic]) -> None:
    """Fail unless both reach the precision and certify overlapping intervals."""
    for one, other in zip(cold, warm, strict=True):
        apart = abs((one.gain - one.residual / 2) - (other.gain - other.residual / 2))
        require(apart <= (one.residual + other.residual) / 2 + 1e-9, f"warm and cold gains of {name} must agree.")
        require(max(one.residual, other.residual) <= PRECISION, f"plans of {name} must reach {PRECISION:g}.")
