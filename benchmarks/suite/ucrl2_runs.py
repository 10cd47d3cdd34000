"""Whole runs of UCRL2, against the UCRL2 of ``statisticalrl-learners``, on the same worlds with the same delta."""

from __future__ import annotations

from functools import partial

import numpy as np

import driftmdp as dm
from benchmarks.learners import PeerRun, statisticalrl_runs
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, fastest, medians, timed

__all__ = ["run"]

DELTA = 0.05
CALLS = 10  # of our runs in a row


def run(quick: bool) -> list[Row]:
    """Return one row per world."""
    repeats = 3 if quick else 11
    worlds = {
        "two states": (dm.problems.two_state(horizon=5000, v_r=0, v_p=0), 50),
        "RiverSwim-6": (dm.problems.river_swim(n_states=6, horizon=5000), 100),
        "Garnet 25x4": (dm.problems.garnet(n_states=25, n_actions=4, horizon=5000, drift="stationary"), 30),
    }
    return [_row(name, problem, must_reach, repeats) for name, (problem, must_reach) in worlds.items()]


def _row(name: str, problem: dm.Problem, must_reach: float, repeats: int) -> Row:
    what = f"whole UCRL2 run, {name}, T={problem.horizon}"
    agent = dm.agents.UCRL2.for_problem(problem, delta=DELTA)
    ours = dm.simulate(agent, problem, seed=7)
    _check(ours, problem)
    whole = partial(dm.simulate, agent, problem, seed=7)
    tasks: dict[str, Task] = {"ours": timed(whole, CALLS)}
    low, high = problem.reward_range
    earned = (float(ours.rewards.mean()) - low) / (high - low)
    note = f"Ours: {ours.plans} plans, mean reward {earned:.3f} of 1"
    try:
        peers = statisticalrl_runs(problem, DELTA)
    except ImportError as error:
        own = medians(tasks, repeats)["ours"]
        note = f"{_per_step(own, problem)}. {note}. The peer is not importable ({error})"
        return Speed(what, as_time(own), "no peer", must_reach=f"> {must_reach:g}x", note=note)
    rivals = {name: _seconds(peer) for name, peer in peers.items()}
    seconds = medians(tasks | rivals | {"once": timed(whole)}, repeats)
    own, once = seconds.pop("ours"), seconds.pop("once")
    best, time = fastest(seconds)
    played = peers[best]()
    others = ". ".join(f"With {peer}: {as_time(spent)}" for peer, spent in seconds.items() if peer != best)
    note = (
        f"{_per_step(own, problem)}, mean of {CALLS} runs in a row, one run after the peer's: {as_time(once)}. "
        f"{note}. Peer, with {best}: {played.plans} plans, mean reward "
        f"{played.mean_reward:.3f}. {others}. delta={DELTA} for both, each with its own random numbers"
    )
    return Speed.against(what, own, "statisticalrl-learners UCRL2", time, must_reach, note)


def _seconds(peer: PeerRun) -> Task:
    return lambda: peer().seconds


def _per_step(seconds: float, problem: dm.Problem) -> str:
    return f"Ours {1e9 * seconds / problem.horizon:.0f} ns per step"


def _check(run: dm.Run, problem: dm.Problem) -> None:
    """Fail unless the rewards are those of the pairs played and every move is possible."""
    mdp = problem.drifting.at(1)
    pairs = mdp.space.offsets[run.states] + run.actions
    require(bool(np.allclose(run.rewards, mdp.rewards[pairs], atol=1e-12)), "rewards must be those of the pairs.")
    chances = mdp.transitions.toarray()[pairs, np.append(run.states[1:], run.final_state)]
    require(bool((chances > 0).all()), "every move must be possible.")
