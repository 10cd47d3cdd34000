"""Running specs: the paper's headline, the overhead of the runner, and whether a sweep keeps the cores busy."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.child import call_in_child
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import seconds_of
from driftmdp.engines import usable_cores

__all__ = ["run"]

HEADLINE = """
seeds = {seeds}
[[problems]]
name = "two-state"
grid = {{ v_p = ["T^0.2", "T^0.5"], v_r = ["T^0.2", "T^0.5"] }}
[[agents]]
name = "SWUCRL2CW"
parameters = {{ budgets = "order", reward_range = "raw" }}
[[agents]]
name = "BORL"
parameters = {{ reward_range = "raw" }}
[[agents]]
name = "UCRL2"
parameters = {{ reward_range = "raw" }}
[[agents]]
name = "UCRL2S"
parameters = {{ reward_range = "raw" }}
"""
TINY = """
seeds = {seeds}
problems = [{{name = "two-state", parameters = {{horizon = 20}}}}]
agents = [{{name = "UCRL2"}}]
"""


def run(quick: bool) -> list[Row]:
    """Return a row for each promise."""
    return [_headline(5 if quick else 50), _overhead(200 if quick else 2000), _sweep(quick), *_command(quick)]


def _headline(seeds: int) -> Row:
    seconds, compute = call_in_child(headline, seeds).result
    note = (
        f"4 scenarios x 4 agents x {seeds} seeds, T = 5000, from the spec to the stored files, once compiled and "
        f"loaded. {as_time(compute)} in runs, over all threads"
    )
    return Speed.under("the paper's headline section", seconds, 3.0, note=note)


def headline(seeds: int) -> tuple[float, float]:
    """Return the wall-clock time of the headline, and the time in runs."""
    from driftmdp.experiments import parse_spec
    from driftmdp.experiments import run as run_spec

    with tempfile.TemporaryDirectory() as folder:
        run_spec(parse_spec(HEADLINE.format(seeds=1)), f"{folder}/warm")
        session = run_spec(parse_spec(HEADLINE.format(seeds=seeds)), f"{folder}/results")
        require(session.done == 16 * seeds and not session.failures, "Every run must be done.")
        return session.seconds, session.compute_seconds


def _overhead(seeds: int) -> Row:
    whole, alone = call_in_child(overhead, seeds).result
    note = f"{seeds} runs of 20 steps with one worker, journal and files included"
    baseline = f"simulate alone: {as_time(alone)}"
    return Speed.under("overhead of the runner per run", whole - alone, 2e-3, baseline, note)


def overhead(seeds: int) -> tuple[float, float]:
    """Return the time of a tiny run through the runner, and of ``simulate`` alone."""
    import driftmdp as dm
    from driftmdp.experiments import parse_spec
    from driftmdp.experiments import run as run_spec

    problem = dm.problems.two_state(horizon=20)
    agent = dm.agents.UCRL2.for_problem(problem)
    with tempfile.TemporaryDirectory() as folder:
        run_spec(parse_spec(TINY.format(seeds=2)), f"{folder}/warm")
        whole = seconds_of(lambda: run_spec(parse_spec(TINY.format(seeds=seeds)), f"{folder}/results", workers=1))
    alone = seconds_of(lambda: [dm.simulate(agent, problem, seed) for seed in range(seeds)])
    return whole / seeds, alone / seeds


def _sweep(quick: bool) -> Row:
    runs = 320 if quick else 10_000
    seconds, busy = call_in_child(sweep, runs // 16).result
    cores = usable_cores()
    share = busy / seconds / cores
    return Speed(
        f"a sweep of {runs:,} runs: share of {cores} cores in use",
        f"{100 * share:.0f}%",
        f"{as_time(seconds)} in all",
        must_reach="> 90%",
        reached="yes" if share > 0.9 else "NO",
        note="Processor time of `experiments.run` and its workers over wall-clock time, their start included",
    )


def sweep(seeds: int) -> tuple[float, float]:
    """Return the wall-clock time of a sweep, and the processor time of all its processes."""
    from driftmdp.experiments import parse_spec
    from driftmdp.experiments import run as run_spec

    with tempfile.TemporaryDirectory() as folder:
        before, start = _processor_time(), time.perf_counter()
        run_spec(parse_spec(HEADLINE.format(seeds=seeds)), f"{folder}/results", engine="auto")
        return time.perf_counter() - start, _processor_time() - before


def _command(quick: bool) -> list[Row]:
    """Return the time of the whole ``driftmdp reproduce``: with an empty cache of machine code, and once more."""
    if quick:
        return []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        for number, (what, limit) in enumerate(
            (("the first time, compiling included", 90.0), ("from then on", 20.0))
        ):
            command = [sys.executable, "-m", "driftmdp", "reproduce", "--out", f"{folder}/{number}"]
            seconds = seconds_of(partial(subprocess.run, command, check=True, capture_output=True, env=environment))
            require(Path(f"{folder}/{number}/report/index.html").exists(), "There must be a page.")
            rows.append(Speed.under(f"driftmdp reproduce, {what}", seconds, limit, note="4,400 runs and the page"))
    return rows


def _processor_time() -> float:
    """Return the processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(found.ru_utime + found.ru_stime for found in used)
