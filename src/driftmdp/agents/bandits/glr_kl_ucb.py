"""GLR-klUCB: kl-UCB that restarts where a likelihood ratio test finds a change [BKMS22].

for t = 1 .. T
    if t - 1 mod floor(K / alpha) < K, play that arm (forced exploration)
    else play the arm with the largest q such that N kl(mean, q) <= xi ln(steps since the arm's restart)
    if max over s of s kl(mean of the first s, mean) + (N - s) kl(mean of the others, mean) > ln(N^(3/2) / delta),
        forget the arm (local restarts) or all arms (global restarts)
"""

import math

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.change_detecting import ChangeDetecting
from driftmdp.agents.bandits.upper_confidence import LARGEST_XI
from driftmdp.agents.reward_range import Range
from driftmdp.formulas.changing_bandits import glr_klucb_alpha
from driftmdp.mdp import Space
from driftmdp.validation import as_flag, as_fraction, as_integer, as_number, one_of

RESTARTS = ("local", "global")
LEAST_DELTA = 1e-300  # so that its logarithm is finite


class GLRklUCB(ChangeDetecting):
    """kl-UCB with a change detector that needs no knowledge of the changes.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    changes
        How often arms change, if that is known. The default of ``alpha`` depends on it.
    restarts
        ``"local"``: an alarm restarts its own arm. ``"global"``: all arms.
    alpha
        The share of steps that explore, by default sqrt(K ln T / T), times sqrt(changes) where they are known.
    growing
        Whether alpha is multiplied by sqrt(k) in episode k, after k - 1 alarms. By default if ``changes`` is None.
    delta
        The probability of a false alarm, in (0, 1], by default 1 / sqrt(T).
    test_every
        An arm is tested after so many of its plays.
    split_every
        The test tries every so many of the possible times of the change.
    xi
        Factor of ln t in the index. Theory asks for ln t + 3 ln ln t, and practice has 1.
    reward_range
        Bounds (lo, hi) on the rewards, which are mapped to [0, 1] and clipped.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> run = dm.simulate(dm.agents.GLRklUCB.for_problem(problem), problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 400)
    True
    >>> run.summary.alarms[:2]  # the arms changed places at time 834
    ((865, 0), (976, 1))
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        changes: int | None = None,
        restarts: str = "local",
        alpha: float | None = None,
        growing: bool | None = None,
        delta: float | None = None,
        test_every: int = 10,
        split_every: int = 10,
        xi: float = 1.0,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        formula = glr_klucb_alpha(n_arms_of(space, self.name), horizon, changes)
        self.changes, self.restarts = changes, one_of(restarts, "restarts", RESTARTS)
        self.alpha = None if alpha is None else as_fraction(alpha, "alpha")
        self.growing = None if growing is None else as_flag(growing, "growing")
        self.delta = None if delta is None else as_number(delta, "delta", LEAST_DELTA, 1.0)
        self.test_every = as_integer(test_every, "test_every", minimum=1)
        self.split_every = as_integer(split_every, "split_every", minimum=1)
        self.xi = as_number(xi, "xi", 0.0, LARGEST_XI)
        super().__init__(
            space,
            horizon,
            reward_range,
            seed,
            detector="glr",
            alpha=formula if self.alpha is None else self.alpha,
            xi=self.xi,
            threshold=0.5 * math.log(horizon) if self.delta is None else -math.log(self.delta),
            is_local=self.restarts == "local",
            is_growing=changes is None if self.growing is None else self.growing,
            test_every=self.test_every,
            split_every=self.split_every,
        )
