"""Arrays for memories and minds: made, made larger as more is remembered, and read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import (
    CLOCK,
    ENTRY,
    PAIR_REASON,
    SLOT,
    STEP,
    TALLY,
    VISITS,
    PlanState,
    PlanWorkspace,
    TransitionCounts,
)
from driftmdp.planning.workspace import new_workspace

FIRST = 32  # pairs and successors that there is room for at first


def new_memory(
    n_pairs: int, window: int, pairs: int = 0, successors: int = 0, steps: int | None = None
) -> TransitionCounts:
    """Return an empty memory with room for so many pairs and successors.

    A window of 0 keeps everything; ``steps`` is the largest window that it will ever have, by default this one.
    """
    tally = np.zeros(1, TALLY)
    tally["vacant"], tally["window"] = -1, window
    room = FIRST
    while room <= successors:
        room *= 2
    return TransitionCounts(
        np.full(n_pairs, -1, np.int32),
        np.zeros(max(FIRST, pairs + 1), SLOT),
        np.zeros(room, ENTRY),
        np.full(2 * room, -1, np.int32),
        _ring(window if steps is None else steps),
        tally,
    )


def _ring(window: int) -> NDArray[np.void]:
    try:
        return np.zeros(window, STEP)
    except (MemoryError, ValueError):
        raise InvalidInputError(
            f"window must be small enough for its steps to fit into memory, 16 bytes each; got {window}."
        ) from None


def enlarge_memory(memory: TransitionCounts) -> TransitionCounts:
    """Return the same memory with twice the room for what is full."""
    slots, entries, table = memory.slots, memory.entries, memory.table
    if memory.tally["n_slots"][0] >= slots.size:
        slots = _doubled(slots)
    if memory.tally["vacant"][0] < 0 and memory.tally["n_entries"][0] >= entries.size:
        entries = _doubled(entries)
        table = np.full(2 * table.size, -1, np.int32)
    larger = TransitionCounts(memory.slot_of, slots, entries, table, memory.steps, memory.tally)
    if table is not memory.table:
        kernels.transition_counts.fill_table(larger)
    return larger


def begin_window(memory: TransitionCounts, window: int) -> None:
    """Forget everything and begin with another window; none may change under what is remembered."""
    kernels.transition_counts.forget_all(memory)
    memory.tally["window"] = window


def counts_of(memory: TransitionCounts) -> NDArray[np.float64]:
    """Return N of every pair, shape (n_pairs,)."""
    slots = memory.slots[: memory.tally["n_slots"][0]]
    counts = np.zeros(memory.slot_of.size)
    counts[slots["pair"]] = slots["count"]
    return counts


def means_of(memory: TransitionCounts) -> NDArray[np.float64]:
    """Return the mean of every pair's rewards as they were remembered, NaN where there are none."""
    slots = memory.slots[: memory.tally["n_slots"][0]]
    means = np.full(memory.slot_of.size, np.nan)
    means[slots["pair"]] = slots["total"] / slots["count"]
    return means


def new_plan_state(n_states: int, n_pairs: int, room: int) -> PlanState:
    """Return a mind at t = 1 without a plan, with room for so many remembered pairs."""
    clock = np.zeros(1, CLOCK)
    clock["t"] = 1
    return PlanState(
        clock,
        np.zeros(n_pairs, VISITS),
        np.zeros(n_states, np.int32),
        np.zeros(n_states),
        np.zeros(room, np.int32),
        np.zeros(room, PAIR_REASON),
    )


def enlarge_plan_state(plan_state: PlanState, room: int) -> PlanState:
    """Return the same mind with room for more remembered pairs."""
    room = max(room, plan_state.touched.size)  # a restored mind may have more room than the memory
    touched, reasons = np.zeros(room, np.int32), np.zeros(room, PAIR_REASON)
    touched[: plan_state.touched.size], reasons[: plan_state.reasons.size] = plan_state.touched, plan_state.reasons
    return PlanState(plan_state.clock, plan_state.visits, plan_state.policy, plan_state.bias, touched, reasons)


def draft_for(n_states: int, memory: TransitionCounts, intervals: bool, stored: int = 0) -> PlanWorkspace:
    """Return room for a plan from all that the memory can hold; ``stored`` asks for longer rows."""
    slots = memory.slots.size
    states = min(slots, n_states) + 1
    rows = slots + states
    stored = max(stored, memory.entries.size + rows)
    return new_workspace(states, rows, stored, intervals, all_states=n_states, slots=slots)


def _doubled(array: NDArray[np.void]) -> NDArray[np.void]:
    return np.concatenate([array, np.zeros_like(array)])
