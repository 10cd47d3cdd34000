"""A live step, ``act`` and ``observe``, of UCRL2 late in a run. Steps that plan again are not counted."""

from __future__ import annotations

import statistics
import time
from bisect import bisect_right

import numpy as np

import driftmdp as dm
from benchmarks.rows import Row, Speed, as_time

__all__ = ["run"]

LIMIT = 20e-6
PASSES = 3  # this machine halves its speed for seconds at a time


def run(quick: bool) -> list[Row]:
    """Return one row: the median of the late steps without a plan, in the fastest of three passes."""
    n_steps = 5000 if quick else 50_000
    problem = dm.problems.garnet(n_states=100, n_actions=4, drift="stationary", horizon=n_steps)
    passes = sorted((_late_steps(problem) for _ in range(PASSES)), key=lambda steps: statistics.median(steps[0]))
    quiet, planning = passes[0]
    others = ", ".join(as_time(statistics.median(steps[0])) for steps in passes[1:])
    share = len(planning) / (len(planning) + len(quiet))
    slow = as_time(statistics.quantiles(quiet, n=100)[98])
    return [
        Speed.under(
            f"a live act + observe, UCRL2, S=100 A=4, steps {n_steps // 2:,} to {n_steps:,}",
            statistics.median(quiet),
            LIMIT,
            note=f"Median of {len(quiet):,} steps that do not plan (99 of 100 take less than {slow}), in the "
            f"fastest of {PASSES} passes (the others: {others}). "
            f"The world's step is not counted. {len(planning)} steps planned ({share:.2%})"
            + (f", median {as_time(statistics.median(planning))}" if planning else ""),
        )
    ]


def _late_steps(problem: dm.Problem) -> tuple[list[float], list[float]]:
    """Return the seconds of the later half of the steps: those that did not plan, and those that did."""
    mdp, horizon = problem.drifting.at(1), problem.horizon
    rewards, cumulative = mdp.rewards.tolist(), np.cumsum(mdp.transitions.toarray(), axis=1)[:, :-1].tolist()
    draws = np.random.default_rng(1).random(horizon).tolist()
    agent = dm.agents.UCRL2.for_problem(problem)
    agent.reset(np.random.default_rng(0))
    quiet: list[float] = []
    planning: list[float] = []
    state, clock = problem.start, time.perf_counter
    for t, uniform in enumerate(draws, 1):
        plans = agent.n_plans
        start = clock()
        action = agent.act(state)
        acted = clock()
        pair = 4 * state + action
        following, reward = bisect_right(cumulative[pair], uniform), rewards[pair]
        resumed = clock()
        agent.observe(reward, following)
        seconds = clock() - resumed + acted - start
        if t > horizon // 2:
            (planning if agent.n_plans > plans else quiet).append(seconds)
        state = following
    return quiet, planning
