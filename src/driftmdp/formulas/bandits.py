"""Parameters that bandit papers (S = 1) prescribe for K arms and T steps.

=========  ==============================================================================================
EXP3.P     alpha = 0.95 sqrt(ln K / (K T)), beta = sqrt(ln K / (K T)), gamma = 1.05 sqrt(K ln K / T)
EXP3       gamma = min(1, sqrt(K ln K / ((e - 1) T)))
EXP3.S     alpha = 1 / T, gamma = min(1, sqrt(K ln(K T) / T)), or, for a given number l of changes,
           min(1, sqrt(K ((l + 1) ln(K T) + e) / ((e - 1) T)))
Rexp3      batches of ceil((K ln K)^(1/3) (T / V)^(2/3)) steps, in each EXP3 with gamma for so many steps
SW-UCB     W = 2 sqrt(T ln T / l) for l changes
D-UCB      discount = 1 - sqrt(l / T) / 4 for l changes
BOB        blocks of H = floor(K sqrt(T)) steps, windows floor(H^(j / D)), j = 0 .. D = ceil(ln H), EXP3 over
           them, with gamma for ceil(T / H) steps
=========  ==============================================================================================

References: [BC12] for EXP3.P, as in [CSZ20] eq:borl_exp3_parameter, [ABFS02] for EXP3 and EXP3.S, [BGZ14] for
Rexp3, [GM11] for SW-UCB and D-UCB, and [CSLZ19] for BOB. BOB's rule is for linear bandits of dimension d, and d = K
here. A computed window or batch is kept within [1, T]. Where a formula divides by a variation of 0 or by 0 changes,
the window is the whole run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftmdp.display import brief
from driftmdp.formulas.rounding import whole_part
from driftmdp.validation import as_integer, as_number


@dataclass(frozen=True)
class Exp3pParameters:
    """EXP3.P's parameters.

    Attributes
    ----------
    alpha
        The learning rate.
    beta
        The bonus that makes every estimate an upper bound.
    gamma
        The share of uniform draws.
    """

    alpha: float
    beta: float
    gamma: float

    def clipped(self) -> Exp3pParameters:
        """Return them with gamma at most 1, so that it is a probability."""
        return Exp3pParameters(self.alpha, self.beta, min(1.0, self.gamma))

    def bounded(self, n_arms: int) -> Exp3pParameters:
        """Return them within EXP3.P's conditions, gamma <= 1/2 and (1 + beta) K alpha <= gamma [BC12]."""
        gamma, arms = min(0.5, self.gamma), as_integer(n_arms, "n_arms", minimum=1)
        return Exp3pParameters(min(self.alpha, gamma / ((1 + self.beta) * arms)), self.beta, gamma)


def exp3p_parameters(n_arms: int, rounds: int) -> Exp3pParameters:
    """Return EXP3.P's parameters as printed, so ``gamma`` may exceed 1.

    Examples
    --------
    >>> from driftmdp.formulas import exp3p_parameters
    >>> round(exp3p_parameters(n_arms=35, rounds=11).gamma, 2)
    3.53
    """
    k, n = _sizes(n_arms, rounds)
    root = math.sqrt(math.log(k) / (k * n))
    return Exp3pParameters(alpha=0.95 * root, beta=root, gamma=1.05 * k * root)


def exp3_gamma(n_arms: int, rounds: int) -> float:
    """Return EXP3's share of uniform draws.

    Examples
    --------
    >>> from driftmdp.formulas import exp3_gamma
    >>> round(exp3_gamma(n_arms=2, rounds=5000), 4)
    0.0127
    """
    return min(1.0, exp3_root(n_arms, rounds))


def exp3_root(n_arms: int, rounds: int) -> float:
    """Return EXP3's gamma before it is clipped to 1."""
    k, n = _sizes(n_arms, rounds)
    return math.sqrt(k * math.log(k) / ((math.e - 1) * n))


