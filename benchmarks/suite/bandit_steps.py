"""Whole runs of bandits on ten arms that change abruptly, against plain Python and ``SMPyBandits``.

Plain Python gets our steps, at no cost for its world, and must decide the same at each. ``SMPyBandits`` has the
same parameters and its own random numbers, and must earn about as much.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

import numpy as np

import driftmdp as dm
from benchmarks.bandit_peers import BanditRun, smpybandits_runs
from benchmarks.learners import Played
from benchmarks.plain_bandits import replay_exp3, replay_ucb
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, medians, timed

__all__ = ["run"]

SEED = 7
WINDOW = 184  # of [GM11] for five changes
CALLS = 10  # of our runs in a row
APART = 0.04  # 2.7 deviations of the difference of EXP3's mean rewards over four seeds, more of the others'


def run(quick: bool) -> list[Row]:
    """Return one row per agent."""
    problem = dm.problems.bandit(n_arms=10, horizon=5000, drift="abrupt")
    windowed, exp3 = dm.agents.SWUCB.for_problem(problem, window=WINDOW), dm.agents.EXP3.for_problem(problem)
    gamma, n_arms = exp3.summary().gamma, problem.space.n_pairs
    uniforms = np.random.default_rng(np.random.SeedSequence(SEED).spawn(2)[1]).random(problem.horizon).tolist()
    rows = {
        "UCB1": (dm.agents.UCB1.for_problem(problem), partial(replay_ucb, n_arms=n_arms, factor=2.0, window=None)),
        f"SW-UCB (W={WINDOW})": (
            windowed,
            partial(replay_ucb, n_arms=n_arms, factor=windowed.xi, window=WINDOW),
        ),
        "EXP3": (exp3, partial(replay_exp3, n_arms=n_arms, gamma=gamma, uniforms=uniforms)),
    }
    peers: dict[str, BanditRun] = {}
    why = ""
    try:
        peers = smpybandits_runs(problem, WINDOW, windowed.xi, gamma)
    except ImportError as error:
        why = f"SMPyBandits is not importable ({error})"
    return [
        _row(f"whole {name} run, 10 arms, T={problem.horizon}", agent, replay, problem, peers, why, quick)
        for name, (agent, replay) in rows.items()
    ]


def _row(
    what: str,
    agent: dm.agents.BuiltinAgent,
    replay: Callable[..., None],
    problem: dm.Problem,
    peers: dict[str, BanditRun],
    why: str,
    quick: bool,
) -> Row:
    sample = dm.simulate(agent, problem, SEED)
    steps = list(zip(sample.actions.tolist(), sample.rewards.tolist(), strict=True))
    tasks: dict[str, Task] = {
        "ours": timed(partial(dm.simulate, agent, problem, seed=SEED), CALLS),
        "plain": timed(partial(replay, steps)),
    }
    played: list[Played] = []
    if agent.name in peers:
        tasks["peer"] = partial(_next_run, peers[agent.name], played)
    seconds = medians(tasks, 3 if quick else 7)
    note = f"{_per_step(seconds['ours'], problem)}, mean of {CALLS} runs in a row. " + (
        _beside(what, agent, problem, seconds, played) if played else why
    )
    return Speed.against(what, seconds["ours"], "plain Python", seconds["plain"], note=note)


def _next_run(peer: BanditRun, played: list[Played]) -> float:
    played.append(peer(len(played)))
    return played[-1].seconds


def _beside(
    what: str, agent: dm.agents.Agent, problem: dm.Problem, seconds: dict[str, float], played: list[Played]
) -> str:
    """Return the time of the peer. Fails unless both earn about the same."""
    runs = [dm.simulate(agent, problem, seed) for seed in range(len(played))]
    ours = statistics.fmean(run.total_reward / run.horizon for run in runs)
    theirs = statistics.fmean(run.mean_reward for run in played)
    require(abs(ours - theirs) <= APART, f"{what}: mean rewards must be close; got {ours:.3f} and {theirs:.3f}.")
    return (
        f"SMPyBandits: {as_time(seconds['peer'])} ({seconds['peer'] / seconds['ours']:.0f}x, not made for speed). "
        f"Mean reward {ours:.3f}, theirs {theirs:.3f}, over {len(played)} seeds"
    )


def _per_step(seconds: float, problem: dm.Problem) -> str:
    return f"{1e9 * seconds / problem.horizon:,.0f} ns per step"
