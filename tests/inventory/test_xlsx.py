"""Excel files, in and out: compared with openpyxl's, and what is damaged, dangerous or called wrongly."""

import contextlib
import io
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import read_calendar, read_counts, read_items, read_own, read_sales, read_sold, xlsx_reader
from driftmdp.inventory.csv_io import csv_text, read_table
from driftmdp.inventory.xlsx_cells import DATE, cell_text, day_of_serial, format_of
from driftmdp.inventory.xlsx_writer import workbook_of_csv
from tests.inventory.shops import refused
from tests.inventory.workbooks import as_bytes, book_of, row_of, with_parts, with_sheet

SALES = [["date", "sku", "units"], [date(2026, 11, 16), "tea", 3], [datetime(2026, 11, 17, 18, 30), "007", 2.0]]


@pytest.fixture
def excel(tmp_path):
    path = tmp_path / "file.xlsx"

    def write(content):
        path.write_bytes(content)
        return path

    return write


def sold(path, **how):
    return [(s.sku, s.day.isoformat(), s.units) for s in read_sold(path, **how)]


# ---- reading


def test_a_sheet_reads_as_the_same_csv(excel):
    found = read_sold(excel(book_of(("Sheet", SALES))))
    assert sold(excel(book_of(("Sheet", SALES)))) == [("tea", "2026-11-16", 3), ("007", "2026-11-17", 2)]
    assert found.remarks == ()
    assert [series.sku for series in read_sales(excel(book_of(("Sheet", SALES)))).series] == ["tea", "007"]


def test_every_file_of_every_command_may_be_a_workbook(excel):
    items = book_of(("a", [["sku", "unit_cost", "order_days", "capacity"], ["tea", 12.345, "mon,thu", "none"]]))
    assert read_items(excel(items)).items[0].values == {
        "unit_cost": 12.345,
        "order_days": "mon,thu",
        "capacity": "none",
    }
    days = book_of(("a", [["date", "name", "factor"], [date(2026, 12, 24), "sale", 1.5]]))
    assert read_calendar(excel(days))[0].factor == 1.5
    own = book_of(("a", [["date", "sku", "ordered"], [date(2026, 1, 5), "tea", 12]]))
    assert read_own(excel(own)).series[0].ordered.tolist() == [12]
    counts = book_of(("a", [["sku", "stock", "coming"], [12345.0, 5, None], [("42"), 6, 7]]))
    assert [(c.sku, c.stock) for c in read_counts(excel(counts))[1]] == [("12345", 5), ("42", 6)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.0, "12345"),
        (4006381333931, "4006381333931"),
        ((42, "00000"), "00042"),
        ("0042", "0042"),
        (0.1 + 0.2, "0.3"),
        (1e20, "1e+20"),
        (-7, "-7"),
        (True, "1"),
        (False, "0"),
        ("=1+1", "=1+1"),
        ("a\nb", "a\nb"),
        (" padded ", " padded "),
        ((date(2026, 3, 4), "dd.mm.yyyy"), "2026-03-04"),
        ((46342, '"on" d/m/yy'), "2026-11-16"),
        ((46342, '0 "days"'), "46342"),
        ((46342, "[Red]0.00"), "46342"),
        ((0.5, "h:mm"), "0.5"),
        ((1.5, "0.00%"), "1.5"),
        (date(1900, 1, 1), "1900-01-01"),
        (date(9999, 12, 31), "9999-12-31"),
    ],
)
def test_a_cell_has_the_text_that_is_meant(excel, value, text):
    table = read_table(excel(book_of(("a", [["sku", "x"], [value, 1]]))), ("sku",))
    assert table.columns["sku"] == [text]


@given(days=st.integers(-10, 3_000_000), part=st.floats(0, 0.999), is_1904=st.booleans())
def test_days_are_those_of_openpyxl(days, part, is_1904):
    epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904 if is_1904 else openpyxl.utils.datetime.CALENDAR_WINDOWS_1900
    found = day_of_serial(days + part, is_1904)
    if days == 60 and not is_1904:
        assert found is None
    elif found is not None:
        at_noon = openpyxl.utils.datetime.from_excel(days + 0.5, epoch)
        assert found == at_noon.date()
    else:
        assert days < 1 or days > 2_950_000


def test_the_calendar_of_1904_is_known(excel):
    rows = [["date", "sku", "units"], [date(2026, 11, 16), "tea", 3]]
    assert sold(excel(book_of(("a", rows), is_1904=True))) == [("tea", "2026-11-16", 3)]


