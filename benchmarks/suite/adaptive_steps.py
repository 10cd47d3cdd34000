"""The time per step of Adaptive at several sizes, compared with PSRL, which plans less often."""

from __future__ import annotations

from functools import partial

import driftmdp as dm
from benchmarks.rows import Row, Speed, as_time
from benchmarks.timing import medians, timed

__all__ = ["run"]

SEED = 7


def run(quick: bool) -> list[Row]:
    """Return one row per problem."""
    horizon = 500 if quick else 5000
    problems = {
        "the paper's two states": (dm.problems.two_state(horizon=horizon), 10e-6),
        "Garnet 10 x 4, drifting": (_garnet(10, 4, horizon), 10e-6),
        "Garnet 100 x 5, drifting": (_garnet(100, 5, horizon), 60e-6),
    }
    return [_row(name, problem, most, quick) for name, (problem, most) in problems.items()]


def _garnet(n_states: int, n_actions: int, horizon: int) -> dm.Problem:
    return dm.problems.garnet(n_states=n_states, n_actions=n_actions, drift="slow", horizon=horizon)


def _row(name: str, problem: dm.Problem, most: float, quick: bool) -> Row:
    agents = {kind.__name__: kind.for_problem(problem) for kind in (dm.agents.Adaptive, dm.agents.PSRL)}
    tasks = {label: timed(partial(dm.simulate, agent, problem, SEED)) for label, agent in agents.items()}
    seconds = {label: time / problem.horizon for label, time in medians(tasks, 3 if quick else 7).items()}
    return Speed.under(
        f"a step of Adaptive, {name}, T={problem.horizon}",
        seconds["Adaptive"],
        most,
        f"PSRL, which plans less often: {as_time(seconds['PSRL'])}",
        "A plan at every step",
    )
