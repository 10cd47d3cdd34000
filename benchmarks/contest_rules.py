"""Rules in the windows of the weekly contest: the order engine, and given order-up-to levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest_windows import (
    BETWEEN,
    HOLDING,
    LEAD_TIME,
    LOST,
    NINE,
    WeeklySales,
    read_weekly_sales,
    run_windows,
)
from benchmarks.engine_variants import apply
from driftmdp.inventory.order_engine import EXACT, NOTHING, OrderEngine
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.problems.inventory import Costs

__all__ = ["COVER", "FRACTILE", "STARTS", "EngineRule", "LevelRule", "run_engine"]

STARTS = tuple(sorted(NINE + BETWEEN))
FRACTILE = LOST / (LOST + HOLDING)
COVER = LEAD_TIME + 1  # weeks that an order-up-to level must last


class EngineRule:
    """The order engine.

    Parameters
    ----------
    sales
        Of the contest.
    by_group
        Whether departments have a season of their own.
    zeros
        Whether a week that was not in stock is taken as one without demand.
    textbook
        Whether to order up to a quantile of our forecast, instead of planning. One of ``WAYS``, or an empty text.
    """

    def __init__(self, sales: WeeklySales, by_group: bool = True, zeros: bool = False, textbook: str = "") -> None:
        self.sales, self.by_group, self.zeros, self.textbook = sales, by_group, zeros, textbook
        self._items = np.arange(len(sales.skus))
        self._known, self._week = self._new_engine(), 0
        self._engine = self._known

    def start(self, week: int) -> None:
        """Learn the weeks before, and go on with a copy."""
        for known in range(self._week, week):
            is_told = self.sales.in_stock[:, known] | self.zeros
            self._learn(self._known, known, np.where(is_told, EXACT, NOTHING).astype(np.int8))
        self._week, self._engine = week, self._new_engine()
        self._engine.restore(self._known.as_bytes())

    def order(self, week: int, last: int, stock: Longs, coming: Longs) -> Longs:
        """Return the engine's orders, or those of the textbook."""
        day = int(self.sales.mondays[week])
        if self.textbook:
            level = self._textbook_levels(day)
            return np.maximum(0, np.rint(level - stock - coming)).astype(np.int64)
        return self._engine.decide(day, self._items, stock, coming[:, None], int(self.sales.mondays[last])).order

    def see(self, week: int) -> None:
        """Learn a week's whole demand."""
        self._learn(self._engine, week, np.full(self._items.size, EXACT, np.int8))

    def _new_engine(self) -> OrderEngine:
        engine, costs = OrderEngine(), Costs(0.0, 0.0, LOST, HOLDING)
        groups = self.sales.groups if self.by_group else [""] * len(self.sales.skus)
        terms = [ItemTerms(costs, None, lead_time=LEAD_TIME, period="week", group=group) for group in groups]
        engine.add_items(list(self.sales.skus), terms)
        return engine

    def _learn(self, engine: OrderEngine, week: int, seen: np.ndarray) -> None:
        units = np.ascontiguousarray(self.sales.demand[:, week])
        engine.learn(int(self.sales.mondays[week]), self._items, seen, np.full(self._items.size, -1), units)

    def _textbook_levels(self, day: int) -> Floats:
        if self.textbook == "together":
            return np.asarray(self._engine.forecast(day, self._items, COVER, [FRACTILE]).quantiles.sum(axis=(1, 2)))
        grid = ((np.arange(100) + 0.5) / 100).tolist()
        laws = self._engine.forecast(day, self._items, COVER, grid).quantiles  # (items, weeks, 100)
        drawn = np.random.default_rng(0).integers(0, 100, (COVER, 1000))
        sums = sum(laws[:, week, drawn[week]] for week in range(COVER))
        return np.asarray(np.quantile(sums, FRACTILE, axis=1))


class LevelRule:
    """Order up to given levels, ``levels[start, week]``."""

    def __init__(self, levels: dict[tuple[int, int], Floats]) -> None:
        self.levels, self._start = levels, 0

    def start(self, week: int) -> None:
        """Remember which window it is."""
        self._start = week

    def order(self, week: int, last: int, stock: Longs, coming: Longs) -> Longs:
        """Order up to the level."""
        return np.maximum(0, np.rint(self.levels[self._start, week] - stock - coming)).astype(np.int64)

    def see(self, week: int) -> None:
        """Need nothing."""


def run_engine(variant: str, folder: str, settings: dict[str, Any]) -> tuple[list[list[float]], float]:
    """Return the costs of a variant, in a process of its own."""
    apply(variant)
    sales = read_weekly_sales(Path(folder))
    compiled = EngineRule(sales, **settings)
    run_windows(sales, compiled, STARTS[:1])
    found = run_windows(sales, EngineRule(sales, **settings), STARTS)
    return found.costs.tolist(), found.seconds
