"""A backtest: every rule on the same past, as if the sales in a file were the demand.

An item's first 60 days are for learning and fitting, and scoring starts on day 61. Quantities are in lots. The
shelf is assumed never to have been empty in the file, so that its sales are the demand. Each rule sees demand only
as far as its own shelf reaches, unless ``RULES`` says otherwise.
"""

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import engines
from driftmdp.display import brief, counted, listed, safely, table
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.ordering_rules import RULES, RuleSet, checked_rules, day_costs, shelf_model
from driftmdp.inventory.sales_history import WARM_UP, Sales, Series, in_lots, lot_size
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.problems.inventory import Costs
from driftmdp.progress import Progress, as_progress, watched
from driftmdp.statistics import Interval, ratio_interval
from driftmdp.validation import as_integer, nearest_name, one_of

SCORES = ("lots", "days", "demand", "cost", "sold", "stock", "orders")  # of an item, the last four by rule
BLOCK_DAYS = 14  # days in a row whose mean cost is one sample, for the interval of a single item


@dataclass(frozen=True, eq=False)
class Trace:
    """An item day by day, in lots, under our agent.

    Attributes
    ----------
    sku, lot
        The item, and the units in a lot.
    dates
        Shape (T,).
    demand, estimate
        What was asked for, and the agent's estimate of the day's mean, made in the morning from its own sales (of
        demand up to the capacity).
    level
        Stock and orders on their way after ordering: the level ordered up to, on days with an order.
    stock
        What was left in the evening.
    orders
        What was ordered.
    """

    sku: str
    lot: int
    dates: NDArray[np.datetime64]
    demand: Ints
    estimate: Floats
    level: Ints
    stock: Ints
    orders: Ints

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Backtest:
    """What every rule would have cost on the scored days. Arrays are by (rule, item) unless another shape is given.

    Attributes
    ----------
    costs, capacity, lead_time
        As given. Capacity in lots, costs per lot.
    rules
        Names of the rules, in the order asked for. ``RULES`` has their titles.
    skus, lots, days
        The items that were scored, the units in a lot of each, and the days scored, shape (items,).
    cost, sold, stock, orders
        Sums over the scored days: what was paid, lots sold, lots left in the evenings, orders placed.
    demand
        Lots asked for, shape (items,).
    blocks
        For each item, what each two weeks in a row cost, and last how many days they have, shape (rules + 1,
        blocks).
    lot
        Units in a lot as asked for: a number, or ``"auto"``.
    remarks
        What was left out and why, a sentence each.
    series
        The sales that were scored.
    """

    costs: Costs
    capacity: int
    lead_time: int
    rules: tuple[str, ...]
    skus: tuple[str, ...]
    lots: Longs = field(repr=False)
    days: Longs = field(repr=False)
    cost: Floats = field(repr=False)
    sold: Longs = field(repr=False)
    stock: Longs = field(repr=False)
    orders: Longs = field(repr=False)
    demand: Longs = field(repr=False)
    blocks: tuple[Floats, ...] = field(repr=False)
    lot: int | str = "auto"
    remarks: tuple[str, ...] = field(default=(), repr=False)
    series: tuple[Series, ...] = field(default=(), repr=False)

    __repr__ = brief

    @safely
    def _repr_html_(self) -> str:
        days = self.days.sum()
        header = ["rule", "cost per item, day", "share of demand served", "stock in the evening", "orders"]
        rows = []
        for rule, cost in zip(self.rules, self.cost, strict=True):
            shares = self.service_level(rule), self.average_stock(rule), self.orders_placed(rule)
            rows.append((RULES[rule], float(cost.sum() / days), *shares))
        caption = f"Backtest of {counted(len(self.skus), 'item')} over {counted(days, 'day')} in all"
        return table(header, rows, caption)

    def cost_per_day(self, rule: str, sku: str | None = None) -> Interval:
        """Return what a day of an item costs on average, with its interval.

        For the whole shop the items are resampled, and each day of each item counts alike. For one item,
        its fortnights are.
        """
        place = self._rule(rule)
        if sku is not None or len(self.skus) == 1:
            blocks = self.blocks[self._item(self.skus[0] if sku is None else sku)]
            return ratio_interval(blocks[place], blocks[-1])
        return ratio_interval(self.cost[place], self.days.astype(np.float64))

    def ratio(self, rule: str, other: str) -> Interval:
        """Return a rule's total cost over another's, with an interval that resamples items (of one, fortnights).

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
        """Return the lots left in an evening, on average over days and items."""
        items = self._items(sku)
        return float(self.stock[self._rule(rule), items].sum() / self.days[items].sum())

    def orders_placed(self, rule: str, sku: str | None = None) -> int:
        """Return how many orders were placed."""
        return int(self.orders[self._rule(rule), self._items(sku)].sum())

    def trace(self, sku: str) -> Trace:
        """Return an item day by day under our agent."""
        item = self._item(sku)
        series, lot = self.series[item], int(self.lots[item])
        path = in_lots(series.units, lot)
        rules = RuleSet(self.costs, self.capacity, self.lead_time)
        trace, means = rules.estimate(path, series.weekdays)
        left = np.maximum(trace.on_sale - path, 0)
        return Trace(sku, lot, series.dates, path, means, trace.levels, left, trace.orders)

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


def backtest(
    sales: Sales,
    costs: Costs,
    capacity: int,
    lead_time: int = 0,
    lot: int | str = "auto",
    rules: Sequence[str] = tuple(RULES),
    workers: int | None = None,
    progress: Progress | bool | None = None,
    engine: str = "threads",
    scheduler: str | None = None,
) -> Backtest:
    """Let every rule order through the past.

    Parameters
    ----------
    sales
        What ``read_sales`` gave.
    costs
        Per lot.
    capacity
        Lots on the shelf, of each item.
    lead_time
        Days from an order to its arrival: 0, 1 or 2.
    lot
        Units in a lot. ``"auto"`` chooses for each item, see ``lot_size``.
    rules
        Which of ``RULES`` to try.
    workers
        Items at a time. By default one per core. It does not change the result.
    progress
        True shows progress in a terminal or a notebook. An object with ``begin``, ``advance`` and ``end`` is
        called. None and False are silent.
    engine, scheduler
        ``"threads"``, ``"processes"``, or ``"dask"`` for a cluster, whose scheduler has an address such as
        ``tcp://host:8786``. They do not change the result.

    Examples
    --------
    >>> from driftmdp.inventory import Costs, Sales, Series, backtest
    >>> import numpy as np
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> units = np.random.default_rng(7).poisson(4, 120)
    >>> result = backtest(Sales((Series("A", dates, units),)), Costs(), capacity=20)
    >>> result.ratio("optimist", "face-value").estimate < 1.1
    True
    """
    if not isinstance(sales, Sales) or not sales.series:
        raise InvalidInputError(f"sales must have at least one item; got {sales!r}. Use read_sales(path).")
    shelf, watcher = shelf_model(costs, capacity, lead_time), as_progress(progress, "items")
    if len({series.sku for series in sales.series}) < len(sales.series):
        raise InvalidInputError("sales must have one series for each item; two have the same name.")
    names = checked_rules(rules)
    if lot != "auto":
        lot = as_integer(lot, "lot", minimum=1)
    remarks, long = list(sales.remarks), [series for series in sales.series if series.units.size > WARM_UP]
    if len(long) < len(sales.series):
        short = [series.sku for series in sales.series if series.units.size <= WARM_UP]
        remarks.append(f"Left out, with {WARM_UP} days or fewer: {listed(short, separator=', ')}.")
    if not long:
        rule = f"sales must have an item with more than {WARM_UP} days, as scoring starts on day {WARM_UP + 1}"
        longest = max(series.units.size for series in sales.series)
        raise InvalidInputError(f"{rule}; the longest has {longest}.")
    shop = costs, shelf.capacity, shelf.lead_time
    score = functools.partial(_score, shop, lot, names)
    done = watched(engines.make(engine, workers, scheduler).map(score, long), len(long), watcher)
    outcomes = sorted(done, key=lambda outcome: outcome.index)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    *columns, blocks = zip(*(outcome.value for outcome in outcomes), strict=True)
    by_item: dict[str, Any] = dict(zip(SCORES, (np.stack(column, axis=-1) for column in columns), strict=True))
    fixed = *shop, names, tuple(series.sku for series in long)
    return Backtest(*fixed, **by_item, blocks=blocks, lot=lot, remarks=tuple(remarks), series=tuple(long))


_of_thread = threading.local()  # the rules that a thread used last, as they have a workspace of their own


def _score(shop: tuple[Costs, int, int], lot: int | str, names: tuple[str, ...], series: Series) -> tuple[Any, ...]:
    """Return an item's ``SCORES``, and sums of blocks."""
    if getattr(_of_thread, "shop", None) != shop:
        _of_thread.shop, _of_thread.rules = shop, RuleSet(*shop)
    rules: RuleSet = _of_thread.rules
    units = lot_size(series.units, rules.shelf.capacity) if isinstance(lot, str) else lot
    path, weekdays = in_lots(series.units, units), series.weekdays
    demand = path[WARM_UP:]
    traces = [rules.follow(name, path, weekdays) for name in names]
    paid = np.array([day_costs(rules.shelf, path, trace)[WARM_UP:] for trace in traces])
    on_sale = [trace.on_sale[WARM_UP:] for trace in traces]
    sold = [int(np.minimum(demand, there).sum(dtype=np.int64)) for there in on_sale]
    left = [int(np.maximum(there - demand, 0).sum(dtype=np.int64)) for there in on_sale]
    orders = [int((trace.orders[WARM_UP:] > 0).sum()) for trace in traces]
    total = int(demand.sum(dtype=np.int64))
    return units, demand.size, total, paid.sum(axis=1), sold, left, orders, _block_sums(paid)


def _block_sums(costs: Floats) -> Floats:
    """Return the sum of each block of days, and its days. The last block takes the days that are left over."""
    starts = np.arange(0, max(1, costs.shape[1] - BLOCK_DAYS + 1), BLOCK_DAYS)
    sizes = np.diff(np.append(starts, costs.shape[1]))
    return np.vstack([np.add.reduceat(costs, starts, axis=1), sizes])
