"""Excel workbooks for the tests, of openpyxl's making and of ours, part by part."""

import io
import zipfile

import openpyxl
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from driftmdp.inventory.xlsx_writer import workbook_of_csv


def book_of(*sheets, is_1904=False):
    """Return the bytes of a workbook whose sheets are a name with rows. A value may come with its number format."""
    book = openpyxl.Workbook()
    if is_1904:
        book.epoch = CALENDAR_MAC_1904
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row, cells in enumerate(rows, 1):
            for column, value in enumerate(cells, 1):
                value, code = value if isinstance(value, tuple) else (value, None)
                if value is not None:
                    cell = sheet.cell(row, column, value)
                    if isinstance(value, str):
                        cell.data_type = "s"  # even if it begins with =
                    if code:
                        cell.number_format = code
    return as_bytes(book)


def as_bytes(book):
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def with_parts(content, **parts):
    """Return a workbook with some parts replaced: ``sheet`` and others by their file's name. None removes one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            key = name.rpartition("/")[2].partition(".")[0].replace("sheet1", "sheet")
            part = parts.get(key, old.read(name)) if name.endswith(".xml") else old.read(name)
            if part is not None:
                new.writestr(name, part)
    return out.getvalue()


def with_sheet(data, before="", after=""):
    """Return a workbook whose only sheet has this XML as its data."""
    begin = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    sheet = f"{before}{begin}<sheetData>{data}</sheetData>{after}</worksheet>"
    return with_parts(workbook_of_csv("a\n"), sheet=sheet)


def row_of(number, *cells):
    """Return a row of text cells as XML."""
    inner = "".join(cell if cell.startswith("<") else f'<c t="str"><v>{cell}</v></c>' for cell in cells)
    return f'<row r="{number}">{inner}</row>'
