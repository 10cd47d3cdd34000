"""Worlds on which value iteration needs many sweeps, against a plain one at the same residual."""

from __future__ import annotations

from functools import partial

import driftmdp as dm
from benchmarks.chains import ring, river
from benchmarks.rows import Row, Speed, require
from benchmarks.timing import Task, fastest, medians, timed
from benchmarks.yardsticks import Swept, relative_value_iteration
from driftmdp.planning import optimal_gain

__all__ = ["run"]

RESIDUAL = 1e-9
LAZINESS = (0.01, 0.5)


def run(quick: bool) -> list[Row]:
    """Return one row per world."""
    n_states, cap, repeats = (200, 1.0, 3) if quick else (1000, 20.0, 5)
    worlds = {"RiverSwim": river(n_states), "deterministic ring": ring(n_states)}
    return [_row(f"{name}, S={n_states}", mdp, cap, repeats) for name, mdp in worlds.items()]


def _row(name: str, mdp: dm.Mdp, cap: float, repeats: int) -> Row:
    best = optimal_gain(mdp, tolerance=RESIDUAL / 2)
    swept = {lazy: relative_value_iteration(mdp, lazy, RESIDUAL, cap) for lazy in LAZINESS}
    done = {lazy: result for lazy, result in swept.items() if result.residual <= RESIDUAL}
    for result in swept.values():
        overlap = (best.residual + result.residual) / 2
        require(abs(best.gain - result.gain) <= overlap + 1e-12, f"certified intervals of {name} must overlap.")
    lazy = fastest({lazy: result.seconds for lazy, result in done.items()})[0] if done else _closest(swept)
    ours: Task = timed(lambda: optimal_gain(mdp, tolerance=RESIDUAL / 2))
    tasks = {"ours": ours} | (
        {"sweeps": timed(partial(relative_value_iteration, mdp, lazy, RESIDUAL, cap))} if done else {}
    )
    seconds = medians(tasks, repeats)
    return Speed.against(
        f"optimal gain, {name}, residual {RESIDUAL:g}",
        seconds["ours"],
        "relative value iteration in scipy",
        seconds.get("sweeps", cap),
        note=f"Ours: {best.method}, certified {best.residual:.1e}. Sweeps: laziness {lazy:g} (better of "
        f"{' and '.join(map(str, LAZINESS))}), {swept[lazy].sweeps:,} sweeps, certified {swept[lazy].residual:.1e}"
        + ("" if done else f", stopped at the cap of {cap:g} s"),
        unfinished=not done,
    )


def _closest(swept: dict[float, Swept]) -> float:
    return min(swept, key=lambda lazy: swept[lazy].residual)
