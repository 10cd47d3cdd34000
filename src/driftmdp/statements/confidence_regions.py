"""The confidence regions H_r and H_p(eta) of [CSZ20] eq:Hr, eq:Hp, by the definitions.

Nothing here shares code with the planner or the agents, because both are compared with it.
"""

import numpy as np

from driftmdp.mdp import Space
from driftmdp.statements.verdict import Floats


def best_transitions(p_hat: Floats, radius: Floats, u: Floats) -> Floats:
    """Return for every row the p of its ball that maximises p' u, shape (rows, S).

    Put as much mass as the ball and the simplex allow on the best state and take it from the worst ones. A row of
    p_hat that is all zero was never seen: every distribution is plausible.

    Parameters
    ----------
    p_hat
        Centres, shape (rows, S).
    radius
        L1 radii, shape (rows,).
    u
        Values of the states, shape (S,) or (rows, S).
    """
    values = np.broadcast_to(u, p_hat.shape)
    rows = np.arange(len(p_hat))
    best = values.argmax(axis=1)
    unseen = p_hat.sum(axis=1) == 0
    centre = np.where(unseen[:, None], np.eye(p_hat.shape[1])[best], p_hat)
    added = np.where(unseen, 0.0, np.minimum(radius / 2, 1 - centre[rows, best]))
    ranks = np.array(values, float)
    ranks[rows, best] = np.inf
    order = np.argsort(ranks, axis=1)  # worst first, the best last
    masses = np.take_along_axis(centre, order, axis=1)
    before = np.cumsum(masses, axis=1) - masses
    left = masses - np.clip(added[:, None] - before, 0.0, masses)
    chosen = np.empty_like(centre)
    np.put_along_axis(chosen, order, left, axis=1)
    chosen[rows, best] = centre[rows, best] + added
    return chosen


def bellman_values(rewards: Floats, p_hat: Floats, radius: Floats, u: Floats) -> Floats:
    """Return max over H_r and H_p of r + p' u for every row, where ``rewards`` are the upper ends of H_r."""
    return np.asarray(rewards + (best_transitions(p_hat, radius, u) * u).sum(axis=1))


def plain_sweeps(
    space: Space, rewards: Floats, p_hat: Floats, radius: Floats, precision: float, limit: int
) -> tuple[int, float]:
    """Return how many sweeps [CSZ20] alg:evi takes as printed, at most ``limit`` from u = 0, and the last span."""
    u, span = np.zeros(space.n_states), np.inf
    for sweep in range(1, limit + 1):
        following = np.maximum.reduceat(bellman_values(rewards, p_hat, radius, u), space.offsets[:-1])
        span = float(np.ptp(following - u))
        if span <= precision:
            return sweep, span
        u = following - following.min()
    return limit, span


def diameter_of_two_states(p_hat: Floats, radius: Floats) -> float:
    """Return the smallest diameter of any MDP inside the region, for S = 2 and two actions per state.

    From state s the other is reached with probability at most max_a p^(other | s, a) + radius / 2, so the smallest
    expected time is one over that.
    """
    away = np.array([p_hat[0, 1], p_hat[1, 1], p_hat[2, 0], p_hat[3, 0]]) + radius / 2
    return float(1 / np.minimum(1.0, np.maximum.reduceat(away, [0, 2])).min())
