"""Decisions: what to order, and remarks on unusual counts."""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.ages import add_new
from driftmdp.inventory.cells import LARGEST_NUMBER
from driftmdp.inventory.deliveries import follow_orders
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.lead_times import learned_hazards
from driftmdp.inventory.lines import Count
from driftmdp.inventory.log_entries import UNKNOWN, Columns, DayEntries, Entries, costs_of
from driftmdp.inventory.open_orders import (
    LOOK_BACK,
    Pipeline,
    PipelineItems,
    read_pipeline,
    widened,
    with_deliveries,
)
from driftmdp.inventory.order_engine import METHODS
from driftmdp.inventory.order_tasks import Lateness
from driftmdp.inventory.periods import WEEKDAYS, days, period_of, weekday
from driftmdp.inventory.results import Advice
from driftmdp.inventory.shelf_log import LEFT, ShelfAges, age_columns, read_shelf_ages, recorded_ages
from driftmdp.kernels.arrays import Longs


@dataclass(frozen=True)
class Morning:
    """What is asked: a day, the last day that counts or UNKNOWN, and the counts with their items' numbers."""

    day: int
    until: int
    counts: list[Count]
    items: Longs

    @functools.cached_property
    def stock(self) -> Longs:
        """The counted stocks."""
        return np.array([count.stock for count in self.counts], np.int64)

    @functools.cached_property
    def given(self) -> Longs:
        """What the counts say of coming arrivals, shape (counts, periods), UNKNOWN where they do not."""
        width = max((len(count.coming) for count in self.counts), default=0)
        table = np.full((len(self.counts), width), UNKNOWN, np.int64)
        for row, count in enumerate(self.counts):
            if count.coming:
                table[row, : len(count.coming)] = [UNKNOWN if units is None else units for units in count.coming]
        return table

    @functools.cached_property
    def left(self) -> Longs:
        """What the counts say of the ages, shape (counts, periods). Where they say nothing, all are UNKNOWN."""
        width = max((len(count.left) for count in self.counts), default=0)
        table = np.full((len(self.counts), width), UNKNOWN, np.int64)
        for row, count in enumerate(self.counts):
            if count.left:
                units = [0 if units is None else units for units in count.left]
                table[row] = [*units, *(0,) * (width - len(units))]
        return table

    def of(self, chosen: Sequence[int]) -> "Morning":
        """Return the same morning with some of the counts."""
        return Morning(self.day, self.until, [self.counts[row] for row in chosen], self.items[list(chosen)])


def unique_counts(counts: Iterable[Count]) -> list[Count]:
    """Return each item's count once. Two that differ are refused."""
    found: dict[str, Count] = {}
    for count in counts:
        if found.setdefault(count.sku, count) != count:
            raise InvalidInputError(f"{count.sku} must be counted once; got two counts that differ.")
    return list(found.values())


def new_advice(
    states: ItemStates, log: EventLog, morning: Morning, before: DayEntries, correct: bool, strict: bool
) -> tuple[Columns, list[str]]:
    """Return advice on the items that have none for the day or whose count is corrected, and remarks."""
    _check_counts(states, morning)
    asked = morning.of(_unanswered(states, morning, before, correct))
    pipeline = pipeline_of(states, log, asked.day, asked.items)
    shelves = shelf_ages_of(states, log, asked.day, asked.items)
    expected = _expected(states, asked, pipeline, shelves, before.decided)
    remarks = [
        *_unexpected_counts(asked, expected, strict),
        *_missing_days(states, asked),
        *_items_not_counted(states, morning, before.decided),
        *_counts_above_capacity(states, asked),
        *late_orders(states, asked.day, asked.items),
        *_ages_not_known(states, asked),
        *_orders_that_never_pay(states, asked),
    ]
    given = _given(states, asked, before.decided)
    given, coming = _same_width(given, pipeline.coming)
    coming = np.where(given == UNKNOWN, coming, given)
    until = None if asked.until == UNKNOWN else asked.until
    placed = _suppliers_with_orders(states, asked, before.decided)
    overdue = pipeline.overdue
    if given.shape[1]:
        overdue = np.where(given[:, :1] != UNKNOWN, 0, overdue)  # what the count says of tomorrow has it too
    lateness = Lateness(learned_hazards(states, asked.day, asked.items), overdue)
    ages = _ages(asked, shelves)
    orders = states.engine.decide(asked.day, asked.items, asked.stock, coming, until, placed, ages, lateness)
    columns = {
        "item": asked.items,
        "stock": asked.stock,
        "coming": np.minimum(coming.sum(axis=1) + overdue.sum(axis=1), LARGEST_NUMBER),
        "expected": expected,
        "advice": orders.order,
        "until": np.full(asked.items.size, asked.until),
        "cost": orders.cost.astype("<f4").view("<i4"),
        "method": orders.method,
        "lead_time": states.lead_times(asked.items),
        "pack": states.packs(asked.items),
    }
    columns |= age_columns(ages) | {f"coming_{place}": units for place, units in enumerate(coming.T, 1)}
    return columns | {f"given_{place}": units for place, units in enumerate(given.T, 1)}, remarks


