"""All orders of a day, whoever was asked about when: by supplier, and whether they reach the suppliers' minima."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from driftmdp.inventory.decide import Morning, advice_of
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import UNKNOWN, Entries
from driftmdp.inventory.results import Advice
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.kernels.arrays import Longs


def orders_by_supplier(states: ItemStates, day: int, decided: Entries) -> dict[str, list[Advice]]:
    """Return a day's orders by supplier, also of suppliers without an order."""
    ordered = [item for item in _ordered(decided.items, decided).tolist() if states.terms[item].supplier]
    found: dict[str, list[Advice]] = {name: [] for name in sorted(states.timeline.supplier_names())}
    for each in advice_of(states, Morning(day, UNKNOWN, [], np.array(ordered, np.int64)), decided):
        found[each.supplier].append(each)
    return found


def orders_below_minimum(states: ItemStates, items: Longs, decided: Entries) -> list[str]:
    """Return a remark on each supplier of some items whose orders of the day do not reach its minimum together."""
    shared = {
        terms.supplier: terms.shared_order
        for terms in (states.terms[item] for item in items.tolist())
        if terms.shared_order.has_minimum
    }
    if not shared:
        return []
    ordered = _ordered(decided.items, decided)
    orders = zip(ordered.tolist(), decided.column("advice", ordered).tolist(), strict=True)
    totals = _totals(states, orders)
    short = [(name, _short(shared[name], totals[name])) for name in shared if name in totals]
    return [f"The order to {name} has {what} that it must have." for name, what in short if what]


def _ordered(items: Longs, decided: Entries) -> Longs:
    return items[decided.column("advice", items) > 0]


def _totals(states: ItemStates, orders: Iterable[tuple[int, int]]) -> Mapping[str, tuple[int, float]]:
    """Return the units and the value of orders by supplier."""
    totals: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for item, order in orders:
        terms = states.terms[item]
        units, value = totals[terms.supplier]
        totals[terms.supplier] = units + order, value + order * terms.value
    return totals


def _short(shared: SharedOrder, total: tuple[int, float]) -> str:
    """Return what an order has of the minima that it does not reach, or an empty text."""
    units, value = total
    parts = [f"{units} of the {shared.minimum_units} units"] if units < shared.minimum_units else []
    if value < shared.minimum_value * (1.0 - 1e-9):
        parts.append(f"{value:.2f} of the value of {shared.minimum_value:.2f}")
    return " and ".join(parts)
