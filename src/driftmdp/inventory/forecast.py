"""The demand of coming periods: mean and quantiles, by item."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import csv_text
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.periods import days, period_of
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.validation import as_integer

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_PERIODS = 366


@dataclass(frozen=True, eq=False)
class DemandForecast:
    """What is believed of the demand of coming periods.

    Attributes
    ----------
    skus
        The items.
    days
        The first day of each period, as datetime64[D], shape (items, periods).
    mean
        Shape (items, periods).
    quantiles
        Demand is at most this with a chance of each of ``QUANTILES``, shape (items, periods, 5).
    """

    skus: tuple[str, ...]
    days: np.ndarray = field(repr=False)
    mean: Floats = field(repr=False)
    quantiles: Floats = field(repr=False)

    __repr__ = brief

    def rows(self) -> Iterator[tuple[str, str, float, tuple[float, ...]]]:
        """Yield date, item, mean and quantiles, item by item."""
        for item, sku in enumerate(self.skus):
            for day, mean, found in zip(self.days[item], self.mean[item], self.quantiles[item], strict=True):
                yield str(day), sku, float(mean), tuple(found.tolist())


def forecast_demand(states: ItemStates, items: Longs, periods: int, day: int | None) -> DemandForecast:
    """Return the demand of items, from a day on, or from the period after the last recorded one."""
    periods = as_integer(periods, "periods", 1, MOST_PERIODS)
    recorded = states.demand.last_day
    if day is None and recorded == UNKNOWN:
        raise InvalidInputError("A forecast must have recorded sales to begin after, or a day; the shop has none.")
    mean, quantiles = np.zeros((items.size, periods)), np.zeros((items.size, periods, len(QUANTILES)))
    first = np.zeros(items.size, np.int64)
    for name in {states.terms[item].period for item in items.tolist()}:
        mine = np.array([states.terms[item].period == name for item in items.tolist()])
        start = period_of(recorded, name) + days(name) if day is None else period_of(day, name)
        found = states.engine.forecast(start, items[mine], periods, QUANTILES)
        first[mine], mean[mine], quantiles[mine] = start, found.mean, found.quantiles
    each = first[:, None] + states.steps(items)[:, None] * np.arange(periods)
    dates = np.datetime64("1970-01-01") + (each - date(1970, 1, 1).toordinal())
    return DemandForecast(tuple(states.skus[item] for item in items.tolist()), dates, mean, quantiles)


def forecast_csv(forecast: DemandForecast) -> str:
    """Return a forecast as CSV: date, sku, mean and quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory import DemandForecast, forecast_csv
    >>> days = np.array([["2026-11-16"]], "datetime64[D]")
    >>> print(forecast_csv(DemandForecast(("A",), days, np.array([[2.5]]), np.array([[[0, 1, 2, 4, 6]]]))), end="")
    date,sku,mean,q05,q25,q50,q75,q95
    2026-11-16,A,2.5,0,1,2,4,6
    """
    header = ("date", "sku", "mean", *(f"q{100 * share:02.0f}" for share in QUANTILES))
    rows = (
        (day, sku, _shown(mean), *(_shown(units) for units in found)) for day, sku, mean, found in forecast.rows()
    )
    return csv_text(header, rows)


def _shown(units: float) -> str:
    """Return units with four digits, or large ones whole."""
    return f"{units:.4g}" if units < 1000.0 else f"{units:.0f}"
