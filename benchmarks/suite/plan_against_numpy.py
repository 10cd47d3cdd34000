"""One extended value iteration on random estimates, against vectorised NumPy at the same precision.

NumPy takes the estimates as a dense table. Ours takes the sparse ones as a sparse matrix. Converting does not
count.
"""

from __future__ import annotations

from functools import partial

from benchmarks.estimates import Estimates, check, dense_random, sparse_random
from benchmarks.rows import Row, Speed, as_time
from benchmarks.timing import medians, timed
from benchmarks.yardsticks import optimism_by_matrix, optimism_by_state

__all__ = ["run"]

PRECISION = 1e-3
CALLS = 5  # of our calls in a row
NUMPY = {"matrix": optimism_by_matrix, "state": optimism_by_state}


def run(quick: bool) -> list[Row]:
    """Return two rows per size: the fast method, which has a target, and the paper's."""
    dense, sparse, repeats = (100, 300, 3) if quick else (200, 1000, 7)
    return [
        *_rows(f"dense support, S={dense} A=5", dense_random(dense), 5, repeats),
        *_rows(f"10 successors per pair, S={sparse} A=5", sparse_random(sparse), 100, repeats),
    ]


def _rows(name: str, estimates: Estimates, must_reach: float, repeats: int) -> list[Row]:
    sweeps = {form: estimates.sweep(yardstick, PRECISION) for form, yardstick in NUMPY.items()}
    methods = {method: partial(estimates.plan, PRECISION, method=method) for method in ("fast", "paper")}
    plans, swept = {method: plan() for method, plan in methods.items()}, sweeps["matrix"]()
    for plan in plans.values():
        check(name, plan, swept, PRECISION)
    seconds = medians(
        {method: timed(plan, CALLS) for method, plan in methods.items()}
        | {form: timed(sweep) for form, sweep in sweeps.items()},
        repeats,
    )
    terms = (
        f"Precision {PRECISION:g}. NumPy: {swept.sweeps} sweeps. NumPy state by state, stopping early: "
        f"{as_time(seconds['state'])}"
    )
    return [
        Speed.against(
            f"extended value iteration, {name}" + (" (method='paper')" if method == "paper" else ""),
            seconds[method],
            "NumPy, whole matrices",
            seconds["matrix"],
            must_reach if method == "fast" else None,
            f"Ours: {plan.method}, {plan.iterations} iterations. {terms}",
        )
        for method, plan in plans.items()
    ]
