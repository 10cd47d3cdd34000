"""What a period was expected to lose, given what was on sale: for service targets.

Rare bulk orders hold much of what is lost, and a shelf that they empty does not show how large they were. The
experts follow demand from day to day: some quiet weeks, and a bulk order is nearly impossible. So losses have a law
of their own. Demand X of a period is one negative binomial with the experts' mean, and

=============  =============  ===============================================================================
symbol         name here      meaning
=============  =============  ===============================================================================
phi            dispersion     the item's own: mean of (x - mean)^2 - mean over that of mean^2, in long memory,
                              leaning on that of the experts' mixture: a slow item's own is mostly noise
shape          loss_shape     Pr(X <= x) = u becomes shape(u): how often all items' demand was below that quantile
=============  =============  ===============================================================================

The first says how heavy an item's tail is, and the second how much heavier than the law's (law_shape.py).

Then E(X - y)+, the loss with y on sale, is the sum of Pr(X > x) over x >= y. No order can serve more in a period
than the shelf holds, so demand beyond the capacity is not counted: the sums of loss and of demand end there.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats
from driftmdp.kernels.demand_arrays import DISPERSIONS, LEAST_MEAN, LOSS_EDGES
from driftmdp.kernels.law_shape import shaped
from driftmdp.kernels.negative_binomial import COARSE_MEAN, LONGEST_WALK, chance_of_none

SERVICE_MEMORY = np.array([200.0, 50.0])  # periods that count for a service target, by kind
SPREAD_LEANING = 20.0  # periods for which the experts' dispersion counts, of a slow item units
LEAST_DISPERSION, MOST_DISPERSION = 0.01, 100.0
LEAST_SPREAD = 1e-3  # dispersion on a coarser grid
LEAST_CHANCE = 1e-9  # where a sum ends


@kernel
def one_law(sums: Floats, weights: Floats, levels: Floats, factor: float) -> tuple[float, float]:
    """Return the mean and the dispersion of a period's demand. ``sums`` are an item's of ``service``."""
    mean, square = 0.0, 0.0
    for k in range(levels.size):
        expected = max(LEAST_MEAN, levels[k] * factor)
        for d in range(DISPERSIONS.size):
            mean += weights[k, d] * expected
            square += weights[k, d] * (expected + (1.0 + DISPERSIONS[d]) * expected * expected)
    leaning = SPREAD_LEANING * mean * max(mean, 1.0)
    mixture = (square - mean) / (mean * mean) - 1.0
    dispersion = (sums[4] + leaning * mixture) / (sums[5] + leaning)
    return mean, min(max(dispersion, LEAST_DISPERSION), MOST_DISPERSION)


@kernel
def count_spread(sums: Floats, kind: int, mean: float, demand: float) -> None:
    """Add how far a period's demand was from its mean."""
    kept = 1.0 - 1.0 / SERVICE_MEMORY[kind]
    sums[4] = kept * sums[4] + (demand - mean) * (demand - mean) - mean
    sums[5] = kept * sums[5] + mean * mean


@kernel
def count_service(
    sums: Floats, kind: int, law: tuple[float, float], on_sale: int, capacity: int, shape: Floats
) -> None:
    """Add what a period with so much on sale was expected to lose: steadier than what was lost."""
    demand, lost, tail = expected_loss(law[0], law[1], on_sale, capacity, shape)
    kept = 1.0 - 1.0 / SERVICE_MEMORY[kind]
    sums[0] = kept * sums[0] + demand
    sums[1] = kept * sums[1] + lost
    sums[2] = kept * sums[2] + 1.0
    sums[3] = kept * sums[3] + tail


@kernel
def expected_loss(
    mean: float, dispersion: float, on_sale: int, capacity: int, shape: Floats
) -> tuple[float, float, float]:
    """Return a period's expected demand and loss, and the chance that something is lost."""
    # A large mean is walked on a coarser grid, with the same relative variance.
    scale = max(mean / COARSE_MEAN, 1.0)
    r = 1.0 / max(dispersion + (1.0 - scale) / mean, LEAST_SPREAD)
    y, last, mean = on_sale / scale, min(capacity / scale, float(LONGEST_WALK)), mean / scale
    chance, ratio, above, b, x = chance_of_none(mean, r), mean / (r + mean), 1.0, 0, 0
    demand, lost, tail = 0.0, 0.0, 0.0
    while x < last and above > LEAST_CHANCE:
        above -= chance
        chance *= ratio * (x + r) / (x + 1.0)
        below, b = shaped(LOSS_EDGES, shape, 1.0 - above, b)
        beyond = max(1.0 - below, 0.0)
        part = min(1.0, last - x)
        demand += beyond * part
        lost += beyond * min(part, max(x + part - y, 0.0))
        if x <= y:
            tail = beyond
        x += 1
    return scale * demand, scale * lost, tail if x > y and on_sale < capacity else 0.0


@kernel
def predicted_range(mean: float, dispersion: float, demand: int) -> tuple[float, float]:
    """Return where a demand lies in the law as it was predicted: Pr(X < demand) and Pr(X <= demand)."""
    scale = max(mean / COARSE_MEAN, 1.0)
    r = 1.0 / max(dispersion + (1.0 - scale) / mean, LEAST_SPREAD)
    mean, first, last = mean / scale, demand / scale, (demand + 1) / scale
    chance, ratio, low, high, x = chance_of_none(mean, r), mean / (r + mean), 0.0, 0.0, 0
    while x < last and x < LONGEST_WALK:
        low += chance * min(1.0, max(first - x, 0.0))
        high += chance * min(1.0, last - x)
        chance *= ratio * (x + r) / (x + 1.0)
        x += 1
    low = min(low, 1.0 - LEAST_CHANCE)
    return low, min(max(high, low + LEAST_CHANCE), 1.0)
