"""The negative binomial law, by mean and dispersion: chances, tails and quantiles.

X has mean m and variance m + phi m^2. With r = 1 / phi, Pr(X = 0) = (r / (r + m))^r and

    Pr(X = x + 1) = Pr(X = x) (m / (r + m)) (x + r) / (x + 1).

Sums walk along this recursion. Where the walk would be long, X is close to a gamma variable of the same mean and
variance, whose cube root is nearly normal [WH31].
"""

import math

from driftmdp.compiler import kernel
from driftmdp.kernels.normal_law import normal_tail

LONGEST_WALK = 1500  # steps of a sum, beyond which the gamma law stands for the negative binomial
COARSE_MEAN = 64.0  # a large mean is drawn as this one and scaled, where the law is too wide for a cube root
NARROW_SHAPE = 8.0  # of a gamma law, from which on its cube root is normal to about a percent


@kernel
def log_gamma(z: float) -> float:
    """Return log Gamma(z) for z > 0, by Stirling's series from 8 on."""
    shift = 0.0
    while z < 8.0:
        shift += math.log(z)
        z += 1.0
    inverse = 1.0 / z
    series = inverse * (1.0 / 12.0 - inverse * inverse * (1.0 / 360.0 - inverse * inverse / 1260.0))
    return (z - 0.5) * math.log(z) - z + 0.9189385332046727 + series - shift


@kernel
def chance_of_none(mean: float, r: float) -> float:
    """Return Pr(X = 0)."""
    return math.exp(r * math.log(r / (r + mean)))


@kernel
def upper_tail(mean: float, r: float, y: int) -> tuple[float, float]:
    """Return Pr(X >= y), and the mean of X if it is at least y."""
    if y > LONGEST_WALK:
        return _wide_tail(mean, r, y)
    chance, ratio = chance_of_none(mean, r), mean / (r + mean)
    below, sum_below = 0.0, 0.0
    for x in range(y):
        below += chance
        sum_below += x * chance
        chance *= ratio * (x + r) / (x + 1.0)
    tail = max(1.0 - below, 1e-12)
    return tail, max(float(y), (mean - sum_below) / tail)


@kernel
def _wide_tail(mean: float, r: float, y: int) -> tuple[float, float]:
    """Return the same of the gamma law, whose mean above y is the mean times a tail of the next shape."""
    scale = 1.0 + mean / r
    shape = mean / scale
    tail = _gamma_tail(shape, y / scale)
    beyond = mean * _gamma_tail(shape + 1.0, y / scale) / tail - y
    # From y = 0 on, the mean distance beyond y goes from the mean to the scale, and stays between them.
    return tail, y + min(max(beyond, min(mean, scale)), max(mean, scale))


@kernel
def _gamma_tail(shape: float, x: float) -> float:
    third = 1.0 / (9.0 * shape)
    return max(normal_tail((math.pow(x / shape, 1.0 / 3.0) - 1.0 + third) / math.sqrt(third)), 1e-12)


@kernel
def quantile(mean: float, r: float, u: float, z: float) -> int:
    """Return the least x with Pr(X <= x) >= u. ``z`` is the standard normal quantile of u."""
    if mean <= 0.0:
        return 0
    shape = 1.0 / (1.0 / r + 1.0 / mean)
    if mean > COARSE_MEAN:
        if shape > NARROW_SHAPE:
            third = 1.0 / (9.0 * shape)
            root = 1.0 - third + z * math.sqrt(third)
            return int(mean * root * root * root + 0.5) if root > 0.0 else 0
        # The same relative variance at a mean that is short to walk.
        narrower = 1.0 / (1.0 / shape - 1.0 / COARSE_MEAN)
        return int(mean / COARSE_MEAN * _walk(COARSE_MEAN, narrower, u) + 0.5)
    return _walk(mean, r, u)


@kernel
def _walk(mean: float, r: float, u: float) -> int:
    chance, ratio = chance_of_none(mean, r), mean / (r + mean)
    below, x = chance, 0
    while below < u and x < LONGEST_WALK:
        chance *= ratio * (x + r) / (x + 1.0)
        x += 1
        below += chance
    return x
