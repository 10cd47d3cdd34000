"""What deliveries an item's orders had: orders, and what was told of deliveries, event by event.

Of each item, events come in the order of their days, and on a day: what was told of deliveries, what the morning's
count said of arrivals, the advice, and the real order if there is one. Each order is *promised* for its lead time.

From the first told line on, an order is open until it is told that it came. That begins with the orders that were
due in that period or later, those that a line names, and, if the first line names none, the one that was due
nearest to it. Others came whole and on time. Lines that name no order fill the oldest open one, then the next.

Nobody unloads a truck on a closed day. What is promised for one is *due* in the next open morning.
"""

from typing import NamedTuple

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Ints, Longs

RECEIVED, GIVEN, ADVISED, ORDERED = 0, 1, 2, 3  # kinds of events, in their order on a day
NONE = -1  # no day, no order, no units
WAITS, CANCELLED = 0, 1  # what becomes of the rest of an order
WEEK = 7


class DeliveryEvents(NamedTuple):
    """Events of n items, one item after the other.

    ===========  =======  ==================================================================================
    starts       (n + 1,) the first event of each item
    steps        (n,)     days of a period
    day, what    (m,)     when, and which kind
    key          (m,)     the order day that a line names or NONE; the periods of ``GIVEN``
    units        (m,)     received, arriving, or ordered
    more         (m,)     the lead time of an order; WAITS or CANCELLED of a delivery
    morning      (m,)     when a delivery is on the shelf; for when something is promised, open or closed
    due          (m,)     the open morning for which something is promised, or the rest is expected, or NONE
    ===========  =======  ==================================================================================
    """

    starts: Longs
    steps: Longs
    day: Ints
    what: Ints
    key: Ints
    units: Ints
    more: Ints
    morning: Longs
    due: Longs


class Promises(NamedTuple):
    """Orders as they were promised, and what is open of them.

    =============  ====  ==========================================================================
    item           (p,)  place among the items
    ordered_on     (p,)  the day of the order
    morning, due   (p,)  for which it was promised, open or closed, and the open one
    units, left    (p,)  ordered, and still open
    expected       (p,)  the open morning in which the rest is expected, or NONE
    is_followed    (p,)  0: nothing is told of it, it came whole and on time
    =============  ====  ==========================================================================
    """

    item: Longs
    ordered_on: Longs
    morning: Longs
    due: Longs
    units: Longs
    left: Longs
    expected: Longs
    is_followed: Longs


class Parts(NamedTuple):
    """What came: units of an order, or NONE for more than was open, and on the shelf in which morning."""

    promise: Longs
    item: Longs
    day: Longs
    units: Longs


@kernel
def match_deliveries(events: DeliveryEvents, today: int, promises: Promises, parts: Parts) -> tuple[int, int]:
    """Fill promises and parts as they are known in the morning of a day. Return how many there are of each."""
    n_promises, n_parts = 0, 0
    for item in range(events.steps.size):
        n_promises, n_parts = _match_item(events, item, today, promises, parts, n_promises, n_parts)
    return n_promises, n_parts


@kernel
def _match_item(
    events: DeliveryEvents, item: int, today: int, promises: Promises, parts: Parts, first: int, n_parts: int
) -> tuple[int, int]:
    start, end, step = events.starts[item], events.starts[item + 1], events.steps[item]
    begin, since, nearest = _beginning(events, start, end, step)
    count, known, morning = first, first, NONE
    for e in range(start, end):
        day, due = events.day[e], events.due[e]
        if day != morning:
            known, morning = count, day  # what a count says takes the place of the orders of earlier mornings
        if events.what[e] == RECEIVED:
            if events.morning[e] <= today:
                where = first, count
                target = _find(promises, where, events.key[e], True) if events.key[e] != NONE else NONE
                if events.key[e] == NONE and day == begin and nearest != NONE:
                    target = _find(promises, where, nearest, False)
                n_parts = _receive(events, e, item, promises, parts, where, n_parts, target)
        elif day < today and events.what[e] == GIVEN:
            ordered_on = day
            for p in range(first, known):
                on = promises.due[p] if promises.expected[p] == NONE else promises.expected[p]
                if promises.left[p] > 0 and (on == due or (events.key[e] == 1 and on <= day)):
                    promises.units[p] -= promises.left[p]  # the count has the rest
                    promises.left[p] = 0
                    ordered_on = min(ordered_on, promises.ordered_on[p])
                if promises.is_followed[p] == 0 and promises.due[p] == due:
                    promises.units[p] = 0
            count = _add(promises, count, item, ordered_on, events, e, due >= since)
        elif day < today and is_order(events, e, end):
            is_followed = due >= since or day == nearest or _is_named(events, start, end, day)
            count = _add(promises, count, item, day, events, e, is_followed)
    return count, n_parts


