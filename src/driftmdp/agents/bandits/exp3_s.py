"""EXP3.S, EXP3 against the best sequence of arms [ABFS02]: after each update every arm gets a share of all weight.

w_i <- w_i exp(gamma / K x estimated gain) + e alpha / K x (sum of all weights before): no arm is ever written off.
"""

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.exponential_weights import ExponentialWeights, gamma_or
from driftmdp.formulas.bandits import exp3s_parameters, exp3s_root
from driftmdp.mdp import Space
from driftmdp.validation import as_fraction


class EXP3S(ExponentialWeights):
    """EXP3 that shares weight, to follow changes.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    changes
        How often the best arm changes, if that is known; gamma's default depends on it.
    gamma
        The share of uniform draws.
    sharing
        alpha, by default 1 / T.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> agent = dm.agents.EXP3S.for_problem(problem, changes=5)
    >>> round(agent.summary().gamma, 3)
    0.116
    >>> bool(dm.simulate(agent, problem, seed=7).dynamic_regret(problem)[-1] < 700)
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        changes: int | None = None,
        gamma: float | None = None,
        sharing: float | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms = n_arms_of(space, self.name)
        self.changes, self.gamma, self.sharing = changes, gamma, sharing
        formula = gamma_or(gamma, exp3s_root(n_arms, horizon, changes), n_arms)
        alpha = exp3s_parameters(n_arms, horizon)[1] if sharing is None else as_fraction(sharing, "sharing")
        super().__init__(space, horizon, reward_range, seed, formula, sharing=alpha)
