"""PSRL on a sliding window: posterior sampling for worlds that change.

Ours: the window and the multiples of W are those of [CSZ20] alg:swr-ucrl2, the posterior that of [ORR13].
"""

from driftmdp.agents.posterior_sampler import PosteriorSampler, usual_window
from driftmdp.agents.reward_range import Range
from driftmdp.mdp import Space
from driftmdp.validation import as_integer


class SlidingWindowPSRL(PosteriorSampler):
    """Posterior sampling that counts the last W steps only, and draws a model at multiples of W too.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    window
        W: how many past steps count. By default [CSZ20]'s for unknown variation, S^(2/3) A^(1/2) T^(1/2)
        rounded down, at most T.
    reward_range
        Bounds (lo, hi) on the rewards.
    prior
        The Dirichlet weight of each next state; by default 1/S, see ``PSRL``.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> agent = dm.agents.SlidingWindowPSRL.for_problem(problem)
    >>> agent.window
    158
    >>> dm.simulate(agent, problem, seed=7).plans >= 5000 // 158
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        window: int | None = None,
        reward_range: Range = (0.0, 1.0),
        prior: float | None = None,
        seed: int | None = None,
    ) -> None:
        steps = as_integer(horizon, "horizon", minimum=1)
        chosen = usual_window(space, steps) if window is None else window
        self.window = as_integer(chosen, "window", minimum=1)
        kept = self.window if self.window < steps else 0  # nothing leaves a longer one
        super().__init__(space, horizon, reward_range, prior, seed, window=kept, every=self.window)
