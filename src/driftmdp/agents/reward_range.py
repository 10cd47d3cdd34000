"""Ranges of rewards: validated, used as the unit of rewards, and compared with the rewards seen live."""

from typing import Any, TypeAlias

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem
from driftmdp.validation import LARGEST, as_number, shown, warn

REWARDS_BEFORE_RANGE_CHECK = 20
Range: TypeAlias = tuple[float, float]  # (lo, hi)


def checked_range(bounds: Any, name: str = "reward_range") -> Range | None:
    """Return a range as two numbers, or None for the raw reading."""
    return None if bounds is None else required_range(bounds, name, ", or None")


def required_range(bounds: Any, name: str = "reward_range", also: str = "") -> Range:
    """Return a range as two numbers, for agents that cannot do without."""
    try:
        low, high = (as_number(bound, name, -LARGEST, LARGEST) for bound in bounds)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if low > high:
        rule = f"{name} must be two finite numbers (lo, hi) with lo <= hi{also}"
        raise InvalidInputError(f"{rule}; got {shown(bounds)}. Give the bounds of your rewards.")
    return low, high


def span_of(bounds: Range | None) -> float:
    """Return hi - lo, the unit of rewards; 1 where the range is one point, or there is none."""
    return bounds[1] - bounds[0] if bounds is not None and bounds[1] > bounds[0] else 1.0


def unit_variation(problem: Problem, reward_range: Any, budgets: str = "exact") -> float:
    """Return B_r of a problem's mean rewards in units of a range."""
    return problem.budget(budgets)[0] / span_of(checked_range(reward_range))


class RangeMonitor:
    """Warns once per range when the rewards seen live do not fit it.

    A warning waits until ``warn`` is called at the end of a step, so that an agent is never left with half a step.

    Attributes
    ----------
    n_rewards, total
        How many rewards were seen, and their sum.
    warned
        The names of the ranges that a warning was given for.
    pending
        Warnings that wait.
    """

    def __init__(self, warned: frozenset[str] = frozenset()) -> None:
        self.n_rewards, self.total, self.warned = 0, 0.0, warned
        self._n_beyond = 0  # rewards above the range less those below
        self.pending: list[str] = []

    def check_mean(self, name: str, bounds: Range, what: str, mean: float, effect: str) -> None:
        """Note a warning if a mean lies more than the width of its range outside of it."""
        width = span_of(bounds)
        if not bounds[0] - width <= mean <= bounds[1] + width:
            self._note(f"The mean {what} is {mean:g}, far outside", name, bounds, effect)

    def check_reward(self, reward: float, bounds: Range, effect: str) -> None:
        """Note a warning if the rewards so far are far outside of the range on average, or all on one side."""
        self.n_rewards, self.total = self.n_rewards + 1, self.total + reward
        if bounds[0] <= reward <= bounds[1]:
            return
        self._n_beyond += 1 if reward > bounds[1] else -1
        n, name = self.n_rewards, "reward_range"
        if n >= REWARDS_BEFORE_RANGE_CHECK:
            self.check_mean(name, bounds, f"of {n} rewards", self.total / n, effect)
        if n == REWARDS_BEFORE_RANGE_CHECK == abs(self._n_beyond):
            side = "above" if self._n_beyond > 0 else "below"
            self._note(f"All of the first {n} rewards are {side}", name, bounds, effect)

    def _note(self, fault: str, name: str, bounds: Range, effect: str) -> None:
        if name not in self.warned:
            self.warned |= {name}
            fault = f"{fault} {name} ({bounds[0]:g}, {bounds[1]:g})"
            self.pending.append(f"{fault}: {effect}. Make the agent with the range of your rewards.")

    def warn(self) -> None:
        """Give the warnings that were noted."""
        while self.pending:
            warn(self.pending.pop(0))
