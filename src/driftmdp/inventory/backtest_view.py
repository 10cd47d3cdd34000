"""What a notebook shows of a backtest: what every rule cost, on average; the report has intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftmdp.display import counted, table
from driftmdp.inventory.ordering_rules import RULES

if TYPE_CHECKING:
    from driftmdp.inventory.backtest import Backtest


def backtest_view(backtest: Backtest) -> str:
    """Return a table with a row for each rule."""
    days = backtest.days.sum()
    rows = [
        (
            RULES[rule],
            float(backtest.cost[place].sum() / days),
            backtest.service_level(rule),
            backtest.average_stock(rule),
            backtest.orders_placed(rule),
        )
        for place, rule in enumerate(backtest.rules)
    ]
    header = ["rule", "cost per item, day", "share of demand served", "stock in the evening", "orders"]
    return table(
        header, rows, f"Backtest of {counted(len(backtest.skus), 'item')} over {counted(days, 'day')} in all"
    )
