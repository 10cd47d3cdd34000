"""Regret bounds: every one of the paper as a function, without and with its constants and logarithms.

By default a function returns the order that the paper prints inside its big-O. It says how regret grows, not how
large it is. With ``explicit=True`` it returns a number that the dynamic regret of one run does not exceed with
probability 1 - 2 delta, delta = 1/T, for rewards in [0, 1]: the sum of the four lemmas of
:mod:`driftmdp.formulas.lemmas`. (The expected regret is at most 2 larger.) ``useful_horizon`` returns the T from
which on such a number is below T.

Three bounds of other papers, ``lower_bound``, ``ucrl2b`` and ``piecewise_stationary``, come without constants, as
[CSZ20] quotes them. The papers that they come from were not at hand. UCRL2's, D S sqrt(A T), is ``stationary``.

======  ==========================================
symbol  meaning
======  ==========================================
S, A    states, and pairs per state
T       horizon
B_r     variation budget of rewards
B_p     variation budget of transitions
D       D_max, or 1/zeta for Theorems 3 and 4
W, eta  window and widening
======  ==========================================
"""

import math

from driftmdp.errors import InvalidInputError
from driftmdp.formulas import lemmas
from driftmdp.formulas.tuning import borl_schedule, tuned
from driftmdp.formulas.vacuous_bounds import useful_horizon
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_flag, as_integer, as_number

__all__ = [
    "bandit",
    "benchmark_gap",
    "lower_bound",
    "oblivious",
    "piecewise_stationary",
    "stationary",
    "theorem_1",
    "theorem_1_tuned",
    "theorem_2",
    "theorem_3",
    "theorem_4",
    "ucrl2b",
    "useful_horizon",
]


def benchmark_gap(diameter: float, horizon: int, b_r: float, b_p: float) -> float:
    """Return how far the oracle may fall below the true optimum, [CSZ20] Proposition 1, corrected.

    4 (D + 1) sqrt((B_r + 2 D B_p) T), plus 2 D where (B_r + 2 D B_p) T < 1 (docs/paper-notes.md, item 20). The
    proposition asks for T >= B_r + 2 D B_p > 0.

    Examples
    --------
    >>> from driftmdp.formulas.bounds import benchmark_gap
    >>> benchmark_gap(diameter=1, horizon=100, b_r=1, b_p=0)
    80.0
    """
    d, t, br, bp = _checked(diameter=diameter, horizon=horizon, b_r=b_r, b_p=b_p)
    drift = (br + 2 * d * bp) * t
    return 4 * (d + 1) * math.sqrt(drift) + (2 * d if drift < 1 else 0.0)


def theorem_1(
    space: Space,
    horizon: int,
    b_r: float,
    b_p: float,
    diameter: float,
    window: float,
    widening: float,
    explicit: bool = False,
    scale: float = 1.0,
) -> float:
    """Return the bound on SWUCRL2-CW's dynamic regret for any window and widening.

    B_p W / eta + B_r W + sqrt(SA) T / sqrt(W) + D (B_p W + S sqrt(A) T / sqrt(W) + T eta + SAT / W + sqrt(T)).

    Parameters
    ----------
    space, horizon, b_r, b_p, diameter, window, widening
        As in the table above.
    explicit
        With constants and logarithms.
    scale
        A factor on the radii, for agents that were made with one: ``explicit`` then holds on a run whose errors
        keep within the scaled radii.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import theorem_1
    >>> space = Space.uniform(2, 2)
    >>> theorem_1(space, 10**6, b_r=0.0, b_p=0.0, diameter=1.0, window=10**6, widening=0.0)
    5832.4...
    >>> theorem_1(space, 10**6, 0.0, 0.0, 1.0, 10**6, 0.0, explicit=True)
    812913.6...
    """
    t, br, bp, d, eta = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter, widening=widening)
    w = _positive(window, "window")
    if as_flag(explicit, "explicit"):
        return lemmas.regret(space, horizon, br, bp, max(1, int(w)), eta, d, scale)
    if as_number(scale, "scale") != 1.0:
        rule = "scale must be 1 where the bound is not explicit"
        raise InvalidInputError(f"{rule}; got {scale!r}. Add explicit=True.")
    pairs = as_space(space).n_pairs
    lost = 0.0 if bp == 0 else math.inf if eta == 0 else bp * w / eta
    rewards = math.sqrt(pairs) * t / math.sqrt(w)
    return lost + rewards + d * t * eta + _shared_terms(t, br, bp, d, w, _transitions(space), pairs)


