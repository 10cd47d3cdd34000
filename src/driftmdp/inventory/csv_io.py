"""CSV tables: read as columns with line numbers, and written so that no name acts as a formula."""

import csv
import functools
import io
import os
import re
import select
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.files import open_without_waiting
from driftmdp.inventory.cells import name_to_cell
from driftmdp.validation import nearest_name

MAX_FAULTS_SHOWN = 10  # in one message
LINES_TO_GROUP = 4  # with the same fault, from which on they share one text
LARGEST_FILE = 1 << 30  # bytes
PIPE_TIMEOUT_SECONDS = 5.0  # to wait for a writer of a named pipe
SALES_COLUMNS = "date", "sku", "units"

Value = TypeVar("Value")


@dataclass(frozen=True)
class CsvTable:
    """A CSV file as columns of text.

    Attributes
    ----------
    path
        The file.
    lines
        The number of each row's last line.
    columns
        The cells of each column that was asked for and is there.
    called
        What each of these is called in the file.
    others
        The names of the columns that were not asked for.
    """

    path: Path
    lines: list[int]
    columns: dict[str, list[str]]
    called: dict[str, str]
    others: list[str]


@dataclass
class LineErrors:
    """What is wrong in a file, line by line. ``read`` reads a column and notes what is wrong with its cells."""

    where: str
    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, what: str) -> None:
        """Note what is wrong on a line."""
        self.found.append((line, what))

    def read(self, table: CsvTable, column: str, parse: Callable[[str], Value]) -> list[Value | None]:
        """Return a column's values, with None where a cell is wrong. Equal cells are read once."""
        cells = table.columns[column]
        values: dict[str, Value | None] = {}
        wrong: dict[str, str] = {}
        for text in dict.fromkeys(cells):
            try:
                values[text] = parse(text.strip())
            except ValueError as error:
                values[text], wrong[text] = None, str(error)
        if wrong:
            for line, text in zip(table.lines, cells, strict=True):
                if text in wrong:
                    self.add(line, f"{table.called[column]} must {wrong[text]}")
        return [values[text] for text in cells]

    def read_optional(
        self, table: CsvTable, column: str, parse: Callable[[str], Value]
    ) -> list[Value | None] | None:
        """Return the values of a column that may be missing, with None for empty cells."""
        if column not in table.columns:
            return None
        return self.read(table, column, lambda text: parse(text) if text else None)

    @property
    def texts(self) -> list[str]:
        """What was found, with line numbers."""
        return [f"line {line}: {what}" for line, what in self.found]

    def raise_if_any(self, advice: str) -> None:
        """Raise one error with all that was found."""
        if self.found:
            faults = listed(list(self._grouped()), MAX_FAULTS_SHOWN)
            lines = counted(len({line for line, _ in self.found}), "line")
            is_day = any(what.startswith("date must be year") for _, what in self.found)
            tip = "In a spreadsheet, format the column as yyyy-mm-dd. " if is_day else ""
            raise InvalidInputError(f"{self.where} has {lines} that cannot be used: {faults}. {tip}{advice}")

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


