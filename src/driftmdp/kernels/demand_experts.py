"""Demand in units, seen through sales: experts of a memory and a dispersion each, weighed by their predictions.

The demand of a period has mean level x factor. The factor is what season, weekday and special days do, and is
known. Each memory k estimates the level, and an expert (k, d) says that demand is negative binomial with that mean
and dispersion phi_d:

=============  ==========================  ====================================================================
symbol         name here                   meaning
=============  ==========================  ====================================================================
U_k, E_k       units, exposure             sums of demand and of factors, of which a period keeps 1 - 1/m_k
l_k            levels                      (U_k + n l_{k+1}) / (E_k + n): short memories lean on longer ones
w_kd           weights                     of the experts, by log-loss of the sales that came, [HW98]
=============  ==========================  ====================================================================

The longest memory leans on the item's surroundings, its group. A sold-out period says "at least": an expert is
weighed by the chance of that, and the sum takes what it expects of such a period. A period with nothing on sale
says nothing, and only time passes. Of the weights, a share goes each time to the mean weights of all items: the
best expert may change, and what is good elsewhere is a fair guess. Every array has the item first.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.demand_arrays import (
    BIN_EDGES,
    DAY_KIND,
    DISPERSIONS,
    LEAST_MEAN,
    LOSS_EDGES,
    MEMORIES,
    DemandBeliefs,
    Shared,
)
from driftmdp.kernels.expected_loss import count_service, count_spread, one_law, predicted_range
from driftmdp.kernels.law_shape import count_range, fill_shape
from driftmdp.kernels.negative_binomial import LONGEST_WALK, chance_of_none, log_gamma, upper_tail

EXACT, AT_LEAST, NOTHING = 0, 1, 2  # what sales say of demand
FIXED_SHARE = np.array([0.005, 0.1])  # of the weights, by kind of period
COMMON_SHARE = 0.98  # of this goes to the mean weights of all items, the rest is spread evenly
LEANING = np.array([5.0, 8.0])  # periods for which the next longer memory counts, by kind of period
GROUP_LEANING = 0.25  # periods for which the group counts, for the longest memory: items of a group differ widely
TINY_WEIGHT = 1e-4  # experts with less are left out of a law
CALIBRATED_PERIODS = 28  # from which on an item's sales are counted for calibration: before, its level is a guess
LARGEST_COUNTED = 400.0  # level of an item, beyond which it is not counted for calibration: sums would be long


@kernel
def fill_levels(beliefs: DemandBeliefs, i: int, kind: int, prior: float, levels: Floats) -> None:
    """Fill ``levels[memory]``, from the longest memory to the shortest."""
    level, leaning = prior, GROUP_LEANING
    for k in range(levels.size - 1, -1, -1):
        level = (beliefs.units[i, k] + leaning * level) / (beliefs.exposure[i, k] + leaning)
        levels[k], leaning = level, LEANING[kind]


@kernel
def weights_of(beliefs: DemandBeliefs, shared: Shared, i: int, kind: int) -> Floats:
    """Return an item's weights by (memory, dispersion): those of all items while it has none of its own."""
    if beliefs.periods[i] == 0:
        return shared.weights[kind]
    return beliefs.weights[i]


@kernel
def fill_mean_levels(
    beliefs: DemandBeliefs, shared: Shared, items: Longs, kinds: Longs, priors: Floats, means: Floats
) -> None:
    """Fill ``means`` with the items' levels, as all experts together see them."""
    levels = np.zeros(beliefs.units.shape[1])
    for n in range(items.size):
        fill_levels(beliefs, items[n], kinds[n], priors[n], levels)
        weights = weights_of(beliefs, shared, items[n], kinds[n])
        means[n] = 0.0
        for k in range(levels.size):
            for d in range(DISPERSIONS.size):
                means[n] += weights[k, d] * levels[k]