def test_what_a_format_means():
    dates = "yyyy-mm-dd", "d. mmm", 'dd"."mm', "[$-407]d/m/yy;@", "mmm", "m/d/yy h:mm"
    assert all(format_of(164, code) == DATE for code in dates)
    numbers = "General", "0.00", "#,##0 [$€-407]", '0 "days"', "h:mm:ss", "mm:ss", "[h]:mm", "\\d0", "@", "0.00E+00"
    assert not any(format_of(164, code) for code in numbers)
    assert cell_text("nan", 0, False) == "nan"
    assert cell_text("no number", 0, False) == "no number"


def test_a_number_has_one_meaning_beside_texts_with_commas(excel):
    rows = [["sku", "stock"], ["A", 2.0], ["B", "1.000"], ["C", "3,0"]]
    found = [(c.sku, c.stock) for c in read_counts(excel(book_of(("a", rows))))[1]]
    assert found == [("A", 2), ("B", 1000), ("C", 3)]
    with refused("line 2: stock must be a whole number; got '2.5'"):
        read_counts(excel(book_of(("a", [["sku", "stock"], ["A", 2.5]]))))


def test_the_first_sheet_and_row_with_the_columns_is_read(excel):
    notes = ("Notes", [["Made by Ann"], [None, "for us"]])
    table = (
        "Sales",
        [
            ["Sales of November"],
            [None],
            ["Datum", None, "Artikel", "Menge"],
            *([d, None, s, n] for d, s, n in SALES[1:]),
        ],
    )
    found = read_sold(excel(book_of(notes, table)))
    assert len(found) == 2
    assert found.remarks[0] == "Read file.xlsx from its sheet 'Sales', with its header in row 3."
    assert found.line.tolist() == [4, 5]


def test_several_sheets_with_the_columns_are_said(excel):
    found = read_sold(excel(book_of(("Jan", SALES), ("Feb", SALES))))
    assert found.remarks == (
        "Read file.xlsx from its sheet 'Jan'.",
        "Only the sheet 'Jan' of file.xlsx is read. Others have such columns too: 'Feb'.",
    )


def test_hidden_and_empty_sheets_do_not_count(excel):
    book = openpyxl.load_workbook(io.BytesIO(book_of(("Old", SALES), ("Empty", []), ("New", SALES[:2]))))
    book["Old"].sheet_state = "hidden"
    book.active = book["New"]
    found = read_sold(excel(as_bytes(book)))
    assert (len(found), found.remarks) == (1, ())


def test_a_table_may_begin_far_below(excel):
    rows = [[None]] * 500 + SALES
    assert len(read_sold(excel(book_of(("a", rows))))) == 2


def test_merged_cells_and_empty_rows(excel):
    book = openpyxl.load_workbook(
        io.BytesIO(
            book_of(
                ("a", [["date", "sku", "units"], [date(2026, 11, 16), "A", 1], [None, "B", 2], [], [None, "C", 3]])
            )
        )
    )
    book["a"].merge_cells("A2:A5")
    assert sold(excel(as_bytes(book))) == [("A", "2026-11-16", 1), ("B", "2026-11-16", 2), ("C", "2026-11-16", 3)]


# ---- formulas


def formula(kind, value):
    held = "" if value is None else f"<v>{value}</v>"
    return f"<c{kind}><f>1+1</f>{held}</c>"


HEADER = row_of(1, "sku", "stock", "note")


def test_a_formula_is_the_value_that_was_saved_with_it(excel):
    rows = HEADER + row_of(2, formula(' t="str"', "tea"), formula("", "7"), formula("", None))
    assert [(c.sku, c.stock) for c in read_counts(excel(with_sheet(rows)))[1]] == [("tea", 7)]


def test_a_formula_without_a_value_is_refused_by_its_cell(excel):
    rows = HEADER + row_of(2, "tea", "7") + row_of(3, "ham", formula("", None))
    with refused("file.xlsx must have a value in every cell that is used; in 'Table', B3 has a formula without"):
        read_counts(excel(with_sheet(rows)))
    rows = HEADER + row_of(2, '<c t="e"><f>VLOOKUP(1)</f><v>#N/A</v></c>', "7")
    with refused("A2 has the error #N/A. Open it in the spreadsheet, correct it"):
        read_counts(excel(with_sheet(rows)))


def test_openpyxl_writes_formulas_without_values(excel):
    book = openpyxl.load_workbook(io.BytesIO(book_of(("a", SALES))))
    book["a"]["C2"] = "=1+2"
    with refused("C2 has a formula without a value"):
        read_sold(excel(as_bytes(book)))


# ---- writing

cells = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
    st.integers(-(10**14), 10**14),
    st.floats(-1e6, 1e6).map(lambda x: round(x, 6)),
    st.dates(date(1970, 1, 1), date(2199, 12, 31)),
    st.sampled_from(
        ["=1+1", "@x", "007", "1e5", "_x0041_", "_x000D_", "a\rb", "\x00", "\ufffe", "'=x", "12345", ""]
    ),
)


