"""Ranges of rewards: checked, and as the unit that rewards are measured in."""

from __future__ import annotations

from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem
from driftmdp.validation import LARGEST, as_number


def checked_range(bounds: Any, name: str = "reward_range") -> tuple[float, float] | None:
    """Return a range as two numbers, or None for the raw reading."""
    return None if bounds is None else _two_numbers(bounds, name, ", or None")


def required_range(bounds: Any, name: str = "reward_range") -> tuple[float, float]:
    """Return a range as two numbers, for agents that cannot do without."""
    return _two_numbers(bounds, name, "")


def _two_numbers(bounds: Any, name: str, also: str) -> tuple[float, float]:
    try:
        low, high = (as_number(bound, name, -LARGEST, LARGEST) for bound in bounds)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if low > high:
        raise InvalidInputError(
            f"{name} must be two finite numbers (lo, hi) with lo <= hi{also}; got {bounds!r}. Give the bounds of "
            "your rewards."
        )
    return low, high


def span_of(bounds: tuple[float, float] | None) -> float:
    """Return hi - lo, the unit of rewards; 1 where the range is one point, or there is none."""
    return bounds[1] - bounds[0] if bounds is not None and bounds[1] > bounds[0] else 1.0


def unit_variation(problem: Problem, reward_range: Any, budgets: str = "exact") -> float:
    """Return B_r of a problem's mean rewards in units of a range."""
    return problem.budget(budgets)[0] / span_of(checked_range(reward_range))
