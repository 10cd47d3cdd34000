"""The application: a backtest of an ordering rule, then a number each morning."""

from driftmdp.inventory.backtest import Backtest, Trace, backtest
from driftmdp.inventory.rules import RULES
from driftmdp.inventory.sales import Sales, Series, in_lots, lot_size, read_sales

__all__ = ["RULES", "Backtest", "Sales", "Series", "Trace", "backtest", "in_lots", "lot_size", "read_sales"]
