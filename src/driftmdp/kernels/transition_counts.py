"""What an agent remembers: counts by pair and successor, kept up step by step in constant time.

Every remembered pair has a slot; slots are kept dense, so that a plan reads them from first to last. Every
remembered (pair, next state) has an entry, found by an open-addressed hash and linked to its pair's other entries.
A window also keeps its steps in a ring buffer, so that the step that leaves is known.
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels._compile import inlined_kernel, kernel, lean_kernel
from driftmdp.kernels.arrays import Ints, TransitionCounts

FAINTEST = 1e-200


@inlined_kernel
def home(pair: int, next_state: int, mask: int) -> int:
    """Return where the search for an entry begins."""
    mixed = pair * 0x9E3779B1 + next_state * 0x85EBCA77
    return (mixed ^ (mixed >> 15)) & mask


@inlined_kernel
def locate(memory: TransitionCounts, pair: int, next_state: int) -> int:
    """Return the place in the table of an entry, or the vacant place where it would go."""
    entries, table = memory.entries, memory.table
    mask = table.size - 1
    place = home(pair, next_state, mask)
    while table[place] >= 0:
        entry = entries[table[place]]
        if entry["pair"] == pair and entry["next_state"] == next_state:
            break
        place = (place + 1) & mask
    return place


@inlined_kernel
def has_room(memory: TransitionCounts) -> bool:
    """Return whether one more pair and one more successor fit."""
    tally = memory.tally[0]
    return tally["n_slots"] < memory.slots.size and (
        tally["vacant"] >= 0 or tally["n_entries"] < memory.entries.size
    )


@inlined_kernel
def remember(memory: TransitionCounts, state: int, pair: int, next_state: int, reward: float) -> None:
    """Add a step; where the window is full, the oldest leaves."""
    tally = memory.tally[0]
    window = tally["window"]
    if window > 0 and tally["remembered"] == window:
        forget(memory, tally["cursor"])
    entry = enter(memory, state, pair, next_state, reward)
    tally["remembered"] += 1
    if window > 0:
        step = memory.steps[tally["cursor"]]
        step["pair"], step["entry"], step["reward"] = pair, entry, reward
        tally["cursor"] += 1
        if tally["cursor"] == window:
            tally["cursor"] = 0
        tally["since"] += 1
        if tally["since"] == window:
            sum_again(memory)


@inlined_kernel
def enter(memory: TransitionCounts, state: int, pair: int, next_state: int, reward: float) -> int:
    """Count a step; return the entry of its successor."""
    tally = memory.tally[0]
    index = memory.slot_of[pair]
    if index < 0:
        index = tally["n_slots"]
        tally["n_slots"] += 1
        memory.slot_of[pair] = index
        slot = memory.slots[index]
        slot["pair"], slot["state"], slot["head"] = pair, state, -1
        slot["count"], slot["total"], slot["squares"] = 0.0, 0.0, 0.0
    slot = memory.slots[index]
    slot["count"] += 1.0
    slot["total"] += reward
    slot["squares"] += reward * reward
    place = locate(memory, pair, next_state)
    found = memory.table[place]
    if found < 0:
        found = tally["vacant"]
        if found < 0:
            found = tally["n_entries"]
            tally["n_entries"] += 1
        else:
            tally["vacant"] = memory.entries[found]["link"]
        memory.table[place] = found
        entry = memory.entries[found]
        entry["pair"], entry["next_state"], entry["count"] = pair, next_state, 0.0
        entry["link"], entry["back"] = slot["head"], -1
        if slot["head"] >= 0:
            memory.entries[slot["head"]]["back"] = found
        slot["head"] = found
    memory.entries[found]["count"] += 1.0
    return found


@inlined_kernel
def forget(memory: TransitionCounts, position: int) -> None:
    """Take the step at a position of the ring buffer back out of the counts."""
    step = memory.steps[position]
    index = memory.slot_of[step["pair"]]
    slot, entry = memory.slots[index], memory.entries[step["entry"]]
    slot["count"] -= 1.0
    slot["total"] -= step["reward"]
    slot["squares"] -= step["reward"] * step["reward"]
    entry["count"] -= 1.0
    if entry["count"] == 0.0:
        drop_entry(memory, index, step["entry"])
    if slot["count"] == 0.0:
        drop_slot(memory, index)
    memory.tally[0]["remembered"] -= 1


@inlined_kernel
def discount(memory: TransitionCounts, factor: float) -> None:
    """Let everything that is remembered fade, but never to nothing: a pair and its mean stay known."""
    for index in range(memory.tally[0]["n_slots"]):
        slot = memory.slots[index]
        kept = factor if factor * slot["count"] > FAINTEST else FAINTEST / slot["count"]
        slot["count"] *= kept
        slot["total"] *= kept
        slot["squares"] *= kept
        found = slot["head"]
        while found >= 0:
            entry = memory.entries[found]
            entry["count"] *= kept
            found = entry["link"]


@lean_kernel
def drop_entry(memory: TransitionCounts, index: int, dropped: int) -> None:
    """Unlink an entry from its slot, remove it from the table and put it on the list of vacant ones."""
    entries, table = memory.entries, memory.table
    entry = entries[dropped]
    if entry["back"] >= 0:
        entries[entry["back"]]["link"] = entry["link"]
    else:
        memory.slots[index]["head"] = entry["link"]
    if entry["link"] >= 0:
        entries[entry["link"]]["back"] = entry["back"]
    mask = table.size - 1
    hole = place = locate(memory, entry["pair"], entry["next_state"])
    while True:  # pull back what was pushed past the hole
        place = (place + 1) & mask
        if table[place] < 0:
            break
        other = entries[table[place]]
        wanted = home(other["pair"], other["next_state"], mask)
        if ((place - wanted) & mask) >= ((place - hole) & mask):
            table[hole] = table[place]
            hole = place
    table[hole] = -1
    entry["link"] = memory.tally[0]["vacant"]
    memory.tally[0]["vacant"] = dropped


@lean_kernel
def drop_slot(memory: TransitionCounts, index: int) -> None:
    """Give up a slot; the last one takes its place."""
    slots, tally = memory.slots, memory.tally[0]
    memory.slot_of[slots[index]["pair"]] = -1
    last = tally["n_slots"] - 1
    if index != last:
        slot, moved = slots[index], slots[last]
        slot["pair"], slot["state"], slot["head"] = moved["pair"], moved["state"], moved["head"]
        slot["count"], slot["total"], slot["squares"] = moved["count"], moved["total"], moved["squares"]
        memory.slot_of[slot["pair"]] = index
    tally["n_slots"] = last


@lean_kernel
def sum_again(memory: TransitionCounts) -> None:
    """Sum a full window's rewards afresh, oldest first, so that rounding does not add up."""
    for index in range(memory.tally[0]["n_slots"]):
        slot = memory.slots[index]
        slot["total"], slot["squares"] = 0.0, 0.0
    cursor, window = memory.tally[0]["cursor"], memory.tally[0]["window"]
    for i in range(window):
        step = memory.steps[cursor + i if cursor + i < window else cursor + i - window]
        slot = memory.slots[memory.slot_of[step["pair"]]]
        slot["total"] += step["reward"]
        slot["squares"] += step["reward"] * step["reward"]
    memory.tally[0]["since"] = 0


