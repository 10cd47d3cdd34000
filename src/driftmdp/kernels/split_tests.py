"""Two parts of a stream compared: generalised likelihood ratios [BKMS22] and Bayesian run lengths [AMF20].

A stream is kept in buckets of 1, 2, 4, ... observations, at most 4 of each size, the newest the smallest. Splits
are tried between buckets only, at every observation. So a stream takes bounded memory and time, however long it is,
and alarms are hardly later: the next split that is tried misses at most a quarter of what came after a change.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.detection_arrays import GLR, LEVELS, WIDTH, Watch
from driftmdp.kernels.kl_ucb import bernoulli_kl

TWO_PI = 2.0 * math.pi


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
        # A difference of sums may leave [0, 1] by rounding.
        later = min(max((total - reward) / left, 0.0), 1.0)
        score = before * bernoulli_kl(reward / before, mean) + left * bernoulli_kl(later, mean)
        if score > best:
            best, after = score, left
    return best, after


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
