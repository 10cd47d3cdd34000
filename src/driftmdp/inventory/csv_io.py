"""CSV tables: read with line numbers, and written so that no name acts as a formula.

A spreadsheet takes a text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula. Such a name is written with
an apostrophe before it, the spreadsheet's own mark for text, and read without it.
"""

import contextlib
import csv
import io
import os
import re
import select
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.files import open_without_waiting
from driftmdp.validation import nearest_name

_HARMFUL = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")
_MIDNIGHT = r"(?:[T ]00:00(?::00(?:\.0+)?)?)?"  # as spreadsheets write a date
_DAY = re.compile(rf"(\d{{4}}-\d\d-\d\d){_MIDNIGHT}", re.ASCII)
_AMBIGUOUS = re.compile(r"[+-]?(?!0+\D)\d{1,3}[.,]\d{3}")  # 1.000 is a thousand to some, and one to others
MAX_FAULTS_SHOWN = 10  # in one message
LINES_TO_GROUP = 4  # with the same fault, from which on they share one text
LONGEST_NAME = 200
LARGEST_FILE = 1 << 30  # bytes
PIPE_TIMEOUT_SECONDS = 5.0  # to wait for a writer of a named pipe
YEARS = range(1970, 2200)  # others are mistakes, such as a spreadsheet's day 0
SALES_COLUMNS = "date", "sku", "units"
DAY_FORM = f"year-month-day, such as 2026-11-16, from {YEARS[0]} to {YEARS[-1]}"


class Row(NamedTuple):
    """A line of a table: its number, and the text of each column that was asked for and is there."""

    line: int
    cells: Mapping[str, str]


@dataclass
class LineErrors:
    """What is wrong in a file, line by line. The methods that read a cell note what is wrong with it."""

    where: str
    found: list[tuple[int, str]] = field(default_factory=list)
    tip: str = ""

    def add(self, line: int, what: str) -> None:
        """Note what is wrong on a line."""
        self.found.append((line, what))

    def sku_of(self, row: Row) -> str | None:
        """Return the name of a line's item."""
        sku = name_from_cell(row.cells["sku"])
        if not is_name(sku):
            self.add(row.line, f"sku must be a name of 1 to {LONGEST_NAME} characters; got {sku[:40]!r}")
            return None
        return sku

    def date_of(self, row: Row) -> date | None:
        """Return the date of a line."""
        text = row.cells["date"]
        day = day_of(text)
        if day is None:
            self.add(row.line, f"date must be {DAY_FORM}; got {text[:40]!r}")
            self.tip = "In a spreadsheet, format the column as yyyy-mm-dd. "
        return day

    def count_of(self, row: Row, column: str, minimum: int | None = 0, maximum: int | None = None) -> int | None:
        """Return a whole number within bounds, or None."""
        text = row.cells[column]
        try:
            number = _whole_number(text)
            if minimum is not None and number < minimum:
                rule = "not be negative" if minimum == 0 else f"be at least {minimum}"
                raise ValueError(f"{rule}; got {text}")
            if maximum is not None and number > maximum:
                raise ValueError(f"be at most {maximum}; got {number}")
        except ValueError as error:
            self.add(row.line, f"{column} must {error}")
            return None
        return number

    def optional_counts(self, row: Row, maximum: int | None, **minima: int) -> dict[str, int | None]:
        """Return whole numbers of columns that may be missing or empty, by column."""
        there = {column: least for column, least in minima.items() if row.cells.get(column)}
        found = {column: self.count_of(row, column, least, maximum) for column, least in there.items()}
        return dict.fromkeys(minima) | found

    @property
    def texts(self) -> list[str]:
        """What was found, with line numbers."""
        return [f"line {line}: {what}" for line, what in self.found]

    def raise_if_any(self, advice: str) -> None:
        """Raise one error with all that was found."""
        if self.found:
            faults = listed(list(self._grouped()), MAX_FAULTS_SHOWN)
            lines = counted(len({line for line, _ in self.found}), "line")
            raise InvalidInputError(f"{self.where} has {lines} that cannot be used: {faults}. {self.tip}{advice}")

    def _grouped(self) -> Iterator[str]:
        """Yield a text per fault. Many lines with the same fault share one, with the value of the first."""
        groups: dict[str, list[tuple[int, str]]] = {}
        for line, what in sorted(self.found):
            groups.setdefault(what.partition("; got")[0], []).append((line, what))
        for group in groups.values():
            if len(group) < LINES_TO_GROUP:
                yield from (f"line {line}: {what}" for line, what in group)
            else:
                lines = listed([str(line) for line, _ in group], LINES_TO_GROUP - 1, ", ")
                yield f"lines {lines}: {group[0][1]}"


