"""Whole runs of UCRL3, KL-UCRL and IMED-RL, against those of ``statisticalrl-learners`` on the same worlds."""

from __future__ import annotations

from functools import partial

import driftmdp as dm
from benchmarks.learner_agreement import OURS
from benchmarks.learners import sharp_run
from benchmarks.rows import Row, Speed, as_time
from benchmarks.timing import medians, timed

__all__ = ["run"]

DELTA = 0.05
LEARNERS = {"UCRL3": "UCRL3", "KL-UCRL": "KLUCRL, uncapped", "IMED-RL": "IMEDRL"}
"""The peer's learners, and ours set as they are."""


def run(quick: bool) -> list[Row]:
    """Return one row per learner and world."""
    horizon = 300 if quick else 2000
    worlds = {
        "RiverSwim-6": dm.problems.river_swim(n_states=6, horizon=horizon),
        "Garnet 5x3": dm.problems.garnet(n_states=5, n_actions=3, horizon=horizon, drift="stationary"),
    }
    return [_row(learner, name, problem) for learner in LEARNERS for name, problem in worlds.items()]


def _row(learner: str, name: str, problem: dm.Problem) -> Row:
    what = f"whole {learner} run, {name}, T={problem.horizon}"
    whole = partial(dm.simulate, OURS[LEARNERS[learner]](problem, DELTA), problem, seed=7)
    low, high = problem.reward_range
    earned = (float(whole().rewards.mean()) - low) / (high - low)
    own = medians({"ours": timed(whole, calls=3)}, repeats=7)["ours"]
    note = (
        f"Ours ({LEARNERS[learner]}) {1e6 * own / problem.horizon:.3g} us per step, mean reward {earned:.3f} of 1"
    )
    try:
        peer = sharp_run(learner, problem, DELTA)
    except ImportError as error:
        return Speed(what, as_time(own), "no peer", note=f"{note}. The peer is not importable ({error})")
    played = peer()  # once, as it takes seconds
    note = f"{note}. Peer as published: mean reward {played.mean_reward:.3f}. Each with its own random numbers"
    return Speed.against(what, own, f"statisticalrl-learners {learner}", played.seconds, note=note)
