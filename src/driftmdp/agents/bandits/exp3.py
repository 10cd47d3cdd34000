"""EXP3, for bandits against anyone who does not watch [ABFS02]: odds exp(gamma / K x estimated gain).

Its guarantee is for the mean regret against an oblivious adversary; the estimates have no bonus, so a single run
can be far off. That is why [CSZ20] Section 5 rejects it as BORL's master.
"""

from __future__ import annotations

from driftmdp.agents.bandits.exponential_weights import ExponentialWeights
from driftmdp.agents.bandits.one_state import n_arms_of
from driftmdp.errors import InvalidInputError
from driftmdp.formulas.bandits import exp3_root
from driftmdp.mdp import Space
from driftmdp.validation import as_fraction

__all__ = ["EXP3", "checked_gamma"]


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
        reward_range: tuple[float, float] = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms = n_arms_of(space, self.name)
        self.gamma = gamma
        formula = exp3_root(n_arms, horizon) if gamma is None else checked_gamma(gamma, n_arms)
        share = min(1.0, formula)
        super().__init__(
            space, horizon, reward_range, seed, gamma=share, rate=share / n_arms, formula_gamma=formula
        )


def checked_gamma(gamma: float, n_arms: int) -> float:
    """Return a share of uniform draws; with several arms it must not be 0, or estimates would be unbounded."""
    share = as_fraction(gamma, "gamma")
    if share == 0.0 and n_arms > 1:
        raise InvalidInputError("gamma must be above 0; got 0. An arm must be drawn now and then to be estimated.")
    return share
