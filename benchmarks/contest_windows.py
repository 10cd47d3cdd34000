"""Earlier windows of a weekly contest: its data, the organiser's benchmark, and eight weeks from a start.

A window starts at week k, counted from 0. The weeks before k are known, and k .. k + 7 are simulated. Orders are
placed in the mornings of k .. k + 5 and arrive two weeks later. Recorded units are the demand, 0 where an item was
not in stock, and are shown whole after each week. Before the window, nine weeks of the organiser's benchmark fill
shelf and pipeline. Weeks 3 to 8 are scored: the first two do not depend on the orders.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from driftmdp.kernels.arrays import Floats, Longs

__all__ = [
    "BETWEEN", "HOLDING", "LEAD_TIME", "LOST", "NINE", "ORDERS", "OrganisersBenchmark", "Rule", "WeeklySales",
    "WindowCosts", "read_weekly_sales", "run_windows",
]  # fmt: skip

NINE, BETWEEN = tuple(range(85, 150, 8)), tuple(range(89, 150, 8))
LOST, HOLDING, LEAD_TIME = 1.0, 0.2, 2
WEEKS, ORDERS, FIRST_SCORED = 8, 6, 2  # of a window
WEEKS_BEFORE = 9  # of the benchmark, to fill shelf and pipeline
RECENT, COVER = 13, 4  # weeks of the benchmark's moving average, and that it orders up to


@dataclass(frozen=True)
class WeeklySales:
    """Units and whether an item was in stock, by (item, week)."""

    skus: tuple[str, ...]
    groups: tuple[str, ...]
    mondays: Longs
    units: Longs
    in_stock: NDArray[np.bool_]

    @property
    def demand(self) -> Longs:
        """What a window takes as demand."""
        return np.where(self.in_stock, self.units, 0)

    @property
    def week_of_year(self) -> Longs:
        """The ISO week of each week, 53 taken as 52, of a few weeks beyond the last too."""
        mondays = self.mondays[0] + 7 * np.arange(self.mondays.size + COVER)
        return np.array([min(52, date.fromordinal(int(day)).isocalendar().week) for day in mondays])


def read_weekly_sales(folder: Path) -> WeeklySales:
    """Read ``history.csv`` and ``items.csv``. The group of an item is its department."""
    with (folder / "items.csv").open() as file:
        items = list(csv.DictReader(file))
    with (folder / "history.csv").open() as file:
        lines = list(csv.DictReader(file))
    rows = {item["sku"]: row for row, item in enumerate(items)}
    weeks = {text: column for column, text in enumerate(sorted({line["date"] for line in lines}))}
    units, in_stock = np.zeros((len(rows), len(weeks)), np.int64), np.zeros((len(rows), len(weeks)), np.bool_)
    for line in lines:
        place = rows[line["sku"]], weeks[line["date"]]
        units[place], in_stock[place] = int(float(line["units"])), line["in_stock"] == "1"
    mondays = np.array([date.fromisoformat(text).toordinal() for text in weeks])
    return WeeklySales(tuple(rows), tuple(item["department"] for item in items), mondays, units, in_stock)


class Rule(Protocol):
    """Places orders in a window."""

    def start(self, week: int) -> None:
        """Begin a window: the weeks before ``week`` are known."""

    def order(self, week: int, last: int, stock: Longs, coming: Longs) -> Longs:
        """Return the orders of a week's morning. ``coming`` arrives next week, and ``last`` is the last week."""

    def see(self, week: int) -> None:
        """Take note of a week's demand."""


class OrganisersBenchmark:
    """A moving average of 13 weeks without their season and stock-outs, up to four weeks of which are ordered."""

    def __init__(self, sales: WeeklySales) -> None:
        self.sales = sales
        self._week_of_year = sales.week_of_year

    def start(self, week: int) -> None:
        """Need nothing."""

    def see(self, week: int) -> None:
        """Need nothing: ``order`` looks at the weeks before."""

    def order(self, week: int, last: int, stock: Longs, coming: Longs) -> Longs:
        """Order up to four weeks of forecast."""
        wanted = self.base(week)[:, None] * self.season(week)[self._week_of_year[week : week + COVER]]
        return np.asarray(np.maximum(0, np.rint(wanted.sum(axis=1) - stock - coming)), np.int64)

    def base(self, week: int) -> Floats:
        """Return the level of each item before a week."""
        recent = slice(max(0, week - RECENT), week)
        there = self.sales.in_stock[:, recent]
        level = self.sales.units[:, recent] / self.season(week)[self._week_of_year[recent]]
        return np.asarray((level * there).sum(axis=1) / np.maximum(1, there.sum(axis=1)))

    def season(self, week: int) -> Floats:
        """Return a factor per week of the year: mean units of an item in stock, over the mean of all weeks."""
        there, numbers = self.sales.in_stock[:, :week], self._week_of_year[:week]
        means = (self.sales.units[:, :week] * there).sum(axis=0) / there.sum(axis=0)
        factors = np.ones(53)
        for number in np.unique(numbers):
            factors[number] = means[numbers == number].mean() / means.mean()
        return factors


class WindowCosts(NamedTuple):
    """Costs of the scored weeks by (window, item), and the seconds that an item's decision and learning took."""

    costs: Floats
    seconds: float


def run_windows(sales: WeeklySales, rule: Rule, starts: Sequence[int]) -> WindowCosts:
    """Return what a rule pays in windows, whose starts must be in order."""
    costs, seconds = np.zeros((len(starts), len(sales.skus))), 0.0
    for row, start in enumerate(starts):
        stock, coming = _state_at(sales, start)
        rule.start(start)
        for week in range(start, start + WEEKS):
            begin = time.perf_counter()
            order = np.zeros_like(stock)
            if week < start + ORDERS:
                order = rule.order(week, start + WEEKS - 1, stock, coming)
            seconds += time.perf_counter() - begin
            paid, stock, coming = _week(sales, week, stock, coming, order)
            if week >= start + FIRST_SCORED:
                costs[row] += paid
            begin = time.perf_counter()
            rule.see(week)
            seconds += time.perf_counter() - begin
    return WindowCosts(costs, seconds / (len(starts) * ORDERS * len(sales.skus)))


def _week(sales: WeeklySales, week: int, stock: Longs, coming: Longs, order: Longs) -> tuple[Floats, Longs, Longs]:
    """Return what a week costs, and the next morning's stock and pipeline."""
    demand = sales.demand[:, week]
    left, lost = np.maximum(0, stock - demand), np.maximum(0, demand - stock)
    return HOLDING * left + LOST * lost, left + coming, order


def _state_at(sales: WeeklySales, start: int) -> tuple[Longs, Longs]:
    """Return stock and pipeline of the morning of a week, after nine weeks of the organiser's benchmark."""
    rule, first = OrganisersBenchmark(sales), start - WEEKS_BEFORE
    base = rule.base(first)
    coming = np.rint(base).astype(np.int64)
    stock = np.rint(1.5 * base).astype(np.int64) + coming  # the first of two orders arrives this morning
    for week in range(first, start):
        order = rule.order(week, start, stock, coming)
        _, stock, coming = _week(sales, week, stock, coming, order)
    return stock, coming
