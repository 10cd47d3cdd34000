"""How long a world lasts, and whether that fits into memory."""

from __future__ import annotations

from typing import Any

from driftmdp.system import require_memory
from driftmdp.validation import as_integer

MOST_STEPS = 2**31 - 2  # kernels count with int32
STEP_BYTES = 8  # for each step of a world, while it is made
WEIGHT_BYTES = 32  # for each weight of a step, where anchors are mixed


def as_horizon(value: Any, n_weights: int = 0, name: str = "horizon") -> int:
    """Return a number of steps T, or say what is wrong with it.

    Parameters
    ----------
    value, name
        What was given, and what errors call it.
    n_weights
        How many weights a step has if it mixes anchors; none if it names one.

    Examples
    --------
    >>> as_horizon(10**15)
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: horizon = 1,000,000,000,000,000 must fit into memory; it needs about ...
    """
    steps = as_integer(value, name, minimum=1)
    require_memory(steps * (STEP_BYTES + WEIGHT_BYTES * n_weights), f"{name} = {steps:,}")
    return as_integer(steps, name, maximum=MOST_STEPS)
