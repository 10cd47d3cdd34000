"""UCB1, for bandits that do not change [ABF02]: mean + sqrt(2 ln n / N), n all plays so far, N those of the arm."""

from driftmdp.agents.bandits.upper_confidence import UpperConfidence
from driftmdp.mdp import Space


class UCB1(UpperConfidence):
    """Optimism on everything seen so far: optimal where nothing changes, stuck where the best arm fades.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="stationary", horizon=5000)
    >>> run = dm.simulate(dm.agents.UCB1.for_problem(problem), problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 50)
    True
    """

    def __init__(
        self, space: Space, reward_range: tuple[float, float] = (0.0, 1.0), seed: int | None = None
    ) -> None:
        super().__init__(space, None, reward_range, seed, factor=2.0)
