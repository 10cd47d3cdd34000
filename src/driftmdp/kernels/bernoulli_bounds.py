"""Time-uniform bounds of UCRL3 [BMT20] on a probability and on a mean reward, from n visits.

Each is the tighter of two. One is Bernstein's inequality with peeling: |q - p^| <= sqrt(2 q (1 - q) a) + a / 3. The
other is the method of Laplace for sub-Gaussian variables: |q - p^| <= sqrt(c g(q)), with the variance factor g of a
Bernoulli variable. ``peeling`` returns a and ``laplace`` returns c. ``share`` is ln 1/d, the level of one bound.
"""

import math

from driftmdp.compiler import kernel

ETA = 1.12  # of the peeling [BMT20]
HALVINGS = 60


@kernel
def peeling(n: float, share: float) -> float:
    """Return a, the exponent of the peeled bound over n."""
    log = math.log(ETA)
    # (ln n + ln eta) (ln n + 2 ln eta) / ln^2 eta / d, as a sum of logarithms: d may be tiny.
    return ETA * (math.log((math.log(n) / log + 1.0) * (math.log(n) / log + 2.0)) + share) / n


@kernel
def laplace(n: float, share: float) -> float:
    """Return c of a Bernoulli variable."""
    return 2.0 * (1.0 + 1.0 / n) * (math.log(2.0 * math.sqrt(n + 1.0)) + share) / n


@kernel
def reward_bound(n: float, variance: float, share: float) -> float:
    """Return how far a mean reward in [0, 1] may be above the mean of n rewards."""
    a = peeling(n, share)
    bernstein = math.sqrt(2.0 * max(variance, 0.0) * a) + 7.0 * a / 3.0
    hoeffding = math.sqrt((1.0 + 1.0 / n) * (0.5 * math.log(n + 1.0) + share) / (2.0 * n))
    return min(bernstein, hoeffding)


@kernel
def variance_factor(q: float) -> float:
    """Return g(q) = (1/2 - q) / ln(1/q - 1), by which a Bernoulli variable is sub-Gaussian."""
    if q <= 0.0 or q >= 1.0:
        return 0.0
    # At 1/2 it is 0 / 0. Near it, its series is exact to rounding.
    if abs(q - 0.5) < 1e-4:
        return 0.25 - (q - 0.5) * (q - 0.5) / 3.0
    return (0.5 - q) / math.log(1.0 / q - 1.0)


@kernel
def quadratic_end(p: float, shift: float, factor: float, sign: float) -> float:
    """Return the q at which |q - p| = shift + sqrt(factor q (1 - q)), above p for sign 1, below for -1."""
    y = p + sign * shift
    if sign > 0.0 and y >= 1.0:
        return 1.0
    if sign < 0.0 and y <= 0.0:
        return 0.0
    root = math.sqrt(factor * (factor + 4.0 * y * (1.0 - y)))
    return (2.0 * y + factor + sign * root) / (2.0 * (1.0 + factor))


@kernel
def upper_bound(p: float, a: float, c: float, scale: float) -> float:
    """Return the largest plausible q. Radii are multiplied by ``scale``."""
    if p >= 1.0:
        return 1.0
    c *= scale * scale
    bernstein = quadratic_end(p, scale * a / 3.0, 2.0 * scale * scale * a, 1.0)
    # Above 1/2 the variance itself takes the place of g. There the end is a root of a quadratic too.
    if (0.5 - p) * (0.5 - p) <= 0.25 * c or p >= 0.5:
        return min(bernstein, quadratic_end(p, 0.0, c, 1.0))
    low, high = p, 0.5
    if bernstein < high:
        if (bernstein - p) * (bernstein - p) <= c * variance_factor(bernstein):
            return bernstein
        high = bernstein
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if (middle - p) * (middle - p) <= c * variance_factor(middle):
            low = middle
        else:
            high = middle
    return low


@kernel
def lower_bound(p: float, a: float, c: float, scale: float) -> float:
    """Return the smallest plausible q."""
    if p <= 0.0:
        return 0.0
    c *= scale * scale
    low, high = quadratic_end(p, scale * a / 3.0, 2.0 * scale * scale * a, -1.0), p
    if (p - low) * (p - low) <= c * variance_factor(low):
        return low
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if (p - middle) * (p - middle) <= c * variance_factor(middle):
            high = middle
        else:
            low = middle
    return high
