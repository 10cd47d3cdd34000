"""A stand-in for the engine of beliefs and orders: an exponential mean per item, and an order-up-to level.

It has the interface that the shop relies on, and nothing else to recommend it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.periods import days, period_of
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs

Bytes = NDArray[np.int8]
EXACT, AT_LEAST, NOTHING = 0, 1, 2  # what sales say of demand
METHODS = ("exact", "simulated", "not an order day", "closed", "too late")
SIMULATED, NO_ORDER_DAY, CLOSED, TOO_LATE = 1, 2, 3, 4  # places in METHODS
RATE = 0.1  # at which the mean follows
FIRST_MEAN = 5.0
STATE = np.dtype([("mean", "<f8"), ("periods", "<i8")])


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
    """All items' terms and beliefs, by item number."""

    def __init__(self, forecaster: str | None = None) -> None:
        self.skus: list[str] = []
        self.terms: list[ItemTerms] = []
        self.calendar = SpecialDays()
        self._state = np.zeros(0, STATE)

    def add_items(self, skus: Sequence[str], terms: Sequence[ItemTerms]) -> None:
        """Append items."""
        self.skus += skus
        self.terms += terms
        more = np.zeros(len(skus), STATE)
        more["mean"] = FIRST_MEAN
        self._state = np.concatenate([self._state, more])

    def set_terms(self, item: int, terms: ItemTerms) -> None:
        """Replace an item's terms."""
        self.terms[item] = terms

    def set_calendar(self, lines: Sequence[SpecialDay]) -> None:
        """Replace the special days."""
        self.calendar = SpecialDays(lines)

    def is_current(self, day: int) -> bool:
        """Return whether sales of a day may still be learned, of items that learned no later day."""
        return True

    def learn(self, day: int, items: Longs, seen: Bytes, on_sale: Longs, units: Longs) -> None:
        """Learn one period's sales of some items. A closed period without sales says nothing."""
        for item, how, sold in zip(items.tolist(), seen.tolist(), units.tolist(), strict=True):
            is_open = self.calendar.is_open(self.skus[item], self.terms[item], day)
            if how != NOTHING and (sold or is_open):
                mean = self._state["mean"][item]
                target = max(mean, 1.2 * sold) if how == AT_LEAST else sold
                self._state["mean"][item] += RATE * (target - mean)
                self._state["periods"][item] += 1

    def decide(self, day: int, items: Longs, stock: Longs, coming: Longs, until: int | None) -> Orders:
        """Return the orders of a morning."""
        found = [
            self._order(day, item, int(there) + int(on_way.sum()), until)
            for item, there, on_way in zip(items.tolist(), stock, coming, strict=True)
        ]
        order, cost, method = zip(*found, strict=True) if found else ((), (), ())
        return Orders(np.array(order, np.int64), np.array(cost, np.float64), np.array(method, np.int8))

    def _order(self, day: int, item: int, position: int, until: int | None) -> tuple[int, float, int]:
        terms, mean = self.terms[item], float(self._state["mean"][item])
        cost = terms.costs.holding * mean
        if not self.calendar.is_open(self.skus[item], terms, day):
            return 0, cost, CLOSED
        if not terms.order_days.may_order(day, terms.period):
            return 0, cost, NO_ORDER_DAY
        if until is not None and day + terms.lead_time * days(terms.period) > period_of(until, terms.period):
            return 0, cost, TOO_LATE
        review = (terms.order_days.next_day(day, terms.period) - day) // days(terms.period)
        wanted = int(np.ceil(1.3 * mean * (terms.lead_time + review))) - position
        room = 2**31 - 1 if terms.capacity is None else max(0, terms.capacity - position)
        packs = min(-(-max(0, wanted) // terms.pack), room // terms.pack)
        order = max(0, packs) * terms.pack
        return (order if order >= terms.minimum else 0), cost, SIMULATED

    def forecast(self, day: int, items: Longs, periods: int, quantiles: Sequence[float]) -> Forecast:
        """Return the demand of the periods from a day on."""
        mean = np.repeat(self._state["mean"][items][:, None], periods, axis=1)
        for row, item in enumerate(items.tolist()):
            coming = day + days(self.terms[item].period) * np.arange(periods)
            mean[row] *= self.calendar.is_open(self.skus[item], self.terms[item], coming)
        spread = 2.5 * (np.asarray(quantiles) - 0.5)
        return Forecast(mean, np.maximum(0.0, mean[..., None] + np.sqrt(mean)[..., None] * spread))

    def describe(self, day: int, item: int) -> DemandSummary:
        """Return what is believed of an item's demand on a day."""
        state = self._state[item]
        return DemandSummary(int(state["periods"]), float(state["mean"]), 1.0)

    def as_bytes(self) -> bytes:
        """Return the beliefs."""
        return self._state.tobytes()

    def restore(self, content: bytes) -> None:
        """Take over beliefs about the items that were added. Others raise ValueError."""
        state = np.frombuffer(content, STATE).copy()
        if state.size != len(self.skus) or not np.isfinite(state["mean"]).all() or (state["periods"] < 0).any():
            raise ValueError("the beliefs do not fit the items")
        self._state = state
