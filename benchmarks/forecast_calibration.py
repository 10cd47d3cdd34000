"""Whether the forecast's quantiles are right: ``python -m benchmarks.forecast_calibration [FOLDER]``.

FOLDER has the retailer's file and the contest's folder ``vn2``. What is not there is left out. Forecasts are made
every fourth period, one to four periods ahead: on the contest's weeks after 85, on the retailer's days after 60,
and on simulated items after 90 days, once with all demand seen, and once through the sales of a shelf that the
engine filled.
A demand x lies at the share U of its forecast law, drawn evenly between Pr(X < x) and Pr(X <= x), so that counts
can be judged. If forecasts are right, U is below 5% in 5% of all cases, and so on. Intervals are over items. Items
share seasons and other shocks, so the real ones are wider.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest_windows import read_weekly_sales
from benchmarks.engine_shops import what_sales_say
from benchmarks.retailer_runs import read_daily_sales, terms_of
from benchmarks.service_levels import simulated_items
from driftmdp.inventory.order_engine import EXACT, NOTHING, OrderEngine
from driftmdp.inventory.periods import days as days_of
from driftmdp.inventory.sales_history import WARM_UP
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.problems.inventory import Costs
from driftmdp.statistics import ratio_interval

FOLDER = "/work/shared/data"
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
GRID = tuple(((np.arange(200) + 0.5) / 200).tolist())  # quantiles that describe a law
AHEAD = 4  # periods, and from one forecast to the next
CONTEST_FROM, SIMULATED_FROM = 85, 90
LEAST_COST = Costs(0.0, 0.0, 1.0, 0.5)  # of a shelf that is sold out often


class History(NamedTuple):
    """Items whose demand is forecast.

    Attributes
    ----------
    terms
        Of the items.
    demand, told
        By (item, period): the demand, and whether it was seen at all.
    days
        Of the periods.
    first
        The period from which on forecasts are judged.
    own_shelf
        Whether sales are those of a shelf that the engine fills, lead time 0.
    """

    terms: list[ItemTerms]
    demand: Longs
    told: NDArray[np.bool_]
    days: list[int]
    first: int
    own_shelf: bool = False


def places_in_law(history: History) -> Floats:
    """Return U by (item, forecast, period ahead), NaN where the demand was not seen."""
    n_items, n_periods = history.demand.shape
    engine, items, rng = OrderEngine(), np.arange(n_items), np.random.default_rng(0)
    engine.add_items([f"item {number}" for number in range(n_items)], history.terms)
    stock, found = np.zeros(n_items, np.int64), []
    for t in range(n_periods - AHEAD + 1):
        if t >= history.first and (t - history.first) % AHEAD == 0:
            laws = _laws_ahead(engine, items, history.days[t : t + AHEAD], history.terms[0].period)
            coming = history.demand[:, t : t + AHEAD, None]
            low, high = (laws < coming).mean(axis=2), (laws <= coming).mean(axis=2)
            place = low + rng.random(low.shape) * (high - low)
            found.append(np.where(history.told[:, t : t + AHEAD], place, np.nan))
        demand = np.ascontiguousarray(history.demand[:, t])
        on_sale, says = np.full(n_items, -1), np.where(history.told[:, t], EXACT, NOTHING).astype(np.int8)
        if history.own_shelf:
            no_coming = np.zeros((n_items, 0), np.int64)
            on_sale = stock + engine.decide(history.days[t], items, stock, no_coming, None).order
            says, demand = what_sales_say(on_sale, demand), np.minimum(demand, on_sale)
            stock = on_sale - demand
        engine.learn(history.days[t], items, says, on_sale, demand)
    return np.stack(found, axis=1)


def _laws_ahead(engine: OrderEngine, items: Longs, days: list[int], period: str) -> Floats:
    """Return quantiles by (item, period, ``GRID``) of some coming periods. Days between them may be missing."""
    places = [(day - days[0]) // days_of(period) for day in days]
    return engine.forecast(days[0], items, places[-1] + 1, GRID).quantiles[:, places]


def histories(folder: Path) -> Iterator[tuple[str, History]]:
    """Yield what there is."""
    if (folder / "vn2" / "history.csv").is_file():
        weekly = read_weekly_sales(folder / "vn2")
        terms = [ItemTerms(LEAST_COST, None, lead_time=2, period="week", group=group) for group in weekly.groups]
        yield "contest, weeks", History(terms, weekly.units, weekly.in_stock, weekly.mondays.tolist(), CONTEST_FROM)
    retailer = folder / "online_retail_daily_top100.csv"
    if retailer.is_file():
        daily = read_daily_sales(retailer)
        told = np.ones(daily.units.shape, np.bool_)
        yield "retailer, trading days", History(terms_of(daily), daily.units, told, list(daily.days), WARM_UP)
    items = simulated_items()
    told = np.ones(items.demand.shape, np.bool_)
    for name, own_shelf in (("simulated, all demand seen", False), ("simulated, sold-out days censored", True)):
        terms = [
            replace(each, lead_time=0, costs=LEAST_COST, order_days=ItemTerms(LEAST_COST, None).order_days)
            for each in items.terms
        ]
        yield name, History(terms, items.demand, told, list(items.days), SIMULATED_FROM, own_shelf)


def table_row(name: str, places: Floats, ahead: str) -> str:
    """Return a row: the share of demands below each quantile, with an interval over items."""
    seen = ~np.isnan(places)
    cells = [name, ahead, f"{int(seen.sum()):,}"]
    judged = seen.any(axis=(1, 2))
    for level in LEVELS:
        below = ((places <= level) & seen).sum(axis=(1, 2))[judged].astype(np.float64)
        found = ratio_interval(below, seen.sum(axis=(1, 2))[judged].astype(np.float64))
        cells.append(f"{100 * found.estimate:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=FOLDER)
    options = parser.parse_args()
    if not Path(options.folder).is_dir():
        print(f"There are no data in {options.folder}: simulated items only.\n")
    columns = [
        "data",
        "periods ahead",
        "forecasts",
        *(f"below the {100 * level:.0f}% quantile" for level in LEVELS),
    ]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, history in histories(Path(options.folder)):
        places = places_in_law(history)
        for step in range(AHEAD):
            print(table_row(name, places[:, :, step : step + 1], str(step + 1)), flush=True)
        print(table_row(name, places, "1 to 4"), flush=True)


if __name__ == "__main__":
    main()
