"""Rewards in any unit: planning multiplies them by a power of two, and its answers by the inverse.

The tolerances of the kernels, and of HiGHS, are meant for rewards of a size around 1. A power of two changes no
digit of an answer. Rewards of a usual size are left alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError

USUAL = 2.0**-10, 2.0**20  # the largest reward, in size, that is left alone
LEAST, LARGEST = 1e-300, 1e300  # sizes of the largest reward that doubles, with sums of them, have room for


def unit_exponent(rewards: Any) -> int:
    """Return k such that rewards times 2^k suit the kernels; refuse what doubles have no room for."""
    size = float(np.abs(rewards).max())
    if size == 0.0 or USUAL[0] <= size <= USUAL[1]:
        return 0
    if not LEAST <= size <= LARGEST:
        rule, unit = (
            (f"at most {LARGEST:g}", "larger") if not size < 1.0 else (f"0 or at least {LEAST:g}", "smaller")
        )
        raise InvalidInputError(
            f"rewards must be {rule} in size for planning; got {size:g} as the largest. Use a {unit} unit."
        )
    return -math.frexp(size)[1]


def scaled(values: Any, exponent: int) -> Any:
    """Return numbers, or an array of them, times 2^exponent."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, exponent) if np.ndim(values) else float(np.ldexp(values, exponent))


def finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return an answer, or say that it overflowed."""
    if not np.isfinite(values).all():
        raise InvalidInputError(f"rewards must be smaller: {name} would be infinite. Use a larger unit.")
    return values
