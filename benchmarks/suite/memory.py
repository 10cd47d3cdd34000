"""Peak memory of fresh processes: a world of a million steps, and one large plan."""

from __future__ import annotations

import time

import numpy as np

import driftmdp as dm
from benchmarks.chains import sparse_random
from benchmarks.child import call_in_child, peak_memory
from benchmarks.rows import Row, Speed, as_memory, as_time, require
from benchmarks.timing import seconds_of
from driftmdp.planning import optimal_gain, optimal_gains
from driftmdp.problems.garnet import garnet_mdp

__all__ = ["large_plan", "long_world", "run"]

LIMIT = 1_000_000_000
ROUGH = 1e-2


def run(quick: bool) -> list[Row]:
    """Return a row for the long world and one for the large plan."""
    horizon, n_states = (10_000, 1000) if quick else (1_000_000, 10_000)
    long_world(100), large_plan(400)  # so that no child compiles
    world, plan = call_in_child(long_world, horizon), call_in_child(large_plan, n_states)
    stages = ", ".join(f"{name} {as_time(seconds)}" for name, seconds in world.result["seconds"].items())
    return [
        Speed.memory(
            f"peak memory, world of T={horizon:,}, S=50 A=4 K=4",
            world.peak_bytes,
            LIMIT,
            f"its (T, K) weights: {as_memory(horizon * 4 * 8)}",
            f"Whole process. Before the weights {as_memory(world.result['before'])}. {stages}",
        ),
        Speed.memory(
            f"peak memory, optimal gain, S={n_states:,} A=5, 5 successors",
            plan.peak_bytes,
            None,
            f"its rewards and non-zeros: {as_memory(plan.result['model'])}",
            f"Whole process. Before the plan {as_memory(plan.result['before'])} (interpreter, numpy, compiler). "
            f"Planned in {as_time(plan.result['seconds'])}",
        ),
    ]


def long_world(horizon: int) -> dict[str, object]:
    """Build a world with dense weights, look at it, and find its gains. Return the seconds per stage."""
    rng = np.random.default_rng(0)
    anchors = [garnet_mdp(50, 4, 5, 0.5, rng) for _ in range(4)]
    before = peak_memory()
    angle = 2 * np.pi * np.arange(horizon)[:, None] / horizon
    weights = 1.5 + np.cos(angle * np.arange(1, 5))
    weights /= weights.sum(axis=1, keepdims=True)
    start = time.perf_counter()
    world = dm.DriftingMdp(anchors, weights)
    seconds = {"Built in": time.perf_counter() - start}
    seconds["variation()"] = seconds_of(world.variation)
    seconds["at(t)"] = seconds_of(lambda: world.at(horizon // 2))
    start = time.perf_counter()
    gains = optimal_gains(world, tolerance=ROUGH)
    seconds[f"optimal_gains(tolerance={ROUGH:g})"] = time.perf_counter() - start
    for t in range(1, horizon + 1, horizon // 10):
        error = abs(gains[t - 1] - optimal_gain(world.at(t)).gain)
        require(error <= ROUGH, f"the gain of t={t} must be within {ROUGH:g}; it is off by {error:.3g}.")
    return {"before": before, "seconds": seconds}


def large_plan(n_states: int) -> dict[str, float]:
    """Solve one sparse random MDP. Return the seconds, the model's bytes and the peak memory before."""
    optimal_gain(sparse_random(400))
    mdp = sparse_random(n_states)
    model = sum(array.nbytes for array in mdp.arrays)
    before = peak_memory()
    return {"seconds": seconds_of(lambda: optimal_gain(mdp)), "model": model, "before": before}