def read_table(
    path: Path,
    wanted: Sequence[str],
    optional: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    hint: str = "",
    aliases: Mapping[str, str] | None = None,
    has_option: bool = True,
) -> CsvTable:
    """Read a CSV file. Columns are found by name, in any order. Capitals, spaces and hyphens do not matter.

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
    aliases
        Other names of optional columns.
    has_option
        Whether --column of the command is about this file.
    """
    how = functools.partial(_how_to_name, hint=hint, has_option=has_option)
    text = _read_text(path)
    header = text.lstrip().splitlines()[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        columns = [name.strip() for name in next((cells for cells in reader if "".join(cells).strip()), [])]
        places = _places(path, columns, wanted, (*optional, *(aliases or {})), names or {}, how)
        for cells in reader:
            if len(cells) == len(columns):
                rows.append(cells)
                lines.append(reader.line_num)
            elif any(cell.strip() for cell in cells):
                rule = f"{path}, line {reader.line_num}, must have {len(columns)} columns, as the header has"
                advice = "Put quotes around names that contain a separator."
                raise InvalidInputError(f"{rule}; it has {len(cells)}. {advice}")
    except csv.Error as error:
        raise InvalidInputError(f"{path} must be a CSV file; line {reader.line_num}: {error}.") from None
    lines, rows = _without_empty(lines, rows)
    found = list(zip(*rows, strict=True)) or [()] * len(columns)
    others = [name for place, name in enumerate(columns) if place not in places.values()]
    named = _without_aliases(path, places, aliases or {})
    cells_of = {name: list(found[places[there]]) for name, there in named.items()}
    return CsvTable(path, lines, cells_of, {name: columns[places[there]] for name, there in named.items()}, others)


def _without_empty(lines: list[int], rows: list[list[str]]) -> tuple[list[int], list[list[str]]]:
    """Leave out the rows that have only separators."""
    kept = [place for place, cells in enumerate(rows) if any(map(str.strip, cells))]
    if len(kept) == len(rows):
        return lines, rows
    return [lines[place] for place in kept], [rows[place] for place in kept]


def _without_aliases(path: Path, places: Mapping[str, int], aliases: Mapping[str, str]) -> dict[str, str]:
    """Return our own name of each column that is there, and the name by which it was found."""
    named: dict[str, str] = {}
    for found in places:
        name = aliases.get(found, found)
        if name in named:
            raise InvalidInputError(f"{path} must have one column {name!r}; it has {named[name]!r} and {found!r}.")
        named[name] = found
    return named


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
    path: Path,
    columns: list[str],
    wanted: Sequence[str],
    optional: Sequence[str],
    names: Mapping[str, str],
    how: Callable[[Mapping[str, str]], str],
) -> dict[str, int]:
    """Return the place of each column that was asked for and is there. ``how`` says what to do about others."""
    asked = *wanted, *optional
    _check_renamed(columns, asked, names)
    found: dict[str, int] = {}
    missing: dict[str, str] = {}
    for name in asked:
        called = names.get(name, name)
        matches = [place for place, column in enumerate(columns) if column == called]
        matches = matches or [place for place, column in enumerate(columns) if _plain(column) == _plain(called)]
        if len(matches) > 1:
            raise InvalidInputError(f"{path} must have one column {called!r}; it has {len(matches)}.")
        if matches:
            found[name] = matches[0]
        elif name in wanted or name in names:
            missing[name] = called
    if missing:
        raise InvalidInputError(_missing_columns(path, columns, missing, found, how))
    return found


def _plain(name: str) -> str:
    """Return a column's name without capitals and what joins its words: ``In stock`` is ``in_stock``."""
    return re.sub(r"[\s_-]+", "", name.lower())


def _check_renamed(columns: list[str], asked: Sequence[str], names: Mapping[str, str]) -> None:
    """Refuse a name for a column that is not read."""
    for name, called in names.items():
        if name not in asked:
            is_swapped = called in asked and name in columns
            tip = f" Our name comes first: --column {called}={name}." if is_swapped else ""
            here = listed(list(asked), MAX_FAULTS_SHOWN, ", ")
            raise InvalidInputError(f"There is no column {name!r} to rename here; there are {here}.{tip}")


def _missing_columns(
    path: Path,
    columns: list[str],
    missing: Mapping[str, str],
    places: Mapping[str, int],
    how: Callable[[Mapping[str, str]], str],
) -> str:
    """Return the error for missing columns."""
    free = [column for place, column in enumerate(columns) if place not in places.values()]
    a_column = "the columns" if len(missing) > 1 else "a column"
    called = ", ".join(map(repr, missing.values()))
    error = f"{path} must have {a_column} {called}; its columns are {listed(columns, MAX_FAULTS_SHOWN, ', ')}."
    is_sales_file = {column.lower() for column in columns} >= set(SALES_COLUMNS)
    if is_sales_file and "stock" in missing and "units" not in places:
        return f"{error} It looks like a file for `record`."
    near = nearest_name(next(iter(missing.values())), free) if len(missing) == 1 else ""
    return f"{error}{near} {how(missing)}"


def _how_to_name(missing: Mapping[str, str], hint: str, has_option: bool) -> str:
    """Return what to do about missing columns."""
    it_is = "they are" if len(missing) > 1 else "it is"
    if not has_option and "group" not in missing:
        return f"Name {'them' if len(missing) > 1 else 'it'} so in the header."
    options = " ".join("--group NAME" if name == "group" else f"--column {name}=NAME" for name in missing)
    return f"Say what {it_is} called there: {options}.{hint if 'date' in missing else ''}"


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV. Texts that a spreadsheet would take for formulas are marked."""
    return "".join(_csv_line(row) for row in (header, *rows))


def _csv_line(row: Sequence[Any]) -> str:
    """Return a line that ends with LF. It is made with CR LF, so that a cell with either character is quoted."""
    out = io.StringIO(newline="")
    cells = [name_to_cell(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return f"{out.getvalue()[:-2]}\n"
