"""What Adaptive learned, as the arrays of a snapshot and back, trusted only after every index is checked."""

import numpy as np

from driftmdp.agents.snapshot_checks import LATEST, ROUNDING, is_finite, numbers, require, within, within_one
from driftmdp.kernels.adaptive_agent_arrays import AdaptivePlan, FadingMemories, MemoryWeights, new_fading_memories
from driftmdp.kernels.arrays import TransitionCounts
from driftmdp.npz import Arrays

KEPT_OF_PLAN = ("facts", "bias", "visits", "tried")
LARGEST_LOG = 50.0  # ln of the largest possible ratio of visits


def adaptive_arrays(
    memory: TransitionCounts, past: FadingMemories, weights: MemoryWeights, plan: AdaptivePlan
) -> Arrays:
    """Return what is to be kept beside the counts, without spare space."""
    slots, entries = int(memory.tally[0]["n_slots"]), int(memory.tally[0]["n_entries"])
    sizes = {"pairs": slots, "sums": slots, "counts": entries, "chances": entries}
    traces = {name: getattr(past, name)[:size] for name, size in sizes.items()}
    kept = {f"weights_{name}": array for name, array in weights._asdict().items()}
    planned = {name: getattr(plan, name) for name in KEPT_OF_PLAN}
    return traces | kept | planned | {"met": plan.met[: int(plan.facts[0]["n_met"])]}


def restored_fading_memories(memory: TransitionCounts, arrays: Arrays) -> FadingMemories:
    """Return the fading memories of a snapshot."""
    slots, entries = int(memory.tally[0]["n_slots"]), int(memory.tally[0]["n_entries"])
    past, pairs = new_fading_memories(memory.slots.size, memory.entries.size), arrays["pairs"]
    seen = memory.slots[:slots]
    require(pairs.dtype == past.pairs.dtype and pairs.shape == (slots,), "the pairs are wrong")
    past.pairs[:slots] = pairs
    require(is_finite(pairs), "a trace is not finite")
    require(bool((pairs["last"] > 0).all()), "a time is wrong")
    for name in ("mean", "hoped"):
        require(within_one(pairs[name]), "a reward is wrong")
    for name in ("variance", "foreseen", "visits", "doubt", "value_drift"):
        require(bool((pairs[name] >= 0).all()), f"a {name} is wrong")
    require(bool((pairs["doubt"] < LARGEST_LOG).all()), "a doubt is wrong")
    for name, n in (("sums", slots), ("counts", entries), ("chances", entries)):
        buffer, stored = getattr(past, name), numbers(arrays, name)
        require(stored.shape == (n, *buffer.shape[1:]) and bool((stored >= 0).all()), f"{name} are wrong")
        buffer[:n] = stored
    visits = past.sums[:slots, 0]
    # As of its last visit, that visit counts in full.
    possible = (visits >= 1.0 - ROUNDING) & (visits <= seen["count"][:, None] + ROUNDING)
    require(bool(possible.all()), "visits are wrong")
    for name in ("total", "squares"):
        require(within_one(seen[name] / seen["count"]), "a sum is wrong")
    require(within_one(past.sums[:slots] / visits[:, None]), "a sum is wrong")
    whole = memory.entries["count"][:entries, None]
    require(bool((past.counts[:entries] <= whole + ROUNDING).all()), "a count is wrong")
    require(within_one(past.chances[:entries]), "a chance is wrong")
    return past


def restored_memory_weights(new: MemoryWeights, arrays: Arrays) -> MemoryWeights:
    """Return the weights of a snapshot; ``new`` are those of a new agent."""
    found = MemoryWeights(*(numbers(arrays, f"weights_{name}") for name in MemoryWeights._fields))
    for name in MemoryWeights._fields:
        require(getattr(found, name).shape == getattr(new, name).shape, f"{name} has the wrong shape")
    weights = found.rewards, found.transitions, found.prior
    errors = [judged[:, i] for judged in (found.judged, found.value_judged) for i in (0, 2)]
    signless = *weights, *errors, found.drift, found.value_drift, found.noise, found.newness, found.by_state[:, 1]
    sums_to_one = all(np.allclose(array.sum(axis=-1), 1.0) for array in weights)
    require(sums_to_one and all((array >= 0).all() for array in signless), "the weights are wrong")
    return found


def restored_adaptive_plan(new: AdaptivePlan, memory: TransitionCounts, arrays: Arrays) -> AdaptivePlan:
    """Return the plan of a snapshot, in the arrays of a new agent."""
    facts, met, n_states = arrays["facts"], arrays["met"], new.bias.size
    require(facts.dtype == new.facts.dtype and facts.shape == (1,), "the facts are wrong")
    require(is_finite(facts), "a fact is not finite")
    t = int(facts["t"][0])
    require(0 < t < LATEST and bool((facts["planned"] <= t) & (facts["thought"] <= t)), "time is wrong")
    require(bool(0 <= facts["cursor"][0] <= memory.tally["n_slots"][0]), "the cursor is wrong")
    require(bool(0 <= facts["novelty"][0] <= 1 and facts["reward_spread"][0] >= 0), "a fact is wrong")
    require(met.dtype.kind == "i" and met.ndim == 1, "the states are wrong")
    require(met.size == facts["n_met"][0] == np.unique(met).size, "a state is listed twice")
    require(within(met, n_states), "a state does not exist")
    new.facts[:] = facts
    for name in ("bias", "visits", "tried"):
        stored = numbers(arrays, name)
        require(stored.shape == (n_states,), f"{name} has the wrong shape")
        getattr(new, name)[:] = stored
    slots = memory.slots[: int(memory.tally["n_slots"][0])]
    require(np.array_equal(new.tried, np.bincount(slots["state"], minlength=n_states)), "the trials do not agree")
    visits = np.bincount(slots["state"], weights=slots["count"], minlength=n_states)
    require(np.array_equal(new.visits, visits), "the visits do not agree")
    new.met[: met.size], new.is_met[met] = met, True
    return new
