"""Whole runs of bandits on ten arms that change abruptly, against those of ``SMPyBandits`` with the same numbers."""

from __future__ import annotations

import statistics
from functools import partial

import driftmdp as dm
from benchmarks.bandit_peers import BanditRun, smpybandits_runs
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, medians, timed

__all__ = ["run"]

WINDOW = 184  # of [GM11] for five changes
SEEDS = range(4)  # whose mean rewards are compared
CALLS = 10  # of ours in a row
APART = 0.04  # two to four deviations of the difference; the arms' means are from 0.2 to 0.8


def run(quick: bool) -> list[Row]:
    """Return one row an agent."""
    problem = dm.problems.bandit(n_arms=10, horizon=5000, drift="abrupt")
    windowed, exp3 = dm.agents.SWUCB.for_problem(problem, window=WINDOW), dm.agents.EXP3.for_problem(problem)
    agents = {"UCB1": dm.agents.UCB1.for_problem(problem), f"SW-UCB, W={WINDOW}": windowed, "EXP3": exp3}
    missing = ""
    try:
        peers = smpybandits_runs(problem, WINDOW, windowed.xi, exp3.summary().gamma)
    except ImportError as error:
        peers, missing = {}, f"the peer is not importable ({error})"
    return [
        _row(
            f"whole {what} run, 10 arms, T={problem.horizon}", agent, problem, peers.get(agent.name), missing, quick
        )
        for what, agent in agents.items()
    ]


def _row(
    what: str, agent: dm.agents.Agent, problem: dm.Problem, peer: BanditRun | None, missing: str, quick: bool
) -> Row:
    repeats = 3 if quick else 7
    tasks: dict[str, Task] = {"ours": timed(partial(dm.simulate, agent, problem, seed=7), CALLS)}
    earned = statistics.fmean(float(dm.simulate(agent, problem, seed).rewards.mean()) for seed in SEEDS)
    if peer is None:
        own = medians(tasks, repeats)["ours"]
        return Speed(what, as_time(own), "no peer", note=f"{_per_step(own, problem)}; {missing}")
    theirs = statistics.fmean(peer(seed).mean_reward for seed in SEEDS)
    require(abs(earned - theirs) <= APART, f"{what}: mean rewards must be close; got {earned:.3f}, {theirs:.3f}.")
    seconds = medians(tasks | {"peer": lambda: peer(7).seconds}, repeats)
    note = (
        f"ours {_per_step(seconds['ours'], problem)}, mean of {CALLS} runs in a row; peer "
        f"{_per_step(seconds['peer'], problem)}; mean reward {earned:.3f} and {theirs:.3f} over {len(SEEDS)} seeds, "
        "each with its own luck"
    )
    return Speed.against(what, seconds["ours"], "SMPyBandits", seconds["peer"], note=note)


def _per_step(seconds: float, problem: dm.Problem) -> str:
    return f"{as_time(seconds / problem.horizon)} a step"
