"""What every rule of a backtest would have cost, and an item period by period under ours."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import brief, counted, safely, table
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.item_paths import FIRST_DAY, ItemPath, evening_stock
from driftmdp.inventory.joint_rules import EngineRule
from driftmdp.inventory.ordering_rules import OURS, OWN, TITLES
from driftmdp.inventory.own_replay import OwnReplay
from driftmdp.inventory.sales_history import Series
from driftmdp.inventory.terms import ShopTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.yardstick_rules import UnitTrace
from driftmdp.statistics import Interval, ratio_interval
from driftmdp.validation import nearest_name, one_of


@dataclass(frozen=True, eq=False)
class Trace:
    """An item period by period, in units, under our rule.

    Attributes
    ----------
    sku, pack, capacity
        The item, its pack, and the most on its shelf and on the way. None is no limit.
    dates
        Days, or the weeks' Mondays, shape (T,).
    demand, estimate
        What was asked for, and our estimate of the period's mean, made in the morning from our own sales.
    level
        Stock and orders on their way after ordering: the level ordered up to, in periods with an order.
    stock
        What was left in the evening.
    orders
        What was ordered.
    scored
        The first period that is scored.
    """

    sku: str
    pack: int
    capacity: int | None
    dates: NDArray[np.datetime64]
    demand: Longs
    estimate: Floats
    level: Longs
    stock: Longs
    orders: Longs
    scored: int

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Backtest:
    """What every rule would have cost on the scored periods. Arrays are by (rule, item) if no shape is given.

    Attributes
    ----------
    terms
        Costs, capacity, packs, lead time and periods of the items that say nothing else.
    rules
        Names of the rules, in the order asked for, and last ``own`` if own orders were given. ``RULES`` has titles.
    skus, packs, periods
        The items that were scored, the units in a pack of each, and the periods scored, shape (items,).
    cost, charged, sold, stock, orders, spoiled
        Sums over the scored periods: what was paid, how much of it for orders to suppliers whatever was in them,
        units sold, units left in the evenings, orders placed, units that spoiled.
    demand
        Units asked for, shape (items,).
    blocks
        For each item, what each block of periods in a row cost, and last how many periods they have, shape
        (rules + 1, blocks).
    remarks
        What was left out and why, a sentence each.
    series
        The sales that were scored.
    paths, ours
        The items' open periods, and what our rule did in them. The second is empty if it was not tried.
    calendar, forecaster
        As given.
    own
        What the shop did with each item. Empty if its own orders were not given.
    lowest
        What all items must cost at least, under any way of ordering, see ``lowest_cost``. None without suppliers
        whose items share something, and with service targets.
    """

    terms: ShopTerms
    rules: tuple[str, ...]
    skus: tuple[str, ...]
    packs: Longs = field(repr=False)
    periods: Longs = field(repr=False)
    cost: Floats = field(repr=False)
    charged: Floats = field(repr=False)
    sold: Longs = field(repr=False)
    stock: Longs = field(repr=False)
    orders: Longs = field(repr=False)
    spoiled: Longs = field(repr=False)
    demand: Longs = field(repr=False)
    blocks: tuple[Floats, ...] = field(repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    series: tuple[Series, ...] = field(default=(), repr=False)
    paths: tuple[ItemPath, ...] = field(default=(), repr=False)
    ours: tuple[UnitTrace, ...] = field(default=(), repr=False)
    calendar: tuple[SpecialDay, ...] = field(default=(), repr=False)
    forecaster: str | None = field(default=None, repr=False)
    own: tuple[OwnReplay, ...] = field(default=(), repr=False)
    lowest: float | None = field(default=None, repr=False)

    __repr__ = brief

    @safely
    def _repr_html_(self) -> str:
        periods, period = self.periods.sum(), self.terms.period
        header = ["rule", f"cost per item, {period}", "share of demand served", "stock in the evening", "orders"]
        header += ["units spoiled"] if self.spoils else []
        rows = []
        for rule, cost in zip(self.rules, self.cost, strict=True):
            served = "" if rule == OWN else self.service_level(rule)  # what was not served is in no file
            others = [served, self.average_stock(rule), self.orders_placed(rule)]
            others += [self.units_spoiled(rule)] if self.spoils else []
            rows.append((TITLES[rule], float(cost.sum() / periods), *others))
        caption = f"Backtest of {counted(len(self.skus), 'item')} over {counted(periods, period)} in all"
        return table(header, rows, caption)

    def cost_per_period(self, rule: str, sku: str | None = None) -> Interval:
        """Return what a period of an item costs on average, with its interval.

        For the whole shop the items are resampled, and each period of each item counts alike. For one item, its
        blocks are: fortnights, or four weeks.
        """
        place = self._rule(rule)
        if sku is not None or len(self.skus) == 1:
            blocks = self.blocks[self._item(self.skus[0] if sku is None else sku)]
            return ratio_interval(blocks[place], blocks[-1])
        return ratio_interval(self.cost[place], self.periods.astype(np.float64))

    def total_per_period(self, rule: str) -> float:
        """Return what a period of all items together costs on average."""
        return float((self.cost[self._rule(rule)] / self.periods).sum())

    def ratio(self, rule: str, other: str) -> Interval:
        """Return a rule's total cost over another's, with an interval that resamples items (of one, its blocks).

        Raises
        ------
        InvalidInputError
            If the other cost nothing.
        """
        a, b = self._rule(rule), self._rule(other)
        if len(self.skus) == 1:
            return ratio_interval(self.blocks[0][a], self.blocks[0][b])
        return ratio_interval(self.cost[a], self.cost[b])

    def service_level(self, rule: str, sku: str | None = None) -> float:
        """Return the share of the demand that was served, or 1 if there was none."""
        items = self._items(sku)
        demand = self.demand[items].sum()
        return float(self.sold[self._rule(rule), items].sum() / demand) if demand else 1.0

    def average_stock(self, rule: str, sku: str | None = None) -> float:
        """Return the units left in an evening, on average over periods and items."""
        items = self._items(sku)
        return float(self.stock[self._rule(rule), items].sum() / self.periods[items].sum())

    def orders_placed(self, rule: str, sku: str | None = None) -> int:
        """Return how many orders were placed."""
        return int(self.orders[self._rule(rule), self._items(sku)].sum())

    @property
    def spoils(self) -> bool:
        """Whether any of the items can spoil."""
        return any(path.terms.shelf_life is not None for path in self.paths)

    def units_spoiled(self, rule: str, sku: str | None = None) -> int:
        """Return how many units spoiled."""
        return int(self.spoiled[self._rule(rule), self._items(sku)].sum())

    def scored_periods(self) -> int:
        """Return the different periods in which any item was scored."""
        return int(np.unique(np.concatenate([path.days[path.scored :] for path in self.paths])).size)

    def trace(self, sku: str) -> Trace:
        """Return an item period by period under our rule."""
        return self.traces([sku])[0]

    def traces(self, skus: Sequence[str]) -> list[Trace]:
        """Return items period by period under our rule. Our estimates are learned again, of all items at once."""
        items = [self._item(sku) for sku in skus]
        if items and not self.ours:
            raise InvalidInputError(f"{OURS} must be among the rules, as items are shown under it.")
        rule = EngineRule(self.paths, self.calendar, self.forecaster)
        means = rule.estimates(self.paths, self.ours, items) if items else {}
        return [self._trace(item, means[item]) for item in items]

    def _trace(self, item: int, means: Floats) -> Trace:
        path, ours = self.paths[item], self.ours[item]
        dates = np.datetime64("1970-01-01") + (path.days - FIRST_DAY)
        left = evening_stock(path, ours)
        terms = path.terms.pack, path.terms.capacity
        return Trace(path.sku, *terms, dates, path.demand, means, ours.levels, left, ours.orders, path.scored)

    def _rule(self, rule: str) -> int:
        return self.rules.index(one_of(rule, "rule", self.rules))

    def _item(self, sku: str) -> int:
        if sku not in self._numbers:
            rule = f"sku must be one of the {len(self.skus)} items that were scored"
            raise InvalidInputError(f"{rule}; got {sku!r}.{nearest_name(sku, self.skus)}")
        return self._numbers[sku]

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        return {sku: number for number, sku in enumerate(self.skus)}

    def _items(self, sku: str | None) -> slice:
        if sku is None:
            return slice(None)
        item = self._item(sku)
        return slice(item, item + 1)
