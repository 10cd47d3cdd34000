"""The standard normal law: its tail and its quantiles, by rational approximations."""

import math

from driftmdp.compiler import kernel


@kernel
def normal_tail(z: float) -> float:
    """Return Pr(Z >= z) of a standard normal variable, to seven digits [AS64] 26.2.17."""
    t = 1.0 / (1.0 + 0.2316419 * abs(z))
    series = 1.330274429
    series = -1.821255978 + t * series
    series = 1.781477937 + t * series
    series = -0.356563782 + t * series
    series = 0.319381530 + t * series
    tail = 0.3989422804014327 * math.exp(-0.5 * z * z) * t * series
    return tail if z >= 0.0 else 1.0 - tail


@kernel
def normal_quantile(u: float) -> float:
    """Return the standard normal quantile, to 4.5e-4 [AS64] 26.2.23."""
    p = u if u < 0.5 else 1.0 - u
    t = math.sqrt(-2.0 * math.log(max(p, 1e-15)))
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    z = t - above / below
    return -z if u < 0.5 else z
