"""What AdaptiveV1 learned, from the arrays of a snapshot, trusted only after every index is checked."""

import numpy as np

from driftmdp.agents.snapshot_checks import LATEST, ROUNDING, is_finite, numbers, require, within, within_one
from driftmdp.kernels.adaptive_v1_arrays import AdaptiveV1Plan, ExpertWeightsV1, FadingMemoryV1, new_fading_memory
from driftmdp.kernels.arrays import TransitionCounts
from driftmdp.npz import Arrays

LARGEST_LOG = 50.0  # ln of the largest possible ratio of visits


def restored_fading_memory(memory: TransitionCounts, arrays: Arrays) -> FadingMemoryV1:
    """Return the fading memories of a snapshot of AdaptiveV1."""
    slots, entries = int(memory.tally[0]["n_slots"]), int(memory.tally[0]["n_entries"])
    past, pairs = new_fading_memory(memory.slots.size, memory.entries.size), arrays["pairs"]
    seen = memory.slots[:slots]
    require(pairs.dtype == past.pairs.dtype and pairs.shape == (slots,), "the pairs are wrong")
    past.pairs[:slots] = pairs
    require(is_finite(pairs), "a trace is not finite")
    require(bool((pairs["last"] > 0).all() and (pairs["gap"] >= 0).all()), "a time is wrong")
    for name in ("reward", "before", "mean", "hoped"):
        require(within_one(pairs[name]), "a reward is wrong")
    for name, least in (("rarity", -ROUNDING), ("doubt", 1.0)):
        require(bool(((pairs[name] >= least) & (pairs[name] < LARGEST_LOG)).all()), f"a {name} is wrong")
    for name in ("total", "squares"):
        require(within_one(seen[name] / seen["count"]), "a sum is wrong")
    for name, n in (("sums", slots), ("counts", entries), ("chances", entries)):
        buffer, stored = getattr(past, name), numbers(arrays, name)
        require(stored.shape == (n, *buffer.shape[1:]) and bool((stored >= 0).all()), f"{name} are wrong")
        buffer[:n] = stored
    visits = past.sums[:slots, 0]
    require(bool((visits > 0).all() and (visits <= seen["count"][:, None] + ROUNDING).all()), "visits are wrong")
    require(within_one(past.sums[:slots] / visits[:, None]), "a sum is wrong")
    whole = memory.entries["count"][:entries, None]
    require(bool((past.counts[:entries] <= whole + ROUNDING).all()), "a count is wrong")
    require(within_one(past.chances[:entries]), "a chance is wrong")
    return past


def restored_expert_weights(new: ExpertWeightsV1, arrays: Arrays) -> ExpertWeightsV1:
    """Return the weights of a snapshot of AdaptiveV1; ``new`` are those of a new agent."""
    found = ExpertWeightsV1(*(numbers(arrays, f"judged_{name}") for name in ExpertWeightsV1._fields))
    for name in ExpertWeightsV1._fields:
        require(getattr(found, name).shape == getattr(new, name).shape, f"{name} has the wrong shape")
    weights = found.transition_weights, found.reward_weights
    signless = *weights, found.reward_errors, found.drift, found.noise, found.judged[:, 0]
    sums_to_one = all(np.allclose(array.sum(axis=-1), 1.0) for array in weights)
    require(sums_to_one and all((array >= 0).all() for array in signless), "the weights are wrong")
    return found


def restored_plan(new: AdaptiveV1Plan, memory: TransitionCounts, arrays: Arrays) -> AdaptiveV1Plan:
    """Return the plan of a snapshot of AdaptiveV1, in the arrays of a new agent."""
    facts, touched, n_states = arrays["facts"], arrays["touched"], new.bias.size
    require(facts.dtype == new.facts.dtype and facts.shape == (1,), "the facts are wrong")
    require(is_finite(facts), "a fact is not finite")
    t = int(facts["t"][0])
    require(0 < t < LATEST and bool((facts["planned"] <= t) & (facts["thought"] <= t)), "time is wrong")
    require(bool(0 <= facts["cursor"][0] <= memory.tally["n_slots"][0]), "the cursor is wrong")
    require(touched.dtype.kind == "i" and touched.ndim == 1, "the states are wrong")
    require(touched.size == facts["n_touched"][0] == np.unique(touched).size, "a state is listed twice")
    require(within(touched, n_states), "a state does not exist")
    new.facts[:] = facts
    for name in ("bias", "visits", "tried"):
        stored = numbers(arrays, name)
        require(stored.shape == (n_states,), f"{name} has the wrong shape")
        getattr(new, name)[:] = stored
    slots = memory.slots[: int(memory.tally["n_slots"][0])]
    require(np.array_equal(new.tried, np.bincount(slots["state"], minlength=n_states)), "the trials do not agree")
    visits = np.bincount(slots["state"], weights=slots["count"], minlength=n_states)
    require(np.array_equal(new.visits, visits), "the visits do not agree")
    new.touched[: touched.size], new.is_met[touched] = touched, True
    met = np.concatenate([slots["state"], memory.entries["next_state"][: int(memory.tally["n_entries"][0])]])
    require(bool(new.is_met[met].all()), "a state is missing")
    return new
