"""KL-UCRL [FCG10]: UCRL2 with Kullback-Leibler balls around the estimated transitions.

for episode k = 1, 2, ...
    rewards within C_R / sqrt(N), transitions within KL(p^, p) <= C_P / N (confidence),
    plan with extended value iteration to precision 1/t, the inner maximum by the dual of the ball (MaxKL),
    act until a pair's visits have doubled (schedule).
"""

import math

from driftmdp.agents.optimist_parts import Confidence, RadiusConstants
from driftmdp.agents.reward_range import Range
from driftmdp.agents.sharp_optimist import SharpOptimist
from driftmdp.mdp import Space


class KullbackRadii(Confidence):
    """C_R = sqrt(ln(4 SA ln t / delta) / 1.99), C_P = S (B + ln B' (1 + 1/B')), B = ln(2 e S^2 A ln t / delta).

    B' = B + 1 / ln t. These are the constants of the proofs of [FCG10], with t in place of T.
    """

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        reward_log = math.log(4 * space.n_pairs)
        transition_log = 1.0 + math.log(2 * space.n_states * space.n_pairs)
        return RadiusConstants(1.0 / 1.99, reward_log, float(space.n_states), transition_log, 0.0)


class KLUCRL(SharpOptimist):
    """KL-UCRL of Filippi, Cappe and Garivier [FCG10].

    The ball gives little mass to a next state that was never observed, unless it is worth much, and none of those
    that were observed becomes impossible.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps. Only the default of delta depends on it.
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the mean rewards. None: rewards are used as they are, without a cap.
    scale
        A factor on both constants. 1 is theory.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.garnet(n_states=5, branching=5, drift="stationary", noise="bernoulli")
    >>> sharp = dm.simulate(dm.agents.KLUCRL.for_problem(problem), problem, seed=7)
    >>> plain = dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, seed=7)
    >>> bool(sharp.dynamic_regret(problem)[-1] < plain.dynamic_regret(problem)[-1])
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        seed: int | None = None,
    ) -> None:
        super().__init__(space, horizon, KullbackRadii(delta, scale), reward_range, seed)
        self.delta, self.scale = delta, scale
