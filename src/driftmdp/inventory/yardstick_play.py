"""The yardsticks played day by day, for items whose orders must reach a supplier's minimum together."""

from collections.abc import Sequence

import numpy as np

from driftmdp import kernels
from driftmdp.inventory.item_paths import ItemPath
from driftmdp.inventory.joint_rules import Says
from driftmdp.inventory.ordering_rules import Yardsticks
from driftmdp.kernels.arrays import Longs


class ItemMornings:
    """One rule on one item, morning by morning. Without a minimum it orders what ``Yardsticks.follow`` does.

    Parameters
    ----------
    name
        The rule.
    path
        The item's past.
    """

    def __init__(self, name: str, path: ItemPath) -> None:
        self._name, self._yardsticks = name, Yardsticks(path)
        self._seen, self._now = np.zeros(path.days.size, np.int64), 0
        rules, terms = kernels.yardstick_rules, self._yardsticks.terms
        self._first = int(rules.first_level(terms, path.demand, self._yardsticks.wait))
        self._begin = int(rules.first_fit(path.for_kernel.may_order, terms.lead_time))
        self._fixed = {
            "hindsight": self._yardsticks.levels_in_hindsight,
            "first-60": self._yardsticks.levels_of_first,
        }.get(name, lambda: (0, 0))()
        self._levels = 0, 0  # of a rule that is fitted every morning

    def order(self, position: int) -> int:
        """Return the order of this morning. ``position`` is the stock with what is coming."""
        if not self._yardsticks.path.may_order[self._now]:
            return 0
        s, up = self._levels_now()
        order_up_to = kernels.yardstick_rules.order_up_to
        return int(order_up_to(self._yardsticks.terms, position, up)) if position <= s else 0

    def learn(self, sold: int) -> None:
        """Learn what was sold in this period. The next call of ``order`` is about the next."""
        demand = int(self._yardsticks.path.demand[self._now])
        self._seen[self._now] = demand if self._name == "uncensored" else sold
        self._now += 1

    def _levels_now(self) -> tuple[int, int]:
        """Return the (s, S) of this morning, in units."""
        known, rules, now = self._yardsticks, kernels.yardstick_rules, self._now
        pack = known.terms.pack
        if self._fixed[1] > 0:
            return self._fixed[0] * pack, self._fixed[1] * pack
        if now < self._begin:
            return self._first - 1, self._first
        if self._name == "base-stock":
            sums = np.zeros(known.window + 2, np.int64)
            spans = known.window, known.wait, known.terms, known.ratio(), self._first
            up = int(rules.base_stock_level(self._seen, now, *spans, sums))
            return up - 1, up
        how = known.terms, known.target, known.draws, known.wait
        s, up = rules.fit_levels(self._seen, max(0, now - known.window), now, *how, self._levels)
        self._levels = int(s), int(up)
        return self._levels[0] * pack, self._levels[1] * pack


class YardstickRule:
    """One of the rules that look at one item only, on several items.

    Parameters
    ----------
    name
        The rule.
    paths
        The items.
    """

    def __init__(self, name: str, paths: Sequence[ItemPath]) -> None:
        self._items = [ItemMornings(name, path) for path in paths]

    def decide(self, day: int, items: Longs, stock: Longs, coming: Longs, ages: Longs) -> Longs:
        """Return the orders of a morning."""
        positions = zip(items.tolist(), (stock + coming.sum(axis=1)).tolist(), strict=True)
        return np.array([self._items[item].order(position) for item, position in positions], np.int64)

    def learn(self, day: int, items: Longs, seen: Says, on_sale: Longs, units: Longs) -> None:
        """Learn what was sold in a period."""
        for item, sold in zip(items.tolist(), units.tolist(), strict=True):
            self._items[item].learn(sold)
