"""Why an optimist takes an action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["ActionReason", "Explanation"]


@dataclass(frozen=True)
class ActionReason:
    """What the plan thinks of one action.

    Attributes
    ----------
    action
        Its number in the state.
    value
        The long-term average reward that it promises in the best plausible world: its optimistic value minus the
        state's, Upsilon(s, a) - u(s) of [CSZ20] alg:evi. The best action promises the plan's gain, to its residual.
    reward
        Its optimistic reward.
    count
        How many remembered steps took it, N.
    radius
        Of its plausible transitions, widening included; infinite if it was never seen.
    """

    action: int
    value: float
    reward: float
    count: int
    radius: float

    def __str__(self) -> str:
        text = f"action {self.action}: promises {self.value:.4g}"
        if self.count == 0:
            return f"{text}, never seen"
        return f"{text}, reward up to {self.reward:.4g}, seen {self.count} times, radius {self.radius:.3g}"


@dataclass(frozen=True)
class Explanation:
    """Why a plan takes its action in a state; print it."""

    state: int
    action: int
    actions: tuple[ActionReason, ...]
    planned_at: int
    gain: float
    widening: float
    scale: float
    ties: str

    @property
    def reason(self) -> str:
        """One sentence."""
        best = max(reason.value for reason in self.actions)
        tied = sum(reason.value >= best - 1e-9 * max(1.0, abs(best)) for reason in self.actions)
        if tied == 1:
            return f"Action {self.action} promises most."
        return (
            f"{tied} actions promise the same; action {self.action} is the {self.ties.replace('-', ' ')} of them."
        )

    def __str__(self) -> str:
        radius = [reason.radius for reason in self.actions if np.isfinite(reason.radius)]
        vacuous = " Every radius here is vacuous." if all(r >= 2 for r in radius) else ""
        return "\n".join(
            [
                f"state {self.state}, plan of t={self.planned_at}: {self.reason}{vacuous}",
                *(f"  {reason}" for reason in self.actions),
                f"  optimistic average reward {self.gain:.4g}, radii scaled by {self.scale:g}, widened by "
                f"{self.widening:g}",
            ]
        )
