"""CUSUM-UCB: UCB1 that restarts an arm where its rewards walk away from their first mean [LLS18].

for t = 1 .. T
    with probability alpha play a random arm
    else play the arm with the largest mean + sqrt(xi ln n / N), n the sum of all N
    u0 is the mean of the first M rewards of the arm since its restart. After each later reward x
        g+ = max(0, g+ + x - u0 - epsilon), g- = max(0, g- + u0 - x - epsilon)
    if g+ > h or g- > h, forget the arm
"""

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.change_detecting import ChangeDetecting
from driftmdp.agents.bandits.upper_confidence import LARGEST_XI
from driftmdp.agents.reward_range import Range
from driftmdp.formulas.changing_bandits import cusum_parameters
from driftmdp.mdp import Space
from driftmdp.validation import as_fraction, as_integer, as_number


class CUSUMUCB(ChangeDetecting):
    """UCB1 with a two-sided CUSUM test per arm.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    changes
        How often arms change, if that is known, otherwise 1. The defaults of h and alpha depend on it.
    warmup
        M: so many first rewards of an arm give the mean that the others are compared with.
    epsilon
        A tolerance, in units of the reward range: changes should be larger than twice as much.
    threshold
        h, by default ln(T / changes).
    alpha
        The share of random draws, by default sqrt(changes / T ln(T / changes)).
    xi
        Factor of ln n in the radius, 2 as in UCB1.
    reward_range
        Bounds (lo, hi) on the rewards, which are mapped to [0, 1] and clipped.
    seed
        Of the generator used until ``reset(rng)`` gives another. None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> agent = dm.agents.CUSUMUCB.tuned(problem.space, 5000, changes=5, warmup=50)
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 900)
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        changes: int | None = None,
        warmup: int = 100,
        epsilon: float = 0.05,
        threshold: float | None = None,
        alpha: float | None = None,
        xi: float = 2.0,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms_of(space, self.name)
        h, share = cusum_parameters(horizon, changes)
        self.changes, self.warmup = changes, as_integer(warmup, "warmup", minimum=1)
        self.epsilon = as_fraction(epsilon, "epsilon")
        self.threshold = None if threshold is None else as_number(threshold, "threshold", minimum=0.0)
        self.alpha = None if alpha is None else as_fraction(alpha, "alpha")
        self.xi = as_number(xi, "xi", 0.0, LARGEST_XI)
        super().__init__(
            space,
            horizon,
            reward_range,
            seed,
            detector="cusum",
            alpha=share if self.alpha is None else self.alpha,
            xi=self.xi,
            threshold=h if self.threshold is None else self.threshold,
            window=self.warmup,
            epsilon=self.epsilon,
            is_local=True,
        )