@given(rows=st.lists(st.tuples(cells, cells), max_size=6))
@settings(deadline=None)
def test_a_workbook_has_the_cells_of_its_csv(rows):
    content = workbook_of_csv(csv_text(("sku", "x"), rows))
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    for number, row in enumerate(rows, 2):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(number, column)
            assert cell.data_type != "f"
            text = str(value)
            if column == 1:  # names stay text
                assert cell.value in (None, text) or not text.isascii() or "_x" in cell.value or "\r" in text
            elif isinstance(value, date):
                assert cell.value.date() == value
            elif isinstance(value, int):
                assert cell.value == value
    assert content == workbook_of_csv(csv_text(("sku", "x"), rows))


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
@settings(deadline=None)
def test_what_is_written_reads_back(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "back.xlsx"
    path.write_bytes(workbook_of_csv(csv_text(("sku", "x"), [("n", "0"), *rows])))
    table = read_table(path, ("sku", "x"))
    back = [("n", "0"), *(row for row in rows if any(str(cell).strip() for cell in row))]
    for name, column in (("sku", 0), ("x", 1)):
        for found, row in zip(table.columns[name], back, strict=True):
            value = row[column]
            if isinstance(value, float):
                assert float(found) == pytest.approx(value)
            elif isinstance(value, str) and "'" in value[:1]:
                continue  # the mark of text
            else:
                assert found in (str(value), str(value).replace("\r\n", "\n"))


def test_a_name_that_looks_like_a_formula_is_text(excel):
    sheet = openpyxl.load_workbook(io.BytesIO(workbook_of_csv(csv_text(("sku",), [("=cmd()",)])))).active
    cell = sheet["A2"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == ("=cmd()", "s", True)


def test_tables_that_excel_cannot_hold_are_refused(monkeypatch):
    with refused(
        "A cell of an Excel file must have at most 32,767 characters; A2 has 40,000. Write the table as .csv"
    ):
        workbook_of_csv("a\n" + "x" * 40_000 + "\n")
    monkeypatch.setattr("driftmdp.inventory.xlsx_writer.MOST_ROWS", 3)
    with refused("A table must have at most 2 lines to fit into an Excel file; it has 3. Write it as .csv."):
        workbook_of_csv("a\n1\n2\n3\n")


# ---- five mistakes of beginners, and files that mean harm


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "s.xlsx",
            b"sku,stock\nA,1\n",
            "s.xlsx must be an Excel file, as its name says; it is none. If it is a CSV file, name it s.csv.",
        ),
        (
            "s.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "it is an .xls of older versions, or has a password. Save it in Excel as .xlsx",
        ),
        ("s.xls", b"<html><table><tr><td>sku</td></tr></table></html>", "it is a web page"),
        ("s.xls", b'<?xml version="1.0"?><Workbook/>', "it is XML"),
        ("s.xlsx", b"PK\x03\x04 and no more", "it is damaged, or none. Save it again as .xlsx."),
        ("s.xlsx", b"", "it is empty"),
    ],
)
def test_a_file_that_is_not_as_it_is_called(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with refused(said):
        read_counts(tmp_path / name)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("content.xml", "an OpenDocument file (.ods). Save it as .xlsx."),
        ("xl/workbook.bin", "an .xlsb file"),
        ("Index/Document.iwa", "a Numbers file"),
        ("other.txt", "it is damaged, or none"),
    ],
)
def test_other_archives_are_named(excel, part, said):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(part, "x")
    with refused(said):
        read_counts(excel(out.getvalue()))


def test_a_workbook_under_another_name_is_read(tmp_path):
    (tmp_path / "sales.csv").write_bytes(book_of(("a", SALES)))
    assert len(read_sold(tmp_path / "sales.csv")) == 2


def test_a_total_below_the_table_is_refused_by_its_row(excel):
    with refused("line 4: sku must be a name"):
        read_sold(excel(book_of(("a", [*SALES, [date(2026, 11, 17), None, 5]]))))


ENTITIES = '<!DOCTYPE a [<!ENTITY x "&#65;"><!ENTITY y SYSTEM "file:///etc/passwd">]>'


def test_entities_and_document_types_are_refused(excel):
    for before in (ENTITIES, "<!DOCTYPE a>", '<!DOCTYPE a SYSTEM "http://localhost/x.dtd">'):
        with refused("it is damaged, or none"):
            read_counts(excel(with_sheet(HEADER + row_of(2, "A", "1"), before)))


def test_a_bomb_is_refused_before_it_unpacks(excel, monkeypatch):
    monkeypatch.setattr(xlsx_reader, "LARGEST_WORKBOOK", 1 << 20)
    content = with_sheet(HEADER + row_of(2, "A", "1") + " " * (2 << 20))
    assert len(content) < 20_000
    with refused(
        "file.xlsx must have at most 1 MB when unpacked; xl/worksheets/sheet1.xml has 2 MB. Save it as CSV."
    ):
        read_counts(excel(content))


