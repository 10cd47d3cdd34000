"""Rewards in any unit: planning multiplies them by a power of two, and divides its results by it.

The tolerances of the kernels, and of HiGHS, are meant for rewards of a size around 1. A power of two changes no
digit of a result. Rewards of a usual size are not scaled.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError

UNSCALED_RANGE = 2.0**-10, 2.0**20  # sizes of the largest reward at which no scaling is needed
SMALLEST_SIZE, LARGEST_SIZE = 1e-300, 1e300  # of the largest reward, so that sums do not overflow


def unit_exponent(rewards: Any) -> int:
    """Return k such that rewards times 2^k suit the kernels. Raise if double precision cannot hold their sums."""
    size = float(np.abs(rewards).max())
    if size == 0.0 or UNSCALED_RANGE[0] <= size <= UNSCALED_RANGE[1]:
        return 0
    if not SMALLEST_SIZE <= size <= LARGEST_SIZE:
        large = not size < 1.0
        rule = f"at most {LARGEST_SIZE:g}" if large else f"0 or at least {SMALLEST_SIZE:g}"
        unit = "larger" if large else "smaller"
        raise InvalidInputError(
            f"rewards must be {rule} in size for planning; got {size:g} as the largest. Use a {unit} unit."
        )
    return -math.frexp(size)[1]


def scaled(values: Any, exponent: int) -> Any:
    """Return numbers, or an array of them, times 2^exponent."""
    unit = 2.0**exponent  # exact: the sizes that unit_exponent accepts keep it far from overflow
    if np.ndim(values) == 0:
        return float(values) * unit
    with np.errstate(over="ignore", under="ignore"):
        return values * unit


def finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return ``values``, or raise if they overflowed."""
    if not np.isfinite(values).all():
        raise InvalidInputError(f"rewards must be smaller: {name} would be infinite. Use a larger unit.")
    return values
