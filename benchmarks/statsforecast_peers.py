"""What a user would take instead: automatic forecasts of statsforecast, and textbook order-up-to levels.

A model gives the mean and a quantile of each coming period. The level covers the periods until the next order's
arrival. Two ways to get its quantile from those of the periods are tried, and the cheaper is reported, which
favours the peer:

============  =================================================================================================
independent   sum of the means + root of the sum of squares of (quantile - mean), as if errors were independent
together      sum of the quantiles, as if all errors went together
============  =================================================================================================

Croston's method gives a mean only. Its level is the quantile of a negative binomial law with that mean and the
variance of the item's last 52 periods.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Floats

__all__ = ["MODELS", "WAYS", "Ahead", "Levels", "has_statsforecast", "quantiles_ahead", "up_to_levels"]

WAYS = ("independent", "together")
SHORTEST = 12  # periods of a series that a model is fitted to. Of shorter ones, the mean is taken
RECENT = 52  # periods of which slow items are told and a variance is taken
# Name of a model: its class, its season, and whether slow items are left to Croston's method.
MODELS: dict[str, tuple[str, bool, bool]] = {
    "AutoETS": ("AutoETS", False, False),
    "AutoTheta": ("AutoTheta", True, False),
    "AutoARIMA": ("AutoARIMA", False, False),
    "AutoETS, slow items CrostonSBA": ("AutoETS", False, True),
}


class Levels(NamedTuple):
    """Levels to order up to, by (way, item), and the seconds of an item."""

    levels: Floats
    seconds: float


class Ahead(NamedTuple):
    """Means and quantiles of coming periods, by (item, period), and the seconds of an item."""

    mean: Floats
    high: Floats
    seconds: float


def has_statsforecast() -> bool:
    """Return whether the library is there."""
    return importlib.util.find_spec("statsforecast") is not None


def up_to_levels(model: str, series: list[Floats], factors: Floats, fractile: float, season_length: int) -> Levels:
    """Return the levels for items.

    Parameters
    ----------
    model
        One of ``MODELS``.
    series
        The demand of each item, without its season if ``factors`` have it.
    factors
        Of the coming periods, by (item, period), by which the forecast is multiplied.
    fractile
        The share of the demand's law below the level.
    season_length
        Periods of a season, for models that look for one themselves.
    """
    kind, seasonal, croston = MODELS[model]
    import statsforecast.models

    fitted = getattr(statsforecast.models, kind)(season_length=season_length if seasonal else 1)
    levels, begin = np.zeros((len(WAYS), len(series))), time.perf_counter()
    for item, past in enumerate(series):
        if croston and _is_slow(past):
            levels[:, item] = _croston_level(past, factors[item], fractile)
        else:
            mean, high = _forecast(fitted, past, factors.shape[1], fractile)
            mean, high = factors[item] * mean, factors[item] * high
            levels[0, item] = mean.sum() + np.sqrt(((high - mean) ** 2).sum())
            levels[1, item] = high.sum()
    return Levels(levels, (time.perf_counter() - begin) / max(1, len(series)))


def quantiles_ahead(kind: str, series: list[Floats], periods: int, fractile: float, season_length: int) -> Ahead:
    """Return what a model, such as ``AutoETS``, says of the coming periods."""
    import statsforecast.models

    fitted, begin = getattr(statsforecast.models, kind)(season_length=season_length), time.perf_counter()
    found = np.array([_forecast(fitted, past, periods, fractile) for past in series])
    return Ahead(found[:, 0], found[:, 1], (time.perf_counter() - begin) / max(1, len(series)))


def _is_slow(past: Floats) -> bool:
    return bool((past[-RECENT:] > 0).mean() < 0.5) if past.size else False


def _forecast(model: Any, past: Floats, periods: int, fractile: float) -> tuple[Floats, Floats]:
    """Return means and quantiles of the coming periods. A model that fails leaves the recent mean."""
    if past.size >= SHORTEST and np.ptp(past) > 0:
        level = 100 * (2 * fractile - 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = model.forecast(y=past, h=periods, level=[level])
                mean, high = np.maximum(0.0, found["mean"]), np.asarray(found[f"hi-{level}"])
                if np.isfinite(mean).all() and np.isfinite(high).all():
                    return mean, np.maximum(high, mean)
            except (ValueError, ZeroDivisionError, np.linalg.LinAlgError):
                pass
    mean = np.full(periods, float(past[-SHORTEST:].mean()) if past.size else 0.0)
    return mean, mean + np.sqrt(mean)


def _croston_level(past: Floats, factors: Floats, fractile: float) -> float:
    from scipy import stats
    from statsforecast.models import CrostonSBA

    per_period = float(CrostonSBA().forecast(y=past, h=1)["mean"][0]) if past.any() else 0.0
    mean, periods = per_period * float(factors.sum()), factors.size
    if mean <= 0:
        return 0.0
    variance = max(float(past[-RECENT:].var()) * periods, 1.01 * mean)
    return float(stats.nbinom.ppf(fractile, mean**2 / (variance - mean), mean / variance))
