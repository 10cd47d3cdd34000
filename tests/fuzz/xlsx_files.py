"""Random Excel files into reading, a shop, and the commands, as ``csv_files`` does it with CSV.

A workbook is whole, or its archive has wrong bytes, or its parts have: cells of every kind, styles and references
that lead nowhere, several sheets, headers far below, entities.
"""

from __future__ import annotations

import io
import random
import zipfile
from xml.sax.saxutils import escape

from driftmdp.inventory.xlsx_writer import workbook_of_csv
from tests.fuzz import csv_files

KINDS = ("", "", "", ' t="s"', ' t="b"', ' t="e"', ' t="d"', ' t="str"', ' t="inlineStr"', ' t="n"', ' t="?"')
STYLES = ("", ' s="0"', ' s="1"', ' s="2"', ' s="99"', ' s="-1"')
VALUES = "46342|1|0|-1|1e9|2958466|0.5|nan|inf|x|99|=1|#N/A|2026-11-16T09:30:00|60||12.345|1e400|" + "9" * 400
DAMAGE = "<c>|</c>|<row>|</row>|<v>|</v>|<f>1</f>|<!DOCTYPE a>|<![CDATA[|&x;|&#0;|<x:c>|<mergeCell ref='A1:A9'/>|"
DAMAGE += "<mergeCell ref='XFD1'/>|<mergeCell/>|<is><t>q</t></is>|r='A0'|t='s'|xmlns=''|\x00|\ufeff|]]>"
FORMATS = ("00000", "yyyy\\-mm\\-dd", "[h]:mm", "mmm", '"d"0', "", "[Red", '"', "0" * 300)


def case(rng, folder):
    """Make a workbook, give it to one of the readers, and look at what became of the shop."""
    dice = random.Random(int(rng.integers(1 << 62)))
    content, table = any_workbook(dice)
    csv_files.use(dice, folder, dice.choice(("file.xlsx", "file.xlsx", "file.csv", "file.xls")), content, table)


def any_workbook(dice):
    """Return the bytes of a workbook, possibly damaged, and its table, which is empty unless all are texts."""
    table, spoiled = csv_files.any_table(dice)
    how = dice.randrange(5)
    content = _with_sheet(_sheet(dice, table, odd=spoiled if how else 0.0, head=dice.choice((0, 0, 0, 3, 30))))
    if how == 1:
        return csv_files.mutated(dice, content), []
    if how == 2:
        return _with_damaged_part(dice, content), []
    return content, [] if spoiled and how else [[_clean(text) for text in row] for row in table]


def _sheet(dice, table, odd, head):
    """Return a sheet's XML, whose cells are texts but for a share of odd ones."""
    rows = []
    for number, row in enumerate(table, 1 + head):
        cells = [
            f"<c{dice.choice(KINDS)}{dice.choice(STYLES)}>{_value(dice)}</c>"
            if dice.random() < odd
            else f'<c t="inlineStr"><is><t xml:space="preserve">{escape(_clean(text))}</t></is></c>'
            for text in row
        ]
        rows.append(f'<row r="{number}">{"".join(cells)}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{main}"><sheetData>{"".join(rows)}</sheetData></worksheet>'


def _clean(text):
    """Return a text without what XML cannot hold, as its parsers give it back."""
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))


def _value(dice):
    value = dice.choice(VALUES.split("|"))
    formula = dice.choice(("", "", "", "<f>1+1</f>", "<f/>"))
    return formula + dice.choice((f"<v>{value}</v>", f"<is><t>{value}</t></is>", "", f"<v>{value}</v><v>2</v>"))


def _with_sheet(sheet):
    return _with_part(workbook_of_csv("a\n"), "xl/worksheets/sheet1.xml", sheet.encode())


def _with_damaged_part(dice, content):
    """Put something between two characters of a part, or wrong bytes, or another part's content, or nothing."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        name = dice.choice(book.namelist())
        part = book.read(name)
        place, how = dice.randrange(len(part) + 1), dice.randrange(5)
        if how == 0:
            part = part[:place] + dice.choice(DAMAGE.split("|")).encode() + part[place:]
        elif how == 1:
            part = csv_files.mutated(dice, part)
        elif how == 2:
            part = book.read(dice.choice(book.namelist()))
        elif how == 3:
            part = part.replace(b"yyyy\\-mm\\-dd", escape(dice.choice(FORMATS), {'"': "&quot;"}).encode())
        else:
            part = None
    return _with_part(content, name, part)


def _with_part(content, name, part):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for each in old.namelist():
            if each != name or part is not None:
                new.writestr(each, part if each == name else old.read(each))
    return out.getvalue()
