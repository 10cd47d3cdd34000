"""What ``simulate`` costs besides its steps: a run of 20 of them."""

from __future__ import annotations

import warnings
from functools import partial

import driftmdp as dm
from benchmarks.rows import Row, Speed, as_time
from benchmarks.timing import seconds_of, timed

__all__ = ["run"]

HORIZON = 20
LIMIT = 60e-6


def run(quick: bool) -> list[Row]:
    """Return one row: the fastest of many runs, because whatever else the machine does only adds to it."""
    repeats = 300 if quick else 5000
    problem = dm.problems.two_state(horizon=HORIZON)
    whole = partial(dm.simulate, dm.agents.UCRL2.for_problem(problem), problem, seed=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dm.errors.VacuousPlansWarning)
        whole()
        fastest = min(seconds_of(whole) for _ in range(repeats))
        mean = timed(whole, repeats)()
    note = f"The fastest of {repeats:,} runs. The mean is {as_time(mean)}"
    return [Speed.under(f"a run of {HORIZON} steps, UCRL2, two states", fastest, LIMIT, note=note)]
