"""Small shops, and what they should believe, worked out in plain loops from their daily sales."""

import contextlib
import shutil
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.inventory import Costs, Count, Shop, ShopTerms, Sold
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING, OrderEngine

MONDAY = date(2026, 11, 16)
CAPACITY = 10


def day(n):
    """The n-th day, 0 for a Monday."""
    return MONDAY + timedelta(n)


def create(path, lead_time=0, pack=1, capacity=CAPACITY, costs=None, **more):
    return Shop.create(path, costs or Costs(), capacity, lead_time, pack, **more)


def orders(decision):
    """Item, stock, what is coming and the order, by item."""
    return {a.sku: (a.stock, a.coming, a.order) for a in decision.advice}


def state(shop):
    """Everything that follows from a log."""
    return shop._states.as_bytes()


def beliefs(shop, sku):
    """What is believed of an item's demand, whatever its number is."""
    found = shop._states.engine.describe(day(400).toordinal(), shop.skus.index(sku))
    return np.round(found, 9).tolist()


def periods_learned(shop, sku):
    """How many periods of an item said something of its demand."""
    return shop._states.engine.describe(day(400).toordinal(), shop.skus.index(sku)).periods


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

    def __init__(self, lead_time=0, capacity=CAPACITY, **more):
        self.terms = ShopTerms(Costs(), capacity, lead_time=lead_time, **more)
        self.daily_sales = {}

    def engine(self, skus):
        """An engine that learned the daily sales from nothing."""
        engine = OrderEngine()
        engine.add_items(list(skus), [self.terms.for_item({}) for _ in skus])
        for when in sorted({when for _, when in self.daily_sales}):
            rows = [
                (item, *self.daily_sales[sku, when])
                for item, sku in enumerate(skus)
                if (sku, when) in self.daily_sales
            ]
            seen = [self.seen(*row[1:]) for row in rows]
            there = [-1 if stock is None else stock + self.at_once(ordered) for _, stock, ordered, _ in rows]
            columns = [row[0] for row in rows], seen, there, [row[3] for row in rows]
            items, how, on_sale, units = (np.array(column, np.int64) for column in columns)
            engine.learn(when.toordinal(), items, how.astype(np.int8), on_sale, units)
        return engine

    def at_once(self, ordered):
        return ordered if self.terms.lead_time == 0 else 0

    def seen(self, stock, ordered, sales):
        """What sales say of demand."""
        if stock is None or sales < stock + self.at_once(ordered):
            return EXACT
        return AT_LEAST if sales else NOTHING

    def order(self, shop, sku, when, stock, coming=0):
        """What to order, in units."""
        skus = shop.skus
        engine, items = self.engine(skus), np.array([skus.index(sku)])
        arriving = np.array([[coming]] if self.terms.lead_time == 2 else [[]], np.int64)
        return int(engine.decide(when.toordinal(), items, np.array([stock]), arriving, None).order[0])

    def agrees(self, shop):
        """Whether a shop believes the same, to the last bit."""
        return shop._states.engine.as_bytes() == self.engine(shop.skus).as_bytes()


def unchanged(shop, act, *said, kind=InvalidInputError):
    """An act is refused with a sentence; log and states stay as they were, and the shop still works."""
    before = state(shop), lines(shop), shop.skus
    with refused(*said, kind=kind):
        act()
    assert (state(shop), lines(shop), shop.skus) == before
    assert shop.verify()
