"""All items' terms and beliefs, by item number: learns periods of sales, decides orders, forecasts demand.

Time is cut into blocks of a week. What items share (seasons, weekdays, effects of special days, the shape of
demand, the level that a new item begins with) is made at the beginning of a block from all that was learned before
it, and stays for the block. So beliefs do not depend on the order in which the items' sales of a block come.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.engines import ThreadEngine
from driftmdp.inventory.ages import waste_on_paths
from driftmdp.inventory.array_bytes import arrays_to_bytes, bytes_to_arrays
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.coming_factors import ComingFactors
from driftmdp.inventory.item_table import ItemTable
from driftmdp.inventory.order_tasks import CLOSED, NO_ORDER_DAY, TOO_LATE, Lateness, all_on_time, order_task
from driftmdp.inventory.sample_draws import shifted_uniforms, shifts, uniforms
from driftmdp.inventory.shared_rhythm import SharedRhythm
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.supplier_orders import SupplierOrders
from driftmdp.inventory.terms import ItemTerms
from driftmdp.inventory.user_forecaster import UserForecaster, draw_demand
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.demand_arrays import (
    BIN_EDGES,
    DAY_KIND,
    LOSS_EDGES,
    DemandBeliefs,
    Shared,
    new_beliefs,
    new_shared,
)
from driftmdp.kernels.ordering_arrays import FIRST_PATHS, SERVICE, OrderTask

__all__ = ["CLOSED", "NO_ORDER_DAY", "TOO_LATE", "DemandSummary", "Forecast", "OrderEngine", "Orders"]

Bytes = NDArray[np.int8]
EXACT, AT_LEAST, NOTHING = 0, 1, 2  # what sales say of demand
METHODS = ("exact", "simulated", "not an order day", "closed", "too late", "for service", "discontinued")
SIMULATED, FOR_SERVICE = 1, 5  # places in METHODS; order_tasks.py has the others

BLOCK_DAYS = 7
ITEMS_PER_THREAD = 64  # that a thread decides at a time
SETTLED_PERIODS = 8  # from which on an item's level counts for its group
SETTLED_EXPOSURE = 4.0  # from which on an item's sales count for seasons and weekdays
FIRST_LEVEL = 1.0  # of a shop's first item: what sells out teaches soon, what does not sell stays for long
FIRST_BINS = 300 * (1 << 20)  # periods for which "the predicted shape is right" counts


class Orders(NamedTuple):
    """Orders in units, the expected cost per period of their plans, and how they were found."""

    order: Longs
    cost: Floats
    method: Bytes


class Forecast(NamedTuple):
    """The demand of coming periods: means (items, periods), and quantiles (items, periods, q)."""

    mean: Floats
    quantiles: Floats


class DemandSummary(NamedTuple):
    """What is believed of an item's demand.

    Attributes
    ----------
    periods
        How many periods were learned from.
    level
        The mean without season and special days.
    factor
        What the period's season, weekday and special days multiply it by.
    """

    periods: int
    level: float
    factor: float


class OrderEngine:
    """All items of a shop or a backtest.

    Parameters
    ----------
    forecaster
        Another forecaster, as ``module:name``. See ``UserForecaster``.
    """

    def __init__(self, forecaster: str | None = None) -> None:
        self.table, self.rhythm = ItemTable(), SharedRhythm()
        self.factors = ComingFactors(self.table, self.rhythm)
        self.beliefs, self.shared = new_beliefs(0), new_shared()
        self._priors = np.zeros((2, 1))  # levels by kind of period and group, the last of all items. 0: unknown
        self._bins = np.rint(FIRST_BINS * np.diff(BIN_EDGES)).astype(np.int64)
        self._loss_bins = np.rint(FIRST_BINS * np.diff(np.tile(LOSS_EDGES, (2, 1)))).astype(np.int64)
        self._block = -1
        self._forecaster = None if forecaster is None else UserForecaster(forecaster)

    # ---- items

    def add_items(self, skus: Sequence[str], terms: Sequence[ItemTerms]) -> None:
        """Append items."""
        self.table.add(skus, terms)
        more = self.table.columns.size - len(self.beliefs.periods)
        if more > 0:
            pairs = zip(self.beliefs, new_beliefs(more), strict=True)
            self.beliefs = DemandBeliefs(*(np.concatenate(pair) for pair in pairs))
        self.rhythm.add_items(len(self.table))
        self._add_groups()

    def set_terms(self, terms: Mapping[int, ItemTerms]) -> None:
        """Replace the terms of some items, by number."""
        self.table.replace(terms)
        self._add_groups()

    def rename(self, item: int, sku: str) -> None:
        """Give an item another name, on which its special days and sample paths depend."""
        self.table.rename(item, sku)

    def _add_groups(self) -> None:
        n = len(self.table.groups)
        self.rhythm.add_groups(n)
        self._priors = np.insert(self._priors, [-1] * (n + 1 - self._priors.shape[1]), 0.0, axis=1)

    def set_calendar(self, lines: Sequence[SpecialDay]) -> None:
        """Replace the special days."""
        self.factors.calendar = SpecialDays(lines)

    # ---- learning

    def is_current(self, day: int) -> bool:
        """Return whether sales of a day may still be learned, of items that learned no later day."""
        return (day - 1) // BLOCK_DAYS >= self._block

    def learn(self, day: int, items: Longs, seen: Bytes, on_sale: Longs, units: Longs) -> None:
        """Learn one period's sales of some items. Days never go back to a block before."""
        units, block = np.ascontiguousarray(units, np.int64), (day - 1) // BLOCK_DAYS
        if block != self._block:
            self._renew()
            self._block = block
        if self._forecaster is not None:
            self._forecaster.remember(day, items, seen, units)
        period = np.array([day])
        (season, weekday), (special, unknown) = (
            self.factors.rhythm(items, period),
            self.factors.special(items, period),
        )
        # A closed day without sales says nothing, and a special day of unknown effect is left out.
        is_idle = (units == 0) & ~self.factors.is_open(items, period)[:, 0]
        says = np.where(unknown[:, 0] | is_idle, NOTHING, seen).astype(np.int64)
        priors = self._prior_levels(items)
        slow, settled = self._slow_levels(items, priors), self.beliefs.exposure[items, -1] >= SETTLED_EXPOSURE
        imputed, there = np.zeros(items.size), np.where(is_idle, -1, on_sale).astype(np.int64)
        chosen = self.table.columns[items]
        shelf = there, np.ascontiguousarray(chosen["sizes"][:, 0])
        sales = np.ascontiguousarray(items), chosen["kind"].copy(), says, units, *shelf
        known = (season * weekday * special)[:, 0], priors
        bins = self._bins, self._loss_bins
        kernels.demand_experts.learn_all(self.beliefs, self.shared, sales, known, imputed, bins)
        moves = self._slow_levels(items, priors) - slow
        self._count(day, items, settled & (says != NOTHING), (imputed, slow, moves), (season, weekday, special))
        self._count_special(day, items, settled & (seen != NOTHING), units, slow * (season * weekday)[:, 0])

    def _count(
        self,
        day: int,
        items: Longs,
        counts: NDArray[np.bool_],
        learned: tuple[Floats, Floats, Floats],
        factors: tuple[Floats, Floats, Floats],
    ) -> None:
        """Count a period's demand for the seasons, and a day's for the weekdays.

        ``learned`` are the demand, the slow levels before it, and what it moved them.
        """
        season, weekday, special = (factor[counts, 0] for factor in factors)
        chosen, (demand, slow, moves) = self.table.columns[items[counts]], (each[counts] for each in learned)
        self.rhythm.count_week(day, chosen["group"], demand, slow * weekday * special)
        self.rhythm.count_levels(day, chosen["kind"], slow, moves)
        daily = chosen["kind"] == DAY_KIND
        expected = (slow * season * special)[daily]
        self.rhythm.count_weekday(day, items[counts][daily], demand[daily], expected)

    def _count_special(
        self, day: int, items: Longs, counts: NDArray[np.bool_], units: Longs, expected: Floats
    ) -> None:
        """Count the demand of special days whose effect is learned."""
        for line in self.factors.lines_between(day, day + 7):
            mine = counts & self.factors.is_about(line, items, day)
            if line.factor is None and mine.any():
                self.rhythm.count_special(line.day, line.name, units[mine], expected[mine])

    def _renew(self) -> None:
        """Make what items share, from all that was learned."""
        n = len(self.table)
        self.rhythm.renew(self.table.columns["group"][:n])
        columns, slow = self.table.columns[:n], self._slow_levels(np.arange(n), np.zeros(n))
        settled = self.beliefs.periods[:n] >= SETTLED_PERIODS
        self._priors[:] = 0.0
        for kind in (0, 1):
            mine = settled & (columns["kind"] == kind)
            if mine.any():
                self.shared.weights[kind] = self.beliefs.weights[:n][mine].mean(axis=0)
                self._priors[kind, -1] = np.median(slow[mine])
                for group in np.unique(columns["group"][mine]):
                    self._priors[kind, group] = np.median(slow[mine & (columns["group"] == group)])
        self.shared.calibration[DAY_KIND, 1:] = np.cumsum(self._bins) / self._bins.sum()
        losses = np.cumsum(self._loss_bins, axis=1)
        self.shared.loss_shape[:, 1:] = losses / losses[:, -1:]

    def _slow_levels(self, items: Longs, priors: Floats) -> Floats:
        """Return the levels of the longest memory."""
        leaning = kernels.demand_experts.GROUP_LEANING
        units, exposure = self.beliefs.units[items, -1], self.beliefs.exposure[items, -1]
        return np.asarray((units + leaning * priors) / (exposure + leaning))

    def _prior_levels(self, items: Longs) -> Floats:
        """Return the levels that items begin with: their group's, else that of all, else one unit."""
        chosen = self.table.columns[items]
        level = self._priors[chosen["kind"], chosen["group"]]
        level = np.where(level > 0, level, self._priors[chosen["kind"], -1])
        return np.where(level > 0, level, FIRST_LEVEL)

    def _mean_levels(self, items: Longs) -> Floats:
        levels = np.zeros(items.size)
        kinds, priors = self.table.columns["kind"][items], self._prior_levels(items)
        kernels.demand_experts.fill_mean_levels(self.beliefs, self.shared, items, kinds, priors, levels)
        return levels

    # ---- deciding

    def decide(
        self,
        day: int,
        items: Longs,
        stock: Longs,
        coming: Longs,
        until: int | None,
        placed: Collection[str] = (),
        ages: Longs | None = None,
        lateness: Lateness | None = None,
    ) -> Orders:
        """Return the orders of a morning. ``coming[n, j]`` is promised for j + 1 periods later.

        ``placed`` are suppliers that have an order of this morning already. ``ages[n, k]`` of the stock can be sold
        in k + 1 more periods, of goods that spoil. Without ages all stock is fresh, and without ``lateness`` orders
        arrive on their days.
        """
        late = all_on_time(items.size) if lateness is None else lateness
        together = SupplierOrders(self.table, day, items, self._mean_levels)
        orders = Orders(np.zeros(items.size, np.int64), np.zeros(items.size), np.zeros(items.size, np.int8))
        kinds = self.table.columns["kind"][items]
        parts = []
        for kind in (0, 1):
            mine = np.flatnonzero(kinds == kind)
            parts += [mine[first : first + ITEMS_PER_THREAD] for first in range(0, mine.size, ITEMS_PER_THREAD)]

        def decide_some(part: Longs) -> None:
            some, state = items[part], (stock[part], coming[part], None if ages is None else ages[part])
            levels = self._prior_levels(some), self._mean_levels(some)
            fixed = together.fixed[part]
            task, idle = order_task(self.table, self.factors, day, some, state, levels, fixed, until, late.of(part))
            found = self._plan(day, task)
            methods = np.where(found[2] == 0, EXACT, np.where(found[2] == SERVICE, FOR_SERVICE, SIMULATED))
            orders.order[part], orders.cost[part] = found[0], found[1]
            orders.method[part] = np.where(idle >= 0, idle, methods)
            together.add_menus(part, task, idle, found[0], self._plan, self._fill_menus)

        for outcome in ThreadEngine().map(decide_some, parts):
            if outcome.error is not None:
                raise outcome.error
        together.choose(orders.order, placed)
        return orders

    def _plan(self, day: int, task: OrderTask) -> tuple[Longs, Floats, Longs]:
        """Return orders, their plans' costs, and how they were found."""
        n = task.items.size
        found = np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64)
        if self._forecaster is None:
            drawn = uniforms(task.shifts.shape[1])
            kernels.order_decisions.decide_all(self.beliefs, self.shared, task, drawn, *found)
        else:
            self._forecaster.decide(task, day, self.beliefs.service[task.items], found)
        return found

    def _fill_menus(self, day: int, task: OrderTask, orders: Longs, costs: Floats) -> None:
        """Fill what several orders of today would cost, of items whose lost sales have a cost."""
        if self._forecaster is None:
            drawn = uniforms(task.shifts.shape[1])
            kernels.order_decisions.fill_menus(self.beliefs, self.shared, task, drawn, orders, costs)
        else:
            self._forecaster.fill_menus(task, day, orders, costs)

    # ---- forecasts

    def forecast(self, day: int, items: Longs, periods: int, quantiles: Sequence[float]) -> Forecast:
        """Return the demand of the periods from a day on, of items with the same kind of period."""
        mean, found = np.zeros((items.size, periods)), np.zeros((items.size, periods, len(quantiles)))
        for row, paths in enumerate(self._paths(day, items, periods)):
            mean[row] = paths.mean(axis=0)
            found[row] = np.quantile(paths, quantiles, axis=0, method="inverted_cdf").T
        return Forecast(mean, found)

    def _paths(self, day: int, items: Longs, periods: int) -> Iterator[Ints]:
        """Yield sample paths of the demand of each item, by (path, period). The next ones replace them."""
        chosen = self.table.columns[items]
        step = 7 if chosen["kind"].any() else 1
        days, priors = day + step * np.arange(periods), self._prior_levels(items)
        factors, moved = self.factors.all_factors(items, days), shifts(chosen["seed"], day, periods + 1)
        paths = np.zeros((FIRST_PATHS, periods), np.int32)
        for row, item in enumerate(items.tolist()):
            if self._forecaster is None:
                about = item, int(chosen["kind"][row]), float(priors[row]), factors[row]
                draws = uniforms(periods + 1), moved[row]
                kernels.demand_laws.fill_paths(self.beliefs, self.shared, *about, *draws, False, paths)
            else:
                drawn = shifted_uniforms(moved[row], FIRST_PATHS)[:, 1:]
                paths = draw_demand(self._forecaster.quantiles(item, days), drawn, factors[row] > 0.0)
            yield paths

    def expected_waste(self, day: int, item: int, ages: Longs, coming: Longs, order: int) -> Floats:
        """Return how many units are expected to spoil in each period from a day on, until all is gone.

        Of those that are there, are coming, and are ordered now. What is ordered later is sold later, and does not
        change it. Empty for goods that do not spoil.
        """
        terms = self.table.terms[item]
        if terms.shelf_life is None:
            return np.zeros(0)
        lead, life = terms.lead_time, terms.shelf_life
        arriving, expiring = np.zeros(lead + life, np.int64), np.zeros(lead + life, np.int64)
        arriving[0], arriving[1:lead], expiring[:life] = ages.sum(), coming[: max(0, lead - 1)], ages
        arriving[lead] += order
        expiring[life:] += arriving[1 : lead + 1]
        if lead == 0:
            expiring[-1] += order
        paths = next(self._paths(day, np.array([item], np.int64), lead + life))
        return waste_on_paths(paths, arriving, expiring)

    def describe(self, day: int, item: int) -> DemandSummary:
        """Return what is believed of an item's demand on a day."""
        one = np.array([item], np.int64)
        factor = self.factors.all_factors(one, np.array([day]))[0, 0]
        return DemandSummary(int(self.beliefs.periods[item]), float(self._mean_levels(one)[0]), float(factor))

    # ---- snapshot

    def as_bytes(self) -> bytes:
        """Return the beliefs."""
        header, arrays = self.rhythm.as_arrays()
        mine = [array[: len(self.table)] for array in self.beliefs]
        everything = [*mine, *self.shared, self._priors, self._bins, self._loss_bins, *arrays]
        return arrays_to_bytes({"block": self._block, "rhythm": header}, everything)

    def restore(self, content: bytes | memoryview) -> None:
        """Take over beliefs about the items that were added. Others raise ValueError."""
        if self._forecaster is not None:
            raise ValueError("a forecaster of one's own needs the whole history")
        header, arrays = bytes_to_arrays(content)
        n, n_items = len(self.beliefs), len(self.table)
        if any(len(found) != n_items for found in arrays[:n]):
            raise ValueError("the beliefs are of another number of items")
        if arrays[n + 3].shape != self._priors.shape:
            raise ValueError("the beliefs do not fit the groups")
        for mine, found in zip(self.beliefs, arrays[:n], strict=True):
            mine[:n_items] = found
        self.shared = Shared(*arrays[n : n + 3])
        self._priors, self._bins, self._loss_bins, *rhythm = arrays[n + 3 :]
        self._block = header["block"]
        self.rhythm.restore(header["rhythm"], rhythm)
