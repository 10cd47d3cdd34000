"""Garnets: random MDPs with a given number of successors per pair [AMT95], here as anchors of drift."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import DRIFTS, drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_fraction, as_integer, one_of


@register("garnet-v1")
def garnet(
    n_states: int = 20,
    n_actions: int = 4,
    branching: int = 5,
    reward_sparsity: float = 0.5,
    horizon: int = 5000,
    drift: str = "slow",
    n_anchors: int = 3,
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "none",
    seed: int = 0,
) -> Problem:
    """Random MDPs that drift into each other: no structure to exploit.

    Every pair leads to ``branching`` random states with random probabilities. A share of pairs pays nothing, the
    others a uniform reward in [0, 1]. A random cycle through all states makes every anchor, and so every mixture,
    communicating.

    Parameters
    ----------
    n_states, n_actions, branching
        The size. ``branching`` is the number of successors of a pair.
    reward_sparsity
        Share of pairs with reward 0.
    horizon
        T.
    drift
        ``stationary``, ``slow``, ``seasonal`` and ``fast`` (linear from anchor to anchor and back, 1, 5 or 20
        times), ``reward-only`` and ``transition-only`` (twice, with the other fixed), or ``abrupt`` (jumps).
    n_anchors
        Random MDPs to move between.
    cycles
        Cycles over the horizon, instead of the drift's own number.
    changes
        Jumps of ``abrupt``.
    noise
        Reward noise.
    seed
        Selects the random MDPs.

    Examples
    --------
    >>> from driftmdp.problems import garnet
    >>> garnet(n_states=5, drift="abrupt", horizon=100).drifting
    <DriftingMdp: 100 steps, 3 anchors, 5 states, 20 pairs>
    """
    n_states = as_integer(n_states, "n_states", minimum=1)
    n_actions = as_integer(n_actions, "n_actions", minimum=1)
    branching = as_integer(branching, "branching", 1, n_states)
    as_fraction(reward_sparsity, "reward_sparsity")
    one_of(drift, "drift", DRIFTS)
    count = 1 if drift == "stationary" else as_integer(n_anchors, "n_anchors", minimum=2)
    rng = np.random.default_rng(as_integer(seed, "seed", minimum=0))
    entries = count * n_states * n_actions * branching
    require_memory(32 * entries, f"n_anchors x n_states x n_actions x branching = {entries:,}")
    anchors = [garnet_mdp(n_states, n_actions, branching, reward_sparsity, rng) for _ in range(count)]
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


def garnet_mdp(
    n_states: int, n_actions: int, branching: int, reward_sparsity: float, rng: np.random.Generator
) -> Mdp:
    """Return one communicating Garnet."""
    n_pairs = n_states * n_actions
    if n_states <= 500:
        successors = np.argsort(rng.random((n_pairs, n_states)), axis=1)[:, :branching]
    else:
        successors = np.stack([rng.choice(n_states, branching, replace=False) for _ in range(n_pairs)])
    _plant_cycle(successors, n_actions, rng)
    cuts = np.sort(rng.random((n_pairs, branching - 1)), axis=1)
    edges = np.hstack([np.zeros((n_pairs, 1)), cuts, np.ones((n_pairs, 1))])
    indptr = np.arange(n_pairs + 1) * branching
    parts = np.diff(edges, axis=1).ravel(), successors.ravel(), indptr
    transitions = sp.csr_array(parts, shape=(n_pairs, n_states))
    rewards = rng.random(n_pairs) * (rng.random(n_pairs) >= reward_sparsity)
    return Mdp(Space.uniform(n_states, n_actions), rewards, transitions)


def _plant_cycle(successors: NDArray[Any], n_actions: int, rng: np.random.Generator) -> None:
    """Make one action of every state lead to the next state of a random cycle."""
    n_states = len(successors) // n_actions
    cycle = rng.permutation(n_states)
    for state, following in zip(cycle, np.roll(cycle, -1), strict=True):
        row = successors[state * n_actions + rng.integers(n_actions)]
        if following not in row:
            row[0] = following
