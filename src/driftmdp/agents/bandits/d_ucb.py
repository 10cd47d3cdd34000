"""D-UCB, upper confidence bounds on discounted plays [GM11].

mean + 2 sqrt(xi ln n / N): a play s steps ago counts discount^s in the mean and in N, and n is the sum of all N.
"""

from typing import Any, Self

from driftmdp.agents.bandits.sw_ucb import window_for
from driftmdp.agents.bandits.upper_confidence import LARGEST_XI, UpperConfidence
from driftmdp.agents.reward_range import Range
from driftmdp.formulas import d_ucb_discount
from driftmdp.mdp import Problem, Space
from driftmdp.validation import as_number

LEAST_DISCOUNT = 1e-9  # below, ln n is lost to rounding and a forgotten arm would never be tried again


class DUCB(UpperConfidence):
    """Optimism on plays that fade.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    discount
        What a play counts for after one more step, 1e-9 to 1; at 1 nothing fades.
    xi
        Factor of the radius; theory asks for more than 1/2.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> agent = dm.agents.DUCB.tuned(problem.space, 5000, changes=5)
    >>> round(agent.discount, 4)
    0.9921
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 900)
    True
    """

    def __init__(
        self,
        space: Space,
        discount: float,
        xi: float = 0.6,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        self.discount = as_number(discount, "discount", LEAST_DISCOUNT, 1.0)
        self.xi = as_number(xi, "xi", 0.0, LARGEST_XI)
        super().__init__(space, None, reward_range, seed, factor=4.0 * self.xi, discount=self.discount)

    @classmethod
    def tuned(cls, space: Space, horizon: int, changes: int, **parameters: Any) -> Self:
        """Return an agent with the discount of [GM11] for a number of abrupt changes, 1 - sqrt(changes / T) / 4."""
        return cls(space, discount=d_ucb_discount(horizon, changes), **parameters)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem; without a discount, one that remembers as much as SW-UCB's window.

        [GM11] has a rule for abrupt changes only (``tuned``); 1 - 1 / (W + 1), with the W of [CSZ20] remark:bandit,
        is ours.
        """
        if "discount" not in parameters:
            window = window_for(problem, parameters, cls.__name__)
            parameters["discount"] = 1.0 if window >= problem.horizon else 1.0 - 1.0 / (window + 1)
        return super().for_problem(problem, **parameters)
