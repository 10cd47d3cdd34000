"""The commands of ``driftmdp inventory`` that change what items are called, and which are ordered."""

from typing import Annotated

import typer

from driftmdp import inventory
from driftmdp.cli.inventory import options
from driftmdp.cli.inventory.commands import Database, say_present_names
from driftmdp.cli.output import remark
from driftmdp.display import listed

FROM_HELP = "The first day, as 2026-11-16; by default today."
UNDO_HELP = "Order it again from that day on."


def rename(
    shop: Database,
    old: Annotated[str, options.argument("The item.")],
    new: Annotated[str, options.argument("Its new name.")],
) -> None:
    """Give an item another name. Its records, settings and special days stay with it.

    Files may go on using the old name: it is taken for the item, with a remark. To rename again is harmless.
    """
    with inventory.Shop(shop) as open_shop:
        is_new = open_shop.rename(old, new)
    what = f"{old} is {new} now. Files that still say {old} are taken for it."
    remark(what if is_new else f"{old} is {new} already.")


def merge(
    shop: Database,
    old: Annotated[str, options.argument("The item that goes, such as a misspelt name.")],
    into: Annotated[str, options.argument("The item that stays, with its settings.")],
) -> None:
    """Make two items one. What both counted, ordered and sold on a day adds up.

    Files may go on using the name that went: it is taken for the other, with a remark. To merge again is harmless.
    It cannot be undone: make a copy before, with `backup`.
    """
    with inventory.Shop(shop) as open_shop:
        is_new, name = open_shop.merge(old, into), open_shop.present_name(into)
    what = f"{old} is part of {name} now. Files that still say {old} are taken for it."
    remark(what if is_new else f"{old} and {into} are one item already.")


def discontinue(
    shop: Database,
    sku: Annotated[list[str], options.argument("The item; several are possible.")],
    first_day: Annotated[str | None, typer.Option("--from", help=FROM_HELP)] = None,
    undo: Annotated[bool, typer.Option("--undo", help=UNDO_HELP)] = False,
) -> None:
    """Order an item no more. What is left may still be counted, sold and recorded.

    It is not missed in the morning if it is not counted. To discontinue again is harmless.
    """
    first = options.as_day(first_day, "--from")
    with inventory.Shop(shop) as open_shop:
        say_present_names(open_shop, sku)
        since = first or open_shop.today()
        changed = open_shop.discontinue(sku, since, undo)
        names = list(dict.fromkeys(map(open_shop.present_name, sku)))
    what = "ordered again" if undo else "not ordered any more"
    remark(
        f"From {since} {what}: {listed(names, separator=', ')}." if changed else f"Already {what} from {since} on."
    )
