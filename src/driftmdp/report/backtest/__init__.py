"""The report of an inventory backtest: a page with figures, and tables for terminals and spreadsheets."""

from driftmdp.report.backtest.money import money_caveats, money_sentence
from driftmdp.report.backtest.page import WrittenBacktest, backtest_report, write_backtest
from driftmdp.report.backtest.tables import summary_rows

__all__ = [
    "WrittenBacktest",
    "backtest_report",
    "money_caveats",
    "money_sentence",
    "summary_rows",
    "write_backtest",
]
