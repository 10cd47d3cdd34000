"""``driftmdp inventory decide``: what to order today."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import Columns, Database, as_columns, as_day, checked_out, write_or_print
from driftmdp.cli.output import remark
from driftmdp.inventory import Shop, orders_csv, read_counts

StockFile = Annotated[
    Path,
    typer.Argument(
        help="A CSV file with columns sku and stock, counted this morning; date, coming and lot may be there too.",
        show_default=False,
    ),
]
Day = Annotated[str | None, typer.Option("--date", help="The day, as 2026-11-16; by default today.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where the orders go; - prints them.")]
Correct = Annotated[bool, typer.Option("--correct", help="Replace counts that were given for this day before.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse counts that differ from what the book expects.")]


def decide(
    shop: Database,
    stock: StockFile,
    day: Day = None,
    out: Out = Path("orders.csv"),
    correct: Correct = False,
    strict: Strict = False,
    column: Columns = None,
) -> None:
    """Say how much to order of each item, from this morning's stock.

    The answer is kept before it is given: asked again, it is the same.
    """
    checked_out(out, [shop, stock])
    told, counts = read_counts(stock, as_day(day), as_columns(column))
    with Shop(shop) as open_shop:
        decision = open_shop.decide(counts, told or date.today(), correct, strict)
    write_or_print(orders_csv(decision.advice), out)
    for sentence in decision.remarks:
        remark(sentence)
    orders = sum(advice.order > 0 for advice in decision.advice)
    again = f", {decision.repeated} of them decided before" if decision.repeated else ""
    items = "1 item" if len(decision.advice) == 1 else f"{len(decision.advice)} items"
    where = "" if str(out) == "-" else f" The orders: {out}"
    remark(f"{decision.day}: {items}{again}, {orders} to order.{where}")
