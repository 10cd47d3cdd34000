"""Parameters of bandits that detect changes, for K arms, T steps and l changes. Unknown changes count as one.

=========  ==============================================================================================
GLR-klUCB  alpha = sqrt(l K ln T / T), delta = 1 / sqrt(T)                                       [BKMS22]
M-UCB      b = sqrt(w / 2 ln(2 K T^2)), gamma = sqrt(l K (2 b + 3 sqrt(w)) / (2 T)), and, for changes of at least d,
           w = 4 / d^2 (sqrt(ln(2 K T^2)) + sqrt(ln(2 T)))^2, rounded up to an even number       [CWKX19]
CUSUM-UCB  h = ln(T / l), alpha = sqrt(l / T ln(T / l))                                          [LLS18]
AdSwitch   tests every ceil(T / 1000) steps (ours: 1 is the paper to the letter)                 [AGO19]
=========  ==============================================================================================

Shares of exploration are kept within [0, 1].
"""

import math

from driftmdp.validation import as_integer, as_number

ROUNDING = 1 - 1e-12  # a formula that gives a whole number but for rounding gives that number
TESTS_OF_A_RUN = 1000  # by AdSwitch, at least


def glr_klucb_alpha(n_arms: int, horizon: int, changes: int | None = None) -> float:
    """Return GLR-klUCB's share of forced exploration.

    Examples
    --------
    >>> from driftmdp.formulas.changing_bandits import glr_klucb_alpha
    >>> round(glr_klucb_alpha(n_arms=2, horizon=5000, changes=5), 3)
    0.131
    """
    k, t, count = _sizes(n_arms, horizon, changes)
    return min(1.0, math.sqrt(count * k * math.log(t) / t))


def m_ucb_window(n_arms: int, horizon: int, least_change: float) -> int:
    """Return M-UCB's window for the least change of a mean that must be noticed, which may be longer than the run.

    Examples
    --------
    >>> from driftmdp.formulas.changing_bandits import m_ucb_window
    >>> m_ucb_window(n_arms=2, horizon=5000, least_change=0.5)
    860
    """
    k, t, _ = _sizes(n_arms, horizon, None)
    change = as_number(least_change, "least_change", 1e-6, 1.0)
    root = math.sqrt(math.log(2 * k * t * t)) + math.sqrt(math.log(2 * t))
    return 2 * math.ceil(2 * root * root / (change * change) * ROUNDING)


def m_ucb_threshold(n_arms: int, horizon: int, window: int) -> float:
    """Return M-UCB's threshold b.

    Examples
    --------
    >>> from driftmdp.formulas.changing_bandits import m_ucb_threshold
    >>> round(m_ucb_threshold(n_arms=2, horizon=5000, window=200), 1)
    42.9
    """
    k, t, _ = _sizes(n_arms, horizon, None)
    return math.sqrt(0.5 * window * math.log(2 * k * t * t))


def m_ucb_gamma(n_arms: int, horizon: int, changes: int | None, window: int, threshold: float) -> float:
    """Return M-UCB's share of forced exploration.

    Examples
    --------
    >>> from driftmdp.formulas.changing_bandits import m_ucb_gamma
    >>> round(m_ucb_gamma(n_arms=2, horizon=5000, changes=5, window=200, threshold=43.0), 3)
    0.358
    """
    k, t, count = _sizes(n_arms, horizon, changes)
    return min(1.0, math.sqrt(count * k * (2 * threshold + 3 * math.sqrt(window)) / (2 * t)))


def cusum_parameters(horizon: int, changes: int | None = None) -> tuple[float, float]:
    """Return CUSUM-UCB's threshold h and its share of exploration alpha.

    Examples
    --------
    >>> from driftmdp.formulas.changing_bandits import cusum_parameters
    >>> [round(number, 3) for number in cusum_parameters(horizon=5000, changes=5)]
    [6.908, 0.083]
    """
    _, t, count = _sizes(1, horizon, changes)
    stretch = max(1.0, t / max(1, count))
    return math.log(stretch), min(1.0, math.sqrt(math.log(stretch) / stretch))


def ad_switch_interval(horizon: int) -> int:
    """Return the steps between tests by AdSwitch, so that a run costs about as much per step, however long it is.

    Examples
    --------
    >>> from driftmdp.formulas.changing_bandits import ad_switch_interval
    >>> ad_switch_interval(horizon=5000)
    5
    """
    return -(-as_integer(horizon, "horizon", minimum=1) // TESTS_OF_A_RUN)


def _sizes(n_arms: int, horizon: int, changes: int | None) -> tuple[int, int, int]:
    count = 1 if changes is None else as_integer(changes, "changes", minimum=0)
    return as_integer(n_arms, "n_arms", minimum=1), as_integer(horizon, "horizon", minimum=1), count
