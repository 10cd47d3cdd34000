"""The exact diameter of worlds with 1,000 states: well connected, a long chain, and a slow walk."""

from __future__ import annotations

import math
from functools import partial

from benchmarks.chains import river, sparse_random, symmetric_walk
from benchmarks.rows import Row, Speed, require
from benchmarks.timing import medians, timed
from driftmdp.planning import diameter

__all__ = ["run"]


def run(quick: bool) -> list[Row]:
    """Return one row per world."""
    n_states, repeats = (100, 3) if quick else (1000, 3)
    worlds = {
        "Garnet A=5, 5 successors": sparse_random,
        "RiverSwim": river,
        "symmetric walk on a ring": symmetric_walk,
    }
    known = {"RiverSwim": _swim_up(n_states), "symmetric walk on a ring": n_states**2 / 4}
    rows: list[Row] = []
    for name, world in worlds.items():
        mdp = world(n_states)
        diameter(mdp, targets=[0])  # compiles
        value = diameter(mdp)
        exact = known.get(name, float(value))
        require(math.isclose(value, exact, rel_tol=1e-6), f"the diameter of {name} must be {exact}; got {value!r}.")
        seconds = medians({name: timed(partial(diameter, mdp))}, repeats, warm_up=False)[name]
        agrees = "equals the closed form" if name in known else f"certified relative error {value.residual:.0e}"
        rows.append(
            Speed.under(f"diameter, {name}, S={n_states}", seconds, 20.0, note=f"{value:.6g} steps, {agrees}")
        )
    return rows


def _swim_up(n_states: int) -> float:
    """Return the mean time from the left bank of RiverSwim to the right one, always swimming right."""
    step = total = 1 / 0.6
    for _ in range(1, n_states - 1):
        step = (1 + 0.05 * step) / 0.35
        total += step
    return total
