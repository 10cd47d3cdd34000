r"""Orders of one supplier's items together: who pays the shared cost, and who is pulled along.

An order to a supplier costs K, whatever is in it, and each item in it f_i. K is divided among the items into shares
a_i. Any way of ordering pays K at least as often as the items together pay their shares, so items that are planned
alone, each with f_i + a_i, cost together no more than the best joint plan: a lower bound [AI87]. The shares that
make it largest for a steady demand d_i with holding costs h_i have a common rhythm: f_i + a_i = T^2 h_i d_i / 2 for
all items with a share. Slow or dear-to-order items have none. Nobody's share is so large that losing all sales
would be better: such an item would never order, and nobody would pay its share. Where it is as good to order on
every order day, nobody has a share. Safety stock decides there, so that is judged by ``kernels.review_cycles``.

These plans are the future that a morning looks at. An item that orders today, and pays f_i only, saves s_i against
one that does not. If the savings together are more than K, the order is placed, with all items that save
something: who must order pulls along who nearly must. That is one step of policy improvement on the lower bound's
values. With one item, or without K, it is the item's own plan.

An order must reach the supplier's minimum. It is filled up with what costs least per unit (or per value), by the
items' menus, and placed if the savings are still more than K. A minimum makes orders as rare as a larger K would,
so that the shares are those of such a K.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.order_menus import NO_ORDER

CLEARLY = 0.94  # of the cost of ordering on every order day: what it must cost to leave some out
WORTHWHILE = 0.7  # of the largest fixed cost for steady demand: as much for demand that is not
TIE = 1e-9  # of the shared cost: savings that exceed it by less do not


class JointItems(NamedTuple):
    """The items of a supplier that may be ordered this morning.

    Attributes
    ----------
    orders, costs
        Their menus, by (item, place), see `kernels.order_menus`.
    fixed
        What an order of each costs, beside the shared cost.
    is_due
        Which of them must be ordered, whatever the others do.
    units, prices
        What a unit counts for the supplier's minima.
    """

    orders: Longs
    costs: Floats
    fixed: Floats
    is_due: NDArray[np.bool_]
    prices: Floats


class SharingItems(NamedTuple):
    """All items of a supplier, among which the cost of an order is divided.

    Attributes
    ----------
    fixed, holding, lost, lead_times
        Their terms, as floats. ``fixed`` is what an order of each costs beside the shared cost.
    levels
        Their mean demands per period.
    prices
        What a unit counts for the supplier's minimum value.
    most
        The largest fixed cost with which an item is still ordered, see ``most_worthwhile``.
    """

    fixed: Floats
    holding: Floats
    lost: Floats
    lead_times: Floats
    levels: Floats
    prices: Floats
    most: Floats


def most_worthwhile(holding: Floats, lost: Floats, levels: Floats) -> Floats:
    """Return about the largest fixed cost of an order with which it is better than losing all sales.

    For steady demand, orders with a fixed cost F cost sqrt(2 F h d) per period, and losing all sales l d.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(holding > 0.0, WORTHWHILE * lost * lost * levels / (2.0 * holding), np.inf)


def cost_shares(shared: SharedOrder, items: SharingItems, wait: float = 0.0) -> Floats:
    """Return each item's share of the cost of an order.

    Parameters
    ----------
    shared
        The supplier's cost and minima.
    items
        Its items.
    wait
        Periods from one order day to the next. Where it is not clearly better to leave some of them out, nobody
        has a share: there is nothing to save. 0 does not ask.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.joint_orders import SharingItems, cost_shares
    >>> from driftmdp.inventory.shared_order import SharedOrder
    >>> ones = np.ones(3)
    >>> levels, most = np.array([2.0, 1.0, 1.0]), 200 * ones
    >>> items = SharingItems(np.array([0.0, 0.0, 100.0]), ones, 9 * ones, ones, levels, ones, most)
    >>> cost_shares(SharedOrder(30.0), items).tolist()
    [20.0, 10.0, 0.0]
    """
    weights = 0.5 * items.holding * items.levels
    cost = max(shared.cost, _cost_of_minima(shared, items, weights))
    if weights.sum() <= 0.0:
        return np.full(weights.size, cost / max(weights.size, 1))
    if wait > 0.0 and not _saves_by_waiting(cost, items, wait):
        return np.zeros(weights.size)
    return _shares_up_to(cost, items.fixed, weights, np.maximum(items.most - items.fixed, 0.0))


