"""UCRL2 with restarts: forget everything now and then, for worlds that change abruptly.

[JOA10, Theorem 6] restarts at the steps ceil(i^3 / l^2) for l changes, with delta / l^2; the experiments of [CSZ20]
restart every floor(T^(2/3)) steps.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, JakschRadii, SinceRestart, require_restarts
from driftmdp.agents.reward_range import Range
from driftmdp.errors import InvalidInputError
from driftmdp.formulas.rounding import whole_part
from driftmdp.mdp import Space
from driftmdp.validation import as_integer, as_number


class UCRL2S(Optimist):
    """UCRL2 with restarts.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    period
        Restart every so many steps. By default floor(T^(2/3)), as in the experiments of [CSZ20].
    changes
        Instead of a period: how many changes l there are; restarts at ceil(i^3 / l^2), i = 1, 2, ..., and
        delta / l^2 in the radii [JOA10].
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the mean rewards; None: rewards are used as they are, without a cap.
    scale
        A factor on every radius; 1 is theory, which is vacuous at horizons of thousands of steps (docs/agents.md).
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``.
    ties
        ``"least-visited"`` or ``"first"``.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> from driftmdp.agents import UCRL2S
    >>> import driftmdp as dm
    >>> UCRL2S(dm.Space.uniform(2, 2), horizon=5000).period
    292
    >>> UCRL2S(dm.Space.uniform(2, 2), horizon=100, changes=2).memory.starts.tolist()
    [1, 2, 7, 16, 32, 54, 86]
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        period: int | None = None,
        changes: int | None = None,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        steps = as_integer(horizon, "horizon", minimum=1)
        share = 1.0 / steps if delta is None else as_number(delta, "delta", 0.0, 1.0)
        if changes is not None:
            if period is not None:
                raise InvalidInputError("period and changes must not both be given; they are two schedules.")
            changes = as_integer(changes, "changes", minimum=1)
            starts, share = restarts_for_changes(steps, changes), share / changes**2
        else:
            period, starts = periodic_restarts(steps, period)
        memory, confidence = SinceRestart(starts), JakschRadii(share, scale)
        super().__init__(space, horizon, memory, confidence, BY_DOUBLING, reward_range, planner, ties, seed)
        self.period, self.changes, self.delta, self.scale = period, changes, delta, scale


def periodic_restarts(horizon: int, period: int | None) -> tuple[int, NDArray[np.int64]]:
    """Return a period, by default floor(T^(2/3)), and the times of the first step after each restart."""
    chosen = max(1, whole_part(horizon ** (2 / 3))) if period is None else period
    period = as_integer(chosen, "period", minimum=1)
    require_restarts(horizon / period)
    return period, np.arange(1, horizon + 1, period)


def restarts_for_changes(horizon: int, changes: int) -> NDArray[np.int64]:
    """Return the distinct ceil(i^3 / l^2) up to the horizon."""
    require_restarts((horizon * changes**2) ** (1 / 3))
    starts = (-(-(i**3) // changes**2) for i in itertools.count(1))  # ceil(i^3 / changes^2), some of them repeated
    within = itertools.takewhile(lambda start: start <= horizon, starts)
    return np.array(list(dict.fromkeys(within)))
