"""``driftmdp inventory init``: a new shop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import (
    Capacity,
    FixedCost,
    Holding,
    LeadTime,
    LostSale,
    LotSize,
    UnitCost,
    as_lot,
)
from driftmdp.cli.output import remark
from driftmdp.inventory import Shop
from driftmdp.problems.inventory import Costs

NewDatabase = Annotated[
    Path, typer.Argument(help="The database to make; it must not exist yet.", show_default=False)
]


def init(
    shop: NewDatabase,
    capacity: Capacity,
    fixed_cost: FixedCost,
    unit_cost: UnitCost,
    lost_sale: LostSale,
    holding: Holding,
    lot_size: LotSize = "auto",
    lead_time: LeadTime = 0,
) -> None:
    """Make a shop's database. Costs and capacity are in lots, and cannot be changed later.

    With --lot-size auto, as in a backtest, an item's lot is chosen when 60 days of its sales are recorded at once;
    without such a history use a number, or a column lot.
    """
    costs = Costs(fixed_cost, unit_cost, lost_sale, holding)
    Shop.create(shop, costs, capacity, lead_time, as_lot(lot_size)).close()
    first = (
        f" Past sales first: driftmdp inventory record {shop} history.csv --plenty." if lot_size == "auto" else ""
    )
    remark(f"Made {shop}.{first} Each morning: driftmdp inventory decide {shop} stock.csv")
