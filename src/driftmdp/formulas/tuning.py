"""The window W and the widening eta that each theorem prescribes for known variation budgets.

==============  ==========================================================  ============================
rule            window W                                                    widening eta
==============  ==========================================================  ============================
theorem-1       S^(2/3) A^(1/2) T^(1/2) (B_r + B_p)^(-1/2)                  sqrt(B_p W / T)
borl-proof      3 S^(2/3) A^(1/2) T^(1/2) (B_r + B_p + 1)^(-1/2)            as printed in its proof
oblivious       S^(2/3) A^(1/2) T^(1/2)                                     sqrt(W / T)
theorem-3       S^(2/3) A^(1/2) T^(2/3) (B_r + B_p + 1)^(-2/3)              0
theorem-4       S T^(2/3) (B_r + B_p + 1)^(-2/3)                            0
bandit          A^(1/3) T^(2/3) B_r^(-2/3)                                  0
==============  ==========================================================  ============================

A computed W is rounded down and kept within [1, T], eta within [0, 2]. Where a formula divides by a variation
of 0, W = T and eta = 0. [CSZ20] prints the oblivious eta also as S^(2/3) A^(1/2) T^(-1/2), which sqrt(W / T) is not
(docs/paper-notes.md, item 9).
"""

import math
from dataclasses import dataclass

from driftmdp.formulas.rounding import whole_part
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_integer, as_number, one_of

RULES = ("theorem-1", "borl-proof", "oblivious", "theorem-3", "theorem-4", "bandit")


@dataclass(frozen=True)
class Tuning:
    """A window and a widening, and the rule they come from."""

    window: int
    widening: float
    rule: str


def tuned(space: Space, horizon: int, b_r: float, b_p: float, rule: str = "theorem-1") -> Tuning:
    """Return the window and the widening that a rule prescribes.

    Parameters
    ----------
    space
        Gives S and A = pairs / S. For inventory with capacity c that is S = c + 1.
    horizon
        T.
    b_r, b_p
        The variation budgets B_r and B_p.
    rule
        One of ``RULES``. The module's table has their formulas.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas import tuned
    >>> tuned(Space.uniform(2, 2), 5000, b_r=5000**0.2, b_p=5000**0.2)
    Tuning(window=47, widening=0.229..., rule='theorem-1')
    """
    t = as_integer(horizon, "horizon", minimum=1)
    as_space(space)
    br, bp = as_number(b_r, "b_r", minimum=0.0), as_number(b_p, "b_p", minimum=0.0)
    window, widening = _printed(space, t, br, bp, one_of(rule, "rule", RULES))
    return Tuning(max(1, whole_part(window)), min(2.0, max(0.0, widening)), rule)


def _printed(space: Space, t: int, br: float, bp: float, rule: str) -> tuple[float, float]:
    """Return W, at most T, and eta, both as real numbers."""
    s, a = space.n_states, space.mean_actions
    size = s ** (2 / 3) * a**0.5
    total = br + bp
    if rule == "theorem-1":
        window = float(t) if total == 0 else min(t, size * math.sqrt(t / total))
        return window, math.sqrt(bp * window / t)
    if rule == "borl-proof":
        window = min(t, 3 * size * math.sqrt(t / (total + 1)))
        return window, math.sqrt(bp + 1) * s ** (1 / 3) * a**0.25 * (total + 1) ** -0.25 * t**-0.25
    if rule == "oblivious":
        window = min(t, size * math.sqrt(t))
        return window, math.sqrt(window / t)
    if rule == "theorem-3":
        return min(t, size * (t / (total + 1)) ** (2 / 3)), 0.0
    if rule == "theorem-4":
        return min(t, s * (t / (total + 1)) ** (2 / 3)), 0.0
    return (float(t) if br == 0 else min(t, a ** (1 / 3) * (t / br) ** (2 / 3))), 0.0
