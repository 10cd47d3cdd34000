"""The arrays of optimists with sharp confidence sets. Nothing here needs the compiler."""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Floats, Records, TransitionCounts, record_type
from driftmdp.kernels.plan_arrays import OptimistArrays

PAIR_BOUNDS = record_type(
    "f8 count",  # the visits that the bounds below were computed for, 0 for none
    "f8 reward",  # the largest plausible mean reward
    "f8 elsewhere",  # the largest plausible probability of a next state that was never observed
)


class SharpBuffers(NamedTuple):
    """Buffers beside those of an optimist. Nothing here must outlive a plan.

    =======  ====================  ================================================================
    best     (n,)                  the u with the smallest residual so far
    joined   (rows,)               how many states are in the support of a row beside the observed ones
    pairs    (slots,) PAIR_BOUNDS  bounds by slot, kept while the pair has no new visits
    lower    (entries,)            the smallest plausible probability of each observed next state
    upper    (entries,)            and the largest
    =======  ====================  ================================================================
    """

    best: Floats
    joined: Floats
    pairs: Records
    lower: Floats
    upper: Floats


class SharpArrays(NamedTuple):
    """Everything that the kernels of a sharp optimist read and write.

    A next state that followed all n visits has a probability of at least certainty^(1/n).
    """

    base: OptimistArrays
    buffers: SharpBuffers
    certainty: float


def new_sharp_buffers(n_states: int, counts: TransitionCounts, intervals: bool) -> SharpBuffers:
    """Return the buffers for all that the counts can hold. Only intervals have bounds to keep."""
    slots, entries = (counts.slots.size, counts.entries.size) if intervals else (0, 0)
    states = min(counts.slots.size, n_states) + 1  # one state stands for all that are not remembered
    rows = slots + states if intervals else 0
    bounds = np.zeros(slots, PAIR_BOUNDS), np.zeros(entries), np.zeros(entries)
    return SharpBuffers(np.zeros(states), np.zeros(rows), *bounds)
