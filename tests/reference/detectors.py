"""Change detectors for one stream, by definition: everything is computed again from the whole stream.

A stream is the list of observations since its last restart: categories (next states), or numbers in [0, 1]
(rewards), which have the category "level". The grid of splits is a function of the length of the stream.

GLR: Besson, Kaufmann, Maillard and Seznec (2022). Run lengths: Alami, Maillard and Feraud (2020). CUSUM and
Page-Hinkley: Liu, Lee and Shroff (2018).
"""

import functools
import math
from dataclasses import dataclass

MOST_IN_LEVEL = 4
LAST_LEVEL = 11


def levels_of(numbers, resolution):
    """The category of each number: how many resolutions it is away from the first, rounded."""
    return [math.floor((x - numbers[0]) / resolution + 0.5) for x in numbers]


@functools.cache
def grid_of_splits(n):
    """How many observations are before each split that is tried, oldest split first."""
    levels = [[] for _ in range(LAST_LEVEL + 1)]
    for _ in range(n):
        put_in(levels)
    sizes = [size for level in reversed(levels) for size in level]
    return [sum(sizes[:i]) for i in range(1, len(sizes))]


def put_in(levels):
    """Add one observation to the sizes of the buckets by level, oldest first in each level."""
    levels[0].append(1)
    for level, sizes in enumerate(levels):
        if len(sizes) > MOST_IN_LEVEL:
            merged = sizes.pop(0) + sizes.pop(0)
            if level == LAST_LEVEL:
                sizes.insert(0, merged)
            else:
                levels[level + 1].append(merged)


def all_splits(n):
    """Every split: the brute force."""
    return list(range(1, n))


# Generalised likelihood ratio. ---------------------------------------------------------------------------


def multinomial_glr(categories, split):
    """The log of the likelihood ratio of two laws, one before and one after the split, to one law for all."""
    before, after = categories[:split], categories[split:]
    return log_likelihood(before) + log_likelihood(after) - log_likelihood(categories)


def log_likelihood(categories):
    """The largest log-likelihood of independent categories of one law."""
    n = len(categories)
    return sum(categories.count(c) * math.log(categories.count(c) / n) for c in set(categories))


def bernoulli_glr(numbers, split):
    """The same for numbers in [0, 1], which are taken for means of coins."""
    before, after = numbers[:split], numbers[split:]
    mean = sum(numbers) / len(numbers)
    return sum(len(part) * bernoulli_divergence(sum(part) / len(part), mean) for part in (before, after))


def bernoulli_divergence(p, q):
    """kl(p, q)."""
    if p == q or q <= 0 or q >= 1:
        return 0.0
    divergence = p * math.log(p / q) if p > 0 else 0.0
    return divergence + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


@dataclass(frozen=True)
class Detector:
    """It alarms on a stream when its excess is positive. `n_streams` streams are in use, and share delta."""

    def rewards_excess(self, numbers, n_streams=1):
        """By how much the statistic of a stream of numbers is above its threshold."""
        raise NotImplementedError

    def states_excess(self, states, n_streams=1):
        """The same of a stream of next states."""
        raise NotImplementedError

    def rewards_alarm(self, numbers, n_streams=1):
        return self.rewards_excess(numbers, n_streams) > 0

    def states_alarm(self, states, n_streams=1):
        return self.states_excess(states, n_streams) > 0


@dataclass(frozen=True)
class GLR(Detector):
    """The largest excess over its threshold, over all splits: of the means, and of the levels with a resolution."""

    delta: float
    resolution: float | None = None
    splits: object = grid_of_splits

    def threshold(self, n, n_streams):
        return math.log(n**1.5 * n_streams / self.delta)

    def excess_of_categories(self, categories, n_streams):
        n, extra = len(categories), max(0, len(set(categories)) - 2)
        scores = [multinomial_glr(categories, split) for split in self.splits(n)]
        return max(scores, default=-math.inf) - self.threshold(n, n_streams) - extra

    def excess_of_means(self, numbers, n_streams):
        n = len(numbers)
        scores = [bernoulli_glr(numbers, split) for split in self.splits(n)]
        return max(scores, default=-math.inf) - self.threshold(n, n_streams)

    def rewards_excess(self, numbers, n_streams=1):
        excess = self.excess_of_means(numbers, n_streams)
        if self.resolution is None:
            return excess
        return max(excess, self.excess_of_categories(levels_of(numbers, self.resolution), n_streams))

    def states_excess(self, states, n_streams=1):
        return self.excess_of_categories(states, n_streams)