def _shares_up_to(cost: float, fixed: Floats, weights: Floats, most: Floats) -> Floats:
    """Return shares with a common rhythm, none above ``most``. If they cannot be, all are above by as much."""
    shares, is_free = np.zeros(fixed.size), np.ones(fixed.size, np.bool_)
    if most.sum() <= cost:
        return most * (cost / most.sum()) if most.any() else _rhythmic_shares(cost, fixed, weights)
    while True:
        shares[is_free] = _rhythmic_shares(cost - shares[~is_free].sum(), fixed[is_free], weights[is_free])
        too_much = is_free & (shares > most)
        if not too_much.any():
            return shares
        shares[too_much], is_free = most[too_much], is_free & ~too_much  # the others bear more: these stay there


def _rhythmic_shares(cost: float, fixed: Floats, weights: Floats) -> Floats:
    """Return shares with a common rhythm, none below 0."""
    with np.errstate(divide="ignore"):
        limits = np.where(weights > 0.0, fixed / np.where(weights > 0.0, weights, 1.0), np.inf)
    order = np.argsort(limits, kind="stable")
    squares = (cost + np.cumsum(fixed[order])) / np.maximum(np.cumsum(weights[order]), 1e-300)
    last = int(np.flatnonzero(limits[order] <= squares)[-1])  # the first always has a share
    return np.asarray(np.maximum(squares[last] * weights - fixed, 0.0))


def _saves_by_waiting(cost: float, items: SharingItems, wait: float) -> bool:
    """Return whether it is clearly cheaper to order more rarely than on every order day."""
    costs = [
        cost / (wait * days) + kernels.review_cycles.cost_of_rhythm(wait * days, *items[:5])
        for days in (1, 2, 3, 4)
    ]
    return bool(min(costs[1:]) < CLEARLY * costs[0])


def _cost_of_minima(shared: SharedOrder, items: SharingItems, weights: Floats) -> float:
    """Return the cost of an order that would make orders as rare as the minima do."""
    units, value = items.levels.sum(), (items.levels * items.prices).sum()
    periods = shared.minimum_units / units if units > 0.0 else 0.0
    periods = max(periods, shared.minimum_value / value if value > 0.0 else 0.0)
    return float(periods * periods * weights.sum() - items.fixed.sum())


def order_together(shared: SharedOrder, items: JointItems, is_placed: bool) -> Longs:
    """Return the orders of a supplier's items. ``is_placed``: the supplier has an order of today already."""
    savings = items.costs[:, 0] - items.costs[:, 1] - items.fixed
    joins = ((savings > 0.0) | items.is_due) & (items.orders[:, 1] != NO_ORDER)
    places, loss = (
        _fill_up(shared, items, joins.astype(np.int64)) if not is_placed else (joins.astype(np.int64), 0.0)
    )
    cost = 0.0 if is_placed else shared.cost
    total = savings[joins].sum() - loss
    is_worth_it = total > cost * (1.0 + TIE) or bool((joins & items.is_due).any())
    if places is None or not joins.any() or not is_worth_it:
        return np.zeros(savings.size, np.int64)
    return np.asarray(items.orders[np.arange(savings.size), places])


def orders_out_of_reach(shared: SharedOrder, items: JointItems) -> Longs:
    """Return what would be ordered without a minimum, if the largest orders together do not reach it. Else none."""
    most = items.orders.max(axis=1)
    if shared.has_units(int(most.sum())) and shared.has_value(float((most * items.prices).sum())):
        return np.zeros(most.size, np.int64)
    return order_together(shared.without_minimum, items, False)


def _fill_up(shared: SharedOrder, items: JointItems, places: Longs) -> tuple[Longs | None, float]:
    """Return places on the menus whose orders reach the minima, and what the additions cost. None: none do."""
    places, loss, rows = places.copy(), 0.0, np.arange(places.size)
    while True:
        orders = items.orders[rows, places]
        has_units = shared.has_units(int(orders.sum()))
        if has_units and shared.has_value(float((orders * items.prices).sum())):
            return places, loss
        worth = items.prices if has_units else np.ones(places.size)
        following = np.minimum(places + 1, items.orders.shape[1] - 1)
        more = items.orders[rows, following] - orders
        cost = items.costs[rows, following] - items.costs[rows, places] + np.where(places == 0, items.fixed, 0.0)
        possible = (following > places) & (more > 0) & (worth > 0.0)
        if not possible.any():
            return None, loss
        rates = np.where(possible, cost / np.maximum(more * worth, 1e-300), np.inf)
        best = int(rates.argmin())
        places[best] += 1
        loss += float(cost[best])
