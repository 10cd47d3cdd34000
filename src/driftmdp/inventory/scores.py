"""What rules cost in a backtest: sums over the scored periods of items, with what orders to suppliers cost."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftmdp.inventory.item_paths import ItemPath, evening_stock, period_costs
from driftmdp.inventory.periods import DAY, WEEK
from driftmdp.inventory.supplier_charges import supplier_charges
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.yardstick_rules import UnitTrace

BLOCK_PERIODS = {DAY: 14, WEEK: 4}  # in a row, whose mean cost is one sample for the interval of a single item


class RuleScore(NamedTuple):
    """A rule's sums over an item's scored periods, and what each block of them cost.

    ``charged`` is what the item paid of orders to its supplier. It is part of the cost.
    """

    cost: float
    charged: float
    sold: int
    stock: int
    orders: int
    spoiled: int
    blocks: Floats


def score_all(paths: Sequence[ItemPath], traces: Sequence[UnitTrace]) -> list[RuleScore]:
    """Return a rule's scores. Of a supplier, all items must be there."""
    charges = supplier_charges(paths, [trace.orders for trace in traces])
    return [_score(*each) for each in zip(paths, traces, charges, strict=True)]


def _score(path: ItemPath, trace: UnitTrace, charges: Floats) -> RuleScore:
    scored = slice(path.scored, None)
    demand, on_sale = path.demand[scored], trace.on_sale[scored]
    paid = (period_costs(path, trace) + charges)[scored]
    sold, left = np.minimum(demand, on_sale), evening_stock(path, trace)[scored]
    starts = block_starts(paid.size, path.terms.period)
    orders = int((trace.orders[scored] > 0).sum())
    sums = float(paid.sum()), float(charges.sum()), int(sold.sum()), int(left.sum()), orders
    spoiled = int(trace.spoiled[scored].sum())
    return RuleScore(*sums, spoiled, np.add.reduceat(paid, starts))


def block_starts(periods: int, period: str) -> Longs:
    """Return where blocks of periods begin. The last one takes those that are left over."""
    size = BLOCK_PERIODS[period]
    return np.arange(0, max(1, periods - size + 1), size)
