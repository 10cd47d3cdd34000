"""``driftmdp inventory verify``: whether a shop's database is what was written."""

from pathlib import Path
from typing import Annotated

import typer

from driftmdp import inventory
from driftmdp.cli.inventory import options
from driftmdp.cli.output import remark
from driftmdp.display import counted
from driftmdp.errors import StorageError


def verify(shop: Annotated[Path, options.argument("The shop's database, made by `init`.")]) -> None:
    """Check all of a shop's database: every page, every batch, and a replay of them to the last bit.

    Other commands check this much of small databases only. The exit code is 1 if something is wrong.
    """
    try:
        with inventory.Shop(shop) as open_shop:
            is_same, items = open_shop.verify(), counted(len(open_shop.skus), "item")
    except StorageError as error:
        remark(f"error: {error}")
        raise typer.Exit(1) from None
    if not is_same:
        what = f"error: {shop} must hold what follows from its records; a replay of them differs"
        remark(f"{what}. Export them with --sales, and record them in a new shop.")
        raise typer.Exit(1)
    found = "its pages fit together, every batch is what was written"
    remark(f"Checked {shop}: {found}, and a replay gives the same state of {items}, to the last bit.")
