"""Medians of several runs, taken in turns so that the noise of the machine affects all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias, TypeVar

__all__ = ["Task", "fastest", "medians", "seconds_of", "timed"]

Key = TypeVar("Key", bound=Hashable)

Task: TypeAlias = Callable[[], float]
"""A callable that runs something and returns how many seconds the part that counts took."""


def seconds_of(function: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def timed(function: Callable[[], object], calls: int = 1) -> Task:
    """Return a task that times the whole call, or the mean of ``calls`` calls in a row.

    Calls of well under a millisecond are repeated in a row, as in real use. One call after something long would
    measure cold caches.
    """

    def task() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - start) / calls

    return task


def medians(tasks: Mapping[Key, Task], repeats: int, warm_up: bool = True) -> dict[Key, float]:
    """Return the median seconds of each task over ``repeats`` rounds of all, after a round that does not count."""
    if warm_up:
        for task in tasks.values():
            task()
    rounds = [{key: task() for key, task in tasks.items()} for _ in range(repeats)]
    return {key: statistics.median(times[key] for times in rounds) for key in tasks}


def fastest(seconds: Mapping[Key, float]) -> tuple[Key, float]:
    """Return the key with the least time, and that time."""
    return min(seconds.items(), key=lambda item: item[1])
