"""The commands of ``driftmdp inventory`` that change what is recorded, each of which parses, calls and prints."""

import inspect
from datetime import date
from typing import Annotated, Any

import typer

from driftmdp import inventory
from driftmdp.cli.inventory import options
from driftmdp.cli.inventory.commands import Database, say_present_names
from driftmdp.cli.output import remark
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.change_terms import SHOP_SETTINGS, UNDATED
from driftmdp.inventory.items_csv import COLUMNS
from driftmdp.inventory.terms import MAX_LEAD_TIME, parsed_setting

WITHDRAWN_DAY_HELP = "The day that was recorded wrongly, as 2026-11-16. Of a week, its Monday."
WITHDRAWN_SKU_HELP = "An item; again for more. By default all that have records of the day."
FROM_HELP = "The first day, as 2026-11-16; by default today."
SET_SKU_HELP = "An item; again for more. By default the settings of the shop change, which other items have."
FORGET_HELP = "A date whose special days were entered by mistake; again for more."
SETTING_HELP = {
    "capacity": options.CAPACITY_HELP,
    "fixed_cost": "Cost of placing an order.",
    "unit_cost": "Cost of each unit ordered.",
    "lost_sale": "Cost of each unit that a customer wanted and did not get. It takes the place of --service.",
    "holding": "Cost of each unit left at the end of a period.",
    "pack": "Orders are multiples of it, in units.",
    "minimum": "The least order, in units.",
    "lead_time": f"Periods from an order to its arrival, 0 to {MAX_LEAD_TIME}.",
    "order_days": options.ORDER_DAYS_HELP,
    "period": "Of an item: day or week. It holds for the whole past, and stays once there are records.",
    "group": "Of an item: the group to share seasons with. It holds for the whole past.",
    "service": options.SERVICE_HELP,
    "service_measure": "What --service counts: units, or periods that are not sold out.",
    "supplier": "Who delivers it. Items of one supplier are ordered together.",
    "price": "What a unit counts for the supplier's minimum_value. By default the cost of a unit.",
    "shelf_life": "The periods in which a unit can be sold, the one of its arrival included, or none.",
    "waste": "Cost of each unit that spoils, beside its price.",
    "closed_days": "Of the shop: weekdays without demand and orders, as sat,sun.",
}
DELIVERIES_HELP = "Take back what was told of deliveries, and nothing else."
ORDERS_HELP = "Take back counts and advice too, and so what was ordered."


def withdraw(
    shop: Database,
    day: Annotated[str, typer.Option("--date", help=WITHDRAWN_DAY_HELP, show_default=False)],
    sku: Annotated[list[str] | None, typer.Option("--sku", help=WITHDRAWN_SKU_HELP)] = None,
    orders: Annotated[bool, typer.Option("--orders", help=ORDERS_HELP)] = False,
    deliveries: Annotated[bool, typer.Option("--deliveries", help=DELIVERIES_HELP)] = False,
) -> None:
    """Take back a day that was recorded wrongly. Record it again afterwards.

    Sales are taken back. Where an item has advice of that day but never had sales, count and advice are taken back,
    and where it has neither, what was told of its deliveries. Advice of later days stays as it was given. To
    withdraw again is harmless.
    """
    when = options.as_day(day) or date.min
    with inventory.Shop(shop) as open_shop:
        say_present_names(open_shop, sku or [])
        taken = open_shop.withdraw(when, sku or None, orders, deliveries)
    what = [f"the sales of {counted(taken.sales, 'item')}"] if taken.sales else []
    what += [f"the count and advice of {counted(taken.advice, 'item')}"] if taken.advice else []
    what += [f"what was told of deliveries of {counted(taken.deliveries, 'item')}"] if taken.deliveries else []
    remark(f"{taken.day}: withdrew {' and '.join(what)}." if what else f"{taken.day}: nothing to withdraw.")


def change_settings(
    shop: Database,
    sku: Annotated[list[str] | None, typer.Option("--sku", help=SET_SKU_HELP)] = None,
    first_day: Annotated[str | None, typer.Option("--from", help=FROM_HELP)] = None,
    calendar: options.Calendar = None,
    suppliers: options.Suppliers = None,
    forget_day: Annotated[list[str] | None, typer.Option("--forget-day", help=FORGET_HELP)] = None,
    **given: str | None,
) -> None:
    """Change settings of items, or of the shop, from a day on. Advice and sales of earlier days stay.

    With --sku, the word shop as a value gives the items the shop's own again. A special day that was entered by
    mistake is taken back with --forget-day. To set the same again is harmless.
    """
    skus, first = sku or [], options.as_day(first_day, "--from")
    values = {name: _setting(name, text, bool(skus)) for name, text in given.items() if text is not None}
    lines = () if calendar is None else inventory.read_calendar(calendar)
    forgotten = [day for text in forget_day or [] if (day := options.as_day(text, "--forget-day"))]
    deliverers = () if suppliers is None else inventory.read_suppliers(suppliers).suppliers
    if not values and not lines and not forgotten and not deliverers:
        raise InvalidInputError("set must be told what to change, such as --capacity 30; got nothing.")
    with inventory.Shop(shop) as open_shop:
        say_present_names(open_shop, skus)
        since = first or open_shop.today()
        change = open_shop.set_terms(values, skus, first, lines, forgotten, deliverers)
    if values:
        who = counted(change.changed, "item") if skus else "the shop"
        what = f"From {since}" if values.keys() - set(UNDATED) else "From the beginning"
        remark(
            f"{what}: {', '.join(_texts(given))} for {who}." if change.changed else "The settings are so already."
        )
    if deliverers:
        remark(f"From {since}: {counted(change.suppliers, 'supplier')} changed.")
    if lines or forgotten:
        remark(f"{counted(change.special_days, 'special day')} changed.")


def _texts(given: dict[str, str | None]) -> list[str]:
    return [f"{name} {text or 'shop'}" for name, text in given.items() if text is not None]


def _setting(name: str, text: str, is_item: bool) -> Any:
    """Return the value of a setting. An item's may be the shop's again."""
    if is_item and text.strip().lower() in ("", "shop") and name != "closed_days":
        return None
    option = f"--{name.replace('_', '-')}"
    return parsed_setting(option, (COLUMNS | SHOP_SETTINGS)[name], text)


def _with_settings(command: Any) -> Any:
    """Give a command an option for each setting that an item or the shop can have."""
    mine = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    for name in COLUMNS | SHOP_SETTINGS:
        option = typer.Option(f"--{name.replace('_', '-')}", help=SETTING_HELP[name], show_default=False)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        mine.append(inspect.Parameter(name, kind, default=None, annotation=Annotated[str | None, option]))
    command.__signature__ = inspect.Signature(mine)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in mine}
    return command


_with_settings(change_settings)
