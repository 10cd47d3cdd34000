"""``driftmdp inventory explain``: today's advice in words."""

from __future__ import annotations

from typing import Annotated

import typer

from driftmdp.cli.inventory.options import Database
from driftmdp.inventory import Shop, explain_in_words

Sku = Annotated[str, typer.Argument(help="The item.", show_default=False)]


def explain(shop: Database, sku: Sku) -> None:
    """Say why an item's order is what it is: demand, memory in use, and level."""
    with Shop(shop) as open_shop:
        print(explain_in_words(open_shop, sku))
