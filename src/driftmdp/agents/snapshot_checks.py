"""A memory and a mind in snapshots: as arrays, and back, trusted only after every index in them has been checked.

Compiled code does not check indices: a damaged file must be noticed here, not there. What is wrong raises
ValueError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.kernels.arrays import ENTRY, SLOT, STEP, TALLY, TransitionCounts, new_counts
from driftmdp.kernels.plan_arrays import CLOCK, PAIR_REASON, VISITS, PlanState, enlarge_plan_state
from driftmdp.mdp import Space

LATEST = 2**62  # a time from which compiled code can still count on
TYPES = {
    "slots": SLOT,
    "entries": ENTRY,
    "steps": STEP,
    "tally": TALLY,
    "clock": CLOCK,
    "visits": VISITS,
    "policy": np.dtype(np.int32),
    "bias": np.dtype(np.float64),
    "touched": np.dtype(np.int32),
    "reasons": PAIR_REASON,
}


def memory_arrays(memory: TransitionCounts) -> dict[str, NDArray[Any]]:
    """Return what a memory holds, as arrays by name for a snapshot."""
    facts = memory.tally[0]
    return {
        "slots": memory.slots[: facts["n_slots"]],
        "entries": memory.entries[: facts["n_entries"]],
        "steps": memory.steps[: facts["remembered"] if facts["window"] else 0],
        "tally": memory.tally,
    }


def restored_memory(space: Space, empty: TransitionCounts, arrays: dict[str, NDArray[Any]]) -> TransitionCounts:
    """Return the memory of a snapshot, with no less room than ``empty``, a new one of the same agent."""
    slots, entries, steps, tally = (_checked(arrays, name) for name in ("slots", "entries", "steps", "tally"))
    for records in (slots, entries, steps):
        require(_within(records["pair"], space.n_pairs), "a pair does not exist")
    require(all(np.isfinite(slots[name]).all() for name in ("count", "total", "squares")), "a sum is not finite")
    require(bool(np.isfinite(steps["reward"]).all()), "a reward is not finite")
    require(_within(entries["next_state"], space.n_states), "a next state does not exist")
    places = entries["pair"].astype(np.int64) * space.n_states + entries["next_state"]
    places = places[entries["count"] > 0]
    require(np.unique(places).size == places.size, "a next state is counted twice")
    require(tally.size == 1 and np.unique(slots["pair"]).size == slots.size, "a pair has two slots")
    facts = {name: int(tally[name][0]) for name in TALLY.names or ()}
    window = facts["window"]
    require(0 <= window <= empty.steps.size, "the window is wrong")
    require(facts["n_slots"] == slots.size and facts["n_entries"] == entries.size, "the tally is wrong")
    require(steps.size == (facts["remembered"] if window else 0), "steps are missing")
    require(0 <= facts["cursor"] < max(1, window) and 0 <= facts["since"] < max(1, window), "the tally is wrong")
    # some kernels count on the room that their agent made, and never ask for more
    pairs, successors = max(slots.size, empty.slots.size - 1), max(entries.size, empty.entries.size - 1)
    memory = new_counts(space.n_pairs, window, pairs, successors, empty.steps.size)
    memory.slots[: slots.size], memory.entries[: entries.size] = slots, entries
    memory.steps[: steps.size] = steps
    memory.tally[:] = tally
    owner = np.searchsorted(space.offsets, slots["pair"], side="right").astype(np.int32) - np.int32(1)
    require(kernels.transition_counts.is_sound(memory, owner), "the counts do not agree")
    require(
        window == 0 or kernels.transition_counts.has_sound_window(memory),
        "the window does not agree with the counts",
    )
    memory.slot_of[slots["pair"]] = np.arange(slots.size)
    kernels.transition_counts.fill_table(memory)
    return memory


def restored_mind(
    space: Space, new: PlanState, memory: TransitionCounts, arrays: dict[str, NDArray[Any]]
) -> PlanState:
    """Return the mind of a snapshot; ``new`` is that of a new agent."""
    names = "clock", "visits", "policy", "bias", "touched", "reasons"
    clock, visits, policy, bias, touched, reasons = (_checked(arrays, name) for name in names)
    require(clock.size == 1 and visits.size == space.n_pairs, "an array has the wrong size")
    require(policy.size == bias.size == space.n_states, "an array has the wrong size")
    require(bool(((policy >= 0) & (policy < space.n_actions)).all()), "an action does not exist")
    require(_within(touched, space.n_states) and _within(reasons["pair"], space.n_pairs), "a pair does not exist")
    facts = clock[0]
    require(facts["n_touched"] == touched.size and facts["n_reasons"] == reasons.size, "the clock is wrong")
    require(bool(0 <= facts["start"] < facts["t"] < LATEST and 0 <= facts["tau"] <= facts["t"]), "time is wrong")
    plan_state = enlarge_plan_state(new, max(memory.slots.size, touched.size, reasons.size))
    for name in ("clock", "visits", "policy", "bias"):
        getattr(plan_state, name)[:] = arrays[name]
    plan_state.touched[: touched.size], plan_state.reasons[: reasons.size] = touched, reasons
    return plan_state


def _checked(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    array = arrays[name]
    require(array.ndim == 1 and array.dtype.newbyteorder("=") == TYPES[name], f"{name} has the wrong type")
    return array.astype(TYPES[name])


def _within(values: NDArray[Any], limit: int) -> bool:
    return bool(((values >= 0) & (values < limit)).all())


def require(kept: bool, fault: str) -> None:
    """Refuse what cannot be."""
    if not kept:
        raise ValueError(fault)
