"""What Adaptive knows in snapshots: back from arrays, trusted only after everything in them has been checked.

Compiled code does not check indices: a damaged file must be noticed here, not there. What is wrong raises
ValueError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.snapshot_checks import LATEST, require
from driftmdp.kernels.adaptive_arrays import (
    ADAPTIVE_FACTS,
    TRACE,
    AdaptivePlan,
    ExpertWeights,
    FadingMemory,
    new_fading_memory,
)
from driftmdp.kernels.arrays import TransitionCounts

ROUNDING = 1e-6  # of what is read from a file
LONGEST = 50.0  # ln of the largest ratio of visits that can be


def restored_traces(known: TransitionCounts, arrays: dict[str, NDArray[Any]]) -> FadingMemory:
    """Return the fading memories of a snapshot."""
    tally = known.tally[0]
    slots, entries = int(tally["n_slots"]), int(tally["n_entries"])
    past = new_fading_memory(known.slots.size, known.entries.size)
    pairs = arrays["pairs"]
    require(pairs.dtype == TRACE and pairs.shape == (slots,), "the pairs are wrong")
    past.pairs[:slots] = pairs
    for name in TRACE.names or ():
        require(bool(np.isfinite(pairs[name]).all()), "a trace is not finite")
    require(bool((pairs["last"] > 0).all() and (pairs["gap"] >= 0).all()), "a time is wrong")
    for name in ("reward", "before", "mean", "hoped"):
        require(within_one(pairs[name]), "a reward is wrong")
    require(bool(((pairs["rarity"] >= -ROUNDING) & (pairs["rarity"] < LONGEST)).all()), "a rarity is wrong")
    require(bool(((pairs["doubt"] >= 1.0) & (pairs["doubt"] < LONGEST)).all()), "a doubt is wrong")
    seen = known.slots[:slots]
    for name in ("total", "squares"):
        require(within_one(seen[name] / seen["count"]), "a sum is wrong")
    for name, n in (("sums", slots), ("counts", entries), ("chances", entries)):
        room, kept = getattr(past, name), numbers(arrays, name)
        require(kept.shape == (n, *room.shape[1:]) and bool((kept >= 0).all()), f"{name} are wrong")
        room[:n] = kept
    visits = past.sums[:slots, 0]
    require(bool((visits > 0).all() and (visits <= seen["count"][:, None] + ROUNDING).all()), "visits are wrong")
    require(within_one(past.sums[:slots] / visits[:, None]), "a sum is wrong")
    whole = known.entries["count"][:entries, None]
    require(bool((past.counts[:entries] <= whole + ROUNDING).all()), "a count is wrong")
    require(within_one(past.chances[:entries]), "a chance is wrong")
    return past


def restored_judgement(new: ExpertWeights, arrays: dict[str, NDArray[Any]]) -> ExpertWeights:
    """Return the weights of a snapshot; ``new`` are those of a new agent."""
    found = ExpertWeights(*(numbers(arrays, f"judged_{name}") for name in ExpertWeights._fields))
    for name in ExpertWeights._fields:
        require(getattr(found, name).shape == getattr(new, name).shape, f"{name} has the wrong shape")
    sound = (
        np.allclose(found.transition_weights.sum(), 1.0)
        and np.allclose(found.reward_weights.sum(axis=1), 1.0)
        and all((array >= 0).all() for array in (found.transition_weights, found.reward_weights))
        and all((array >= 0).all() for array in (found.reward_errors, found.drift, found.noise, found.judged[:, 0]))
    )
    require(bool(sound), "the weights are wrong")
    return found


def restored_intent(new: AdaptivePlan, known: TransitionCounts, arrays: dict[str, NDArray[Any]]) -> AdaptivePlan:
    """Return the plan of a snapshot, in the arrays of a new agent."""
    facts, touched = arrays["facts"], arrays["touched"]
    n_states = new.bias.size
    require(facts.dtype == ADAPTIVE_FACTS and facts.shape == (1,), "the facts are wrong")
    require(
        all(bool(np.isfinite(facts[name]).all()) for name in ADAPTIVE_FACTS.names or ()), "a fact is not finite"
    )
    t = int(facts["t"][0])
    require(0 < t < LATEST and bool((facts["planned"] <= t) & (facts["thought"] <= t)), "time is wrong")
    require(bool(0 <= facts["cursor"][0] <= known.tally["n_slots"][0]), "the cursor is wrong")
    require(touched.dtype.kind == "i" and touched.ndim == 1, "the states are wrong")
    require(touched.size == facts["n_touched"][0] == np.unique(touched).size, "a state is known twice")
    require(bool(((touched >= 0) & (touched < n_states)).all()), "a state does not exist")
    new.facts[:] = facts
    for name in ("bias", "visits", "tried"):
        kept = numbers(arrays, name)
        require(kept.shape == (n_states,), f"{name} has the wrong shape")
        getattr(new, name)[:] = kept
    slots = known.slots[: int(known.tally["n_slots"][0])]
    require(np.array_equal(new.tried, np.bincount(slots["state"], minlength=n_states)), "the trials do not agree")
    visits = np.bincount(slots["state"], weights=slots["count"], minlength=n_states)
    require(np.array_equal(new.visits, visits), "the visits do not agree")
    new.touched[: touched.size], new.is_met[touched] = touched, 1
    met = np.concatenate([slots["state"], known.entries["next_state"][: int(known.tally["n_entries"][0])]])
    require(bool(new.is_met[met].all()), "a state is missing")
    return new


def numbers(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return an array of numbers as doubles."""
    array = arrays[name]
    require(array.dtype.kind in "fi" and bool(np.isfinite(array).all()), f"{name} has the wrong type")
    return np.ascontiguousarray(array, dtype=np.float64)


def within_one(values: NDArray[Any]) -> bool:
    """Return whether all numbers lie in [0, 1], but for rounding."""
    return bool(((values >= -ROUNDING) & (values <= 1.0 + ROUNDING)).all())
