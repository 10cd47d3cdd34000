"""Every law along every path, and each law's masses by scipy."""

from __future__ import annotations

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from driftmdp.problems.inventory import (
    Abrupt,
    Constant,
    Empirical,
    Geometric,
    NegativeBinomial,
    Poisson,
    RegimeSwitching,
    Seasonal,
    Trend,
)

LONG = 1500  # demand beyond this has no mass that matters for the means used here

PATHS = {
    "constant": Constant(2.5),
    "seasonal": Seasonal(mean=4.0, amplitude=3.0, period=7.0, phase=0.5),
    "trend": Trend(start=1.0, end=6.0),
    "abrupt": Abrupt([5.0, 0.5, 3.0], [4, 9]),
    "regime-switching": RegimeSwitching([1.0, 4.0, 7.0], stay=0.6, seed=3),
}

POSITIONS = {
    "constant": Constant(0.25),
    "seasonal": Seasonal(mean=1.0, amplitude=0.9, period=7.0),
    "trend": Trend(start=0.0, end=2.0),
    "abrupt": Abrupt([0.0, 2.0, 1.0], [4, 9]),
    "regime-switching": RegimeSwitching([0.0, 1.0, 2.0], stay=0.6, seed=3),
}

TABLES = [[0.5, 0.25, 0.25], [1, 2, 3, 4, 0, 0, 0, 10], [0, 0, 0, 0, 0, 1]]

LAW_NAMES = ["poisson", "negative-binomial", "geometric", "empirical"]


def law(name: str, path: str):
    """Return a law of that name along a path of that name."""
    if name == "empirical":
        return Empirical(TABLES, POSITIONS[path])
    if name == "negative-binomial":
        return NegativeBinomial(PATHS[path], dispersion=2.5)
    return {"poisson": Poisson, "geometric": Geometric}[name](PATHS[path])


def masses(name: str, path: str, t: int, horizon: int) -> NDArray[np.float64]:
    """Return Pr(X_t = x) for x = 0 .. LONG - 1, from scipy or by hand."""
    if name == "empirical":
        return _between(POSITIONS[path].values(horizon)[t - 1])
    return masses_by_mean(name, PATHS[path].values(horizon)[t - 1], 2.5)


def masses_by_mean(name: str, mean: float, dispersion: float) -> NDArray[np.float64]:
    """Return Pr(X = x) for x = 0 .. LONG - 1 by scipy.stats."""
    x = np.arange(LONG)
    if name == "poisson":
        return scipy.stats.poisson.pmf(x, mean)
    if name == "negative-binomial":
        return scipy.stats.nbinom.pmf(x, dispersion, dispersion / (dispersion + mean))
    return scipy.stats.geom.pmf(x + 1, 1 / (1 + mean))


def _between(position: float) -> NDArray[np.float64]:
    rows = np.zeros((len(TABLES), LONG))
    for row, table in zip(rows, TABLES, strict=True):
        row[: len(table)] = np.array(table) / sum(table)
    low = int(np.floor(position))
    high = min(low + 1, len(TABLES) - 1)
    return (1 - (position - low)) * rows[low] + (position - low) * rows[high]
