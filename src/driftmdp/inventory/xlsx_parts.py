"""The parts of an Excel workbook, each read as its XML comes: what begins, the text within, what ends."""

import posixpath
from collections.abc import Container
from dataclasses import dataclass, field

from driftmdp.inventory.xlsx_cells import cell_text, column_number, format_of, unescaped

MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of Excel
MOST_FILLED = 1 << 22  # cells that take the value of a merged one
NO_VALUE = "has a formula without a value"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


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


class PartReader:
    """Reads a part: what begins, the text within, what ends."""

    is_done = False

    def start(self, name: str, given: dict[str, str]) -> None:
        """Note that an element begins."""

    def end(self, name: str) -> None:
        """Note that an element ends."""

    def text(self, text: str) -> None:
        """Note a text."""


class RelationReader(PartReader):
    """The relations of a part to others: identifier, kind and target."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, str]] = []

    def start(self, name: str, given: dict[str, str]) -> None:
        """Note a relation within the file."""
        if name == "Relationship" and given.get("TargetMode") != "External":
            self.found.append((given["Id"], posixpath.basename(given["Type"]), given["Target"]))


class BookReader(PartReader):
    """A workbook's sheets that can be seen, and its calendar."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str]] = []
        self.is_1904 = False

    def start(self, name: str, given: dict[str, str]) -> None:
        """Note a sheet, or the calendar."""
        if name == "workbookPr":
            self.is_1904 = given.get("date1904", "0") in ("1", "true")
        elif name == "sheet" and given.get("state", "visible") == "visible":
            relation = next((value for key, value in given.items() if key.endswith(" id")), "")
            self.sheets.append((unescaped(given["name"]), relation))


class StyleReader(PartReader):
    """What the number format of each cell style means."""

    def __init__(self) -> None:
        self.formats: list[int] = []
        self._codes: dict[int, str] = {}
        self._is_cells = False

    def start(self, name: str, given: dict[str, str]) -> None:
        """Note a number format, or the style of cells."""
        if name == "numFmt":
            self._codes[int(given["numFmtId"])] = given.get("formatCode", "")
        elif name == "cellXfs":
            self._is_cells = True
        elif name == "xf" and self._is_cells:
            number = int(given.get("numFmtId", "0"))
            self.formats.append(format_of(number, self._codes.get(number)))

    def end(self, name: str) -> None:
        """Note that the styles of cells end."""
        if name == "cellXfs":
            self._is_cells = False


class _TextReader(PartReader):
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


class StringReader(_TextReader):
    """The texts that cells share."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def end(self, name: str) -> None:
        """Keep a text that is complete."""
        super().end(name)
        if name == "si":
            self.found.append(unescaped(self._taken()))


class SheetReader(_TextReader):
    """The cells of a sheet, up to its row ``last``."""

    def __init__(
        self, strings: list[str], formats: list[int], is_1904: bool, last: int, columns: Container[int] | None
    ) -> None:
        super().__init__()
        self.found = SheetRows()
        self._strings, self._formats, self._is_1904 = strings, formats, is_1904
        self._last, self._columns = last, columns
        self._row, self._column, self._kind, self._format = 0, -1, "n", 0
        self._has_value, self._has_formula = False, False
        self._merged: list[str] = []

    def start(self, name: str, given: dict[str, str]) -> None:
        """Note a row, a cell, or what is in it."""
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
        """Keep a cell that is complete."""
        super().end(name)
        if name == "v":
            self._has_value = bool(self._texts) or self._kind == "str"  # some programs write an empty value
        elif name == "c" and not self.is_done:
            value = self._taken()
            if self._columns is None or self._column in self._columns:
                self._keep(value)

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
