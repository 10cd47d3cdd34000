"""Counts of the remembered steps by pair and successor, kept up to date in constant time per step.

Every remembered pair has a slot. Slots are kept dense, so that a plan reads them from first to last. Every
remembered (pair, next state) has an entry, found by an open-addressed hash and linked to its pair's other entries.
A window also keeps its steps in a ring buffer, so that the step that leaves can be subtracted.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Ints, TransitionCounts

LEAST_COUNT = 1e-200  # of a pair under discounting: smaller numbers lose their digits


@kernel
def hash_place(pair: int, next_state: int, mask: int) -> int:
    """Return where the search for an entry begins."""
    # Odd multipliers spread neighbours over the table. The shift brings their high bits down to the mask.
    # int: as Python this runs on int32 of numpy, whose products would overflow.
    mixed = int(pair) * 0x9E3779B1 + int(next_state) * 0x85EBCA77
    return (mixed ^ (mixed >> 15)) & mask


@kernel
def locate(counts: TransitionCounts, pair: int, next_state: int) -> int:
    """Return the place in the table of an entry, or the vacant place where it would go."""
    entries, table = counts.entries, counts.table
    mask = table.size - 1
    place = hash_place(pair, next_state, mask)
    while table[place] >= 0:
        entry = entries[table[place]]
        if entry["pair"] == pair and entry["next_state"] == next_state:
            break
        place = (place + 1) & mask
    return place


@kernel
def has_space(counts: TransitionCounts) -> bool:
    """Return whether one more pair and one more successor fit."""
    tally = counts.tally[0]
    return tally["n_slots"] < counts.slots.size and (
        tally["vacant"] >= 0 or tally["n_entries"] < counts.entries.size
    )


@kernel
def count_successors(counts: TransitionCounts, head: int) -> int:
    """Return how many next states the entries from ``head`` on have."""
    count = 0
    while head >= 0:
        count += 1
        head = counts.entries[head]["link"]
    return count


@kernel
def remember(counts: TransitionCounts, state: int, pair: int, next_state: int, reward: float) -> None:
    """Add a step. Where the window is full, the oldest leaves: N of [CSZ20] eq:N_sa counts the last W steps."""
    tally = counts.tally[0]
    window = tally["window"]
    if window > 0 and tally["remembered"] == window:
        forget_step(counts, tally["cursor"])
    entry = count_step(counts, state, pair, next_state, reward)
    tally["remembered"] += 1
    if window > 0:
        step = counts.steps[tally["cursor"]]
        step["pair"], step["entry"], step["reward"] = pair, entry, reward
        tally["cursor"] += 1
        if tally["cursor"] == window:
            tally["cursor"] = 0
        tally["since"] += 1
        if tally["since"] == window:
            resum_window(counts)


@kernel
def count_step(counts: TransitionCounts, state: int, pair: int, next_state: int, reward: float) -> int:
    """Count a step. Return the entry of its successor."""
    tally = counts.tally[0]
    index = counts.slot_of[pair]
    if index < 0:
        index = tally["n_slots"]
        tally["n_slots"] += 1
        counts.slot_of[pair] = index
        slot = counts.slots[index]
        slot["pair"], slot["state"], slot["head"] = pair, state, -1
        slot["count"], slot["total"], slot["squares"] = 0.0, 0.0, 0.0
    slot = counts.slots[index]
    slot["count"] += 1.0
    slot["total"] += reward
    slot["squares"] += reward * reward
    place = locate(counts, pair, next_state)
    found = counts.table[place]
    if found < 0:
        found = tally["vacant"]  # places of dropped entries are used first
        if found < 0:
            found = tally["n_entries"]
            tally["n_entries"] += 1
        else:
            tally["vacant"] = counts.entries[found]["link"]
        counts.table[place] = found
        entry = counts.entries[found]
        entry["pair"], entry["next_state"], entry["count"] = pair, next_state, 0.0
        # Linked in both directions, so that a window drops an entry without a search.
        entry["link"], entry["back"] = slot["head"], -1
        if slot["head"] >= 0:
            counts.entries[slot["head"]]["back"] = found
        slot["head"] = found
    counts.entries[found]["count"] += 1.0
    return found


@kernel
def forget_step(counts: TransitionCounts, position: int) -> None:
    """Take the step at a position of the ring buffer back out of the counts."""
    step = counts.steps[position]
    index = counts.slot_of[step["pair"]]
    slot, entry = counts.slots[index], counts.entries[step["entry"]]
    slot["count"] -= 1.0
    slot["total"] -= step["reward"]
    slot["squares"] -= step["reward"] * step["reward"]
    entry["count"] -= 1.0
    # Counts are whole numbers here, so that zero is exact.
    if entry["count"] == 0.0:
        drop_entry(counts, index, step["entry"])
    if slot["count"] == 0.0:
        drop_slot(counts, index)
    counts.tally[0]["remembered"] -= 1


@kernel
def discount(counts: TransitionCounts, factor: float) -> None:
    """Multiply every count and sum by a factor."""
    for index in range(counts.tally[0]["n_slots"]):
        slot = counts.slots[index]
        # Counts stay positive: a pair and its mean stay remembered.
        kept = factor if factor * slot["count"] > LEAST_COUNT else LEAST_COUNT / slot["count"]
        slot["count"] *= kept
        slot["total"] *= kept
        slot["squares"] *= kept
        found = slot["head"]
        while found >= 0:
            entry = counts.entries[found]
            entry["count"] *= kept
            found = entry["link"]


@kernel
def drop_entry(counts: TransitionCounts, index: int, dropped: int) -> None:
    """Unlink an entry from its slot, remove it from the table and put it on the list of vacant ones."""
    entries, table = counts.entries, counts.table
    entry = entries[dropped]
    if entry["back"] >= 0:
        entries[entry["back"]]["link"] = entry["link"]
    else:
        counts.slots[index]["head"] = entry["link"]
    if entry["link"] >= 0:
        entries[entry["link"]]["back"] = entry["back"]
    mask = table.size - 1
    hole = place = locate(counts, entry["pair"], entry["next_state"])
    # Without this, a search would stop at the hole before entries that were pushed past it.
    while True:
        place = (place + 1) & mask
        if table[place] < 0:
            break
        other = entries[table[place]]
        wanted = hash_place(other["pair"], other["next_state"], mask)
        if ((place - wanted) & mask) >= ((place - hole) & mask):
            table[hole] = table[place]
            hole = place
    table[hole] = -1
    entry["link"] = counts.tally[0]["vacant"]
    counts.tally[0]["vacant"] = dropped


@kernel
def drop_slot(counts: TransitionCounts, index: int) -> None:
    """Give up a slot. The last one takes its place, so that slots stay dense."""
    slots, tally = counts.slots, counts.tally[0]
    counts.slot_of[slots[index]["pair"]] = -1
    last = tally["n_slots"] - 1
    if index != last:
        slot, moved = slots[index], slots[last]
        slot["pair"], slot["state"], slot["head"] = moved["pair"], moved["state"], moved["head"]
        slot["count"], slot["total"], slot["squares"] = moved["count"], moved["total"], moved["squares"]
        counts.slot_of[slot["pair"]] = index
    tally["n_slots"] = last


@kernel
def drop_pair(counts: TransitionCounts, pair: int) -> None:
    """Forget everything of a pair, in counts without a window."""
    index = counts.slot_of[pair]
    if index < 0:
        return
    while counts.slots[index]["head"] >= 0:
        found = counts.slots[index]["head"]
        counts.entries[found]["count"] = 0.0  # a vacant entry counts nothing
        drop_entry(counts, index, found)
    counts.tally[0]["remembered"] -= int(counts.slots[index]["count"])
    drop_slot(counts, index)


@kernel
def forget_pair(counts: TransitionCounts, pair: int) -> None:
    """Forget everything of a pair, its steps in a window too."""
    tally = counts.tally[0]
    if tally["window"] == 0:
        drop_pair(counts, pair)
        return
    # The window's other steps are remembered again, oldest first, so that the ring buffer has no holes.
    n, size = tally["remembered"], tally["window"]
    first = tally["cursor"] if n == size else 0
    states, pairs = np.empty(n, np.int32), np.empty(n, np.int32)
    next_states, rewards = np.empty(n, np.int32), np.empty(n)
    for i in range(n):
        step = counts.steps[(first + i) % size]
        pairs[i], rewards[i] = step["pair"], step["reward"]
        states[i] = counts.slots[counts.slot_of[step["pair"]]]["state"]
        next_states[i] = counts.entries[step["entry"]]["next_state"]
    forget_all(counts)
    for i in range(n):
        if pairs[i] != pair:
            remember(counts, states[i], pairs[i], next_states[i], rewards[i])


@kernel
def resum_window(counts: TransitionCounts) -> None:
    """Sum a full window's rewards again from zero."""
    # Adding and subtracting lets rounding grow without end. Once per window costs one addition per step.
    for index in range(counts.tally[0]["n_slots"]):
        slot = counts.slots[index]
        slot["total"], slot["squares"] = 0.0, 0.0
    cursor, window = counts.tally[0]["cursor"], counts.tally[0]["window"]
    for i in range(window):
        step = counts.steps[cursor + i if cursor + i < window else cursor + i - window]
        slot = counts.slots[counts.slot_of[step["pair"]]]
        slot["total"] += step["reward"]
        slot["squares"] += step["reward"] * step["reward"]
    counts.tally[0]["since"] = 0


