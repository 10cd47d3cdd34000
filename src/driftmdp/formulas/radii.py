"""Confidence radii around empirical rewards and transitions, by the number of visits.

==========  ==================================  ===================================================
symbol      name here                           where
==========  ==================================  ===================================================
N_t(s, a)   counts                              [CSZ20] eq:N_sa, N+ = max(1, N)
rad_r       reward                              [CSZ20] eq:Hr
rad_p       transition (L1)                     [CSZ20] eq:Hp
"SA"        space.n_pairs                       A is an average over states, so SA counts the pairs
==========  ==================================  ===================================================
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space
from driftmdp.validation import as_integer, as_number, as_numbers

Delta = float | None  # None is the paper's choice, 1/T


class Radii(NamedTuple):
    """A reward radius and a transition radius per pair."""

    reward: NDArray[np.float64]
    transition: NDArray[np.float64]

    def __repr__(self) -> str:
        return brief(self)


def paper_radii(counts: ArrayLike, space: Space, horizon: int, delta: Delta = None) -> Radii:
    """Return the radii of SWUCRL2-CW, before widening: [CSZ20] eq:Hr, eq:Hp.

    rad_r = 2 sqrt(2 ln(SAT/delta) / N+), rad_p = 2 sqrt(2 S ln(SAT/delta) / N+), delta = 1/T by default.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas import paper_radii
    >>> paper_radii([1, 148], Space.uniform(2, 2), horizon=5000).reward.round(3)
    array([12.139,  0.998])
    """
    horizon = as_integer(horizon, "horizon", minimum=1)
    log = np.log(as_space(space).n_pairs * horizon / checked_delta(delta, horizon))
    visits = as_visits(counts)
    return Radii(2 * np.sqrt(2 * log / visits), 2 * np.sqrt(2 * space.n_states * log / visits))


def jaksch_radii(counts: ArrayLike, space: Space, t: int, delta: float) -> Radii:
    """Return UCRL2's radii at time t [JOA10, Fig. 1].

    rad_r = sqrt(7 ln(2SAt/delta) / (2 N+)), rad_p = sqrt(14 S ln(2At/delta) / N+).

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas import jaksch_radii
    >>> jaksch_radii([100], Space.uniform(2, 2), t=5000, delta=0.05).transition.round(3)
    array([1.9])
    """
    t = as_integer(t, "t", minimum=1)
    delta, visits = checked_delta(delta, t), as_visits(counts)
    reward = np.sqrt(3.5 * np.log(2 * as_space(space).n_pairs * t / delta) / visits)
    log = np.log(2 * space.mean_actions * t / delta)
    return Radii(reward, np.sqrt(14 * space.n_states * log / visits))


def bernstein_radii(counts: ArrayLike, variances: ArrayLike, p_hat: ArrayLike, space: Space, delta: float) -> Radii:
    """Return UCRL2B's radii, per next state [FPL20].

    2 sqrt(variance L / N+) + 6 L / N+ with L = ln(6 SA N+ / delta). The variance is p(1 - p) for transitions.

    Parameters
    ----------
    counts, variances
        Visits and empirical reward variance, shape (n_pairs,).
    p_hat
        Empirical transitions, shape (n_pairs, S).
    space, delta
        The space and the error probability.

    Examples
    --------
    >>> from driftmdp import Space
    >>> from driftmdp.formulas import bernstein_radii
    >>> radii = bernstein_radii([100], [0.25], [[0.5, 0.5]], Space.uniform(2, 1), delta=0.05)
    >>> radii.reward.round(3), radii.transition.round(3)
    (array([0.923]), array([[0.923, 0.923]]))
    """
    visits, p, spread = as_visits(counts), as_numbers(p_hat, "p_hat"), as_numbers(variances, "variances")
    if p.ndim != 2 or not visits.shape == spread.shape == p.shape[:1] or not _within(p, 1.0) or not _within(spread):
        rule = "counts and variances must have one number per pair, and p_hat one row of probabilities"
        raise InvalidInputError(f"{rule}; got shapes {visits.shape}, {spread.shape} and {p.shape}.")
    log = np.log(6 * as_space(space).n_pairs * visits / checked_delta(delta, 1)) / visits
    reward = 2 * np.sqrt(spread * log) + 6 * log
    return Radii(reward, 2 * np.sqrt(p * (1 - p) * log[:, None]) + 6 * log[:, None])


def as_visits(counts: ArrayLike, name: str = "counts") -> NDArray[np.float64]:
    """Return N+ of counts, the larger of each and 1."""
    visits = as_numbers(counts, name)
    if not _within(visits):
        raise InvalidInputError(f"{name} must not be negative or missing.")
    return np.maximum(1.0, visits)


def _within(values: NDArray[np.float64], most: float = np.inf) -> bool:
    """Return whether all lie in [0, most]."""
    return bool(((values >= 0) & (values <= most)).all())


def checked_delta(delta: Delta, horizon: float) -> float:
    """Return delta, a probability above 0, or 1 / horizon by default."""
    if delta is None:
        return 1.0 / horizon
    value = as_number(delta, "delta", 0.0, 1.0)
    if value == 0.0:
        raise InvalidInputError("delta must be positive; got 0. The paper's choice is 1/T.")
    return value
