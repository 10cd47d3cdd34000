"""``driftmdp inventory``: a backtest on your own sales, then a number each morning."""

from __future__ import annotations

import typer

from driftmdp.cli.inventory import backtest, backup, decide, explain, export, history, init, record

__all__ = ["inventory"]

inventory = typer.Typer(
    help="How much to order: a backtest on your own sales, then a number each morning.", no_args_is_help=True
)
inventory.command("backtest")(backtest.backtest)
inventory.command("init")(init.init)
inventory.command("decide")(decide.decide)
inventory.command("record")(record.record)
inventory.command("explain")(explain.explain)
inventory.command("history")(history.history)
inventory.command("export")(export.export)
inventory.command("backup")(backup.backup)
