"""Excel workbooks (.xlsx) as rows of text. Nothing in them is computed, and nothing outside of them is opened.

A formula counts as the value that the spreadsheet saved with it. Parts with a document type, which could define
entities, are refused, and so is a workbook that unpacks to more than ``LARGEST_WORKBOOK`` bytes.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.xlsx_cells import column_letters
from driftmdp.inventory.xlsx_parts import (
    MOST_ROWS,
    BookReader,
    PartReader,
    RelationReader,
    SheetReader,
    SheetRows,
    StringReader,
    StyleReader,
)

LARGEST_WORKBOOK = 1 << 27  # bytes of a part, unpacked
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

    def rows(self, sheet: str, last: int = MOST_ROWS, columns: Container[int] | None = None) -> SheetRows:
        """Return the rows of a sheet, up to one, and perhaps of some columns only."""
        reader = SheetReader(self._strings, self._formats, self._is_1904, last, columns)
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
        sheets, book_reader = {}, BookReader()
        self._parse(book, book_reader)
        targets = dict(self._relations(book))
        for name, relation in book_reader.sheets:
            if targets.get(relation, ("", ""))[0] == "worksheet":
                sheets[name] = targets[relation][1]
        self._targets, self.sheets, self._is_1904 = sheets, list(sheets), book_reader.is_1904
        strings, styles = StringReader(), StyleReader()
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
            reader = RelationReader()
            self._parse(place, reader)
            for identifier, kind, target in reader.found:
                yield identifier, (kind, posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/"))

    def _parse(self, part: str, reader: "PartReader") -> None:
        about = self._zip.getinfo(self._parts[part.lower()])
        if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("workbooks have no other compression, of which zipfile would unpack too much at once")
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


def cell_name(row: int, column: int) -> str:
    """Return a cell's name, such as ``B7``."""
    return f"{column_letters(column)}{row}"
