"""What is believed of demand, worked out slowly: one item, plain loops, and the laws of scipy.

Written from the docstrings of ``kernels/demand_experts.py`` and ``kernels/demand_laws.py``. A sold-out period with
a chance below 1e-12 counts as one of 1e-12.
"""

import numpy as np
from scipy import stats

from driftmdp.kernels.demand_arrays import BIN_EDGES, DISPERSIONS, MEMORIES
from driftmdp.kernels.demand_experts import (
    AT_LEAST,
    BIN_UNITS,
    COMMON_SHARE,
    COUNTED,
    FIXED_SHARE,
    GROUP_LEANING,
    LARGEST_COUNTED,
    LEANING,
    LEAST_MEAN,
    NOTHING,
    SERVICE_MEMORY,
    TINY_WEIGHT,
)

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


class ReferenceItem:
    """One item's beliefs."""

    def __init__(self, number, kind):
        self.number, self.kind = number, kind
        self.units, self.exposure = [0.0] * 6, [0.0] * 6
        self.weights = np.full((6, 7), 1 / 42)
        self.periods = self.unseen = 0
        self.service = [0.0] * 4

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

    def learn(self, says, units, on_sale, factor, prior, common, calibration, bins):
        """Learn a period. Return its demand, as expected where it was not seen, or 0 if it says nothing."""
        if says == NOTHING:
            self._count_service(on_sale, factor, prior)
            self._fade()
            self.unseen = max(self.unseen, 0) + 1 if on_sale == 0 else self.unseen
            return 0.0
        self.unseen = min(self.unseen, 0) - 1 if says == AT_LEAST else 0
        if self.periods == 0:
            self.weights = common.copy()
        self._count_service(on_sale, factor, prior)
        means = self.means(prior, factor)
        is_counted = (self.number + self.periods) % COUNTED == 0 and self.levels(prior)[0] <= LARGEST_COUNTED
        if self.kind == 0 and is_counted:
            self._count_bins(says == AT_LEAST, units, means, calibration, bins)
        self._weigh(says, units, means, common)
        self._fade()
        demand = np.full((6, 7), float(units))
        if says == AT_LEAST:
            demand = tails_of(np.array(means)[:, None], experts(means), units)[1]
        for k in range(6):
            own = self.weights[k]
            self.units[k] += float(own @ demand[k]) / float(own.sum())
            self.exposure[k] += factor
        self.periods += 1
        return float((self.weights * demand).sum())

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

    def _count_service(self, on_sale, factor, prior):
        """Expected demand and loss, and periods and stock-outs, of one law with the mixture's mean and variance."""
        if on_sale < 0 or factor <= 0 or self.periods == 0:
            return
        mean = square = 0.0
        for k, expected in enumerate(self.means(prior, factor)):
            for d, dispersion in enumerate(DISPERSIONS):
                mean += self.weights[k, d] * expected
                square += self.weights[k, d] * (expected + expected**2 + dispersion * expected**2)
        dispersion = max((square - mean**2 - mean) / mean**2, 0.01)
        tail, beyond = tails_of(mean, law(mean, dispersion), on_sale + 1)
        kept = 1 - 1 / SERVICE_MEMORY[self.kind]
        for place, value in enumerate((mean, tail * (beyond - on_sale), 1.0, tail)):
            self.service[place] = kept * self.service[place] + value

    def _count_bins(self, sold_out, units, means, calibration, bins):
        """Spread the period over Pr(X < x) .. Pr(X <= x), or if it sold out over all above, as the others are."""
        kept = np.where(self.weights > TINY_WEIGHT, self.weights, 0.0)
        low, high = (float((kept * stats.nbinom.cdf(x, *experts(means))).sum()) for x in (units - 1, units))
        low = min(low, 1 - 1e-6)
        high = 1.0 if sold_out else min(max(high, low + 1e-6), 1.0)
        covered = np.clip(np.minimum(high, BIN_EDGES[1:]) - np.maximum(low, BIN_EDGES[:-1]), 0, None)
        if sold_out:
            covered = covered / np.diff(BIN_EDGES) * np.diff(calibration)
        bins += BIN_UNITS * covered / covered.sum()

    def law(self, prior, factor, common, calibration, width):
        """Pr(X = x), the last number Pr(X >= that), with the shape that all items showed."""
        weights = self.weights if self.periods else common
        kept = np.where(weights > TINY_WEIGHT, weights, 0.0)
        means = self.means(prior, factor)
        below = np.array([(kept * stats.nbinom.cdf(x, *experts(means))).sum() for x in range(width - 1)])
        below = np.interp(below / kept.sum(), BIN_EDGES, calibration)
        return np.diff(np.concatenate([[0.0], below, [1.0]]))

    def path(self, prior, factors, numbers, common, calibration):
        """Demand on a path. The first of the uniform numbers draws the expert, who is right on all of it."""
        weights = (self.weights if self.periods else common).ravel()
        expert = min(int(np.searchsorted(np.cumsum(weights), numbers[0])), 41)
        level, dispersion = max(LEAST_MEAN, self.levels(prior)[expert // 7]), DISPERSIONS[expert % 7]
        shares = np.interp(numbers[1:], calibration, BIN_EDGES)
        return [
            stats.nbinom.ppf(share, *law(level * factor, dispersion)) if factor > 0 else 0.0
            for factor, share in zip(factors, shares, strict=True)
        ]
