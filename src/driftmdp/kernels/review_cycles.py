"""What a rhythm of orders costs by a rough formula: whether to order on every order day, or more rarely.

On every order day that is an n-th one, an item is ordered up to a level. Demand between is taken as normal with the
variance of Poisson demand. The level is the cheapest of some, and n the best for the item. These costs are compared
with each other only.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats
from driftmdp.kernels.normal_law import normal_tail

MOST_CYCLES = 4  # in a row that an item may leave out, less one
LEVELS = 14  # tried, from 1.5 deviations below the mean demand of a cycle on
STEP = 0.4  # of the levels, in deviations


@kernel
def cost_of_rhythm(
    wait: float, fixed: Floats, holding: Floats, lost: Floats, lead_times: Floats, levels: Floats
) -> float:
    """Return what items cost per period that may be ordered every ``wait`` periods, without the shared cost."""
    total = 0.0
    for item in range(fixed.size):
        best = lost[item] * levels[item]  # never ordered
        for cycles in range(1, MOST_CYCLES + 1):
            terms = fixed[item], holding[item], lost[item], lead_times[item], levels[item]
            best = min(best, _cost_of_cycle(wait * cycles, terms))
        total += best
    return total


@kernel
def _cost_of_cycle(cycle: float, terms: tuple[float, float, float, float, float]) -> float:
    """Return what an item costs per period that is ordered up to its best level once in a cycle."""
    fixed, holding, lost, lead_time, level = terms
    if level <= 0.0:
        return 0.0
    least = np.inf
    mean = level * (lead_time + cycle)
    for place in range(LEVELS):
        up = max(mean + (STEP * place - 1.5) * math.sqrt(mean), 0.0)
        kept = _left(up, level * (lead_time + 1.0)) + _left(up, mean)  # Simpson's rule from the first evening on
        kept = (kept + 4.0 * _left(up, level * (lead_time + 0.5 * (1.0 + cycle)))) / 6.0
        missing = _left(up, mean) - (up - mean)
        least = min(least, holding * kept + lost * missing / cycle)
    return fixed / cycle + least


@kernel
def _left(up: float, mean: float) -> float:
    """Return the expected rest of a level after demand that is normal with its mean as variance."""
    deviation = math.sqrt(mean)
    z = (up - mean) / deviation
    return deviation * (z * (1.0 - normal_tail(z)) + 0.3989422804014327 * math.exp(-0.5 * z * z))
