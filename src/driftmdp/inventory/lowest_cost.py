"""A lower bound on what a shop's items can cost in a backtest, under any way of ordering.

Each item is ordered as is best if all demand is known in advance. The order cost of a supplier is divided among
its items into shares, the same in every period. Whoever orders pays it at least as often as the items together
pay their shares, so the items' costs add up to a bound, for every division [AI87]. The best division is taken.
Minima of suppliers are left out, which makes the bound lower.

Goods that spoil are ordered as if they never did: who knows the demand orders no unit that will. Packs and least
orders may force such units on him, so items with both have no bound.

No rule can go below it, and none can be expected to come near: nobody knows the demand. Where shares of several
items are charged, an item's own part of the bound is no bound for it alone.
"""

from collections.abc import Sequence

import numpy as np

from driftmdp import kernels
from driftmdp.inventory.item_paths import ItemPath, order_terms
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats

SHARES = np.linspace(0.0, 1.0, 9) ** 2  # of an order cost, at which an item's cost is computed


def has_bound(terms: ItemTerms) -> bool:
    """Return whether the cost of an item has a bound. With a service target it has none."""
    is_free = terms.pack == 1 and terms.minimum <= 1
    return terms.service is None and (terms.shelf_life is None or is_free)


def lowest_cost(group: Sequence[ItemPath]) -> float:
    """Return the bound for an item, or for all items of a supplier together, over their scored periods."""
    cost = group[0].terms.shared_order.cost
    table = np.array(
        [[_least_cost(path, share * cost) for share in (SHARES if cost else (0.0,))] for path in group]
    )
    return best_division(table, SHARES * cost) if cost else float(table.sum())


def _least_cost(path: ItemPath, charge: float) -> float:
    """Return the least cost of an item whose orders cost so much more than its own."""
    terms = order_terms(path.terms, path.terms.lead_time)._replace(fixed=path.terms.costs.fixed + charge)
    return float(kernels.hindsight_orders.least_cost(path.for_kernel, path.scored, terms))


def best_division(costs: Floats, shares: Floats) -> float:
    """Return the largest sum of items' costs over divisions of an order cost, or a little less.

    Parameters
    ----------
    costs
        Of each item by share: concave, as each is the least of many costs that are linear in it.
    shares
        Increasing, from 0 to the order cost.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.lowest_cost import best_division
    >>> best_division(np.array([[0.0, 4.0, 6.0], [1.0, 2.0, 3.0]]), np.array([0.0, 2.0, 4.0]))
    7.0
    """
    slopes = np.diff(costs, axis=1) / np.diff(shares)  # between the shares, costs are at least their chords
    steps = np.diff(shares)[np.argsort(-slopes, axis=None, kind="stable") % slopes.shape[1]]
    before = np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    taken = np.clip(shares[-1] - before, 0.0, steps)  # the steepest first
    return float(costs[:, 0].sum() + taken @ np.maximum(np.sort(-slopes, axis=None) * -1.0, 0.0))
