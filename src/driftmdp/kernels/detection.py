"""Change detection beside a learner: what a pair's rewards and next states say about a change.

A learner's ``play`` takes ``watch=None``, calls ``forced_action`` before a step and ``watch_step`` after it, and
returns (step + 1, signal) where that is not QUIET: see ``play`` of kernels/posterior.py. Without a watch the
compiler leaves these lines out. The agent's class sets ``can_be_watched``, its ``_play_some`` passes a watch on.
The detectors are numbers of one kernel, see :class:`WatchParams`.

A stream has the observations of a pair since its last restart: its next states, or its rewards. Likelihood ratios
and run lengths, kernels/split_tests.py, compare two parts of it. Cumulative sums [LLS18] are here.
"""

import math

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import Ints, Records
from driftmdp.kernels.detection_arrays import (
    ALARM,
    COLUMNS,
    CUSUM,
    GLR,
    LEVELS,
    QUIET,
    RUN_LENGTH,
    WATCH_FULL,
    Watch,
    WatchParams,
)
from driftmdp.kernels.split_tests import add_bucket, check_splits, note_alarm


@kernel
def forced_action(watch: Watch, offsets: Ints, state: int, action: int) -> int:
    """Return the action to take in a state: the given one, or at every ``period``-th visit the next one in turn."""
    period = watch.params.period
    if period == 0:
        return action
    visit = watch.visits[state] + 1
    if visit % period != 0:
        return action
    return (visit // period - 1) % (offsets[state + 1] - offsets[state])


@kernel
def watch_step(watch: Watch, state: int, pair: int, reward: float, next_state: int) -> int:
    """Take note of a step. Return QUIET, ALARM or WATCH_FULL."""
    params, facts, tally = watch.params, watch.facts[0], watch.counts.tally[0]
    n_pairs = watch.counts.slot_of.size // 2
    watch.visits[state] += 1
    facts["t"] += 1
    fired = False
    if params.rewards:
        x = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
        fired = observe(watch, n_pairs + pair, level_of(watch, n_pairs + pair, x), x)
    if params.next_states and not fired:
        fired = observe(watch, pair, next_state, 0.0)
    if fired:
        return ALARM
    # Both streams of the next step may be new, and so may their categories.
    if tally["n_slots"] + 2 > watch.counts.slots.size or tally["n_entries"] + 2 > watch.counts.entries.size:
        return WATCH_FULL
    return QUIET


@kernel
def level_of(watch: Watch, stream: int, x: float) -> int:
    """Return the level of a reward in [0, 1], counted from the first one of its stream."""
    params, index = watch.params, watch.counts.slot_of[stream]
    if params.resolution == 0.0 or index < 0:
        return params.n_levels
    return math.floor((x - watch.origins[index]) / params.resolution + 0.5) + params.n_levels


@kernel
def observe(watch: Watch, stream: int, category: int, x: float) -> bool:
    """Add an observation to a stream. Return whether its detector fires."""
    counts, params = watch.counts, watch.params
    entry = transition_counts.count_step(counts, 0, stream, category, x)
    index = counts.slot_of[stream]
    is_new, is_first = counts.slots[index]["count"] == 1.0, counts.entries[entry]["count"] == 1.0
    if is_new:
        watch.origins[index] = x
    if params.kind == GLR or params.kind == RUN_LENGTH:
        if is_new:
            for level in range(LEVELS):
                watch.filled[index, level] = 0
        if is_first:
            for column in range(COLUMNS):
                watch.parts[entry, column] = 0
        add_bucket(watch, index, entry, x)
        return check_splits(watch, index)
    if is_new:
        series = watch.slot_series[index]
        series["base"], series["up"], series["down"] = 0.0, 0.0, 0.0
    if is_first:
        series = watch.entry_series[entry]
        series["base"], series["up"], series["down"] = 0.0, 0.0, 0.0
    return add_to_series(watch, index, entry, x)


@kernel
def add_to_series(watch: Watch, index: int, entry: int, x: float) -> bool:
    """Move the cumulative sums of a stream on. Return whether one fires, and take note of it."""
    counts, params = watch.counts, watch.params
    slot = counts.slots[index]
    n, top = int(slot["count"]), 0.0
    if slot["pair"] >= counts.slot_of.size // 2:
        top = add_to_sums(params, watch.slot_series, index, n, x)
    else:
        found = slot["head"]
        while found >= 0:
            y = 1.0 if found == entry else 0.0
            top = max(top, add_to_sums(params, watch.entry_series, found, n, y))
            found = counts.entries[found]["link"]
    bar = params.threshold + params.share * math.log(counts.tally[0]["n_slots"])
    if n > params.warmup and top >= bar:
        note_alarm(watch, index, 0, top, bar)
        return True
    return False


@kernel
def add_to_sums(params: WatchParams, every: Records, index: int, n: int, y: float) -> float:
    """Add the n-th observation of a series to its two cumulative sums. Return the larger one."""
    series, fixed = every[index], params.kind == CUSUM
    if n <= params.warmup or not fixed:  # CUSUM keeps the mean of the first ones
        series["base"] += (y - series["base"]) / n
    if n > params.warmup or not fixed:
        series["up"] = max(0.0, series["up"] + y - series["base"] - params.margin)
        series["down"] = max(0.0, series["down"] + series["base"] - y - params.margin)
    return max(series["up"], series["down"])


@kernel
def forget_pair(watch: Watch, pair: int) -> None:
    """Empty both streams of a pair."""
    forget_stream(watch, pair)
    forget_stream(watch, watch.counts.slot_of.size // 2 + pair)


@kernel
def forget_stream(watch: Watch, stream: int) -> None:
    """Empty a stream. The last slot takes its place, here and in the counts."""
    counts = watch.counts
    index, last = counts.slot_of[stream], counts.tally[0]["n_slots"] - 1
    if index < 0:
        return
    transition_counts.drop_pair(counts, stream)
    watch.origins[index] = watch.origins[last]
    if watch.slot_series.size > 0:
        here, there = watch.slot_series[index], watch.slot_series[last]
        here["base"], here["up"], here["down"] = there["base"], there["up"], there["down"]
    else:
        for level in range(LEVELS):
            watch.filled[index, level] = watch.filled[last, level]
        for column in range(COLUMNS):
            watch.sizes[index, column] = watch.sizes[last, column]
            watch.sums[index, column] = watch.sums[last, column]
