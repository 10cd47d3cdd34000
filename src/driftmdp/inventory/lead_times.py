"""How late orders come: learned from the deliveries that were told, by supplier.

The delay of a unit is the periods from the morning for which it was promised to the one in which it came, less than
0 if it was early. What is learned are *hazards*: the chance that an order comes with a delay of d, if it did not
come before. An open order says that its delay is at least what it is by now.

Items of one supplier travel together, so an order day of a supplier is one observation, however many items it has:
each of its orders has an equal part in it. Items without a supplier learn alone. The last 60 order days count.

Until an order of theirs comes early or late, orders are on time for certain. Then "on time" has the weight of 4
order days beside those that were seen, and where nothing was seen of later delays, half of what is late comes with
the next period.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftmdp.inventory.deliveries import FollowedOrders, follow_orders
from driftmdp.inventory.delivery_ledger import WAITED
from driftmdp.inventory.item_states import ItemStates
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.late_orders import EARLIEST, LATEST, ON_TIME

MEMORY = 60  # order days of a supplier
PRIOR = 4.0  # order days that came on time
LATE_PRIOR, LATE_HAZARD = 2.0, 0.5  # order days, and how they came, behind the promised one
WIDTH = EARLIEST + LATEST + 1


class LeadTimes(NamedTuple):
    """What was learned of one group of items.

    Attributes
    ----------
    hazards
        By delay, from -EARLIEST to LATEST.
    order_days
        How many order days it was learned from: those that are due, or of which something came.
    late
        The share of what was due that came after its day, or is overdue.
    mean_delay
        The mean delay of what came, in periods. 0 if nothing came.
    """

    hazards: Floats
    order_days: int
    late: float
    mean_delay: float


def learned_hazards(states: ItemStates, day: int, items: Longs) -> Floats:
    """Return the hazards of some items in the morning of a day, by (item, delay): on time where nothing is told."""
    found = np.tile(ON_TIME, (items.size, 1))
    followed = np.isin(items, states.deliveries.told())
    if followed.any():
        learned = learned_lead_times(states, day, items[followed])
        found[followed] = [each.hazards for each in learned]
    return found


def learned_lead_times(states: ItemStates, day: int, items: Longs) -> list[LeadTimes]:
    """Return what was learned of the lead times of items of which deliveries are told."""
    asked = dict.fromkeys(_group_of(states, item) for item in items.tolist())
    told = states.deliveries.told()
    numbers = {group: number for number, group in enumerate(asked)}
    groups = np.array([numbers.get(_group_of(states, item), -1) for item in told.tolist()], np.int64)
    mine = told[groups >= 0]
    orders = follow_orders(states, mine, day)
    learned = learn_lead_times(orders, groups[groups >= 0], len(numbers))
    return [learned[numbers[_group_of(states, item)]] for item in items.tolist()]


def _group_of(states: ItemStates, item: int) -> tuple[Any, ...]:
    terms = states.terms[item]
    return (terms.supplier, terms.period) if terms.supplier else (item,)


def learn_lead_times(orders: FollowedOrders, groups: Longs, n_groups: int) -> Sequence[LeadTimes]:
    """Return what is learned of each group. ``groups`` has that of each item."""
    promises, parts, n = orders.promises, orders.parts, orders.promises.item.size
    steps = orders.steps[promises.item]
    group, by_now = groups[promises.item], (orders.today - promises.due) // steps
    known = parts.promise >= 0
    place = parts.promise[known]
    came = np.bincount(place, parts.units[known], n)
    waited = np.where(by_now <= WAITED, promises.left, 0)
    whole = came + waited
    counts = (promises.is_followed == 1) & (whole > 0) & ((by_now >= -EARLIEST) | (came > 0))
    weight = _weights(group, promises.ordered_on, counts) / np.maximum(whole, 1)
    delay = np.clip(_delays(orders, parts.day[known], place), -EARLIEST, LATEST) + EARLIEST
    seen, open_after = np.zeros((n_groups, WIDTH)), np.zeros((n_groups, WIDTH))
    np.add.at(seen, (group[place], delay), weight[place] * parts.units[known])
    is_waiting = counts & (waited > 0) & (by_now >= -EARLIEST)
    last = np.minimum(by_now[is_waiting], LATEST) + EARLIEST
    np.add.at(open_after, (group[is_waiting], last), (weight * waited)[is_waiting])
    days = np.unique(np.stack([group, promises.ordered_on])[:, (weight > 0) & ((by_now >= 0) | (came > 0))], axis=1)
    n_days = np.bincount(days[0], minlength=n_groups)
    return [_lead_times(*rows) for rows in zip(seen, open_after, n_days.tolist(), strict=True)]


def _delays(orders: FollowedOrders, came: Longs, place: Longs) -> Longs:
    """Return how many periods late each part came. Between a closed day and the next open morning it is on time."""
    late, early = (came - day[place] for day in (orders.promises.due, orders.promises.morning))
    steps = orders.steps[orders.promises.item][place]
    return np.asarray(np.where(late >= 0, late, np.minimum(early, 0)) // steps)


def _weights(group: Longs, ordered_on: Longs, counts: Any) -> Floats:
    """Return the weight of each order: those of one order day share 1. Days before the last 60 have none."""
    pairs, shipment = np.unique(np.stack([group, ordered_on])[:, counts], axis=1, return_inverse=True)
    sizes = np.bincount(shipment.ravel(), minlength=pairs.shape[1])
    ends = np.searchsorted(pairs[0], pairs[0], side="right")
    is_recent = ends - np.arange(pairs.shape[1]) <= MEMORY
    found = np.zeros(group.size)
    found[counts] = (is_recent / np.maximum(sizes, 1))[shipment.ravel()]
    return found


def learn_from_counts(counts: Longs) -> Floats:
    """Return the hazards that are learned from how many order days came 0, 1, .. periods late.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.lead_times import learn_from_counts
    >>> learn_from_counts(np.array([5, 1])).round(2).tolist()[4:7]
    [0.9, 0.67, 0.5]
    """
    seen = np.zeros(WIDTH)
    seen[EARLIEST : EARLIEST + counts.size] = counts
    return _lead_times(seen, np.zeros(WIDTH), int(counts.sum())).hazards


def _lead_times(seen: Floats, open_after: Floats, order_days: int) -> LeadTimes:
    came_later = np.append(np.cumsum(seen[::-1])[::-1][1:], 0.0)
    waiting = came_later + np.cumsum(open_after[::-1])[::-1]
    here = EARLIEST
    hazards = np.empty(WIDTH)
    hazards[:here] = seen[:here] / (seen[:here] + waiting[:here] + PRIOR)
    hazards[here] = 1.0 - waiting[here] / (seen[here] + waiting[here] + PRIOR)  # exactly 1 if nothing came late
    behind = seen[here + 1 :] + LATE_PRIOR * LATE_HAZARD
    hazards[here + 1 :] = behind / (seen[here + 1 :] + waiting[here + 1 :] + LATE_PRIOR)
    total = float(seen.sum())
    mean = float(seen @ (np.arange(WIDTH) - EARLIEST)) / total if total > 0.0 else 0.0
    due = float(seen[: here + 1].sum() + waiting[here])
    late = float(waiting[here]) / due if due > 0.0 else 0.0
    return LeadTimes(hazards, order_days, late, mean)
