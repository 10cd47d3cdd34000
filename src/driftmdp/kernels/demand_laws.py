"""From beliefs to laws and sample paths of coming demand.

The law of a period is the mixture of the experts' laws. Its shape is then corrected by what all items together
showed, see law_shape.py.

On a path one expert is right from beginning to end, drawn by weight. So the periods of a path go together, as an
uncertain level makes them. Paths for a service target have only the expert's level, and otherwise the law that
losses are expected by, see expected_loss.py. The uniform numbers are common to all items, and shifted for each:
paths of two orders of one item share them.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.demand_arrays import BIN_EDGES, DISPERSIONS, LEAST_MEAN, LOSS_EDGES, DemandBeliefs, Shared
from driftmdp.kernels.demand_experts import TINY_WEIGHT, fill_levels, weights_of
from driftmdp.kernels.expected_loss import one_law
from driftmdp.kernels.law_shape import fill_shape, shaped, unshaped
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
    total, expected = 0.0, 0.0
    for x in range(width):
        law[x] = 0.0
    for k in range(levels.size):
        mean = max(LEAST_MEAN, levels[k] * factor)
        for d in range(DISPERSIONS.size):
            weight = weights[k, d]
            if weight > TINY_WEIGHT:
                total += weight
                expected += weight * mean
                r = 1.0 / DISPERSIONS[d]
                chance, ratio = weight * chance_of_none(mean, r), mean / (r + mean)
                for x in range(width - 1):
                    law[x] += chance
                    chance *= ratio * (x + r) / (x + 1.0)
    shape = np.zeros(BIN_EDGES.size)
    fill_shape(BIN_EDGES, shared.calibration[kind], expected / total, shape)
    _calibrate(shape, total, law)


@kernel
def _calibrate(shape: Floats, total: float, law: Floats) -> None:
    """Correct the shape of a law whose chances, but for the last, sum to less than ``total``."""
    below, before, b = 0.0, 0.0, 0
    for x in range(law.size - 1):
        below = min(1.0, below + law[x] / total)
        after, b = shaped(BIN_EDGES, shape, below, b)
        law[x] = after - before
        before = after
    law[law.size - 1] = 1.0 - before


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
    for_service: bool,
    paths: Ints,
) -> None:
    """Fill ``paths[path, period]``. The first column of the uniforms draws the expert.

    With ``for_service``, only the levels are those of the experts, and otherwise the law is that of losses.
    """
    levels, weights = np.zeros(beliefs.units.shape[1]), weights_of(beliefs, shared, i, kind)
    fill_levels(beliefs, i, kind, prior, levels)
    mean, dispersion = one_law(beliefs.service[i], weights, levels, 1.0)
    edges, common = BIN_EDGES, shared.calibration[kind]
    if for_service:
        edges, common = LOSS_EDGES, shared.loss_shape[kind]
    shapes = np.zeros((factors.size, edges.size))
    for h in range(factors.size):
        fill_shape(edges, common, mean * factors[h], shapes[h])
    for p in range(paths.shape[0]):
        expert = _draw_expert(weights, _shifted(uniforms[p, 0], shifts[0]))
        level = levels[expert // DISPERSIONS.size]
        if not for_service:
            dispersion = DISPERSIONS[expert % DISPERSIONS.size]
        for h in range(paths.shape[1]):
            u = unshaped(edges, shapes[h], _shifted(uniforms[p, h + 1], shifts[h + 1]))
            paths[p, h] = _draw_demand(factors[h], level, dispersion, u)


@kernel
def _draw_expert(weights: Floats, wanted: float) -> int:
    """Return an expert's number, drawn by weight."""
    expert, below = 0, weights[0, 0]
    while below < wanted and expert < weights.size - 1:
        expert += 1
        below += weights[expert // DISPERSIONS.size, expert % DISPERSIONS.size]
    return expert


@kernel
def _draw_demand(factor: float, level: float, dispersion: float, u: float) -> int:
    """Return the u-quantile of a period's demand."""
    mean = factor * max(LEAST_MEAN, level) if factor > 0.0 else 0.0
    z = normal_quantile(u) if mean > COARSE_MEAN else 0.0
    return min(quantile(mean, 1.0 / dispersion, u, z), LARGEST_DEMAND)


@kernel
def _shifted(u: float, shift: float) -> float:
    moved = u + shift
    return moved - 1.0 if moved >= 1.0 else moved
