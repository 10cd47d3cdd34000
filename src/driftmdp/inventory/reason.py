"""The explanation of an order in numbers."""

from datetime import date

import numpy as np

from driftmdp.inventory.decide import pipeline_of, shelf_ages_of
from driftmdp.inventory.deliveries import FollowedOrders
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.forecast import QUANTILES
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.lead_times import follow_companions, learned_hazards, learned_lead_times
from driftmdp.inventory.log_entries import UNKNOWN, read_day
from driftmdp.inventory.order_engine import METHODS
from driftmdp.inventory.order_tasks import Lateness
from driftmdp.inventory.periods import days
from driftmdp.inventory.results import DeliveryRecord, Event, Reason
from driftmdp.inventory.shelf_log import ShelfAges, recorded_ages
from driftmdp.kernels.arrays import Longs


def reason_for(states: ItemStates, log: EventLog, item: int, advice: Event | None) -> Reason:
    """Return why an item's order is what it is, on its last morning, or on the one after its last sales."""
    last, terms, engine = states.last[item], states.terms[item], states.engine
    day, numbers = int(last["day"]), np.array([item], np.int64)
    stock = None if last["stock"] == UNKNOWN else int(last["stock"])
    is_over = last["sales"] != UNKNOWN
    day = min(day + days(terms.period), date.max.toordinal()) if is_over else day
    states.move_to(day)
    terms = states.terms[item]
    followed = follow_companions(states, day, numbers)
    pipeline = pipeline_of(states, log, day, numbers, followed)
    shelves = shelf_ages_of(states, log, day, numbers, followed)
    if is_over and pipeline.since[0] == UNKNOWN:
        stock = None
    elif is_over:
        arrived = int(last["evening"]) + int(pipeline.arrived[0])
        stock = int(shelves.ages.sum()) if terms.shelf_life else arrived
    there = np.array([stock or 0], np.int64)
    ages = _ages_on(states, log, day, numbers, there, shelves)
    until = None if advice is None or advice.until is None else advice.until.toordinal()
    until = until if until is not None and until >= day else None
    is_ordered = advice is not None and advice.advice and advice.day == date.fromordinal(day)
    placed = {terms.supplier} if is_ordered else ()  # others of its supplier may have caused the order
    lateness = Lateness(learned_hazards(states, numbers, followed), pipeline.overdue)
    orders = engine.decide(day, numbers, there, pipeline.coming, until, placed, ages, lateness)
    alone = None
    if placed and not terms.shared_order.is_alone:
        alone = int(engine.decide(day, numbers, there, pipeline.coming, until, (), ages, lateness).order[0])
    step, summary = days(terms.period), engine.describe(day, item)
    review = states.calendar.next_order(states.skus[item], terms, day)
    last_day = date.max.toordinal() if until is None else until
    covered = min(terms.lead_time + review, (last_day - day) // step + 1)
    found = engine.forecast(day, numbers, covered, QUANTILES)
    return Reason(
        states.skus[item],
        terms,
        date.fromordinal(day),
        stock,
        tuple(pipeline.coming[0].tolist()),
        summary.periods,
        summary.level,
        summary.factor,
        float(found.mean[0, 0]),
        dict(zip(QUANTILES, found.quantiles[0, 0].tolist(), strict=True)),
        covered,
        float(found.mean[0].sum()),
        int(orders.order[0]),
        float(orders.cost[0]),
        METHODS[int(orders.method[0])],
        advice,
        None if until is None else date.fromordinal(until),
        tuple(ages[0].tolist()),
        tuple(engine.expected_waste(day, item, ages[0], pipeline.coming[0], int(orders.order[0])).tolist()),
        tuple(pipeline.overdue[0].tolist()),
        _deliveries(states, numbers, followed),
        alone,
    )


def _deliveries(states: ItemStates, item: Longs, followed: FollowedOrders) -> DeliveryRecord | None:
    """Return what was learned of an item's deliveries, if some are told."""
    orders = followed.of(item)
    if not orders.items.size:
        return None
    learned = learned_lead_times(states, item, followed)[0]
    parts, promises = orders.parts, orders.promises
    came = np.bincount(parts.promise[parts.promise >= 0], parts.units[parts.promise >= 0], promises.left.size)
    is_short = (promises.is_followed == 1) & (promises.left == 0) & (came < promises.units)
    return DeliveryRecord(learned.order_days, learned.late, learned.mean_delay, int(is_short.sum()))


def _ages_on(
    states: ItemStates, log: EventLog, day: int, numbers: Longs, stock: Longs, shelves: ShelfAges
) -> Longs:
    """Return the ages that a day was decided with, or that follow from the records."""
    decided = read_day(log, day, states.shop.lead_time).decided
    found = recorded_ages(decided, numbers, states.shelf_lives(numbers))
    return found if (found.sum(axis=1) == stock).all() else shelves.counted(stock)
