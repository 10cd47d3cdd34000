"""Regret bounds: what the paper prints inside its big-O, without constants and logarithms.

They say how regret grows, not how large it is: at the horizons people have, the constants make the bounds
vacuous. Only ``benchmark_gap`` has explicit constants.

======  ==========================================
symbol  meaning
======  ==========================================
S, A    states; pairs per state
T       horizon
B_r     variation budget of rewards
B_p     variation budget of transitions
D       D_max, or 1/zeta for Theorems 3 and 4
W, eta  window and widening
======  ==========================================
"""

from __future__ import annotations

import math

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Space
from driftmdp.validation import as_number

__all__ = ["bandit", "benchmark_gap", "theorem_1", "theorem_1_tuned", "theorem_2", "theorem_3", "theorem_4"]


def benchmark_gap(diameter: float, horizon: int, b_r: float, b_p: float) -> float:
    """Return how far the oracle may fall below the true optimum, [CSZ20] Proposition 1, corrected.

    4 (D + 1) sqrt((B_r + 2 D B_p) T), plus 2 D where (B_r + 2 D B_p) T < 1 (docs/paper-notes.md, item 20). The
    proposition asks for T >= B_r + 2 D B_p > 0.

    Examples
    --------
    >>> benchmark_gap(diameter=1, horizon=100, b_r=1, b_p=0)
    80.0
    """
    d, t, br, bp = _checked(diameter=diameter, horizon=horizon, b_r=b_r, b_p=b_p)
    drift = (br + 2 * d * bp) * t
    return 4 * (d + 1) * math.sqrt(drift) + (2 * d if drift < 1 else 0.0)


def theorem_1(
    space: Space, horizon: int, b_r: float, b_p: float, diameter: float, window: float, widening: float
) -> float:
    """Return the order of SWUCRL2-CW's dynamic regret for any window and widening.

    B_p W / eta + B_r W + sqrt(SA) T / sqrt(W) + D (B_p W + S sqrt(A) T / sqrt(W) + T eta + SAT / W + sqrt(T)).
    """
    t, br, bp, d, eta = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter, widening=widening)
    w = _positive(window, "window")
    pairs, root = space.n_pairs, math.sqrt(w)
    lost = 0.0 if bp == 0 else math.inf if eta == 0 else bp * w / eta
    estimation = space.n_states * math.sqrt(space.mean_actions) * t / root
    inner = bp * w + estimation + t * eta + pairs * t / w + math.sqrt(t)
    return lost + br * w + math.sqrt(pairs) * t / root + d * inner


def theorem_1_tuned(space: Space, horizon: int, b_r: float, b_p: float, diameter: float) -> float:
    """Return D (B_r + B_p)^(1/4) S^(2/3) A^(1/2) T^(3/4)."""
    t, br, bp, d = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter)
    return d * _size(space) * math.pow(br + bp, 1 / 4) * math.pow(t, 3 / 4)


def theorem_2(space: Space, horizon: int, b_r: float, b_p: float, diameter: float) -> float:
    """Return BORL's order, D (B_r + B_p + 1)^(1/4) S^(2/3) A^(1/2) T^(3/4)."""
    t, br, bp, d = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter)
    return d * _size(space) * math.pow(br + bp + 1, 1 / 4) * math.pow(t, 3 / 4)


def theorem_3(space: Space, horizon: int, b_r: float, b_p: float, zeta: float) -> float:
    """Return (1/zeta) (B_r + B_p + 1)^(1/3) S^(2/3) A^(1/2) T^(2/3), for transitions of at least zeta."""
    t, br, bp = _checked(horizon=horizon, b_r=b_r, b_p=b_p)
    return _size(space) * math.pow(br + bp + 1, 1 / 3) * math.pow(t, 2 / 3) / _positive(zeta, "zeta")


def theorem_4(space: Space, horizon: int, b_r: float, b_p: float, zeta: float) -> float:
    """Return (1/zeta) (B_r + B_p + 1)^(1/3) S T^(2/3), for inventory."""
    t, br, bp = _checked(horizon=horizon, b_r=b_r, b_p=b_p)
    return space.n_states * math.pow(br + bp + 1, 1 / 3) * math.pow(t, 2 / 3) / _positive(zeta, "zeta")


def bandit(n_arms: int, horizon: int, b_r: float) -> float:
    """Return B_r^(1/3) A^(1/3) T^(2/3), the order for S = 1."""
    arms, t, br = _checked(n_arms=n_arms, horizon=horizon, b_r=b_r)
    return math.pow(br * arms, 1 / 3) * math.pow(t, 2 / 3)


def _size(space: Space) -> float:
    return math.pow(space.n_states, 2 / 3) * math.sqrt(space.mean_actions)


def _checked(**values: float) -> list[float]:
    """Return the values, none negative."""
    return [as_number(value, name, minimum=0.0) for name, value in values.items()]


def _positive(value: float, name: str) -> float:
    number = as_number(value, name, minimum=0.0)
    if number == 0:
        raise InvalidInputError(f"{name} must be positive; got 0.")
    return number