def advice_of(states: ItemStates, morning: Morning, decided: Entries) -> list[Advice]:
    """Return the advice that is recorded for a morning."""
    names = ("stock", "coming", "advice", "method", "until", "lead_time")
    columns = [decided.column(name, morning.items).tolist() for name in names]
    costs = costs_of(decided.column("cost", morning.items))
    packs = decided.column("pack", morning.items)  # when it was decided; earlier versions did not write it
    packs = np.where(packs == UNKNOWN, states.packs(morning.items), packs).tolist()
    day, found = date.fromordinal(morning.day), []
    for item, pack, cost, stock, coming, order, method, until, lead in zip(
        morning.items.tolist(), packs, costs, *columns, strict=True
    ):
        terms = states.terms[item]
        found.append(
            Advice(
                states.skus[item],
                day,
                stock,
                coming,
                order,
                pack,
                cost,
                None if method == UNKNOWN else METHODS[method],
                None if until == UNKNOWN else date.fromordinal(until),
                terms.supplier,
                terms.value,
                _arrival(states, item, morning.day, lead) if order > 0 else None,
            )
        )
    return found


def _arrival(states: ItemStates, item: int, day: int, lead_time: int) -> date:
    """Return the open morning for which an order is promised. Earlier versions did not write the lead time."""
    terms = states.terms[item]
    lead = terms.lead_time if lead_time == UNKNOWN else lead_time
    due = day + lead * days(terms.period)
    return date.fromordinal(states.calendar.next_open(states.skus[item], terms, due))


# ---- what is asked


def _check_counts(states: ItemStates, morning: Morning) -> None:
    """Refuse a week that does not start on a Monday, an end that is past, and arrivals after the lead time."""
    if UNKNOWN < morning.until < morning.day:
        day, until = date.fromordinal(morning.day), date.fromordinal(morning.until)
        raise InvalidInputError(
            f"The last day that counts must not be before {day}; got {until}. Nothing was done."
        )
    for count, item in zip(morning.counts, morning.items.tolist(), strict=True):
        terms = states.terms[item]
        monday = period_of(morning.day, terms.period)
        if monday != morning.day:
            got = f"got {date.fromordinal(morning.day)}, a {WEEKDAYS[weekday(morning.day)].capitalize()}"
            rule = f"{count.source}{count.sku} is ordered by the week, which is named by its Monday"
            raise InvalidInputError(f"{rule}; {got}. Nothing was done; use {date.fromordinal(monday)}.")
        late = [place for place, units in enumerate(count.coming, 1) if units and place >= max(1, terms.lead_time)]
        if late:
            last = f"the last is coming_{terms.lead_time - 1}" if terms.lead_time > 1 else "nothing is on its way"
            rule = f"{count.source}coming_{late[0]} must be empty for {count.sku}"
            why = f"with a lead time of {terms.lead_time}, {last}"
            raise InvalidInputError(f"{rule}: {why}; got {count.coming[late[0] - 1]}. Nothing was done.")
        _check_ages(count, terms.shelf_life)


def _check_ages(count: Count, life: int | None) -> None:
    """Refuse units that can be sold for longer than the item's shelf life."""
    long = [place for place, units in enumerate(count.left, 1) if units and place > (life or 0)]
    if long:
        rule = f"{count.source}{LEFT}{long[0]} must be empty for {count.sku}"
        why = "it never spoils" if life is None else f"with a shelf life of {life}, the last is {LEFT}{life}"
        raise InvalidInputError(f"{rule}: {why}; got {count.left[long[0] - 1]}. Nothing was done.")


