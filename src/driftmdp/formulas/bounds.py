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

from driftmdp.mdp import Space

__all__ = ["bandit", "benchmark_gap", "theorem_1", "theorem_1_tuned", "theorem_2", "theorem_3", "theorem_4"]


def benchmark_gap(diameter: float, horizon: int, b_r: float, b_p: float) -> float:
    """Return how far the oracle may fall below the true optimum, [CSZ20] Proposition 1, corrected.

    4 (D + 1) sqrt((B_r + 2 D B_p) T), plus 2 D where (B_r + 2 D B_p) T < 1 (docs/paper-notes.md, item 20).
    """
    drift = (b_r + 2 * diameter * b_p) * horizon
    return 4 * (diameter + 1) * math.sqrt(drift) + (2 * diameter if drift < 1 else 0.0)


def theorem_1(
    space: Space, horizon: int, b_r: float, b_p: float, diameter: float, window: float, widening: float
) -> float:
    """Return the order of SWUCRL2-CW's dynamic regret for any window and widening.

    B_p W / eta + B_r W + sqrt(SA) T / sqrt(W) + D (B_p W + S sqrt(A) T / sqrt(W) + T eta + SAT / W + sqrt(T)).
    """
    pairs, t, root = space.n_pairs, horizon, math.sqrt(window)
    lost = 0.0 if b_p == 0 else math.inf if widening == 0 else b_p * window / widening
    inner = (
        b_p * window
        + space.n_states * math.sqrt(space.mean_actions) * t / root
        + t * widening
        + pairs * t / window
        + math.sqrt(t)
    )
    return lost + b_r * window + math.sqrt(pairs) * t / root + diameter * inner


def theorem_1_tuned(space: Space, horizon: int, b_r: float, b_p: float, diameter: float) -> float:
    """Return D (B_r + B_p)^(1/4) S^(2/3) A^(1/2) T^(3/4)."""
    return float(diameter * (b_r + b_p) ** 0.25 * _size(space) * horizon**0.75)


def theorem_2(space: Space, horizon: int, b_r: float, b_p: float, diameter: float) -> float:
    """Return BORL's order, D (B_r + B_p + 1)^(1/4) S^(2/3) A^(1/2) T^(3/4)."""
    return float(diameter * (b_r + b_p + 1) ** 0.25 * _size(space) * horizon**0.75)


def theorem_3(space: Space, horizon: int, b_r: float, b_p: float, zeta: float) -> float:
    """Return (1/zeta) (B_r + B_p + 1)^(1/3) S^(2/3) A^(1/2) T^(2/3), for transitions that are never below zeta."""
    return float((b_r + b_p + 1) ** (1 / 3) * _size(space) * horizon ** (2 / 3) / zeta)


def theorem_4(space: Space, horizon: int, b_r: float, b_p: float, zeta: float) -> float:
    """Return (1/zeta) (B_r + B_p + 1)^(1/3) S T^(2/3), for inventory."""
    return float((b_r + b_p + 1) ** (1 / 3) * space.n_states * horizon ** (2 / 3) / zeta)


def bandit(n_arms: int, horizon: int, b_r: float) -> float:
    """Return B_r^(1/3) A^(1/3) T^(2/3), the order for S = 1."""
    return float((b_r * n_arms) ** (1 / 3) * horizon ** (2 / 3))


def _size(space: Space) -> float:
    return float(space.n_states ** (2 / 3) * space.mean_actions**0.5)
