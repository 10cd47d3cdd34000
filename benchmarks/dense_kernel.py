"""A compiled yardstick for extended value iteration: dense rows and plain sweeps, as it is usually written.

It sorts the states once per sweep, takes the whole dense row of every pair, and sweeps until the span of the change
is within the precision. Like the package's kernels it has no ``fastmath``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.yardsticks import Swept

__all__ = ["dense_sweeps"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def dense_sweeps(
    rewards: Floats, p_hat: Floats, radius: Floats, precision: float, by_insertion: bool = False
) -> Swept:
    """Sweep from zero until the span of the change is within the precision.

    ``by_insertion`` sorts by insertion into the last sweep's order instead of with ``np.argsort``, which saves
    the allocations. It matters only where there are very few states. All states must have the same actions.
    """
    start = time.perf_counter()
    low, high, sweeps = _sweeps(rewards, p_hat, radius, precision, by_insertion)
    return Swept((low + high) / 2, high - low, sweeps, time.perf_counter() - start)


def _sort_by_insertion(values: Floats, order: Ints) -> None:
    for i in range(1, order.size):
        s, j = order[i], i
        while j > 0 and values[order[j - 1]] > values[s]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = s


def _optimistic_mean(p_hat: Floats, pair: int, radius: float, values: Floats, order: Ints) -> float:
    """Return the largest mean of ``values`` within the L1 ball around a pair's dense row."""
    n_states = values.size
    best = order[n_states - 1]
    left = min(radius / 2, 1.0 - p_hat[pair, best])
    mean = left * values[best]
    for s in range(n_states):
        mean += p_hat[pair, s] * values[s]
    rank = 0
    while left > 0.0 and rank < n_states:
        worst = order[rank]
        taken = min(left, p_hat[pair, worst])
        mean -= taken * values[worst]
        left -= taken
        rank += 1
    return float(mean)


def _sweep(
    rewards: Floats, p_hat: Floats, radius: Floats, precision: float, by_insertion: bool
) -> tuple[float, float, int]:
    n_states = p_hat.shape[1]
    n_actions = rewards.size // n_states
    values, following, order, sweeps = np.zeros(n_states), np.zeros(n_states), np.arange(n_states), 0
    while True:
        if by_insertion:
            _sorted(values, order)
        else:
            order = np.argsort(values)
        low, high = np.inf, -np.inf
        for s in range(n_states):
            top = -np.inf
            for pair in range(s * n_actions, (s + 1) * n_actions):
                top = max(top, rewards[pair] + _mean(p_hat, pair, radius[pair], values, order))
            following[s] = top
            low, high = min(low, top - values[s]), max(high, top - values[s])
        sweeps += 1
        if high - low <= precision:
            return low, high, sweeps
        least = following.min()
        for s in range(n_states):
            values[s] = following[s] - least


_compiled: Callable[..., Any] = numba.njit(cache=True)
_sorted = _compiled(_sort_by_insertion)
_mean = _compiled(_optimistic_mean)
_sweeps = _compiled(_sweep)
