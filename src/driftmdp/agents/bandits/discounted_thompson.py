"""Discounted Thompson sampling, dTS [RK17]: Thompson sampling whose successes and failures fade.

for t = 1 .. T
    draw theta of every arm from Beta(alpha_0 + S, beta_0 + F), and play the arm with the largest
    the reward, in [0, 1], becomes a success with the probability of its size, otherwise a failure
    S and F of all arms are multiplied by the discount, and the success or failure is added
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.bandits.bandit import Bandit
from driftmdp.agents.bandits.bandit_arrays import restored_array
from driftmdp.agents.bandits.sw_ucb import window_for
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.reward_range import Range, span_of
from driftmdp.agents.snapshot_checks import require, restored_bits
from driftmdp.formulas import d_ucb_discount
from driftmdp.mdp import Problem, Space
from driftmdp.npz import Arrays
from driftmdp.validation import as_fraction, as_number

if TYPE_CHECKING:
    from driftmdp.kernels.discounted_thompson import ThompsonArrays

LARGEST_PRIOR = 1e6


class DiscountedThompson(Bandit, ResumableAgent):
    """Posterior sampling for bandits on plays that fade.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    discount
        What a play counts for after one more step, 0 to 1. At 1 it is Thompson sampling.
    successes, failures
        alpha_0 and beta_0 of the prior, at least 1. At 1 and 1 it is uniform.
    reward_range
        Bounds (lo, hi) on the rewards, which are mapped to [0, 1] and clipped.
    seed
        Of the generator used until ``reset(rng)`` gives another. None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> agent = dm.agents.DiscountedThompson.tuned(problem.space, 5000, changes=5)
    >>> round(agent.discount, 4)
    0.9921
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 400)
    True
    """

    _arrays: "ThompsonArrays"

    def __init__(
        self,
        space: Space,
        discount: float,
        successes: float = 1.0,
        failures: float = 1.0,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(space, None, reward_range, seed)
        self.discount = as_fraction(discount, "discount")
        self.successes = as_number(successes, "successes", 1.0, LARGEST_PRIOR)
        self.failures = as_number(failures, "failures", 1.0, LARGEST_PRIOR)
        prior, mapping = (self.successes, self.failures), (self.reward_range[0], span_of(self.reward_range))
        self._params = kernels.discounted_thompson.ThompsonParams(self.discount, *prior, *mapping)
        self.reset()

    @classmethod
    def tuned(cls, space: Space, horizon: int, changes: int, **parameters: Any) -> Self:
        """Return an agent with D-UCB's discount for a number of abrupt changes, 1 - sqrt(changes / T) / 4."""
        return cls(space, discount=d_ucb_discount(horizon, changes), **parameters)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem, by default with ``DUCB.for_problem``'s discount: [RK17] has no rule."""
        if "discount" not in parameters:
            window = window_for(problem, parameters, cls.__name__)
            parameters["discount"] = 1.0 if window >= problem.horizon else 1.0 - 1.0 / (window + 1)
        return super().for_problem(problem, **parameters)

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. Draws come from ``rng``, by default from ``seed``."""
        super().reset(rng)
        n_arms = self.space.n_pairs
        bits = self._generator(rng).integers(0, 2**64, 4, dtype=np.uint64)
        counts = np.zeros(n_arms), np.zeros(n_arms), np.full(1, -1, np.int64)
        self._arrays = kernels.discounted_thompson.ThompsonArrays(*counts, bits)

    def counts(self) -> NDArray[np.float64]:
        """Return the discounted plays of every arm, shape (arms,)."""
        return self._arrays.successes + self._arrays.failures

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the posterior mean of every arm's mean reward, shape (arms,)."""
        successes = self.successes + self._arrays.successes
        share = successes / (successes + self.failures + self._arrays.failures)
        return self._params.bottom + self._params.span * share

    def _decide(self, state: int) -> int:
        return int(kernels.discounted_thompson.choose(self._params, self._arrays))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        kernels.discounted_thompson.learn(self._params, self._arrays, action, reward)
        super()._learn(state, action, reward, next_state)

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        rows = context.record, first, last
        kernels.discounted_thompson.play(context.inputs, self._params, self._arrays, *rows)
        self._t += last - first

    def _state_arrays(self) -> Arrays:
        arrays = self._arrays
        counts = {"successes": arrays.successes, "failures": arrays.failures, "advised": arrays.advised}
        return super()._state_arrays() | counts | {"luck": arrays.generator}

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        names = "successes", "failures", "advised"
        successes, failures, advised = (restored_array(arrays, name, getattr(self._arrays, name)) for name in names)
        require(bool((successes >= 0).all() and (failures >= 0).all()), "a count is wrong")
        require(-1 <= advised[0] < self.space.n_pairs, "the arm advised does not exist")
        kind = kernels.discounted_thompson.ThompsonArrays
        self._arrays = kind(successes, failures, advised, restored_bits(arrays["luck"]))
