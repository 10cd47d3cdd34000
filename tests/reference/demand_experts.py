"""What is believed of demand, worked out slowly: one item, plain loops, and the laws of scipy.

Written from the docstrings of ``kernels/demand_experts.py`` and ``kernels/demand_laws.py``. A sold-out period with
a chance below 1e-12 counts as one of 1e-12.
"""

import numpy as np
from scipy import stats

from driftmdp.kernels.demand_arrays import BIN_EDGES, DISPERSIONS, LEAST_MEAN, LOSS_EDGES, MEMORIES
from driftmdp.kernels.demand_experts import (
    AT_LEAST,
    CALIBRATED_PERIODS,
    COMMON_SHARE,
    FIXED_SHARE,
    GROUP_LEANING,
    LARGEST_COUNTED,
    LEANING,
    NOTHING,
    TINY_WEIGHT,
)
from driftmdp.kernels.expected_loss import (
    LEAST_CHANCE,
    LEAST_DISPERSION,
    LEAST_SPREAD,
    MOST_DISPERSION,
    SERVICE_MEMORY,
    SPREAD_LEANING,
)
from driftmdp.kernels.law_shape import BIN_UNITS, SHAPED_MEAN
from driftmdp.kernels.negative_binomial import COARSE_MEAN, LONGEST_WALK

LEAST_TAIL = 1e-12


def law(mean, dispersion):
    """The parameters of the law with this mean, and variance mean + dispersion mean^2, as scipy has them."""
    r = 1.0 / np.asarray(dispersion)
    return r, r / (r + np.asarray(mean))


def experts(means):
    """The laws of all experts, by memory and dispersion."""
    return law(np.array(means)[:, None], DISPERSIONS[None, :])


def tails_of(mean, chosen, y):
    """Pr(X >= y), and the mean of X if it is at least y."""
    tail = np.maximum(stats.nbinom.sf(y - 1, *chosen), LEAST_TAIL)
    below = sum((x * stats.nbinom.pmf(x, *chosen) for x in range(y)), start=np.zeros(tail.shape))
    return tail, np.maximum(y, (mean - below) / tail)


def on_grid(own):
    """A law of losses: units per step of its grid, and the law of the steps, with the same relative variance."""
    mean, dispersion = own
    scale = max(mean / COARSE_MEAN, 1.0)
    return scale, law(mean / scale, max(dispersion + 1 / mean - scale / mean, LEAST_SPREAD))


def place_in(own, demand):
    """Pr(X < demand) and Pr(X <= demand), where a step of the grid is spread evenly."""
    scale, chosen = on_grid(own)
    steps = np.arange(LONGEST_WALK + 1)
    below = np.concatenate([[0.0], stats.nbinom.cdf(steps[:-1], *chosen)])
    low, high = (float(np.interp(x / scale, steps, below)) for x in (demand, demand + 1))
    low = min(low, 1 - LEAST_CHANCE)
    return low, min(max(high, low + LEAST_CHANCE), 1.0)


def shape_of(edges, shared, mean):
    """The shape of a law: that of all items, of a slow item only in part."""
    part = min(mean / SHAPED_MEAN, 1)
    return (1 - part) * edges + part * shared


def count_range(found, sold_out, edges, shape, bins):
    """Spread a period over the range of its demand, or if it sold out over all above, as the others are."""
    low, high = found[0], 1.0 if sold_out else found[1]
    covered = np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0, None)
    if sold_out:
        covered = covered / np.diff(edges) * np.diff(shape)
    bins += BIN_UNITS * covered / covered.sum()


