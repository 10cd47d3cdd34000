"""Decisions: what to order, and remarks on unusual counts."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from datetime import date

import numpy as np

from driftmdp import kernels
from driftmdp.agents.order_explanation import require_converged
from driftmdp.display import counted, listed
from driftmdp.engines import ThreadEngine
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.daily_csv import Count
from driftmdp.inventory.item_states import UNKNOWN, DayRecords, DecidedRow, ItemStates, Longs
from driftmdp.kernels.inventory_arrays import new_demand_workspace

ITEMS_PER_THREAD = 500  # that a thread decides at a time


def unique_counts(counts: Iterable[Count]) -> list[Count]:
    """Return each item's count once. Two that differ are refused."""
    found: dict[str, Count] = {}
    for count in counts:
        if found.setdefault(count.sku, count) != count:
            raise InvalidInputError(f"{count.sku} must be counted once; got two counts that differ.")
    return list(found.values())


def new_advice(
    states: ItemStates, counts: Sequence[Count], day: date, records: DayRecords, correct: bool, strict: bool
) -> tuple[dict[int, DecidedRow], list[str]]:
    """Return advice on the items that have none for the day or whose count is corrected, and remarks."""
    fresh = [count for count in counts if _needs_advice(states, count, day, records, correct)]
    items = np.array([states.numbers[count.sku] for count in fresh], np.int64)
    today, before = day.toordinal(), records.decided  # for a corrected count, what was expected at first
    expected = [before[i].expected if i in before else states.expected(i, today) for i in items.tolist()]
    remarks = [
        *_unexpected_counts(fresh, expected, strict),
        *_missing_days(states, fresh, day),
        *_items_not_counted(states, counts, before.keys()),
        *_counts_above_capacity(states, fresh),
    ]
    stock = np.array([count.stock for count in fresh], np.int64)
    pairs = zip(fresh, items.tolist(), strict=True)
    coming = np.array([_coming(states, count, item, day) for count, item in pairs], np.int64)
    advice = _orders(states, items, day.weekday(), stock, coming) * states.lots_of(items)
    rows = map(DecidedRow, stock.tolist(), coming.tolist(), expected, advice.tolist())
    return dict(zip(items.tolist(), rows, strict=True)), remarks


def _needs_advice(states: ItemStates, count: Count, day: date, records: DayRecords, correct: bool) -> bool:
    """Return whether an item has no advice for the day yet, or its count is corrected. Other counts are refused."""
    item = states.numbers[count.sku]
    if item in records.decided:
        before = records.decided[item]
        coming = count.coming if states.shelf.lead_time == 2 else None
        if before.stock == count.stock and coming in (None, before.coming):
            return False
        if not correct:
            earlier = f"{count.sku} was counted {before.stock} on {day} already, with {before.coming} coming"
            got = f"{count.stock}" if count.coming is None else f"{count.stock} and {count.coming}"
            advice = "Nothing was done; use --correct if the first count was wrong."
            raise InvalidInputError(f"{earlier}; got {got}. {advice}")
    if item in records.sold:
        advice = "to correct its count, record the sales again with a column stock and --correct."
        is_over = f"The sales of {count.sku} on {day} are recorded; the day is over"
        raise InvalidInputError(f"{is_over}. Nothing was done; {advice}")
    last = int(states.last["day"][item])
    if last > day.toordinal() and not correct:
        later = f"{count.sku} has a later day in the records, {date.fromordinal(last)}"
        advice = f"check the date, or use --correct if the later one was wrong and {day} is today."
        raise InvalidInputError(f"{later}. Nothing was done; {advice}")
    return True


def _unexpected_counts(counts: Sequence[Count], expected: Sequence[int], strict: bool) -> list[str]:
    differ = [
        f"{count.sku}: counted {count.stock}, expected {there}"
        for count, there in zip(counts, expected, strict=True)
        if there not in (UNKNOWN, count.stock)
    ]
    if not differ:
        return []
    what = "1 count differs" if len(differ) == 1 else f"{len(differ)} counts differ"
    if strict:
        advice = "count again, or leave out --strict to take the counts as the truth."
        raise InvalidInputError(f"{what} from the records ({listed(differ)}). Nothing was done; {advice}")
    return [f"{what} from the records, and the counts are taken as the truth: {listed(differ)}."]


def _missing_days(states: ItemStates, counts: Sequence[Count], day: date) -> list[str]:
    """Return remarks on advice without sales, and on days without records."""
    unrecorded, gaps = [], Counter[str]()
    for count in counts:
        last = states.last[states.numbers[count.sku]]
        if UNKNOWN < last["day"] < day.toordinal():
            if last["sales"] == UNKNOWN:
                unrecorded.append(f"{count.sku} on {date.fromordinal(int(last['day']))}")
            start, end = date.fromordinal(int(last["day"]) + 1), date.fromordinal(day.toordinal() - 1)
            if start <= end:
                gaps[f"{start}" if start == end else f"{start} to {end}"] += 1
    spans = [f"{span} ({counted(items, 'item')})" for span, items in sorted(gaps.items())]
    remarks = []
    if unrecorded:
        remarks.append(f"Sales are missing, and can still be recorded: {listed(unrecorded)}.")
    if spans:
        remarks.append(f"Days without records; nothing to do if the shop was closed: {listed(spans)}.")
    return remarks


def _items_not_counted(states: ItemStates, counts: Sequence[Count], decided: Set[int]) -> list[str]:
    seen = {states.numbers[count.sku] for count in counts} | decided
    absent = [sku for item, sku in enumerate(states.skus) if item not in seen]
    what = "1 item of the shop was" if len(absent) == 1 else f"{len(absent)} items of the shop were"
    return [f"{what} not counted: {listed(absent)}."] if absent else []


def _counts_above_capacity(states: ItemStates, counts: Sequence[Count]) -> list[str]:
    limits = (states.shelf.capacity * states.lots[states.numbers[count.sku]] for count in counts)
    pairs = zip(counts, limits, strict=True)
    above = [f"{count.sku}: {count.stock} of {limit}" for count, limit in pairs if count.stock > limit]
    return [f"More is there than the shelf takes, and counts as a full shelf: {listed(above)}."] if above else []


def _orders(states: ItemStates, items: Longs, weekday: int, stock: Longs, coming: Longs) -> Longs:
    """Return orders in lots, computed on all cores."""
    shelf, orders = states.shelf, np.zeros(items.size, np.int64)
    stock_lots, coming_lots = states.stock_in_lots(items, stock, coming)

    def decide_some(part: slice) -> float:
        arrays = shelf, states.demands, new_demand_workspace(shelf.capacity, shelf.lead_time)
        where = items[part], weekday, stock_lots[part], coming_lots[part], orders[part]
        return float(kernels.inventory_rules.decide_all(arrays, *where))

    parts = [slice(first, first + ITEMS_PER_THREAD) for first in range(0, items.size, ITEMS_PER_THREAD)]
    for outcome in ThreadEngine().map(decide_some, parts):
        if outcome.error is not None:
            raise outcome.error
        require_converged(outcome.value, shelf)
    return orders


def _coming(states: ItemStates, count: Count, item: int, day: date) -> int:
    if states.shelf.lead_time < 2:
        return 0
    if count.coming is not None:
        return count.coming
    last = states.last[item]
    if last["day"] == day.toordinal():  # counted before, and corrected now
        return int(last["coming"])
    if last["day"] != day.toordinal() - 1:  # earlier orders have arrived and were counted
        return 0
    return max(0, int(last["ordered"]))