@lean_kernel
def forget_all(memory: TransitionCounts) -> None:
    """Forget everything, at the cost of what was remembered."""
    tally, table = memory.tally[0], memory.table
    mask = table.size - 1
    for index in range(tally["n_slots"]):
        slot = memory.slots[index]
        memory.slot_of[slot["pair"]] = -1
        found = slot["head"]
        while found >= 0:
            entry = memory.entries[found]
            place = home(entry["pair"], entry["next_state"], mask)
            while table[place] >= 0:  # the whole run goes, so no entry behind the gap is lost
                table[place] = -1
                place = (place + 1) & mask
            found = entry["link"]
    tally["n_slots"], tally["n_entries"], tally["vacant"] = 0, 0, -1
    tally["cursor"], tally["remembered"], tally["since"] = 0, 0, 0


@lean_kernel
def fill_table(memory: TransitionCounts) -> None:
    """Fill an empty table from the slots and their entries, after the memory was given more room."""
    for index in range(memory.tally[0]["n_slots"]):
        found = memory.slots[index]["head"]
        while found >= 0:
            entry = memory.entries[found]
            memory.table[locate(memory, entry["pair"], entry["next_state"])] = found
            found = entry["link"]


@kernel
def is_sound(memory: TransitionCounts, owner: Ints) -> bool:
    """Return whether a memory read from a file can be trusted; ``owner`` has the state of every pair of its slots.

    Every slot's chain leads through entries of its own pair, there and back; every entry is in one chain or vacant;
    the counts agree. Slots, entries and steps must have been checked to name pairs and states that exist.
    """
    entries, tally = memory.entries, memory.tally[0]
    n_entries = tally["n_entries"]
    seen = np.zeros(n_entries, np.bool_)
    n_seen = 0
    for index in range(tally["n_slots"]):
        slot = memory.slots[index]
        total, back, found = 0.0, -1, slot["head"]
        while found != -1:
            if found < 0 or found >= n_entries or seen[found]:
                return False
            entry = entries[found]
            if entry["pair"] != slot["pair"] or entry["back"] != back or not entry["count"] > 0.0:
                return False
            seen[found] = True
            n_seen += 1
            total += entry["count"]
            back, found = found, entry["link"]
        if total != slot["count"] or slot["state"] != owner[index]:
            return False
    vacant = tally["vacant"]
    while vacant != -1:
        if vacant < 0 or vacant >= n_entries or seen[vacant]:
            return False
        seen[vacant] = True
        n_seen += 1
        vacant = entries[vacant]["link"]
    return n_seen == n_entries


@kernel
def has_sound_window(memory: TransitionCounts) -> bool:
    """Return whether the steps of a window account for every count; the rest must be sound."""
    n_entries, window = memory.tally[0]["n_entries"], memory.tally[0]["window"]
    remembered, cursor = memory.tally[0]["remembered"], memory.tally[0]["cursor"]
    if remembered > window or cursor != (remembered if remembered < window else cursor):
        return False
    left = np.zeros(n_entries)
    for found in range(n_entries):
        left[found] = memory.entries[found]["count"]
    for i in range(remembered):
        step = memory.steps[i]
        found = step["entry"]
        if found < 0 or found >= n_entries or memory.entries[found]["pair"] != step["pair"]:
            return False
        left[found] -= 1.0
    for index in range(memory.tally[0]["n_slots"]):
        found = memory.slots[index]["head"]
        while found >= 0:
            if left[found] != 0.0:
                return False
            found = memory.entries[found]["link"]
    return True
