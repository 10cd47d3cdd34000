"""Rules that learn from all items at once, played day by day: ours, and the moving average with season."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.inventory.aging_goods import AgingGoods
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.item_paths import ItemPath, by_day, order_terms, split_by_item
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING, OrderEngine
from driftmdp.inventory.periods import MOST_PERIODS, WEEK
from driftmdp.inventory.periods import days as days_of
from driftmdp.inventory.seasonal_average import SeasonalAverage
from driftmdp.inventory.shared_order import NOTHING_SHARED
from driftmdp.inventory.supplier_minima import SupplierMinima
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.yardstick_rules import UnitTrace, new_unit_trace

Says = NDArray[np.int8]


class JointRule(Protocol):
    """A rule that orders for many items at once."""

    def decide(self, day: int, items: Longs, stock: Longs, coming: Longs, ages: Longs) -> Longs:
        """Return the orders of a morning. ``coming[n, j]`` arrives j + 1 periods later.

        ``ages[n, k]`` of the stock can be sold in k + 1 more periods, of goods that spoil.
        """
        ...

    def learn(self, day: int, items: Longs, seen: Says, on_sale: Longs, units: Longs) -> None:
        """Learn what was sold in a period."""
        ...


class Shelves:
    """The stock of all items and their orders on the way, each in its own periods.

    Parameters
    ----------
    paths
        The items. Their shelves begin empty.
    """

    def __init__(self, paths: Sequence[ItemPath]) -> None:
        self.stock = np.zeros(len(paths), np.int64)
        self._last = np.array([path.days[0] for path in paths], np.int64)
        self._step = np.array([days_of(path.terms.period) for path in paths], np.int64)
        self._lead = np.array([path.terms.lead_time for path in paths], np.int64)
        self._coming = np.zeros((len(paths), int(self._lead.max())), np.int64)

    def open(self, day: int, items: Longs) -> tuple[Longs, Longs]:
        """Take in what arrived since the items' last periods. Return stock, and what is coming."""
        periods = (day - self._last[items]) // self._step[items]
        self._last[items] = day
        width = self._coming.shape[1]
        if width:
            before = self._coming[items]
            places = np.arange(width)
            self.stock[items] += np.where(places < periods[:, None], before, 0).sum(axis=1)
            later = places + periods[:, None]
            moved = np.take_along_axis(before, np.minimum(later, width - 1), axis=1)
            self._coming[items] = np.where(later < width, moved, 0)
        return self.stock[items], self._coming[items, : max(0, width - 1)]

    def order(self, items: Longs, orders: Longs) -> Longs:
        """Place orders. Return what is on sale."""
        at_once = self._lead[items] == 0
        self.stock[items] += np.where(at_once, orders, 0)
        later = items[~at_once]
        self._coming[later, self._lead[later] - 1] = orders[~at_once]
        return self.stock[items]

    def take(self, items: Longs, units: Longs) -> None:
        """Take what was sold or spoiled from the shelves."""
        self.stock[items] -= units


def play(rule: JointRule, paths: Sequence[ItemPath]) -> Generator[None, None, list[UnitTrace]]:
    """Let a rule order through the past. Yield after each day, and return all items' traces.

    Orders that do not reach their suppliers' minima are filled up, see ``SupplierMinima``.
    """
    demand, says, may_order = (
        np.concatenate([getattr(path, name) for path in paths]) for name in ("demand", "says", "may_order")
    )
    trace = new_unit_trace(demand.size)
    shelves, minima, aging = Shelves(paths), SupplierMinima(paths), AgingGoods(paths)
    for day, items, places in by_day(paths):
        stock, coming = shelves.open(day, items)
        ages = aging.ages(day, items, places, stock)
        positions = stock + coming.sum(axis=1)
        orders = np.where(may_order[places], rule.decide(day, items, stock, coming, ages), 0)
        orders = minima.reach(items, positions, orders, may_order[places])
        on_sale = shelves.order(items, orders)
        aging.order(places, orders)
        trace.orders[places], trace.on_sale[places] = orders, on_sale
        trace.levels[places] = positions + orders
        sold = np.minimum(demand[places], on_sale)
        rule.learn(day, items, seen(says[places], demand[places], on_sale), on_sale, sold)
        trace.spoiled[places] = aging.sell(items, places, sold)
        minima.learn(items, sold)
        shelves.take(items, sold + trace.spoiled[places])
        yield
    return [UnitTrace(*parts) for parts in zip(*(split_by_item(each, paths) for each in trace), strict=True)]


def finished(days: Generator[None, None, list[UnitTrace]]) -> list[UnitTrace]:
    """Play to the end, and return all items' traces."""
    while True:
        try:
            next(days)
        except StopIteration as end:
            found: list[UnitTrace] = end.value
            return found


def seen(says: Says, demand: Longs, on_sale: Longs) -> Says:
    """Return what sales from a shelf say of demand, where the file itself says ``says`` of it."""
    found = np.where(demand >= on_sale, AT_LEAST, np.where(says == AT_LEAST, AT_LEAST, EXACT))
    return np.where((on_sale == 0) | (says == NOTHING), NOTHING, found).astype(np.int8)