def theorem_1_tuned(
    space: Space, horizon: int, b_r: float, b_p: float, diameter: float, explicit: bool = False
) -> float:
    """Return D (B_r + B_p)^(1/4) S^(2/3) A^(1/2) T^(3/4), the bound for W* and eta*.

    As printed it falls to 0 with the variation, which no regret does: it needs W* <= T
    (docs/paper-notes.md, item 36).
    """
    t, br, bp, d = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter)
    if as_flag(explicit, "explicit"):
        return _at_its_tuning(space, horizon, br, bp, d, "theorem-1")
    return d * _size(space) * math.pow(br + bp, 1 / 4) * math.pow(t, 3 / 4)


def oblivious(space: Space, horizon: int, b_r: float, b_p: float, diameter: float, explicit: bool = False) -> float:
    """Return D (B_r + B_p + 1) S^(2/3) A^(1/2) T^(3/4), for a window and a widening chosen without the budgets.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import oblivious
    >>> round(oblivious(Space.uniform(8, 4), 10_000, b_r=1.0, b_p=0.0, diameter=1.0))
    16000
    """
    t, br, bp, d = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter)
    if as_flag(explicit, "explicit"):
        return _at_its_tuning(space, horizon, br, bp, d, "oblivious")
    return d * _size(space) * (br + bp + 1) * math.pow(t, 3 / 4)


def stationary(space: Space, horizon: int, diameter: float, explicit: bool = False) -> float:
    """Return D S sqrt(A T), for a stationary MDP, W = T and eta = 0.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import stationary
    >>> stationary(Space.uniform(2, 4), 10_000, diameter=3.0)
    1200.0
    """
    t, d = _checked(horizon=horizon, diameter=diameter)
    if as_flag(explicit, "explicit"):
        return theorem_1(space, horizon, 0.0, 0.0, d, horizon, 0.0, explicit=True)
    return d * as_space(space).n_states * math.sqrt(space.mean_actions * t)


def theorem_2(space: Space, horizon: int, b_r: float, b_p: float, diameter: float, explicit: bool = False) -> float:
    """Return BORL's bound, D (B_r + B_p + 1)^(1/4) S^(2/3) A^(1/2) T^(3/4).

    ``explicit`` is Theorem 1 in every block for the best arm, plus EXP3.P's regret for realised rewards in [0, 1],
    with probability 1 - 5 delta. It needs a gamma of at most 1/2 (docs/paper-notes.md, item 12).
    """
    t, br, bp, d = _checked(horizon=horizon, b_r=b_r, b_p=b_p, diameter=diameter)
    if as_flag(explicit, "explicit"):
        return _theorem_2_explicit(space, int(t), br, bp, d)
    return d * _size(space) * math.pow(br + bp + 1, 1 / 4) * math.pow(t, 3 / 4)


def _theorem_2_explicit(space: Space, t: int, br: float, bp: float, d: float) -> float:
    plan = borl_schedule(space, t)
    length = min(plan.block_length, t)
    in_blocks = {
        window: plan.n_blocks
        * (
            2 * d * lemmas.episodes(space, length, window)
            + lemmas.precision(space, length, window)
            + lemmas.estimation(space, length, window, d, log_horizon=t)
        )
        for window in {window for window, _ in plan.arms}  # whatever the widening
    }
    arms = (
        lemmas.lost_episodes(bp, window, widening)
        + lemmas.variation(t, br, bp, window, widening, d)
        + in_blocks[window]
        for window, widening in plan.arms
    )
    noise = 2 * lemmas.chance(t)  # the master is fed realised rewards, regret is in mean ones
    return min(arms) + 2 * d * lemmas.chance(t) + length * lemmas.exp3p(plan.n_arms, plan.n_blocks, 1 / t) + noise


