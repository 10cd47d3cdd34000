"""Whole runs of UCRL3, KL-UCRL and IMED-RL, against those of ``statisticalrl-learners`` on the same worlds."""

from __future__ import annotations

from functools import partial
from typing import Any

import driftmdp as dm
from benchmarks.learners import sharp_run
from benchmarks.rows import Row, Speed, as_time
from benchmarks.timing import medians, timed

__all__ = ["run"]

DELTA = 0.05
LEARNERS = {"UCRL3": "UCRL3", "KL-UCRL": "KLUCRL", "IMED-RL": "IMEDRL"}


def run(quick: bool) -> list[Row]:
    """Return one row per learner and world."""
    horizon, repeats = (500, 1) if quick else (5000, 3)
    worlds = {
        "RiverSwim-6": dm.problems.river_swim(n_states=6, horizon=horizon),
        "Garnet 10x3": dm.problems.garnet(n_states=10, n_actions=3, horizon=horizon, drift="stationary"),
    }
    return [_row(learner, name, problem, repeats) for learner in LEARNERS for name, problem in worlds.items()]


def _row(learner: str, name: str, problem: dm.Problem, repeats: int) -> Row:
    what = f"whole {learner} run, {name}, T={problem.horizon}"
    agent = _our_agent(learner, problem)
    whole = partial(dm.simulate, agent, problem, seed=7)
    ours = whole()
    low, high = problem.reward_range
    earned = (float(ours.rewards.mean()) - low) / (high - low)
    own = medians({"ours": timed(whole, 3)}, 3 * repeats)["ours"]
    note = f"Ours {1e6 * own / problem.horizon:.3g} us per step, mean reward {earned:.3f} of 1"
    try:
        peer = sharp_run(learner, problem, DELTA)
    except ImportError as error:
        return Speed(what, as_time(own), "no peer", note=f"{note}. The peer is not importable ({error})")
    seconds = medians({"peer": lambda: peer().seconds}, repeats, warm_up=False)["peer"]
    note = f"{note}. Peer as published: mean reward {peer().mean_reward:.3f}. {_same_delta(learner)}"
    return Speed.against(what, own, f"statisticalrl-learners {learner}", seconds, note=note)


def _our_agent(learner: str, problem: dm.Problem) -> dm.agents.BuiltinAgent:
    kind: Any = getattr(dm.agents, LEARNERS[learner])
    agent: dm.agents.BuiltinAgent = kind.for_problem(problem, **({} if learner == "IMED-RL" else {"delta": DELTA}))
    return agent


def _same_delta(learner: str) -> str:
    own = "each with its own random numbers"
    return own.capitalize() if learner == "IMED-RL" else f"delta={DELTA} for both, {own}"
