"""The time per step of each agent, measured in this thread. It is no part of the results."""

import time
from collections.abc import Set
from pathlib import Path
from typing import Any

from driftmdp.experiments import PlannedCell, Spec, plan
from driftmdp.experiments.problem_cache import cached_agent, cached_problem
from driftmdp.simulation import simulate
from driftmdp.suite.json_files import read_json, write_json
from driftmdp.validation import quietly

TIMED_SEED = 0
TIMED_RUNS = 3  # the fastest counts, because a disturbance only adds to the time
FAST_AGENT_SECONDS = 0.05  # a fast agent is run more often, up to this time
SLOW_AGENT_SECONDS = 1.0  # no further run begins after this time


def time_steps(spec: Spec, path: Path, failed: Set[str]) -> dict[str, float]:
    """Return microseconds per step by agent, without those that failed. Times already in the file are kept."""
    stored = read_json(path)
    cells = {cell.agent.label: cell for cell in plan(spec, "suite").cells if cell.agent.label not in failed}
    missing = {label: cell for label, cell in cells.items() if stored.get(label, {}).get("cell") != cell.id}
    if missing:
        stored |= {label: _microseconds(cell) for label, cell in missing.items()}
        write_json(path, stored)
    return {label: stored[label]["microseconds"] for label in cells}


@quietly()
def _microseconds(cell: PlannedCell) -> dict[str, Any]:
    problem, agent = cached_problem(cell.problem).problem, cached_agent(cell)
    simulate(agent, problem, TIMED_SEED)  # compiles, and fills caches
    spent: list[float] = []
    while sum(spent) < (SLOW_AGENT_SECONDS if len(spent) < TIMED_RUNS else FAST_AGENT_SECONDS):
        start = time.perf_counter()
        simulate(agent, problem, TIMED_SEED)
        spent.append(time.perf_counter() - start)
    return {"cell": cell.id, "microseconds": 1e6 * min(spent) / problem.horizon, "steps": problem.horizon}
