"""Small shops, and what they should believe, worked out in plain loops from their daily sales."""

import contextlib
import shutil
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from driftmdp import kernels
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.inventory import Costs, Count, Shop, Sold
from driftmdp.inventory.ordering_rules import shelf_model
from driftmdp.kernels.inventory_arrays import new_demand_workspace, new_demands

MONDAY = date(2026, 11, 16)
CAPACITY = 10


def day(n):
    """The n-th day, 0 for a Monday."""
    return MONDAY + timedelta(n)


def create(path, lead_time=0, lot=1, capacity=CAPACITY, costs=None):
    return Shop.create(path, costs or Costs(), capacity, lead_time, lot)


def orders(decision):
    """Item, stock, what is coming and the order, by item."""
    return {a.sku: (a.stock, a.coming, a.order) for a in decision.advice}


def state(shop):
    """Everything that follows from a log."""
    return shop._states.as_bytes()


def beliefs(shop, sku):
    """What is believed of an item's demand, as bytes."""
    item = shop._states.numbers[sku]
    return [array[item].tobytes() for array in shop._states.demands]


def lines(shop):
    """The lines of a log; when they were written is left out."""
    return [(e.number, e.kind, e.day, e.sku, e.stock, e.ordered, e.advice, e.sales) for e in shop.history()]


def work(shop, days, items=("A", "B"), first=0):
    """Decide and record some days: always the same ones."""
    for n in range(first, first + days):
        shop.decide([Count(sku, (n + 3 * i) % 5) for i, sku in enumerate(items)], day(n))
        shop.record([Sold(sku, day(n), (2 * n + i) % 4) for i, sku in enumerate(items)])


def copy_of(path, to):
    """A copy of a closed log."""
    for stale in Path(to).parent.glob(f"{Path(to).name}*"):
        stale.unlink()
    shutil.copy(path, to)
    return Path(to)


@contextlib.contextmanager
def refused(*said, kind=DriftmdpError):
    """One clear sentence is said, and no other kind of error."""
    with pytest.raises(kind) as caught:
        yield caught
    told = str(caught.value)
    assert told.endswith((".", "?")), told
    assert "\n" not in told, told
    assert len(told) < 1000, told
    for text in said:
        assert text in told, told


class Oracle:
    """What a shop should believe and advise: a dict of daily sales by (sku, day), learned in the order of days."""

    def __init__(self, lead_time=0, lot=1, capacity=CAPACITY):
        self.shelf = shelf_model(Costs(), capacity, lead_time)
        self.workspace = new_demand_workspace(capacity, lead_time)
        self.lot = lot
        self.daily_sales = {}

    def lots(self, units):
        """Half a lot counts as one."""
        return (2 * units + self.lot) // (2 * self.lot)

    def demands(self, sku):
        """Beliefs about one item, learned from nothing."""
        demands = new_demands(1, self.shelf.capacity)
        for (name, when), (stock, ordered, sales) in sorted(self.daily_sales.items(), key=lambda kv: kv[0][1]):
            if name == sku:
                on_sale, sold = self.seen(stock, ordered, sales)
                kernels.censored_demand.learn(demands, 0, when.weekday(), on_sale, sold, self.workspace)
        return demands

    def seen(self, stock, ordered, sales):
        """What was on sale and sold, in lots, at most the capacity."""
        top, sold = self.shelf.capacity, self.lots(sales)
        if stock is None:
            on_sale = top
        else:
            there = stock + (ordered if self.shelf.lead_time == 0 else 0)
            on_sale = sold if sales >= there else max(self.lots(there), sold + 1)
        return min(on_sale, top), min(sold, top)

    def order(self, sku, when, stock, coming=0):
        """What to order, in units."""
        s = min(self.lots(stock), self.shelf.capacity)
        q = min(self.lots(coming), self.shelf.capacity - s)
        found = np.zeros(1, np.int64)
        kernels.inventory_rules.decide_all(
            (self.shelf, self.demands(sku), self.workspace),
            np.zeros(1, np.int64),
            when.weekday(),
            np.array([s]),
            np.array([q]),
            found,
        )
        return int(found[0]) * self.lot

    def agrees(self, shop, sku):
        """Whether a shop believes the same of an item, to the last bit."""
        return beliefs(shop, sku) == [array[0].tobytes() for array in self.demands(sku)]


def unchanged(shop, act, *said, kind=InvalidInputError):
    """An act is refused with a sentence; log and states stay as they were, and the shop still works."""
    before = state(shop), lines(shop), shop.skus
    with refused(*said, kind=kind):
        act()
    assert (state(shop), lines(shop), shop.skus) == before
    assert shop.verify()
