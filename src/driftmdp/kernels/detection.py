"""Change detection beside a learner: what a pair's rewards and next states say about a change.

A learner's ``play`` calls ``forced_action`` before a step and ``watch_step`` after it, if it is given a watch. The
detectors are numbers of one kernel, see :class:`WatchParams`.

A stream has the observations of a pair since its last restart. Likelihood ratios and run lengths compare its two
parts at a split. Splits are those between buckets, of 1, 2, 4, ... observations, at most 4 of each size, the newest
the smallest: a stream takes bounded memory, whatever its length, and alarms are hardly later.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import Floats, Ints, Records
from driftmdp.kernels.detection_arrays import (
    ALARM,
    COLUMNS,
    CUSUM,
    GLR,
    LEVELS,
    QUIET,
    RUN_LENGTH,
    WATCH_FULL,
    WIDTH,
    Watch,
    WatchParams,
)

TWO_PI = 2.0 * math.pi


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
    return int(np.floor((x - watch.origins[index]) / params.resolution + 0.5)) + params.n_levels


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


# likelihood ratios and run lengths -----------------------------------------------------------------------


@kernel
def add_bucket(watch: Watch, index: int, entry: int, x: float) -> None:
    """Add a bucket for one observation, and merge the oldest two of every level that has too many."""
    counts, filled = watch.counts, watch.filled
    column = filled[index, 0]
    watch.sizes[index, column], watch.sums[index, column] = 1, x
    found = counts.slots[index]["head"]
    while found >= 0:
        watch.parts[found, column] = 0
        found = counts.entries[found]["link"]
    watch.parts[entry, column] = 1
    filled[index, 0] += 1
    level = 0
    while level < LEVELS and filled[index, level] == WIDTH:
        merge_oldest(watch, index, level)
        level += 1


@kernel
def merge_oldest(watch: Watch, index: int, level: int) -> None:
    """Merge the oldest two buckets of a full level into one of the next level, or of the last one itself."""
    counts, filled = watch.counts, watch.filled
    first = level * WIDTH
    is_last = level == LEVELS - 1
    target = first if is_last else first + WIDTH + filled[index, level + 1]
    merge_row(watch.sizes, index, first, target, is_last)
    merge_row(watch.sums, index, first, target, is_last)
    found = counts.slots[index]["head"]
    while found >= 0:
        merge_row(watch.parts, found, first, target, is_last)
        found = counts.entries[found]["link"]
    if is_last:
        filled[index, level] = WIDTH - 1
    else:
        filled[index, level] = WIDTH - 2
        filled[index, level + 1] += 1


@kernel
def merge_row(rows: Ints | Floats, row: int, first: int, target: int, is_last: bool) -> None:
    """Merge two numbers of a row, and move the rest of their level down."""
    rows[row, target] = rows[row, first] + rows[row, first + 1]
    shift = 1 if is_last else 2
    for i in range(first + 2, first + WIDTH):
        rows[row, i - shift] = rows[row, i]


@kernel
def check_splits(watch: Watch, index: int) -> bool:
    """Return whether a split of a stream tells of a change, and take note of it."""
    params, counts = watch.params, watch.counts
    slot = counts.slots[index]
    n = int(slot["count"])
    if n < 2:
        return False
    shared = params.share * math.log(counts.tally[0]["n_slots"])  # delta is that of all streams together
    n_buckets = order_buckets(watch, index)
    n_categories = transition_counts.count_successors(counts, slot["head"])
    is_reward = slot["pair"] >= counts.slot_of.size // 2
    if params.kind == GLR:
        # [BKMS22]: beta(n, delta) of their experiments. Each category beyond two is one more degree of freedom.
        beta = 1.5 * math.log(n) + params.log_odds + shared
        if n_categories > 1:
            score_ratios(watch, index, n_buckets, n)
        best, after = best_split(watch, index, n_buckets, n_categories > 1)
        bar = beta + max(0, n_categories - 2)
        if is_reward:
            mean_best, mean_after = best_mean_split(watch, index, n_buckets, n)
            if mean_best - beta > best - bar:
                best, after, bar = mean_best, mean_after, beta
    else:
        support = params.reward_categories if is_reward else params.state_categories
        score_run_lengths(watch, index, n_buckets, n, max(n_categories, support))
        best, after = best_split(watch, index, n_buckets, True)
        bar = params.log_odds + shared
    if best > bar:
        note_alarm(watch, index, after, best, bar)
        return True
    return False


@kernel
def note_alarm(watch: Watch, index: int, after: int, statistic: float, threshold: float) -> None:
    """Write down what fired: the pair, which of its streams, and how many observations were after the split."""
    facts, stream, n_pairs = watch.facts[0], watch.counts.slots[index]["pair"], watch.counts.slot_of.size // 2
    facts["stream"] = 0 if stream >= n_pairs else 1
    facts["pair"] = stream - n_pairs if stream >= n_pairs else stream
    facts["after"], facts["statistic"], facts["threshold"] = after, statistic, threshold


@kernel
def order_buckets(watch: Watch, index: int) -> int:
    """List the buckets of a stream, oldest first. Return how many there are."""
    n_buckets = 0
    for level in range(LEVELS - 1, -1, -1):
        for i in range(watch.filled[index, level]):
            watch.order[n_buckets] = level * WIDTH + i
            n_buckets += 1
    return n_buckets


@kernel
def score_ratios(watch: Watch, index: int, n_buckets: int, n: int) -> None:
    """Write the multinomial likelihood ratio of every split: n1 KL(p1, p) + n2 KL(p2, p)."""
    counts, scores, order = watch.counts, watch.scores, watch.order
    before = 0
    for k in range(n_buckets - 1):
        before += watch.sizes[index, order[k]]
        scores[k] = x_log_x(watch, n) - x_log_x(watch, before) - x_log_x(watch, n - before)
    found = counts.slots[index]["head"]
    while found >= 0:
        count = int(counts.entries[found]["count"])
        whole, before = x_log_x(watch, count), 0
        for k in range(n_buckets - 1):
            before += watch.parts[found, order[k]]
            if 0 < before < count:  # all on one side: the terms cancel
                scores[k] += x_log_x(watch, before) + x_log_x(watch, count - before) - whole
        found = counts.entries[found]["link"]


@kernel
def score_run_lengths(watch: Watch, index: int, n_buckets: int, n: int, support: int) -> None:
    """Write for every split how much better two Laplace predictors have called the observations than one.

    The losses of a Laplace predictor telescope: their sum is -ln of (K - 1)! prod c_i! / (n + K - 1)!.
    """
    counts, scores, order = watch.counts, watch.scores, watch.order
    constant = log_factorial(watch, support - 1) + log_factorial(watch, n + support - 1)
    before = 0
    for k in range(n_buckets - 1):
        before += watch.sizes[index, order[k]]
        after = n - before
        scores[k] = (
            constant - log_factorial(watch, before + support - 1) - log_factorial(watch, after + support - 1)
        )
    found = counts.slots[index]["head"]
    while found >= 0:
        count = int(counts.entries[found]["count"])
        whole, before = log_factorial(watch, count), 0
        for k in range(n_buckets - 1):
            before += watch.parts[found, order[k]]
            if 0 < before < count:
                scores[k] += log_factorial(watch, before) + log_factorial(watch, count - before) - whole
        found = counts.entries[found]["link"]


@kernel
def best_split(watch: Watch, index: int, n_buckets: int, scored: bool) -> tuple[float, int]:
    """Return the largest score and how many observations come after its split. The oldest of equals wins."""
    best, after, left = 0.0 if not scored else -np.inf, 0, int(watch.counts.slots[index]["count"])
    for k in range(n_buckets - 1 if scored else 0):
        left -= watch.sizes[index, watch.order[k]]
        if watch.scores[k] > best:
            best, after = watch.scores[k], left
    return best, after


@kernel
def best_mean_split(watch: Watch, index: int, n_buckets: int, n: int) -> tuple[float, int]:
    """Return the largest Bernoulli likelihood ratio of mean rewards, and the observations after its split."""
    total = 0.0
    for k in range(n_buckets):
        total += watch.sums[index, watch.order[k]]
    mean, best, after = total / n, -np.inf, 0
    before, reward = 0, 0.0
    for k in range(n_buckets - 1):
        before += watch.sizes[index, watch.order[k]]
        reward += watch.sums[index, watch.order[k]]
        left = n - before
        score = before * divergence(reward / before, mean) + left * divergence((total - reward) / left, mean)
        if score > best:
            best, after = score, left
    return best, after


@kernel
def divergence(p: float, q: float) -> float:
    """Return kl(p, q) of two Bernoulli laws, 0 where q is an end of [0, 1]: p is that end too, up to rounding."""
    p = min(max(p, 0.0), 1.0)
    if p == q or q <= 0.0 or q >= 1.0:
        return 0.0
    value = 0.0
    if p > 0.0:
        value += p * math.log(p / q)
    if p < 1.0:
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return value


@kernel
def x_log_x(watch: Watch, n: int) -> float:
    """Return n ln n."""
    return watch.x_log_x[n] if n < watch.x_log_x.size else n * math.log(n)


@kernel
def log_factorial(watch: Watch, n: int) -> float:
    """Return ln n!, by Stirling's series where it is not in the table."""
    if n < watch.log_factorial.size:
        return watch.log_factorial[n]
    x = float(n)
    return x * math.log(x) - x + 0.5 * math.log(TWO_PI * x) + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x)


# cumulative sums -----------------------------------------------------------------------------------------


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


# restarts ------------------------------------------------------------------------------------------------


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
