"""How other people write files: encodings, separators, dates and numbers, recognised from the whole file.

Days are rewritten as 2026-11-16, and numbers with a decimal point and without thousands separators, before the
readers of ``cells`` see them. A cell that fits no convention stays as it is, and these refuse it with its line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import day_of, is_ambiguous
from driftmdp.inventory.xlsx_cells import ExactNumber
from driftmdp.validation import one_of

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
UTF_8 = "UTF-8"
_MARKS = {b"\xff\xfe": ("utf-16-le", "UTF-16"), b"\xfe\xff": ("utf-16-be", "UTF-16")}  # a file's first bytes
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line, as Excel writes and reads it
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TIME = r"(?:[T ]\s*\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s*[AaPp][Mm])?(?:Z|[+-]\d\d:?\d\d)?)?"
_PARTS = {
    "dd": r"(?P<day>\d{1,2})",
    "mm": r"(?P<month>\d{1,2})",
    "yyyy": r"(?P<year>\d{4})",
    "yy": r"(?P<year>\d\d)",
}
YEAR_FIRST = "yyyy-mm-dd"
DATE_FORMATS = (
    *(YEAR_FIRST, "dd.mm.yyyy", "dd.mm.yy", "dd/mm/yyyy", "mm/dd/yyyy", "yyyy/mm/dd", "dd-mm-yyyy", "mm-dd-yyyy"),
)
DATE_COLUMNS = "date", "ordered_on", "expected"
DECIMALS = "comma", "point"
NUMBER_COLUMNS = {
    *("units", "stock", "ordered", "pack", "capacity", "fixed_cost", "unit_cost", "lost_sale", "holding"),
    *("minimum", "lead_time", "service", "factor", "price", "shelf_life", "waste"),
    *("order_cost", "minimum_units", "minimum_value"),
}
_SPACES = " \u00a0\u2009\u202f'\u2019"  # that part thousands, as do apostrophes


def _date_form(name: str) -> re.Pattern[str]:
    written = re.sub("dd|mm|yyyy|yy", lambda part: _PARTS[part[0]], name.replace(".", r"\."))
    return re.compile(f"{written}{_TIME}", re.ASCII)


def _number_form(decimal: str, thousands: str) -> re.Pattern[str]:
    grouped = rf"[1-9]\d{{0,2}}([{thousands}{_SPACES}])\d{{3}}(?:\3\d{{3}})*"
    return re.compile(rf"([+-]?)(\d+|{grouped})(?:[{decimal}](\d+))?", re.ASCII)


_DATE_FORMS = {name: _date_form(name) for name in DATE_FORMATS}
_NUMBER_FORMS = {"comma": _number_form(",", "."), "point": _number_form(".", ",")}


class Conventions(NamedTuple):
    """How a file is written, where that is known. None is recognised from the file.

    Attributes
    ----------
    date_format
        One of ``DATE_FORMATS``, such as ``dd/mm/yyyy``.
    decimal
        ``comma`` or ``point``.
    has_option
        Whether the options --date-format and --decimal are about this file.
    """

    date_format: str | None = None
    decimal: str | None = None
    has_option: bool = True

    def check(self) -> None:
        """Refuse what is not known."""
        if self.date_format is not None:
            one_of(self.date_format, "date_format", DATE_FORMATS)
        if self.decimal is not None:
            one_of(self.decimal, "decimal", DECIMALS)


# ---- text


def decoded(path: Path, content: bytes) -> tuple[str, str]:
    """Return a file's text, and the name of its encoding: UTF-8, UTF-16 or else cp1252."""
    codec, name = _MARKS.get(content[:2], (_codec_without_mark(content), "UTF-16"))
    try:
        if codec is not None:
            return content.decode(codec).lstrip("\ufeff"), name
        return content.decode("utf-8-sig"), UTF_8
    except UnicodeDecodeError as error:
        encoding, line = name if codec else UTF_8, 1 + content.count(b"\n", 0, error.start)
    text = None if codec or _is_mostly_utf_8(content) else _as_cp1252(content)
    if text is None:
        advice = "Save it as 'CSV UTF-8' from the spreadsheet."
        raise InvalidInputError(f"{path} must be {encoding} text; line {line} is not. {advice}")
    return text, "cp1252"


def _codec_without_mark(content: bytes) -> str | None:
    """Return the codec of UTF-16 that begins with two Latin letters: each has a zero byte beside it."""
    zeros = [byte == 0 for byte in content[:4]]
    forms = {(False, True, False, True): "utf-16-le", (True, False, True, False): "utf-16-be"}
    return forms.get((*zeros,))  # type: ignore[arg-type]  # a shorter file has no form


def _is_mostly_utf_8(content: bytes) -> bool:
    """Return whether a text that is not UTF-8 looks like it but for a few bytes. As cp1252 it would be garbled."""
    good = sum(not c.isascii() for c in content.decode(errors="ignore"))
    bad = content.decode(errors="replace").count("\ufffd")
    return good > 0 and good >= bad


def _as_cp1252(content: bytes) -> str | None:
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:  # five bytes stand for nothing
        return None


def is_text(text: str, encoding: str) -> bool:
    """Return whether a decoded file is text. Any bytes can be cp1252, so that no control character may be there."""
    return "\0" not in text and (encoding == UTF_8 or _NO_TEXT.search(text) is None)


def is_separator_line(line: str) -> bool:
    """Return whether a line only says what separates columns, as ``sep=;`` does."""
    return line.strip(' "').lower().startswith("sep=")


def separator_of(text: str) -> str:
    """Return what separates the columns of a table: what its first line says, or has most outside of quotes."""
    header = text.lstrip().splitlines()[0]
    said = _SEPARATOR_LINE.fullmatch(header.strip(" "))
    if said and said[1] in SEPARATORS:
        return said[1]
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", header).count)


