"""The cost of an agent's plan when the world grows and its memory stays the same."""

from __future__ import annotations

import math

from benchmarks.remembered import N_ACTIONS, Steps, fed, learner
from benchmarks.rows import Row, Speed, require
from benchmarks.timing import medians, timed

__all__ = ["run"]

LIMIT = 1.5


def run(quick: bool) -> list[Row]:
    """Return one row per planner."""
    sizes, n_steps, repeats = ((1000, 100_000), 10_000, 5) if quick else ((10_000, 1_000_000), 100_000, 11)
    steps = Steps.drawn(n_steps, n_visited=9 * sizes[0] // 10)
    return [_row(planner, sizes, steps, repeats) for planner in ("paper", "fast")]


def _row(planner: str, sizes: tuple[int, int], steps: Steps, repeats: int) -> Row:
    agents = {size: fed(learner(size, steps.size, planner), steps) for size in sizes}
    plans = {size: agent.plan() for size, agent in agents.items()}
    small, large = sizes
    apart = abs(plans[small].gain - plans[large].gain)
    allowed = 2.0 / math.sqrt(steps.size)
    require(apart <= allowed, f"gains must agree to {allowed:.3g}, whatever S is; they are {apart:.3g} apart.")
    seconds = medians({size: timed(agent.plan) for size, agent in agents.items()}, repeats)
    sweeps = [agent.last_plan.sweeps for agent in agents.values()]
    return Speed.growth(
        f"an agent's plan, S={large:,}, {steps.size:,} remembered steps, planner='{planner}'",
        seconds[large],
        f"S={small:,}",
        seconds[small],
        LIMIT,
        f"UCRL2, A={N_ACTIONS}, the same steps in {steps.states.max() + 1:,} states, radius 1/sqrt(N). Sweeps "
        f"{sweeps[0]} and {sweeps[1]}"
        + (
            f". Planned again from its own bias, the first plan took {plans[large].sweeps}"
            if planner == "fast"
            else ""
        ),
    )
