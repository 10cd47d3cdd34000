"""UCRL2B [FPL20]: UCRL2 with empirical Bernstein intervals around every transition probability."""

from collections.abc import Mapping
from typing import Any, ClassVar

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import EPISODES, BernsteinRadii, Everything
from driftmdp.agents.reward_range import Range
from driftmdp.mdp import Space
from driftmdp.validation import one_of


class UCRL2B(Optimist):
    """UCRL2B of Fruit, Pirotta and Lazaric [FPL20].

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps; only the default of delta depends on it.
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
    episodes
        ``"doubling"``, its own, or ``"vanishing"``: shorter ones, by the rule of [BG25].

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.river_swim(horizon=2000)
    >>> dm.simulate(dm.agents.UCRL2B.for_problem(problem), problem, seed=7).rewards.shape
    (2000,)
    """

    later_parameters: ClassVar[Mapping[str, Any]] = {"episodes": "doubling"}

    def __init__(
        self,
        space: Space,
        horizon: int,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
        episodes: str = "doubling",
    ) -> None:
        memory, confidence = Everything(), BernsteinRadii(delta, scale)
        schedule = EPISODES[one_of(episodes, "episodes", EPISODES)]
        super().__init__(space, horizon, memory, confidence, schedule, reward_range, planner, ties, seed)
        self.delta, self.scale, self.episodes = delta, scale, episodes
