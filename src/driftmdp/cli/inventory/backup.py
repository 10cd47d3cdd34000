"""``driftmdp inventory backup``: a copy of a shop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import Database
from driftmdp.cli.output import remark
from driftmdp.inventory import Shop

Copy = Annotated[Path, typer.Argument(help="The copy to make; it must not exist yet.", show_default=False)]


def backup(shop: Database, copy: Copy) -> None:
    """Copy a shop into a new file and check the copy; other commands may run meanwhile."""
    with Shop(shop) as open_shop:
        open_shop.backup(copy)
    remark(f"Copied {shop} to {copy}, and checked the copy.")
