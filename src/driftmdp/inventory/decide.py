"""Each morning: what to order, and what is odd about the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.order_explanation import require_converged
from driftmdp.engines import ThreadEngine
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.batch_codec import DECIDED
from driftmdp.inventory.daily_csv import LARGEST, Advice, Count, as_day
from driftmdp.inventory.desk import Desk
from driftmdp.inventory.item_states import NEVER
from driftmdp.inventory.results import Decision
from driftmdp.inventory.text import listed
from driftmdp.kernels.inventory_arrays import new_demand_workspace

Longs = NDArray[np.int64]
TOGETHER = 500  # items that a thread decides in one go
Morning = tuple[int, int, int]  # stock, what is coming, the order


def decide(desk: Desk, counts: Iterable[Count], day: date, correct: bool, strict: bool) -> Decision:
    """Return what to order; the answer is in the book before it is given. ``Shop.decide`` says more."""
    wanted, day = _each_once(counts), as_day(day)
    with desk.writing():
        known, over = desk.mornings(day), desk.evenings(day)
        new = desk.add_items(wanted)
        fresh = [count for count in wanted if _asks_anew(desk, count, day, known, over, correct)]
        expected = _expected(desk, fresh, day)
        remarks = [
            *desk.odd_names(new),
            *_differences(fresh, expected, strict),
            *_missing_days(desk, fresh, day),
            *_forgotten(desk, wanted, known),
            *_overfull(desk, fresh),
        ]
        if fresh:
            known |= _advise(desk, fresh, day, new, expected)
        advice = []
        for count in wanted:
            item = desk.shelves.numbers[count.sku]
            advice.append(Advice(count.sku, day, *known[item], desk.shelves.lots[item]))
    return Decision(day, advice, len(wanted) - len(fresh), tuple(remarks))


def _each_once(counts: Iterable[Count]) -> list[Count]:
    found: dict[str, Count] = {}
    for count in counts:
        if found.setdefault(count.sku, count) != count:
            raise InvalidInputError(f"{count.sku} must be counted once; got two counts that differ.")
    return list(found.values())


def _asks_anew(
    desk: Desk, count: Count, day: date, known: Mapping[int, Morning], over: Mapping[int, object], correct: bool
) -> bool:
    """Return whether an item has no advice for the day yet, or its count is corrected; or refuse."""
    item = desk.shelves.numbers[count.sku]
    if item in known:
        stock, coming, _ = known[item]
        told = count.coming if desk.shelf.lead_time == 2 else None
        if stock == count.stock and told in (None, coming):
            return False
        if not correct:
            raise InvalidInputError(
                f"{count.sku} was counted {stock} on {day} already, with {coming} coming; got {count.stock}"
                f"{'' if count.coming is None else f' and {count.coming}'}. Nothing was done; use --correct if the "
                "first count was wrong."
            )
    if item in over:
        raise InvalidInputError(
            f"The sales of {count.sku} on {day} are recorded; the day is over. Nothing was done; to mend "
            "its count, record the sales again with a column stock and --correct."
        )
    last = int(desk.shelves.last["day"][item])
    if last > day.toordinal() and not correct:
        raise InvalidInputError(
            f"{count.sku} has a later day in the book, {date.fromordinal(last)}. Nothing was done; check "
            f"the date, or use --correct if the later one was wrong and {day} is today."
        )
    return True


def _expected(desk: Desk, counts: Sequence[Count], day: date) -> list[int]:
    """Return what the book expects of each count; of one that is corrected, what it expected at first."""
    before, numbers = desk.expectations(day), desk.shelves.numbers
    return [
        before[item] if item in before else min(LARGEST, desk.shelves.expected(item, day.toordinal()))
        for item in (numbers[count.sku] for count in counts)
    ]


def _forgotten(desk: Desk, counts: Sequence[Count], known: Mapping[int, Morning]) -> list[str]:
    """Return a remark on items of the book that were not counted today."""
    counted = {desk.shelves.numbers[count.sku] for count in counts} | set(known)
    absent = [sku for item, sku in enumerate(desk.shelves.skus) if item not in counted]
    if not absent:
        return []
    what = "1 item of the book was" if len(absent) == 1 else f"{len(absent)} items of the book were"
    return [f"{what} not counted: {listed(absent)}."]


def _overfull(desk: Desk, counts: Sequence[Count]) -> list[str]:
    """Return a remark on counts beyond the capacity."""
    shelves, capacity = desk.shelves, desk.shelf.capacity
    lots = ((count, shelves.lots[shelves.numbers[count.sku]]) for count in counts)
    over = [
        f"{count.sku}: {count.stock} of {capacity * lot}" for count, lot in lots if count.stock > capacity * lot
    ]
    return [f"More is there than the shelf takes, and counts as a full shelf: {listed(over)}."] if over else []


def _differences(counts: Sequence[Count], expected: Sequence[int], strict: bool) -> list[str]:
    """Return a remark on counts that are not what the book expects, or refuse them."""
    differ = [
        f"{count.sku}: counted {count.stock}, expected {there}"
        for count, there in zip(counts, expected, strict=True)
        if there not in (NEVER, count.stock)
    ]
    if not differ:
        return []
    what = "1 count differs" if len(differ) == 1 else f"{len(differ)} counts differ"
    if strict:
        raise InvalidInputError(
            f"{what} from the book ({listed(differ)}). Nothing was done; count again, or leave out --strict to "
            "take the counts for the truth."
        )
    return [f"{what} from the book, and the counts are taken for the truth: {listed(differ)}."]


def _missing_days(desk: Desk, counts: Sequence[Count], day: date) -> list[str]:
    """Return remarks on mornings without an evening, and on days that the book does not have."""
    unrecorded, missing = [], Counter[int]()
    for count in counts:
        last = desk.shelves.last[desk.shelves.numbers[count.sku]]
        if NEVER < last["day"] < day.toordinal():
            if last["sales"] == NEVER:
                unrecorded.append(f"{count.sku} on {date.fromordinal(int(last['day']))}")
            missing[int(last["day"]) + 1] += 1
    remarks = []
    if unrecorded:
        remarks.append(f"Sales are missing, and can still be recorded: {listed(unrecorded)}.")
    gaps = []
    for first, items in sorted(missing.items()):
        if first < day.toordinal():
            start, end = date.fromordinal(first), date.fromordinal(day.toordinal() - 1)
            span = f"{start}" if start == end else f"{start} to {end}"
            gaps.append(f"{span} ({items} item{'s' if items > 1 else ''})")
    if gaps:
        remarks.append(f"Days that the book does not have; nothing to do if the shop was closed: {listed(gaps)}.")
    return remarks


def _advise(
    desk: Desk, counts: Sequence[Count], day: date, new: Sequence[tuple[str, int]], expected: Sequence[int]
) -> dict[int, Morning]:
    """Decide items, write it down, and return stock, what is coming and the order of each."""
    shelves = desk.shelves
    items = np.array([shelves.numbers[count.sku] for count in counts], np.int64)
    stock = np.array([count.stock for count in counts], np.int64)
    pairs = zip(counts, items.tolist(), strict=True)
    coming = np.array([_coming(desk, count, item, day) for count, item in pairs], np.int64)
    in_lots, coming_lots = shelves.places(items, stock, coming)
    orders = _orders(desk, items, day.weekday(), in_lots, coming_lots)
    units = orders * np.array([shelves.lots[item] for item in items.tolist()], np.int64)
    columns: dict[str, object] = {
        "item": items,
        "stock": stock,
        "coming": coming,
        "expected": expected,
        "advice": units,
    }
    desk.write(DECIDED, day, columns, new)
    return dict(zip(items.tolist(), zip(stock.tolist(), coming.tolist(), units.tolist(), strict=True), strict=True))


def _orders(desk: Desk, items: Longs, weekday: int, stock: Longs, coming: Longs) -> Longs:
    """Return orders in lots, worked out by all cores."""
    shelves, shelf = desk.shelves, desk.shelf
    orders = np.zeros(items.size, np.int64)

    def decide_some(part: slice) -> float:
        workspace = new_demand_workspace(shelf.capacity, shelf.lead_time)
        where = items[part], weekday, shelf, workspace, stock[part], coming[part], orders[part]
        return float(kernels.inventory_rules.decide_all(shelves.demands, *where))

    parts = [slice(first, first + TOGETHER) for first in range(0, items.size, TOGETHER)]
    for outcome in ThreadEngine().map(decide_some, parts):
        if outcome.error is not None:
            raise outcome.error
        require_converged(outcome.value, shelf)
    return orders


def _coming(desk: Desk, count: Count, item: int, day: date) -> int:
    if desk.shelf.lead_time < 2:
        return 0
    if count.coming is not None:
        return count.coming
    last = desk.shelves.last[item]
    if last["day"] == day.toordinal():  # counted before, and corrected now
        return int(last["coming"])
    if last["day"] != day.toordinal() - 1:  # what was ordered earlier is here, and was counted
        return 0
    return max(0, int(last["ordered"]))
