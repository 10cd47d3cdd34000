"""``driftmdp inventory``: a backtest on your own sales, then a number each morning."""

import typer

from driftmdp.cli.inventory.changes import change_settings, withdraw
from driftmdp.cli.inventory.checking import verify
from driftmdp.cli.inventory.commands import (
    backtest,
    backup,
    decide,
    explain,
    export,
    forecast,
    history,
    init,
    record,
)
from driftmdp.cli.inventory.deliveries import receive
from driftmdp.cli.inventory.names import discontinue, merge, rename

__all__ = ["inventory"]

HELP = "How much to order: a backtest on your own sales, then a number each morning."
inventory = typer.Typer(help=HELP, no_args_is_help=True)
DAILY = backtest, init, decide, record, receive
LOOKED_AT = forecast, explain, history, export
CHANGES = withdraw, rename, merge, discontinue
for command in (*DAILY, *LOOKED_AT, *CHANGES, backup, verify):
    inventory.command()(command)
inventory.command("set")(change_settings)
