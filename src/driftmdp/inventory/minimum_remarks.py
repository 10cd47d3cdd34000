"""Remarks on orders that do not reach their suppliers' minima."""

from collections import defaultdict

from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import Entries
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.kernels.arrays import Longs


def orders_below_minimum(states: ItemStates, items: Longs, decided: Entries) -> list[str]:
    """Return a remark on each supplier of some items whose orders of the day do not reach its minimum together."""
    named = _suppliers_with_minimum(states, items)
    if not named:
        return []
    ordered = decided.items[decided.column("advice", decided.items) > 0]
    missed = _missed(states, ordered, decided.column("advice", ordered))
    return [f"The order to {name} has {missed[name]} that it must have." for name in named if name in missed]


def minima_out_of_reach(states: ItemStates, items: Longs, units: Longs) -> list[str]:
    """Return a remark on each supplier whose minimum all that is worth ordering does not reach."""
    missed = _missed(states, items[units > 0], units[units > 0])
    return [
        f"No order to {name}: what is worth ordering has {what} that an order must have."
        for name, what in missed.items()
    ]


def _suppliers_with_minimum(states: ItemStates, items: Longs) -> list[str]:
    terms = (states.terms[item] for item in items.tolist())
    return list(dict.fromkeys(each.supplier for each in terms if each.shared_order.has_minimum))


def _missed(states: ItemStates, items: Longs, units: Longs) -> dict[str, str]:
    """Return what orders have of the minima that they do not reach, by supplier."""
    totals: dict[tuple[str, SharedOrder], tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for item, order in zip(items.tolist(), units.tolist(), strict=True):
        terms = states.terms[item]
        before, value = totals[terms.supplier, terms.shared_order]
        totals[terms.supplier, terms.shared_order] = before + order, value + order * terms.value
    texts = {name: _of_minima(shared, *total) for (name, shared), total in totals.items()}
    return {name: text for name, text in texts.items() if text}


def _of_minima(shared: SharedOrder, units: int, value: float) -> str:
    """Return what an order has of the minima that it does not reach, or an empty text."""
    parts = [] if shared.has_units(units) else [f"{units} of the {shared.minimum_units} units"]
    parts += [] if shared.has_value(value) else [f"{value:.2f} of the value of {shared.minimum_value:.2f}"]
    return " and ".join(parts)
