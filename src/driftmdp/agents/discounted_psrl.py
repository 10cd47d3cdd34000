"""PSRL on counts that fade: every step multiplies all that is remembered by a discount."""

import math

from driftmdp.agents.posterior_sampler import PosteriorSampler, usual_window
from driftmdp.agents.reward_range import Range
from driftmdp.mdp import Space
from driftmdp.validation import as_number

LEAST_DISCOUNT = 1e-9


class DiscountedPSRL(PosteriorSampler):
    """Posterior sampling on counts that fade; a model is drawn at multiples of 1 / (1 - discount) too.

    An episode also ends when a pair's visits in it reach its faded count at its start, and at least 1. What has
    faded below 1e-9 of a step is forgotten.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    discount
        What a step counts for after one more step, 1e-9 to 1; at 1 nothing fades. By default 1 - 1/W with the
        window W of ``SlidingWindowPSRL``.
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
    >>> agent = dm.agents.DiscountedPSRL.for_problem(problem)
    >>> round(agent.discount, 4)
    0.9937
    >>> dm.simulate(agent, problem, seed=7).plans >= 5000 // 158
    True
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        discount: float | None = None,
        reward_range: Range = (0.0, 1.0),
        prior: float | None = None,
        seed: int | None = None,
    ) -> None:
        chosen = 1.0 - 1.0 / max(2, usual_window(space, horizon)) if discount is None else discount
        self.discount = as_number(chosen, "discount", LEAST_DISCOUNT, 1.0)
        every = 0 if self.discount == 1.0 else max(1, math.floor(1.0 / (1.0 - self.discount) + 1e-6))
        super().__init__(space, horizon, reward_range, prior, seed, discount=self.discount, every=every)
