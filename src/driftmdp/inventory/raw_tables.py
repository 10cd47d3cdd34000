"""Tables as they stand in a file: the header that fits, and the rows below it, each cell as text."""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.column_names import ColumnSearch, plain_name
from driftmdp.inventory.erp_exports import ErpExport
from driftmdp.inventory.file_conventions import SEPARATORS, UTF_8, decoded, is_separator_line, is_text, separator_of
from driftmdp.inventory.xlsx_parts import SheetRows
from driftmdp.inventory.xlsx_reader import Workbook, cell_name

MOST_HEADER_ROWS = 20  # filled rows of a sheet or text among which its header is
MAX_CELLS_SHOWN = 5
NOTHING = f' "\r\n{"".join(SEPARATORS)}'  # what an empty row has


@dataclass(frozen=True)
class RawTable:
    """A file's table.

    Attributes
    ----------
    columns
        What the header calls them.
    lines, rows
        The rows below the header, and the number of each one's last line.
    how
        How the file is written, unless plainly: parts of a sentence.
    remarks
        What else is to be said: a sentence each.
    """

    columns: list[str]
    lines: list[int]
    rows: list[list[str]]
    how: list[str] = field(default_factory=list)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSearch:
    """Where the columns of a header are, and the program that exported it, if known."""

    columns: list[str]
    places: dict[str, int]
    remarks: tuple[str, ...]
    export: ErpExport | None

    @classmethod
    def of(
        cls,
        path: Path,
        columns: list[str],
        wanted: Sequence[str],
        optional: Sequence[str],
        names: Mapping[str, str],
        hint: str,
        has_option: bool,
        ignored: Collection[str] = (),
    ) -> "TableSearch":
        """Find the columns but for ignored ones, or raise an error that says what is missing and what to do."""
        export = ErpExport.find(columns, wanted, optional)
        known = {} if export is None else export.names
        taken = {plain_name(name) for name in known.values()}  # a column of an export is not two of ours
        optional = [name for name in optional if name in (*known, *names) or plain_name(name) not in taken]
        search = ColumnSearch(path, columns, wanted, optional, {**known, **names}, hint, has_option, ignored)
        search.run()
        said = () if export is None else (export.sentence(path, columns, search.places),)
        return cls(columns, search.places, (*said, *search.remarks), export)

    @property
    def is_added_up(self) -> bool:
        """Whether several lines of an item and day belong together."""
        return self.export is not None

    def cleaned(self, lines: list[int], rows: list[list[str]]) -> tuple[list[int], list[list[str]], list[str]]:
        """Return the lines that count, as plain ones, and what was left out."""
        return (
            (lines, rows, [])
            if self.export is None
            else self.export.cleaned(self.columns, self.places, lines, rows)
        )


Search = Callable[[list[str]], TableSearch]
Place = TypeVar("Place")

# ---- headers


@dataclass(frozen=True)
class _Header(Generic[Place]):
    """A row that may be the header, and where its columns were found, if it is."""

    place: Place
    columns: list[str]
    found: TableSearch | None
    error: InvalidInputError | None


def _best_header(rows: Iterable[tuple[Place, list[str]]], search: Search) -> _Header[Place] | None:
    """Return the first row that has the columns, or else the first one that holds two texts, with what it lacks."""
    first: _Header[Place] | None = None
    for place, columns in rows:
        try:
            return _Header(place, columns, search(columns), None)
        except InvalidInputError as error:
            if first is None or (_texts(first.columns) < 2 <= _texts(columns)):
                first = _Header(place, columns, None, error)
    return first


def _texts(columns: Iterable[str]) -> int:
    return sum(bool(name) for name in columns)


# ---- text


class _Line(NamedTuple):
    """Where a line of text begins, what separates its columns, and whether it is the first one."""

    offset: int
    number: int
    separator: str
    is_first: bool


def read_text(path: Path, content: bytes, search: Search) -> tuple[TableSearch, RawTable]:
    """Read a CSV file, however it is encoded and separated, below its header."""
    text, encoding = decoded(path, content)
    if not is_text(text, encoding):
        raise InvalidInputError(f"{path} must be a CSV file; it is not text. Export it as CSV first.")
    if not text.strip():
        raise InvalidInputError(f"{path} must have a header and lines below it; it is empty.")
    stream = io.StringIO(text, newline="")
    used = _best_header(_text_headers(path, stream), search)
    if used is None or used.found is None:
        raise (used and used.error) or InvalidInputError(f"{path} must have a header and lines below it.")
    table = _TextTable(path, stream, used.place)
    table.header()
    lines, rows = table.rows(len(used.columns))
    separator = used.place.separator
    how = [f"as {encoding}"] if encoding != UTF_8 else []
    how += [f"separated by {SEPARATORS[separator]}"] if separator != "," else []
    how += [] if used.place.is_first else [f"with its header in line {used.place.number}"]
    return used.found, RawTable(used.columns, lines, rows, how)


