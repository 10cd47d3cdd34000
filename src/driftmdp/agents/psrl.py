"""PSRL, posterior sampling [ORR13], for average reward as in [OGNJ17]: act as if one plausible world were true.

for episode m = 1, 2, ...
    draw a model from the posterior: Dirichlet next states, Beta mean rewards,
    act by its gain-optimal policy until a pair's visits have doubled, as UCRL2 does.
"""

from driftmdp.agents.posterior_sampler import PosteriorSampler
from driftmdp.agents.reward_range import Range
from driftmdp.mdp import Space


class PSRL(PosteriorSampler):
    """Posterior sampling: draw a world from the posterior, and follow its best policy until the next draw.

    The posterior of a pair's next states is Dirichlet(prior + counts), that of its mean reward Beta(1 + sum of
    rewards, 1 + N - sum of rewards), with rewards mapped to [0, 1] and clipped.

    Parameters
    ----------
    space
        States and actions.
    reward_range
        Bounds (lo, hi) on the rewards.
    prior
        The Dirichlet weight of each next state, at least 0.05 / S. By default 1/S: all next states together
        weigh as much as one visit. Public implementations have 1; docs/agents.md compares the two.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.river_swim(horizon=5000)
    >>> run = dm.simulate(dm.agents.PSRL.for_problem(problem), problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 300)
    True
    >>> run.summary
    SamplingSummary(plans=..., prior=0.16666..., tolerance=0.001, residual=...)
    """

    def __init__(
        self, space: Space, reward_range: Range = (0.0, 1.0), prior: float | None = None, seed: int | None = None
    ) -> None:
        super().__init__(space, None, reward_range, prior, seed)
