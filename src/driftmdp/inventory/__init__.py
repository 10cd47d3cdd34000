"""The application: a backtest of ordering rules on your own sales, then a number each morning.

``read_sales`` and ``backtest`` look back. ``Shop`` keeps its records in one SQLite file: ``decide`` in the morning,
``record`` in the evening, ``explain`` and ``forecast`` at any time. ``driftmdp inventory`` is the same as commands.
"""

from driftmdp.deprecation import renamed
from driftmdp.inventory.backtest import backtest
from driftmdp.inventory.backtest_result import Backtest, Trace
from driftmdp.inventory.calendar_csv import SpecialDay, read_calendar
from driftmdp.inventory.daily_csv import events_csv, history_csv, orders_csv, read_counts
from driftmdp.inventory.delivered_csv import DeliveriesFile, Delivery, read_delivered
from driftmdp.inventory.doubts import Doubt
from driftmdp.inventory.erp_orders import erp_orders_csv
from driftmdp.inventory.explain import explain_in_words
from driftmdp.inventory.forecast import DemandForecast, forecast_csv
from driftmdp.inventory.items_csv import ItemSettings, ItemsFile, read_items
from driftmdp.inventory.lines import Count, Sold
from driftmdp.inventory.ordering_rules import RULES
from driftmdp.inventory.own_orders import OwnOrders, OwnSeries, read_own
from driftmdp.inventory.periods import OrderDays
from driftmdp.inventory.results import (
    Advice,
    Decision,
    DeliveryRecord,
    Event,
    Reason,
    Receipt,
    SettingsChange,
    Withdrawal,
)
from driftmdp.inventory.sales_history import Sales, Series, in_lots, lot_size, read_sales
from driftmdp.inventory.sales_table import SalesTable, read_sold
from driftmdp.inventory.shelf_rules import SHELF_RULES
from driftmdp.inventory.shop import Shop
from driftmdp.inventory.simulation import (
    Recovery,
    SimulatedComparison,
    compare_rules,
    days_to_recover,
    drawn_demand,
)
from driftmdp.inventory.suppliers import Supplier, SuppliersFile, read_suppliers
from driftmdp.inventory.terms import ItemTerms, ShopTerms
from driftmdp.problems.inventory import Costs

__all__ = [
    "RULES",
    "SHELF_RULES",
    "Advice",
    "Backtest",
    "Costs",
    "Count",
    "Decision",
    "DeliveriesFile",
    "Delivery",
    "DeliveryRecord",
    "DemandForecast",
    "Doubt",
    "Event",
    "ItemSettings",
    "ItemTerms",
    "ItemsFile",
    "OrderDays",
    "OwnOrders",
    "OwnSeries",
    "Reason",
    "Receipt",
    "Recovery",
    "Sales",
    "SalesTable",
    "Series",
    "SettingsChange",
    "Shop",
    "ShopTerms",
    "SimulatedComparison",
    "Sold",
    "SpecialDay",
    "Supplier",
    "SuppliersFile",
    "Trace",
    "Withdrawal",
    "backtest",
    "compare_rules",
    "days_to_recover",
    "drawn_demand",
    "erp_orders_csv",
    "events_csv",
    "explain_in_words",
    "forecast_csv",
    "history_csv",
    "in_lots",
    "lot_size",
    "orders_csv",
    "read_calendar",
    "read_counts",
    "read_delivered",
    "read_items",
    "read_own",
    "read_sales",
    "read_sold",
    "read_suppliers",
]

__getattr__ = renamed(__name__, Comparison="SimulatedComparison", book_csv="events_csv")
