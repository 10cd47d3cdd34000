"""Which orders came, which are open, and what arrived, of the items of which deliveries are told."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.inventory.delivery_ledger import ROW_NAMES, WAITED
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.periods import days as days_of
from driftmdp.inventory.periods import mornings_after
from driftmdp.inventory.terms import MAX_LEAD_TIME
from driftmdp.kernels.arrays import Longs
from driftmdp.kernels.deliveries import GIVEN, NONE, RECEIVED, DeliveryEvents, Parts, Promises

MOST_CLOSED = 60  # periods in a row after which a closed item is taken as open


class FollowedOrders(NamedTuple):
    """Orders and deliveries of items, as they are known in the morning of a day.

    Attributes
    ----------
    items, steps
        Their numbers, increasing, and days of a period.
    today
        The day.
    promises, parts
        Orders as they were promised, and what came. Their items are places in ``items``.
    due
        The open morning in which each order is due, by what was told last.
    """

    items: Longs
    steps: Longs
    today: int
    promises: Promises
    parts: Parts
    due: Longs

    @property
    def late(self) -> Longs:
        """How many periods each order is late, less than 0 before it is due."""
        return np.asarray((self.today - self.due) // self.steps[self.promises.item])

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which orders are still waited for."""
        return np.asarray((self.promises.left > 0) & (self.late <= WAITED))


def follow_orders(states: ItemStates, items: Longs, today: int) -> FollowedOrders:
    """Return orders and deliveries of items whose numbers increase, as they are known in the morning of a day."""
    steps = states.steps(items)
    events = _events_of(states, items, steps)
    size = events.day.size
    promises = Promises(*(np.zeros(size, np.int64) for _ in Promises._fields))
    parts = Parts(*(np.zeros(3 * size, np.int64) for _ in Parts._fields))
    n_promises, n_parts = kernels.deliveries.match_deliveries(events, today, promises, parts)
    promises = Promises(*(column[:n_promises] for column in promises))
    parts = Parts(*(column[:n_parts] for column in parts))
    due = np.where(promises.expected == NONE, promises.due, promises.expected)
    return FollowedOrders(items, steps, today, promises, parts, due)


def _events_of(states: ItemStates, items: Longs, steps: Longs) -> DeliveryEvents:
    """Return what happened to items whose numbers increase."""
    rows = states.deliveries.events_of(items)
    item, day, what, key, units, more, expected = (np.ascontiguousarray(rows[name]) for name in ROW_NAMES)
    starts = np.append(np.searchsorted(item, items), item.size).astype(np.int64)
    places = np.repeat(np.arange(items.size), np.diff(starts))
    step, is_received = steps[places], what == RECEIVED
    promised = day + step * np.where(what == GIVEN, key, more)
    mornings = np.where(is_received, mornings_after(day, step), promised)
    due = np.where(is_received, mornings_after(expected, step), promised)
    has_due = ~is_received | (expected != UNKNOWN)
    due[has_due] = open_mornings(states, items, places[has_due], due[has_due])
    return DeliveryEvents(starts, steps, day, what, key, units, more, mornings, np.where(has_due, due, NONE))


def open_mornings(states: ItemStates, items: Longs, places: Longs, mornings: Longs, ahead: bool = True) -> Longs:
    """Return mornings, or where items are closed the first open ones after or before: nobody unloads a truck there.

    ``places`` say for each of the mornings which of the items it is about.
    """
    found, kinds = mornings.copy(), dict[tuple[object, ...], tuple[int, int]]()
    skus, terms, calendar = states.skus, states.terms, states.calendar
    numbers = [
        kinds.setdefault(calendar.closing(skus[item], terms[item]), (len(kinds), item))[0]
        for item in items.tolist()
    ]
    kind = np.array(numbers, np.int64)[places]
    order = np.argsort(kind, kind="stable")
    bounds = np.searchsorted(kind[order], np.arange(len(kinds) + 1))
    for number, item in kinds.values():
        mine, step = order[bounds[number] : bounds[number + 1]], days_of(terms[item].period)
        for _ in range(MOST_CLOSED):
            mine = mine[~calendar.is_open(skus[item], terms[item], found[mine])]
            if not mine.size:
                break
            found[mine] += step if ahead else -step
    return found


def arrived_since(orders: FollowedOrders, since: Longs) -> Longs:
    """Return the units that arrived after the days ``since``, up to this morning, by item. UNKNOWN is never."""
    parts, promises, n = orders.parts, orders.promises, orders.items.size
    is_new = (since[parts.item] != UNKNOWN) & (parts.day > since[parts.item])
    found = np.zeros(n, np.int64)
    np.add.at(found, parts.item[is_new], parts.units[is_new])
    on_time = (promises.is_followed == 0) & (promises.morning <= orders.today)
    on_time &= (since[promises.item] != UNKNOWN) & (promises.morning > since[promises.item])
    np.add.at(found, promises.item[on_time], promises.units[on_time])
    return found


def put_arrivals(table: Longs, numbers: Longs, before: int, orders: FollowedOrders) -> None:
    """Put what really arrived into a table by item and period, in which today's has place ``before``."""
    where = {item: row for row, item in enumerate(numbers.tolist())}
    rows = np.array([where[item] for item in orders.items.tolist()], np.int64)
    table[rows, : before + 1] = 0
    parts, promises = orders.parts, orders.promises
    on_time = (promises.is_followed == 0) & (promises.morning <= orders.today)
    for items, days, units in (
        (parts.item, parts.day, parts.units),
        (promises.item[on_time], promises.morning[on_time], promises.units[on_time]),
    ):
        places = before - (orders.today - days) // orders.steps[items]
        there = (places >= 0) & (places <= before)
        np.add.at(table, (rows[items[there]], places[there]), units[there])


def open_units(orders: FollowedOrders) -> tuple[Longs, Longs]:
    """Return the open units by (item, periods until they are due, less one), and by (item, periods overdue).

    What is due later than orders can be waited for, as in records of earlier versions, is in the last place.
    """
    promises, late = orders.promises, np.maximum(orders.late, -MAX_LEAD_TIME - WAITED)
    tables = []
    for chosen, places in ((orders.is_open & (late < 0), -late - 1), (orders.is_open & (late >= 0), late)):
        table = np.zeros((orders.items.size, int(places[chosen].max(initial=-1)) + 1), np.int64)
        np.add.at(table, (promises.item[chosen], places[chosen]), promises.left[chosen])
        tables.append(table)
    return tables[0], tables[1]
