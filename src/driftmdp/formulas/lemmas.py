"""The four parts of Theorem 1 with explicit constants, each the right side of its lemma, corrected.

=======================  ==========================  ====================================================
here                     in [CSZ20]                  what it bounds
=======================  ==========================  ====================================================
lost_episodes            lemma:Q_error               regret of episodes whose MDP left the region
switching                lemma:episode_errror        changes of policy, chance, and imprecise plans
variation                lemma:adv_error             samples of other MDPs in the window, and the widening
estimation               lemma:sto_error             the confidence radii
regret                   thm:main1                   their sum
episodes                 lemma:number_episode        M(T), how often a plan is made
precision                in lemma:episode_errror     sum over t of 1 / sqrt(tau(m))
=======================  ==========================  ====================================================

Constants that fail as printed are corrected here, and docs/paper-notes.md has them one by one (items 21, 22, 33 to
35). Rewards lie in [0, 1], ``diameter`` is D_max, and ``delta`` is 1/T by default.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.formulas.radii import Delta, as_visits, checked_delta
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_flag, as_integer, as_number

__all__ = [
    "blocks",
    "chance",
    "episodes",
    "estimation",
    "exp3p",
    "lost_episodes",
    "precision",
    "regret",
    "self_normalised",
    "switching",
    "variation",
]


def episodes(space: Space, horizon: int, window: int) -> int:
    """Return the most episodes that the doubling schedule can make, M(T).

    In a block of L steps between multiples of W a pair can end at most 1 + log2 L episodes, and the block begins
    one: the sum over blocks of min(L, SA (1 + floor(log2 L)) + 1), which is at most
    (floor(T/W) + 1) (SA (1 + floor(log2 W)) + 1).

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.lemmas import episodes
    >>> episodes(Space.uniform(1, 1), horizon=66, window=66)  # SA (2 + log2 W) T / W is 8.04, but there are 9
    9
    """
    pairs = as_space(space).n_pairs
    total = 0
    for length, count in blocks(horizon, window):
        total += count * min(length, pairs * (1 + int(math.log2(length))) + 1)
    return total


def precision(space: Space, horizon: int, window: int) -> float:
    """Return a bound on the sum over t of 1/sqrt(tau(m)), the precision of the plan in force.

    min(T, SA + 2 sqrt(2 L) + 2 sqrt(T)), L the length of the first block: there an episode that begins at tau
    has at most tau - 1 + SA steps. The last term falls away if there is one block only.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.lemmas import precision
    >>> precision(Space.uniform(2, 2), horizon=10_000, window=100)
    232.1...
    """
    t, w = _sizes(horizon, window)
    first = min(w - 1, t)
    later = 2 * math.sqrt(t) if w <= t else 0.0
    return min(float(t), as_space(space).n_pairs + 2 * math.sqrt(2 * first) + later)


def lost_episodes(b_p: float, window: int, widening: float) -> float:
    """Return 2 B_p W / eta, which bounds the regret of the episodes in Q~_T.

    Examples
    --------
    >>> from driftmdp.formulas.lemmas import lost_episodes
    >>> lost_episodes(b_p=2.0, window=100, widening=0.5)
    800.0
    """
    bp, eta = as_number(b_p, "b_p", minimum=0.0), as_number(widening, "widening", minimum=0.0)
    w = as_integer(window, "window", minimum=1)
    return 0.0 if bp == 0 else math.inf if eta == 0 else 2 * bp * w / eta


def switching(
    space: Space, horizon: int, window: int, diameter: float, delta: Delta = None, log_horizon: int | None = None
) -> float:
    """Return 2 D M(T) + 2 D sqrt(2 T ln(1/delta)) + ``precision``.

    The middle term is ``chance`` for differences of at most 2 D, with probability 1 - delta.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.lemmas import switching
    >>> switching(Space.uniform(2, 2), horizon=10_000, window=5_000, diameter=1.0)
    1476.3...
    """
    d = as_number(diameter, "diameter", minimum=0.0)
    deviation = 2 * d * chance(horizon, delta, log_horizon)
    return 2 * d * episodes(space, horizon, window) + deviation + precision(space, horizon, window)


def chance(horizon: int, delta: Delta = None, log_horizon: int | None = None) -> float:
    """Return sqrt(2 T ln(1/delta)): Azuma and Hoeffding's bound for T martingale differences of at most 1.

    Examples
    --------
    >>> from driftmdp.formulas.lemmas import chance
    >>> chance(horizon=10_000, delta=0.01)
    303.4...
    """
    t = as_integer(horizon, "horizon", minimum=1)
    return math.sqrt(2 * t * math.log(1 / checked_delta(delta, _in_logarithms(t, log_horizon))))


def variation(
    horizon: int, b_r: float, b_p: float, window: int, widening: float, diameter: float, factor: float = 2.0
) -> float:
    """Return 2 (2 B_r W) + 4 D (2 B_p W) + 2 D T eta.

    A change stays in the window for at most 2 W steps. ``factor=1`` is what [CSZ20] prints, W steps.

    Examples
    --------
    >>> from driftmdp.formulas.lemmas import variation
    >>> variation(10_000, b_r=1.0, b_p=0.5, window=100, widening=0.01, diameter=1.0)
    1000.0
    """
    br, bp = as_number(b_r, "b_r", minimum=0.0), as_number(b_p, "b_p", minimum=0.0)
    t, w = _sizes(horizon, window)
    d, eta = as_number(diameter, "diameter", minimum=0.0), as_number(widening, "widening", minimum=0.0)
    return as_number(factor, "factor", minimum=0.0) * w * (2 * br + 4 * d * bp) + 2 * d * t * eta


def estimation(
    space: Space,
    horizon: int,
    window: int,
    diameter: float,
    delta: Delta = None,
    scale: float = 1.0,
    log_horizon: int | None = None,
) -> float:
    """Return (2 + sqrt 2) (2 c_r + 4 D c_p) sum over blocks of sqrt(SA L), rad_r = c_r / sqrt(N+), rad_p likewise.

    c_r = 2 sqrt(2 ln(SAT/delta)) and c_p = sqrt(S) c_r, times ``scale``. The sum is at most
    (floor(T/W) + 1) sqrt(SAW), so this is of order D S sqrt(A) T / sqrt(W). A pair that was never seen keeps the
    radii 1 and 2, however small ``scale`` is, once in every block.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.lemmas import estimation
    >>> estimation(Space.uniform(2, 2), horizon=2_000_000, window=2_000_000, diameter=1.0)
    1153985.8...
    """
    pairs, states = as_space(space).n_pairs, space.n_states
    logs = _in_logarithms(_sizes(horizon, window)[0], log_horizon)
    reward = 2 * math.sqrt(2 * math.log(pairs * logs / checked_delta(delta, logs)))
    d, scale = as_number(diameter, "diameter", minimum=0.0), as_number(scale, "scale", minimum=0.0)
    weight = scale * (2 * reward + 4 * d * math.sqrt(states) * reward)
    lengths = blocks(horizon, window)
    roots = sum(count * math.sqrt(pairs * length) for length, count in lengths)
    shortfall = 2 * max(0.0, 1 - scale * reward) + 4 * d * max(0.0, 2 - scale * math.sqrt(states) * reward)
    first_visits = pairs * sum(count for _, count in lengths)
    return (2 + math.sqrt(2)) * weight * roots + shortfall * first_visits


def regret(
    space: Space,
    horizon: int,
    b_r: float,
    b_p: float,
    window: int,
    widening: float,
    diameter: float,
    scale: float = 1.0,
    log_horizon: int | None = None,
    lost: bool = True,
) -> float:
    """Return the sum of the four parts: Theorem 1, or without ``lost`` episodes Theorem 3.

    Parameters
    ----------
    space, horizon, b_r, b_p, window, widening, diameter
        S and A, T, B_r, B_p, W, eta and D.
    scale
        A factor on the radii.
    log_horizon
        The T of the logarithms, where it is not the number of steps: BORL's blocks.
    lost
        Whether episodes can lose their world.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas.lemmas import regret
    >>> round(regret(Space.uniform(2, 2), 10**6, 0.0, 0.0, 10**6, 0.0, 1.0))
    812914
    """
    outside = lost_episodes(b_p, window, widening) if as_flag(lost, "lost") else 0.0
    switched = switching(space, horizon, window, diameter, log_horizon=log_horizon)
    varied = variation(horizon, b_r, b_p, window, widening, diameter)
    return outside + switched + varied + estimation(space, horizon, window, diameter, None, scale, log_horizon)


def self_normalised(
    visits: ArrayLike, horizon: int, delta: float, sub_gaussian: float = 1.0
) -> NDArray[np.float64]:
    """Return 2 R sqrt(ln(T / delta) / n), [CSZ20] prop:self-norm: how far a mean of n noises strays in T steps.

    Examples
    --------
    >>> from driftmdp.formulas.lemmas import self_normalised
    >>> self_normalised([1, 100], horizon=100, delta=0.05).round(3)
    array([5.514, 0.551])
    """
    t = as_integer(horizon, "horizon", minimum=1)
    n, r = as_visits(visits, "visits"), as_number(sub_gaussian, "sub_gaussian", minimum=0.0)
    return np.asarray(2 * r * np.sqrt(math.log(t / checked_delta(delta, t)) / n))


def exp3p(n_arms: int, rounds: int, delta: float) -> float:
    """Return 5.15 sqrt(n K ln K) + sqrt(n K / ln K) ln(1/delta), EXP3.P's regret with probability 1 - delta [BC12].

    For n rounds of rewards in [0, 1] and the parameters of [CSZ20] eq:borl_exp3_parameter, where gamma is
    at most 1/2.

    Examples
    --------
    >>> from driftmdp.formulas.lemmas import exp3p
    >>> exp3p(n_arms=4, rounds=10_000, delta=0.1)
    1603.8...
    """
    arms, n = as_integer(n_arms, "n_arms", minimum=1), as_integer(rounds, "rounds", minimum=1)
    if arms == 1:
        return 0.0
    log = math.log(arms)
    return 5.15 * math.sqrt(n * arms * log) + math.sqrt(n * arms / log) * math.log(1 / checked_delta(delta, n))


def blocks(horizon: int, window: int) -> list[tuple[int, int]]:
    """Return the blocks between multiples of W, 1 .. W - 1, then W steps each, then the rest: lengths and how many.

    Examples
    --------
    >>> from driftmdp.formulas.lemmas import blocks
    >>> blocks(10, 4), blocks(100, 10)
    ([(3, 1), (4, 1), (3, 1)], [(9, 1), (10, 9), (1, 1)])
    """
    t, w = _sizes(horizon, window)
    multiples = t // w
    if multiples == 0:
        return [(t, 1)]
    lengths = [(w - 1, 1), (w, multiples - 1), (t - multiples * w + 1, 1)]
    return [(length, count) for length, count in lengths if length > 0 and count > 0]


def _sizes(horizon: int, window: int) -> tuple[int, int]:
    return as_integer(horizon, "horizon", minimum=1), as_integer(window, "window", minimum=1)


def _in_logarithms(horizon: int, log_horizon: int | None) -> int:
    return horizon if log_horizon is None else as_integer(log_horizon, "log_horizon", minimum=1)