class FirstOrders:
    """The orders of items until 14 periods after their first order arrived: plenty, as all rolling rules keep then.

    Parameters
    ----------
    paths
        The items.
    """

    def __init__(self, paths: Sequence[ItemPath]) -> None:
        self._terms = [order_terms(path.terms, path.terms.lead_time) for path in paths]
        self.waits = [_longest_wait(path.terms) for path in paths]
        rules, each = kernels.yardstick_rules, zip(self._terms, paths, self.waits, strict=True)
        self.levels = np.array(
            [rules.first_level(terms, path.demand, wait) for terms, path, wait in each], np.int64
        )
        left = [rules.first_fit(path.for_kernel.may_order, path.terms.lead_time) for path in paths]
        self._left = np.array(left, np.int64)

    def are_new(self, items: Longs) -> NDArray[np.bool_]:
        """Return which items are new."""
        return np.asarray(self._left[items] > 0)

    def count(self, items: Longs) -> None:
        """Count a period of items."""
        self._left[items] -= 1

    def up_to(self, items: Longs, positions: Longs, levels: Longs) -> Longs:
        """Return the orders from stock and what is coming up to levels, in packs that the terms allow."""
        order = kernels.yardstick_rules.order_up_to
        each = zip(items.tolist(), positions.tolist(), levels.tolist(), strict=True)
        return np.array([order(self._terms[item], position, up) for item, position, up in each], np.int64)


class EngineRule:
    """Our rule: the order engine that a shop has.

    A capacity tells the engine how large a first order may be. Without one, new items get the same first orders as
    under the other rules.

    Parameters
    ----------
    paths
        The items.
    calendar
        Special days.
    forecaster
        A forecaster of the user's, ``module:name``.
    """

    def __init__(
        self, paths: Sequence[ItemPath], calendar: Sequence[SpecialDay] = (), forecaster: str | None = None
    ) -> None:
        self.engine = OrderEngine(forecaster)
        self.engine.add_items([path.sku for path in paths], [path.terms for path in paths])
        self.engine.set_calendar(calendar)
        self._first = FirstOrders(paths)
        self._is_open_ended = np.array([path.terms.capacity is None for path in paths])
        self._suppliers = [path.terms.supplier for path in paths]

    def decide(self, day: int, items: Longs, stock: Longs, coming: Longs, ages: Longs) -> Longs:
        """Return the orders of a morning."""
        first = self._is_open_ended[items] & self._first.are_new(items)
        orders = np.zeros(items.size, np.int64)
        new, other = items[first], ~first
        positions = stock[first] + coming[first].sum(axis=1)
        orders[first] = self._first.up_to(new, positions, self._first.levels[new])
        if other.any():
            placed = {self._suppliers[item] for item in new[orders[first] > 0].tolist()}
            state = items[other], stock[other], coming[other]
            orders[other] = self.engine.decide(day, *state, None, placed, ages[other]).order
        return orders

    def learn(self, day: int, items: Longs, seen: Says, on_sale: Longs, units: Longs) -> None:
        """Learn what was sold."""
        self._first.count(items)
        self.engine.learn(day, items, seen, on_sale, units)

    def estimates(
        self, paths: Sequence[ItemPath], traces: Sequence[UnitTrace], wanted: Sequence[int]
    ) -> Mapping[int, Floats]:
        """Return the estimates of some items' mean demand, made each morning, by learning the same again."""
        demand, says = (np.concatenate([getattr(path, name) for path in paths]) for name in ("demand", "says"))
        on_sale = np.concatenate([trace.on_sale for trace in traces])
        found: dict[int, list[float]] = {item: [] for item in wanted}
        for day, items, places in by_day(paths):
            for item in found.keys() & set(items.tolist()):
                summary = self.engine.describe(day, item)
                found[item].append(summary.level * summary.factor)
            there = on_sale[places]
            sold = np.minimum(demand[places], there)
            self.engine.learn(day, items, seen(says[places], demand[places], there), there, sold)
        return {item: np.array(values) for item, values in found.items()}


def each_alone(path: ItemPath) -> ItemPath:
    """Return the same path of an item that knows of no others: each of its orders pays all of its supplier's."""
    terms = path.terms
    costs = replace(terms.costs, fixed=terms.fixed_alone)
    return replace(path, terms=replace(terms, costs=costs, shared_order=NOTHING_SHARED, price=terms.value))


class MovingAverageRule:
    """Order up to the next periods' forecast: the mean of 13 periods without season, times the coming season.

    The periods are those until the next order but one arrives: lead time + 2 if every period is an order day.

    Parameters
    ----------
    paths
        The items, all with periods of the same kind.
    """

    def __init__(self, paths: Sequence[ItemPath]) -> None:
        self._average = SeasonalAverage(len(paths), is_weekly=paths[0].terms.period == WEEK)
        self._first = FirstOrders(paths)
        waits = zip(paths, self._first.waits, strict=True)
        self._periods = np.array([path.terms.lead_time + 1 + wait for path, wait in waits], np.int64)

    def decide(self, day: int, items: Longs, stock: Longs, coming: Longs, ages: Longs) -> Longs:
        """Return the orders of a morning."""
        forecast = self._average.forecast(day, items, self._periods[items])
        levels = np.where(self._first.are_new(items), self._first.levels[items], np.floor(forecast + 0.5))
        return self._first.up_to(items, stock + coming.sum(axis=1), levels.astype(np.int64))

    def learn(self, day: int, items: Longs, seen: Says, on_sale: Longs, units: Longs) -> None:
        """Learn what was sold."""
        self._first.count(items)
        told = seen != NOTHING
        self._average.learn(day, items[told], units[told])


def _longest_wait(terms: ItemTerms) -> int:
    """Return the most periods from one order day to the next."""
    periods = 1 + days_of(terms.period) * np.arange(3 * MOST_PERIODS)
    return int(np.diff(np.flatnonzero(terms.order_days.may_order(periods, terms.period))).max())
