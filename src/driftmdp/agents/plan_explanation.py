"""The facts of a plan, the beliefs it was made from, and why it takes an action."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import brief

Reason = TypeVar("Reason")


class Reasons(tuple[Reason, ...]):
    """The estimates of every action in a state: a tuple, printed with one line for each."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(str(reason) for reason in self)


def times(count: int) -> str:
    """Return how often something was done, in words."""
    return "once" if count == 1 else f"{count:,} times"


def tried(count: int) -> str:
    """Return how often an action was tried, in words."""
    return f"tried {times(count)}" if count else "never tried"


@dataclass(frozen=True)
class Plan:
    """The facts of a plan.

    Attributes
    ----------
    t
        When it was made.
    gain
        The optimistic average reward, rho~ of [CSZ20] alg:evi, in units of the rewards.
    residual
        Width of the certificate, span(T u - u), in units of the rewards.
    sweeps
        Iterations that it took.
    vacuous
        Whether every radius was vacuous: nothing that is remembered mattered.
    method
        How it was made.
    """

    t: int
    gain: float
    residual: float
    sweeps: int
    vacuous: bool
    method: str


@dataclass(frozen=True)
class ActionReason:
    """The estimates of one action in a plan.

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
            return f"{text}, not remembered"
        return f"{text}, reward up to {self.reward:.4g}, seen {times(self.count)}, radius {self.radius:.3g}"


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The beliefs that a plan was made from, rewards in units of the agent's range.

    Attributes
    ----------
    planned_at
        tau, when it was made.
    gain, bias, policy, residual
        rho~, gamma~ (shape (S,)), pi~ (the action within each state, shape (S,)) and the width of the certificate.
    counts, rewards, radii
        N, r~ and the radius of the transitions, widening included, of every pair in the order of
        ``space.pair_states``; shape (n_pairs,). A pair never seen has an infinite radius.
    """

    planned_at: int
    gain: float
    residual: float
    counts: NDArray[np.float64]
    rewards: NDArray[np.float64]
    radii: NDArray[np.float64]
    bias: NDArray[np.float64]
    policy: NDArray[np.int32]

    __repr__ = brief


@dataclass(frozen=True)
class Explanation:
    """Why a plan takes its action in a state, to be printed.

    Attributes
    ----------
    state, action
        The state, and the action of the plan there.
    actions
        The estimates of each action.
    tied
        How many of them promise the most, to 1e-9 of the reward range.
    vacuous
        Whether every action here has the whole simplex as its plausible transitions.
    planned_at, gain
        When the plan was made, and its optimistic average reward.
    widening, scale, ties
        The agent's settings that it was made with.
    """

    state: int
    action: int
    actions: tuple[ActionReason, ...]
    tied: int
    vacuous: bool
    planned_at: int
    gain: float
    widening: float
    scale: float
    ties: str

    __repr__ = brief

    @property
    def reason(self) -> str:
        """One sentence."""
        if self.tied == 1:
            return f"Action {self.action} promises most."
        unseen = sum(reason.count == 0 for reason in self.actions)
        chosen = "the first" if self.ties == "first" or unseen > 1 else "the least visited"
        return f"{self.tied} actions promise the same; action {self.action} is {chosen} of them."

    def __str__(self) -> str:
        vacuous = " Every transition is plausible here." if self.vacuous else ""
        head = f"state {self.state}, plan of t={self.planned_at}: {self.reason}{vacuous}"
        settings = f"radii scaled by {self.scale:g}, widened by {self.widening:g}"
        foot = f"  optimistic average reward {self.gain:.4g}, {settings}"
        return "\n".join([head, *(f"  {reason}" for reason in self.actions), foot])