def test_other_compressions_are_refused(excel):
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(book_of(("a", SALES)))) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with refused("it is damaged, or none"):
        read_sold(excel(out.getvalue()))


@pytest.mark.parametrize(
    "data",
    [
        '<row r="2"><c r="ZZZZZZ2"><v>1</v></c></row>',
        '<row r="99999999999"><c><v>1</v></c></row>',
        '<row r="0"><c><v>1</v></c></row>',
        '<row r="x"><c><v>1</v></c></row>',
        '<row><c t="s"><v>7</v></c></row>',
        '<row><c s="x"><v>7</v></c></row>',
        "<row><c>",
        "<row>" * 50_000,
    ],
)
def test_damaged_sheets_are_one_sentence(excel, data):
    with refused("it is damaged, or none"):
        read_counts(excel(with_sheet(HEADER + data)))


def test_cells_far_out_cost_nothing(excel):
    rows = (
        HEADER
        + row_of(2, "A", "1", '<c r="XFD2"><v>9</v></c>')
        + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    )
    with refused("line 1048576: sku must be a name"):
        read_counts(excel(with_sheet(rows.replace("XFD1048576", "B1048576"))))
    assert len(read_counts(excel(with_sheet(rows)))[1]) == 1
    merges = "<mergeCells>" + '<mergeCell ref="A2:XFD1048576"/>' * 100 + "</mergeCells>"
    assert read_counts(excel(with_sheet(HEADER + row_of(2, "A", "1"), after=merges)))[1][0].sku == "A"


def test_relations_to_elsewhere_are_not_followed(excel):
    content = with_parts(book_of(("a", SALES)), workbook=b"<workbook><sheets/></workbook>")
    with refused("its sheets are empty"):
        read_counts(excel(content))


@given(junk=st.binary(max_size=40), place=st.integers(0, 10_000), cut=st.integers(0, 60))
@settings(deadline=None, max_examples=150)
def test_any_bytes_are_read_or_refused_in_words(tmp_path_factory, junk, place, cut):
    path, content = tmp_path_factory.getbasetemp() / "bytes.xlsx", book_of(("a", SALES))
    place %= len(content)
    path.write_bytes(content[:place] + junk + content[place + cut :])
    for read in (read_sold, read_counts, read_items):
        with contextlib.suppress(InvalidInputError):  # and no other
            read(path)


# ---- commands


def test_commands_read_and_write_workbooks(call, tmp_path):
    costs = ["--capacity", "50", "--fixed-cost", "1", "--unit-cost", "1", "--lost-sale", "5", "--holding", "0.1"]
    call("inventory", "init", "shop.db", *costs)
    (tmp_path / "sales.xlsx").write_bytes(book_of(("a", SALES)))
    assert "2 recorded." in call("inventory", "record", "shop.db", "sales.xlsx", "--plenty")[2]
    (tmp_path / "stock.xlsx").write_bytes(book_of(("a", [["sku", "stock"], ["tea", 1], ["007", 0]])))
    (tmp_path / "items.xlsx").write_bytes(
        book_of(("a", [["sku", "supplier"], ["tea", "Mill & Sons"], ["007", "=Dairy"]]))
    )
    words = "--date", "2026-11-18", "--items", "items.xlsx", "-o", "orders.xlsx"
    code, _, said = call("inventory", "decide", "shop.db", "stock.xlsx", *words)
    assert code == 0, said
    assert "with an Excel file beside" in said
    rows = list(openpyxl.load_workbook(tmp_path / "orders.xlsx").active.values)
    assert rows[0][:3] == ("date", "sku", "order")
    assert [row[:2] for row in rows[1:]] == [(datetime(2026, 11, 18), "tea"), (datetime(2026, 11, 18), "007")]
    assert all(isinstance(row[6], (int, float)) for row in rows[1:])
    assert {found.name for found in tmp_path.glob("orders-*")} == {
        *("orders-Mill-Sons.xlsx", "orders-Mill-Sons.html", "orders-Dairy.xlsx", "orders-Dairy.html"),
    }
    for name, command in (("f.xlsx", ["forecast"]), ("log.xlsx", ["export"]), ("past.xlsx", ["export", "--sales"])):
        assert call("inventory", command[0], "shop.db", *command[1:], "-o", name)[0] == 0
        assert openpyxl.load_workbook(tmp_path / name).active.max_row > 2
    call("inventory", "init", "new.db", *costs)
    assert "2 recorded." in call("inventory", "record", "new.db", "past.xlsx", "--plenty")[2]
