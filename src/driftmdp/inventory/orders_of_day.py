"""All orders of a day by supplier, whoever was asked about when."""

import numpy as np

from driftmdp.inventory.decide import Morning, advice_of
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import UNKNOWN, Entries
from driftmdp.inventory.results import Advice


def orders_by_supplier(states: ItemStates, day: int, decided: Entries) -> dict[str, list[Advice]]:
    """Return a day's orders by supplier, also of suppliers without an order."""
    ordered = decided.items[decided.column("advice", decided.items) > 0].tolist()
    ordered = [item for item in ordered if states.terms[item].supplier]
    found: dict[str, list[Advice]] = {name: [] for name in sorted(states.timeline.supplier_names())}
    for each in advice_of(states, Morning(day, UNKNOWN, [], np.array(ordered, np.int64)), decided):
        found[each.supplier].append(each)
    return found
