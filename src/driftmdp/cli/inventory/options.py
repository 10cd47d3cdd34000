"""Arguments and options that several inventory commands share."""

import math
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole
from driftmdp.inventory.csv_io import DAY_FORM, day_of, is_ambiguous
from driftmdp.inventory.event_log import SIDE_FILES


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
        amount = float(given)
    except ValueError:
        amount = -1.0
    if not 0.0 <= amount < math.inf or is_ambiguous(str(given)):
        raise typer.BadParameter(
            f"must be a finite number of at least 0 with one meaning, such as 5, 0.25 or 1000; got {str(given)!r}."
        )
    return amount


def argument(description: str) -> Any:
    """Return an argument that has no default."""
    return typer.Argument(help=description, show_default=False)


def _required(parser: Callable[[Any], Any], description: str) -> Any:
    return typer.Option(parser=parser, help=description, show_default=False)


Capacity = Annotated[int, _required(_whole(1), "Lots on the shelf, of each item.")]
FixedCost = Annotated[float, _required(_amount, "Cost of placing an order.")]
UnitCost = Annotated[float, _required(_amount, "Cost of each lot ordered.")]
LostSale = Annotated[float, _required(_amount, "Cost of each lot that a customer wanted and did not get.")]
Holding = Annotated[float, _required(_amount, "Cost of each lot left in the evening.")]
LeadTime = Annotated[int, typer.Option(parser=_whole(0, 2), help="Days from an order to its arrival: 0, 1 or 2.")]
Negatives = Annotated[str, typer.Option(help="Negative numbers, such as returns: refuse, zero or skip.")]
Duplicates = Annotated[str, typer.Option(help="Two lines for one item and day: refuse, sum or last.")]
LotSize = Annotated[str, typer.Option(help="Units in a lot: a number, or auto to choose for each item.")]
COLUMN_HELP = "What a column is called in the file, as units=qty; again for more."
Columns = Annotated[list[str] | None, typer.Option("--column", help=COLUMN_HELP)]


def as_columns(given: list[str] | None) -> dict[str, str]:
    """Return the names that columns have in the file."""
    names = {}
    for text in given or []:
        name, equals, called = text.partition("=")
        if not equals or not name or not called:
            raise InvalidInputError(f"--column must be written NAME=WHAT IT IS CALLED, as units=qty; got {text!r}.")
        names[name] = called
    return names


def as_lot(text: str) -> int | str:
    """Return a lot size."""
    if text == "auto":
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InvalidInputError(f"--lot-size must be auto or a whole number from 1 on; got {text!r}.")
    return int(text)


def as_day(text: str | None) -> date | None:
    """Return a date."""
    day = None if text is None else day_of(text)
    if text is not None and day is None:
        raise InvalidInputError(f"--date must be {DAY_FORM}; got {text!r}.")
    return day


def checked_out(to: Path, inputs: Sequence[Path]) -> None:
    """Validate that a table is written to a new file, or to one that the command does not read."""
    if to.exists() and not to.is_file():
        raise InvalidInputError(
            f"--out must be a file; {to} is a folder, a pipe or a device. Use --out - to print."
        )
    taken = [Path(f"{given}{end}") for given in inputs for end in ("", *SIDE_FILES)]
    if any(os.path.realpath(to) == os.path.realpath(given) for given in taken):
        raise InvalidInputError(f"--out must be another file; {to} belongs to what this command reads.")


def write_or_print(text: str, to: Path) -> None:
    """Write a file, whole or not at all. The path ``-`` prints it instead."""
    if str(to) == "-":
        sys.stdout.write(text)
        return
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInputError(f"--out must lie in a folder; {to.parent} is, or lies in, a file.") from None
    write_whole(Path(os.path.realpath(to)), text.encode())  # a link, such as /dev/stdout, stays one
