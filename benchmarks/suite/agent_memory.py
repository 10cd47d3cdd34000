"""Peak memory of a fresh process in which an agent with a million states remembers 100,000 steps and plans."""

from __future__ import annotations

import time

from benchmarks.child import call_in_child, peak_memory
from benchmarks.remembered import N_ACTIONS, Steps, fed, learner
from benchmarks.rows import Row, Speed, as_memory, as_time

__all__ = ["large_agent", "run"]

LIMIT = 1_000_000_000


def run(quick: bool) -> list[Row]:
    """Return one row."""
    n_states, n_steps = (100_000, 10_000) if quick else (1_000_000, 100_000)
    large_agent(1000, 1000)  # so that the child does not compile
    report = call_in_child(large_agent, n_states, n_steps)
    said = report.result
    return [
        Speed.memory(
            f"peak memory, UCRL2 with S={n_states:,} A={N_ACTIONS} and {n_steps:,} remembered steps",
            report.peak_bytes,
            LIMIT,
            f"one number per pair: {as_memory(8 * n_states * N_ACTIONS)}",
            f"Whole process. Before the agent {as_memory(said['before'])} (interpreter, numpy, compiler, steps). "
            f"The steps visit {said['visited']:,} states. Fed in {as_time(said['feeding'])}, "
            f"planned in {as_time(said['planning'])}",
        )
    ]


def large_agent(n_states: int, n_steps: int) -> dict[str, float]:
    """Feed an agent, let it plan, and return what it took."""
    fed(learner(10, 100, "paper"), Steps.drawn(100, 10)).plan()
    steps = Steps.drawn(n_steps, n_states)
    before, start = peak_memory(), time.perf_counter()
    agent = fed(learner(n_states, n_steps, "paper"), steps)
    feeding = time.perf_counter() - start
    start = time.perf_counter()
    agent.plan()
    planning = time.perf_counter() - start
    return {"before": before, "visited": len(set(steps.states.tolist())), "feeding": feeding, "planning": planning}
