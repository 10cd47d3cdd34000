"""Tables as they stand in a file: the header that fits, and the rows below it, each cell as text."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.column_names import ColumnSearch
from driftmdp.inventory.erp_exports import ErpExport
from driftmdp.inventory.file_conventions import SEPARATORS, UTF_8, decoded, is_text, separator_of
from driftmdp.inventory.xlsx_parts import SheetRows
from driftmdp.inventory.xlsx_reader import Workbook, cell_name

MOST_HEADER_ROWS = 20  # filled rows of a sheet among which its header is
MAX_CELLS_SHOWN = 5


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
    ) -> "TableSearch":
        """Find the columns, or raise an error that says what is missing and what to do."""
        export = ErpExport.find(columns, wanted, optional)
        known = {} if export is None else export.names
        search = ColumnSearch(path, columns, wanted, optional, {**known, **names}, hint, has_option)
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

# ---- text


def read_text(path: Path, content: bytes, search: Search) -> tuple[TableSearch, RawTable]:
    """Read a CSV file, however it is encoded and separated."""
    text, encoding = decoded(path, content)
    if not is_text(text, encoding):
        raise InvalidInputError(f"{path} must be a CSV file; it is not text. Export it as CSV first.")
    if not text.strip():
        raise InvalidInputError(f"{path} must have a header and lines below it; it is empty.")
    separator = separator_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = _header(reader)
        found = search(columns)
        lines, rows = _read_rows(path, reader, len(columns))
    except csv.Error as error:
        raise InvalidInputError(f"{path} must be a CSV file; line {reader.line_num}: {error}.") from None
    how = [f"as {encoding}"] if encoding != UTF_8 else []
    how += [f"separated by {SEPARATORS[separator]}"] if separator != "," else []
    return found, RawTable(columns, lines, rows, how)


def _header(reader: Iterator[list[str]]) -> list[str]:
    """Return the first row that has a name. A line such as ``sep=;`` is not the header."""
    for cells in reader:
        if "".join(cells).strip() and not cells[0].lower().startswith("sep="):
            return [name.strip() for name in cells]
    return []


def _read_rows(path: Path, reader: Any, width: int) -> tuple[list[int], list[list[str]]]:
    """Return the rows below the header, with the numbers of their last lines."""
    lines, rows = list[int](), list[list[str]]()
    for cells in reader:
        if len(cells) == width:
            rows.append(cells)
            lines.append(reader.line_num)
        elif any(cell.strip() for cell in cells):
            rule = f"{path}, line {reader.line_num}, must have {width} columns, as the header has"
            advice = "Put quotes around names that contain a separator."
            raise InvalidInputError(f"{rule}; it has {len(cells)}. {advice}")
    return lines, rows


# ---- workbooks


@dataclass(frozen=True)
class _Header:
    """A row of a sheet that may be the header, and where its columns were found, if it is."""

    sheet: str
    row: int
    columns: dict[int, str]
    found: TableSearch | None
    error: InvalidInputError | None


def read_workbook(path: Path, content: bytes, search: Search) -> tuple[TableSearch, RawTable]:
    """Read the first sheet of a workbook that has the columns, below its header."""
    book = Workbook(path, content)
    headers = [header for sheet in book.sheets if (header := _best_header(book, sheet, search))]
    if not headers:
        raise InvalidInputError(f"{path} must have a header and lines below it; its sheets are empty.")
    used = next((header for header in headers if header.found), headers[0])
    if used.found is None:
        raise used.error or InvalidInputError(f"{path} must have a header.")
    lines, rows = _rows_below(path, used, book.rows(used.sheet, columns=used.columns), used.found)
    how = [f"from its sheet {used.sheet!r}"] if len(headers) > 1 else []
    how += [f"with its header in row {used.row}"] if used.row > 1 else []
    alike = [repr(header.sheet) for header in headers if header.found and header is not used]
    others = listed(alike, MAX_CELLS_SHOWN, ", ")
    also = f"Only the sheet {used.sheet!r} of {path.name} is read. Others have such columns too: {others}."
    return used.found, RawTable(list(used.columns.values()), lines, rows, how, (also,) if alike else ())


def _best_header(book: Workbook, sheet: str, search: Search) -> _Header | None:
    """Return the first row that has the columns, or else the first one that holds two texts, with what it lacks."""
    first: _Header | None = None
    for row, cells in _first_rows(book, sheet):
        columns = {place: text.strip() for place, text in sorted(cells.items()) if text.strip()}
        try:
            return _Header(sheet, row, columns, search(list(columns.values())), None)
        except InvalidInputError as error:
            if first is None or (len(first.columns) < 2 <= len(columns)):
                first = _Header(sheet, row, columns, None, error)
    return first


def _first_rows(book: Workbook, sheet: str) -> list[tuple[int, dict[int, str]]]:
    """Return the first filled rows of a sheet. A sheet is read to its end only if there are few."""
    for last in (10 * MOST_HEADER_ROWS, None):
        found = book.rows(sheet) if last is None else book.rows(sheet, last)
        if found.rows or not found.has_more:
            break
    return sorted(found.rows.items())[:MOST_HEADER_ROWS]


def _rows_below(
    path: Path, header: _Header, found: SheetRows, search: TableSearch
) -> tuple[list[int], list[list[str]]]:
    """Return the rows below a header. Used cells that have no value are refused."""
    names = list(header.columns)
    used = {names[place] for place in search.places.values()}
    faults = [
        f"{cell_name(*place)} {what}"
        for place, what in sorted(found.faults.items())
        if place[0] > header.row and place[1] in used
    ]
    if faults:
        rule = f"{path} must have a value in every cell that is used"
        advice = "Open it in the spreadsheet, correct it and save it, then try again; nothing was done."
        raise InvalidInputError(f"{rule}; in {header.sheet!r}, {listed(faults, MAX_CELLS_SHOWN)}. {advice}")
    lines = sorted(row for row in found.rows if row > header.row)
    return lines, [[found.rows[row].get(place, "") for place in names] for row in lines]
