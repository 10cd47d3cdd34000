"""The naive sliding-window UCRL2: [CSZ20] alg:swr-ucrl2 without widening, over H_p(0).

[CSZ20] sec:cw_disc shows its peril: the estimated MDP may have a diameter of the order of W.
"""

from typing import Any, Self

from driftmdp.agents.reward_range import Range
from driftmdp.agents.swucrl2_cw import SWUCRL2CW, tuned_to
from driftmdp.mdp import Problem, Space


class SlidingWindowUCRL2(SWUCRL2CW):
    """Sliding-window UCRL2 without confidence widening: SWUCRL2-CW with eta = 0.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps; it enters the radii.
    window
        W: how many past steps count.
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the mean rewards; None: rewards are used as they are, without a cap.
    scale
        A factor on every radius; 1 is theory, which is vacuous at horizons of thousands of steps (docs/agents.md).
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``.
    ties
        ``"least-visited"`` or ``"first"``.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.perils(tau=25)
    >>> agent = dm.agents.SlidingWindowUCRL2.for_problem(problem, window=100, scale=0.1)
    >>> dm.simulate(agent, problem, seed=1).plans > 0
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        window: int,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        super().__init__(space, horizon, window, 0.0, delta, reward_range, scale, planner, ties, seed)

    @classmethod
    def tuned(
        cls, space: Space, horizon: int, b_r: float, b_p: float, rule: str = "theorem-1", **parameters: Any
    ) -> Self:
        """Return an agent with the window that a theorem prescribes; see ``SWUCRL2CW.tuned``."""
        window = SWUCRL2CW.tuned(space, horizon, b_r, b_p, rule).window
        return cls(space, horizon, window=window, **parameters)

    @classmethod
    def for_problem(
        cls, problem: Problem, budgets: str = "exact", rule: str | None = None, **parameters: Any
    ) -> Self:
        """Return an agent for a problem; without a window, Theorem 1's for the problem's variation budgets.

        Parameters
        ----------
        problem
            Its space, horizon, reward range and budgets are used.
        budgets
            Which B_r and B_p, as for ``SWUCRL2CW``: ``"exact"``, or others that the problem states.
        rule
            Another theorem's window, see ``SWUCRL2CW.tuned``.
        **parameters
            Other parameters of the agent.
        """
        if "window" not in parameters:
            parameters["window"] = tuned_to(problem, parameters, budgets, rule).window
        return super(SWUCRL2CW, cls).for_problem(problem, **parameters)
