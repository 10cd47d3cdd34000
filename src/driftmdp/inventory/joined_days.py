"""The days of two items that are one: what both counted, ordered and sold adds up.

A day on which only one of them has entries keeps them as they are. Where both have some:

- Stocks, their ages, advice, orders, arrivals and sales add up. If one of the stocks is not known, the sum is not.
- Advice keeps the method, the end, the pack and the lead time of the item that stays.
- The day was sold out if all that both had was sold, and without counts only if both were. An item that was counted
  and has no sales counts as having sold none.
"""

from collections.abc import Sequence

import numpy as np

from driftmdp.inventory.cells import LARGEST_NUMBER
from driftmdp.inventory.entry_codes import DEMAND, UNKNOWN
from driftmdp.inventory.order_engine import AT_LEAST, EXACT, NOTHING

Row = dict[str, int]  # of one item, by column
ADDED = ("stock", "coming", "advice")
BY_STRENGTH = (DEMAND, EXACT, AT_LEAST, NOTHING)  # what sales say of demand: of two, the first says it of both


def joined_decisions(gone: Row | None, stays: Row | None) -> Row | None:
    """Return the advice of a day on which one or both of two items have some."""
    if gone is None or stays is None:
        return stays if gone is None else gone
    names = list(dict.fromkeys([*stays, *gone]))
    row = {name: stays.get(name, UNKNOWN) for name in names}
    for name in names:
        if name in ADDED or name.startswith(("coming_", "left_")):
            row[name] = _sum([gone.get(name, UNKNOWN), row[name]])
    both = gone.get("expected", UNKNOWN), row.get("expected", UNKNOWN)
    row["expected"] = UNKNOWN if UNKNOWN in both else _sum(both)
    for name in names:
        if name.startswith("given_") and max(gone.get(name, UNKNOWN), row[name]) != UNKNOWN:
            row[name] = row.get(name.replace("given", "coming"), row[name])
    if "cost" in row:
        row["cost"] = _added_costs(gone.get("cost", UNKNOWN), row["cost"])
    return row


def joined_sales(
    gone: Row | None, stays: Row | None, gone_decided: Row | None, stays_decided: Row | None
) -> Row | None:
    """Return the sales of a day on which one or both of two items have some. The others are their advice."""
    sold = [row for row in (stays, gone) if row is not None]
    pairs = [pair for pair in ((gone, gone_decided), (stays, stays_decided)) if pair != (None, None)]
    if not sold or len(pairs) == 1:
        return sold[0] if sold else None
    stocks = [(row or decided or {})["stock"] for row, decided in pairs]
    row = dict(sold[0])
    row["stock"] = UNKNOWN if UNKNOWN in stocks else _sum(stocks)
    row["ordered"] = _sum([_ordered(*pair) for pair in pairs])
    row["sales"] = _sum([each["sales"] for each in sold])
    row["seen"] = next(code for code in BY_STRENGTH if code in [each["seen"] for each in sold])
    if row["stock"] != UNKNOWN and row["seen"] in (EXACT, AT_LEAST):
        there = row["stock"] + (max(0, row["ordered"]) if row.get("lead_time") == 0 else 0)
        row["seen"] = EXACT if row["sales"] < there else AT_LEAST
    return row


def _ordered(sold: Row | None, decided: Row | None) -> int:
    ordered = UNKNOWN if sold is None else sold["ordered"]
    return decided["advice"] if ordered == UNKNOWN and decided is not None else ordered


def _sum(units: Sequence[int]) -> int:
    """Return the sum of the numbers that are known, or UNKNOWN."""
    known = [number for number in units if number != UNKNOWN]
    return min(sum(known), LARGEST_NUMBER) if known else UNKNOWN


def _added_costs(*bits: int) -> int:
    costs = np.array(bits, "<i4").view("<f4")
    return UNKNOWN if np.isnan(costs).any() else int(costs.sum(keepdims=True).view("<i4")[0])
