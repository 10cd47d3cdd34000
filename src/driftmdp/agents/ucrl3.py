"""UCRL3 [BMT20]: UCRL2 with sharper intervals, and optimism only about next states that matter.

for episode k = 1, 2, ...
    for every pair and next state: the plausible probabilities, by Bernstein's and Laplace's bounds (confidence),
    plan with extended value iteration to precision 1/t, the inner maximum over near-optimistic supports (NOSS),
    act until a pair's visits have doubled (schedule).
"""

import math

from driftmdp.agents.optimist_parts import Confidence, RadiusConstants
from driftmdp.agents.reward_range import Range, required_range
from driftmdp.agents.sharp_optimist import SharpOptimist
from driftmdp.mdp import Space
from driftmdp.validation import as_fraction


class PeeledRadii(Confidence):
    """Each bound holds with probability 1 - d, d = delta / (SA (3 + 3 S)): three per pair, three per next state."""

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        log = math.log(space.n_pairs * (3 + 3 * space.n_states))
        return RadiusConstants(0.0, log, 0.0, log, 0.0, bernstein=True)


class UCRL3(SharpOptimist):
    """UCRL3 of Bourel, Maillard and Talebi [BMT20].

    Its bounds hold at all times at once, for every next state alone. The inner maximum of a plan moves mass only to
    next states that were observed, the best state, and as many others as could matter.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps. Only the default of delta depends on it.
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the rewards.
    scale
        A factor on every radius. 1 is theory.
    certainty
        A next state that followed all n visits of a pair is given a probability of at least certainty^(1/n). The
        authors' code has 0.5: no confidence bound, but it saves much exploration where steps are certain. 0 leaves
        it out.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.garnet(n_states=5, branching=5, drift="stationary", noise="bernoulli")
    >>> sharp = dm.simulate(dm.agents.UCRL3.for_problem(problem), problem, seed=7)
    >>> plain = dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, seed=7)
    >>> bool(sharp.dynamic_regret(problem)[-1] < plain.dynamic_regret(problem)[-1])
    True
    """

    reward_range: Range

    def __init__(
        self,
        space: Space,
        horizon: int,
        delta: float | None = None,
        reward_range: Range = (0.0, 1.0),
        scale: float = 1.0,
        certainty: float = 0.5,
        seed: int | None = None,
    ) -> None:
        super().__init__(space, horizon, PeeledRadii(delta, scale), required_range(reward_range), seed)
        self.delta, self.scale, self.certainty = delta, scale, as_fraction(certainty, "certainty")
