"""Tables as Excel workbooks: days and numbers as such, and everything else as text that is no formula.

The same table is the same bytes. A workbook is made of the table's CSV, so that both have the same cells.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import day_of, name_from_cell
from driftmdp.inventory.xlsx_cells import column_letters

MOST_ROWS, LONGEST_TEXT = 1 << 20, 32_767  # of Excel
NAME_COLUMNS = {"sku", "supplier", "details", "Vendor", "Supplier", "Order Lines/Product", "Item Code (Items)"}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.(?:0|\d{0,19}[1-9]))?", re.ASCII)  # 007 and 1.000 stay text
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")  # of XML
_PLAIN, _DAY, _QUOTED = 0, 1, 2  # styles. A quoted text stays text when its cell is edited
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}">'
    '<sheets><sheet name="Table" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_DOCUMENT}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">'
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" quotePrefix="1"/>'
    '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}


def table_content(text: str, path: Path) -> bytes:
    """Return the bytes of a table's file: a workbook if its name ends with ``.xlsx``, or else CSV."""
    return workbook_of_csv(text) if path.suffix.lower() == ".xlsx" else text.encode()


def workbook_of_csv(text: str) -> bytes:
    r"""Return a CSV table as an Excel workbook.

    Examples
    --------
    >>> from pathlib import Path
    >>> from driftmdp.inventory.xlsx_reader import Workbook
    >>> from driftmdp.inventory.xlsx_writer import workbook_of_csv
    >>> book = Workbook(Path("t.xlsx"), workbook_of_csv("date,sku,units\n2026-11-16,007,3\n"))
    >>> book.rows("Table").rows[2]
    {0: '2026-11-16', 1: '007', 2: '3'}
    """
    rows = list(csv.reader(io.StringIO(text, newline="")))
    if len(rows) > MOST_ROWS:
        rule = f"A table must have at most {MOST_ROWS - 1:,} lines to fit into an Excel file"
        raise InvalidInputError(f"{rule}; it has {len(rows) - 1:,}. Write it as .csv.")
    parts = {**_PARTS, "xl/worksheets/sheet1.xml": "".join(_sheet(rows))}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(about, (_HEAD + part).encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _sheet(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    header = rows[0] if rows else ()
    letters = [column_letters(place) for place in range(len(header))]
    yield f'<worksheet xmlns="{_MAIN}">'
    if header:
        yield f'<cols><col min="1" max="{len(header)}" width="14" customWidth="1"/></cols>'
    yield "<sheetData>"
    is_name = [name in NAME_COLUMNS for name in header]
    for number, row in enumerate(rows, 1):
        yield f'<row r="{number}">'
        for letter, text, as_text in zip(letters, row, is_name, strict=True):
            if text:
                yield _cell(f"{letter}{number}", text, as_text or number == 1)
        yield "</row>"
    yield "</sheetData></worksheet>"


def _cell(place: str, text: str, as_text: bool) -> str:
    day = None if as_text else day_of(text)
    if day is not None and text == day.isoformat():
        return f'<c r="{place}" s="{_DAY}"><v>{(day - date(1899, 12, 30)).days}</v></c>'
    if not as_text and _NUMBER.fullmatch(text):
        return f'<c r="{place}"><v>{text}</v></c>'
    name = name_from_cell(text)  # a workbook's text needs no mark
    if len(name) > LONGEST_TEXT:
        rule = f"A cell of an Excel file must have at most {LONGEST_TEXT:,} characters"
        raise InvalidInputError(f"{rule}; {place} has {len(name):,}. Write the table as .csv.")
    shown = escape(_UNSPEAKABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", name))
    style = _PLAIN if name == text else _QUOTED
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>'
