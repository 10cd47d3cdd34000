"""Cells of a CSV file: names, days, numbers and marks as people and their programs write them.

Each reader returns a value, or raises ValueError with how the sentence "COLUMN must ..." goes on.

A spreadsheet takes a text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula. Such a name is written with
an apostrophe before it, the spreadsheet's own mark for text, and read without it.
"""

import contextlib
import math
import re
import unicodedata
from datetime import date
from typing import Any

_HARMFUL = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")
_MIDNIGHT = r"(?:[T ]00:00(?::00(?:\.0+)?)?)?"  # as spreadsheets write a date
_DAY = re.compile(rf"(\d{{4}}-\d\d-\d\d){_MIDNIGHT}", re.ASCII)
_AMBIGUOUS = re.compile(r"[+-]?(?!0+\D)\d{1,3}[.,]\d{3}")  # 1.000 is a thousand to some, and one to others
_FLAGS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
LONGEST_NAME = 200
LARGEST_NUMBER = 2**31 - 1  # that a column of the log holds
YEARS = range(1970, 2200)  # others are mistakes, such as a spreadsheet's day 0
DAY_FORM = f"year-month-day, such as 2026-11-16, from {YEARS[0]} to {YEARS[-1]}"


def name_from_cell(text: str) -> str:
    """Return the name that a cell holds.

    Examples
    --------
    >>> from driftmdp.inventory.cells import name_from_cell
    >>> name_from_cell("'=cmd"), name_from_cell("=cmd"), name_from_cell("it's")
    ('=cmd', '=cmd', "it's")
    """
    return text[1:] if _MARKED.match(text) else text


def name_to_cell(name: str) -> str:
    """Return a name as a cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> from driftmdp.inventory.cells import name_to_cell
    >>> name_to_cell("=cmd"), name_to_cell("85123A")
    ("'=cmd", '85123A')
    """
    return f"'{name}" if _HARMFUL.match(name) else name


def is_name(sku: Any) -> bool:
    """Return whether a value can be an item's name: short, printable but for line breaks, and safe in a cell."""
    if not isinstance(sku, str) or not 1 <= len(sku) <= LONGEST_NAME:
        return False
    if name_from_cell(name_to_cell(sku).strip()) != sku:  # spaces around it would be lost
        return False
    return sku.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\r\n" for c in sku)


def as_name(text: str) -> str:
    """Return the name of an item or of a group."""
    name = name_from_cell(text)
    if not is_name(name):
        raise ValueError(f"be a name of 1 to {LONGEST_NAME} characters; got {name[:40]!r}")
    return name


def day_of(text: str) -> date | None:
    """Return a day that is written 2026-11-16, or None.

    Examples
    --------
    >>> from driftmdp.inventory.cells import day_of
    >>> day_of("2026-11-16"), day_of("2026-11-16 00:00:00"), day_of("20261116"), day_of("9999-12-31")
    (datetime.date(2026, 11, 16), datetime.date(2026, 11, 16), None, None)
    """
    written = _DAY.fullmatch(text)
    try:
        day = date.fromisoformat(written[1]) if written else None
    except ValueError:  # such as a 30th of February
        return None
    return day if day is not None and day.year in YEARS else None


def as_ordinal(text: str) -> int:
    """Return the number of a day, counted from 0001-01-01."""
    day = day_of(text)
    if day is None:
        raise ValueError(f"be {DAY_FORM}; got {text[:40]!r}")
    return day.toordinal()


def is_ambiguous(text: str) -> bool:
    """Return whether a number may mean a thousand times another, as 1.000 does."""
    return _AMBIGUOUS.fullmatch(text) is not None


def whole_number(text: str, minimum: int | None = 0, maximum: int = LARGEST_NUMBER) -> int:
    """Return a whole number within bounds.

    Examples
    --------
    >>> from driftmdp.inventory.cells import whole_number
    >>> whole_number("12"), whole_number("12.0"), whole_number("1e3")
    (12, 12, 1000)
    """
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else _odd_number(text)
    if minimum is not None and number < minimum:
        rule = "not be negative" if minimum == 0 else f"be at least {minimum}"
        raise ValueError(f"{rule}; got {text}")
    if number > maximum:
        raise ValueError(f"be at most {maximum}; got {number}")
    return number


def _odd_number(text: str) -> int:
    if is_ambiguous(text):
        plain = re.sub("[.,]", "", text)
        raise ValueError(f"be a whole number without a point or comma; got {text!r}, which may mean {plain}")
    with contextlib.suppress(ValueError, OverflowError):
        number = int(text) if re.fullmatch(r"[+-]?\d{1,12}", text) else float(text)
        if number == int(number) and abs(number) < 1e12 and "_" not in text:  # Python would accept 1_000
            return int(number)
    raise ValueError(f"be a whole number; got {text[:40]!r}")


def amount(text: str) -> float:
    """Return an amount of money, or another number of at least 0, that can be read in one way."""
    number = math.nan
    with contextlib.suppress(ValueError):
        number = float(text) if "_" not in text and not is_ambiguous(text) else math.nan
    if re.fullmatch(r"\d+,\d+", text) and not is_ambiguous(text):
        raise ValueError(f"have a decimal point, as {text.replace(',', '.')} has; got {text[:40]!r}")
    if not 0.0 <= number < math.inf:
        rule = "be a finite number of at least 0 with one meaning, such as 5, 0.25 or 1000"
        raise ValueError(f"{rule}; got {text[:40]!r}")
    return number


def flag(text: str) -> bool:
    """Return a mark that says yes or no.

    Examples
    --------
    >>> from driftmdp.inventory.cells import flag
    >>> flag("1"), flag("Yes"), flag("false")
    (True, True, False)
    """
    if text.lower() not in _FLAGS:
        raise ValueError(f"be 1 or 0, yes or no, true or false; got {text[:40]!r}")
    return _FLAGS[text.lower()]