def theorem_3(
    space: Space,
    horizon: int,
    b_r: float,
    b_p: float,
    zeta: float,
    explicit: bool = False,
    window: float | None = None,
) -> float:
    """Return the bound for transitions of at least zeta, where D is 1/zeta and eta 0, thm:main_alternative.

    D (B_r + B_p + 1)^(1/3) S^(2/3) A^(1/2) T^(2/3) for W*. For any other ``window``
    B_r W + D (B_p W + S sqrt(A) T / sqrt(W) + SAT / W + sqrt(T)).

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import theorem_3
    >>> space = Space.uniform(8, 4)
    >>> round(theorem_3(space, 1000, b_r=4.0, b_p=3.0, zeta=0.1))
    16000
    >>> theorem_3(space, 10_000, b_r=4.0, b_p=3.0, zeta=0.1, window=2500)
    119280.0
    """
    t, br, bp = _checked(horizon=horizon, b_r=b_r, b_p=b_p)
    d = 1 / _zeta(zeta)
    if as_flag(explicit, "explicit"):
        return _without_widening(space, horizon, br, bp, d, window, "theorem-3")
    if window is None:
        return d * _size(space) * math.pow(br + bp + 1, 1 / 3) * math.pow(t, 2 / 3)
    return _shared_terms(t, br, bp, d, _positive(window, "window"), _transitions(space), space.n_pairs)


def theorem_4(
    space: Space,
    horizon: int,
    b_r: float,
    b_p: float,
    zeta: float,
    explicit: bool = False,
    window: float | None = None,
) -> float:
    """Return the bound for inventory, where D is 1/zeta and eta 0, thm:main_inventory.

    D (B_r + B_p + 1)^(1/3) S T^(2/3) for W*. For any other ``window``
    B_r W + D (B_p W + S^(3/2) T / sqrt(W) + S^2 T / W + sqrt(T)).

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import theorem_4
    >>> shelf = Space([4, 3, 2, 1])  # capacity 3
    >>> round(theorem_4(shelf, 1000, b_r=4.0, b_p=3.0, zeta=0.1))
    8000
    >>> theorem_4(shelf, 10_000, b_r=4.0, b_p=3.0, zeta=0.1, window=2500)
    102640.0
    """
    t, br, bp = _checked(horizon=horizon, b_r=b_r, b_p=b_p)
    d, states = 1 / _zeta(zeta), as_space(space).n_states
    if as_flag(explicit, "explicit"):
        return _without_widening(space, horizon, br, bp, d, window, "theorem-4")
    if window is None:
        return d * states * math.pow(br + bp + 1, 1 / 3) * math.pow(t, 2 / 3)
    return _shared_terms(t, br, bp, d, _positive(window, "window"), math.pow(states, 3 / 2), states**2)


def bandit(n_arms: int, horizon: int, b_r: float, explicit: bool = False) -> float:
    """Return B_r^(1/3) A^(1/3) T^(2/3), the bound for S = 1.

    Examples
    --------
    >>> from driftmdp.formulas.bounds import bandit
    >>> round(bandit(n_arms=4, horizon=1000, b_r=2.0))
    200
    """
    arms, t, br = _checked(n_arms=n_arms, horizon=horizon, b_r=b_r)
    if as_flag(explicit, "explicit"):
        return _at_its_tuning(Space.uniform(1, n_arms), horizon, br, 0.0, 0.0, "bandit")
    return math.pow(br * arms, 1 / 3) * math.pow(t, 2 / 3)


