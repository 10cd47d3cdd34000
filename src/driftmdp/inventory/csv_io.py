"""Tables of CSV files and workbooks: read as columns with line numbers. CSV in which no name acts as a formula."""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import DAY_FORM, name_to_cell
from driftmdp.inventory.column_names import SALES_COLUMNS, plain_name
from driftmdp.inventory.file_content import ZIP, read_content
from driftmdp.inventory.file_conventions import YEAR_FIRST, Conventions, with_plain_cells
from driftmdp.inventory.raw_tables import TableSearch, read_text, read_workbook
from driftmdp.inventory.total_line import without_total

__all__ = ["SALES_COLUMNS", "CsvTable", "LineErrors", "csv_text", "read_table"]

MAX_FAULTS_SHOWN = 10  # in one message
LINES_TO_GROUP = 4  # with the same fault, from which on they share one text

Value = TypeVar("Value")


@dataclass(frozen=True)
class CsvTable:
    """A file as columns of text.

    Attributes
    ----------
    path
        The file.
    lines
        The number of each row's last line, or of a sheet's row.
    columns
        The cells of each column that was asked for and is there.
    called
        What each of these is called in the file.
    others
        The names of the columns that were not asked for.
    remarks
        How the file is written, unless plainly, and which columns were guessed: a sentence each.
    has_option
        Whether the command's options --column, --date-format and --decimal are about this file.
    is_added_up
        Whether several lines of an item and day belong together, as they are lines of orders.
    date_format
        How its days are written, unless plainly.
    written
        The cells of columns as the file has them.
    """

    path: Path
    lines: list[int]
    columns: dict[str, list[str]]
    called: dict[str, str]
    others: list[str]
    remarks: tuple[str, ...] = ()
    has_option: bool = True
    is_added_up: bool = False
    date_format: str | None = None
    written: dict[str, list[str]] = field(default_factory=dict)

    def rule(self, column: str, broken: str, text: str, written: str) -> str:
        """Return what a cell must be, in the form that the file has, and what it is there."""
        form = DAY_FORM if self.date_format in (None, YEAR_FIRST) else f"{self.date_format} or {DAY_FORM}"
        must, got, shown = broken.replace(DAY_FORM, form).partition("; got ")
        shown = shown.replace(text.strip()[:40], written.strip()[:40], 1)
        return f"{self.called[column]} must {must}{got}{shown}"


@dataclass
class LineErrors:
    """What is wrong in a file, line by line. ``read`` reads a column and notes what is wrong with its cells."""

    where: str
    found: list[tuple[int, str]] = field(default_factory=list)
    has_option: bool = False

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
            self.has_option = table.has_option
            written = table.written.get(column, cells)
            for line, text, there in zip(table.lines, cells, written, strict=True):
                if text in wrong:
                    self.add(line, table.rule(column, wrong[text], text, there))
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
            raise InvalidInputError(
                f"{self.where} has {lines} that cannot be used: {faults}. {self._tips()}{advice}"
            )

    def _tips(self) -> str:
        """Return what else can be done about days and numbers."""
        is_day = any("must be year-month-day" in what for _, what in self.found)
        is_number = self.has_option and any("which may mean" in what for _, what in self.found)
        tip = "In a spreadsheet, format the column as yyyy-mm-dd. " if is_day else ""
        return tip + ("Or say how numbers are written: --decimal comma or --decimal point. " if is_number else "")

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
    given: Conventions | None = None,
    orders: Collection[str] = (),
) -> CsvTable:
    """Read a CSV file or a workbook. Columns are found by name, in any order, however they are written.

    Parameters
    ----------
    path
        The file or pipe, with a header first. Of a workbook, the first sheet with these columns is read.
    wanted, optional
        Columns that must be there, and that may.
    names
        What a column is called in this file, if not by its own name.
    hint
        What else to do if the column date is missing.
    aliases
        Other names of optional columns.
    given
        How the file is written, as far as that is known.
    orders
        Columns of our own orders that are not read in a file that has them all.
    """
    given = given or Conventions()
    given.check()
    asked = *optional, *(aliases or {})

    def search(columns: list[str]) -> TableSearch:
        ignored = orders if {*orders} <= {plain_name(name) for name in columns} else ()
        used = [name for name in asked if name not in ignored]
        return TableSearch.of(path, columns, wanted, used, names or {}, hint, given.has_option, ignored)

    content = read_content(path)
    read = read_workbook if content.startswith(ZIP) else read_text
    found, raw = read(path, content, search)
    lines, rows = _without_empty(raw.lines, raw.rows)
    lines, rows, left_out = found.cleaned(lines, rows)
    lines, rows, total = without_total(lines, rows, found.places)
    columns, places = raw.columns, found.places
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    others = [name for place, name in enumerate(columns) if place not in places.values()]
    named = _without_aliases(path, places, aliases or {})
    written = {name: list(cells[places[there]]) for name, there in named.items()}
    called = {name: columns[places[there]] for name, there in named.items()}
    plain = with_plain_cells(path, lines, written, given)
    remarks = *_how_read(path, raw.how, plain.how), *raw.remarks, *found.remarks, *left_out, *total
    option, added_up = given.has_option, found.is_added_up
    return CsvTable(
        path, lines, plain.columns, called, others, remarks, option, added_up, plain.date_format, written
    )


def _how_read(path: Path, how: list[str], cells: list[str]) -> Iterator[str]:
    """Yield a sentence on how a file was read, unless it is plain."""
    if how or cells:
        yield f"Read {path.name} {'' if how else 'with '}{', '.join(how + cells)}."


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


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV. Texts that a spreadsheet would take for formulas are marked."""
    return "".join(_csv_line(row) for row in (header, *rows))


def _csv_line(row: Sequence[Any]) -> str:
    """Return a line that ends with LF. It is made with CR LF, so that a cell with either character is quoted."""
    out = io.StringIO(newline="")
    cells = [name_to_cell(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return f"{out.getvalue()[:-2]}\n"
