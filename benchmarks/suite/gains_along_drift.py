"""The optimal gain of every step of a drifting Garnet, against one HiGHS linear program per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows import Row, Speed, require
from benchmarks.timing import fastest, medians, timed
from benchmarks.yardsticks import LeanLinearProgram
from driftmdp.planning import gain_by_linear_program, optimal_gains
from driftmdp.problems import garnet

__all__ = ["run"]


def run(quick: bool) -> list[Row]:
    """Return the exact path against linear programs, and the approximate path against the exact one."""
    horizon, every, repeats = (500, 25, 3) if quick else (5000, 25, 7)
    drifting = garnet(n_states=20, n_actions=4, horizon=horizon, drift="slow").drifting
    lean, sample = LeanLinearProgram(drifting), range(1, horizon + 1, every)
    programs: dict[str, Callable[[int], float]] = {
        "HiGHS by gain_by_linear_program": lambda t: gain_by_linear_program(drifting.at(t)).gain,
        "HiGHS, structure built once": lean.gain,
        "HiGHS, structure built once, no presolve": partial(lean.gain, presolve=False),
    }
    exact, rough = optimal_gains(drifting), optimal_gains(drifting, tolerance=1e-3)
    worst = max(_largest_gap(exact[::every], _gains(gain, sample)) for gain in programs.values())
    require(worst <= 1e-8, f"gains and linear programs must agree to 1e-8; got {worst:.3g}.")
    error = _largest_gap(exact, rough)
    require(error <= 1e-3, f"gains with tolerance=1e-3 must be within it; got {error:.3g}.")

    seconds = medians(
        {"exact": timed(lambda: optimal_gains(drifting))}
        | {"rough": timed(lambda: optimal_gains(drifting, tolerance=1e-3))}
        | {name: timed(partial(_gains, gain, sample)) for name, gain in programs.items()},
        repeats,
    )
    ours, approximate = seconds.pop("exact"), seconds.pop("rough")
    program, sampled = fastest(seconds)
    others = ", ".join(f"{name} {time / sampled:.2g}x" for name, time in seconds.items() if name != program)
    return [
        Speed.against(
            f"gains along drift, Garnet S=20 A=4, T={horizon}",
            ours,
            program,
            sampled * every,
            50,
            f"Programs measured on {len(sample)} evenly spaced steps and scaled to all. Largest difference "
            f"{worst:.1e}. Times of the other programs relative to this one: {others}",
        ),
        Speed.against(
            f"gains along drift, tolerance=1e-3, T={horizon}",
            approximate,
            "ours, exact",
            ours,
            note=f"Largest true error {error:.1e}",
        ),
    ]


def _gains(gain: Callable[[int], float], sample: Sequence[int]) -> NDArray[np.float64]:
    return np.array([gain(t) for t in sample])


def _largest_gap(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.abs(one - other).max())
