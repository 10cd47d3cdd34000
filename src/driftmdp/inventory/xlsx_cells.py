"""Cells of an Excel workbook as text: numbers, dates behind number formats, codes with leading zeros.

Excel holds a date as a number of days whose format has a day, month or year. A number says nothing of decimal
commas: it has one meaning, and its text is an ``ExactNumber``.
"""

import math
import re
from datetime import date, timedelta

_DATE_FORMATS = {14, 15, 16, 17, 22, *range(27, 37), *range(50, 59)}  # built in; the last ones of East Asia
_NO_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')  # texts, escapes, widths, fills, colours and conditions
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
LAST_SERIAL = 2_958_465  # 9999-12-31
DATE = -1  # a format; others are a width that zeros fill, or 0


class ExactNumber(str):
    """A number's text that has one meaning, since the file held it as a number."""

    __slots__ = ()


def format_of(number: int, code: str | None) -> int:
    """Return what a number format means: DATE, a width that zeros fill, or 0.

    Examples
    --------
    >>> from driftmdp.inventory.xlsx_cells import DATE, format_of
    >>> format_of(14, None) == DATE, format_of(164, "dd/mm/yy h:mm") == DATE, format_of(164, "[Red]0.00")
    (True, True, 0)
    >>> format_of(164, "00000")
    5
    """
    if code is None:
        return DATE if number in _DATE_FORMATS else 0
    if re.fullmatch("0{2,15}", code):
        return len(code)
    first = code.partition(";")[0].lower()
    plain = _NO_CODE.sub("", first)
    is_time = re.search("[hs]", plain) or re.search(r"\[[hms]+\]", first)
    return DATE if re.search("[dy]", plain) or ("m" in plain and not is_time) else 0


def cell_text(value: str, number_format: int, is_1904: bool) -> str:
    """Return the text of a cell that holds a number.

    Examples
    --------
    >>> from driftmdp.inventory.xlsx_cells import DATE, cell_text
    >>> cell_text("12345.0", 0, False), cell_text("42", 5, False), cell_text("46342.5", DATE, False)
    ('12345', '00042', '2026-11-16')
    """
    try:
        number = float(value)
    except ValueError:
        return value
    if not math.isfinite(number):
        return value
    if number_format == DATE:
        day = day_of_serial(number, is_1904)
        if day is not None:
            return day.isoformat()
    if number == int(number) and abs(number) < 1e15:
        whole = str(int(number))
        return whole.zfill(number_format) if number_format > 0 else ExactNumber(whole)
    return ExactNumber(f"{number:.15g}")  # Excel shows and compares 15 digits


def day_of_serial(number: float, is_1904: bool) -> date | None:
    """Return the day of a serial number, without its time, or None if it has none.

    Day 60 of the usual system is a 29th of February 1900 that never was.
    """
    days = math.floor(number)
    if is_1904:
        return date(1904, 1, 1) + timedelta(days) if 0 <= days <= LAST_SERIAL - 1462 else None
    if not 1 <= days <= LAST_SERIAL or days == 60:
        return None
    return date(1899, 12, 31 if days < 60 else 30) + timedelta(days)


def unescaped(text: str) -> str:
    """Return a text without the escapes that workbooks have for characters which XML cannot hold."""
    return _ESCAPE.sub(_character, text) if "_x" in text else text


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1], 16)
    return "\ufffd" if 0xD800 <= number <= 0xDFFF else chr(number)  # half of a character is none


def column_number(reference: str) -> int:
    """Return the column of a cell's reference, 0 for ``A7``, or -1 without one."""
    number = 0
    for letter in reference:
        if not "A" <= letter <= "Z":
            break
        number = 26 * number + ord(letter) - 64
    return number - 1


def column_letters(number: int) -> str:
    """Return the letters of a column, ``A`` for 0.

    Examples
    --------
    >>> from driftmdp.inventory.xlsx_cells import column_letters, column_number
    >>> column_letters(0), column_letters(27), column_number("AB12")
    ('A', 'AB', 27)
    """
    letters, number = "", number + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
