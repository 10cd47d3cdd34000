"""UCRL2 [JOA10]: optimism in a world that does not change.

for episode k = 1, 2, ...
    count all steps so far (memory), build Jaksch's confidence sets (confidence),
    plan with extended value iteration to precision 1/sqrt(t),
    act until a pair's visits have doubled (schedule).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import EPISODES, Confidence, Everything, JakschRadii, PaperRadii
from driftmdp.agents.reward_range import Range
from driftmdp.mdp import Space
from driftmdp.validation import one_of

RADII: dict[str, type[Confidence]] = {"jaksch": JakschRadii, "paper": PaperRadii}


class UCRL2(Optimist):
    """UCRL2 of Jaksch, Ortner and Auer [JOA10].

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps; only the default of delta and ``radii="paper"`` depend on it.
    radii
        ``"jaksch"``, its own, or ``"paper"``, those of [CSZ20] eq:Hr and eq:Hp.
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
    >>> run = dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, seed=7)
    >>> bool((run.sweeps >= 1).all())
    True
    """

    later_parameters: ClassVar[Mapping[str, Any]] = {"episodes": "doubling"}

    def __init__(
        self,
        space: Space,
        horizon: int,
        radii: str = "jaksch",
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
        episodes: str = "doubling",
    ) -> None:
        memory, confidence = Everything(), RADII[one_of(radii, "radii", RADII)](delta, scale)
        schedule = EPISODES[one_of(episodes, "episodes", EPISODES)]
        super().__init__(space, horizon, memory, confidence, schedule, reward_range, planner, ties, seed)
        self.radii, self.delta, self.scale, self.episodes = radii, delta, scale, episodes
