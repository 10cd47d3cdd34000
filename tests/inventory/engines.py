"""Engines with few items, and simulated sales for them."""

from datetime import date

import numpy as np

from driftmdp.inventory import Costs
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, OrderEngine
from driftmdp.inventory.terms import ItemTerms

MONDAY = date(2024, 1, 1).toordinal()
COSTS = Costs(fixed=0.0, unit=0.0, lost_sale=5.0, holding=1.0)


def terms(capacity=None, costs=COSTS, **more):
    return ItemTerms(costs, capacity, **more)


def engine_of(all_terms, forecaster=None):
    """An engine with an item for each of some terms."""
    engine = OrderEngine(forecaster)
    engine.add_items([f"item {n}" for n in range(len(all_terms))], all_terms)
    return engine


def longs(values):
    return np.array(values, np.int64)


def learn(engine, day, units, says=EXACT, on_sale=-1, items=None):
    """Learn a period's sales of all items, or of some."""
    items = np.arange(len(engine.table)) if items is None else longs(items)
    units, on_sale = (np.broadcast_to(longs(value), items.shape).copy() for value in (units, on_sale))
    engine.learn(day, items, np.broadcast_to(np.int8(says), items.shape).copy(), on_sale, units)


def learn_sales(engine, day, demand, on_sale):
    """Learn what a shelf shows of demand: at least that, where it sold out."""
    sold = np.minimum(demand, on_sale)
    says = np.where(demand >= on_sale, AT_LEAST, EXACT).astype(np.int8)
    engine.learn(day, np.arange(len(engine.table)), says, longs(on_sale), longs(sold))


def decide(engine, day, stock, coming=None, until=None, items=None):
    """Return the orders of all items, or of some, with nothing else on its way."""
    items = np.arange(len(engine.table)) if items is None else longs(items)
    stock = np.broadcast_to(longs(stock), items.shape).copy()
    if coming is None:
        longest = max(engine.table.terms[item].lead_time for item in items.tolist())
        coming = np.zeros((items.size, max(longest - 1, 0)), np.int64)
    return engine.decide(day, items, stock, coming, until)


def drawn(rng, mean, dispersion, size=None):
    """Negative binomial demand with this mean, and variance mean + dispersion mean^2."""
    return rng.negative_binomial(1 / dispersion, 1 / (1 + dispersion * np.asarray(mean)), size)