# Bayesian run lengths. -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunLength(Detector):
    """R-BOCPD: it restarts when a forecaster that began later weighs more than the first one.

    The weight of a new forecaster is `hazard`, or, where that is None, delta divided by the number of streams.
    """

    hazard: float | None
    n_states: int
    resolution: float
    support: str = "seen"
    delta: float | None = None
    splits: object = grid_of_splits

    def excess(self, categories, support, n_streams):
        first = laplace_log_probability(categories, support)
        found = [
            laplace_log_probability(categories[:split], support)
            + laplace_log_probability(categories[split:], support)
            - first
            for split in self.splits(len(categories))
        ]
        weight = self.delta / n_streams if self.hazard is None else self.hazard
        return max(found, default=-math.inf) - math.log(1 / weight)

    def rewards_excess(self, numbers, n_streams=1):
        levels = levels_of(numbers, self.resolution)
        size = len(set(levels)) if self.support == "seen" else math.ceil(1 / self.resolution) + 1
        return self.excess(levels, size, n_streams)

    def states_excess(self, states, n_streams=1):
        size = len(set(states)) if self.support == "seen" else self.n_states
        return self.excess(states, size, n_streams)


def laplace_log_probability(categories, support):
    """The log of the product of Laplace's predictions of each observation by those before it."""
    seen, total = {}, 0.0
    for number, category in enumerate(categories):
        total += math.log((seen.get(category, 0) + 1) / (number + support))
        seen[category] = seen.get(category, 0) + 1
    return total


# Walks. --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Walks(Detector):
    """CUSUM and Page-Hinkley: two walks that drift down by `margin` a step, and alarm at `threshold`.

    Where the threshold is None, it is that of a walk that begins once, ln(n_streams / delta) / (8 margin).
    """

    margin: float
    threshold: float | None
    warmup: int
    delta: float | None = None

    def base(self, numbers, n):
        """What observation n (from 1) is compared with."""
        raise NotImplementedError

    def first_step(self, first_seen):
        """The first observation (from 1) that the walks are moved by."""
        raise NotImplementedError

    def height(self, numbers, first_seen=1):
        """The larger of both walks after the last number."""
        up = down = 0.0
        for n in range(self.first_step(first_seen), len(numbers) + 1):
            y, base = numbers[n - 1], self.base(numbers, n)
            up = max(0.0, up + y - base - self.margin)
            down = max(0.0, down + base - y - self.margin)
        return max(up, down)

    def bar(self, n_streams):
        return math.log(n_streams / self.delta) / (8 * self.margin) if self.threshold is None else self.threshold

    def rewards_excess(self, numbers, n_streams=1):
        return self.height(numbers) - self.bar(n_streams)

    def states_excess(self, states, n_streams=1):
        heights = []
        for category in set(states):
            indicators = [1.0 if state == category else 0.0 for state in states]
            heights.append(self.height(indicators, states.index(category) + 1))
        return max(heights) - self.bar(n_streams)

    def rewards_alarm(self, numbers, n_streams=1):
        return len(numbers) > self.warmup and self.rewards_excess(numbers, n_streams) >= 0

    def states_alarm(self, states, n_streams=1):
        return len(states) > self.warmup and self.states_excess(states, n_streams) >= 0


class PageHinkley(Walks):
    """The base is the mean so far, the new observation included."""

    def base(self, numbers, n):
        return sum(numbers[:n]) / n

    def first_step(self, first_seen):
        return first_seen


class CUSUM(Walks):
    """The base is the mean of the first `warmup` observations."""

    def base(self, numbers, n):
        return sum(numbers[: self.warmup]) / self.warmup

    def first_step(self, first_seen):
        return max(first_seen, self.warmup + 1)
