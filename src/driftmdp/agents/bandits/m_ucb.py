"""M-UCB, monitored UCB: UCB1 that restarts where the halves of a window differ [CWKX19].

for t = 1 .. T, tau the time of the last restart
    if t - 1 - tau mod floor(K / gamma) < K, play that arm (forced exploration)
    else play the arm with the largest mean + sqrt(xi ln n / N), n all plays since the restart
    if the sums of the last w / 2 rewards of the arm and of the w / 2 before differ by more than b, forget all arms
"""

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.change_detecting import ChangeDetecting
from driftmdp.agents.bandits.upper_confidence import LARGEST_XI
from driftmdp.agents.reward_range import Range
from driftmdp.errors import InvalidInputError
from driftmdp.formulas.changing_bandits import m_ucb_gamma, m_ucb_threshold, m_ucb_window
from driftmdp.mdp import Space
from driftmdp.validation import as_fraction, as_integer, as_number

USUAL_CHANGE = 0.5  # of a mean, in units of the reward range: ours


class MUCB(ChangeDetecting):
    """UCB1 with a window per arm whose halves are compared.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    changes
        How often arms change, if that is known, otherwise 1. The default of ``gamma`` depends on it.
    window
        w, an even number of at most T rewards per arm. By default that of ``least_change``.
    threshold
        b, by default sqrt(w / 2 ln(2 K T^2)).
    gamma
        The share of steps that explore, by default min(1, sqrt(changes K (2 b + 3 sqrt(w)) / (2 T))).
    least_change
        The least change of a mean that must be noticed, in units of the reward range. The window for it is
        4 / least_change^2 (sqrt(ln(2 K T^2)) + sqrt(ln(2 T)))^2. A change so small that its window exceeds T is
        refused. By default 0.5, and then the window is at most T.
    xi
        Factor of ln n in the radius, 2 as in UCB1.
    reward_range
        Bounds (lo, hi) on the rewards, which are mapped to [0, 1] and clipped.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> agent = dm.agents.MUCB.tuned(problem.space, 5000, changes=5, window=200)
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 900)
    True
    >>> len(run.summary.alarms)
    5
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        changes: int | None = None,
        window: int | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
        least_change: float | None = None,
        xi: float = 2.0,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms = n_arms_of(space, self.name)
        self.changes = changes
        self.least_change = None if least_change is None else as_number(least_change, "least_change", 1e-6, 1.0)
        self.window = None if window is None else _checked_window(window, horizon)
        self.threshold = None if threshold is None else as_number(threshold, "threshold", minimum=0.0)
        self.gamma = None if gamma is None else as_fraction(gamma, "gamma")
        self.xi = as_number(xi, "xi", 0.0, LARGEST_XI)
        w = _window_for(n_arms, horizon, self.least_change) if self.window is None else self.window
        b = m_ucb_threshold(n_arms, horizon, w) if self.threshold is None else self.threshold
        formula = m_ucb_gamma(n_arms, horizon, changes, w, b)
        super().__init__(
            space,
            horizon,
            reward_range,
            seed,
            detector="halves",
            alpha=formula if self.gamma is None else self.gamma,
            xi=self.xi,
            threshold=b,
            window=w,
        )


def _checked_window(window: int, horizon: int) -> int:
    w = as_integer(window, "window", minimum=2)
    if w % 2:
        raise InvalidInputError(f"window must be even, as its halves are compared; got {w}.")
    if w > max(2, as_integer(horizon, "horizon", minimum=1)):
        raise InvalidInputError(f"window must be at most the horizon of {horizon} steps; got {w}.")
    return w


def _window_for(n_arms: int, horizon: int, least_change: float | None) -> int:
    """Return the window for a change, or for the usual one as far as the horizon allows."""
    longest = max(2, as_integer(horizon, "horizon", minimum=1) // 2 * 2)
    window = m_ucb_window(n_arms, horizon, USUAL_CHANGE if least_change is None else least_change)
    if least_change is not None and window > longest:
        rule = f"least_change must have a window of at most the horizon of {horizon} steps"
        raise InvalidInputError(f"{rule}; got {least_change:g}, whose window is {window}. Give a window instead.")
    return min(window, longest)
