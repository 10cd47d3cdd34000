"""Check a number of steps, and that a world of that length fits into memory."""

from __future__ import annotations

from typing import Any

from driftmdp.system import require_memory
from driftmdp.validation import as_integer

MAX_HORIZON = 2**31 - 2  # kernels count with int32
WORLD_BYTES_PER_STEP = 8  # while a world is made
BYTES_PER_WEIGHT = 32  # of a step that mixes anchors


def as_horizon(value: Any, n_weights: int = 0, name: str = "horizon") -> int:
    """Validate a number of steps T.

    Parameters
    ----------
    value, name
        The number, and what errors call it.
    n_weights
        How many weights a step has if it mixes anchors, 0 if it names one.

    Examples
    --------
    >>> from driftmdp.mdp.horizon import as_horizon
    >>> as_horizon(10**15)
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: horizon = 1,000,000,000,000,000 must fit into memory; it needs about ...
    """
    steps = as_integer(value, name, minimum=1)
    require_memory(steps * (WORLD_BYTES_PER_STEP + BYTES_PER_WEIGHT * n_weights), f"{name} = {steps:,}")
    return as_integer(steps, name, maximum=MAX_HORIZON)