def _unanswered(states: ItemStates, morning: Morning, before: DayEntries, correct: bool) -> list[int]:
    """Return the places of counts without an answer, or with a corrected one. Contradictions are refused."""
    decided = before.decided
    stock, until = decided.column("stock", morning.items), decided.column("until", morning.items)
    coming = _coming_before(decided, morning.items, morning.given.shape[1])
    same = (stock == morning.stock) & (until == morning.until)
    same &= ((morning.given == UNKNOWN) | (morning.given == coming)).all(axis=1)
    same &= _same_ages(states, morning, decided)
    is_decided, is_over = decided.has(morning.items), before.sold.has(morning.items)
    last = states.last["day"][morning.items]
    asked = np.flatnonzero(~(same & is_decided)).tolist()
    for row in asked:
        count, day = morning.counts[row], date.fromordinal(morning.day)
        if is_decided[row] and not correct:
            raise _contradiction(morning, row, decided)
        if is_over[row]:
            advice = "to correct its count, record the sales again with a column stock and --correct."
            what = f"The sales of {count.sku} on {day} are recorded; the day is over"
            raise InvalidInputError(f"{what}. Nothing was done; {advice}")
        if last[row] > morning.day and not correct:
            later = f"{count.sku} has a later day in the records, {date.fromordinal(int(last[row]))}"
            advice = f"check the date, or use --correct if the later one was wrong and {day} is today."
            raise InvalidInputError(f"{later}. Nothing was done; {advice}")
    return asked


def _same_ages(states: ItemStates, morning: Morning, decided: Entries) -> NDArray[np.bool_]:
    """Return which counts say nothing else of the ages than what the morning was decided with."""
    lives, is_said = states.shelf_lives(morning.items), (morning.left != UNKNOWN).any(axis=1)
    ages = recorded_ages(decided, morning.items, lives)
    return np.asarray(~is_said | (_said_ages(morning, lives) == ages).all(axis=1))


def _said_ages(morning: Morning, lives: Longs) -> Longs:
    """Return the ages that counts say. What they do not say of the stock is new."""
    width = int(lives.max(initial=0))
    said = np.maximum(widened(morning.left, width, 0)[:, :width], 0)
    return add_new(said, lives, morning.stock - said.sum(axis=1))


def _contradiction(morning: Morning, row: int, decided: Entries) -> InvalidInputError:
    """Return the refusal of another count, or another end, than the one that a day was decided with."""
    count, item = morning.counts[row], morning.items[row : row + 1]
    stock, coming, until = (int(decided.column(name, item)[0]) for name in ("stock", "coming", "until"))
    day = date.fromordinal(morning.day)
    if until != morning.until:
        what = f"{count.sku} was decided on {day} already, {_end(until)}; this time it is {_end(morning.until)}"
    elif (morning.left[row] != UNKNOWN).any() and stock == morning.stock[row]:
        what = f"{count.sku} was counted on {day} already, with other ages or other goods coming"
    else:
        now = " and ".join(str(units) for units in (count.stock, *count.coming) if units is not None)
        what = f"{count.sku} was counted {stock} on {day} already, with {coming} coming; got {now}"
    return InvalidInputError(f"{count.source}{what}. Nothing was done; use --correct if the first was wrong.")


def _end(until: int) -> str:
    return "without an end" if until == UNKNOWN else f"until {date.fromordinal(until)}"


def _coming_before(decided: Entries, items: Longs, width: int) -> Longs:
    """Return the coming arrivals that a morning was decided with, shape (items, width)."""
    table = np.zeros((items.size, width), np.int64)
    for place in range(width):
        units = decided.column(f"coming_{place + 1}", items)
        table[:, place] = np.maximum(units, 0)
        if place == 0:  # earlier versions had a lead time of at most 2, and one number
            table[:, 0] = np.where(units == UNKNOWN, decided.column("coming", items), units)
    return table


def _suppliers_with_orders(states: ItemStates, morning: Morning, decided: Entries) -> set[str]:
    """Return the suppliers of items that are ordered this morning already, but for those that are asked again."""
    others = decided.items[~np.isin(decided.items, morning.items)]
    ordered = others[decided.column("advice", others) > 0]
    return {states.terms[item].supplier for item in ordered.tolist()}


# ---- what is there, and what is coming


