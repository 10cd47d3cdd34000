"""A morning's orders of items that share a supplier: their shares of its cost, their menus, and the choice."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from driftmdp.inventory.item_table import ALONE, ItemTable
from driftmdp.inventory.joint_orders import JointItems, SharingItems, cost_shares, most_worthwhile, order_together
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.demand_arrays import WEEK_KIND
from driftmdp.kernels.order_menus import MENU, NO_ORDER, fill_candidates
from driftmdp.kernels.ordering_arrays import OrderTask, terms_of

Plan = Callable[[int, OrderTask], tuple[Longs, Floats, Longs]]
FillMenus = Callable[[int, OrderTask, Longs, Floats], None]


class SupplierOrders:
    """The orders of a morning, of items that are ordered together with others.

    Parameters
    ----------
    table
        All items of the shop.
    day, items
        The morning, and the items asked about.
    mean_levels
        Returns the mean demands of items.

    Attributes
    ----------
    fixed
        What an order of each item costs, with its share of the supplier's cost.
    """

    def __init__(self, table: ItemTable, day: int, items: Longs, mean_levels: Callable[[Longs], Floats]) -> None:
        self._table, self._day, self._items = table, day, items
        self._suppliers = table.columns["supplier"][items]
        self._own = table.columns["costs"][items, 0]
        self.fixed = self._own.copy()
        self._is_asked = np.zeros(items.size, np.bool_)
        self._is_due = np.zeros(items.size, np.bool_)
        for supplier in np.unique(self._suppliers[self._suppliers != ALONE]).tolist():
            everyone = np.flatnonzero(table.columns["supplier"][: len(table)] == supplier)
            shares = np.zeros(len(table))
            shares[everyone] = self._shares(everyone, mean_levels(everyone))
            mine = self._suppliers == supplier
            self.fixed[mine] += shares[items[mine]]
        n = items.size if (self._suppliers != ALONE).any() else 0
        self._orders, self._costs = np.full((n, MENU), NO_ORDER, np.int64), np.zeros((n, MENU))

    def _shares(self, everyone: Longs, levels: Floats) -> Floats:
        """Return the shares of a supplier's items in its cost."""
        terms, columns = [self._table.terms[item] for item in everyone.tolist()], self._table.columns[everyone]
        fixed, _, lost, holding = columns["costs"].T
        target = columns["service"][:, 0]  # a lost sale costs as much as makes it the best share to serve
        lost = np.where(target > 0.0, holding * target / (1.0 - target), lost)
        lead_times, prices = columns["sizes"][:, 3].astype(np.float64), np.array([each.value for each in terms])
        most = np.where(target > 0.0, np.inf, most_worthwhile(holding, lost, levels))
        is_weekly = columns["kind"] == WEEK_KIND
        steps = np.where(is_weekly & ~is_weekly.all(), 7.0, 1.0)  # weeks among days are seven of them
        rates = fixed, holding / steps, lost, lead_times * steps, levels / steps, prices, most
        items = SharingItems(*map(np.ascontiguousarray, rates))
        waits = {id(each): _mean_wait(each) * step for each, step in zip(terms, steps.tolist(), strict=True)}
        return cost_shares(terms[0].shared_order, items, min(waits.values()))

    def add_menus(
        self, part: Longs, task: OrderTask, idle: Longs, planned: Longs, plan: Plan, fill_menus: FillMenus
    ) -> None:
        """Make the menus of some items that may be ordered. ``planned`` are their orders with their shares."""
        joint = (self._suppliers[part] != ALONE) & (idle < 0)
        for_service = task.service[:, 0] > 0.0
        for_cost, served = np.flatnonzero(joint & ~for_service), np.flatnonzero(joint & for_service)
        if for_cost.size:
            orders, costs = np.full((for_cost.size, MENU), NO_ORDER, np.int64), np.zeros((for_cost.size, MENU))
            fill_menus(self._day, rows_of(task, for_cost), orders, costs)
            self._set(part[for_cost], orders, self._with_trials(part[for_cost], orders, costs, planned[for_cost]))
        if served.size:
            later, _, _ = plan(self._day, _without_next_order(rows_of(task, served)))
            wanted = np.where(planned[served] > 0, planned[served], later)
            self._set(part[served], *self._service_menus(rows_of(task, served), wanted))
            self._is_due[part[served]] = planned[served] > 0

    def _set(self, places: Longs, orders: Longs, costs: Floats) -> None:
        self._orders[places], self._costs[places], self._is_asked[places] = orders, costs, True

    def _with_trials(self, places: Longs, orders: Longs, costs: Floats, planned: Longs) -> Floats:
        """Return costs in which an item that is ordered in hope, not for its demand, pays its share."""
        hopes = (planned > 0) & (costs[:, 0] - costs[:, 1] <= self.fixed[places])
        orders[hopes, 1], orders[hopes, 2:] = planned[hopes], NO_ORDER
        costs[hopes, 0] = costs[hopes, 1] + self.fixed[places][hopes]
        return costs

    def _service_menus(self, task: OrderTask, wanted: Longs) -> tuple[Longs, Floats]:
        """Return menus of items with a service target: what is more than needed costs its holding and waste.

        An item that will need an order at the next order day, but not yet, joins an order that others cause.
        """
        orders, costs = np.full((wanted.size, MENU), NO_ORDER, np.int64), np.zeros((wanted.size, MENU))
        for row, order in enumerate(wanted.tolist()):
            terms = terms_of(task, row)
            coming = task.coming[row].sum() + task.overdue[row].sum()
            position, mean = int(task.stock[row] + coming), float(task.means[row])
            fill_candidates(terms, position, order, orders[row])
            costs[row] = 0.5 * terms.holding * orders[row] ** 2 / max(mean, 1e-9)
            if terms.shelf_life > 0:  # more than is sold until the last of it spoils
                spoiled = np.maximum(orders[row] + position - mean * (terms.lead_time + terms.shelf_life), 0.0)
                costs[row] += (terms.unit + terms.waste) * spoiled
            costs[row, 0] = costs[row, 1] + (terms.fixed * (1.0 + 1e-6) if order > 0 else 0.0)
        return orders, costs

    def choose(self, orders: Longs, placed: Collection[str]) -> None:
        """Fill in the orders of all suppliers' items. ``placed`` have an order of this morning already."""
        for supplier in np.unique(self._suppliers[self._suppliers != ALONE]).tolist():
            mine = np.flatnonzero((self._suppliers == supplier) & self._is_asked)
            if mine.size:
                terms = [self._table.terms[item] for item in self._items[mine].tolist()]
                prices = np.array([each.value for each in terms])
                menus = self._orders[mine], self._costs[mine]
                items = JointItems(*menus, self._own[mine], self._is_due[mine], prices)
                orders[mine] = order_together(terms[0].shared_order, items, terms[0].supplier in placed)


def rows_of(task: OrderTask, rows: Longs) -> OrderTask:
    """Return the task of some of its items."""
    columns: list[Any] = [np.ascontiguousarray(column[rows]) for column in task]
    return OrderTask(*columns)


def _without_next_order(task: OrderTask) -> OrderTask:
    """Return the task as if the next order day were none."""
    may_order = task.may_order.copy()
    for row in may_order:
        later = np.flatnonzero(row[1:]) + 1
        row[later[:1]] = 0
    return task._replace(may_order=may_order)


def _mean_wait(terms: ItemTerms) -> float:
    """Return the periods from one order day to the next, on average."""
    days = terms.order_days
    return 7.0 / len(days.weekdays) if days.weekdays else float(days.every)