def lower_bound(space: Space, horizon: int, diameter: float) -> float:
    """Return sqrt(D S A T): no algorithm has less regret on every stationary MDP, up to a constant.

    [JOA10], as quoted in [CSZ20] Section 3, "RL in Stationary MDPs".

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import lower_bound
    >>> lower_bound(Space.uniform(2, 8), 10_000, diameter=4.0)
    800.0
    """
    t, d = _checked(horizon=horizon, diameter=diameter)
    return math.sqrt(d * as_space(space).n_pairs * t)


def ucrl2b(space: Space, horizon: int, diameter: float) -> float:
    """Return S sqrt(D A T) + D^2 S^2 A, the bound of UCRL2B in a stationary MDP.

    [FPL20], as quoted in [CSZ20] Section 3, "RL in Stationary MDPs".

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import ucrl2b
    >>> ucrl2b(Space.uniform(2, 4), 10_000, diameter=4.0)
    1056.0
    """
    t, d = _checked(horizon=horizon, diameter=diameter)
    states, actions = as_space(space).n_states, space.mean_actions
    return states * math.sqrt(d * actions * t) + d * d * states**2 * actions


def piecewise_stationary(space: Space, horizon: int, changes: int, diameter: float) -> float:
    """Return l^(1/3) D^(2/3) S^(2/3) A^(1/3) T^(2/3), for an MDP that changes abruptly, at most l times.

    [GOA18], as quoted in [CSZ20] Section 6 (sec:cw_disc). Without a change it is 0, which no regret is. Use
    ``stationary`` there.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.bounds import piecewise_stationary
    >>> round(piecewise_stationary(Space.uniform(8, 1), 1000, changes=1, diameter=8.0))
    1600
    """
    t, d = _checked(horizon=horizon, diameter=diameter)
    steps = d * as_space(space).n_states * t
    return math.cbrt(as_integer(changes, "changes", minimum=0) * steps * steps * space.mean_actions)


def _at_its_tuning(space: Space, horizon: int, br: float, bp: float, d: float, rule: str) -> float:
    choice = tuned(space, horizon, br, bp, rule)
    return theorem_1(space, horizon, br, bp, d, choice.window, choice.widening, explicit=True)


def _without_widening(
    space: Space, horizon: int, br: float, bp: float, d: float, window: float | None, rule: str
) -> float:
    """Return Theorem 1's sum without lost episodes, as transitions of at least zeta lose none."""
    chosen = tuned(space, horizon, br, bp, rule).window if window is None else int(_positive(window, "window"))
    return lemmas.regret(space, horizon, br, bp, max(1, chosen), 0.0, d, lost=False)


def _shared_terms(t: float, br: float, bp: float, d: float, w: float, transitions: float, episodes: float) -> float:
    """Return B_r W + D (B_p W + x T / sqrt(W) + y T / W + sqrt(T)), which Theorems 1, 3 and 4 have in common."""
    return br * w + d * (bp * w + transitions * t / math.sqrt(w) + episodes * t / w + math.sqrt(t))


def _transitions(space: Space) -> float:
    return as_space(space).n_states * math.sqrt(space.mean_actions)


def _size(space: Space) -> float:
    return math.pow(as_space(space).n_states, 2 / 3) * math.sqrt(space.mean_actions)


def _checked(**values: float) -> list[float]:
    """Return the values, none negative. A horizon and a number of arms are whole, and at least 1."""
    return [
        as_integer(value, name, minimum=1) if name in ("horizon", "n_arms") else as_number(value, name, minimum=0.0)
        for name, value in values.items()
    ]


def _zeta(zeta: float) -> float:
    """Return zeta, a probability above 0."""
    as_number(zeta, "zeta", 0.0, 1.0)
    return _positive(zeta, "zeta")


def _positive(value: float, name: str) -> float:
    number = as_number(value, name)
    if number <= 0:
        raise InvalidInputError(f"{name} must be positive; got {number:g}.")
    return number
