"""``driftmdp inventory receive``: what came of what was ordered."""

from pathlib import Path
from typing import Annotated

import typer

from driftmdp import inventory
from driftmdp.cli.inventory import options
from driftmdp.cli.inventory.asking import Questions, Yes
from driftmdp.cli.inventory.commands import Correct, Database, Day
from driftmdp.cli.output import remark
from driftmdp.errors import InvalidInputError

DELIVERED_HELP = (
    "A CSV or Excel file with columns date, sku and units that came (0: nothing came). Optional: ordered_on (the "
)
DELIVERED_HELP += "day of the order), rest (waits or cancelled), expected (when the rest comes)."
SUPPLIER_HELP = "The file has all that came from this supplier: what was due of its other items did not come."


def receive(
    shop: Database,
    delivered: Annotated[Path, options.argument(DELIVERED_HELP)],
    day: Day = None,
    supplier: Annotated[str | None, typer.Option("--supplier", help=SUPPLIER_HELP)] = None,
    correct: Correct = False,
    yes: Yes = False,
    column: options.Columns = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
) -> None:
    """Record what came of what was ordered, and what came late, short or not at all.

    From the first line of an item on, its orders are open until their arrival is recorded. To record the same again
    is harmless. What contradicts the records is refused without --correct.
    """
    when, named, questions = options.as_day(day), options.as_columns(column), Questions(yes)
    may_be_empty = supplier is not None and when is not None
    found = inventory.read_delivered(delivered, when, named, date_format, decimal, may_be_empty)
    if supplier is not None and len({line.day for line in found.lines}) > 1:
        raise InvalidInputError(
            f"--supplier is about one delivery; {delivered} must have one day, and has several."
        )
    with inventory.Shop(shop) as open_shop:
        receipt = open_shop.receive(found.lines, correct, supplier, when, questions.confirm)
    for sentence in (*found.remarks, *questions.others(receipt.remarks)):
        remark(sentence)
    counts = [f"{receipt.recorded} recorded"]
    counts += [f"{receipt.repeated} repeated"] if receipt.repeated else []
    counts += [f"{receipt.corrected} corrected"] if receipt.corrected else []
    remark(f"{', '.join(counts)}.")
