"""An item's past as a backtest plays it: its open periods, their demand, and when orders arrive."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING
from driftmdp.inventory.periods import days as days_of
from driftmdp.inventory.sales_history import Series, warm_up
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.ordering_arrays import NO_LIMIT, OrderTerms
from driftmdp.kernels.yardstick_rules import DemandPath, ServiceTarget, UnitTrace

FIRST_DAY = 719163  # of 1970, as date.toordinal counts
FIT_PERIODS = 400  # of the path on which (s, S) rules are fitted


@dataclass(frozen=True, eq=False)
class ItemPath:
    """One item's open periods, in units.

    Attributes
    ----------
    sku, terms
        The item, and its terms.
    days
        Numbers of the days, or of the weeks' Mondays, shape (T,).
    demand
        What is asked for: the units of the file.
    says
        What the file says of it: EXACT, AT_LEAST where the shop was sold out, NOTHING where it was not on sale.
    arrival, expiry
        The period from which on an order is on the shelf, and the last in which it can be sold. A number of T or
        more is behind the path.
    may_order
        Whether an order may be placed.
    scored
        The first period that is scored.
    """

    sku: str
    terms: ItemTerms
    days: Longs
    demand: Longs
    says: NDArray[np.int8]
    arrival: Longs
    expiry: Longs
    may_order: NDArray[np.bool_]
    scored: int

    @property
    def for_kernel(self) -> DemandPath:
        """The periods as kernels take them."""
        return DemandPath(self.demand, self.arrival, self.expiry, self.may_order.astype(np.uint8))


def ordinals(series: Series) -> Longs:
    """Return the numbers of a series' days."""
    return np.asarray(series.dates.astype("datetime64[D]").astype(np.int64) + FIRST_DAY)


def item_path(series: Series, terms: ItemTerms, calendar: SpecialDays) -> ItemPath:
    """Return an item's open periods."""
    days = ordinals(series)
    is_open = calendar.is_open(series.sku, terms, days)
    says = np.full(days.size, EXACT, np.int8)
    if series.sold_out is not None:
        says[series.sold_out] = AT_LEAST
    if series.in_stock is not None:
        says[~series.in_stock] = NOTHING
    days, says = days[is_open], says[is_open]
    demand = np.where(says == NOTHING, 0, np.asarray(series.units, np.int64)[is_open])
    may_order = terms.order_days.may_order(days, terms.period)
    scored = warm_up(terms.period)
    when = arrivals(days, terms), expiries(days, terms)
    return ItemPath(series.sku, terms, days, demand, says, *when, may_order, scored)


def arrivals(days: Longs, terms: ItemTerms) -> Longs:
    """Return the place of the first open period by which an order of each has arrived. The size means never.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory import Costs, ItemTerms
    >>> from driftmdp.inventory.item_paths import arrivals
    >>> arrivals(np.array([1, 2, 5, 6]), ItemTerms(Costs(), None, lead_time=2)).tolist()
    [2, 2, 4, 4]
    """
    return np.searchsorted(days, days + terms.lead_time * days_of(terms.period)).astype(np.int64)


def expiries(days: Longs, terms: ItemTerms) -> Longs:
    """Return the place of the last open period in which an order of each can be sold. The size: after the path.

    An order that would spoil before the shop opens again can be sold for one period.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory import Costs, ItemTerms
    >>> from driftmdp.inventory.item_paths import expiries
    >>> expiries(np.array([1, 2, 5, 6]), ItemTerms(Costs(), None, lead_time=1, shelf_life=2)).tolist()
    [1, 2, 4, 4]
    """
    if terms.shelf_life is None:
        return np.full(days.size, days.size)
    last = days + (terms.lead_time + terms.shelf_life - 1) * days_of(terms.period)
    found = np.where(last > days[-1], days.size, np.searchsorted(days, last, side="right") - 1)
    return np.maximum(found, arrivals(days, terms)).astype(np.int64)


def fit_calendar(first_day: int, terms: ItemTerms) -> DemandPath:
    """Return periods to fit rules on, without demand yet: those from a day on whose weekdays are open."""
    step = days_of(terms.period)
    days = first_day + step * np.arange(2 * FIT_PERIODS if terms.closed_days else FIT_PERIODS)
    if terms.closed_days:
        days = days[~np.isin((days - 1) % 7, sorted(terms.closed_days))]
        days = np.resize(days, FIT_PERIODS) if days.size < FIT_PERIODS else days[:FIT_PERIODS]
    may_order = terms.order_days.may_order(days, terms.period).astype(np.uint8)
    return DemandPath(np.zeros(days.size, np.int64), arrivals(days, terms), expiries(days, terms), may_order)


def longest_wait(periods: DemandPath) -> int:
    """Return the most open periods from one order day to the next."""
    places = np.flatnonzero(periods.may_order)
    return int(np.diff(places).max()) if places.size > 1 else max(1, periods.may_order.size)


def lead_in_open_periods(periods: DemandPath) -> int:
    """Return how many open periods an order takes to arrive, on average."""
    waits = periods.arrival - np.arange(periods.arrival.size)
    return round(float(waits[: max(1, waits.size // 2)].mean()))


def order_terms(terms: ItemTerms, lead_time: int) -> OrderTerms:
    """Return an item's terms as kernels take them, for a plan of this item alone: its orders pay their supplier."""
    costs, capacity = terms.costs, NO_LIMIT if terms.capacity is None else terms.capacity
    money = terms.fixed_alone, costs.unit, lost_sale_cost(terms), costs.holding
    return OrderTerms(*money, capacity, terms.pack, terms.minimum, lead_time, terms.shelf_life or 0, terms.waste)


def lost_sale_cost(terms: ItemTerms) -> float:
    """Return what a lost sale costs. With a service target it costs nothing."""
    return terms.costs.lost_sale if terms.service is None else 0.0


def service_target(terms: ItemTerms) -> ServiceTarget:
    """Return an item's target as kernels take it."""
    return ServiceTarget(terms.service or 0.0, terms.service_measure == "periods")


def period_costs(path: ItemPath, trace: UnitTrace) -> Floats:
    """Return what each period cost, shape (T,), lost sales counted in full, without what suppliers' orders cost."""
    costs, missing = path.terms.costs, path.demand - trace.on_sale
    ordering = costs.fixed * (trace.orders > 0) + costs.unit * trace.orders
    lost = lost_sale_cost(path.terms) * np.maximum(missing, 0)
    left = costs.holding * evening_stock(path, trace) + path.terms.waste * trace.spoiled
    return np.asarray(ordering + lost + left)


def evening_stock(path: ItemPath, trace: UnitTrace) -> Longs:
    """Return the units left in the evenings, without those that spoiled."""
    return np.asarray(np.maximum(trace.on_sale - path.demand, 0) - trace.spoiled)


def by_day(paths: Sequence[ItemPath]) -> list[tuple[int, Longs, Longs]]:
    """Return each day with the items that have it, and its places in all paths put together, in calendar order."""
    days = np.concatenate([path.days for path in paths])
    items = np.repeat(np.arange(len(paths)), [path.days.size for path in paths])
    order = np.argsort(days, kind="stable")
    starts = np.flatnonzero(np.diff(days[order], prepend=-1))
    return [(int(days[part[0]]), items[part], part) for part in np.split(order, starts[1:])]


def split_by_item(values: Longs, paths: Sequence[ItemPath]) -> list[Longs]:
    """Return the parts of an array over all paths put together."""
    return np.split(values, np.cumsum([path.days.size for path in paths])[:-1])
