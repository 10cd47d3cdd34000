"""``driftmdp inventory export``: the whole book as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import Database, checked_out, write_or_print
from driftmdp.cli.output import remark
from driftmdp.inventory import Shop, book_csv, history_csv

Out = Annotated[Path, typer.Option("--out", "-o", help="Where the table goes; - prints it.")]


Sales = Annotated[bool, typer.Option("--sales", help="Only the sales, each day's last word, for `record`.")]


def export(shop: Database, out: Out = Path("-"), sales: Sales = False) -> None:
    """Write every line of the book as CSV; with --sales only each day's sales, as `record` reads them.

    The second is how to move to a new shop, with other costs or lots: record it there with --plenty.
    """
    checked_out(out, [shop])
    with Shop(shop) as open_shop:
        events = open_shop.history()
        text = history_csv(events, open_shop.lots) if sales else book_csv(events)
    write_or_print(text, out)
    if str(out) != "-":
        remark(f"The book: {out}")