def _text_headers(path: Path, stream: io.StringIO) -> Iterator[tuple[_Line, list[str]]]:
    """Yield the first filled lines of a text, each as the header of what follows. A broken one is none."""
    said, filled, number = None, 0, 0
    while filled < MOST_HEADER_ROWS:
        offset = stream.tell()
        line = stream.readline()
        if not line:
            return
        number += 1
        if not line.strip(NOTHING):
            continue
        if filled == 0 and is_separator_line(line):
            said = separator_of(line)
            continue
        filled += 1
        after = stream.tell()
        place = _Line(offset, number, said or separator_of(line), filled == 1)
        try:
            yield place, _TextTable(path, stream, place).header()
        except InvalidInputError:
            if place.is_first:
                raise
        stream.seek(after)


class _TextTable:
    """The rows of a text from one of its lines on."""

    def __init__(self, path: Path, stream: io.StringIO, place: _Line) -> None:
        stream.seek(place.offset)
        self._path, self._before = path, place.number - 1
        self._reader = csv.reader(stream, delimiter=place.separator, strict=True)

    def header(self) -> list[str]:
        """Return the first row that has a name."""
        for _, cells in self._numbered():
            if "".join(cells).strip():
                return [name.strip() for name in cells]
        return []

    def rows(self, width: int) -> tuple[list[int], list[list[str]]]:
        """Return the rows below the header, with the numbers of their last lines."""
        lines, rows = list[int](), list[list[str]]()
        for number, cells in self._numbered():
            if len(cells) == width:
                rows.append(cells)
                lines.append(number)
            elif any(cell.strip() for cell in cells):
                rule = f"{self._path}, line {number}, must have {width} columns, as the header has"
                advice = "Put quotes around names that contain a separator."
                raise InvalidInputError(f"{rule}; it has {len(cells)}. {advice}")
        return lines, rows

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        """Yield rows with the numbers of their last lines."""
        try:
            for cells in self._reader:
                yield self._before + self._reader.line_num, cells
        except csv.Error as error:
            line = self._before + self._reader.line_num
            raise InvalidInputError(f"{self._path} must be a CSV file; line {line}: {error}.") from None


# ---- workbooks


class _SheetRow(NamedTuple):
    """A row of a sheet, and its filled cells by column."""

    sheet: str
    number: int
    cells: dict[int, str]


def read_workbook(path: Path, content: bytes, search: Search) -> tuple[TableSearch, RawTable]:
    """Read the first sheet of a workbook that has the columns, below its header."""
    book = Workbook(path, content)
    headers = [header for sheet in book.sheets if (header := _best_header(_sheet_headers(book, sheet), search))]
    if not headers:
        raise InvalidInputError(f"{path} must have a header and lines below it; its sheets are empty.")
    used = next((header for header in headers if header.found), headers[0])
    if used.found is None:
        raise used.error or InvalidInputError(f"{path} must have a header.")
    sheet, number, cells = used.place
    lines, rows = _rows_below(path, used.place, book.rows(sheet, columns=cells), used.found)
    how = [f"from its sheet {sheet!r}"] if len(headers) > 1 else []
    how += [f"with its header in row {number}"] if number > 1 else []
    alike = [repr(header.place.sheet) for header in headers if header.found and header is not used]
    others = listed(alike, MAX_CELLS_SHOWN, ", ")
    also = f"Only the sheet {sheet!r} of {path.name} is read. Others have such columns too: {others}."
    return used.found, RawTable(used.columns, lines, rows, how, (also,) if alike else ())


def _sheet_headers(book: Workbook, sheet: str) -> Iterator[tuple[_SheetRow, list[str]]]:
    """Yield the first filled rows of a sheet."""
    for number, cells in _first_rows(book, sheet):
        columns = {place: text.strip() for place, text in sorted(cells.items()) if text.strip()}
        yield _SheetRow(sheet, number, columns), list(columns.values())


def _first_rows(book: Workbook, sheet: str) -> list[tuple[int, dict[int, str]]]:
    """Return the first filled rows of a sheet. A sheet is read to its end only if there are few."""
    for last in (10 * MOST_HEADER_ROWS, None):
        found = book.rows(sheet) if last is None else book.rows(sheet, last)
        if found.rows or not found.has_more:
            break
    return sorted(found.rows.items())[:MOST_HEADER_ROWS]


def _rows_below(
    path: Path, header: _SheetRow, found: SheetRows, search: TableSearch
) -> tuple[list[int], list[list[str]]]:
    """Return the rows below a header. Used cells that have no value are refused."""
    names = list(header.cells)
    used = {names[place] for place in search.places.values()}
    faults = [
        f"{cell_name(*place)} {what}"
        for place, what in sorted(found.faults.items())
        if place[0] > header.number and place[1] in used
    ]
    if faults:
        rule = f"{path} must have a value in every cell that is used"
        advice = "Open it in the spreadsheet, correct it and save it, then try again; nothing was done."
        raise InvalidInputError(f"{rule}; in {header.sheet!r}, {listed(faults, MAX_CELLS_SHOWN)}. {advice}")
    lines = sorted(row for row in found.rows if row > header.number)
    return lines, [[found.rows[row].get(place, "") for place in names] for row in lines]