@kernel
def forget_all(counts: TransitionCounts) -> None:
    """Forget everything."""
    # It costs what was remembered, not the size of the arrays: BORL restarts often.
    tally, table = counts.tally[0], counts.table
    mask = table.size - 1
    for index in range(tally["n_slots"]):
        slot = counts.slots[index]
        counts.slot_of[slot["pair"]] = -1
        found = slot["head"]
        while found >= 0:
            entry = counts.entries[found]
            place = hash_place(entry["pair"], entry["next_state"], mask)
            while table[place] >= 0:  # the whole hash cluster is cleared, so no entry behind the gap is lost
                table[place] = -1
                place = (place + 1) & mask
            found = entry["link"]
    tally["n_slots"], tally["n_entries"], tally["vacant"] = 0, 0, -1
    tally["cursor"], tally["remembered"], tally["since"] = 0, 0, 0


@kernel
def fill_table(counts: TransitionCounts) -> None:
    """Fill an empty table from the slots and their entries, after the counts have grown."""
    for index in range(counts.tally[0]["n_slots"]):
        found = counts.slots[index]["head"]
        while found >= 0:
            entry = counts.entries[found]
            counts.table[locate(counts, entry["pair"], entry["next_state"])] = found
            found = entry["link"]


@kernel
def is_sound(counts: TransitionCounts, owner: Ints) -> bool:
    """Return whether counts read from a file are consistent. ``owner`` has the state of every pair of the slots.

    Every slot's chain leads through entries of its own pair, there and back. Every entry is in one chain or vacant.
    The counts agree. Slots, entries and steps must have been checked to name pairs and states that exist.
    """
    entries, tally = counts.entries, counts.tally[0]
    n_entries = tally["n_entries"]
    seen = np.zeros(n_entries, np.bool_)
    n_seen = 0
    for index in range(tally["n_slots"]):
        slot = counts.slots[index]
        total, back, found = 0.0, -1, slot["head"]
        # A file may hold any number, and chains may run in circles: every step is checked before it is taken.
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
        # Sums of whole numbers, or recounted after fading: equal to the last bit.
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
def has_sound_window(counts: TransitionCounts) -> bool:
    """Return whether the steps of a window account for every count. The rest must be sound."""
    n_entries, window = counts.tally[0]["n_entries"], counts.tally[0]["window"]
    remembered, cursor = counts.tally[0]["remembered"], counts.tally[0]["cursor"]
    if remembered > window or cursor != (remembered if remembered < window else cursor):
        return False
    left = np.zeros(n_entries)
    for found in range(n_entries):
        left[found] = counts.entries[found]["count"]
    for i in range(remembered):
        step = counts.steps[i]
        found = step["entry"]
        if found < 0 or found >= n_entries or counts.entries[found]["pair"] != step["pair"]:
            return False
        left[found] -= 1.0
    for index in range(counts.tally[0]["n_slots"]):
        found = counts.slots[index]["head"]
        while found >= 0:
            if left[found] != 0.0:
                return False
            found = counts.entries[found]["link"]
    return True
