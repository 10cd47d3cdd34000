"""The index of kl-UCB for rewards in [0, 1]: the largest mean that the rewards of an arm do not contradict.

The divergence of Bernoulli laws, kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)), serves for all rewards in
[0, 1]: no law on [0, 1] deviates from its mean more easily.
"""

import math

from driftmdp.compiler import kernel

PRECISION = 1e-14  # of a bound: a smaller step of Newton's method is rounding
MOST_STEPS = 100  # of Newton's method, which needs about six


@kernel
def bernoulli_kl(p: float, q: float) -> float:
    """Return kl(p, q) of two Bernoulli laws. If q is 0 or 1, p is the same up to rounding, and it is 0."""
    divergence = 0.0
    if q <= 0.0 or q >= 1.0:
        return divergence
    if p > 0.0:
        divergence += p * math.log(p / q)
    if p < 1.0:
        divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return divergence


@kernel
def kl_upper_bound(p: float, level: float) -> float:
    """Return the largest q in [p, 1] with kl(p, q) <= level."""
    if p >= 1.0:
        return 1.0
    if p <= 0.0:
        return -math.expm1(-level)
    # Both are at or above the root: by Pinsker's inequality, and as p ln(p / q) >= p ln p.
    q = min(p + math.sqrt(0.5 * level), 1.0 - (1.0 - p) * math.exp((p * math.log(p) - level) / (1.0 - p)))
    # kl is convex in q, so from above each step of Newton's method stays above, and comes nearer.
    for _ in range(MOST_STEPS):
        if q >= 1.0 or q <= p:
            break
        step = (bernoulli_kl(p, q) - level) * q * (1.0 - q) / (q - p)
        q -= step
        if step <= PRECISION:
            break
    return min(max(q, p), 1.0)
