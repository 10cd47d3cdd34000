"""A ratio of sums over windows and items, with an interval that resamples both.

Few windows make a percentile interval too narrow: with nine by up to a fifth, sqrt(8 / 9) 1.96 / 2.31, if windows
are all that varies.
"""

from __future__ import annotations

import numpy as np

from driftmdp.kernels.arrays import Floats
from driftmdp.statistics import Interval

__all__ = ["shown", "two_way_ratio"]

RESAMPLES = 2000


def two_way_ratio(over: Floats, under: Floats, level: float = 0.95) -> Interval:
    """Return sum(over) / sum(under), arrays by (window, item), with the middle of its resamples."""
    rng = np.random.default_rng(0)
    n_windows, n_items = over.shape
    windows = rng.multinomial(n_windows, np.full(n_windows, 1.0 / n_windows), RESAMPLES)
    items = rng.multinomial(n_items, np.full(n_items, 1.0 / n_items), RESAMPLES)
    sums = [((windows @ costs) * items).sum(axis=1) for costs in (over, under)]
    low, high = np.quantile(sums[0] / sums[1], [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(over.sum() / under.sum()), float(low), float(high), level)


def shown(found: Interval) -> str:
    """Return an interval as tables show it."""
    return f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
