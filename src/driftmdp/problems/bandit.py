"""Non-stationary bandits: the case S = 1, with which [CSZ20] Sections 1 to 3 compare."""

import math

import numpy as np
from numpy.typing import NDArray

from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import MOST, blocks
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number, one_of


@register("bandit-v1")
def bandit(
    n_arms: int = 2,
    horizon: int = 5000,
    drift: str = "sinusoidal",
    cycles: float = 5,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """Arms whose means move. With one state, only forgetting and exploring matter.

    With ``sinusoidal`` drift the mean of arm k = 0 .. K - 1 is 0.5 + 0.3 sin(2 pi (cycles t / T + k / K)). With
    ``abrupt`` drift the means run from 0.8 down to 0.2, and the best arm is the next one after each change.
    ``stationary`` is the first block of ``abrupt``.

    Closed form: rho*_t is the largest mean, the diameter is 0, and no transition varies.

    Parameters
    ----------
    n_arms
        K, at least 1.
    horizon
        T.
    drift
        ``stationary``, ``sinusoidal`` or ``abrupt``.
    cycles
        Full cycles of ``sinusoidal`` over the horizon.
    changes
        Jumps of ``abrupt``.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import bandit
    >>> problem = bandit(drift="abrupt", horizon=100)
    >>> planning.optimal_gains(problem.drifting).round(9).tolist()[:2]
    [0.8, 0.8]
    """
    n_arms = as_integer(n_arms, "n_arms", minimum=1)
    is_smooth = one_of(drift, "drift", ("stationary", "sinusoidal", "abrupt")) == "sinusoidal"
    require_memory(56 * n_arms * (3 if is_smooth else n_arms), f"n_arms = {n_arms:,}")
    horizon = as_horizon(horizon, n_weights=3 if is_smooth else 0)
    cycles = as_number(cycles, "cycles", 0.0, MOST)
    changes = as_integer(changes, "changes", 0, MOST)
    if is_smooth:
        drifting = _sinusoidal(n_arms, horizon, cycles)
    else:
        anchors = [_arms(np.roll(np.linspace(0.8, 0.2, n_arms), k)) for k in range(n_arms)]
        drifting = DriftingMdp(anchors, blocks(horizon, n_arms, changes if drift == "abrupt" else 0))
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


def _arms(means: NDArray[np.float64]) -> Mdp:
    return Mdp(Space.uniform(1, means.size), means, np.ones((means.size, 1)))


def _sinusoidal(n_arms: int, horizon: int, cycles: float) -> DriftingMdp:
    """Write sin(a + b_k) as sin a cos b_k + cos a sin b_k: three anchors, whatever the number of arms."""
    phase = 2 * math.pi * np.arange(n_arms) / n_arms
    angle = 2 * math.pi * cycles * np.arange(1, horizon + 1) / horizon
    anchors = [_arms(np.full(n_arms, 0.5)), _arms(0.3 * np.cos(phase)), _arms(0.3 * np.sin(phase))]
    weights = np.column_stack([np.ones(horizon), np.sin(angle), np.cos(angle)])
    return DriftingMdp(anchors, np.zeros(horizon, dtype=np.int32), reward_weights=weights)
