"""``driftmdp inventory export``: the whole book as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import Database, write_or_print
from driftmdp.cli.printing import remark
from driftmdp.inventory import Shop, book_csv

__all__ = ["export"]

Out = Annotated[Path, typer.Option("--out", "-o", help="Where the table goes; - prints it.")]


def export(shop: Database, out: Out = Path("-")) -> None:
    """Write every line of the book as CSV: batch, when it was written, what, day, item and numbers."""
    with Shop(shop) as open_shop:
        text = book_csv(open_shop.history())
    write_or_print(text, out)
    if str(out) != "-":
        remark(f"The book: {out}")
