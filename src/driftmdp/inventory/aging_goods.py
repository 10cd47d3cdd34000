"""Goods that spoil along the past of many items: the oldest are sold first.

Each unit has a last period in which it can be sold. If the units whose last period is t or earlier are ``due`` so
far, and so many were ``gone`` before, sold or spoiled, then (due - gone)^+ spoil in the evening of t.
"""

from collections.abc import Sequence

import numpy as np

from driftmdp.inventory.item_paths import ItemPath
from driftmdp.inventory.periods import days as days_of
from driftmdp.kernels.arrays import Longs


class AgingGoods:
    """What spoils of all items. Places are periods of all paths put together.

    Parameters
    ----------
    paths
        The items. Their shelves begin empty.
    """

    def __init__(self, paths: Sequence[ItemPath]) -> None:
        self._lives = np.array([path.terms.shelf_life or 0 for path in paths], np.int64)
        self._step = np.array([days_of(path.terms.period) for path in paths], np.int64)
        self._ends = np.cumsum([path.days.size for path in paths])
        self._days = np.concatenate([path.days for path in paths])
        starts = np.repeat(self._ends - [path.days.size for path in paths], [path.days.size for path in paths])
        self._expiry = starts + np.concatenate([path.expiry for path in paths])
        self._is_behind = np.concatenate([path.expiry >= path.days.size for path in paths])
        self._expiring = np.zeros(self._days.size, np.int64)
        self._owed = np.zeros(len(paths), np.int64)  # due less gone, at most 0

    def ages(self, day: int, items: Longs, places: Longs, stock: Longs) -> Longs:
        """Return the ages of the stock of some items in the morning of a day, by periods left, less one."""
        width = int(self._lives[items].max(initial=0))
        found = np.zeros((items.size, width), np.int64)
        spoils = np.flatnonzero(self._lives[items] > 0)
        if not spoils.size:
            return found
        items, places, stock = items[spoils], places[spoils], stock[spoils]
        coming = places[:, None] + np.arange(width)
        is_there = coming < self._ends[items][:, None]
        coming = np.minimum(coming, self._days.size - 1)
        units = np.where(is_there, self._expiring[coming], 0)
        left = np.clip((self._days[coming] - day) // self._step[items][:, None], 0, width - 1)
        due = np.clip(np.cumsum(units, axis=1) + self._owed[items][:, None], 0, stock[:, None])
        rows = np.broadcast_to(spoils[:, None], left.shape)
        np.add.at(found, (rows, left), np.diff(due, axis=1, prepend=0))
        found[spoils, self._lives[items] - 1] += stock - due[:, -1]  # the newest can be sold for as long as any
        return found

    def order(self, places: Longs, orders: Longs) -> None:
        """Note when what is ordered now can be sold for the last time."""
        mine = places[~self._is_behind[places]]
        np.add.at(self._expiring, self._expiry[mine], orders[~self._is_behind[places]])

    def sell(self, items: Longs, places: Longs, sold: Longs) -> Longs:
        """Return what spoils in the evening, after so many units were sold."""
        owed = np.where(self._lives[items] > 0, self._owed[items] + self._expiring[places] - sold, 0)
        self._owed[items] = np.minimum(owed, 0)
        return np.maximum(owed, 0)
