"""The largest mean over a Kullback-Leibler ball { q : KL(p^, q) <= R }, the inner maximum of KL-UCRL [FCG10].

With nu above every value, f(nu) = sum p^ log(nu - u) + log sum p^ / (nu - u) falls from infinity to 0. Where the
best state was never observed and f(u_top) < R, it takes the mass 1 - exp(f(u_top) - R), and nu = u_top. Otherwise
f(nu) = R. In both cases the observed next states share the rest in proportion to p^ / (nu - u).

Here nu = v + y, with v the largest observed value and w = v - u, so that with s = y / (y + w), between 0 and 1,
f = log sum p^ s - sum p^ log s, and the mean of the observed states is v - sum p^ s w / sum p^ s. No term
overflows.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats
from driftmdp.kernels.plan_arrays import PlausibleSets

LEAST_LOG = -700.0  # of y: below, the best observed state has all the mass
NEGLIGIBLE = 40.0  # e^-40 of a mass is less than rounding
CLOSE = 1e-13  # relative, of y
LEAST_RADIUS = 1e-14  # below, f cannot be told from its rounding
LEAST_SQUARE = 1e-300  # of values, so that there is a logarithm
MOST_STEPS = 100


@kernel
def maximize_kl_ball(sets: PlausibleSets, row: int, u: Floats, top: float) -> float:
    """Return max q'u over the ball of a row. ``top`` is the largest of all u, [FCG10] MaxKL."""
    first = sets.indptr[row]
    last = first + sets.support[row]
    radius, high, low = sets.radius[row], -np.inf, np.inf
    for z in range(first, last):
        high, low = max(high, u[sets.indices[z]]), min(low, u[sets.indices[z]])
    if high == low:  # f is 0 wherever nu is
        return top - math.exp(-radius) * (top - high)
    start = LEAST_LOG
    if top > high:
        # f(top) is at most the logarithm of this ratio, so often nothing of it need be summed up.
        if radius - math.log((top - low) / (top - high)) > NEGLIGIBLE:
            return top
        divergence, _, mean = tilt(sets, row, u, high, top - high)
        if divergence < radius:
            return top - math.exp(divergence - radius) * (top - mean)
        start = math.log(top - high)
    return solve_dual(sets, row, u, high, start)


@kernel
def tilt(sets: PlausibleSets, row: int, u: Floats, high: float, y: float) -> tuple[float, float, float]:
    """Return f at nu = high + y, its derivative by log y, and the mean of u under p^ / (nu - u)."""
    first = sets.indptr[row]
    total, squares, logs, gap = 0.0, 0.0, 0.0, 0.0
    for z in range(first, first + sets.support[row]):
        w = high - u[sets.indices[z]]
        s = y / (y + w)
        mass = sets.data[z] * s
        total += mass
        squares += mass * s
        gap += mass * w
        logs += sets.data[z] * math.log(s)
    return math.log(total) - logs, total - squares / total, high - gap / total


@kernel
def solve_dual(sets: PlausibleSets, row: int, u: Floats, high: float, low_log: float) -> float:
    """Return the mean at f(nu) = R, which is at log y >= ``low_log``: Newton's steps within a bracket."""
    first, radius = sets.indptr[row], sets.radius[row]
    mean, squares = 0.0, 0.0
    for z in range(first, first + sets.support[row]):
        w = high - u[sets.indices[z]]
        mean += sets.data[z] * w
        squares += sets.data[z] * w * w
    variance = max(squares - mean * mean, LEAST_SQUARE)
    # f is about variance / (2 nu^2) far from the values, [FCG10]: where the search begins.
    if radius < LEAST_RADIUS:
        return min(high, high - mean + math.sqrt(2.0 * radius * variance))
    x = max(0.5 * (math.log(variance) - math.log(2.0 * radius)), low_log)
    # f is at most E w^2 / y^2, because log z <= z - 1 and 1 / (1 + z) <= 1 - z + z^2.
    above = 0.5 * (math.log(max(squares, LEAST_SQUARE)) - math.log(radius))
    found = high
    for _ in range(MOST_STEPS):
        divergence, slope, found = tilt(sets, row, u, high, math.exp(x))
        if divergence > radius:
            low_log = x
        else:
            above = x
        step = x - (divergence - radius) / slope if slope < 0.0 else np.inf
        if not low_log <= step <= above:
            step = 0.5 * (low_log + above)
        if abs(step - x) <= CLOSE:
            break
        x = step
    return found
