"""The application: a backtest of ordering rules on your own sales, then a number each morning.

``read_sales`` and ``backtest`` look back. ``Shop`` keeps its records in one SQLite file: ``decide`` in the morning,
``record`` in the evening, ``explain`` at any time. ``driftmdp inventory`` is the same as commands.
"""

from driftmdp.deprecation import renamed
from driftmdp.inventory.backtest import Backtest, Trace, backtest
from driftmdp.inventory.daily_csv import Count, Sold, events_csv, history_csv, orders_csv, read_counts, read_sold
from driftmdp.inventory.explain import explain_in_words
from driftmdp.inventory.ordering_rules import RULES
from driftmdp.inventory.results import Advice, Decision, Event, Reason, Receipt
from driftmdp.inventory.sales_history import Sales, Series, in_lots, lot_size, read_sales
from driftmdp.inventory.shop import Shop
from driftmdp.inventory.simulation import (
    Recovery,
    SimulatedComparison,
    compare_rules,
    days_to_recover,
    drawn_demand,
)
from driftmdp.problems.inventory import Costs

__all__ = [
    "RULES",
    "Advice",
    "Backtest",
    "Costs",
    "Count",
    "Decision",
    "Event",
    "Reason",
    "Receipt",
    "Recovery",
    "Sales",
    "Series",
    "Shop",
    "SimulatedComparison",
    "Sold",
    "Trace",
    "backtest",
    "compare_rules",
    "days_to_recover",
    "drawn_demand",
    "events_csv",
    "explain_in_words",
    "history_csv",
    "in_lots",
    "lot_size",
    "orders_csv",
    "read_counts",
    "read_sales",
    "read_sold",
]

__getattr__ = renamed(__name__, Comparison="SimulatedComparison", book_csv="events_csv")
