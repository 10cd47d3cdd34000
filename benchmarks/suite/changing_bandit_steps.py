"""Whole runs of bandits that watch for changes, against those of ``SMPyBandits`` as published.

Both have the same parameters. That they behave alike is shown by ``python -m benchmarks.bandit_agreement``.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import driftmdp as dm
from benchmarks.bandit_agreement import SETTINGS
from benchmarks.bandit_peers import BanditRun, import_policy, runs_of
from benchmarks.learners import Played
from benchmarks.mended_peers import make_published
from benchmarks.rows import Row, Speed
from benchmarks.timing import Task, medians, timed

__all__ = ["run"]

SEED = 7
CALLS = 10  # of our runs in a row
N_ARMS = 10
HORIZON, SHORT = 2000, 400
STEPS = 20  # the peer's AdSwitch looks at each 20th start and end of an interval, which is its default


def run(quick: bool) -> list[Row]:
    """Return one row per agent."""
    return [_row(name, quick) for name in SETTINGS]


def _row(name: str, quick: bool) -> Row:
    problem = dm.problems.bandit(N_ARMS, SHORT if name == "AdSwitch" else HORIZON, drift="abrupt", changes=3)
    agent = getattr(dm.agents, name).for_problem(problem, **SETTINGS[name].parameters)
    what = f"whole {name} run, {N_ARMS} arms, T={problem.horizon}"
    tasks: dict[str, Task] = {"ours": timed(partial(dm.simulate, agent, problem, seed=SEED), CALLS)}
    played: list[Played] = []
    try:
        tasks["peer"] = partial(_next_run, _peer(name, agent, problem), played)
    except ImportError as error:
        seconds = medians(tasks, 3)
        return Speed.under(what, seconds["ours"], None, note=f"SMPyBandits is not importable ({error})")
    seconds = medians(tasks, 1 if quick else 5)
    ours = statistics.fmean(dm.simulate(agent, problem, seed).rewards.mean() for seed in range(len(played)))
    theirs = statistics.fmean(one.mean_reward for one in played)
    note = (
        f"{1e9 * seconds['ours'] / problem.horizon:,.0f} ns per step, mean of {CALLS} runs in a row. SMPyBandits "
        f"is not made for speed. Mean reward {ours:.3f}, theirs {theirs:.3f}, over {len(played)} seeds"
    )
    return Speed.against(what, seconds["ours"], "SMPyBandits", seconds["peer"], note=note)


def _peer(name: str, agent: Any, problem: dm.Problem) -> BanditRun:
    given = SETTINGS[name].parameters
    if name == "AdSwitch":
        its = import_policy("AdSwitchNew").AdSwitchNew
        every = given["test_every"]
        make = partial(its, N_ARMS, horizon=problem.horizon, C1=given["c1"], delta_t=every, delta_s=STEPS)
    else:
        known = given | {"threshold": agent.summary().threshold} if name == "MUCB" else given
        make = partial(make_published, name, N_ARMS, problem.horizon, known)
        make()  # fails here if it cannot be imported
    return runs_of({name: make}, problem)[name]


def _next_run(peer: BanditRun, played: list[Played]) -> float:
    played.append(peer(len(played)))
    return played[-1].seconds
