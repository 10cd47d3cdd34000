"""Small worlds that change at once, so that detectors and tests have something to find."""

from __future__ import annotations

import numpy as np

import driftmdp as dm
from tests.strategies import random_mdp, random_space

NOISES = ("none", "bernoulli", "gaussian(0.2)", "anchor")


def abrupt_problem(seed: int, horizon: int, n_states: int | None = None, parts: int = 3) -> dm.Problem:
    """Return a problem with ragged actions that is another one in each of its parts."""
    rng = np.random.default_rng(seed)
    space = random_space(rng, n_states or int(rng.integers(1, 4)))
    mdps = [random_mdp(rng, space, 3) for _ in range(parts)]
    changes = [horizon * part // parts + 1 for part in range(1, parts)]
    drifting = dm.DriftingMdp.piecewise(mdps, changes, horizon=horizon)
    start = int(rng.integers(space.n_states))
    return dm.Problem(drifting, start=start, noise=NOISES[seed % len(NOISES)], name=f"abrupt {seed}")
