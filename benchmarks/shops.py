"""Simulated shops to choose constants on, and others to report on: laws, drifts and costs drawn at random.

The constants of kernels/censored_demand.py were chosen on ``random_shops(1)`` and the like. docs/inventory.md
reports on ``random_shops(7)``.
"""

from __future__ import annotations

import numpy as np

import driftmdp as dm
from driftmdp.problems.inventory import DemandLaw, InventoryProblem, NegativeBinomial, Poisson

__all__ = ["random_shops"]

DAYS = 365
LEAST, MOST = 0.2, 15.0  # mean demand


def random_shops(seed: int, n: int = 240) -> list[InventoryProblem]:
    """Return shops with a shelf of 20, for a year. Half of the laws are about as wide as in retail."""
    rng = np.random.default_rng(seed)
    return [_shop(rng) for _ in range(n)]


def _shop(rng: np.random.Generator) -> InventoryProblem:
    dispersion = rng.choice([np.inf, np.inf, 5.0, 2.0, 1.0, 0.7])
    means = np.clip(_means(rng), LEAST, MOST)
    law: DemandLaw = Poisson(means) if np.isinf(dispersion) else NegativeBinomial(means, float(dispersion))
    return dm.problems.inventory(
        capacity=20,
        horizon=DAYS,
        demand=law,
        fixed_cost=float(rng.choice([0.0, 2.0, 4.0, 8.0])),
        unit_cost=0.5,
        lost_sale=float(rng.choice([2.0, 4.0, 8.0])),
        holding=float(rng.choice([0.2, 0.5, 1.0])),
        zeta=0.0,
    )


def _means(rng: np.random.Generator) -> np.ndarray:
    """Return a path: still, seasonal, with jumps, a trend, or a random walk."""
    level, t = rng.uniform(1.5, 7.0), np.arange(DAYS)
    kind = rng.integers(5)
    if kind == 0:
        return np.full(DAYS, level)
    if kind == 1:
        turn = t / rng.uniform(60, 800) + rng.random()
        return np.asarray(level * (1 + rng.uniform(0.3, 0.8) * np.sin(2 * np.pi * turn)))
    if kind == 2:
        means = np.full(DAYS, level)
        for day in np.sort(rng.integers(30, DAYS, rng.integers(1, 4))):
            means[day:] = level * np.exp(rng.uniform(-1, 1))
        return means
    if kind == 3:
        return np.asarray(level * np.exp(np.linspace(0, rng.uniform(-1.2, 1.2), DAYS)))
    return np.asarray(level * np.exp(np.cumsum(rng.normal(0, rng.choice([0.01, 0.03, 0.06]), DAYS))))
