"""R-BOCPD-UCRL2 [AMM23]: UCRL2, restarted when Bayesian run lengths say that a pair's next states have changed.

each step
    act as UCRL2 does,
    let every Laplace predictor of the pair, one for each time at which its present law may have begun, call the
    next state (R-BOCPD [AMF20] for multinomial observations),
    restart UCRL2 from scratch if one that began later has more weight than the first.

Of [AMM23] only the abstract could be read. docs/rivals.md says what was decided here.
"""

from driftmdp.agents.detecting import Detecting
from driftmdp.agents.detectors import RunLengthDetector
from driftmdp.agents.reward_range import Range
from driftmdp.mdp import Space
from driftmdp.validation import as_integer


class RBOCPDUCRL2(Detecting):
    """UCRL2 with restarts by Bayesian run lengths of the next states, R-BOCPD-UCRL2 of [AMM23].

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    hazard
        eta, the weight of a predictor that begins now, 1/T by default, as in the code of [AMF20].
    delta
        UCRL2's probability of error, 1/T by default.
    watch
        What is watched: ``"next-states"`` as in [AMM23], ``"rewards"`` or ``"both"``.
    reward_range
        Bounds (lo, hi) on the rewards.
    scale
        A factor on every radius of UCRL2. 1 is theory, which is vacuous at horizons of thousands of steps.
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``.
    ties
        ``"least-visited"`` or ``"first"``.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.garnet(n_states=5, drift="abrupt", horizon=2000)
    >>> agent = dm.agents.RBOCPDUCRL2.for_problem(problem, scale=0.1)
    >>> {alarm.stream for alarm in dm.simulate(agent, problem, seed=7).summary.alarms}
    {'next-states'}
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        hazard: float | None = None,
        delta: float | None = None,
        watch: str = "next-states",
        reward_range: Range = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        eta = 1.0 / as_integer(horizon, "horizon", minimum=1) if hazard is None else hazard
        detector = RunLengthDetector(eta, support="all")
        inner = {"delta": delta, "scale": scale, "planner": planner, "ties": ties}
        super().__init__(
            space, horizon, "UCRL2", inner, detector, watch=watch, reward_range=reward_range, seed=seed
        )
        self.hazard, self.delta, self.scale = hazard if hazard is None else detector.hazard, delta, scale
        self.planner, self.ties = planner, ties
