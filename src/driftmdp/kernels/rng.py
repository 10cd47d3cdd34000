"""Random numbers in compiled code: xoshiro256++ [BV21] and the laws that posteriors are made of.

The state is four uint64, seeded from numpy's generator and changed in place by every draw.
"""

from __future__ import annotations

import math

import numpy as np

from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.posterior_arrays import Bits

UNIT = 2.0**-53
ELEVEN, SEVENTEEN, NINETEEN = np.uint64(11), np.uint64(17), np.uint64(19)
TWENTY_THREE, FORTY_FIVE, FORTY_ONE = np.uint64(23), np.uint64(45), np.uint64(41)


@inlined_kernel
def next_bits(draws: Bits) -> np.uint64:
    """Return 64 random bits: xoshiro256++."""
    a, b, c, d = draws[0], draws[1], draws[2], draws[3]
    mixed = a + d
    found = ((mixed << TWENTY_THREE) | (mixed >> FORTY_ONE)) + a
    c ^= a
    d ^= b
    draws[1] = b ^ c
    draws[0] = a ^ d
    draws[2] = c ^ (b << SEVENTEEN)
    draws[3] = (d << FORTY_FIVE) | (d >> NINETEEN)
    return found


@inlined_kernel
def uniform(draws: Bits) -> float:
    """Return a number between 0 and 1, never one of them."""
    return (float(next_bits(draws) >> ELEVEN) + 0.5) * UNIT


@inlined_kernel
def exponential(draws: Bits) -> float:
    """Return a number with the exponential law of mean 1."""
    return -math.log(uniform(draws))


@lean_kernel
def normal(draws: Bits) -> float:
    """Return a standard normal number: Marsaglia's polar method, of which one of the two is used."""
    while True:
        x, y = 2.0 * uniform(draws) - 1.0, 2.0 * uniform(draws) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@lean_kernel
def gamma(draws: Bits, shape: float) -> float:
    """Return a number with the gamma law of a shape of at least 1, scale 1 [MT00]."""
    if shape == 1.0:
        return exponential(draws)
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(draws)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = uniform(draws)
            if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v


@lean_kernel
def beta(draws: Bits, a: float, b: float) -> float:
    """Return a number with the beta law of shapes of at least 1."""
    x = gamma(draws, a)
    return x / (x + gamma(draws, b))
