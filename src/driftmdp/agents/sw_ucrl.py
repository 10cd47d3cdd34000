"""SW-UCRL [GOA18]: UCRL2's radii on a sliding window; episodes end only by doubling, not at multiples of W."""

import math
from typing import Any, Self

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, JakschRadii, SlidingWindow
from driftmdp.agents.reward_range import Range
from driftmdp.agents.swucrl2_cw import tuned_to
from driftmdp.formulas.rounding import whole_part
from driftmdp.mdp import Problem, Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_integer, as_number


class SWUCRL(Optimist):
    """SW-UCRL of Gajane, Ortner and Auer [GOA18].

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
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
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> dm.simulate(dm.agents.SWUCRL.for_problem(problem, window=100), problem, seed=7).actions.shape
    (1000,)
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
        memory, confidence = SlidingWindow(window), JakschRadii(delta, scale)
        super().__init__(space, horizon, memory, confidence, BY_DOUBLING, reward_range, planner, ties, seed)
        self.window, self.delta, self.scale = window, delta, scale

    @classmethod
    def tuned(cls, space: Space, horizon: int, changes: int, diameter: float, **parameters: Any) -> Self:
        """Return an agent with the window of [GOA18] for a number of changes and the largest diameter.

        W = (16.53 T D S sqrt(A ln(T/delta)) / l)^(2/3), within [1, T].

        Examples
        --------
        >>> from driftmdp import Space
        >>> from driftmdp.agents import SWUCRL
        >>> SWUCRL.tuned(Space.uniform(2, 2), 100_000, changes=100, diameter=2.0).window
        5860
        """
        t, count = as_integer(horizon, "horizon", minimum=1), as_integer(changes, "changes", minimum=1)
        given = parameters.get("delta")
        delta = (1.0 / t if given is None else as_number(given, "delta", 0.0, 1.0)) or 1.0 / t
        root = math.sqrt(as_space(space).mean_actions * math.log(t / delta))
        d = as_number(diameter, "diameter", minimum=0.0)
        window = (16.53 * t * d * space.n_states * root / count) ** (2 / 3)
        return cls(space, t, window=max(1, whole_part(min(window, float(t)))), **parameters)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem; without a window, SWUCRL2-CW's, to compare the two."""
        if "window" not in parameters:
            parameters["window"] = tuned_to(problem, parameters).window
        return super().for_problem(problem, **parameters)
