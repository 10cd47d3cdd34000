"""Bounds of others that [CSZ20] quotes, without constants and logarithms; part of ``formulas.bounds``.

They are as printed there; the papers that they come from were not at hand.
"""

from __future__ import annotations

import math

from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_integer, as_number

__all__ = ["lower_bound", "piecewise_stationary", "ucrl2b"]


def lower_bound(space: Space, horizon: int, diameter: float) -> float:
    """Return sqrt(D S A T): no algorithm has less regret on every MDP that stands still, up to a constant.

    [JOA10], as quoted in [CSZ20] Section 3, "RL in Stationary MDPs".

    Examples
    --------
    >>> lower_bound(Space.uniform(2, 8), 10_000, diameter=4.0)
    800.0
    """
    t, d = as_integer(horizon, "horizon", minimum=1), as_number(diameter, "diameter", minimum=0.0)
    return math.sqrt(d * as_space(space).n_pairs * t)


def ucrl2b(space: Space, horizon: int, diameter: float) -> float:
    """Return S sqrt(D A T) + D^2 S^2 A, the bound of UCRL2B in a world that stands still.

    [FPL20], as quoted in [CSZ20] Section 3, "RL in Stationary MDPs".

    Examples
    --------
    >>> ucrl2b(Space.uniform(2, 4), 10_000, diameter=4.0)
    1056.0
    """
    t, d = as_integer(horizon, "horizon", minimum=1), as_number(diameter, "diameter", minimum=0.0)
    states, actions = as_space(space).n_states, space.mean_actions
    return states * math.sqrt(d * actions * t) + d * d * states**2 * actions


def piecewise_stationary(space: Space, horizon: int, changes: int, diameter: float) -> float:
    """Return l^(1/3) D^(2/3) S^(2/3) A^(1/3) T^(2/3), for a world that changes at most l times, at once.

    [GOA18], as quoted in [CSZ20] Section 6 (sec:cw_disc). Without a change it is 0, which no regret is: use
    ``stationary`` there.

    Examples
    --------
    >>> round(piecewise_stationary(Space.uniform(8, 1), 1000, changes=1, diameter=8.0))
    1600
    """
    t, d = as_integer(horizon, "horizon", minimum=1), as_number(diameter, "diameter", minimum=0.0)
    count, steps = as_integer(changes, "changes", minimum=0), d * as_space(space).n_states * t
    return math.cbrt(count * steps * steps * space.mean_actions)
