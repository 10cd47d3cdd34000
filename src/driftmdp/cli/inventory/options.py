"""Arguments and options that several inventory commands share."""

import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole
from driftmdp.inventory.cells import DAY_FORM, amount, day_of
from driftmdp.inventory.event_log import SIDE_FILES
from driftmdp.inventory.terms import AUTO, MAX_LEAD_TIME, MAX_SHELF_LIFE, NO_LIMIT
from driftmdp.inventory.xlsx_writer import table_content
from driftmdp.problems.inventory import Costs


def _whole(minimum: int, maximum: int = 10**9) -> Any:
    """Return a parser of whole numbers: digits only, as typer's own takes 1.000 for 1."""

    def parse(given: Any) -> int:
        text = str(given)
        if not (text.isascii() and text.isdigit() and minimum <= int(text) <= maximum):
            raise typer.BadParameter(f"must be a whole number from {minimum} to {maximum}; got {text!r}.")
        return int(text)

    return parse


def _amount(given: Any) -> float:
    """Return an amount of money of at least 0, refusing 1.000, which may mean 1 or 1000."""
    try:
        return amount(str(given))
    except ValueError as error:
        raise typer.BadParameter(f"must {error}.") from None


def argument(description: str) -> Any:
    """Return an argument that has no default."""
    return typer.Argument(help=description, show_default=False)


def _required(parser: Callable[[Any], Any], description: str) -> Any:
    return typer.Option(parser=parser, help=description, show_default=False)


def _optional(parser: Callable[[Any], Any], description: str, *names: str) -> Any:
    return typer.Option(*names, parser=parser, help=description, show_default=False)


CAPACITY_HELP = "The most units of an item on the shelf and on their way, or none."
PACK_HELP = (
    "Orders are multiples of it, in units. With auto it is chosen from 60 days of sales, and --capacity and "
)
PACK_HELP += "costs are per pack."
ORDER_DAYS_HELP = "When orders may be placed: mon,thu, or every 2, or every 2 from 2026-01-05, in periods."
SERVICE_HELP = "The share of demand to serve, such as 0.95, in place of --lost-sale."
ITEMS_HELP = (
    "A CSV or Excel file with a column sku, and what an item has of its own: capacity, fixed_cost, unit_cost, "
)
ITEMS_HELP += "lost_sale, holding, pack, minimum, lead_time, order_days, period, group, service, service_measure, "
ITEMS_HELP += "supplier, price (of a unit, for the supplier's minimum_value), shelf_life, waste."
SUPPLIERS_HELP = "A CSV or Excel file with a column supplier, and any of order_days, lead_time, order_cost (of an "
SUPPLIERS_HELP += "order, whatever is in it), minimum_units and minimum_value (of an order)."
CALENDAR_HELP = "A CSV or Excel file of special days: date, name. Optional: sku or group, factor. On a day named "
CALENDAR_HELP += "closed the shop is closed."

