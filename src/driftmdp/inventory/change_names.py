"""Items that get another name, and two that are one."""

from datetime import date

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import LONGEST_NAME, is_name
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import ALWAYS, EVERY_DAY, SOLD, unpack


def rename_item(states: ItemStates, log: EventLog, item: int, new: str) -> bool:
    """Give an item another name; return whether it did not have it."""
    old, taken = states.skus[item], states.numbers.get(new, item)
    if new == old:
        return False
    if not is_name(new):
        rule = f"The new name must have 1 to {LONGEST_NAME} characters without spaces around"
        raise InvalidInputError(f"{rule}; got {new!r}. Nothing was done.")
    if taken != item:
        is_former = f", as {states.skus[taken]} had it before" if new in states.former else ""
        advice = f"Nothing was done; if both are one item: driftmdp inventory merge SHOP {old!r} {new!r}."
        raise InvalidInputError(f"{new} must be a name that no other item has{is_former}. {advice}")
    states.append_name(log, old, new)
    return True


def merge_items(states: ItemStates, log: EventLog, item: int, into: int) -> bool:
    """Let an item be another one; return whether it was not."""
    if item == into:
        return False
    periods = states.terms[item].period, states.terms[into].period
    if periods[0] != periods[1]:
        rule = f"{states.skus[item]} and {states.skus[into]} must have the same period to be merged"
        raise InvalidInputError(f"{rule}; got a {periods[0]} and a {periods[1]}. Nothing was done.")
    states.append_merge(log, item, into, first_day_sold(states, log, item))
    return True


def first_day_sold(states: ItemStates, log: EventLog, item: int) -> int | None:
    """Return the first day with sales of an item, or of those merged into it, or None.

    The log is read backwards, to the batch that brought the item. A misspelt name is mostly a young one.
    """
    parts = states.parts_of(item)
    days, first_new = list[str](), len(states.skus)
    for number in range(log.number, 0, -1):
        if first_new <= min(parts):
            break
        if log.days[number - 1] in (ALWAYS, EVERY_DAY):
            continue
        for batch in log.batches_of([number]):
            header, columns = unpack(batch.kind, batch.content)
            first_new -= len(header.get("new", ()))
            if batch.kind == SOLD and np.isin(columns["item"], parts).any():
                days.append(batch.day)
    return date.fromisoformat(min(days)).toordinal() if days else None
