"""What bandits ask of the space and the reward range that they are made with."""

from __future__ import annotations

from typing import Any

from driftmdp.agents.composition import checked_range
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem, Space

__all__ = ["bandit_range", "n_arms_of", "span_of", "variation_of"]


def n_arms_of(space: Space, name: str) -> int:
    """Return the number of arms of a space with one state."""
    if not isinstance(space, Space):
        raise InvalidInputError(f"space must be a Space; got {space!r}. Write Space.uniform(1, n_arms).")
    if space.n_states != 1:
        raise InvalidInputError(
            f"{name} must have a space of one state, a bandit; got {space.n_states} states. For several states use "
            "SWUCRL2CW, BORL or another agent for MDPs."
        )
    return space.n_pairs


def bandit_range(reward_range: Any) -> tuple[float, float]:
    """Return bounds on the rewards, which bandits cannot do without."""
    bounds = checked_range(reward_range)
    if bounds is None:
        raise InvalidInputError("reward_range must be two finite numbers (lo, hi) for a bandit; got None.")
    return bounds


def span_of(bounds: tuple[float, float]) -> float:
    """Return hi - lo, or 1 where the range is one point."""
    return bounds[1] - bounds[0] if bounds[1] > bounds[0] else 1.0


def variation_of(problem: Problem, reward_range: Any) -> float:
    """Return B_r of a problem's means mapped to [0, 1]."""
    return problem.drifting.variation().reward / span_of(bandit_range(reward_range))
