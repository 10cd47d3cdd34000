"""UCRL2B with restarts: the radii of [FPL20], and the restarts of UCRL2.S."""

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, BernsteinRadii, SinceRestart
from driftmdp.agents.reward_range import Range
from driftmdp.agents.ucrl2_s import periodic_restarts
from driftmdp.mdp import Space
from driftmdp.validation import as_integer


class RestartedUCRL2B(Optimist):
    """UCRL2B with periodic restarts.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    period
        Restart every so many steps; by default floor(T^(2/3)), as ``UCRL2S``.
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
    >>> from driftmdp.agents import RestartedUCRL2B
    >>> import driftmdp as dm
    >>> RestartedUCRL2B(dm.Space.uniform(2, 2), horizon=5000).period
    292
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        period: int | None = None,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        self.period, starts = periodic_restarts(as_integer(horizon, "horizon", minimum=1), period)
        memory, confidence = SinceRestart(starts), BernsteinRadii(delta, scale)
        super().__init__(space, horizon, memory, confidence, BY_DOUBLING, reward_range, planner, ties, seed)
        self.delta, self.scale = delta, scale