@kernel
def learn_all(
    beliefs: DemandBeliefs,
    shared: Shared,
    sales: tuple[Longs, Longs, Longs, Longs, Longs, Longs],
    known: tuple[Floats, Floats],
    imputed: Floats,
    bins: tuple[Longs, Longs],
) -> None:
    """Learn one period's sales of some items.

    ``sales`` are items, their kinds of period, what the sales say, the units, what there was to sell (-1 if that
    is not known), and what the shelf can hold. ``known`` are the period's factors and the levels of the items'
    surroundings. ``imputed`` becomes the demand, as expected where it was not seen. ``bins`` count where demand lay
    in its predicted law: of the experts, and by kind in that of expected_loss.py.
    """
    items, kinds, seen, units, on_sale, capacity = sales
    factors, priors = known
    n_memories, n_dispersions = beliefs.weights.shape[1], beliefs.weights.shape[2]
    levels, gains = np.zeros(n_memories), np.zeros((n_memories, n_dispersions))
    beyond, constants = np.zeros((n_memories, n_dispersions)), np.zeros(n_dispersions)
    shape, loss_shape = np.zeros(BIN_EDGES.size), np.zeros(LOSS_EDGES.size)
    for n in range(items.size):
        i, kind, factor, sold_out = items[n], kinds[n], factors[n], seen[n] == AT_LEAST
        sums = beliefs.service[i]
        fill_levels(beliefs, i, kind, priors[n], levels)
        law = one_law(sums, beliefs.weights[i], levels, factor)
        fill_shape(LOSS_EDGES, shared.loss_shape[kind], law[0], loss_shape)
        is_predicted = beliefs.periods[i] > 0 and factor > 0.0
        if is_predicted and on_sale[n] >= 0:
            count_service(sums, kind, law, on_sale[n], capacity[n], loss_shape)
        if seen[n] == NOTHING:
            _fade(beliefs, i, kind)
            beliefs.unseen[i] = max(beliefs.unseen[i], 0) + 1 if on_sale[n] == 0 else beliefs.unseen[i]
            continue
        beliefs.unseen[i] = min(beliefs.unseen[i], 0) - 1 if sold_out else 0
        if beliefs.periods[i] == 0:
            _take_over(shared.weights[kind], beliefs.weights[i])
        if is_predicted:
            found = predicted_range(law[0], law[1], units[n])
            count_range(found, sold_out, LOSS_EDGES, loss_shape, bins[1][kind])
        # Of weeks, the counted shape is mostly that of seasons that were not known yet: it makes orders worse.
        is_settled = beliefs.periods[i] >= CALIBRATED_PERIODS and levels[0] <= LARGEST_COUNTED
        if is_predicted and is_settled and kind == DAY_KIND:
            found = _predicted_range(beliefs, i, levels, factor, units[n])
            fill_shape(BIN_EDGES, shared.calibration[kind], law[0], shape)
            count_range(found, sold_out, BIN_EDGES, shape, bins[0])
        if sold_out:
            _weigh_tails(levels, factor, units[n], gains, beyond)
        else:
            _weigh_chances(levels, factor, units[n], gains, constants)
        _reweigh(beliefs, i, gains, shared.weights, kind)
        imputed[n] = _count_period(beliefs, i, kind, factor, sold_out, units[n], beyond)
        if is_predicted:
            count_spread(sums, kind, law[0], imputed[n])


@kernel
def _take_over(common: Floats, weights: Floats) -> None:
    for k in range(weights.shape[0]):
        for d in range(weights.shape[1]):
            weights[k, d] = common[k, d]


@kernel
def _fade(beliefs: DemandBeliefs, i: int, kind: int) -> None:
    for k in range(beliefs.units.shape[1]):
        kept = 1.0 - 1.0 / MEMORIES[kind, k]
        beliefs.units[i, k] *= kept
        beliefs.exposure[i, k] *= kept