@kernel
def is_order(events: DeliveryEvents, e: int, end: int) -> bool:
    """Return whether an event is an order that does not arrive at once. A real order overrules the advice."""
    if events.what[e] < ADVISED or events.more[e] <= 0 or events.units[e] <= 0:
        return False
    if events.what[e] == ADVISED and e + 1 < end:
        return events.what[e + 1] != ORDERED or events.day[e + 1] != events.day[e]
    return True


@kernel
def _beginning(events: DeliveryEvents, start: int, end: int, step: int) -> tuple[int, int, int]:
    """Return the first day of which something is told, its period, and the order that it is about, or NONE."""
    begin, names_none = NONE, False
    for e in range(start, end):
        if events.what[e] == RECEIVED and (begin == NONE or events.day[e] == begin):
            begin = events.day[e]
            names_none = names_none or events.key[e] == NONE
    since = begin - (begin - 1) % WEEK if step == WEEK and begin != NONE else begin
    found, least = NONE, 0
    if names_none:
        for e in range(start, end):
            if events.day[e] < begin and is_order(events, e, end):
                apart = abs(events.due[e] - since)
                if found == NONE or apart < least:
                    found, least = events.day[e], apart
    return begin, since, found


@kernel
def _is_named(events: DeliveryEvents, start: int, end: int, day: int) -> bool:
    found = False
    for e in range(start, end):
        found = found or (events.what[e] == RECEIVED and events.key[e] == day)
    return found


@kernel
def _add(
    promises: Promises, p: int, item: int, ordered_on: int, events: DeliveryEvents, e: int, is_followed: bool
) -> int:
    """Add what an event promises. Return how many promises there are then."""
    units = events.units[e]
    if units <= 0:
        return p
    promises.item[p], promises.ordered_on[p] = item, ordered_on
    promises.morning[p], promises.due[p] = events.morning[e], events.due[e]
    promises.units[p], promises.left[p] = units, units if is_followed else 0
    promises.expected[p], promises.is_followed[p] = NONE, 1 if is_followed else 0
    return p + 1


@kernel
def _find(promises: Promises, where: tuple[int, int], ordered_on: int, takes_last: bool) -> int:
    """Return the order of a day, or NONE. Of several, as counts speak of some too, the first or last open one."""
    found = NONE
    for p in range(where[0], where[1]):
        if promises.ordered_on[p] == ordered_on and promises.is_followed[p] != 0:
            is_first = found == NONE or promises.left[found] == 0
            if is_first or (takes_last and promises.left[p] > 0):
                found = p
    return found


@kernel
def _oldest(promises: Promises, where: tuple[int, int]) -> int:
    """Return the open order that was promised first, or NONE."""
    found = NONE
    for p in range(where[0], where[1]):
        if promises.left[p] > 0 and (found == NONE or promises.due[p] < promises.due[found]):
            found = p
    return found


@kernel
def _receive(
    events: DeliveryEvents,
    e: int,
    item: int,
    promises: Promises,
    parts: Parts,
    where: tuple[int, int],
    n_parts: int,
    target: int,
) -> int:
    """Give what came to the orders that it belongs to. Return how many parts there are then."""
    left, day, is_named = events.units[e], events.morning[e], events.key[e] != NONE
    if target == NONE and not is_named:
        target = _oldest(promises, where)
    touched = target
    while left > 0 and target != NONE:
        units = min(left, promises.left[target])
        if units > 0:
            n_parts = _add_part(parts, n_parts, target, item, day, units)
            promises.left[target] -= units
            left -= units
            touched = target
        target = NONE if is_named or left == 0 else _oldest(promises, where)
    if left > 0:
        n_parts = _add_part(parts, n_parts, NONE, item, day, left)
    if touched != NONE:
        if events.more[e] == CANCELLED:
            promises.left[touched] = 0
        if events.due[e] != NONE:
            promises.expected[touched] = events.due[e]
    return n_parts


@kernel
def _add_part(parts: Parts, count: int, promise: int, item: int, day: int, units: int) -> int:
    parts.promise[count], parts.item[count], parts.day[count], parts.units[count] = promise, item, day, units
    return count + 1
