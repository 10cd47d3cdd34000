"""From beliefs to laws and sample paths of coming demand.

The law of a period is the mixture of the experts' laws. Its shape is then corrected by what all items together
showed: where demand fell below the u-quantile of its predicted law more or less often than u says, Pr(X <= x) = u
becomes ``calibration(u)``.

On a path one expert is right from beginning to end, drawn by weight. So the periods of a path go together, as an
uncertain level makes them. The uniform numbers are common to all items,
and shifted for each: paths of two orders of one item share them.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.demand_arrays import BIN_EDGES, DISPERSIONS, DemandBeliefs, Shared
from driftmdp.kernels.demand_experts import LEAST_MEAN, TINY_WEIGHT, fill_levels, weights_of
from driftmdp.kernels.negative_binomial import COARSE_MEAN, chance_of_none, quantile
from driftmdp.kernels.normal_law import normal_quantile

LARGEST_DEMAND = 100_000_000  # on a path, whose numbers have 32 bits


@kernel
def fill_law(
    beliefs: DemandBeliefs, shared: Shared, i: int, kind: int, prior: float, factor: float, law: Floats
) -> None:
    """Fill ``law[x]`` with Pr(X = x), and its last number with Pr(X >= that)."""
    levels, weights, width = np.zeros(beliefs.units.shape[1]), weights_of(beliefs, shared, i, kind), law.size
    fill_levels(beliefs, i, kind, prior, levels)
    total = 0.0
    for x in range(width):
        law[x] = 0.0
    for k in range(levels.size):
        mean = max(LEAST_MEAN, levels[k] * factor)
        for d in range(DISPERSIONS.size):
            weight = weights[k, d]
            if weight > TINY_WEIGHT:
                total += weight
                r = 1.0 / DISPERSIONS[d]
                chance, ratio = weight * chance_of_none(mean, r), mean / (r + mean)
                for x in range(width - 1):
                    law[x] += chance
                    chance *= ratio * (x + r) / (x + 1.0)
    _calibrate(shared.calibration[kind], total, law)


@kernel
def _calibrate(calibration: Floats, total: float, law: Floats) -> None:
    """Correct the shape of a law whose chances, but for the last, sum to less than ``total``."""
    below, before, b = 0.0, 0.0, 0
    for x in range(law.size - 1):
        below = min(1.0, below + law[x] / total)
        while b < BIN_EDGES.size - 2 and below > BIN_EDGES[b + 1]:
            b += 1
        inside = (below - BIN_EDGES[b]) / (BIN_EDGES[b + 1] - BIN_EDGES[b])
        after = calibration[b] + inside * (calibration[b + 1] - calibration[b])
        law[x] = after - before
        before = after
    law[law.size - 1] = 1.0 - before


@kernel
def uncalibrated(calibration: Floats, u: float) -> float:
    """Return the u whose calibration is the given one."""
    b = 0
    while b < calibration.size - 2 and u > calibration[b + 1]:
        b += 1
    width = calibration[b + 1] - calibration[b]
    inside = (u - calibration[b]) / width if width > 0.0 else 0.5
    return BIN_EDGES[b] + inside * (BIN_EDGES[b + 1] - BIN_EDGES[b])


@kernel
def fill_paths(
    beliefs: DemandBeliefs,
    shared: Shared,
    i: int,
    kind: int,
    prior: float,
    factors: Floats,
    uniforms: Floats,
    shifts: Floats,
    paths: Ints,
) -> None:
    """Fill ``paths[path, period]``. The first column of the uniforms draws the expert."""
    levels, weights = np.zeros(beliefs.units.shape[1]), weights_of(beliefs, shared, i, kind)
    fill_levels(beliefs, i, kind, prior, levels)
    n_dispersions = DISPERSIONS.size
    for p in range(paths.shape[0]):
        wanted, expert = _shifted(uniforms[p, 0], shifts[0]), 0
        below = weights[0, 0]
        while below < wanted and expert < levels.size * n_dispersions - 1:
            expert += 1
            below += weights[expert // n_dispersions, expert % n_dispersions]
        level, r = levels[expert // n_dispersions], 1.0 / DISPERSIONS[expert % n_dispersions]
        for h in range(paths.shape[1]):
            u = uncalibrated(shared.calibration[kind], _shifted(uniforms[p, h + 1], shifts[h + 1]))
            mean = factors[h] * max(LEAST_MEAN, level) if factors[h] > 0.0 else 0.0
            z = normal_quantile(u) if mean > COARSE_MEAN else 0.0
            paths[p, h] = min(quantile(mean, r, u, z), LARGEST_DEMAND)


@kernel
def _shifted(u: float, shift: float) -> float:
    moved = u + shift
    return moved - 1.0 if moved >= 1.0 else moved