class ReferenceItem:
    """One item's beliefs."""

    def __init__(self, number, kind):
        self.number, self.kind = number, kind
        self.units, self.exposure = [0.0] * 6, [0.0] * 6
        self.weights = np.full((6, 7), 1 / 42)
        self.periods = self.unseen = 0
        self.service = [0.0] * 6

    def levels(self, prior):
        """Short memories lean on longer ones, and the longest on the prior."""
        found, longer = [0.0] * 6, prior
        for k in reversed(range(6)):
            leaning = GROUP_LEANING if k == 5 else LEANING[self.kind]
            longer = (self.units[k] + leaning * longer) / (self.exposure[k] + leaning)
            found[k] = longer
        return found

    def means(self, prior, factor):
        return [max(LEAST_MEAN, level * factor) for level in self.levels(prior)]

    def learn(self, says, units, shelf, factor, prior, common, shapes, bins):
        """Learn a period. Return its demand, as expected where it was not seen, or 0 if it says nothing.

        ``shelf`` is what was on sale and the capacity. ``shapes`` and ``bins`` are of the experts' laws, and of the
        law of expected losses.
        """
        on_sale, capacity = shelf
        own = self.one_law(prior, factor)
        shapes = shape_of(BIN_EDGES, shapes[0], own[0]), shape_of(LOSS_EDGES, shapes[1], own[0])
        is_predicted = self.periods > 0 and factor > 0
        if is_predicted and on_sale >= 0:
            self._count_service(own, on_sale, capacity, shapes[1])
        if says == NOTHING:
            self._fade()
            self.unseen = max(self.unseen, 0) + 1 if on_sale == 0 else self.unseen
            return 0.0
        self.unseen = min(self.unseen, 0) - 1 if says == AT_LEAST else 0
        if self.periods == 0:
            self.weights = common.copy()
        if is_predicted:
            found = place_in(own, units)
            count_range(found, says == AT_LEAST, LOSS_EDGES, shapes[1], bins[1])
        means = self.means(prior, factor)
        is_settled = self.periods >= CALIBRATED_PERIODS and self.levels(prior)[0] <= LARGEST_COUNTED
        if self.kind == 0 and is_predicted and is_settled:
            kept = np.where(self.weights > TINY_WEIGHT, self.weights, 0.0)
            low, high = (float((kept * stats.nbinom.cdf(x, *experts(means))).sum()) for x in (units - 1, units))
            low = min(low, 1 - 1e-6)
            found = low, min(max(high, low + 1e-6), 1.0)
            count_range(found, says == AT_LEAST, BIN_EDGES, shapes[0], bins[0])
        self._weigh(says, units, means, common)
        self._fade()
        demand = np.full((6, 7), float(units))
        if says == AT_LEAST:
            demand = tails_of(np.array(means)[:, None], experts(means), units)[1]
        for k in range(6):
            own_weights = self.weights[k]
            self.units[k] += float(own_weights @ demand[k]) / float(own_weights.sum())
            self.exposure[k] += factor
        self.periods += 1
        expected = float((self.weights * demand).sum())
        if is_predicted:
            self._add_to_service(4, (expected - own[0]) ** 2 - own[0], own[0] ** 2)
        return expected

    def _weigh(self, says, units, means, common):
        """By the chance of what was seen. A share goes to the common weights, and a little to all experts."""
        if says == AT_LEAST:
            chances = np.log(tails_of(np.array(means)[:, None], experts(means), units)[0])
        else:
            chances = stats.nbinom.logpmf(units, *experts(means))
        likely = self.weights * np.exp(chances - chances.max())
        share = FIXED_SHARE[self.kind]
        moved = COMMON_SHARE * common + (1 - COMMON_SHARE) / 42
        self.weights = (1 - share) * likely / likely.sum() + share * moved

    def _fade(self):
        for k, memory in enumerate(MEMORIES[self.kind]):
            self.units[k] *= 1 - 1 / memory
            self.exposure[k] *= 1 - 1 / memory

    def one_law(self, prior, factor):
        """The mean of all experts, and the item's own dispersion, which leans on that of their mixture."""
        mean = square = 0.0
        for k, expected in enumerate(self.means(prior, factor)):
            for d, dispersion in enumerate(DISPERSIONS):
                mean += self.weights[k, d] * expected
                square += self.weights[k, d] * (expected + expected**2 + dispersion * expected**2)
        mixture, leaning = (square - mean**2 - mean) / mean**2, SPREAD_LEANING * max(mean**2, mean)
        own = (self.service[4] + leaning * mixture) / (self.service[5] + leaning)
        return mean, float(np.clip(own, LEAST_DISPERSION, MOST_DISPERSION))

    def _count_service(self, own, on_sale, capacity, shape):
        """Expected demand and loss up to the capacity, and periods and stock-outs."""
        scale, chosen = on_grid(own)
        steps = np.arange(LONGEST_WALK)
        beyond = 1 - np.interp(stats.nbinom.cdf(steps, *chosen), LOSS_EDGES, shape)
        widths = np.clip(capacity / scale - steps, 0, 1)
        lost = np.clip(np.minimum(steps + widths - on_sale / scale, widths), 0, None)
        tail = beyond[int(on_sale / scale)] if on_sale / scale < capacity / scale else 0.0
        self._add_to_service(0, scale * beyond @ widths, scale * beyond @ lost, 1.0, tail)

    def _add_to_service(self, first, *values):
        for place, value in enumerate(values, start=first):
            self.service[place] = (1 - 1 / SERVICE_MEMORY[self.kind]) * self.service[place] + value

    def law(self, prior, factor, common, calibration, width):
        """Pr(X = x), the last number Pr(X >= that), with the shape that all items showed."""
        weights = self.weights if self.periods else common
        kept = np.where(weights > TINY_WEIGHT, weights, 0.0)
        means = self.means(prior, factor)
        below = np.array([(kept * stats.nbinom.cdf(x, *experts(means))).sum() for x in range(width - 1)])
        mean = float((kept.sum(axis=1) @ means) / kept.sum())
        below = np.interp(below / kept.sum(), BIN_EDGES, shape_of(BIN_EDGES, calibration, mean))
        return np.diff(np.concatenate([[0.0], below, [1.0]]))

    def path(self, prior, factors, numbers, common, calibration):
        """Demand on a path. The first of the uniform numbers draws the expert, who is right on all of it."""
        expert, (mean, _) = self._expert(numbers[0], common), self._law_in_plans(prior, common)
        level, dispersion = max(LEAST_MEAN, self.levels(prior)[expert // 7]), DISPERSIONS[expert % 7]
        return demands(level, dispersion, factors, shares(numbers, mean, factors, BIN_EDGES, calibration))

    def service_path(self, prior, factors, numbers, common, shape):
        """The same for a service target: the expert's level, and otherwise the law of expected losses."""
        level = max(LEAST_MEAN, self.levels(prior)[self._expert(numbers[0], common) // 7])
        mean, dispersion = self._law_in_plans(prior, common)
        return demands(level, dispersion, factors, shares(numbers, mean, factors, LOSS_EDGES, shape))

    def _law_in_plans(self, prior, common):
        """The law of losses without factors, with the common weights while the item has none of its own."""
        self.weights, mine = (self.weights if self.periods else common), self.weights
        found = self.one_law(prior, 1.0)
        self.weights = mine
        return found

    def _expert(self, number, common):
        weights = (self.weights if self.periods else common).ravel()
        return min(int(np.searchsorted(np.cumsum(weights), number)), 41)


def shares(numbers, mean, factors, edges, shape):
    """Where in the predicted laws of a path's periods its uniform numbers lie."""
    return [
        float(np.interp(number, shape_of(edges, shape, mean * factor), edges))
        for number, factor in zip(numbers[1:], factors, strict=True)
    ]


def demands(level, dispersion, factors, shares):
    """Quantiles of the demand of some periods."""
    return [
        stats.nbinom.ppf(share, *law(level * factor, dispersion)) if factor > 0 else 0.0
        for factor, share in zip(factors, shares, strict=True)
    ]