# ---- cells


def is_day(text: str) -> bool:
    """Return whether a cell holds a day in some form.

    Examples
    --------
    >>> from driftmdp.inventory.file_conventions import is_day
    >>> is_day("16.11.2026"), is_day("2026-11-16 12:00"), is_day("31.11.2026"), is_day("5")
    (True, True, False, False)
    """
    return day_of(text.strip()) is not None or any(_days_of([text], name) for name in DATE_FORMATS)


class PlainCells(NamedTuple):
    """Columns with plain days and numbers.

    Attributes
    ----------
    columns
        By our names.
    how
        How they were written, unless plainly: parts of a sentence.
    date_format
        How days were written, unless plainly.
    """

    columns: dict[str, list[str]]
    how: list[str]
    date_format: str | None


def with_plain_cells(
    path: Path, lines: Sequence[int], columns: Mapping[str, list[str]], given: Conventions
) -> PlainCells:
    """Return columns with plain days and numbers, and how they were written, unless plainly."""
    found, how, date_format = dict(columns), list[str](), given.date_format
    dates = [name for name in DATE_COLUMNS if name in columns]
    if dates:
        cells = [text for name in dates for text in columns[name]]
        days, recognised = _plain_days(path, [*lines] * len(dates), cells, given)
        date_format = recognised or date_format
        found |= {name: _replaced(columns[name], days) for name in dates}
        how += [f"dates as {date_format}"] if days else []
    names = [name for name in columns if name in NUMBER_COLUMNS or name.startswith(("coming", "left_"))]
    texts = {text for name in names for text in columns[name]}
    exact = {text for text in texts if isinstance(text, ExactNumber)}
    numbers, decimal = _plain_numbers(texts - exact, given.decimal)
    clear = {text: f"{text}0" for text in exact if is_ambiguous(text)}  # three decimals look like thousands
    for name in names:
        found[name] = _replaced(columns[name], clear | numbers)
    marks = {"comma": "decimal commas", "point": "decimal points", None: "thousands set apart"}
    return PlainCells(found, how + ([marks[decimal]] if numbers else []), date_format)


def _replaced(cells: list[str], plain: Mapping[str, str]) -> list[str]:
    return [plain.get(text, text) for text in cells] if plain else cells


def _plain_days(
    path: Path, lines: Sequence[int], cells: list[str], given: Conventions
) -> tuple[dict[str, str], str | None]:
    """Return the plain form of cells with other days, and their format: the one that fits most of them."""
    odd = [text for text in dict.fromkeys(cells) if text.strip() and day_of(text.strip()) is None]
    formats = DATE_FORMATS if given.date_format is None else (given.date_format,)
    days = {name: _days_of(odd, name) for name in formats} if odd else {}
    most = max(map(len, days.values()), default=0)
    best = [name for name in days if len(days[name]) == most > 0]
    for text in odd:
        readings = {name: days[name][text] for name in best if text in days[name]}
        if len({*readings.values()}) > 1:
            place = f"line {lines[cells.index(text)]}"
            either = " or ".join(readings.values())
            options = " or ".join(f"--date-format {name}" for name in readings)
            how = f"Say which: {options}." if given.has_option else "Write days as yyyy-mm-dd."
            rule = f"{path} must have days with one meaning"
            raise InvalidInputError(f"{rule}; {text.strip()!r} on {place} may be {either}. {how}")
    return (days[best[0]], best[0]) if best else ({}, None)


def _days_of(texts: Iterable[str], date_format: str) -> dict[str, str]:
    """Return the plain form of each text that is a day in a format."""
    found = {}
    for text in texts:
        written = _DATE_FORMS[date_format].fullmatch(text.strip())
        if written:
            year, month, day = (int(written[part]) for part in ("year", "month", "day"))
            year += 0 if len(written["year"]) == 4 else 2000 if year < 70 else 1900
            try:
                found[text] = date(year, month, day).isoformat()
            except ValueError:  # such as a 13th month
                continue
    return found


def _plain_numbers(texts: Iterable[str], decimal: str | None) -> tuple[dict[str, str], str | None]:
    """Return the plain form of numbers that are written otherwise, and their decimal sign if it matters.

    One number that has only one meaning decides for all. Without one, or if two contradict each other, only
    numbers that mean the same in both ways are rewritten.
    """
    odd = [text for text in texts if not (text.isascii() and text.isdigit())]
    by_sign = {sign: {text: _plain_number(text.strip(), sign) for text in odd} for sign in DECIMALS}
    if decimal is None:
        decisive = {
            sign
            for text in odd
            for sign, other in (DECIMALS, DECIMALS[::-1])
            if by_sign[sign][text] and not by_sign[other][text] and not is_ambiguous(text.strip())
        }
        decimal = decisive.pop() if len(decisive) == 1 else None
    if decimal is None:
        comma, point = (by_sign[sign] for sign in DECIMALS)
        found = {text: plain for text, plain in comma.items() if plain == point[text]}
    else:
        found = by_sign[decimal]
    return {text: plain for text, plain in found.items() if plain and plain != text.strip()}, decimal


def _plain_number(text: str, decimal: str) -> str | None:
    """Return a number with a decimal point only, or None if it is none with this decimal sign."""
    written = _NUMBER_FORMS[decimal].fullmatch(text)
    if written is None:
        return None
    fraction = f".{written[4]}" if written[4] else ""
    plain = written[1] + re.sub(r"\D", "", written[2]) + fraction
    return f"{plain}0" if is_ambiguous(plain) else plain  # three decimals look like thousands
