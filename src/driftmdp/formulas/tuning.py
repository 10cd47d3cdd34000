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

BORL's blocks, arms and master parameters are those of [CSZ20] eq:borl_parameter, eq:borl_exp3_parameter.

==========  ================  ====================================================================
symbol      name here         formula
==========  ================  ====================================================================
H           block_length      floor(3 S^(2/3) A^(1/2) T^(1/2))
Phi         phi               1 / (2 T^(1/2))
Delta_W     window_steps      floor(ln H)
Delta_eta   widening_steps    floor(ln 1/Phi)
J_W         windows           floor(H^(j / Delta_W)), j = 0 .. Delta_W
J_eta       widenings         S^(1/3) A^(1/4) Phi^(k / Delta_eta), k = 0 .. Delta_eta, or as Alg. 2 prints them
Delta       n_arms            (Delta_W + 1) (Delta_eta + 1)
ceil(T/H)   n_blocks
alpha ...   alpha beta gamma  0.95, 1 and 1.05 times the square roots of eq:borl_exp3_parameter
==========  ================  ====================================================================

Departs from [CSZ20] Alg. 2, line 6: the printed eta_i = floor(Phi^(k / Delta_eta)) is 0 or 1 and lacks the
scale of J_eta. The arms are those of J_eta (docs/paper-notes.md, item 11). ``arms="printed"`` is line 6 literally.
"""

import math
from dataclasses import astuple, dataclass

from driftmdp.display import brief, counted
from driftmdp.formulas.bandits import exp3p_parameters
from driftmdp.formulas.rounding import whole_part
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_integer, as_number, one_of

RULES = ("theorem-1", "borl-proof", "oblivious", "theorem-3", "theorem-4", "bandit")
ARMS = ("corrected", "printed")


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


@dataclass(frozen=True)
class BorlSchedule:
    """BORL's parameters as printed.

    Attributes
    ----------
    block_length, n_blocks
        H and ceil(T / H).
    phi, window_steps, widening_steps
        Phi, Delta_W and Delta_eta, from which the arms are made.
    windows, widenings
        J_W and J_eta.
    alpha, beta, gamma
        The master's. A ``gamma`` above 1 is no probability.
    """

    block_length: int
    phi: float
    window_steps: int
    widening_steps: int
    windows: tuple[int, ...]
    widenings: tuple[float, ...]
    n_blocks: int
    alpha: float
    beta: float
    gamma: float

    __repr__ = brief

    @property
    def n_arms(self) -> int:
        """The number of (window, widening) arms, Delta."""
        return len(self.windows) * len(self.widenings)

    @property
    def arms(self) -> tuple[tuple[int, float], ...]:
        """The arms J: every window with every widening, in the order (j, k) of M."""
        return tuple((window, widening) for window in self.windows for widening in self.widenings)

    def __str__(self) -> str:
        windows = ", ".join(map(str, self.windows))
        widenings = ", ".join(f"{widening:.3g}" for widening in self.widenings)
        note = ", which is no probability" if self.gamma > 1.0 else ""
        blocks = f"{counted(self.n_blocks, 'block')} of H = {counted(self.block_length, 'step')}"
        master = f"alpha {self.alpha:.3g}, beta {self.beta:.3g}, gamma {self.gamma:.3g}{note}"
        arms = f"{counted(self.n_arms, 'arm')}\nwindows    {windows}\nwidenings  {widenings}"
        return f"{blocks}, {arms}\nEXP3.P     {master}"


def borl_schedule(space: Space, horizon: int, arms: str = "corrected") -> BorlSchedule:
    """Return BORL's parameters for a space and a horizon.

    Parameters
    ----------
    space, horizon
        S and A, and T.
    arms
        ``"corrected"``: the widenings of J_eta. ``"printed"``: floor(Phi^(k / Delta_eta)), which is 1 for k = 0
        and 0 for every other k, so most arms are there several times.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas import borl_schedule
    >>> plan = borl_schedule(Space.uniform(2, 2), 5000)
    >>> plan.block_length, plan.n_arms, plan.n_blocks, round(plan.gamma, 2)
    (476, 35, 11, 3.53)
    >>> print(plan)
    11 blocks of H = 476 steps, 35 arms
    windows    1, 2, 7, 21, 60, 170, 476
    widenings  1.5, 0.434, 0.126, 0.0365, 0.0106
    EXP3.P     alpha 0.0913, beta 0.0961, gamma 3.53, which is no probability
    >>> borl_schedule(Space.uniform(2, 2), 5000, arms="printed").widenings
    (1.0, 0.0, 0.0, 0.0, 0.0)
    """
    t = as_integer(horizon, "horizon", minimum=1)
    literal = one_of(arms, "arms", ARMS) == "printed"
    as_space(space)
    s, a = space.n_states, space.mean_actions
    length = whole_part(3 * s ** (2 / 3) * a**0.5 * t**0.5)
    phi = 1 / (2 * math.sqrt(t))
    window_steps, widening_steps = math.floor(math.log(length)), math.floor(math.log(1 / phi))
    scale = s ** (1 / 3) * a**0.25
    windows = tuple(whole_part(math.pow(length, j / max(1, window_steps))) for j in range(window_steps + 1))
    powers = [phi ** (k / max(1, widening_steps)) for k in range(widening_steps + 1)]
    widenings = tuple(float(math.floor(power)) if literal else scale * power for power in powers)
    n_blocks = math.ceil(t / length)
    master = astuple(exp3p_parameters(len(windows) * len(widenings), n_blocks))  # alpha, beta, gamma
    return BorlSchedule(length, phi, window_steps, widening_steps, windows, widenings, n_blocks, *master)
