"""Rexp3, EXP3 that restarts with every batch [BGZ14]."""

from typing import Any, Self

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.exponential_weights import ExponentialWeights, gamma_or
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.reward_range import Range, unit_variation
from driftmdp.formulas import rexp3_parameters
from driftmdp.formulas.bandits import exp3_root
from driftmdp.mdp import Problem, Space
from driftmdp.validation import as_integer


class Rexp3(ExponentialWeights):
    """EXP3 with restarts.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    batch
        The number of steps between restarts.
    gamma
        The share of uniform draws; by default EXP3's for ``batch`` steps.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> agent = dm.agents.Rexp3.for_problem(problem)
    >>> agent.batch
    157
    >>> bool(dm.simulate(agent, problem, seed=7).dynamic_regret(problem)[-1] < 1500)
    True
    """

    def __init__(
        self,
        space: Space,
        batch: int,
        gamma: float | None = None,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms = n_arms_of(space, self.name)
        self.batch, self.gamma = as_integer(batch, "batch", minimum=1), gamma
        formula = gamma_or(gamma, exp3_root(n_arms, self.batch), n_arms)
        super().__init__(space, None, reward_range, seed, formula, batch=self.batch, advice="Use longer batches")

    @classmethod
    def tuned(cls, space: Space, horizon: int, variation: float, **parameters: Any) -> Self:
        """Return an agent with [BGZ14]'s batch for a variation budget of the means."""
        batch, _ = rexp3_parameters(n_arms_of(space, cls.__name__), horizon, variation)
        return cls(space, batch=batch, **parameters)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem; without a batch, [BGZ14]'s for the problem's exact variation."""
        if "batch" not in parameters:
            n_arms = n_arms_of(checked_problem(problem).space, cls.__name__)
            variation = unit_variation(problem, parameters.get("reward_range", problem.reward_range))
            parameters["batch"] = rexp3_parameters(n_arms, problem.horizon, variation)[0]
        return super().for_problem(problem, **parameters)
