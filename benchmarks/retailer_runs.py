"""A retailer's daily sales as demand: the engine in its shop, fixed rules in hindsight and textbook rules.

Packs are the lots that earlier versions chose, the shelf holds 20 of them, and costs per pack are divided by the
pack. Demand is not rounded, for any rule. Lead time 0, days without a line are skipped, scored from day 61.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.engine_shops import follow_engine, paid
from benchmarks.engine_variants import apply
from benchmarks.statsforecast_peers import quantiles_ahead
from driftmdp.inventory.sales_history import WARM_UP, lot_size
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.problems.inventory import Costs

__all__ = ["PACKS", "DailySales", "hindsight", "read_daily_sales", "run_engine", "run_statsforecast", "terms_of"]

PACKS = 20  # of the shelf
COSTS = Costs()  # per pack
SATURDAY = 5
WEEK = 6  # trading days
SEASONS = {"AutoETS": WEEK, "AutoTheta": WEEK, "AutoARIMA": 1}


@dataclass(frozen=True)
class DailySales:
    """Units by (item, day), the days and the packs."""

    skus: tuple[str, ...]
    days: tuple[int, ...]
    units: Longs
    packs: Longs


def read_daily_sales(path: Path, every: int = 1) -> DailySales:
    """Read a file with date, sku and units, or every so many-th of its items."""
    with path.open() as file:
        lines = list(csv.DictReader(file))
    skus, dates = (sorted({line[name] for line in lines}) for name in ("sku", "date"))
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (skus, dates))
    units = np.zeros((len(skus), len(dates)), np.int64)
    for line in lines:
        units[rows[line["sku"]], columns[line["date"]]] = int(float(line["units"]))
    units = units[::every]
    packs = np.array([lot_size(row, PACKS) for row in units])
    return DailySales(
        tuple(skus[::every]), tuple(date.fromisoformat(day).toordinal() for day in dates), units, packs
    )


def terms_of(sales: DailySales) -> list[ItemTerms]:
    """Return the items' terms, with costs per unit."""
    closed = frozenset() if any((day - 1) % 7 == SATURDAY for day in sales.days) else frozenset([SATURDAY])
    found = []
    for pack in sales.packs.tolist():
        costs = Costs(COSTS.fixed, COSTS.unit / pack, COSTS.lost_sale / pack, COSTS.holding / pack)
        found.append(ItemTerms(costs, PACKS * pack, pack=pack, closed_days=closed))
    return found


def run_engine(variant: str, path: str, face_value: bool) -> list[float]:
    """Return the cost of each item's scored days, for a variant, in a process of its own."""
    apply(variant)
    sales = read_daily_sales(Path(path))
    costs = follow_engine(terms_of(sales), sales.units, sales.days, face_value)
    return [float(cost) for cost in costs[:, WARM_UP:].sum(axis=1)]


def hindsight(sales: DailySales, steps: int = 1) -> Floats:
    """Return what the cheapest fixed (s, S) costs each item on the scored days.

    At s or less it orders as many packs as fit under S. Levels are multiples of a pack, or of ``1 / steps`` of it.
    """
    return np.array([_cheapest(units, pack, steps) for units, pack in zip(sales.units, sales.packs, strict=True)])


def _cheapest(units: Longs, pack: int, steps: int) -> float:
    grid = np.unique(np.arange(PACKS * steps + 1) * pack // steps)
    low, up = (levels[np.triu_indices(grid.size, 1)] for levels in np.meshgrid(grid, grid, indexing="ij"))
    stock, cost = np.zeros(low.size, np.int64), np.zeros(low.size)
    for t, demand in enumerate(units.tolist()):
        packs = np.where(stock <= low, np.maximum(0, up - stock) // pack, 0)
        left = stock + packs * pack - demand
        if t >= WARM_UP:
            cost += COSTS.fixed * (packs > 0) + COSTS.unit * packs
            cost += (COSTS.holding * np.maximum(left, 0) + COSTS.lost_sale * np.maximum(-left, 0)) / pack
        stock = np.maximum(left, 0)
    return float(cost.min())


def run_statsforecast(model: str, path: str, every: int) -> tuple[list[list[float]], float]:
    """Return costs of a model's textbook rules by (rule, item), and the seconds of an item's fit.

    Models see the whole demand, which favours them, and are fitted again every week. The rules are: up to the day's
    quantile every day, and (s, S) with that quantile as s and S higher by the economic order quantity.
    """
    sales = read_daily_sales(Path(path), every)
    terms, n_days = terms_of(sales), len(sales.days)
    gain = COSTS.lost_sale - COSTS.unit
    fractile = gain / (gain + COSTS.holding)
    stock, costs = np.zeros((2, len(terms)), np.int64), np.zeros((2, len(terms)))
    seconds, fits = 0.0, 0
    for t in range(WARM_UP, n_days):
        ahead = (t - WARM_UP) % WEEK
        if ahead == 0:
            found = quantiles_ahead(model, [*sales.units[:, :t].astype(np.float64)], WEEK, fractile, SEASONS[model])
            seconds, fits = seconds + found.seconds, fits + 1
        mean, high = found.mean[:, ahead], np.maximum(0.0, found.high[:, ahead])
        economic = np.sqrt(2.0 * COSTS.fixed * np.maximum(mean, 0.0) * sales.packs / COSTS.holding)
        for rule, (trigger, up) in enumerate(((np.inf, high), (high, high + economic))):
            order = _whole_packs(np.where(stock[rule] < trigger, up - stock[rule], 0.0), stock[rule], sales.packs)
            on_sale = stock[rule] + order
            costs[rule] += paid(terms, order, on_sale, sales.units[:, t])
            stock[rule] = np.maximum(0, on_sale - sales.units[:, t])
    return costs.tolist(), seconds / max(1, fits)


def _whole_packs(wanted: Floats, stock: Longs, packs: Longs) -> Longs:
    """Return what is wanted in whole packs, to the nearest, as far as it fits."""
    fits = (PACKS * packs - stock) // packs
    return np.asarray(np.clip(np.rint(wanted / packs), 0, fits).astype(np.int64) * packs)
