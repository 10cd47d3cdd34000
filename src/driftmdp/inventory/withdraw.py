"""Taking back what was recorded of a day.

Sales are taken back. Where an item has advice of that day but never had sales, its count and advice are taken back,
and so is its order. Where it has neither, or if asked for, what was told of deliveries is taken back. What stood in
the log stays there, and the history shows both.
"""

from datetime import date

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import (
    ADVICE,
    DECIDED,
    DELIVERIES,
    RECEIVED,
    SALES,
    SOLD,
    Columns,
    DayEntries,
    unpack,
)
from driftmdp.kernels.arrays import Longs
from driftmdp.kernels.deliveries import RECEIVED as RECEIVED_ROW


def rows_to_withdraw(
    states: ItemStates,
    log: EventLog,
    day: int,
    now: DayEntries,
    asked: Longs | None,
    orders: bool,
    deliveries: bool = False,
) -> Columns:
    """Return what is to be withdrawn of a day, with ``orders`` advice too, of some items or of all.

    With ``deliveries``, only what was told of deliveries.

    What was withdrawn before is left out. Items that never had records of the day are refused.
    """
    decided, sold, received = (_present(states, found) for found in _ever_recorded(log, day))
    ever = received if deliveries else np.union1d(np.union1d(decided, sold), received)
    items = ever if asked is None else np.unique(asked)
    strangers = items if not ever.size else items[~np.isin(items, ever)]
    if strangers.size or not ever.size:
        who = states.skus[strangers[0]] if strangers.size else "The shop"
        advice = "Nothing was done; check the date: `driftmdp inventory history` shows the days of an item."
        records = "deliveries" if deliveries else "records"
        raise InvalidInputError(f"{who} has no {records} of {date.fromordinal(day)}. {advice}")
    takes_advice = now.decided.has(items) & (orders | ~np.isin(items, sold))
    rows = states.deliveries.rows
    told = rows["item"][(rows["what"] == RECEIVED_ROW) & (rows["day"] == day)]
    only_delivered = ~np.isin(items, np.union1d(decided, sold))
    what = DELIVERIES * (np.isin(items, told) & (deliveries | only_delivered))
    if not deliveries:
        what += SALES * now.sold.has(items) + ADVICE * takes_advice
    return {"item": items[what > 0], "what": what[what > 0]}


def _present(states: ItemStates, items: Longs) -> Longs:
    """Return the items that some are now, as some were merged into others."""
    if not states.merged:
        return items
    return np.unique(np.array([states.merged.get(item, item) for item in items.tolist()], np.int64))


def _ever_recorded(log: EventLog, day: int) -> tuple[Longs, ...]:
    """Return the items that were ever decided, ever sold and ever delivered on a day, withdrawn or not."""
    text = date.fromordinal(day).isoformat()
    found: dict[str, list[Longs]] = {DECIDED: [], SOLD: [], RECEIVED: []}
    for batch in log.batches_of([number for number, its_day in enumerate(log.days, 1) if its_day == text]):
        if batch.kind in found:
            found[batch.kind].append(unpack(batch.kind, batch.content)[1]["item"].astype(np.int64))
    return tuple(np.unique(np.concatenate([np.zeros(0, np.int64), *items])) for items in found.values())
