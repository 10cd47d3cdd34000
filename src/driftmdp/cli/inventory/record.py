"""``driftmdp inventory record``: what was sold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import Columns, Database, Duplicates, Negatives, as_columns, as_day
from driftmdp.cli.output import remark
from driftmdp.inventory import Shop, read_sold

SalesFile = Annotated[
    Path,
    typer.Argument(
        help="A CSV file with columns date, sku and units sold; ordered (what was really ordered), stock and lot "
        "may be there too.",
        show_default=False,
    ),
]
Day = Annotated[str | None, typer.Option("--date", help="The day of all lines, if the file has no column date.")]
Correct = Annotated[bool, typer.Option("--correct", help="Replace what was recorded for the same item and day.")]
Plenty = Annotated[
    bool, typer.Option("--plenty", help="Days whose stock is not known were not sold out: for past sales.")
]


def record(
    shop: Database,
    sales: SalesFile,
    day: Day = None,
    correct: Correct = False,
    plenty: Plenty = False,
    negatives: Negatives = "refuse",
    duplicates: Duplicates = "refuse",
    column: Columns = None,
) -> None:
    """Write down what was sold, and learn from it.

    Recording the same again is harmless; what contradicts the book is refused without --correct.
    """
    sold = read_sold(sales, as_day(day), as_columns(column), negatives, duplicates)
    with Shop(shop) as open_shop:
        receipt = open_shop.record(sold, correct, plenty)
    for sentence in receipt.remarks:
        remark(sentence)
    told = [f"{receipt.recorded} recorded"]
    told += [f"{receipt.repeated} known already"] if receipt.repeated else []
    told += [f"{receipt.corrected} corrected"] if receipt.corrected else []
    remark(f"{', '.join(told)}.")
