"""The arrays that kernels share, by name, and the functions that make them. Nothing here needs the compiler.

Kernels never write to the arrays of a :class:`Model` or a :class:`WorldArrays`.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.display import brief
from driftmdp.errors import InvalidInputError

Ints: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Records: TypeAlias = Any  # an array of one of the record types below: its fields are read by name
Csr: TypeAlias = tuple[Ints, Ints, Floats]  # indptr, indices, data
Chain: TypeAlias = tuple[Floats, Ints, Ints, Floats]  # rewards, indptr, indices, data of one policy's rows
Step: TypeAlias = tuple[int, int, float, int]  # state, pair, reward, next state
# One of the kinds below, its sigma or number of trials, bottom and top of rewards.
NoiseModel: TypeAlias = tuple[int, float, float, float]

NO_NOISE = 0  # the mean reward
ANCHOR_NOISE = 1  # the reward of the anchor that was drawn
BERNOULLI_NOISE = 2  # the top or the bottom of the rewards
GAUSSIAN_NOISE = 3
BINOMIAL_NOISE = 4  # a count of successes, between the bottom and the top of the rewards

FIRST_CAPACITY = 32  # pairs and successors that new counts can hold


def record_type(*groups: str, align: bool = False) -> np.dtype[np.void]:
    """Return a record type. Each group is a type, followed by the names of the fields that have it."""
    fields = []
    for group in groups:
        kind, *names = group.split()
        fields += [(name, kind) for name in names]
    return np.dtype(fields, align=align)


def nowhere(count: int) -> Ints:
    """Return an index for each of so many things, all -1."""
    indices = np.empty(count, np.int32)
    indices.fill(-1)  # np.full takes three times as long where there are few
    return indices


class Model(NamedTuple):
    """One MDP.

    ========  ============  =======================================================================
    offsets   (S + 1,)      the pair index of (s, a) is offsets[s] + a
    rewards   (pairs,)      r(s, a)
    indptr    (pairs + 1,)  row p is ``indptr[p] .. indptr[p + 1] - 1``, and need not start at 0
    indices   (stored,)     next states
    data      (stored,)     probabilities. A stored zero is no successor
    ========  ============  =======================================================================
    """

    offsets: Ints
    rewards: Floats
    indptr: Ints
    indices: Ints
    data: Floats


class StateOrder(NamedTuple):
    """An order of the states: state ``order[k]`` has place k, and leads at most ``width`` places away."""

    order: Ints
    place: Ints
    width: int


class WorldArrays(NamedTuple):
    """A drifting MDP as arrays: K anchor MDPs, mixed by weights over T steps.

    =================  ==================  ==========================================================
    offsets            (S + 1,)            the pair index of (s, a) is offsets[s] + a
    anchor_rewards     (K, pairs)          rewards of each anchor
    anchor_indptr      (K pairs + 1,)      rows k * pairs + pair: the anchors' transitions, stacked
    anchor_indices     (stored,)           next states
    anchor_data        (stored,)           probabilities
    anchor_position    (stored,) or (0,)   where an entry lies in the union of all anchors' patterns
    union_indptr       (pairs + 1,)        rows of the union
    union_indices      (union,)            its next states
    weight_*           CSR of (T, K)       weights of the transitions
    reward_weight_*    CSR of (T, K)       weights of the rewards
    =================  ==================  ==========================================================

    The weights in CSR are ``weight_indptr``, ``weight_indices``, ``weight_data`` for the transitions and
    ``reward_weight_indptr``, ``reward_weight_indices``, ``reward_weight_data`` for the rewards.

    The union is empty when every step names one anchor: then that anchor's rows *are* p_t. In kernels
    a step is a 0-based row. The public t is 1-based.
    """

    offsets: Ints
    anchor_rewards: Floats
    anchor_indptr: Ints
    anchor_indices: Ints
    anchor_data: Floats
    anchor_position: Ints
    union_indptr: Ints
    union_indices: Ints
    weight_indptr: Ints
    weight_indices: Ints
    weight_data: Floats
    reward_weight_indptr: Ints
    reward_weight_indices: Ints
    reward_weight_data: Floats


class Draws(NamedTuple):
    """The world's random numbers, one of each kind per step, drawn before anything happens.

    Whatever an agent does, step t uses the same numbers, so that two agents with one seed face the same
    chances.

    Attributes
    ----------
    anchor, successor
        Uniform in [0, 1): which anchor a step draws, and which next state, shape (T,).
    noise
        For the reward, shape (T,), 0 where the noise model needs no number of its own.
    """

    anchor: Floats
    successor: Floats
    noise: Floats

    def __repr__(self) -> str:
        return brief(self)


RunInputs: TypeAlias = tuple[WorldArrays, Draws, NoiseModel]  # what every compiled run begins with


class Record(NamedTuple):
    """The record of a run, one entry per step.

    ============  ========  ==========================================================================
    states        (T + 1,)  s_1 .. s_{T+1}
    actions       (T,)
    rewards       (T,)      what was emitted
    mean_rewards  (T,)      r_t(s_t, a_t)
    sweeps        (T,)      of the plan made at a step, 0 where none was made
    vacuous       (T,)      whether that plan had vacuous radii only
    ============  ========  ==========================================================================
    """

    states: Ints
    actions: Ints
    rewards: Floats
    mean_rewards: Floats
    sweeps: Ints
    vacuous: Bools


def new_record(horizon: int, start: int) -> Record:
    """Return the record of a run that begins in a state."""
    states = np.empty(horizon + 1, np.int32)
    states[0] = start
    floats = np.empty(horizon), np.empty(horizon)
    return Record(
        states, np.empty(horizon, np.int32), *floats, np.zeros(horizon, np.int32), np.zeros(horizon, np.bool_)
    )


# Field names are keys of saved snapshots: never rename them.
SLOT = record_type("i4 pair state head", "f8 count total squares", align=True)  # one pair
ENTRY = record_type("i4 pair next_state link back", "f8 count", align=True)  # one successor of a pair
STEP = record_type("i4 pair entry", "f8 reward", align=True)  # one step in a window
TALLY = record_type("i8 n_slots n_entries vacant cursor remembered since window")


class TransitionCounts(NamedTuple):
    """Counts of the remembered steps, in space that grows with their number (but for one integer per pair).

    =========  =================  ========================================================================
    slot_of    (pairs,)           the slot of a pair, -1 if nothing is remembered of it
    slots      (capacity,) SLOT   pair, state, first successor entry, N, sum of R, sum of R^2
    entries    (capacity,) ENTRY  pair, next state, count, linked in both directions by pair
    table      (2^k,)             open-addressed hash of (pair, next state) -> entry, -1 if vacant
    steps      (capacity,) STEP   ring buffer of the window, empty where nothing ever leaves
    tally      (1,) TALLY         how much of the above is in use, and the window W: 0 where nothing ever leaves
    =========  =================  ========================================================================
    """

    slot_of: Ints
    slots: Records
    entries: Records
    table: Ints
    steps: Records
    tally: Records


def new_counts(
    n_pairs: int, window: int, pairs: int = 0, successors: int = 0, steps: int | None = None
) -> TransitionCounts:
    """Return empty counts with the capacity for so many pairs and successors.

    A window of 0 keeps everything. ``steps`` is the largest window that there will ever be, by default this one.
    """
    tally = np.zeros(1, TALLY)
    tally["vacant"], tally["window"] = -1, window
    capacity = FIRST_CAPACITY
    while capacity <= successors:
        capacity *= 2
    try:
        ring = np.zeros(window if steps is None else steps, STEP)
    except (MemoryError, ValueError):
        raise InvalidInputError(
            f"window must be small enough for its steps to fit into memory, 16 bytes each; got {window}."
        ) from None
    return TransitionCounts(
        nowhere(n_pairs),
        np.zeros(max(FIRST_CAPACITY, pairs + 1), SLOT),
        np.zeros(capacity, ENTRY),
        nowhere(2 * capacity),  # half of the table stays vacant, so that searches are short
        ring,
        tally,
    )


def enlarge_counts(counts: TransitionCounts) -> TransitionCounts:
    """Return the same counts with twice the capacity of what is full."""
    slots, entries, table = counts.slots, counts.entries, counts.table
    if counts.tally["n_slots"][0] >= slots.size:
        slots = np.concatenate([slots, np.zeros_like(slots)])
    if counts.tally["vacant"][0] < 0 and counts.tally["n_entries"][0] >= entries.size:
        entries = np.concatenate([entries, np.zeros_like(entries)])
        table = nowhere(2 * table.size)
    larger = counts._replace(slots=slots, entries=entries, table=table)
    if table is not counts.table:
        kernels.transition_counts.fill_table(larger)
    return larger


def restart_window(counts: TransitionCounts, window: int) -> None:
    """Forget everything and begin with another window, which must not change under what is remembered."""
    kernels.transition_counts.forget_all(counts)
    counts.tally["window"] = window


def visits_by_pair(counts: TransitionCounts) -> Floats:
    """Return N of every pair, shape (n_pairs,)."""
    slots = counts.slots[: counts.tally["n_slots"][0]]
    visits = np.zeros(counts.slot_of.size)
    visits[slots["pair"]] = slots["count"]
    return visits


def mean_rewards_by_pair(counts: TransitionCounts) -> Floats:
    """Return the mean of every pair's rewards as they were remembered, NaN where there are none."""
    slots = counts.slots[: counts.tally["n_slots"][0]]
    means = np.full(counts.slot_of.size, np.nan)
    means[slots["pair"]] = slots["total"] / slots["count"]
    return means