def read_rows(
    path: Path,
    wanted: Sequence[str],
    optional: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    hint: str = "",
) -> Iterator[Row]:
    """Yield the lines of a CSV file. Columns are found by name, in any order, and others are ignored.

    Parameters
    ----------
    path
        The file or pipe: UTF-8, columns separated by commas, semicolons or tabs, a header first.
    wanted, optional
        Columns that must be there, and that may.
    names
        What a column is called in this file, if not by its own name.
    hint
        What else to do if the column date is missing.
    """
    text = _read_text(path)
    header = text.lstrip().splitlines()[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [name.strip() for name in next((cells for cells in reader if "".join(cells).strip()), [])]
        places, missing = _places(path, columns, wanted, optional, names or {})
        if missing:
            raise InvalidInputError(_missing_columns(path, columns, missing, places, hint))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(columns):
                    rule = f"{path}, line {reader.line_num}, must have {len(columns)} columns, as the header has"
                    advice = "Put quotes around names that contain a separator."
                    raise InvalidInputError(f"{rule}; it has {len(cells)}. {advice}")
                yield Row(reader.line_num, {name: cells[place].strip() for name, place in places.items()})
    except csv.Error as error:
        raise InvalidInputError(f"{path} must be a CSV file; line {reader.line_num}: {error}.") from None


def _read_text(path: Path) -> str:
    try:
        content = _read_once(path)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InvalidInputError(f"{path} must be a CSV file that can be read; {reason}.") from None
    if content.startswith(b"SQLite format 3"):
        raise InvalidInputError(f"{path} must be a CSV file; it is a database. The database comes first.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        advice = "Save it as 'CSV UTF-8' from the spreadsheet."
        raise InvalidInputError(f"{path} must be UTF-8 text; line {line} is not. {advice}") from None
    if "\0" in text:
        raise InvalidInputError(f"{path} must be a CSV file; it is not text. Export it as CSV first.")
    if not text.strip():
        raise InvalidInputError(f"{path} must have a header and lines below it; it is empty.")
    return text


def _read_once(path: Path) -> bytes:
    """Return the content of a file or pipe. A pipe can be read only once."""
    with open(path, "rb", opener=open_without_waiting) as file:
        about = os.fstat(file.fileno())
        if stat.S_ISFIFO(about.st_mode):
            content = _read_pipe(file.fileno())
        elif stat.S_ISREG(about.st_mode):
            content = file.read() if about.st_size <= LARGEST_FILE else None
        else:
            raise InvalidInputError(f"{path} must be a CSV file or a pipe; it is a device.")
    if content is None:
        rule = f"{path} must have at most {LARGEST_FILE >> 20} MB"
        raise InvalidInputError(f"{rule}; it has more. Split it, and use part after part.")
    return content


def _read_pipe(descriptor: int) -> bytes | None:
    """Return a pipe's content up to its last writer's end. None means that it is too much."""
    waiting, content = select.poll(), bytearray()
    waiting.register(descriptor, select.POLLIN)
    while len(content) <= LARGEST_FILE:
        waiting.poll(1000 * PIPE_TIMEOUT_SECONDS)
        try:
            part = os.read(descriptor, 1 << 20)
        except BlockingIOError:  # a writer has it open, and wrote nothing yet
            continue
        if not part:
            return bytes(content)
        content += part
    return None


def _places(
    path: Path, columns: list[str], wanted: Sequence[str], optional: Sequence[str], names: Mapping[str, str]
) -> tuple[dict[str, int], dict[str, str]]:
    """Return the place of each column, and the names of missing ones in this file."""
    asked = *wanted, *optional
    for name, called in names.items():
        if name not in asked:
            is_swapped = called in asked and name in columns
            tip = f" Our name comes first: --column {called}={name}." if is_swapped else ""
            columns_here = ", ".join(asked)
            raise InvalidInputError(f"There is no column {name!r} to rename here; there are {columns_here}.{tip}")
    found: dict[str, int] = {}
    missing: dict[str, str] = {}
    for name in asked:
        called = names.get(name, name)
        matches = [place for place, column in enumerate(columns) if column == called]
        matches = matches or [place for place, column in enumerate(columns) if column.lower() == called.lower()]
        if len(matches) > 1:
            raise InvalidInputError(f"{path} must have one column {called!r}; it has {len(matches)}.")
        if matches:
            found[name] = matches[0]
        elif name in wanted or name in names:
            missing[name] = called
    return found, missing


def _missing_columns(
    path: Path, columns: list[str], missing: Mapping[str, str], places: Mapping[str, int], hint: str
) -> str:
    """Return the error for missing columns."""
    free = [column for place, column in enumerate(columns) if place not in places.values()]
    a_column = "the columns" if len(missing) > 1 else "a column"
    called = ", ".join(map(repr, missing.values()))
    error = f"{path} must have {a_column} {called}; its columns are {listed(columns, MAX_FAULTS_SHOWN, ', ')}."
    is_sales_file = {column.lower() for column in columns} >= set(SALES_COLUMNS)
    if is_sales_file and "stock" in missing and "units" not in places:
        return f"{error} It looks like a file for `record`."
    it_is = "they are" if len(missing) > 1 else "it is"
    near = nearest_name(next(iter(missing.values())), free) if len(missing) == 1 else ""
    options = " ".join(f"--column {name}=NAME" for name in missing)
    return f"{error}{near} Say what {it_is} called there: {options}.{hint if 'date' in missing else ''}"


def name_from_cell(text: str) -> str:
    """Return the name that a cell holds.

    Examples
    --------
    >>> from driftmdp.inventory.csv_io import name_from_cell
    >>> name_from_cell("'=cmd"), name_from_cell("=cmd"), name_from_cell("it's")
    ('=cmd', '=cmd', "it's")
    """
    return text[1:] if _MARKED.match(text) else text


def name_to_cell(name: str) -> str:
    """Return a name as a cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> from driftmdp.inventory.csv_io import name_to_cell
    >>> name_to_cell("=cmd"), name_to_cell("85123A")
    ("'=cmd", '85123A')
    """
    return f"'{name}" if _HARMFUL.match(name) else name


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV. Texts that a spreadsheet would take for formulas are marked."""
    return "".join(_csv_line(row) for row in (header, *rows))


def _csv_line(row: Sequence[Any]) -> str:
    """Return a line that ends with LF. It is made with CR LF, so that a cell with either character is quoted."""
    out = io.StringIO(newline="")
    cells = [name_to_cell(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return f"{out.getvalue()[:-2]}\n"


def is_name(sku: Any) -> bool:
    """Return whether a value can be an item's name: short, printable but for line breaks, and safe in a cell."""
    if not isinstance(sku, str) or not 1 <= len(sku) <= LONGEST_NAME:
        return False
    if name_from_cell(name_to_cell(sku).strip()) != sku:  # spaces around it would be lost
        return False
    return not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\r\n" for c in sku)


def day_of(text: str) -> date | None:
    """Return a day that is written 2026-11-16, or None.

    Examples
    --------
    >>> from driftmdp.inventory.csv_io import day_of
    >>> day_of("2026-11-16"), day_of("2026-11-16 00:00:00"), day_of("20261116"), day_of("9999-12-31")
    (datetime.date(2026, 11, 16), datetime.date(2026, 11, 16), None, None)
    """
    written = _DAY.fullmatch(text)
    try:
        day = date.fromisoformat(written[1]) if written else None
    except ValueError:  # such as a 30th of February
        return None
    return day if day is not None and day.year in YEARS else None


def is_ambiguous(text: str) -> bool:
    """Return whether a number may mean a thousand times another, as 1.000 does."""
    return _AMBIGUOUS.fullmatch(text) is not None


def _whole_number(text: str) -> int:
    if is_ambiguous(text):
        plain = re.sub("[.,]", "", text)
        raise ValueError(f"be a whole number without a point or comma; got {text!r}, which may mean {plain}")
    with contextlib.suppress(ValueError, OverflowError):
        number = int(text) if re.fullmatch(r"[+-]?\d{1,12}", text) else float(text)
        if number == int(number) and abs(number) < 1e12 and "_" not in text:  # Python would accept 1_000
            return int(number)
    raise ValueError(f"be a whole number; got {text[:40]!r}")
