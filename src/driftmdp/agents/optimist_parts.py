"""The parts that an optimist is composed of: a memory, a confidence and a schedule.

===========  =============================================================  ========================================
part         choices                                                        meaning
===========  =============================================================  ========================================
memory       Everything, SlidingWindow(W), SinceRestart(starts, W)          which past steps are counted
confidence   PaperRadii, JakschRadii, VariationRadii, BernsteinRadii        how far estimates may be off
schedule     Doubling(every), VanishingMultiplicative(every)                when to plan again
===========  =============================================================  ========================================

Every radius is multiplied by ``scale`` and then widened: rad = scale * theory + widening.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.reward_range import Range, span_of
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.plan_arrays import OptimistParams, Phases
from driftmdp.mdp import Space
from driftmdp.validation import as_integer, as_list, as_number, as_table, as_vector

MOST_RESTARTS = 10_000_000


@dataclass(frozen=True)
class Everything:
    """Every step counts. Nothing is forgotten."""


@dataclass(frozen=True)
class SlidingWindow:
    """Only the last ``window`` steps count; [CSZ20] eq:N_sa."""

    window: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", as_integer(self.window, "window", minimum=1))


@dataclass(frozen=True, eq=False)
class SinceRestart:
    """Steps since the last restart count. Time, as the radii and the precision see it, restarts with it.

    Parameters
    ----------
    starts
        The times of the first step after each restart, increasing; the first is 1.
    window
        How many of the steps since the restart count, the last ones; by default all.
    """

    starts: NDArray[np.int64]
    window: int | None = None

    def __post_init__(self) -> None:
        times = as_list(self.starts, "starts", "a list of times")
        starts = np.array([as_integer(t, "starts", minimum=1) for t in times])
        if starts.size == 0 or starts[0] != 1 or (np.diff(starts) <= 0).any():
            raise InvalidInputError(f"starts must begin with 1 and increase; got {self.starts!r}.")
        object.__setattr__(self, "starts", starts)
        if self.window is not None:
            object.__setattr__(self, "window", as_integer(self.window, "window", minimum=1))


def require_restarts(count: float) -> None:
    """Refuse more restarts than can be listed."""
    if count > MOST_RESTARTS:
        rule = f"The horizon must have at most {MOST_RESTARTS:,} restarts"
        hint = "Take a shorter one, a longer period or fewer changes."
        raise InvalidInputError(f"{rule}; got about {count:.3g}. {hint}")


Memory: TypeAlias = Everything | SlidingWindow | SinceRestart
MEMORY_KINDS = Everything, SlidingWindow, SinceRestart


@dataclass(frozen=True)
class Doubling:
    """Plan again when a pair was visited as often in the episode as remembered before it.

    With ``every``, also when the time is a multiple of it, as in [CSZ20] alg:swr-ucrl2.
    """

    every: int | None = None

    def __post_init__(self) -> None:
        if self.every is not None:
            object.__setattr__(self, "every", as_integer(self.every, "every", minimum=1))


@dataclass(frozen=True)
class VanishingMultiplicative(Doubling):
    """Plan again when a pair's visits have grown by a factor 1 + f, and f = sqrt(ln(1 + t) / t) vanishes [BG25].

    t is the time of the plan. Doubling is f = 1 for ever: its episodes get longer and longer, also the bad ones.
    Here a bad plan is soon corrected, at the price of more plans, of the order of sqrt(T) for each pair.
    """


class RadiusConstants(NamedTuple):
    """The numbers of a confidence part: rad = sqrt(factor (log + power ln t + ln 1/delta) / N+)."""

    reward_factor: float
    reward_log: float
    transition_factor: float
    transition_log: float
    power: float
    bernstein: bool = False


@dataclass(frozen=True, eq=False)
class Confidence:
    """The parameters that every confidence has.

    Parameters
    ----------
    delta
        The probability of error; 1/T by default. A list has one for each phase of ``SinceRestart``.
    scale
        A factor on every radius; 1 is theory.
    widening
        Added to every transition radius: eta of [CSZ20] eq:Hp. A list has one for each phase.
    reward_widening
        Added to every reward radius, in units of the reward range if there is one.
    """

    delta: float | NDArray[np.float64] | None = None
    scale: float = 1.0
    widening: float | NDArray[np.float64] = 0.0
    reward_widening: float | NDArray[np.float64] = 0.0

    def __post_init__(self) -> None:
        if self.delta is not None:
            object.__setattr__(self, "delta", _each(self.delta, "delta", above_zero=True, maximum=1.0))
        object.__setattr__(self, "scale", as_number(self.scale, "scale", minimum=0.0))
        if self.scale == 0.0:
            raise InvalidInputError("scale must be positive; got 0. Without radii an optimist never explores.")
        for name in ("widening", "reward_widening"):
            object.__setattr__(self, name, _each(getattr(self, name), name))

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        raise NotImplementedError

    def log_delta(self, horizon: int) -> float | NDArray[np.float64]:
        """Return ln 1/delta."""
        return math.log(horizon) if self.delta is None else -np.log(self.delta)


class PaperRadii(Confidence):
    """rad_r = 2 sqrt(2 ln(SAT/delta) / N+), rad_p = 2 sqrt(2 S ln(SAT/delta) / N+); [CSZ20] eq:Hr, eq:Hp."""

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        log = math.log(space.n_pairs * horizon)
        return RadiusConstants(8.0, log, 8.0 * space.n_states, log, 0.0)


class JakschRadii(Confidence):
    """rad_r = sqrt(7 ln(2SAt/delta) / (2 N+)), rad_p = sqrt(14 S ln(2At/delta) / N+) [JOA10]."""

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        reward_log, transition_log = math.log(2 * space.n_pairs), math.log(2 * space.mean_actions)
        return RadiusConstants(3.5, reward_log, 14.0 * space.n_states, transition_log, 1.0)


class VariationRadii(Confidence):
    """sqrt(8 ln(8SAt^3/delta) / N+) for rewards, sqrt(8 S ln(8SAt^3/delta) / N+) for transitions [OGA19]."""

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        log = math.log(8 * space.n_pairs)
        return RadiusConstants(8.0, log, 8.0 * space.n_states, log, 3.0)


class BernsteinRadii(Confidence):
    """2 sqrt(variance L / N+) + 6 L / N+ with L = ln(6 SA N+/delta), for each next state [FPL20]."""

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        log = math.log(6 * space.n_pairs)
        return RadiusConstants(0.0, log, 0.0, log, 0.0, bernstein=True)


PARTS = *MEMORY_KINDS, Doubling, VanishingMultiplicative, PaperRadii, JakschRadii, VariationRadii, BernsteinRadii


def _each(value: Any, name: str, above_zero: bool = False, maximum: float | None = None) -> Any:
    """Return a number, or a vector of numbers, that is not negative."""
    several = as_table(value, name).ndim > 0
    numbers = as_vector(value, name) if several else [as_number(value, name)]
    for number in numbers:
        as_number(float(number), name, 0.0, maximum)
        if above_zero and number == 0.0:
            raise InvalidInputError(f"{name} must be positive; got 0.")
    return numbers if several else numbers[0]


BY_DOUBLING = Doubling()
EPISODES: dict[str, Doubling] = {"doubling": BY_DOUBLING, "vanishing": VanishingMultiplicative()}


def optimist_params(
    confidence: Confidence,
    space: Space,
    horizon: int,
    reward_range: Range | None,
    planner: str,
    ties: str,
    schedule: Doubling = BY_DOUBLING,
) -> OptimistParams:
    """Return the numbers that compiled code computes plans from."""
    return OptimistParams(
        scale=confidence.scale,
        **confidence.constants(space, horizon)._asdict(),
        ranged=reward_range is not None,
        bottom=0.0 if reward_range is None else reward_range[0],
        span=span_of(reward_range),
        first_tie=ties == "first",
        fast=planner == "fast",
        vanishing=isinstance(schedule, VanishingMultiplicative),
    )


def phases_of(memory: Memory, confidence: Confidence, schedule: Doubling, horizon: int) -> Phases:
    """Return the phases between restarts, and the settings of each."""
    starts = memory.starts if isinstance(memory, SinceRestart) else np.ones(1, np.int64)
    window = 0 if isinstance(memory, Everything) else memory.window or 0
    lengths = np.diff(starts, append=max(horizon, starts[-1]) + 1)
    by_phase = confidence.log_delta(horizon), confidence.reward_widening, confidence.widening
    try:
        return Phases(
            starts.astype(np.int64),
            np.where(window < lengths, window, 0),  # nothing leaves a window longer than its phase
            np.full(starts.size, schedule.every or 0),
            *(np.broadcast_to(value, starts.shape).astype(float) for value in by_phase),
        )
    except ValueError:
        rule = "delta, widening and reward_widening must be one number each"
        raise InvalidInputError(f"{rule}, or one for each of the {starts.size} phases.") from None
