"""The commands of ``driftmdp inventory`` that change what is recorded, each of which parses, calls and prints."""

from typing import Annotated

import typer

from driftmdp import inventory
from driftmdp.cli.inventory import options
from driftmdp.cli.inventory.commands import Database
from driftmdp.cli.output import remark
from driftmdp.display import counted

WITHDRAWN_DAY_HELP = "The day that was recorded wrongly, as 2026-11-16. Of a week, its Monday."
WITHDRAWN_SKU_HELP = "An item; again for more. By default all that have records of the day."
ORDERS_HELP = "Take back counts and advice too, and so what was ordered."


def withdraw(
    shop: Database,
    day: Annotated[str, typer.Option("--date", help=WITHDRAWN_DAY_HELP, show_default=False)],
    sku: Annotated[list[str] | None, typer.Option("--sku", help=WITHDRAWN_SKU_HELP)] = None,
    orders: Annotated[bool, typer.Option("--orders", help=ORDERS_HELP)] = False,
) -> None:
    """Take back a day that was recorded wrongly. Record it again afterwards.

    Sales are taken back. Where an item has advice of that day but never had sales, count and advice are taken back.
    Advice of later days stays as it was given. To withdraw again is harmless.
    """
    when = options.as_day(day)
    assert when is not None
    with inventory.Shop(shop) as open_shop:
        taken = open_shop.withdraw(when, sku or None, orders)
    what = [f"the sales of {counted(taken.sales, 'item')}"] if taken.sales else []
    what += [f"the count and advice of {counted(taken.advice, 'item')}"] if taken.advice else []
    remark(f"{taken.day}: withdrew {' and '.join(what)}." if what else f"{taken.day}: nothing to withdraw.")
