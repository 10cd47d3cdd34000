"""How sure the order of some agents is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.statistics.resampling import Resamples, resampled_means
from driftmdp.statistics.samples import Floats, as_sample


@dataclass(frozen=True, eq=False)
class Ranking:
    """How sure the order of some agents is; arrays with one number per agent.

    Attributes
    ----------
    mean_rank
        The rank of the agent's mean (1 is best, ties share the average), averaged over the resamples.
    low, high
        The percentile interval of that rank; NaN where one seed is all there is.
    best_share
        The share of resamples in which the agent is best, ties split; NaN where one seed is all there is.
    level
        The level of the interval.
    """

    mean_rank: Floats
    low: Floats
    high: Floats
    best_share: Floats
    level: float

    __repr__ = brief


def rank_shares(values: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Ranking:
    """Return how sure the ranks of the agents' means are, by resampling whole seeds; higher is better.

    Parameters
    ----------
    values
        One row per seed and one column per agent, shape (n, k).
    level, resamples, seed
        As in :func:`mean_interval`; here the percentile interval is the plain one.

    Examples
    --------
    >>> found = rank_shares([[1.0, 3.0, 3.0], [2.0, 4.0, 4.0]])
    >>> found.mean_rank, found.best_share
    (array([3. , 1.5, 1.5]), array([0. , 0.5, 0.5]))
    """
    table = as_sample(values, "values")
    if table.ndim != 2 or table.shape[1] == 0:
        raise InvalidInputError(f"values must have shape (n seeds, k agents); got {table.shape}.")
    plan = Resamples(len(table), level, resamples, seed)
    means = resampled_means(table, plan)
    ranks, best = _ranks(means, tolerance=1e-12 * float(np.abs(table).max()))
    share = (best / best.sum(axis=0)).mean(axis=1)
    if plan.n == 1:
        share = np.full_like(share, np.nan)
    low, high = plan.ends(ranks, tail=(1 - plan.level) / 2)
    return Ranking(ranks.mean(axis=1), low, high, share, plan.level)


def _ranks(means: Floats, tolerance: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the rank of each row within its column, and whether none is better; shape (k, resamples)."""
    ranks, best = np.empty_like(means), np.empty(means.shape, dtype=np.bool_)
    for k, row in enumerate(means):
        ahead = means - row
        better = np.count_nonzero(ahead > tolerance, axis=0)
        equal = np.count_nonzero(np.abs(ahead) <= tolerance, axis=0)
        ranks[k], best[k] = better + (equal + 1) / 2, better == 0
    return ranks, best
