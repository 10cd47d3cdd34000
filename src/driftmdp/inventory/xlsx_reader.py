"""Excel workbooks (.xlsx) as rows of text. Nothing in them is computed, and nothing outside of them is opened.

A formula counts as the value that the spreadsheet saved with it. Parts with a document type, which could define
entities, are refused, and so is a workbook that unpacks to more than ``LARGEST_WORKBOOK`` bytes.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.xlsx_cells import cell_text, column_letters, column_number, format_of, unescaped

LARGEST_WORKBOOK = 1 << 28  # bytes of a part, unpacked
MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of Excel
MOST_FILLED = 1 << 22  # cells that take the value of a merged one
NO_VALUE = "has a formula without a value"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError, NotImplementedError, RuntimeError),
    *(KeyError, IndexError, ValueError, OSError, LookupError),
)
_OTHERS = {
    "content.xml": "an OpenDocument file (.ods)",
    "xl/workbook.bin": "an .xlsb file",
    "Index/Document.iwa": "a Numbers file",
    "word/document.xml": "a Word document",
}


@dataclass
class SheetRows:
    """The cells of a sheet that hold something.

    Attributes
    ----------
    rows
        The texts of each row's cells by column, from 0 on, by row, from 1 on.
    faults
        What is wrong with a cell, by row and column: it "has a formula without a value".
    has_more
        Whether there are rows below the last one that was asked for.
    """

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    faults: dict[tuple[int, int], str] = field(default_factory=dict)
    has_more: bool = False


class Workbook:
    """A workbook's sheets.

    Parameters
    ----------
    path, content
        The file, and its bytes.

    Attributes
    ----------
    sheets
        The names of its sheets, without hidden ones.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        with self._refusing():
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        self._parts = {name.lstrip("/").lower(): name for name in self._zip.namelist()}
        self._check_kind()
        with self._refusing():
            self._open()

    def rows(self, sheet: str, last: int = MOST_ROWS) -> SheetRows:
        """Return the rows of a sheet, up to one."""
        reader = _SheetReader(self._strings, self._formats, self._is_1904, last)
        with self._refusing():
            self._parse(self._targets[sheet], reader)
            reader.fill_merged()
        return reader.found

    def _check_kind(self) -> None:
        for part, kind in _OTHERS.items():
            if part.lower() in self._parts:
                rule = f"{self._path} must be a CSV file or an Excel file (.xlsx)"
                raise InvalidInputError(f"{rule}; it is {kind}. Save it as .xlsx.")

    def _open(self) -> None:
        """Find the sheets, and read what their cells refer to."""
        book = next(self._related("", "officeDocument"), "xl/workbook.xml")
        sheets, book_reader = {}, _BookReader()
        self._parse(book, book_reader)
        targets = dict(self._relations(book))
        for name, relation in book_reader.sheets:
            if targets.get(relation, ("", ""))[0] == "worksheet":
                sheets[name] = targets[relation][1]
        self._targets, self.sheets, self._is_1904 = sheets, list(sheets), book_reader.is_1904
        strings, styles = _StringReader(), _StyleReader()
        for part in self._related(book, "sharedStrings"):
            self._parse(part, strings)
        for part in self._related(book, "styles"):
            self._parse(part, styles)
        self._strings, self._formats = strings.found, styles.formats

    def _related(self, part: str, kind: str) -> Iterator[str]:
        return (target for _, (found, target) in self._relations(part) if found == kind)

    def _relations(self, part: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield identifier, kind and part of each relation of a part."""
        folder, name = posixpath.split(part)
        place = posixpath.join(folder, "_rels", f"{name}.rels")
        if place.lower() in self._parts:
            reader = _RelationReader()
            self._parse(place, reader)
            for identifier, kind, target in reader.found:
                yield identifier, (kind, posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/"))

    def _parse(self, part: str, reader: "_PartReader") -> None:
        about = self._zip.getinfo(self._parts[part.lower()])
        if about.file_size > LARGEST_WORKBOOK:  # no more than this is unpacked, whatever the part holds
            rule = f"{self._path} must have at most {LARGEST_WORKBOOK >> 20} MB when unpacked"
            raise InvalidInputError(f"{rule}; {part} has {about.file_size >> 20} MB. Save it as CSV.")
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse_document_type
        parser.StartElementHandler = lambda name, given: reader.start(name.rpartition(" ")[2], given)
        parser.EndElementHandler = lambda name: reader.end(name.rpartition(" ")[2])
        parser.CharacterDataHandler = reader.text
        with self._zip.open(about) as stream:
            while not reader.is_done and (piece := stream.read(1 << 18)):
                parser.Parse(piece, False)
        if not reader.is_done:
            parser.Parse(b"", True)

    def _refusing(self) -> "_Refusing":
        return _Refusing(self._path)


class _Refusing:
    """Turns whatever a damaged workbook raises into one sentence."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, _DAMAGES) and not isinstance(error, InvalidInputError):
            rule = f"{self._path} must be an Excel file (.xlsx) that can be read"
            raise InvalidInputError(f"{rule}; it is damaged, or none. Save it again as .xlsx.") from None


def _refuse_document_type(*_: Any) -> None:
    raise ValueError("no part of a workbook has a document type")


class _PartReader:
    """Reads a part: what begins, the text within, what ends."""

    is_done = False

    def start(self, name: str, given: dict[str, str]) -> None:
        """Note that an element begins."""

    def end(self, name: str) -> None:
        """Note that an element ends."""

    def text(self, text: str) -> None:
        """Note a text."""


class _RelationReader(_PartReader):
    def __init__(self) -> None:
        self.found: list[tuple[str, str, str]] = []

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "Relationship" and given.get("TargetMode") != "External":
            self.found.append((given["Id"], posixpath.basename(given["Type"]), given["Target"]))


class _BookReader(_PartReader):
    def __init__(self) -> None:
        self.sheets: list[tuple[str, str]] = []
        self.is_1904 = False

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "workbookPr":
            self.is_1904 = given.get("date1904", "0") in ("1", "true")
        elif name == "sheet" and given.get("state", "visible") == "visible":
            relation = next((value for key, value in given.items() if key.endswith(" id")), "")
            self.sheets.append((unescaped(given["name"]), relation))


class _StyleReader(_PartReader):
    def __init__(self) -> None:
        self.formats: list[int] = []
        self._codes: dict[int, str] = {}
        self._is_cells = False

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "numFmt":
            self._codes[int(given["numFmtId"])] = given.get("formatCode", "")
        elif name == "cellXfs":
            self._is_cells = True
        elif name == "xf" and self._is_cells:
            number = int(given.get("numFmtId", "0"))
            self.formats.append(format_of(number, self._codes.get(number)))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._is_cells = False


class _TextReader(_PartReader):
    """Gathers the text of elements ``t``, but for what only says how others are pronounced."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._gathers, self._is_sound = False, False

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "rPh":
            self._is_sound = True
        elif name == "t":
            self._gathers = not self._is_sound

    def end(self, name: str) -> None:
        if name == "rPh":
            self._is_sound = False
        self._gathers = False

    def text(self, text: str) -> None:
        if self._gathers:
            self._texts.append(text)

    def _taken(self) -> str:
        """Return what was gathered, and begin again."""
        found = "".join(self._texts)
        self._texts.clear()
        return found


class _StringReader(_TextReader):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def end(self, name: str) -> None:
        super().end(name)
        if name == "si":
            self.found.append(unescaped(self._taken()))


class _SheetReader(_TextReader):
    def __init__(self, strings: list[str], formats: list[int], is_1904: bool, last: int) -> None:
        super().__init__()
        self.found = SheetRows()
        self._strings, self._formats, self._is_1904, self._last = strings, formats, is_1904, last
        self._row, self._column, self._kind, self._format = 0, -1, "n", 0
        self._has_value, self._has_formula = False, False
        self._merged: list[str] = []

    def start(self, name: str, given: dict[str, str]) -> None:
        super().start(name, given)
        if name == "c":
            column = column_number(given.get("r", ""))
            self._column = column if column >= 0 else self._column + 1
            self._kind, style = given.get("t", "n"), int(given.get("s", "0"))
            self._format = self._formats[style] if style < len(self._formats) else 0
            self._has_value = self._has_formula = False
            if self._column >= MOST_COLUMNS:
                raise ValueError("a column beyond the last")
        elif name == "v":
            self._gathers = True
        elif name == "f":
            self._has_formula = True
        elif name == "row":
            self._row, self._column = int(given.get("r", self._row + 1)), -1
            if not 1 <= self._row <= MOST_ROWS:
                raise ValueError("a row beyond the last")
            self.is_done = self.found.has_more = self._row > self._last
        elif name == "mergeCell":
            self._merged.append(given["ref"])

    def end(self, name: str) -> None:
        super().end(name)
        if name == "v":
            self._has_value = bool(self._texts) or self._kind == "str"  # some programs write an empty value
        elif name == "c" and not self.is_done:
            self._keep(self._taken())

    def _keep(self, value: str) -> None:
        """Keep a cell that holds something."""
        text, place = self._read(value), (self._row, self._column)
        if text:
            self.found.rows.setdefault(self._row, {})[self._column] = text
        if self._has_formula and not self._has_value:
            self.found.faults[place] = NO_VALUE
        elif self._kind == "e":
            self.found.faults[place] = f"has the error {value.strip()[:20]}"

    def _read(self, value: str) -> str:
        if self._kind == "s":
            return self._strings[int(value)] if value.strip() else ""
        if self._kind in ("n", "b"):
            return cell_text(value, self._format, self._is_1904) if value.strip() else ""
        return value[:10] if self._kind == "d" else unescaped(value)  # a day, without its time

    def fill_merged(self) -> None:
        """Give the value of a merged cell to the rows below it that hold anything."""
        left = MOST_FILLED
        for reference in self._merged:
            first, _, last = reference.partition(":")
            column, (top, bottom) = column_number(first), (int(each.lstrip(_LETTERS)) for each in (first, last))
            text = self.found.rows.get(top, {}).get(column)
            below = range(top + 1, min(bottom, self._row, top + left) + 1)
            left -= max(0, len(below))
            for row in below if text else ():
                if row in self.found.rows:
                    self.found.rows[row].setdefault(column, text or "")


def cell_name(row: int, column: int) -> str:
    """Return a cell's name, such as ``B7``."""
    return f"{column_letters(column)}{row}"
