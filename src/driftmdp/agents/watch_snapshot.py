"""A watch as arrays of a snapshot and back, trusted only after every number is checked."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.snapshot_checks import LATEST, memory_arrays, require, restored_memory
from driftmdp.kernels.detection_arrays import LEVELS, WIDTH, Watch, enlarge_watch, fit_watch
from driftmdp.mdp import Space
from driftmdp.npz import Arrays

BY_SLOT = ("origins", "filled", "sizes", "sums", "slot_series")
BY_ENTRY = ("parts", "entry_series")


def watch_arrays(watch: Watch) -> Arrays:
    """Return what a watch keeps, as arrays by name for a snapshot."""
    tally = watch.counts.tally[0]
    arrays = {f"watch_{name}": array for name, array in memory_arrays(watch.counts).items()}
    arrays |= {f"watch_{name}": getattr(watch, name)[: tally["n_slots"]] for name in BY_SLOT}
    arrays |= {f"watch_{name}": getattr(watch, name)[: tally["n_entries"]] for name in BY_ENTRY}
    return arrays | {"watch_visits": watch.visits, "watch_facts": watch.facts}


def restored_watch(new: Watch, space: Space, arrays: Arrays) -> Watch:
    """Return the watch of a snapshot. ``new`` is that of a new agent."""
    stored = {name.removeprefix("watch_"): array for name, array in arrays.items() if name.startswith("watch_")}
    n_streams, n_categories = 2 * space.n_pairs, max(space.n_states, 2 * new.params.n_levels + 1)
    # Streams have no state of their own, so all are of state 0.
    streams = SimpleNamespace(n_pairs=n_streams, n_states=n_categories, offsets=np.array([0, n_streams]))
    counts = restored_memory(cast(Space, streams), new.counts, stored)
    require(int(counts.tally["window"][0]) == 0, "the window is wrong")
    slots, entries = int(counts.tally[0]["n_slots"]), int(counts.tally[0]["n_entries"])
    watch = fit_watch(new, counts)
    for names, size in ((BY_SLOT, slots), (BY_ENTRY, entries)):
        for name in names:
            _put(getattr(watch, name), stored[name], size)
    _put(watch.visits, stored["visits"], space.n_states)
    _put(watch.facts, stored["facts"], 1)
    require(bool((watch.visits >= 0).all()), "the visits are wrong")
    require(bool(0 <= watch.facts["t"][0] < LATEST), "time is wrong")
    if watch.filled.size:
        _check_buckets(watch, slots, entries)
    return enlarge_watch(watch)  # if it is full: kernels rely on space for one more step


def _put(target: NDArray[Any], stored: NDArray[Any], size: int) -> None:
    size = min(size, target.shape[0])
    require(stored.dtype.newbyteorder("=") == target.dtype, "an array has the wrong type")
    require(stored.shape == (size, *target.shape[1:]), "an array has the wrong size")
    kinds = [stored[name] for name in stored.dtype.names] if stored.dtype.names else [stored]
    require(all(bool(np.isfinite(numbers).all()) for numbers in kinds), "a number is not finite")
    target[:size] = stored


def _check_buckets(watch: Watch, slots: int, entries: int) -> None:
    """Check that the buckets of each stream hold its observations, category by category."""
    filled = watch.filled[:slots]
    require(bool(((filled >= 0) & (filled < WIDTH)).all()), "a bucket does not exist")
    used = (np.arange(WIDTH) < filled[:, :, None]).reshape(slots, LEVELS * WIDTH)
    sizes, parts = np.where(used, watch.sizes[:slots], 0), watch.parts[:entries]
    require(bool((sizes >= 0).all()), "a bucket has the wrong size")
    require(np.array_equal(sizes.sum(axis=1), watch.counts.slots["count"][:slots]), "a bucket has the wrong size")
    kept = watch.counts.entries["count"][:entries] > 0
    owner = watch.counts.slot_of[watch.counts.entries["pair"][:entries][kept]]
    of_entry = np.where(used[owner], parts[kept], 0)
    require(bool((of_entry >= 0).all()), "a bucket has the wrong counts")
    counted = watch.counts.entries["count"][:entries][kept]
    require(np.array_equal(of_entry.sum(axis=1), counted), "a bucket has the wrong counts")
