"""A forecaster of one's own, for tests: the mean of the last week, a little above and below."""

import numpy as np


def forecast(history, days):
    """Return quantiles of each of the days."""
    mean = history.units[-7:].mean() if history.units.size else 2.0
    return np.tile(mean * np.linspace(0.5, 1.5, 19), (days.size, 1))
