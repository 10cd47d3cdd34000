"""What orders to suppliers cost in a backtest, whatever is in them, and who pays it.

A period with an order to a supplier costs its order cost once, under every rule. The items that are ordered there
in the period share it equally. Only items whose period is scored pay, and count, so that nothing gets lost between
items that are scored from different days on.
"""

from collections.abc import Sequence

import numpy as np

from driftmdp.inventory.item_paths import ItemPath
from driftmdp.kernels.arrays import Floats, Longs


def groups_of(paths: Sequence[ItemPath]) -> list[list[int]]:
    """Return the places of items that belong together: those of a supplier that is shared, and others alone."""
    groups: list[list[int]] = []
    by_supplier: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        if path.terms.shared_order.is_alone:
            groups.append([place])
        elif path.terms.supplier in by_supplier:
            by_supplier[path.terms.supplier].append(place)
        else:
            by_supplier[path.terms.supplier] = [place]
            groups.append(by_supplier[path.terms.supplier])
    return groups


def supplier_charges(paths: Sequence[ItemPath], orders: Sequence[Longs]) -> list[Floats]:
    """Return what each item pays of its supplier's order cost, by period.

    Parameters
    ----------
    paths
        All items of the suppliers.
    orders
        What is ordered of each, by period.
    """
    charges = [np.zeros(path.days.size) for path in paths]
    for group in groups_of(paths):
        cost = paths[group[0]].terms.shared_order.cost
        if cost > 0.0:
            placed = [paths[item].scored + np.flatnonzero(orders[item][paths[item].scored :]) for item in group]
            days = [paths[item].days[places] for item, places in zip(group, placed, strict=True)]
            order_days, counts = np.unique(np.concatenate(days), return_counts=True)
            for item, places, mine in zip(group, placed, days, strict=True):
                charges[item][places] = cost / counts[np.searchsorted(order_days, mine)]
    return charges
