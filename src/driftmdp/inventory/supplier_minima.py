"""Minima of suppliers in a backtest: an order that does not reach its minimum is filled up, under every rule.

Our joint plan looks at minima itself. Rules that look at one item cannot. Their buyer adds to an order that is too
small, again and again to the item whose stock would last shortest. An order that the shelves cannot take waits.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.item_paths import ItemPath
from driftmdp.inventory.supplier_charges import groups_of
from driftmdp.kernels.arrays import Longs
from driftmdp.kernels.ordering_arrays import NO_LIMIT

MEMORY = 30  # periods of sales that say how long a stock lasts
LEAST_LEVEL = 1e-6  # of an item that never sold: what it has lasts for ever


class SupplierMinima:
    """Fills up orders that do not reach their suppliers' minima.

    Parameters
    ----------
    paths
        The items.
    """

    def __init__(self, paths: Sequence[ItemPath]) -> None:
        self._shared = [path.terms.shared_order for path in paths]
        self._group = np.full(len(paths), -1, np.int64)
        for number, group in enumerate(groups_of(paths)):
            if self._shared[group[0]].has_minimum:
                self._group[group] = number
        terms = [path.terms for path in paths]
        self._pack = np.array([each.pack for each in terms], np.int64)
        self._least = np.array([max(each.minimum, 1) for each in terms], np.int64)
        self._room = np.array([NO_LIMIT if each.capacity is None else each.capacity for each in terms], np.int64)
        self._prices = np.array([each.value for each in terms])
        self._levels, self._periods = np.zeros(len(paths)), np.zeros(len(paths))

    def learn(self, items: Longs, units: Longs) -> None:
        """Learn what was sold in a period."""
        self._periods[items] += 1.0
        self._levels[items] += (units - self._levels[items]) / np.minimum(self._periods[items], MEMORY)

    def reach(self, items: Longs, positions: Longs, orders: Longs, may_order: NDArray[np.bool_]) -> Longs:
        """Return the orders of a morning, filled up or waiting. ``positions`` are stocks with what is coming."""
        orders, groups = orders.copy(), self._group[items]
        for group in np.unique(groups[(groups >= 0) & (orders > 0)]).tolist():
            mine = np.flatnonzero((groups == group) & may_order)
            orders[mine] = self._filled(items[mine], positions[mine], orders[mine])
        return orders

    def _filled(self, items: Longs, positions: Longs, orders: Longs) -> Longs:
        """Return orders that reach the minima of their supplier, or none."""
        shared, pack, prices = self._shared[items[0]], self._pack[items], self._prices[items]
        levels = np.maximum(self._levels[items], LEAST_LEVEL)
        first = -(-self._least[items] // pack) * pack  # the least order of each
        while True:
            units = shared.minimum_units - int(orders.sum())
            value = shared.minimum_value - float(orders @ prices)
            if units <= 0 and value <= 1e-9 * shared.minimum_value:
                return orders
            worth = np.ones(items.size) if units > 0 else prices
            more = np.where(orders > 0, pack, first)
            fits = (positions + orders + more <= self._room[items]) & (worth > 0.0)
            if not fits.any():
                return np.zeros_like(orders)
            best = int(np.where(fits, (positions + orders + more) / levels, np.inf).argmin())
            missing = units if units > 0 else value / prices[best]
            chunk = int(missing / (2 * items.size)) // pack[best] * pack[best]  # far from the minimum, many packs
            room = (self._room[items[best]] - positions[best] - orders[best]) // pack[best] * pack[best]
            orders[best] += max(int(more[best]), min(chunk, int(room)))
