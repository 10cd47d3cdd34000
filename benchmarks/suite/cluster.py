"""The cost of a cluster: many short runs on a local cluster of dask, against processes doing the same.

The cost of an engine is the share of its workers' time that is not spent in runs. With w workers, from the begin of
the first run to the last outcome, it is 1 - (seconds in runs) / (w x wall-clock seconds). It includes pickling,
sending, scheduling, waiting for the next batch, and yielding. On a machine with no more cores than workers, the
client and the scheduler take their processor time from the workers. That is included too.
"""

from __future__ import annotations

import resource
import time
from dataclasses import asdict, dataclass

from benchmarks.child import call_in_child
from benchmarks.rows import Row, Speed, as_time, require

__all__ = ["run"]

SPEC = """
seeds = {seeds}
problems = [{{name = "two-state", parameters = {{horizon = 100}}}}]
agents = [{{name = "Random"}}, {{name = "UCRL2"}}]
"""
WORKERS = 2


@dataclass(frozen=True)
class Cost:
    """The cost of a map.

    Attributes
    ----------
    runs, seconds, in_runs
        Number of runs, wall-clock seconds from the begin of the first to the last outcome, seconds in runs.
    processor
        Processor seconds of this process: the client, and in a cluster made here the scheduler too.
    batches, sent, received
        Number of messages of tasks, bytes of tasks and of outcomes. 0 where there are none.
    """

    runs: int
    seconds: float
    in_runs: float
    processor: float
    batches: int = 0
    sent: int = 0
    received: int = 0

    @property
    def share(self) -> float:
        """The share of the workers' time that is not spent in runs."""
        return 1 - self.in_runs / (WORKERS * self.seconds)


def run(quick: bool) -> list[Row]:
    """Return a row for each engine, and the cost of a run and a batch on a cluster."""
    seeds = 2_000 if quick else 50_000
    dask, processes = (Cost(**call_in_child(cost, name, seeds).result) for name in ("dask", "processes"))
    each = dask.in_runs / dask.runs
    note = (
        f"{dask.runs:,} runs of 100 steps, {as_time(each)} each, with {WORKERS} workers. {as_time(dask.seconds)} "
        f"wall-clock time. {dask.batches} batches. {dask.sent / dask.runs:.0f} bytes sent and "
        f"{dask.received / dask.runs:.0f} received per run"
    )
    return [
        Speed(
            "a cluster: share of the workers' time that is not in runs",
            f"{100 * dask.share:.1f}%",
            f"processes: {100 * processes.share:.1f}%",
            must_reach="< 5%",
            reached="yes" if dask.share < 0.05 else "NO",
            note=note,
        ),
        Speed(
            "a cluster: processor time of client and scheduler per run",
            as_time(dask.processor / dask.runs),
            f"processes: {as_time(processes.processor / processes.runs)}",
            note=f"{as_time(dask.processor / max(dask.batches, 1))} per batch",
        ),
    ]


def cost(name: str, seeds: int) -> dict[str, float]:
    """Return the cost of an engine's map over short runs, after its start."""
    from driftmdp import engines
    from driftmdp.experiments import parse_spec
    from driftmdp.experiments.execute import execute_run
    from driftmdp.experiments.run_plan import plan

    runs = list(plan(parse_spec(SPEC.format(seeds=seeds))).runs())
    engine = engines.make(name, WORKERS)
    outcomes = engine.map(execute_run, runs)
    first = next(outcomes)
    before, start = _processor(), time.perf_counter() - first.seconds
    n, in_runs = 1, first.seconds
    for outcome in outcomes:
        require(outcome.error is None, "Every run must be done.")
        n, in_runs = n + 1, in_runs + outcome.seconds
        if n == 2 * seeds:  # before the engine closes
            last, used = time.perf_counter(), _processor()
    require(n == 2 * seeds, "No run must be lost or doubled.")
    traffic = asdict(engine.traffic) if isinstance(engine, engines.DaskEngine) else {}
    return {"runs": n, "seconds": last - start, "in_runs": in_runs, "processor": used - before} | traffic


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
