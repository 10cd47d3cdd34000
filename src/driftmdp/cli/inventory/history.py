"""``driftmdp inventory history``: what the book has of an item."""

from __future__ import annotations

from driftmdp.cli.inventory.explain import Sku
from driftmdp.cli.inventory.options import Database
from driftmdp.cli.output import print_columns
from driftmdp.inventory import Shop

COLUMNS = ("stock", "coming", "expected", "advice", "ordered", "sales")


def history(shop: Database, sku: Sku) -> None:
    """Show what was counted, advised, ordered and sold, in the order in which it was written down."""
    with Shop(shop) as open_shop:
        rows = []
        for event in open_shop.history(sku):
            numbers = (getattr(event, name) for name in COLUMNS)
            said = ["" if number is None else str(number) for number in numbers]
            rows.append([event.day.isoformat(), event.kind, *said, event.written_at])
    print_columns(rows, ["day", "what", *COLUMNS, "written at"], numbers=range(2, 2 + len(COLUMNS)))