@kernel
def _weigh_chances(levels: Floats, factor: float, x: int, gains: Floats, constants: Floats) -> None:
    """Fill ``gains[memory, dispersion]`` with log Pr(X = x), but for what all experts have in common."""
    for d in range(constants.size):
        r = 1.0 / DISPERSIONS[d]
        constants[d] = log_gamma(x + r) - log_gamma(r) + r * math.log(r)
    for k in range(levels.size):
        mean = max(LEAST_MEAN, levels[k] * factor)
        log_mean = math.log(mean)
        for d in range(constants.size):
            r = 1.0 / DISPERSIONS[d]
            gains[k, d] = constants[d] + x * log_mean - (r + x) * math.log(r + mean)


@kernel
def _weigh_tails(levels: Floats, factor: float, x: int, gains: Floats, beyond: Floats) -> None:
    """Fill ``gains`` with log Pr(X >= x), and ``beyond`` with the mean demand of such a period."""
    for k in range(levels.size):
        mean = max(LEAST_MEAN, levels[k] * factor)
        for d in range(DISPERSIONS.size):
            tail, beyond[k, d] = upper_tail(mean, 1.0 / DISPERSIONS[d], x)
            gains[k, d] = math.log(tail)


@kernel
def _reweigh(beliefs: DemandBeliefs, i: int, gains: Floats, common: Floats, kind: int) -> None:
    """Weigh the experts by their predictions, with a share of the mean weights of all items."""
    n_memories, n_dispersions = gains.shape[0], gains.shape[1]
    most = -np.inf
    for k in range(n_memories):
        for d in range(n_dispersions):
            most = max(most, gains[k, d])
    total = 0.0
    for k in range(n_memories):
        for d in range(n_dispersions):
            gains[k, d] = beliefs.weights[i, k, d] * math.exp(gains[k, d] - most)
            total += gains[k, d]
    share, even = FIXED_SHARE[kind], (1.0 - COMMON_SHARE) / (n_memories * n_dispersions)
    for k in range(n_memories):
        for d in range(n_dispersions):
            moved = share * (COMMON_SHARE * common[kind, k, d] + even)
            beliefs.weights[i, k, d] = (1.0 - share) * gains[k, d] / total + moved


@kernel
def _count_period(
    beliefs: DemandBeliefs, i: int, kind: int, factor: float, sold_out: bool, x: int, beyond: Floats
) -> float:
    """Let the past fade and add the period. Return its demand, as all experts expect it."""
    expected = 0.0
    for k in range(beliefs.units.shape[1]):
        demand, weight = float(x), 0.0
        for d in range(beyond.shape[1]):
            weight += beliefs.weights[i, k, d]
        if sold_out:
            demand = 0.0
            for d in range(beyond.shape[1]):
                demand += beliefs.weights[i, k, d] * beyond[k, d] / weight
        kept = 1.0 - 1.0 / MEMORIES[kind, k]
        beliefs.units[i, k] = kept * beliefs.units[i, k] + demand
        beliefs.exposure[i, k] = kept * beliefs.exposure[i, k] + factor
        expected += weight * demand
    beliefs.periods[i] += 1
    return expected


@kernel
def _predicted_range(beliefs: DemandBeliefs, i: int, levels: Floats, factor: float, x: int) -> tuple[float, float]:
    """Return Pr(X < x) and Pr(X <= x)."""
    low, high = 0.0, 0.0
    for k in range(levels.size):
        mean = max(LEAST_MEAN, levels[k] * factor)
        for d in range(DISPERSIONS.size):
            weight = beliefs.weights[i, k, d]
            if weight > TINY_WEIGHT:
                r = 1.0 / DISPERSIONS[d]
                chance, ratio, below = chance_of_none(mean, r), mean / (r + mean), 0.0
                for j in range(min(x, LONGEST_WALK)):
                    below += chance
                    chance *= ratio * (j + r) / (j + 1.0)
                low += weight * below
                high += weight * (below + chance)
    low = min(low, 1.0 - 1e-6)
    return low, min(max(high, low + 1e-6), 1.0)
