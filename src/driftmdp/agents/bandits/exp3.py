"""EXP3, for bandits against an oblivious adversary [ABFS02]: weights exp(gamma / K x estimated gain).

Its guarantee is for the mean regret against an oblivious adversary; the estimates have no bonus, so a single run
can be far off. That is why [CSZ20] Section 5 rejects it as BORL's master.
"""

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.exponential_weights import ExponentialWeights, gamma_or
from driftmdp.agents.reward_range import Range
from driftmdp.formulas.bandits import exp3_root
from driftmdp.mdp import Space


class EXP3(ExponentialWeights):
    """Exponential weights for exploration and exploitation.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    gamma
        The share of uniform draws; by default min(1, sqrt(K ln K / ((e - 1) T))).
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="stationary", horizon=5000)
    >>> agent = dm.agents.EXP3.for_problem(problem)
    >>> round(agent.summary().gamma, 4)
    0.0127
    >>> bool(dm.simulate(agent, problem, seed=7).dynamic_regret(problem)[-1] < 300)
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        gamma: float | None = None,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms = n_arms_of(space, self.name)
        self.gamma = gamma
        formula = gamma_or(gamma, exp3_root(n_arms, horizon), n_arms)
        super().__init__(space, horizon, reward_range, seed, formula)