def pipeline_of(states: ItemStates, log: EventLog, day: int, items: Longs) -> Pipeline:
    """Return what arrived since items' last evenings, and what is coming, in the morning of a day."""
    steps, evenings = states.steps(items), states.last["day"][items].astype(np.int64)
    is_known = (states.last["evening"][items] != UNKNOWN) & (evenings < day)
    is_known &= day - evenings <= LOOK_BACK * steps
    asked = PipelineItems(
        items, states.lead_times(items), steps, np.where(is_known, evenings, UNKNOWN), states.timeline.longest_lead
    )
    pipeline = read_pipeline(log, day, asked, states.shop.lead_time)
    rows = np.flatnonzero(np.isin(items, states.deliveries.told()))
    if not rows.size:
        return pipeline
    rows = rows[np.argsort(items[rows])]
    orders = follow_orders(states, items[rows], day)
    return with_deliveries(pipeline, orders, rows)


def shelf_ages_of(states: ItemStates, log: EventLog, day: int, items: Longs) -> ShelfAges:
    """Return how old the goods that spoil are, in the morning of a day."""
    last, lives = states.last[items], states.shelf_lives(items)
    was_counted = (last["day"] != UNKNOWN) & (last["stock"] != UNKNOWN)
    about = states.lead_times(items), states.steps(items), np.where(was_counted, last["day"], UNKNOWN)
    told = np.intersect1d(items[lives > 0], states.deliveries.told())
    orders = follow_orders(states, told, day) if told.size else None
    asked = PipelineItems(items, *about, states.timeline.longest_lead)
    return read_shelf_ages(log, day, asked, lives, states.shop.lead_time, orders)


def _ages(morning: Morning, shelves: ShelfAges) -> Longs:
    """Return the ages of the stock: as counted, or as the records have them."""
    found, lives = shelves.counted(morning.stock), np.zeros(morning.items.size, np.int64)
    lives[shelves.rows] = shelves.lives
    is_said = (lives > 0) & (morning.left != UNKNOWN).any(axis=1)
    return np.where(is_said[:, None], _said_ages(morning, lives), found)


def _expected(
    states: ItemStates, morning: Morning, pipeline: Pipeline, shelves: ShelfAges, decided: Entries
) -> Longs:
    """Return the stock that the records expect, for a corrected count what was expected at first."""
    evening = states.last["evening"][morning.items].astype(np.int64)
    is_known = (pipeline.since != UNKNOWN) & (evening != UNKNOWN)
    there = evening + pipeline.arrived
    there[shelves.rows] = shelves.ages.sum(axis=1)  # without what spoiled
    expected = np.where(is_known, np.minimum(there, LARGEST_NUMBER), UNKNOWN)
    return np.where(decided.has(morning.items), decided.column("expected", morning.items), expected)


def _given(states: ItemStates, morning: Morning, decided: Entries) -> Longs:
    """Return what counts say of coming arrivals. A corrected count that does not say it keeps what was said.

    A 0 behind the lead time says nothing: it would take today's order off the arrivals.
    """
    width = max([morning.given.shape[1], *(int(name[6:]) for name in decided.columns if name.startswith("given_"))])
    said = widened(morning.given, width, UNKNOWN)
    for place in range(width):
        earlier = decided.column(f"given_{place + 1}", morning.items)
        said[:, place] = np.where(said[:, place] == UNKNOWN, earlier, said[:, place])
    is_coming = np.arange(1, width + 1) < states.lead_times(morning.items)[:, None]
    return np.where(is_coming, said, UNKNOWN)


def _same_width(given: Longs, coming: Longs) -> tuple[Longs, Longs]:
    width = max(given.shape[1], coming.shape[1])
    return widened(given, width, UNKNOWN), widened(coming, width)


# ---- remarks


def _unexpected_counts(morning: Morning, expected: Longs, strict: bool) -> list[str]:
    rows = np.flatnonzero((expected != UNKNOWN) & (expected != morning.stock)).tolist()
    if not rows:
        return []
    counts = (morning.counts[row] for row in rows)
    differ = [
        f"{count.sku}: counted {count.stock}, expected {expected[row]}"
        for row, count in zip(rows, counts, strict=True)
    ]
    what = "1 count differs" if len(differ) == 1 else f"{len(differ)} counts differ"
    if strict:
        advice = "count again, or leave out --strict to take the counts as the truth."
        raise InvalidInputError(f"{what} from the records ({listed(differ)}). Nothing was done; {advice}")
    return [f"{what} from the records, and the counts are taken as the truth: {listed(differ)}."]


