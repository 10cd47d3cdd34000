"""SWUCRL2-CW: sliding-window UCRL2 with confidence widening, [CSZ20] alg:swr-ucrl2.

for episode m = 1, 2, ...
    count the last W steps (memory), build H_r and H_p(eta) (confidence),
    plan with extended value iteration to precision 1/sqrt(t),
    act until t is a multiple of W or a pair's visits have doubled (schedule).
"""

import math
from typing import Any, Self

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import Doubling, PaperRadii, SlidingWindow
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.reward_range import Range, unit_variation
from driftmdp.formulas import Tuning, tuned
from driftmdp.mdp import Problem, Space
from driftmdp.validation import as_integer


class SWUCRL2CW(Optimist):
    """Sliding-window UCRL2 with confidence widening.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps; it enters the radii.
    window
        W: how many past steps count. It also bounds an episode: one begins at every multiple of W.
    widening
        eta, added to every transition radius.
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
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> agent = dm.agents.SWUCRL2CW.for_problem(problem, window=47, widening=0.23, scale=0.1)
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> run.dynamic_regret(problem).shape
    (5000,)
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        window: int,
        widening: float,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        memory, schedule = SlidingWindow(window), Doubling(every=window)
        confidence = PaperRadii(delta, scale, widening)
        super().__init__(space, horizon, memory, confidence, schedule, reward_range, planner, ties, seed)
        self.window, self.widening, self.delta, self.scale = window, widening, delta, scale

    @classmethod
    def tuned(
        cls, space: Space, horizon: int, b_r: float, b_p: float, rule: str = "theorem-1", **parameters: Any
    ) -> Self:
        """Return an agent with the window and the widening that a theorem prescribes.

        Parameters
        ----------
        space, horizon
            As for the agent.
        b_r, b_p
            The variation budgets B_r (of rewards in [0, 1]) and B_p.
        rule
            ``"theorem-1"``, ``"borl-proof"``, ``"oblivious"``, ``"theorem-3"``, ``"theorem-4"`` or ``"bandit"``;
            see ``driftmdp.formulas.tuned``.
        **parameters
            Other parameters of the agent.

        Examples
        --------
        >>> from driftmdp import Space
        >>> from driftmdp.agents import SWUCRL2CW
        >>> SWUCRL2CW.tuned(Space.uniform(2, 2), 5000, b_r=5.49, b_p=5.49).window
        47
        """
        chosen = tuned(space, horizon, b_r, b_p, rule)
        return cls(space, horizon, window=chosen.window, widening=chosen.widening, **parameters)

    @classmethod
    def for_problem(
        cls, problem: Problem, budgets: str = "exact", rule: str | None = None, **parameters: Any
    ) -> Self:
        """Return an agent for a problem; parameters not given follow Theorem 1 with the problem's budgets.

        Parameters
        ----------
        problem
            Its space, horizon, reward range and budgets are used.
        budgets
            Which B_r and B_p: ``"exact"``, or others that the problem states, such as ``"printed"`` and ``"order"``
            of the paper's two-state problem.
        rule
            Another theorem's choice, see ``tuned``; ``"theorem-4"`` is the paper's for inventory.
        **parameters
            Other parameters of the agent.

        Examples
        --------
        >>> from driftmdp.agents import SWUCRL2CW
        >>> import driftmdp as dm
        >>> agent = SWUCRL2CW.for_problem(dm.problems.inventory(), rule="theorem-4")
        >>> agent.window, agent.widening
        (1110, 0.0)
        """
        chosen = tuned_to(problem, parameters, budgets, rule)
        widening = chosen.widening
        if "window" in parameters and rule is None:  # eta = sqrt(B_p W / T), for the window that is used
            share = min(1.0, as_integer(parameters["window"], "window", minimum=1) / problem.horizon)
            widening = min(2.0, math.sqrt(problem.budget(budgets)[1] * share))
        parameters = {"window": chosen.window, "widening": widening} | parameters
        return super().for_problem(problem, **parameters)


def tuned_to(
    problem: Problem, parameters: dict[str, Any], budgets: str = "exact", rule: str | None = None
) -> Tuning:
    """Return a theorem's choice for a problem's variation budgets, its rewards in units of the agent's range.

    By default Theorem 1's; with one state, a bandit, that of [CSZ20] remark:bandit.
    """
    checked_problem(problem)
    b_r = unit_variation(problem, parameters.get("reward_range", problem.reward_range), budgets)
    usual = "bandit" if problem.space.n_states == 1 else "theorem-1"
    return tuned(problem.space, problem.horizon, b_r, problem.budget(budgets)[1], usual if rule is None else rule)
