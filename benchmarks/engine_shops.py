"""The order engine in simulated shops, item by item: what it pays along a path of demands.

Used by ``benchmarks.inventory_ablations`` and others. A shelf begins empty, sales are seen up to the shelf, and a
sold-out day says "at least".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING, OrderEngine
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs

__all__ = [
    "FIRST_DAY", "OrderHistory", "follow_engine", "follow_engine_with_lead_times", "paid", "what_sales_say",
]  # fmt: skip

FIRST_DAY = date(2026, 1, 5).toordinal()  # a Monday


def follow_engine(
    terms: Sequence[ItemTerms], demand: Longs, days: Sequence[int] | None = None, face_value: bool = False
) -> Floats:
    """Return what items of one shop pay, by (item, day), with lead time 0.

    Parameters
    ----------
    terms
        Of the items.
    demand
        By (item, day).
    days
        The days' numbers, by default every day from a Monday on.
    face_value
        Whether sales are taken as demand, even if they emptied the shelf.
    """
    n_items, n_days = demand.shape
    engine, items = OrderEngine(), np.arange(n_items)
    engine.add_items([f"item {number}" for number in range(n_items)], terms)
    stock, costs = np.zeros(n_items, np.int64), np.zeros(demand.shape)
    for t, day in enumerate(range(FIRST_DAY, FIRST_DAY + n_days) if days is None else days):
        order = engine.decide(day, items, stock, np.zeros((n_items, 0), np.int64), None).order
        on_sale = stock + order
        costs[:, t] = paid(terms, order, on_sale, demand[:, t])
        sold = np.minimum(demand[:, t], on_sale)
        says = np.zeros(n_items, np.int8) if face_value else what_sales_say(on_sale, demand[:, t])
        engine.learn(day, items, says, on_sale, sold)
        stock = on_sale - sold
    return costs


def paid(terms: Sequence[ItemTerms], order: Longs, on_sale: Longs, demand: Longs) -> Floats:
    """Return the cost of a period, by item."""
    costs = [each.costs for each in terms]
    fixed, unit, lost, holding = np.array([(c.fixed, c.unit, c.lost_sale, c.holding) for c in costs]).T
    left = on_sale - demand
    return np.asarray(
        fixed * (order > 0) + unit * order + lost * np.maximum(-left, 0) + holding * np.maximum(left, 0)
    )


def what_sales_say(on_sale: Longs, demand: Longs) -> NDArray[np.int8]:
    """Return what a period's sales say of demand, by item: exact, at least, or nothing from an empty shelf."""
    sold_out = np.where(demand >= on_sale, AT_LEAST, EXACT)
    return np.where(on_sale == 0, NOTHING, sold_out).astype(np.int8)


class OrderHistory(NamedTuple):
    """What happened by (item, period): on the shelf for sale, and ordered."""

    on_sale: Longs
    orders: Longs


def follow_engine_with_lead_times(
    terms: Sequence[ItemTerms], demand: Longs, days: Sequence[int], seen_whole: bool = False
) -> OrderHistory:
    """Let the engine order for items of one shop, each with its own lead time and order days.

    ``seen_whole`` shows the whole demand after each period. Otherwise a sold-out one says "at least".
    """
    n_items, n_days = demand.shape
    engine, items = OrderEngine(), np.arange(n_items)
    engine.add_items([f"item {number}" for number in range(n_items)], terms)
    leads = np.array([each.lead_time for each in terms])
    longest = int(leads.max())
    arrivals = np.zeros((n_items, n_days + longest + 1), np.int64)
    stock, found = np.zeros(n_items, np.int64), OrderHistory(np.zeros_like(demand), np.zeros_like(demand))
    for t, day in enumerate(days):
        stock = stock + arrivals[:, t]
        coming = np.ascontiguousarray(arrivals[:, t + 1 : t + max(longest, 1)])
        order = engine.decide(day, items, stock, coming, None).order
        arrivals[items, t + leads] += order
        on_sale = stock + np.where(leads == 0, order, 0)
        found.on_sale[:, t], found.orders[:, t] = on_sale, order
        sold = np.minimum(demand[:, t], on_sale)
        if seen_whole:
            engine.learn(day, items, np.zeros(n_items, np.int8), on_sale, np.ascontiguousarray(demand[:, t]))
        else:
            engine.learn(day, items, what_sales_say(on_sale, demand[:, t]), on_sale, sold)
        stock = on_sale - sold
    return found