def _missing_days(states: ItemStates, morning: Morning) -> list[str]:
    """Return remarks on advice without sales, and on periods without records."""
    unrecorded, gaps = [], Counter[str]()
    for item, last in zip(morning.items.tolist(), states.last[morning.items].tolist(), strict=True):
        day, _, sales, *_ = last
        if UNKNOWN < day < morning.day:
            if sales == UNKNOWN and states.calendar.is_open(states.skus[item], states.terms[item], day):
                unrecorded.append(f"{states.skus[item]} on {date.fromordinal(day)}")
            gaps[_gap(states, item, day, morning.day)] += 1
    spans = [f"{span} ({counted(items, 'item')})" for span, items in sorted(gaps.items()) if span]
    remarks = []
    if unrecorded:
        remarks.append(f"Sales are missing, and can still be recorded: {listed(unrecorded)}.")
    if spans:
        remarks.append(f"Days without records; nothing to do if the shop was closed: {listed(spans)}.")
    return remarks


def _gap(states: ItemStates, item: int, last: int, today: int) -> str:
    """Return the open periods between an item's last day and today, as a text."""
    terms = states.terms[item]
    between = np.arange(last, today, days(terms.period))[1:]
    missing = between[states.calendar.is_open(states.skus[item], terms, between)]
    if not missing.size:
        return ""
    start, end = (date.fromordinal(int(day)) for day in (missing[0], missing[-1]))
    return f"{start}" if start == end else f"{start} to {end}"


def _items_not_counted(states: ItemStates, morning: Morning, decided: Entries) -> list[str]:
    seen = np.zeros(len(states.skus), np.bool_)
    seen[morning.items] = seen[decided.items] = seen[list(states.merged)] = True
    absent = [
        states.skus[item]
        for item in np.flatnonzero(~seen).tolist()
        if period_of(morning.day, states.terms[item].period) == morning.day  # a week is counted on its Monday
        and not states.terms[item].is_discontinued
    ]
    what = "1 item of the shop was" if len(absent) == 1 else f"{len(absent)} items of the shop were"
    return [f"{what} not counted: {listed(absent)}."] if absent else []


def _counts_above_capacity(states: ItemStates, morning: Morning) -> list[str]:
    limits = [states.terms[item].capacity for item in morning.items.tolist()]
    pairs = zip(morning.counts, limits, strict=True)
    above = [f"{count.sku}: {count.stock} of {limit}" for count, limit in pairs if limit and count.stock > limit]
    return [f"More is there than the shelf takes: {listed(above)}."] if above else []


def late_orders(states: ItemStates, day: int, items: Longs) -> list[str]:
    """Return a remark on open orders whose day is over, of items of which deliveries are told."""
    mine = np.intersect1d(items, states.deliveries.told())
    if not mine.size:
        return []
    orders = follow_orders(states, mine, day)
    late = np.flatnonzero(orders.is_open & (orders.late >= 0))
    texts = [
        f"{states.skus[mine[orders.promises.item[place]]]}: {orders.promises.left[place]} ordered "
        f"{date.fromordinal(int(orders.promises.ordered_on[place]))}"
        for place in late[np.argsort(orders.promises.item[late], kind="stable")].tolist()
    ]
    return [f"Late, and still waited for: {listed(texts)}. Tell what came with `receive`."] if texts else []


def _orders_that_never_pay(states: ItemStates, morning: Morning) -> list[str]:
    """Return a remark on items of which a unit costs as much as a lost sale: their costs are probably wrong."""
    columns = states.engine.table.columns[morning.items]
    unit, lost = columns["costs"][:, 1], columns["costs"][:, 2]
    rows = np.flatnonzero((columns["service"][:, 0] == 0.0) & (lost <= unit)).tolist()
    named = [f"{morning.counts[row].sku}: {unit[row]:g} a unit, {lost[row]:g} a lost sale" for row in rows]
    advice = "If unit_cost is what you pay for a unit, lost_sale is what the customer would have paid."
    return [f"No order pays where a unit costs as much as a lost sale: {listed(named)}. {advice}"] if named else []


def _ages_not_known(states: ItemStates, morning: Morning) -> list[str]:
    """Return a remark on goods that spoil, are counted for the first time, and may be of any age."""
    last = states.last[morning.items]
    is_first = (last["stock"] == UNKNOWN) | (last["day"] == UNKNOWN)
    is_first &= (states.shelf_lives(morning.items) > 0) & ~(morning.left != UNKNOWN).any(axis=1)
    new = [morning.counts[row].sku for row in np.flatnonzero(is_first & (morning.stock > 0)).tolist()]
    advice = "Columns left_1, left_2, .. say how many can be sold in 1, 2, .. more periods"
    return (
        [f"How old these goods are is not known, and they are taken as new: {listed(new)}. {advice}."]
        if new
        else []
    )
