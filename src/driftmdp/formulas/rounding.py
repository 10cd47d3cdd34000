"""Rounding down what is computed with rounding errors."""

import math


def whole_part(value: float) -> int:
    """Return the floor of a value that floating point may have left just below a whole number.

    Examples
    --------
    >>> from driftmdp.formulas.rounding import whole_part
    >>> 1000 ** (2 / 3), whole_part(1000 ** (2 / 3))
    (99.99999999999997, 100)
    """
    return math.floor(value * (1 + 1e-12))