Capacity = Annotated[str, typer.Option("--capacity", help=CAPACITY_HELP, show_default=False)]
FixedCost = Annotated[float, _required(_amount, "Cost of placing an order.")]
UnitCost = Annotated[float, _required(_amount, "Cost of each unit ordered.")]
LostSale = Annotated[
    float | None, _optional(_amount, "Cost of each unit that a customer wanted and did not get.", "--lost-sale")
]
Holding = Annotated[float, _required(_amount, "Cost of each unit left at the end of a period.")]
Service = Annotated[float | None, _optional(_amount, SERVICE_HELP, "--service")]
ServiceMeasure = Annotated[
    str, typer.Option("--service-measure", help="What --service counts: units, or periods that are not sold out.")
]
SHELF_LIFE_HELP = (
    "The periods in which a unit can be sold, the one of its arrival included. By default it never spoils."
)
ShelfLife = Annotated[int | None, _optional(_whole(1, MAX_SHELF_LIFE), SHELF_LIFE_HELP, "--shelf-life")]
Waste = Annotated[
    float, typer.Option("--waste", parser=_amount, help="Cost of each unit that spoils, beside its price.")
]
LeadTime = Annotated[
    int,
    typer.Option(
        "--lead-time",
        parser=_whole(0, MAX_LEAD_TIME),
        help=f"Periods from an order to its arrival, 0 to {MAX_LEAD_TIME}.",
    ),
]
Pack = Annotated[str, typer.Option("--pack", "--lot-size", help=PACK_HELP)]
Minimum = Annotated[int, typer.Option("--minimum", parser=_whole(0), help="The least order, in units.")]
Period = Annotated[str, typer.Option("--period", help="day or week. A week is named by its Monday.")]
OrderDays = Annotated[str, typer.Option("--order-days", help=ORDER_DAYS_HELP)]
ClosedDays = Annotated[str, typer.Option("--closed-days", help="Weekdays without demand and orders, as sat,sun.")]
Forecaster = Annotated[str | None, typer.Option("--forecaster", help="A forecaster of your own, module:name.")]
Items = Annotated[Path | None, typer.Option("--items", help=ITEMS_HELP)]
Group = Annotated[str | None, typer.Option("--group", help="The column of --items that names an item's group.")]
Suppliers = Annotated[Path | None, typer.Option("--suppliers", help=SUPPLIERS_HELP)]
Calendar = Annotated[Path | None, typer.Option("--calendar", help=CALENDAR_HELP)]
Negatives = Annotated[str, typer.Option(help="Negative numbers, such as returns: refuse, zero or skip.")]
Duplicates = Annotated[str, typer.Option(help="Two lines for one item and day: refuse, sum or last.")]
OWN_HELP = "What you really did, a CSV or Excel file with columns date, sku and ordered, or stock (in the "
OWN_HELP += "morning), or both: what it cost is compared too."
Own = Annotated[Path | None, typer.Option("--own", help=OWN_HELP, show_default=False)]
COLUMN_HELP = "What a column is called in the file of the arguments, as sku=article; again for more."
Columns = Annotated[list[str] | None, typer.Option("--column", help=COLUMN_HELP)]
DATE_FORMAT_HELP = "How days are written in that file, as dd/mm/yyyy; by default as the file shows."
DateFormat = Annotated[str | None, typer.Option("--date-format", help=DATE_FORMAT_HELP)]
DECIMAL_HELP = "The decimal sign in that file, comma or point; by default as the file shows."
Decimal = Annotated[str | None, typer.Option("--decimal", help=DECIMAL_HELP)]


def as_columns(given: list[str] | None) -> dict[str, str]:
    """Return the names that columns have in the file."""
    names = {}
    for text in given or []:
        name, equals, called = text.partition("=")
        if not equals or not name or not called:
            raise InvalidInputError(f"--column must be written NAME=WHAT IT IS CALLED, as units=qty; got {text!r}.")
        names[name] = called
    return names


def as_pack(text: str, option: str = "--pack") -> int | str:
    """Return the units in a pack, or auto."""
    if text == AUTO:
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InvalidInputError(f"{option} must be auto or a whole number from 1 on; got {text!r}.")
    return int(text)


def as_capacity(text: str) -> int | None:
    """Return a capacity, or None for no limit."""
    if text.lower() == NO_LIMIT:
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10**9:
        raise InvalidInputError(f"--capacity must be none or a whole number from 1 to {10**9}; got {text!r}.")
    return int(text)


def as_costs(fixed: float, unit: float, lost_sale: float | None, holding: float, service: float | None) -> Costs:
    """Return the costs of options. How much an empty shelf hurts must be given in exactly one way."""
    if (lost_sale is None) == (service is None):
        what = "neither" if service is None else "both"
        raise InvalidInputError(f"Exactly one of --lost-sale and --service must be given; got {what}.")
    return Costs(fixed, unit, 0.0 if lost_sale is None else lost_sale, holding)


def as_day(text: str | None, option: str = "--date") -> date | None:
    """Return a date."""
    day = None if text is None else day_of(text)
    if text is not None and day is None:
        raise InvalidInputError(f"{option} must be {DAY_FORM}; got {text!r}.")
    return day


def checked_out(to: Path, inputs: Sequence[Path | None], option: str = "--out") -> None:
    """Validate that a file is written to a new place, or to one that the command does not read."""
    if to.exists() and not to.is_file():
        raise InvalidInputError(
            f"{option} must be a file; {to} is a folder, a pipe or a device. Use --out - to print."
        )
    taken = [Path(f"{given}{end}") for given in inputs if given is not None for end in ("", *SIDE_FILES)]
    if any(os.path.realpath(to) == os.path.realpath(given) for given in taken):
        raise InvalidInputError(
            f"{option} must be another file; {to} belongs to what this command reads or writes."
        )


def write_or_print(text: str, to: Path) -> None:
    """Write a CSV table to a file, whole or not at all, as a workbook if it is an ``.xlsx``. ``-`` prints it."""
    if str(to) == "-":
        sys.stdout.write(text)
        return
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInputError(f"--out must lie in a folder; {to.parent} is, or lies in, a file.") from None
    write_whole(Path(os.path.realpath(to)), table_content(text, to))  # a link, such as /dev/stdout, stays one
