"""From which horizon on a regret bound says something: the T from which on it is below T."""

import math
from collections.abc import Callable
from numbers import Real

import numpy as np

from driftmdp.errors import InvalidInputError

LARGEST_HORIZON = 2**62
BOUND_EXAMPLE = "For example: lambda t: stationary(space, t, diameter=1, explicit=True)."


def useful_horizon(bound: Callable[[int], float]) -> float:
    """Return the least horizon T from which on a bound is below T, within 1%. Below that horizon it is vacuous.

    Infinity if there is none up to 4.6e18, as far as T can be counted.

    Parameters
    ----------
    bound
        A bound as a function of T alone, whose ratio to T is above 1 at first and then falls. The first power of 2
        at which the ratio is below 1 is found, then refined by bisection.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import stationary, theorem_2, useful_horizon
    >>> space = Space.uniform(2, 2)
    >>> f"{useful_horizon(lambda t: stationary(space, t, diameter=1.0, explicit=True)):.1e}"
    '6.4e+05'
    >>> f"{useful_horizon(lambda t: theorem_2(space, t, b_r=1.0, b_p=1.0, diameter=1.0, explicit=True)):.1e}"
    '5.2e+12'
    """
    share = _share_of(bound)
    high = 2
    while share(high) >= 1:
        if high >= LARGEST_HORIZON:
            return math.inf
        high *= 2
    low = high // 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if share(middle) < 1 else (middle, high)
    return high


def _share_of(bound: Callable[[int], float]) -> Callable[[int], float]:
    """Return a bound as a share of T, checked."""
    if not callable(bound):
        raise InvalidInputError(f"bound must be a function of T; got {bound!r}. {BOUND_EXAMPLE}")

    def share(t: int) -> float:
        value = bound(t)
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real | np.number) or not value >= 0:
            rule = "bound must return a number from 0 on"
            raise InvalidInputError(f"{rule}; got {value!r} at T = {t}. {BOUND_EXAMPLE}")
        return float(value) / t

    return share
