"""SW-UCB, upper confidence bounds on a sliding window [GM11].

mean + sqrt(xi ln n / N), with the mean and N over the last W plays and n = min(t - 1, W).
"""

from typing import Any, Self

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.upper_confidence import LARGEST_XI, UpperConfidence
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.reward_range import Range
from driftmdp.agents.swucrl2_cw import tuned_to
from driftmdp.formulas import sw_ucb_window
from driftmdp.mdp import Problem, Space
from driftmdp.validation import as_integer, as_number


class SWUCB(UpperConfidence):
    """Optimism on the last W plays.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    window
        W: how many past plays count. An arm without a play in the window is played at once.
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
    >>> agent = dm.agents.SWUCB.tuned(problem.space, 5000, changes=5)
    >>> agent.window
    184
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 400)
    True
    """

    def __init__(
        self, space: Space, window: int, xi: float = 0.6, reward_range: Range = (0.0, 1.0), seed: int | None = None
    ) -> None:
        self.window = as_integer(window, "window", minimum=1)
        self.xi = as_number(xi, "xi", 0.0, LARGEST_XI)
        super().__init__(space, None, reward_range, seed, factor=self.xi, window=self.window)

    @classmethod
    def tuned(cls, space: Space, horizon: int, changes: int, **parameters: Any) -> Self:
        """Return an agent with the window of [GM11] for a number of abrupt changes, 2 sqrt(T ln T / changes)."""
        return cls(space, window=sw_ucb_window(horizon, changes), **parameters)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem; without a window, [CSZ20] remark:bandit's for its exact variation."""
        if "window" not in parameters:
            parameters["window"] = window_for(problem, parameters, cls.__name__)
        return super().for_problem(problem, **parameters)


def window_for(problem: Problem, parameters: dict[str, Any], name: str) -> int:
    """Return the window that SWUCRL2-CW would have on a bandit problem."""
    n_arms_of(checked_problem(problem).space, name)
    return tuned_to(problem, parameters).window