class Exp3Params(NamedTuple):
    """Parameters of a bandit with exponential weights: numbers only.

    ============  =====================================================================================
    rate          factor of the estimated gains in the exponent: alpha of [CSZ20] eq:p
    bonus         what every arm's estimate grows by, over its probability: beta of eq:borl_update
    mixing        share of the draws that is uniform: gamma of eq:p
    sharing       share of all weight that is given to each arm after an update, EXP3.S, 0 for none
    batch         steps between restarts, Rexp3, 0 for none
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  =====================================================================================
    """

    rate: float
    bonus: float
    mixing: float
    sharing: float
    batch: int
    bottom: float
    span: float


class ArmWeights(NamedTuple):
    """The weights of a bandit, shape (arms,).

    =============  ==================================================================
    logits         logarithms of the weights, less that of the largest
    probabilities  of the draw to come
    =============  ==================================================================
    """

    logits: Floats
    probabilities: Floats


def new_arm_weights(params: Exp3Params, n_arms: int) -> ArmWeights:
    """Return equal weights for so many arms."""
    weights = ArmWeights(np.zeros(n_arms), np.zeros(n_arms))
    kernels.bandits.update_probabilities(params, weights)
    return weights


class UcbParams(NamedTuple):
    """Parameters of a bandit with upper confidence bounds: numbers only.

    ============  =====================================================================================
    factor        c of the radius sqrt(c ln n / N), n the sum of all N
    discount      factor of everything remembered at every step, 1 for none
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span
    ============  =====================================================================================
    """

    factor: float
    discount: float
    bottom: float
    span: float