def exp3s_parameters(n_arms: int, horizon: int, changes: int | None = None) -> tuple[float, float]:
    """Return EXP3.S's gamma and alpha, which the agent calls ``sharing``.

    Examples
    --------
    >>> from driftmdp.formulas import exp3s_parameters
    >>> gamma, alpha = exp3s_parameters(n_arms=2, horizon=5000, changes=5)
    >>> round(gamma, 3), alpha
    (0.116, 0.0002)
    """
    return min(1.0, exp3s_root(n_arms, horizon, changes)), 1 / horizon


def exp3s_root(n_arms: int, horizon: int, changes: int | None = None) -> float:
    """Return EXP3.S's gamma before it is clipped to 1."""
    k, t = _sizes(n_arms, horizon)
    if changes is None:
        return math.sqrt(k * math.log(k * t) / t)
    parts = as_integer(changes, "changes", minimum=0) + 1
    return math.sqrt(k * (parts * math.log(k * t) + math.e) / ((math.e - 1) * t))


def rexp3_parameters(n_arms: int, horizon: int, variation: float) -> tuple[int, float]:
    """Return Rexp3's batch length and gamma for a variation budget of the means.

    Examples
    --------
    >>> from driftmdp.formulas import rexp3_parameters
    >>> batch, gamma = rexp3_parameters(n_arms=2, horizon=5000, variation=6.0)
    >>> batch, round(gamma, 3)
    (99, 0.09)
    """
    k, t = _sizes(n_arms, horizon)
    budget = as_number(variation, "variation", minimum=0.0)
    batch = float(t) if budget == 0 else min(t, (k * math.log(k)) ** (1 / 3) * (t / budget) ** (2 / 3))
    length = max(1, math.ceil(batch * (1 - 1e-12)))
    return length, exp3_gamma(k, length)


def sw_ucb_window(horizon: int, changes: int) -> int:
    """Return SW-UCB's window for a number of abrupt changes.

    Examples
    --------
    >>> from driftmdp.formulas import sw_ucb_window
    >>> sw_ucb_window(horizon=5000, changes=5)
    184
    """
    t, count = as_integer(horizon, "horizon", minimum=1), as_integer(changes, "changes", minimum=0)
    return t if count == 0 else min(t, max(1, whole_part(2 * math.sqrt(t * math.log(t) / count))))


def d_ucb_discount(horizon: int, changes: int) -> float:
    """Return D-UCB's discount for a number of abrupt changes.

    Examples
    --------
    >>> from driftmdp.formulas import d_ucb_discount
    >>> round(d_ucb_discount(horizon=5000, changes=5), 4)
    0.9921
    """
    t, count = as_integer(horizon, "horizon", minimum=1), as_integer(changes, "changes", minimum=0)
    return 1 - 0.25 * math.sqrt(min(count, t) / t)


@dataclass(frozen=True)
class BobSchedule:
    """BOB's parameters.

    Attributes
    ----------
    block_length, n_blocks
        H and ceil(T / H).
    windows
        The arms.
    gamma
        EXP3's share of uniform draws, as printed, before it is clipped to 1.
    """

    block_length: int
    windows: tuple[int, ...]
    n_blocks: int
    gamma: float

    __repr__ = brief


def bob_schedule(n_arms: int, horizon: int) -> BobSchedule:
    """Return BOB's blocks and windows.

    Examples
    --------
    >>> from driftmdp.formulas import bob_schedule
    >>> bob_schedule(n_arms=2, horizon=5000).windows
    (1, 2, 7, 19, 52, 141)
    """
    k, t = _sizes(n_arms, horizon)
    length = whole_part(k * math.sqrt(t))
    steps = math.ceil(math.log(length))
    windows = tuple(whole_part(math.pow(length, j / max(1, steps))) for j in range(steps + 1))
    n_blocks = math.ceil(t / length)
    return BobSchedule(length, windows, n_blocks, exp3_root(len(windows), n_blocks))


def _sizes(n_arms: int, rounds: int) -> tuple[int, int]:
    return as_integer(n_arms, "n_arms", minimum=1), as_integer(rounds, "horizon", minimum=1)
