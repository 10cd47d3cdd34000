"""The arrays of change detection, by name, and the functions that make them. Nothing here needs the compiler."""

from typing import NamedTuple

import numpy as np

from driftmdp import kernels
from driftmdp.kernels.arrays import Floats, Ints, Longs, Records, TransitionCounts, new_counts, nowhere, record_type

# The kinds of detectors.
GLR = 0  # generalised likelihood ratio of a split [BKMS22]
RUN_LENGTH = 1  # Bayesian run lengths [AMF20]
CUSUM = 2  # cumulative sums around the mean of the first observations [LLS18]
PAGE_HINKLEY = 3  # the same around the mean of all of them

# What ``watch_step`` returns. They go on from the statuses of kernels/bellman.py.
QUIET = 0
ALARM = 101  # a detector fired, and the record of the alarm says where
WATCH_FULL = 102  # one more step may not fit: make the watch larger and go on

LEVELS = 12  # of buckets: one of level l has 2^l observations
WIDTH = 5  # places per level. The fifth is only filled until two are merged
COLUMNS = LEVELS * WIDTH
TABLE = 4096  # counts whose logarithms are looked up

ALARM_FACTS = record_type("i8 t pair stream after", "f8 statistic threshold")
SERIES = record_type("f8 base up down")  # two cumulative sums around a base


class WatchParams(NamedTuple):
    """Parameters of a detector: numbers only.

    ==================  ===================================================================================
    kind                GLR, RUN_LENGTH, CUSUM or PAGE_HINKLEY
    rewards             whether the rewards are watched
    next_states         whether the next states are watched
    log_odds            ln 1/delta of a likelihood ratio, ln 1/eta of run lengths
    share               of the logarithm of the number of streams, which is added to thresholds
    resolution          width of a level of rewards in units of the range, 0 for no levels
    n_levels            of rewards, to each side of the first one
    threshold           of the cumulative sums
    margin              that a cumulative sum loses at each observation
    warmup              observations before a cumulative sum may fire
    reward_categories   of the Laplace predictor, 0 for those seen
    state_categories    of the Laplace predictor, 0 for those seen
    period              every so many visits of a state its action is forced, 0 for never
    bottom, span        rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ==================  ===================================================================================
    """

    kind: int
    rewards: bool
    next_states: bool
    log_odds: float
    share: float
    resolution: float
    n_levels: int
    threshold: float
    margin: float
    warmup: int
    reward_categories: int
    state_categories: int
    period: int
    bottom: float
    span: float


class Watch(NamedTuple):
    """What a detector keeps. Stream p has the next states of pair p, stream n_pairs + p its rewards by level.

    =============  =====================  ==================================================================
    params         WatchParams
    counts         TransitionCounts       of every stream: its observations, and by category
    origins        (slots,)               the first reward of a stream, from which levels are counted
    filled         (slots, LEVELS)        buckets in use
    sizes          (slots, COLUMNS)       observations of a bucket
    sums           (slots, COLUMNS)       and the sum of their rewards
    parts          (entries, COLUMNS)     and how many of them are of a category
    slot_series    (slots,) SERIES        cumulative sums of rewards
    entry_series   (entries,) SERIES      cumulative sums of the indicator of a category
    visits         (S,)                   how often a state was left, for forced exploration
    facts          (1,) ALARM_FACTS       t counts the steps. The rest is of the last alarm
    order          (COLUMNS,)             scratch: the buckets of a stream, oldest first
    scores         (COLUMNS,)             scratch: a statistic for every split
    x_log_x        (TABLE,)               n ln n
    log_factorial  (TABLE,)               ln n!
    =============  =====================  ==================================================================
    """

    params: WatchParams
    counts: TransitionCounts
    origins: Floats
    filled: Ints
    sizes: Ints
    sums: Floats
    parts: Ints
    slot_series: Records
    entry_series: Records
    visits: Longs
    facts: Records
    order: Ints
    scores: Floats
    x_log_x: Floats
    log_factorial: Floats


def new_watch(params: WatchParams, n_states: int, n_pairs: int) -> Watch:
    """Return a watch that has seen nothing."""
    counts = new_counts(2 * n_pairs, 0)
    n = np.arange(TABLE, dtype=np.float64)
    logs = np.log(np.maximum(n, 1.0))
    empty = Watch(
        params,
        counts,
        *(np.zeros(0), np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32), np.zeros((0, 0))),
        np.zeros((0, 0), np.int32),
        *(np.zeros(0, SERIES), np.zeros(0, SERIES)),
        np.zeros(n_states, np.int64),
        np.zeros(1, ALARM_FACTS),
        *(np.zeros(COLUMNS, np.int32), np.zeros(COLUMNS)),
        *(n * logs, np.add.accumulate(logs)),
    )
    return fit_watch(empty, counts)


def fit_watch(watch: Watch, counts: TransitionCounts) -> Watch:
    """Return a watch whose arrays are as long as those of the counts, with the content of the old ones."""
    slots, entries = counts.slots.size, counts.entries.size
    summed = watch.params.kind in (CUSUM, PAGE_HINKLEY)
    by_slot, by_entry = (0, 0) if summed else (slots, entries)
    return watch._replace(
        counts=counts,
        origins=_longer(watch.origins, np.zeros(slots)),
        filled=_longer(watch.filled, np.zeros((by_slot, LEVELS), np.int32)),
        sizes=_longer(watch.sizes, np.zeros((by_slot, COLUMNS), np.int32)),
        sums=_longer(watch.sums, np.zeros((by_slot, COLUMNS))),
        parts=_longer(watch.parts, np.zeros((by_entry, COLUMNS), np.int32)),
        slot_series=_longer(watch.slot_series, np.zeros(slots if summed else 0, SERIES)),
        entry_series=_longer(watch.entry_series, np.zeros(entries if summed else 0, SERIES)),
    )


def _longer(old: Records, new: Records) -> Records:
    if old.size:
        new[: old.shape[0]] = old
    return new


def enlarge_watch(watch: Watch) -> Watch:
    """Return the same watch with twice the capacity of what is nearly full."""
    counts, tally = watch.counts, watch.counts.tally[0]
    slots, entries, table = counts.slots, counts.entries, counts.table
    if tally["n_slots"] + 2 > slots.size:
        slots = np.concatenate([slots, np.zeros_like(slots)])
    if tally["n_entries"] + 2 > entries.size:
        entries = np.concatenate([entries, np.zeros_like(entries)])
        table = nowhere(2 * table.size)
    larger = counts._replace(slots=slots, entries=entries, table=table)
    if table is not counts.table:
        kernels.transition_counts.fill_table(larger)
    has_grown = slots is not counts.slots or entries is not counts.entries
    return fit_watch(watch, larger) if has_grown else watch
